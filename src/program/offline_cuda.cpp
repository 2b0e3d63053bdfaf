// Each architecture is represented by its data-center GPU, the usual target of offline compilation.
#include "src/program/offline_cuda.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>
#include <memory>

#include "src/base/atomic_file.h"
#include "src/base/check.h"
#include "src/codegen/render.h"
#include "src/cpu/subprocess.h"
#include "src/cuda/nvrtc.h"
#include "src/runtime/temporary_directory.h"

namespace sinter {
namespace {

Machine gpu_machine(int multiprocessors, std::int64_t cache_bytes, std::int64_t shared_bytes,
                    int largest_cluster) {
  Machine machine;
  machine.kind = MachineKind::gpu;
  machine.cache_bytes = cache_bytes;
  machine.multiprocessors = multiprocessors;
  machine.shared_bytes_per_multiprocessor = shared_bytes;
  machine.largest_cluster = largest_cluster;
  return machine;
}

std::string compiled(const KernelSource& source, const CudaArchitecture& architecture,
                     CudaImage image) {
  constexpr int kNoDriver = std::numeric_limits<int>::max();  // no driver limits NVRTC's version
  static const std::shared_ptr<const Nvrtc> nvrtc = Nvrtc::find(kNoDriver);
  return nvrtc->compile(source.text(), source.name, architecture.name, image, "", source.contract);
}

// Both print what a cubin holds; which of them is installed differs.
std::vector<std::vector<std::string>> disassemblers(const std::string& path) {
  std::vector<std::vector<std::string>> commands;
  for (const char* folder : {"", "/usr/local/cuda/bin/"}) {
    commands.push_back({folder + std::string("cuobjdump"), "-sass", path});
    commands.push_back({folder + std::string("nvdisasm"), path});
  }
  return commands;
}

std::string disassembled(const std::string& cubin) {
  constexpr std::chrono::seconds kTimeLimit{60};
  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/kernel.cubin";
  write_file_atomically("dump", path, cubin);
  for (const std::vector<std::string>& command : disassemblers(path)) {
    const SubprocessResult result = run_subprocess(command, "", kTimeLimit);
    if (result.end == SubprocessResult::End::not_started) continue;
    if (result.succeeded()) return result.output;
    throw DeviceError(fmt::format("[dump] {} failed: {}: {}", command.front(), result.describe(),
                                  result.output.substr(0, 500)),
                      command.front(), result.code);
  }
  throw DeviceError(
      "[dump] neither cuobjdump nor nvdisasm is in PATH or /usr/local/cuda/bin; install the CUDA "
      "toolkit's binary utilities, or look at --stage ptx",
      "cuobjdump", ENOENT);
}

}  // namespace

const std::vector<CudaArchitecture>& cuda_architectures() {
  static const std::vector<CudaArchitecture> all{
      {"sm_80", "A100", gpu_machine(108, 40 << 20, 164 << 10, 1)},
      {"sm_90a", "H100, H200", gpu_machine(132, 50 << 20, 228 << 10, 8)},
      {"sm_100", "B200", gpu_machine(148, 126 << 20, 228 << 10, 8)},
  };
  return all;
}

const CudaArchitecture& find_cuda_architecture(std::string_view name) {
  const auto& all = cuda_architectures();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const CudaArchitecture& each) { return each.name == name; });
  if (found != all.end()) return *found;
  std::string names;
  for (const CudaArchitecture& each : all) names += (names.empty() ? "" : ", ") + each.name;
  fail_user("cuda", "there is no architecture '{}'; there are {}", name, names);
}

Program plan_for_cuda(const Graph& graph, const BuildOptions& options,
                      const CudaArchitecture& architecture) {
  PlannedKernels planned =
      plan_kernels(graph, options, architecture.machine, architecture.machine.multiprocessors);
  Program program;
  program.traced = graph;
  program.options = options;
  program.plan = std::move(planned.plan);
  program.kernels = std::move(planned.kernels);
  program.origins = std::move(planned.origins);
  return program;
}

std::string cuda_stage_text(const Program& program, std::string_view stage,
                            const CudaArchitecture& architecture) {
  std::string text;
  for (const Kernel& kernel : program.kernels) {
    const KernelSource source = render(kernel.program(), {.dialect = Dialect::cuda});
    if (stage == "source")
      text += to_string(source) + "\n";
    else if (stage == "ptx")
      text += compiled(source, architecture, CudaImage::ptx) + "\n";
    else
      text += disassembled(compiled(source, architecture, CudaImage::cubin)) + "\n";
  }
  return text;
}

}  // namespace sinter
