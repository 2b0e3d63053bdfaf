// Executor: where and how a random program runs.
// In: a program and its inputs. Out: its outputs; or its kernels, compiled before they are needed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/program/build.h"
#include "tests/fuzz/program.h"

namespace sinter::fuzz {

enum class Place : std::uint8_t {
  interpreter,  // every access checked against its buffer
  cpu,
  simt,  // the GPU's plan and kernels, on the CPU
  cuda,
};
inline constexpr Place kPlaces[] = {Place::interpreter, Place::cpu, Place::simt, Place::cuda};
std::string_view name_of(Place place);
std::optional<Place> place_named(std::string_view name);

enum class Form : std::uint8_t {
  fused,    // the plan that compile() would run
  eager,    // one kernel per operation
  rounded,  // fused with emulate_eager_rounding: the same bits as eager operations
  placed    // fused, with results in the caller's strided memory
};

struct Executor {
  Place place = Place::interpreter;
  Form form = Form::fused;
};
std::string name_of(const Executor& executor);

struct Run {
  std::vector<Tensor> outputs;
  int kernels = 0;
};

// The program, traced with the numbers of the call.
Graph graph_of(const RandomProgram& program);

// Verifies every stage on the way. A program is built for its example numbers, if that is valid for
// the numbers of the call.
Run run_with(const Executor& executor, const RandomProgram& program,
             std::span<const Tensor> inputs);
// One operation after the other, each rounding its result: the reference of Form::rounded.
Run run_separately(Place place, const RandomProgram& program, std::span<const Tensor> inputs);

// Any graph, with its inputs from their first element on.
Run run_graph(Place place, const Graph& graph, const Arguments& call, const BuildOptions& options);

// Compiles the kernels of all the programs in few compilations, before the programs run.
using ChooseExecutors = std::function<std::vector<Executor>(std::uint64_t seed)>;
void compile_ahead(std::span<const RandomProgram> programs, const ChooseExecutors& executors);

}  // namespace sinter::fuzz
