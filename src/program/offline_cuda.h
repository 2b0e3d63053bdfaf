// Kernels for a GPU that need not be present, by its architecture.
// In: a graph and an architecture's name. Out: the text of each stage.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/program/build.h"

namespace sinter {

// The GPU that represents an architecture: configs are chosen for it.
struct CudaArchitecture {
  std::string name;  // "sm_90a"
  std::string gpu;
  Machine machine;
};

const std::vector<CudaArchitecture>& cuda_architectures();
const CudaArchitecture& find_cuda_architecture(std::string_view name);  // UserError

// Without an executable: enough for stage_text() up to "tile".
Program plan_for_cuda(const Graph& graph, const BuildOptions& options,
                      const CudaArchitecture& architecture);

// The kernels' text at stage "source", "ptx" or "sass". The latter two need NVRTC, and "sass" also
// NVIDIA's disassembler: DeviceError that says what to install.
std::string cuda_stage_text(const Program& program, std::string_view stage,
                            const CudaArchitecture& architecture);

}  // namespace sinter
