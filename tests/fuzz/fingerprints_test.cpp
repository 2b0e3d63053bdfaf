// Fingerprints: kernels, bytes and a hash of every stage of the suite's cases and of many random
// programs, one line each. Compare the files of two builds to see what a change to the pipeline
// changes:
//   SINTER_FINGERPRINTS=before.txt SINTER_FUZZ_COUNT=5000 test_fuzz --gtest_filter=Fingerprints.*
// With SINTER_FINGERPRINT_SEED only that random program is written, with the text of its stages.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "src/api/trace.h"
#include "src/base/hash.h"
#include "src/codegen/cpu/renderer.h"
#include "src/codegen/cuda/renderer.h"
#include "src/graph/simplify.h"
#include "src/program/build.h"
#include "src/program/offline_cuda.h"
#include "src/suite/cases/case.h"
#include "tests/fuzz/executor.h"

namespace sinter::fuzz {
namespace {

constexpr int kWorkers = 8;
constexpr int kVectorBytes = 64;

struct Stages {
  std::string graph, plan, tile, source;
  std::size_t kernels = 0;
  std::int64_t bytes = 0;  // read and written
};

Stages stages_of(const Graph& graph, const BuildOptions& options, const Machine& machine) {
  const bool is_gpu = machine.kind == MachineKind::gpu;
  const int workers = is_gpu ? machine.multiprocessors : kWorkers;
  const PlannedKernels planned = plan_kernels(graph, options, machine, workers);
  Stages stages{to_string(simplified(graph, options)), to_string(planned.plan), "", "", 0, 0};
  stages.kernels = planned.kernels.size();
  for (const FusionGroup& group : planned.plan.groups) stages.bytes += group.bytes();
  for (const Kernel& kernel : planned.kernels) {
    stages.plan += to_string(kernel.config) + "\n";
    stages.tile += tile::to_string(kernel.program());
    for (std::int64_t scalar : scalar_words(kernel)) stages.tile += fmt::format("{} ", scalar);
    stages.tile += fmt::format("grid {}\n", kernel.grid);
    stages.source += is_gpu ? render_cuda(kernel.program()).text()
                            : render_cpu(kernel.program(), kVectorBytes, true).text();
  }
  return stages;
}

class Fingerprints : public testing::Test {
 protected:
  void SetUp() override {
    const char* path = std::getenv("SINTER_FINGERPRINTS");
    if (!path) GTEST_SKIP() << "SINTER_FINGERPRINTS names no file";
    file_.open(path, std::ios::app);
    ASSERT_TRUE(file_.good()) << path;
  }

  void write(const std::string& name, const Graph& graph, bool full = false) {
    const Machine gpu = find_cuda_architecture("sm_90a").machine;
    for (const bool fuse : {true, false})
      for (const Machine& machine : {Machine{}, gpu}) {
        const Stages stages = stages_of(graph, {.fuse = fuse}, machine);
        const char* kind = machine.kind == MachineKind::gpu ? "gpu" : "cpu";
        file_ << fmt::format("{} {} {}: {} kernels, {} bytes,", name, fuse ? "fused" : "eager",
                             kind, stages.kernels, stages.bytes);
        for (const std::string* text : {&stages.graph, &stages.plan, &stages.tile, &stages.source})
          file_ << " " << (full ? "\n" + *text : hash_bytes(*text).hex().substr(0, 12));
        file_ << "\n";
      }
  }

  std::ofstream file_;
};

TEST_F(Fingerprints, OfTheSuite) {
  for (const suite::Case& each : suite::all_cases())
    for (const DType dtype : {DType::f32, DType::f16})
      for (const Shape& shape :
           {Shape{128, 1000}, Shape{4096, 4096}, Shape{3, 131072}, Shape{65536, 33}}) {
        auto trace = std::make_shared<Trace>();
        std::vector<Tensor> inputs;
        for (const suite::Input& input : each.inputs) {
          Shape own = shape;
          if (input.layout == suite::Layout::transposed) own = {shape[1], shape[0]};
          if (input.layout == suite::Layout::vector) own = {shape[1]};
          inputs.push_back(trace->traced(trace->build.input(dtype, own)));
        }
        {
          const TraceScope scope(trace.get());
          for (const Tensor& result : each.program(inputs))
            trace->graph.outputs.push_back(trace->operand(result));
        }
        write(fmt::format("{} {} {}", each.name, name_of(dtype), to_string(shape)), trace->graph);
      }
}

TEST_F(Fingerprints, OfRandomPrograms) {
  const char* only = std::getenv("SINTER_FINGERPRINT_SEED");
  const char* count = std::getenv("SINTER_FUZZ_COUNT");
  const std::uint64_t first = only ? std::strtoull(only, nullptr, 10) : 1;
  const std::uint64_t last = only ? first : count ? std::strtoull(count, nullptr, 10) : 1000;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    write(fmt::format("seed {}", seed), graph_of(generate(seed)), only != nullptr);
  }
}

}  // namespace
}  // namespace sinter::fuzz
