// compile(f): turns a function over tensors and numbers into fused kernels. The function is traced
// once per combination of shapes, strides and dtypes, whatever the values of its numbers; kernels
// are shared between these.
#pragma once

#include <sinter/plan.h>
#include <sinter/tensor.h>

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
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
  // A row of a result has the same bits whatever rows are beside it and however many there are,
  // such as the other requests in a server's batch. Rows run along any axes that reductions and
  // matrix products keep: these axes may have any size, and the tensors may be slices along them.
  // Only the sizes of reduced axes, dtypes and the program choose the order of additions. This
  // costs speed (docs/ARCHITECTURE.md): a few rows are not shared by more threads, several reduced
  // axes are walked in a loop, and the matmul library is not used.
  bool batch_invariant = false;
};

struct TuneOptions;
struct TuneReport;

// Statistics of the program that a call with the given inputs runs.
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

// The arguments of a call: its tensors and its numbers, each in the order of the parameters. Refers
// to lists that must outlive it. A list of tensors converts to it.
class Arguments {
 public:
  Arguments() = default;
  template <typename Tensors>
  requires std::convertible_to<const Tensors&, std::span<const Tensor>> Arguments(
      const Tensors& tensors, std::span<const Number> numbers = {})  // NOLINT: converts
      : tensors_(tensors), numbers_(numbers) {}
  template <std::size_t kCount>
  Arguments(const Tensor (&tensors)[kCount], std::span<const Number> numbers = {})  // NOLINT
      : tensors_(tensors), numbers_(numbers) {}
  Arguments(std::initializer_list<Tensor> tensors)  // for f.explain({x, y})
      : tensors_(std::data(tensors), tensors.size()) {}

  std::span<const Tensor> tensors() const { return tensors_; }
  std::span<const Number> numbers() const { return numbers_; }

 private:
  std::span<const Tensor> tensors_;
  std::span<const Number> numbers_;
};

// How many tensors and numbers a function takes.
struct Arity {
  int tensors = 0;
  int numbers = 0;
};

class CompiledFunction {
 public:
  using Traced = std::function<std::vector<Tensor>(std::span<const Tensor>)>;
  using Body = std::function<std::vector<Tensor>(const Arguments&)>;

  CompiledFunction(Traced function, int arity, CompileOptions options);
  CompiledFunction(Body function, Arity arity, CompileOptions options);

  // Numbers may have other values in each call. Only a value that decides how something is computed
  // is compiled in: the exponent of pow(), the bounds of arange(), the fill of pad()
  // (docs/ARCHITECTURE.md).
  std::vector<Tensor> call(const Arguments& inputs) const;

  // The same, with the results written to `outputs`: tensors of the results' dtypes and shapes on
  // the inputs' device. They may be strided, such as rows or columns of a larger tensor. Every
  // tensor that shares their memory sees the new values. UserError, before anything is written, if
  // they do not match the results or overlap each other.
  //
  // Kernels write straight to the outputs; no memory is allocated for results. Two cases cost a
  // copy per result: a result without a buffer of its own (a view of an input, a part of another
  // result, a value returned twice), and outputs that overlap inputs. The exception is an output
  // that is exactly an input, if each element is computed only from the one it replaces, as in an
  // optimizer step: it is updated in place.
  void call_into(std::span<const Tensor> outputs, const Arguments& inputs) const;

  // The fused groups with traffic and predicted time, and why other operations were not fused into
  // them. Describes the most recently compiled program, or the one for the given inputs (compiled
  // but not run).
  std::string explain() const;
  std::string explain(const Arguments& inputs) const;
  ProgramInfo info(const Arguments& inputs) const;
  PlanInfo plan(const Arguments& inputs) const;  // explain() as data

  // One stage as text: "graph", "passes" (the graph after each simplifier pass), "simplified",
  // "plan", "kernels" (their configs and arguments), "tile", "source", "ptx" on a GPU, and
  // "launches" (memory, launches and results).
  std::string dump(std::string_view stage, const Arguments& inputs) const;

  // Writes the program for inputs of these shapes and dtypes as text that load_program() reads
  // (docs/TEXT.md). UserError if the function uses tensors other than its inputs.
  void save(const std::string& path, const Arguments& inputs) const;

  int arity() const;         // tensors
  int number_arity() const;  // numbers

 private:
  struct State;
  std::shared_ptr<State> state_;

  friend TuneReport tune(const CompiledFunction& function, const Arguments& inputs,
                         const TuneOptions& options);
};

namespace detail {

template <typename T>
struct Unpack;  // converts a function's result to a list of tensors and back

template <>
struct Unpack<Tensor> {
  static std::span<const Tensor> outputs(const Tensor& t) { return {&t, 1}; }
  static std::vector<Tensor> list(Tensor t) { return {std::move(t)}; }
  static Tensor result(std::vector<Tensor> list) { return std::move(list[0]); }
};
template <>
struct Unpack<std::vector<Tensor>> {
  static std::span<const Tensor> outputs(const std::vector<Tensor>& t) { return t; }
  static std::vector<Tensor> list(std::vector<Tensor> t) { return t; }
  static std::vector<Tensor> result(std::vector<Tensor> list) { return list; }
};
template <std::size_t N>
struct Unpack<std::array<Tensor, N>> {
  static std::span<const Tensor> outputs(const std::array<Tensor, N>& t) { return t; }
  static std::vector<Tensor> list(std::array<Tensor, N> t) { return {t.begin(), t.end()}; }
  static std::array<Tensor, N> result(std::vector<Tensor> list) {
    std::array<Tensor, N> array;
    for (std::size_t i = 0; i < N; ++i) array[i] = std::move(list[i]);
    return array;
  }
};
template <typename A, typename B>
struct Unpack<std::pair<A, B>> {
  static std::array<Tensor, 2> outputs(const std::pair<A, B>& t) { return {t.first, t.second}; }
  static std::vector<Tensor> list(std::pair<A, B> t) { return {t.first, t.second}; }
  static std::pair<A, B> result(std::vector<Tensor> list) { return {list[0], list[1]}; }
};
template <typename... Ts>
struct Unpack<std::tuple<Ts...>> {
  static std::array<Tensor, sizeof...(Ts)> outputs(const std::tuple<Ts...>& t) {
    return std::apply([](const auto&... each) { return std::array{each...}; }, t);
  }
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

template <typename T>
inline constexpr bool kIsNumber = std::is_same_v<std::decay_t<T>, Number>;

// Bit i: parameter i is a Number.
template <typename... Args>
constexpr std::uint64_t number_mask() {
  std::uint64_t mask = 0;
  std::size_t i = 0;
  ((mask |= std::uint64_t{kIsNumber<Args>} << i++), ...);
  return mask;
}

template <typename F>
struct Signature : Signature<decltype(&F::operator())> {};
template <typename R, typename... Args>
struct Signature<R (*)(Args...)> {
  static_assert((!std::is_arithmetic_v<std::decay_t<Args>> && ...),
                "a function for compile() cannot take a plain C++ number: take a sinter::Number, "
                "whose value each call gives, or capture the number as a constant");
  static_assert(sizeof...(Args) <= 64,
                "compile() takes functions of at most 64 parameters; use "
                "compile_list()");
  using Result = std::decay_t<R>;
  static constexpr std::size_t kArity = sizeof...(Args);
  static constexpr std::uint64_t kNumbers = number_mask<Args...>();
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

namespace detail {

// Parameter I of a function whose parameters in `mask` are Numbers: its index among the tensors, or
// among the numbers.
template <std::uint64_t mask, std::size_t I>
inline constexpr bool kTakesNumber = (mask >> I & 1) != 0;
constexpr std::size_t index_of_parameter(std::uint64_t mask, std::size_t i) {
  const bool is_number = (mask >> i & 1) != 0;
  std::size_t before = 0;
  for (std::size_t k = 0; k < i; ++k) before += ((mask >> k & 1) != 0) == is_number ? 1 : 0;
  return before;
}

template <std::uint64_t mask, std::size_t I>
decltype(auto) parameter(const Arguments& arguments) {
  if constexpr (kTakesNumber<mask, I>)
    return (arguments.numbers()[index_of_parameter(mask, I)]);
  else
    return (arguments.tensors()[index_of_parameter(mask, I)]);
}

}  // namespace detail

// The compiled form of a function of kArity parameters returning Result. Those in the mask kNumbers
// are Numbers, the others Tensors.
template <typename Result, std::size_t kArity, std::uint64_t kNumbers = 0>
class Compiled : public CompiledFunction {
 public:
  using CompiledFunction::CompiledFunction;

  template <typename... Args>
  Result operator()(const Args&... inputs) const {
    static_assert(sizeof...(Args) == kArity, "a compiled function takes what its function took");
    const auto lists = arguments(std::index_sequence_for<Args...>{}, inputs...);
    return detail::Unpack<Result>::result(call({lists.tensors, lists.numbers}));
  }

  // Writes the results to `outputs`, which have the form the function returns:
  // f.call_into(y, x), f.call_into({sum, product}, a, b).
  using CompiledFunction::call_into;
  template <typename... Args>
  requires(sizeof...(Args) == kArity) void call_into(const Result& outputs,
                                                     const Args&... inputs) const {
    const auto lists = arguments(std::index_sequence_for<Args...>{}, inputs...);
    const auto& list = detail::Unpack<Result>::outputs(outputs);
    CompiledFunction::call_into(list, {lists.tensors, lists.numbers});
  }

 private:
  static constexpr auto kNumberCount = static_cast<std::size_t>(std::popcount(kNumbers));
  struct Lists {
    std::array<Tensor, kArity - kNumberCount> tensors;
    std::array<Number, kNumberCount> numbers;
  };

  template <std::size_t... I, typename... Args>
  static Lists arguments(std::index_sequence<I...>, const Args&... inputs) {
    if constexpr (kNumberCount == 0) {
      return {{inputs...}, {}};
    } else {
      Lists lists = blank(std::make_index_sequence<kNumberCount>{});
      (place<I>(lists, inputs), ...);
      return lists;
    }
  }
  template <std::size_t... N>
  static Lists blank(std::index_sequence<N...>) {
    return {{}, {Number((void(N), 0))...}};
  }
  template <std::size_t I, typename Arg>
  static void place(Lists& lists, const Arg& input) {
    constexpr std::size_t kIndex = detail::index_of_parameter(kNumbers, I);
    if constexpr (detail::kTakesNumber<kNumbers, I>) {
      static_assert(std::is_convertible_v<const Arg&, Number>, "this parameter is a Number");
      lists.numbers[kIndex] = input;
    } else {
      static_assert(std::is_convertible_v<const Arg&, Tensor>, "this parameter is a Tensor");
      lists.tensors[kIndex] = input;
    }
  }
};

namespace detail {

template <typename Result, std::size_t kArity, std::uint64_t kNumbers, typename F>
Compiled<Result, kArity, kNumbers> compile_function(F f, CompileOptions options) {
  auto body = [f = std::move(f)](const Arguments& arguments) mutable {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return Unpack<Result>::list(f(parameter<kNumbers, I>(arguments)...));
    }
    (std::make_index_sequence<kArity>{});
  };
  constexpr int kNumberCount = std::popcount(kNumbers);
  return Compiled<Result, kArity, kNumbers>(
      CompiledFunction::Body(std::move(body)),
      Arity{static_cast<int>(kArity) - kNumberCount, kNumberCount}, std::move(options));
}

template <std::size_t>
using TensorArg = const Tensor&;

template <typename F, std::size_t... I>
std::decay_t<std::invoke_result_t<F&, TensorArg<I>...>> result_of_tensors(
    std::index_sequence<I...>);

}  // namespace detail

// f takes any number of Tensors and Numbers and returns a Tensor, or a pair, tuple, array or vector
// of them.
template <typename F>
auto compile(F f, CompileOptions options = {}) {
  using Function = detail::Signature<std::decay_t<F>>;
  return detail::compile_function<typename Function::Result, Function::kArity, Function::kNumbers>(
      std::move(f), std::move(options));
}

// The same for a function whose type does not give its arity:
// compile<2>([](auto x, auto y) { return x + y; }).
template <std::size_t kArity, typename F>
auto compile(F f, CompileOptions options = {}) {
  using Result = decltype(detail::result_of_tensors<F>(std::make_index_sequence<kArity>{}));
  return detail::compile_function<Result, kArity, 0>(std::move(f), std::move(options));
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
