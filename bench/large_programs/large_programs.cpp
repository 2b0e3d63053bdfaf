// How long programs of many operations take to trace, simplify and plan. Prints a line for each
// kind of program and size: milliseconds of tracing, of all simplifier passes, of the slowest pass.
#include <sinter/sinter.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "src/api/trace.h"
#include "src/fuse/plan.h"
#include "src/graph/simplify.h"

namespace {

using namespace sinter;
using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Each writes `count` operations, or a few more.
Tensor pointwise_chain(Tensor x, int count) {
  for (int i = 0; i < count; i += 4) x = exp(x * 0.5) + tanh(x);
  return x;
}
Tensor views(Tensor x, int count) {
  for (int i = 0; i < count; i += 4) {
    const Tensor t = transpose(exp(x), 0, 1);
    x = transpose(t * 1.5, 0, 1) + slice(x, 0, 0, x.shape()[0]);
    x = abs(x);
  }
  return x;
}
Tensor softmaxes(Tensor x, int count) {
  for (int i = 0; i < count; i += 6) x = softmax(x, 1) * 3.0;
  return x;
}
Tensor residual_layers(Tensor x, int count) {
  for (int i = 0; i < count; i += 12) x = x + gelu(layer_norm(x, {}, {}, 1e-5) * 0.3);
  return x;
}
Tensor integers(Tensor x, int count) {
  Tensor index = arange(0, x.shape()[1]);
  for (int i = 0; i < count; i += 3) index = minimum(index + 1, index * 2);
  return where(index > 5, x, 0.0);
}
Tensor concats(Tensor x, int count) {
  for (int i = 0; i < count; i += 3) x = slice(concat({exp(x), x}, 0), 0, 0, x.shape()[0]);
  return x;
}
// Cheap values that are read at two places each.
Tensor rolls(Tensor x, int count) {
  const std::int64_t last = x.shape()[1] - 1;
  for (int i = 0; i < count; i += 3)
    x = x * 0.5 + concat({slice(x, 1, last, last + 1), slice(x, 1, 0, last)}, 1);
  return x;
}

struct Kind {
  const char* name;
  Tensor (*program)(Tensor x, int count);
};
constexpr Kind kKinds[] = {{"pointwise_chain", pointwise_chain},
                           {"views", views},
                           {"softmaxes", softmaxes},
                           {"residual_layers", residual_layers},
                           {"integers", integers},
                           {"concats", concats},
                           {"rolls", rolls}};

void measure(const Kind& kind, int count) {
  auto start = Clock::now();
  auto trace = std::make_shared<Trace>();
  const Tensor x = trace->traced(trace->build.input(DType::f32, {64, 64}));
  {
    const TraceScope scope(trace.get());
    trace->graph.outputs.push_back(trace->operand(kind.program(x, count)));
  }
  const double traced = milliseconds_since(start);
  Graph graph = trace->graph;
  double simplified = 0;
  double slowest = 0;
  std::string slowest_name;
  for (const GraphPass& pass : simplify_passes()) {
    start = Clock::now();
    graph = pass.run(graph);
    const double took = milliseconds_since(start);
    simplified += took;
    if (took > slowest) slowest_name = pass.name;
    slowest = std::max(slowest, took);
  }
  start = Clock::now();
  const Plan plan = make_plan(graph, fusion_options(true, 8, Machine{}));
  const double planned = milliseconds_since(start);
  std::printf(
      "%-16s %6d operations: %6d nodes, trace %7.1f ms, simplify %7.1f ms (%s %.1f ms), plan %7.1f "
      "ms (%zu kernels)\n",
      kind.name, count, trace->graph.size(), traced, simplified, slowest_name.c_str(), slowest,
      planned, plan.groups.size());
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    for (const Kind& kind : kKinds) measure(kind, std::atoi(argv[i]));
}
