// What the first call with new sizes costs on the host when all its kernels are compiled already.
// Prints a line for each program: the median of a call, of a call whose program is known, and of
// each stage on its own, in microseconds.
#include <sinter/sinter.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "src/api/devices.h"
#include "src/api/program_cache.h"
#include "src/api/trace.h"
#include "src/program/build.h"
#include "src/runtime/compile_kernel.h"

namespace {

using namespace sinter;
using Clock = std::chrono::steady_clock;

// Three kernels: rows, then columns, then what needs all of the column sums.
Tensor three_kernels(const Tensor& x) {
  const Tensor s = sum(softmax(x, 1), {0});
  return s / sum(s);
}
// About 500 nodes of the traced graph.
Tensor pointwise_chain(Tensor x) {
  for (int i = 0; i < 100; ++i) x = exp(x * 0.5) + tanh(x);
  return x;
}
Tensor residual_layers(Tensor x) {
  for (int i = 0; i < 28; ++i) x = x + gelu(layer_norm(x, {}, {}, 1e-5) * 0.3);
  return x;
}
// Made before a function that uses them is traced.
struct Layer {
  Tensor weight = full({32, 32}, 0.01);
  Tensor bias = full({32}, 0.1);
};
const Layer& layer() {
  static const Layer made;
  return made;
}
Tensor perceptron(Tensor x) {
  for (int i = 0; i < 40; ++i) x = gelu(matmul(x, layer().weight) + layer().bias);
  return x;
}

struct Case {
  const char* name;
  Tensor (*program)(Tensor x);
};
const Case kCases[] = {{"three_kernels", [](Tensor x) { return three_kernels(x); }},
                       {"pointwise_chain", pointwise_chain},
                       {"residual_layers", residual_layers},
                       {"perceptron", perceptron}};

class Stopwatch {
 public:
  // Microseconds since the last lap.
  double lap() {
    const Clock::time_point now = Clock::now();
    const double taken = std::chrono::duration<double, std::micro>(now - last_).count();
    last_ = now;
    return taken;
  }

 private:
  Clock::time_point last_ = Clock::now();
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

struct Times {
  std::vector<double> call, known_call, trace, simplify, plan, lower, look_up, build;
};

// Each stage by itself, as build_program() runs them.
void time_stages(const Case& each, const Tensor& x, Times& times) {
  const std::shared_ptr<Device> device = default_device_handle();
  const Machine machine = device->machine();
  const CompiledFunction::Traced body = [&](std::span<const Tensor> in) {
    return std::vector{each.program(in[0])};
  };
  Stopwatch watch;
  const std::shared_ptr<Trace> trace = trace_function(body, std::span(&x, 1), device);
  times.trace.push_back(watch.lap());
  const Graph graph = simplified(trace->graph, {});
  times.simplify.push_back(watch.lap());
  const Plan plan = make_plan(graph, fusion_options(true, device->parallelism(), machine));
  times.plan.push_back(watch.lap());
  std::vector<Kernel> kernels;
  for (int g = 0; g < static_cast<int>(plan.groups.size()); ++g) {
    const IterationSpace space = iteration_space(plan, g);
    kernels.push_back(lower(plan, g, space, choose_config(space, machine)));
  }
  times.lower.push_back(watch.lap());
  std::vector<const KernelBody*> bodies;
  for (const Kernel& kernel : kernels) bodies.push_back(&kernel.body);
  const std::vector<KernelPtr> compiled = compile_kernels(*device, bodies);
  times.look_up.push_back(watch.lap());
  const auto built = build_traced(*trace, std::span(&x, 1), {});
  times.build.push_back(watch.lap());
}

// No two calls have the same number of rows.
Tensor input(int call) { return full({17 + call, 32}, 0.5); }

void measure(const Case& each, int calls) {
  const auto program = [&](const Tensor& x) { return each.program(x); };
  const auto compiles_kernels = compile(program);
  for (int i = 0; i < calls; ++i) (void)compiles_kernels(input(i));
  const auto function = compile(program);
  Times times;
  for (int i = 0; i < calls; ++i) {
    const Tensor x = input(i);
    Stopwatch watch;
    (void)function(x);
    times.call.push_back(watch.lap());
    (void)function(x);
    times.known_call.push_back(watch.lap());
    time_stages(each, x, times);
  }
  const Tensor known = input(0);
  const int kernels = function.info(std::span(&known, 1)).kernels;
  const double stages = median(times.simplify) + median(times.plan) + median(times.lower);
  std::printf(
      "%-16s %3d kernels: call %7.1f us, known %5.1f us; trace %6.1f, simplify %6.1f, plan %6.1f, "
      "lower %6.1f, look up %6.1f, slots and the rest %6.1f\n",
      each.name, kernels, median(times.call), median(times.known_call), median(times.trace),
      median(times.simplify), median(times.plan), median(times.lower), median(times.look_up),
      median(times.build) - stages - median(times.look_up));
}

}  // namespace

int main(int argc, char** argv) {
  (void)layer();
  const int calls = argc > 1 ? std::atoi(argv[1]) : 200;
  for (const Case& each : kCases)
    if (argc < 3 || std::string(argv[2]) == each.name) measure(each, calls);
}
