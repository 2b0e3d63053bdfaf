// Kernels for a GPU that need not be there: what would be compiled for one of its architecture.
// In: a graph and an architecture's name. Out: the text of each stage.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/program/build.h"

namespace sinter {

// The GPU that an architecture's name stands for: kernels are shaped for it.
struct CudaArchitecture {
  std::string name;  // "sm_90a"
  std::string gpu;
  Machine machine;
};

const std::vector<CudaArchitecture>& cuda_architectures();
const CudaArchitecture& find_cuda_architecture(std::string_view name);  // UserError

// Without an executable: enough for stage_text() up to "tile".
Program plan_for_cuda(const Graph& graph, bool fuse, const CudaArchitecture& architecture);

// Its kernels at "source", "ptx" or "sass", for the architecture it was planned for. The latter two
// need NVRTC, "sass" NVIDIA's disassembler as well: DeviceError that says what to install.
std::string cuda_stage_text(const Program& program, std::string_view stage,
                            const CudaArchitecture& architecture);

}  // namespace sinter
