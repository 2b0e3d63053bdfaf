// The text of tile programs: kernels of the suite's cases and of random programs, for CPUs and
// GPUs, are read back as the same programs; random edits of their text give a program that verifies
// or a UserError, never anything else. SINTER_FUZZ_SEED and SINTER_FUZZ_COUNT choose the programs.
#include <gtest/gtest.h>
#include <sinter/error.h>

#include <cstdlib>
#include <random>
#include <string>

#include "src/api/trace.h"
#include "src/program/build.h"
#include "src/program/offline_cuda.h"
#include "src/suite/cases/case.h"
#include "src/tile/parse.h"
#include "tests/fuzz/editor.h"
#include "tests/fuzz/executor.h"

namespace sinter::fuzz {
namespace {

constexpr int kWorkers = 8;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// Fused and unfused, for a CPU and for a GPU.
std::vector<tile::TileProgram> kernels_of(const Graph& graph) {
  std::vector<tile::TileProgram> programs;
  const Machine gpu = find_cuda_architecture("sm_90a").machine;
  for (const bool fuse : {true, false})
    for (const Machine& machine : {Machine{}, gpu}) {
      const int workers = machine.kind == MachineKind::gpu ? machine.multiprocessors : kWorkers;
      const PlannedKernels planned = plan_kernels(graph, {.fuse = fuse}, machine, workers);
      for (const Kernel& kernel : planned.kernels) programs.push_back(kernel.program());
    }
  return programs;
}

Graph suite_graph(const suite::Case& each, const Shape& shape, DType dtype) {
  auto trace = std::make_shared<Trace>();
  std::vector<Tensor> inputs;
  for (const suite::Input& input : each.inputs) {
    Shape own = shape;
    if (input.layout == suite::Layout::transposed) own = {shape[1], shape[0]};
    if (input.layout == suite::Layout::vector) own = {shape[1]};
    inputs.push_back(trace->traced(trace->build.input(dtype, own)));
  }
  const TraceScope scope(trace.get());
  for (const Tensor& result : each.program(inputs))
    trace->graph.outputs.push_back(trace->operand(result));
  return trace->graph;
}

void expect_round_trip(const tile::TileProgram& program) {
  const std::string text = to_string(program);
  SCOPED_TRACE(text);
  tile::TileProgram read;
  ASSERT_NO_THROW(read = tile::parse_tile_program(text));
  EXPECT_EQ(to_string(read), text);
  EXPECT_TRUE(same_key(read, program));
  EXPECT_EQ(read.name, program.name);
}

TEST(TileText, OfTheSuitesKernelsIsReadBack) {
  for (const suite::Case& each : suite::all_cases())
    for (const DType dtype : {DType::f32, DType::f16})
      for (const Shape& shape :
           {Shape{128, 1000}, Shape{4096, 4096}, Shape{3, 131072}, Shape{65536, 33}}) {
        SCOPED_TRACE(each.name);
        for (const tile::TileProgram& program : kernels_of(suite_graph(each, shape, dtype)))
          expect_round_trip(program);
        if (HasFailure()) return;
      }
}

TEST(TileText, OfRandomKernelsIsReadBack) {
  const std::uint64_t first = number_from("SINTER_FUZZ_SEED", std::random_device{}());
  const std::uint64_t count = number_from("SINTER_FUZZ_COUNT", 200);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE(seed);
    for (const tile::TileProgram& program : kernels_of(graph_of(generate(seed))))
      expect_round_trip(program);
    if (HasFailure()) return;
  }
}

constexpr const char* kWords[] = {"%0",
                                  "%1",
                                  "%12",
                                  "exp",
                                  "add",
                                  "where",
                                  "else",
                                  "load",
                                  "store",
                                  "loop",
                                  "yield",
                                  "step",
                                  "carrying",
                                  "to",
                                  "reduce",
                                  "sum",
                                  "argmax",
                                  "arange",
                                  "rows",
                                  "cols",
                                  "broadcast",
                                  "cast",
                                  "constant",
                                  "scalar",
                                  "in",
                                  "out",
                                  "x: f32",
                                  "kernel",
                                  "mapping threads = 64\n",
                                  "vector = 3",
                                  "vector = 16",
                                  "cluster = 16",
                                  "prefetch = 2",
                                  "argmin",
                                  "caching",
                                  "nothing",
                                  "f16",
                                  "f32",
                                  "i64",
                                  "bool",
                                  "(",
                                  ")",
                                  "[",
                                  "]",
                                  ",",
                                  ":",
                                  "=",
                                  "-",
                                  "nan",
                                  "inf",
                                  "exact",
                                  "true",
                                  "0",
                                  "1",
                                  "2",
                                  "1.5",
                                  "-1",
                                  "2147483648",
                                  "9223372036854775807",
                                  "\n",
                                  "//",
                                  " ",
                                  "\x80",
                                  "multiple of 3",
                                  "positive",
                                  "reused",
                                  "program_id"};

TEST(TileText, EditedAtRandomIsAProgramOrAUserError) {
  const std::uint64_t first = number_from("SINTER_FUZZ_SEED", std::random_device{}());
  const std::uint64_t count = number_from("SINTER_FUZZ_COUNT", 50);
  int programs = 0;
  int errors = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Editor editor(seed, kWords);
    for (const tile::TileProgram& kernel : kernels_of(graph_of(generate(seed)))) {
      const std::string text = to_string(kernel);
      for (int i = 0; i < 50; ++i) {
        const std::string edited = editor.edited(text);
        SCOPED_TRACE(::testing::Message() << "seed " << seed << "\n" << edited);
        try {
          const tile::TileProgram program = tile::parse_tile_program(edited);
          ASSERT_NO_THROW(verify(program));
          expect_round_trip(program);
          ++programs;
        } catch (const UserError&) {
          ++errors;
        }
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(programs, errors / 50);
  EXPECT_GT(errors, programs / 50);
}

}  // namespace
}  // namespace sinter::fuzz
