// How long NVRTC takes for the GPU kernels of a random set of the suite's cells. Needs no GPU.
// Prints the kernels that took longest, then the median and the longest, in CPU milliseconds.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <set>
#include <string>
#include <vector>

#include "src/api/devices.h"
#include "src/api/trace.h"
#include "src/codegen/cuda/renderer.h"
#include "src/cuda/nvrtc.h"
#include "src/lower/config.h"
#include "src/program/offline_cuda.h"
#include "src/suite/cases/inputs.h"
#include "src/suite/cases/random_set.h"

namespace {

using namespace sinter;
using namespace sinter::suite;

struct Timed {
  double ms;
  std::string title;
};

// Other programs on the machine do not count.
double cpu_ms() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double compile_ms(const Nvrtc& nvrtc, const std::string& text, const std::string& title) {
  const double start = cpu_ms();
  nvrtc.compile(text, title, "sm_90a", CudaImage::cubin);
  return cpu_ms() - start;
}

}  // namespace

int main(int count, char** arguments) {
  RandomSet set;
  set.seed = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1;
  set.cells = count > 2 ? std::atoi(arguments[2]) : 100;
  set.most_elements = kMostElements;
  set.most_bytes = std::int64_t{1} << 40;
  for (const Case& each : all_cases()) set.cases.push_back(each.name);
  set.dtypes = {"f32", "f16", "bf16"};
  const auto nvrtc = Nvrtc::find(0);
  const CudaArchitecture& architecture = find_cuda_architecture("sm_90a");
  std::set<std::string> known;
  std::vector<Timed> all;
  for (const RandomCell& cell : draw_cells(set).cells) {
    const auto trace =
        trace_function(cell.what->program,
                       unbacked_inputs(*cell.what, cell.shape, cell.dtype, open_device("cpu")));
    for (const Kernel& kernel : plan_for_cuda(trace->graph, true, architecture).kernels) {
      const std::string text = render_cuda(kernel.program()).text();
      if (!known.insert(text).second) continue;
      const std::string title = fmt::format("{} {} {}: {}", cell.what->name, to_string(cell.shape),
                                            name_of(cell.dtype), to_string(kernel.config));
      if (all.empty()) compile_ms(*nvrtc, text, title);  // loads the compiler
      all.push_back({compile_ms(*nvrtc, text, title), title});
    }
  }
  std::sort(all.begin(), all.end(), [](const Timed& a, const Timed& b) { return a.ms > b.ms; });
  for (std::size_t i = 0; i < std::min<std::size_t>(all.size(), 12); ++i)
    fmt::print("{:6.0f} ms  {}\n", all[i].ms, all[i].title);
  const auto above = [&](double ms) {
    return std::count_if(all.begin(), all.end(), [&](const Timed& each) { return each.ms > ms; });
  };
  fmt::print("{} kernels: median {:.0f} ms, longest {:.0f} ms, {} over 80 ms, {} over 150 ms\n",
             all.size(), all[all.size() / 2].ms, all.front().ms, above(80), above(150));
}
