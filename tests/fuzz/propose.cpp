// One draw for each kind of step. Operands are taken from the latest values more often, so that
// programs get deep.
#include "tests/fuzz/propose.h"

#include <algorithm>
#include <cmath>

namespace sinter::fuzz {
namespace {

constexpr Op kTableOps[] = {
#define SINTER_POINTWISE(name, arity, rule, cost, ...) Op::name,
#include <sinter/ops.def>
#undef SINTER_POINTWISE
};

// The kinds with the frequency of each.
constexpr std::pair<StepKind, int> kWeights[] = {
    {StepKind::pointwise, 60},  {StepKind::cast, 8},       {StepKind::sum, 5},
    {StepKind::mean, 3},        {StepKind::prod, 2},       {StepKind::max, 4},
    {StepKind::min, 3},         {StepKind::any, 1},        {StepKind::all, 1},
    {StepKind::var, 2},         {StepKind::std, 1},        {StepKind::logsumexp, 2},
    {StepKind::argmax, 2},      {StepKind::argmin, 2},     {StepKind::softmax, 3},
    {StepKind::log_softmax, 1}, {StepKind::layer_norm, 2}, {StepKind::rms_norm, 1},
    {StepKind::permute, 5},     {StepKind::slice, 6},      {StepKind::pad, 6},
    {StepKind::reshape, 6},     {StepKind::expand, 4},     {StepKind::unsqueeze, 3},
    {StepKind::squeeze, 3},     {StepKind::concat, 8},     {StepKind::stack, 1},
    {StepKind::contiguous, 2},  {StepKind::arange, 2},     {StepKind::full, 2},
    {StepKind::matmul, 12},     {StepKind::roll, 4},       {StepKind::flip, 3},
};

// The reference computes every product.
constexpr std::int64_t kMostProducts = 100000;

// Few different numbers, so that some are equal.
StepArg small_number(Random& random) {
  if (random.one_in(2)) return {-1, static_cast<double>(random.below(7)) - 3, false};
  return {-1, random.pick({0.5, 2.0, -1.5, 0.25, 1.0, 3.0, -0.75, 0.1}), true};
}

Number as_number(const StepArg& arg) {
  return arg.is_real ? Number(arg.number) : Number(static_cast<std::int64_t>(arg.number));
}

StepArg as_arg(const Number& number) {
  return {-1, number.real(), number.kind() == NumberKind::real};
}

class Proposal {
 public:
  Proposal(Random& random, const Drawn& drawn)
      : random_(random),
        program_(drawn.program),
        values_(drawn.values),
        uses_(drawn.uses),
        most_(drawn.most_elements) {}

  std::optional<Step> draw() {
    int total = 0;
    for (auto [kind, weight] : kWeights) total += weight;
    int at = static_cast<int>(random_.below(static_cast<std::uint64_t>(total)));
    for (auto [kind, weight] : kWeights) {
      at -= weight;
      if (at < 0) return draw_kind(kind);
    }
    return std::nullopt;
  }

 private:
  const Reference& value(int id) const { return values_[static_cast<std::size_t>(id)]; }
  int below(std::int64_t count) {
    return static_cast<int>(random_.below(static_cast<std::uint64_t>(count)));
  }

  int any_value() {
    const auto count = static_cast<int>(values_.size());
    if (random_.one_in(3)) return below(count);
    // The least used of the latest values: unread ones are pruned in the end.
    int best = count - 1 - below(std::min(count, 3));
    for (int id = std::max(0, count - 4); id < count; ++id)
      if (uses_[static_cast<std::size_t>(id)] < uses_[static_cast<std::size_t>(best)]) best = id;
    return best;
  }

  std::optional<Step> draw_kind(StepKind kind) {
    Step step;
    step.kind = kind;
    if (kind == StepKind::pointwise) return draw_pointwise(step);
    if (kind == StepKind::arange || kind == StepKind::full) return draw_leaf(step);
    const int a = any_value();
    if (kind == StepKind::matmul) return draw_matmul(step, a);
    step.args = {{a}};
    const Shape& shape = value(a).shape;
    const int rank = shape.rank();
    if (kind == StepKind::cast) {
      step.dtype = static_cast<DType>(below(kDTypeCount));
      return step;
    }
    if (kind <= StepKind::argmin) return draw_reduction(step, shape);
    if (kind == StepKind::reshape) return draw_reshape(step, shape);
    if (kind == StepKind::expand) return draw_expand(step, shape);
    if (kind == StepKind::contiguous) return step;
    if (kind == StepKind::unsqueeze || kind == StepKind::stack) {
      if (rank >= 4) return std::nullopt;
      step.axes = {below(rank + 1)};
      if (kind == StepKind::stack) add_equal(step, shape);
      return step;
    }
    if (kind == StepKind::squeeze) {
      if (std::find(shape.begin(), shape.end(), 1) == shape.end()) return std::nullopt;
      if (random_.one_in(2)) step.axes = {below(rank)};
      return step;
    }
    if (rank == 0) return std::nullopt;
    return draw_along_axis(step, shape);
  }

  std::optional<Step> draw_along_axis(Step& step, const Shape& shape) {
    const int rank = shape.rank();
    step.axes = {below(rank)};
    switch (step.kind) {
      case StepKind::permute:
        step.axes.clear();
        for (int i = 0; i < rank; ++i) step.axes.push_back(i);
        for (int i = rank - 1; i > 0; --i)
          std::swap(step.axes[static_cast<std::size_t>(i)],
                    step.axes[static_cast<std::size_t>(below(i + 1))]);
        return step;
      case StepKind::slice: {
        const std::int64_t size = shape[step.axes[0]];
        step.start = size > 0 ? below(size) : 0;
        step.stop = step.start + below(size - step.start + 1);
        if (step.stop == step.start && !random_.one_in(20)) step.stop = size;
        step.stride = random_.pick<std::int64_t>({1, 1, 2, 3});
        if (size > 0 && random_.one_in(3)) {  // the same range, from its end
          step.stride = -step.stride;
          step.start = step.stop - 1;
          step.stop = step.start - below(step.start + 2);
          if (step.start < 0) return std::nullopt;
        }
        return step;
      }
      case StepKind::pad:
        return draw_pad(step, shape);
      case StepKind::roll:
        if (shape.numel() == 0) return std::nullopt;
        step.start = below(shape[step.axes[0]]);
        return step;
      case StepKind::flip:
        for (int i = 0; i < rank; ++i)
          if (i != step.axes[0] && random_.one_in(4)) step.axes.push_back(i);
        return step;
      case StepKind::concat: {
        const std::size_t most = random_.pick<std::size_t>({2, 2, 3, 4});
        for (int tries = 0; tries < 6 && step.args.size() < most; ++tries) {
          const int b = any_value();  // perhaps one that is a part already
          Shape other = value(b).shape;
          if (other.rank() != rank) continue;
          other[step.axes[0]] = shape[step.axes[0]];
          if (other == shape) step.args.push_back({b});
        }
        return step;
      }
      case StepKind::layer_norm:
      case StepKind::rms_norm:
        step.axes.clear();
        return draw_norm(step, shape);
      default:  // softmax, log_softmax
        if (random_.one_in(3)) step.axes[0] -= rank;
        return step;
    }
  }

  std::optional<Step> draw_pad(Step& step, const Shape& shape) {
    step.start = below(4);
    step.stop = below(4);
    step.stride = random_.pick<std::int64_t>({0, 0, 1});
    Shape padded = shape;
    std::int64_t& size = padded[step.axes[0]];
    // Often as long as an axis of another value, so that both can be operands of one step.
    const Shape& like = value(any_value()).shape;
    const std::int64_t length = like.rank() > 0 ? like[below(like.rank())] : 0;
    if (const std::int64_t added = length - size; added > 0 && added <= 40) {
      step.start = below(added + 1);
      step.stop = added - step.start;
    }
    size += step.start + step.stop;
    if (padded.numel() > most_) return std::nullopt;
    return step;
  }

  // Weight and bias where values of the last axis' size (or last two axes' sizes) are at hand.
  std::optional<Step> draw_norm(Step& step, const Shape& shape) {
    for (int id = 0; id < static_cast<int>(values_.size()); ++id) {
      const Shape& other = value(id).shape;
      if (other.rank() == 0 || other.rank() > shape.rank() || !is_floating(value(id).dtype))
        continue;
      bool fits = step.args.size() == 1 || other == value(step.args[1].value).shape;
      for (int i = 1; i <= other.rank(); ++i)
        fits = fits && other[other.rank() - i] == shape[shape.rank() - i];
      if (fits && random_.one_in(2)) step.args.push_back({id});
      if (step.args.size() == (step.kind == StepKind::rms_norm ? 2u : 3u)) break;
    }
    return step;
  }

  // Another operand that fits a value, on either side; both as they are, or transposed.
  std::optional<Step> draw_matmul(const Step& step, int a) {
    std::vector<Step> fitting;
    for (int b = 0; b < static_cast<int>(values_.size()); ++b)
      for (const bool on_the_left : {false, true})
        for (int transposes = 0; transposes < 4; ++transposes) {
          Step product = step;
          product.args =
              on_the_left ? std::vector<StepArg>{{b}, {a}} : std::vector<StepArg>{{a}, {b}};
          for (int i : {0, 1})
            if (transposes >> i & 1) product.axes.push_back(i);
          if (is_matmul(product)) fitting.push_back(std::move(product));
        }
    if (fitting.empty()) return std::nullopt;
    // Products of inputs are drawn often enough: prefers padded operands, then computed ones.
    Step best = fitting[random_.below(fitting.size())];
    for (int tries = 0; tries < 2; ++tries)
      if (const Step& other = fitting[random_.below(fitting.size())]; rarity(other) > rarity(best))
        best = other;
    return best;
  }

  int rarity(const Step& product) const {
    int most = 0;
    for (const StepArg& arg : product.args)
      if (const Step* source = source_of(program_, arg.value))
        most = std::max(most, source->kind == StepKind::pad ? 2 : 1);
    return most;
  }

  bool is_matmul(const Step& step) const {
    std::vector<Shape> shapes;
    for (const StepArg& arg : step.args) shapes.push_back(value(arg.value).shape);
    for (int i : step.axes) {
      Shape& shape = shapes[static_cast<std::size_t>(i)];
      if (shape.rank() < 2) return false;
      shape = transposed(shape);
    }
    if (!is_floating(promote(value(step.args[0].value).dtype, value(step.args[1].value).dtype)))
      return false;
    const auto sizes = matmul_sizes(shapes[0], shapes[1]);
    return sizes && sizes->products() <= kMostProducts;
  }

  void add_equal(Step& step, const Shape& shape) {
    for (int tries = 0; tries < 6 && step.args.size() < 3; ++tries) {
      const int b = any_value();
      if (value(b).shape == shape) step.args.push_back({b});
    }
  }

  std::optional<Step> draw_reduction(Step& step, const Shape& shape) {
    step.keepdim = random_.one_in(2);
    step.correction = below(2);
    const bool is_arg = step.kind == StepKind::argmax || step.kind == StepKind::argmin;
    for (int i = 0; i < shape.rank(); ++i)
      if (random_.one_in(2)) step.axes.push_back(random_.one_in(4) ? i - shape.rank() : i);
    while (is_arg && step.axes.size() > 1) step.axes.pop_back();
    // The extreme of zero elements is an error.
    if (shape.numel() == 0 && step.kind != StepKind::sum && step.kind != StepKind::mean &&
        step.kind != StepKind::prod)
      return std::nullopt;
    return step;
  }

  // Merges and splits axes.
  std::optional<Step> draw_reshape(Step& step, const Shape& shape) {
    step.shape = shape;
    for (int tries = 0; tries < 3; ++tries) {
      const int rank = step.shape.rank();
      const int at = rank > 0 ? below(rank) : 0;
      if (rank > 1 && at + 1 < rank && random_.one_in(2)) {
        step.shape[at] *= step.shape[at + 1];
        step.shape.erase(at + 1);
        continue;
      }
      const std::int64_t factor = random_.pick<std::int64_t>({1, 2, 3, 4, 11});
      if (rank >= 4 || (rank > 0 && step.shape[at] % factor != 0) || (rank == 0 && factor != 1))
        continue;
      if (rank > 0) step.shape[at] /= factor;
      step.shape.insert(at, factor);
    }
    return step;
  }

  std::optional<Step> draw_expand(Step& step, const Shape& shape) {
    step.shape = shape;
    for (int i = 0; i < shape.rank(); ++i)
      if (shape[i] == 1 && random_.one_in(2)) step.shape[i] = random_.pick({2, 3, 16, 17, 64});
    if (step.shape.rank() < 4 && random_.one_in(2)) step.shape.insert(0, random_.pick({1, 2, 3}));
    if (step.shape == shape || step.shape.numel() > most_) return std::nullopt;
    return step;
  }

  std::optional<Step> draw_leaf(Step& step) {
    step.dtype = static_cast<DType>(below(kDTypeCount));
    // As long as an axis of a value, so that both can be operands of one step.
    const Shape& like = value(any_value()).shape;
    const std::int64_t length = like.rank() > 0 ? like.back() : 5;
    if (step.kind == StepKind::full) {
      step.shape = random_.one_in(2) ? like : Shape{length};
      step.args = {any_number()};
      StepArg& number = step.args[0];
      if (!is_integer(step.dtype) || number.number == std::trunc(number.number)) return step;
      number = {-1, std::trunc(number.number), number.is_real};
      return step;
    }
    if (step.dtype == DType::boolean) step.dtype = DType::i64;
    step.start = below(9) - 4;
    step.stride = 1 + below(3);
    step.stop = step.start + length * step.stride;
    return step;
  }

  // A number of the call, a constant that may have its value, or another one.
  StepArg any_number() {
    const auto count = static_cast<std::int64_t>(program_.numbers.size());
    if (count == 0 || random_.one_in(3)) return small_number(random_);
    const int given = below(count);
    StepArg arg = as_arg(program_.numbers[static_cast<std::size_t>(given)].number);
    if (!random_.one_in(4)) arg.given = given;
    return arg;
  }

  std::optional<Step> draw_pointwise(Step& step) {
    step.op = kTableOps[random_.below(std::size(kTableOps))];
    // Plain arithmetic more often than its share of the table.
    if (random_.one_in(4))
      step.op = random_.pick({Op::add, Op::sub, Op::mul, Op::maximum, Op::where, Op::fma});
    const int arity = info(step.op).arity;
    Shape shape;
    bool any_tensor = false;
    for (int i = 0; i < arity; ++i) {
      const bool needs_tensor =
          arity == 1 || (i == arity - 1 && !any_tensor) || (i == 0 && step.op == Op::where);
      if (!needs_tensor && random_.one_in(program_.numbers.empty() ? 4 : 2)) {
        step.args.push_back(any_number());
        continue;
      }
      const auto operand = compatible_value(shape);
      if (!operand) return std::nullopt;
      any_tensor = true;
      step.args.push_back({*operand});
    }
    if (is_refused(step)) return std::nullopt;
    return step;
  }

  // Cases where the API throws a UserError: differences of bools, and numbers that integers cannot
  // be divided by or raised to.
  bool is_refused(const Step& step) const {
    std::optional<DType> met;
    for (const StepArg& arg : step.args)
      if (arg.value >= 0)
        met = met ? promote(*met, value(arg.value).dtype) : value(arg.value).dtype;
    bool has_real = false;
    for (const StepArg& arg : step.args) has_real = has_real || (arg.value < 0 && arg.is_real);
    if (!met || is_floating(*met) || has_real) return false;
    const bool has_number = std::any_of(step.args.begin(), step.args.end(),
                                        [](const StepArg& arg) { return arg.value < 0; });
    if (info(step.op).rule == DTypeRule::Signed) return *met == DType::boolean && !has_number;
    if (step.args.size() != 2 || step.args[1].value >= 0) return false;
    if (step.op == Op::floor_div || step.op == Op::remainder) return step.args[1].number == 0;
    return step.op == Op::pow && step.args[1].number < 0;
  }

  // A value that broadcasts with `shape`, which grows to the result's.
  std::optional<int> compatible_value(Shape& shape) {
    for (int tries = 0; tries < 12; ++tries) {
      const int id = any_value();
      Shape both;
      if (!broadcast_shapes(shape, value(id).shape, both) || both.numel() > most_) continue;
      shape = both;
      return id;
    }
    return std::nullopt;
  }

  Random& random_;
  const RandomProgram& program_;
  const std::vector<Reference>& values_;
  const std::vector<int>& uses_;
  std::int64_t most_;
};

}  // namespace

std::optional<Step> propose_step(Random& random, const Drawn& drawn) {
  return Proposal(random, drawn).draw();
}

GivenNumber propose_number(Random& random, const std::vector<GivenNumber>& earlier) {
  // Often 1: whether a factor is dropped depends on a guard.
  const auto any = [&] { return random.one_in(5) ? Number(1.0) : as_number(small_number(random)); };
  GivenNumber given;
  given.number =
      earlier.empty() || !random.one_in(3) ? any() : earlier[random.below(earlier.size())].number;
  given.example = given.number;
  if (random.one_in(2)) return given;
  do given.example = any();
  while (given.example.kind() != given.number.kind());
  return given;
}

}  // namespace sinter::fuzz
