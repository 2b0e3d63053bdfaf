// Executables: printed, and checked for slots and scalars that are not there.
#include <gtest/gtest.h>
#include <sinter/sinter.h>

#include "src/api/devices.h"
#include "src/program/build.h"
#include "tests/support/trace_graph.h"

namespace sinter {
namespace {

using testing_support::trace_graph;
using Tensors = std::vector<Tensor>;

std::shared_ptr<const Program> two_kernels() {
  const Shape shape{8, 12};
  const Graph graph = trace_graph({shape}, [](const Tensors& t) {
    return Tensors{exp(t[0]) * 2, t[0]};
  });
  BuildOptions options;
  options.fuse = false;
  const std::int64_t extent = shape.numel();
  return build_program(graph, std::span(&extent, 1), options, open_device("cpu"));
}

TEST(Executables, PrintMemoryLaunchesAndResults) {
  const std::string text = to_string(two_kernels()->executable);
  for (const char* part : {"$0 = input 0\n", "$1 = result buffer 0\n", "$2 = arena + 0 bytes\n",
                           "result buffer 0: 384 bytes\n", "launch exp over ", "launch mul over ",
                           "  buffer $0: 96 elements\n", "return f32 $0"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
}

TEST(Executables, PrintRealScalarsAsNumbers) {
  const std::int64_t extent = 12;
  const Shape shape{12};
  const Graph graph =
      trace_graph({shape}, [](const Tensors& t) { return Tensors{pad(t[0], 0, 1, 1, 2.5)}; });
  const auto program = build_program(graph, std::span(&extent, 1), {}, open_device("cpu"));
  const std::string text = to_string(program->executable);
  EXPECT_NE(text.find(" 2.5"), std::string::npos) << text;
}

TEST(Executables, ThatNameSomethingAbsentAreRefused) {
  const Executable good = two_kernels()->executable;
  EXPECT_NO_THROW(verify(good));
  const auto expect_refused = [&](const auto& change) {
    Executable executable = good;
    change(executable);
    EXPECT_THROW(verify(executable), InternalError);
  };
  expect_refused([](Executable& e) { e.launches[0].buffers[0].slot = 3; });
  expect_refused([](Executable& e) { e.launches[1].kernel = nullptr; });
  expect_refused([](Executable& e) { e.outputs[0].slot = -1; });
  expect_refused([](Executable& e) { e.slots[1].index = 1; });
  expect_refused([](Executable& e) { e.slots[2].offset = e.arena_bytes + 1; });
  expect_refused([](Executable& e) { e.numbers.push_back({0, 1000}); });
}

}  // namespace
}  // namespace sinter
