// compile(f): turns a function over tensors into fused kernels. The function is traced once per
// combination of shapes, strides and dtypes; kernels are shared between these.
#pragma once

#include <sinter/plan.h>
#include <sinter/tensor.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace sinter {

struct CompileOptions {
  bool fuse = true;       // false: one kernel per operation
  std::string name = "";  // shown by explain()
  // Launch a call's kernels as one CUDA graph: useful for programs of many short kernels. Ignored
  // on devices without graphs.
  bool cuda_graph = false;
  // Tuning (sinter/tune.h) may choose kernels that sum in a different order, so results may differ
  // in the last bits from an untuned process or one with another tuning file. `deterministic`
  // restricts tuning to configs that produce the same bits as the heuristic's: the same program,
  // inputs, GPU model and Sinter version then give the same bits, tuned or not.
  bool deterministic = false;
  // Round as eager operations do: 16-bit results after each operation rather than when stored,
  // products before they are added (no FMA). A fused pointwise program then produces the same bits
  // as the unfused one. Costs some speed where kernels are not memory-bound.
  bool emulate_eager_rounding = false;
};

struct TuneOptions;
struct TuneReport;

// What one call with the given inputs runs.
struct ProgramInfo {
  int kernels = 0;
  std::int64_t bytes = 0;         // read and written by all kernels
  std::int64_t flops = 0;         // simple operations
  std::int64_t buffer_bytes = 0;  // intermediates, with memory reuse
  double compile_ms = 0;          // tracing, planning and compiling at the first call
  double kernel_compile_ms = 0;   // the part spent in the compiler, summed over kernels
  int kernels_from_disk = 0;
  double predicted_us = 0;
};

class CompiledFunction {
 public:
  using Traced = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

  CompiledFunction(Traced function, int arity, CompileOptions options);

  std::vector<Tensor> call(std::span<const Tensor> inputs) const;

  // The fused groups with traffic and predicted time, and why other operations were not fused into
  // them. Describes the most recently compiled program, or the one for the given inputs (compiled
  // but not run).
  std::string explain() const;
  std::string explain(std::span<const Tensor> inputs) const;
  ProgramInfo info(std::span<const Tensor> inputs) const;
  PlanInfo plan(std::span<const Tensor> inputs) const;  // explain() as data

  // One stage as text: "graph", "passes" (the graph after each simplifier pass), "simplified",
  // "plan", "tile", "source", and "ptx" on a GPU.
  std::string dump(std::string_view stage, std::span<const Tensor> inputs) const;

  // Writes the program for inputs of these shapes and dtypes as text that load_program() reads
  // (docs/TEXT.md). UserError if the function uses tensors other than its inputs.
  void save(const std::string& path, std::span<const Tensor> inputs) const;

  int arity() const;

 private:
  struct State;
  std::shared_ptr<State> state_;

  friend TuneReport tune(const CompiledFunction& function, std::span<const Tensor> inputs,
                         const TuneOptions& options);
};

namespace detail {

template <typename T>
struct Unpack;  // converts a function's result to a list of tensors and back

template <>
struct Unpack<Tensor> {
  static std::vector<Tensor> list(Tensor t) { return {std::move(t)}; }
  static Tensor result(std::vector<Tensor> list) { return std::move(list[0]); }
};
template <>
struct Unpack<std::vector<Tensor>> {
  static std::vector<Tensor> list(std::vector<Tensor> t) { return t; }
  static std::vector<Tensor> result(std::vector<Tensor> list) { return list; }
};
template <std::size_t N>
struct Unpack<std::array<Tensor, N>> {
  static std::vector<Tensor> list(std::array<Tensor, N> t) { return {t.begin(), t.end()}; }
  static std::array<Tensor, N> result(std::vector<Tensor> list) {
    std::array<Tensor, N> array;
    for (std::size_t i = 0; i < N; ++i) array[i] = std::move(list[i]);
    return array;
  }
};
template <typename A, typename B>
struct Unpack<std::pair<A, B>> {
  static std::vector<Tensor> list(std::pair<A, B> t) { return {t.first, t.second}; }
  static std::pair<A, B> result(std::vector<Tensor> list) { return {list[0], list[1]}; }
};
template <typename... Ts>
struct Unpack<std::tuple<Ts...>> {
  static std::vector<Tensor> list(std::tuple<Ts...> t) {
    return std::apply([](auto&&... each) { return std::vector<Tensor>{each...}; }, std::move(t));
  }
  static std::tuple<Ts...> result(std::vector<Tensor> list) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::tuple<Ts...>{list[I]...};
    }
    (std::index_sequence_for<Ts...>{});
  }
};

template <typename F>
struct Signature : Signature<decltype(&F::operator())> {};
template <typename R, typename... Args>
struct Signature<R (*)(Args...)> {
  using Result = std::decay_t<R>;
  static constexpr std::size_t kArity = sizeof...(Args);
};
template <typename C, typename R, typename... Args>
struct Signature<R (C::*)(Args...) const> : Signature<R (*)(Args...)> {};
template <typename C, typename R, typename... Args>
struct Signature<R (C::*)(Args...)> : Signature<R (*)(Args...)> {};
template <typename R, typename... Args>
struct Signature<R (*)(Args...) noexcept> : Signature<R (*)(Args...)> {};
template <typename C, typename R, typename... Args>
struct Signature<R (C::*)(Args...) const noexcept> : Signature<R (*)(Args...)> {};
template <typename C, typename R, typename... Args>
struct Signature<R (C::*)(Args...) noexcept> : Signature<R (*)(Args...)> {};

}  // namespace detail

// The compiled form of a function of kArity tensors returning Result.
template <typename Result, std::size_t kArity>
class Compiled : public CompiledFunction {
 public:
  using CompiledFunction::CompiledFunction;

  template <typename... Args>
  Result operator()(const Args&... inputs) const {
    static_assert(sizeof...(Args) == kArity, "a compiled function takes what its function took");
    const std::array<Tensor, kArity> list{inputs...};
    return detail::Unpack<Result>::result(call(list));
  }
};

namespace detail {

template <typename Result, std::size_t kArity, typename F>
Compiled<Result, kArity> compile_function(F f, CompileOptions options) {
  auto traced = [f = std::move(f)](std::span<const Tensor> inputs) mutable {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return Unpack<Result>::list(f(inputs[I]...));
    }
    (std::make_index_sequence<kArity>{});
  };
  return Compiled<Result, kArity>(std::move(traced), static_cast<int>(kArity), std::move(options));
}

template <std::size_t>
using TensorArg = const Tensor&;

template <typename F, std::size_t... I>
std::decay_t<std::invoke_result_t<F&, TensorArg<I>...>> result_of_tensors(
    std::index_sequence<I...>);

}  // namespace detail

// f takes any number of Tensors and returns a Tensor, or a pair, tuple, array or vector of them.
template <typename F>
auto compile(F f, CompileOptions options = {}) {
  using Function = detail::Signature<std::decay_t<F>>;
  return detail::compile_function<typename Function::Result, Function::kArity>(std::move(f),
                                                                               std::move(options));
}

// The same for a function whose type does not give its arity:
// compile<2>([](auto x, auto y) { return x + y; }).
template <std::size_t kArity, typename F>
auto compile(F f, CompileOptions options = {}) {
  using Result = decltype(detail::result_of_tensors<F>(std::make_index_sequence<kArity>{}));
  return detail::compile_function<Result, kArity>(std::move(f), std::move(options));
}

// The program in a text file (docs/TEXT.md), written by hand or by CompiledFunction::save(). Sizes
// that it declares follow from the shapes of the inputs. UserError with line and column for a
// mistake in the file.
CompiledFunction load_program(const std::string& path, CompileOptions options = {});

// A function over a list of tensors, for callers that know its length only at run time.
inline CompiledFunction compile_list(CompiledFunction::Traced f, int arity,
                                     CompileOptions options = {}) {
  return CompiledFunction(std::move(f), arity, std::move(options));
}

}  // namespace sinter
