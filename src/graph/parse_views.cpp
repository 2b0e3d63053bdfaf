// One function per view word; each checks its arguments and returns the new view.
#include "src/graph/parse_views.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "src/base/nearest_name.h"
#include "src/graph/parse_numbers.h"

namespace sinter {
namespace {

// The arguments of a view word's function.
struct ViewCall {
  const TokenReader& tokens;
  const SizeReader& sizes;
  GraphBuilder& build;
  Token word;
  Shape arguments;
  Operand value;
  std::optional<NumberText> fill;  // pad

  const View& view() const { return value.view; }
  int rank() const { return value.view.shape.rank(); }
  int axis(int argument) const { return checked_axis(tokens, word, arguments[argument], rank()); }
  Operand seen(const View& view) const { return {value.node, view}; }
};

Operand transpose(const ViewCall& call) {
  Shape axes = Shape::filled(call.rank(), 0);
  for (int i = 0; i < call.rank(); ++i) axes[i] = i;
  std::swap(axes[call.axis(0)], axes[call.axis(1)]);
  return call.seen(permute(call.view(), axes));
}

Operand permuted(const ViewCall& call) {
  Shape axes = call.arguments;
  std::uint32_t named = 0;
  for (int i = 0; i < axes.rank(); ++i) named |= 1u << (axes[i] = call.axis(i));
  if (axes.rank() != call.rank() || named != (1u << call.rank()) - 1)
    call.tokens.fail(call.word, "{} does not name each axis of {} once", to_string(call.arguments),
                     to_string(call.view().shape));
  return call.seen(permute(call.view(), axes));
}

// slice(axis, start, stop[, step])
Operand sliced(const ViewCall& call) {
  const int axis = call.axis(0);
  const std::int64_t step = call.arguments.rank() > 3 ? call.arguments[3] : 1;
  if (step == 0) call.tokens.fail(call.word, "the step cannot be 0");
  const SlicedAxis elements =
      sliced_axis(call.view().shape[axis], call.arguments[1], call.arguments[2], step);
  return call.seen(slice(call.view(), axis, elements));
}

// The number that a padded view of values of that dtype shows.
Scalar fill_value(const TokenReader& tokens, const NumberText& fill, DType dtype) {
  check_holds(tokens, fill, dtype);
  return rounded_number(fill.literal, dtype);
}

NumberText parse_fill(TokenReader& tokens) {
  NumberText fill;
  fill.at = tokens.peek();
  fill.literal = parse_literal(tokens);
  return fill;
}

// pad(axis, before, after) or pad(axis, before, after) else 1.0
Operand padded(const ViewCall& call) {
  const int axis = call.axis(0);
  const std::int64_t before = call.arguments[1];
  const std::int64_t after = call.arguments[2];
  if (before < 0 || after < 0) call.tokens.fail(call.word, "counts cannot be negative");
  Shape shape = call.view().shape;
  if (__builtin_add_overflow(shape[axis], before, &shape[axis]) ||
      __builtin_add_overflow(shape[axis], after, &shape[axis]))
    call.tokens.fail(call.word, "the sizes are too large");
  call.sizes.check_shape(call.word, shape);
  const DType dtype = call.build.graph().dtype(call.value);
  const Scalar fill = call.fill ? fill_value(call.tokens, *call.fill, dtype)
                                : Scalar::of(std::int64_t{0}).as(dtype);
  if (const auto view = pad(call.view(), axis, before, after, fill)) return call.seen(*view);
  const Operand shown = call.build.unpadded(call.value);
  if (const auto view = pad(shown.view, axis, before, after, fill)) return {shown.node, *view};
  call.tokens.fail(call.word, "the sizes are too large for these strides");
}

Operand flipped(const ViewCall& call) {
  std::uint32_t axes = 0;
  for (int i = 0; i < call.arguments.rank(); ++i) axes |= 1u << call.axis(i);
  return call.seen(reversed(call.view(), axes));
}

Operand reshaped(const ViewCall& call) {
  Shape shape = call.arguments;
  const std::int64_t count = call.view().shape.numel();
  const auto open = std::find(shape.begin(), shape.end(), -1) - shape.begin();
  if (open < shape.rank()) shape[static_cast<int>(open)] = 1;
  call.sizes.check_shape(call.word, shape);
  const std::int64_t known = shape.numel();
  if (open < shape.rank() && known > 0 && count % known == 0)
    shape[static_cast<int>(open)] = count / known;
  if (shape.numel() != count)
    call.tokens.fail(call.word, "{} has {} elements, which do not fit {}",
                     to_string(call.view().shape), count, to_string(call.arguments));
  call.sizes.check_shape(call.word, shape);
  if (const auto view = reshape(call.view(), shape)) return call.seen(*view);
  const Operand shown = call.build.unpadded(call.value);
  if (const auto view = reshape(shown.view, shape)) return {shown.node, *view};
  const Operand copied = call.build.copy(shown);
  return {copied.node, *reshape(copied.view, shape)};
}

// A size of -1 is kept.
Operand expanded(const ViewCall& call) {
  Shape shape = call.arguments;
  const int lead = shape.rank() - call.rank();
  for (int i = std::max(lead, 0); i < shape.rank(); ++i)
    if (shape[i] == -1) shape[i] = call.view().shape[i - lead];
  call.sizes.check_shape(call.word, shape);
  return expanded_to(call.tokens, call.word, call.value, shape);
}

Operand unsqueezed(const ViewCall& call) {
  if (call.rank() == kMaxRank) call.tokens.fail(call.word, "there are at most {} axes", kMaxRank);
  const int axis = checked_axis(call.tokens, call.word, call.arguments[0], call.rank() + 1);
  return call.seen(insert_axis(call.view(), axis));
}

Operand squeezed(const ViewCall& call) {
  const int axis = call.axis(0);
  if (call.view().shape[axis] != 1)
    call.tokens.fail(call.word, "axis {} of {} has more than one element", axis,
                     to_string(call.view().shape));
  return call.seen(remove_axis(call.view(), axis));
}

struct ViewWord {
  std::string_view name;
  int least;  // arguments
  int most;
  Operand (*apply)(const ViewCall&);
};

constexpr std::array kViewWords{
    ViewWord{"transpose", 2, 2, transpose},    ViewWord{"permute", 0, kMaxRank, permuted},
    ViewWord{"slice", 3, 4, sliced},           ViewWord{"pad", 3, 3, padded},
    ViewWord{"flip", 1, kMaxRank, flipped},    ViewWord{"reshape", 0, kMaxRank, reshaped},
    ViewWord{"expand", 0, kMaxRank, expanded}, ViewWord{"unsqueeze", 1, 1, unsqueezed},
    ViewWord{"squeeze", 1, 1, squeezed}};

const ViewWord& find_word(const TokenReader& tokens, const Token& word) {
  std::vector<std::string> names;
  for (const ViewWord& each : kViewWords) {
    if (word.kind == Token::Kind::word && each.name == word.text) return each;
    names.emplace_back(each.name);
  }
  if (word.kind != Token::Kind::word)
    tokens.fail(word, "expected a view after '.', got {}", described(word));
  tokens.fail(word, "{}", unknown_name("view", word.text, names));
}

Operand apply_word(TokenReader& tokens, SizeReader& sizes, GraphBuilder& build,
                   const Operand& value) {
  const Token word = tokens.next();
  const ViewWord& found = find_word(tokens, word);
  const Shape arguments = sizes.list();
  if (arguments.rank() < found.least || arguments.rank() > found.most) {
    const std::string most = found.most > found.least ? fmt::format(" to {}", found.most) : "";
    tokens.fail(word, "{} takes {}{} arguments, got {}", found.name, found.least, most,
                arguments.rank());
  }
  std::optional<NumberText> fill;
  if (found.apply == padded && tokens.take("else")) fill = parse_fill(tokens);
  const Operand seen = found.apply({tokens, sizes, build, word, arguments, value, fill});
  return shows_fill_only(seen.view) ? build.unpadded(seen) : seen;
}

// The first and last element the view reads, or nullopt on overflow.
std::optional<Extent> checked_extent(const View& view) {
  Extent range{view.offset, view.offset};
  for (int i = 0; i < view.shape.rank(); ++i) {
    std::int64_t span = 0;
    const std::int64_t stride = view.strides[i];
    if (stride > kMostElements || stride < -kMostElements ||
        __builtin_mul_overflow(std::max<std::int64_t>(view.shape[i] - 1, 0), stride, &span))
      return std::nullopt;
    std::int64_t& end = span < 0 ? range.first : range.last;
    if (__builtin_add_overflow(end, span, &end)) return std::nullopt;
  }
  return range;
}

// "where (1) to (5) else 0.0", if it is there.
void read_window(TokenReader& tokens, SizeReader& sizes, DType dtype, View& view) {
  const Token at = tokens.peek();
  if (!tokens.take("where")) return;
  Window window;
  window.first = sizes.list();
  tokens.expect("to");
  window.last = sizes.list();
  tokens.expect("else");
  window.fill = fill_value(tokens, parse_fill(tokens), dtype);
  const int rank = view.shape.rank();
  bool fits = window.first.rank() == rank && window.last.rank() == rank;
  bool is_all = true;
  for (int i = 0; fits && i < rank; ++i) {
    fits =
        window.first[i] >= 0 && window.first[i] < window.last[i] && window.last[i] <= view.shape[i];
    is_all &= window.first[i] == 0 && window.last[i] == view.shape[i];
  }
  if (!fits)
    tokens.fail(at, "{} to {} is no window of {}", to_string(window.first), to_string(window.last),
                to_string(view.shape));
  if (!is_all) view.window = std::make_shared<const Window>(window);
}

// "(4, 8) strides (1, 0) + 3]", over the node's row-major elements.
Operand raw_view(TokenReader& tokens, SizeReader& sizes, const Graph& graph, const Operand& value) {
  const Token at = tokens.peek();
  View view{sizes.shape(), {}, 0};
  tokens.expect("strides");
  view.strides = sizes.list();
  if (tokens.take("+")) view.offset = sizes.expression();
  if (view.shape.rank() != view.strides.rank())
    tokens.fail(at, "the view has {} sizes and {} strides", view.shape.rank(), view.strides.rank());
  read_window(tokens, sizes, graph.dtype(value), view);
  tokens.expect("]");
  if (!is_whole(graph, value)) tokens.fail(at, "strides are those of a whole value, not of a view");
  const Node& source = graph[value.node];
  // The caller's buffer may be larger than the input.
  const std::int64_t end = source.op == Op::input ? kMostElements : source.shape.numel();
  View inside = view;  // the text gives the offset of the window's first element
  for (int i = 0; view.window && i < view.shape.rank(); ++i)
    inside.shape[i] = view.window->last[i] - view.window->first[i];
  const std::optional<Extent> range = checked_extent(inside);
  const bool is_empty = view.shape.numel() == 0;
  if (!range || (!is_empty && (range->first < 0 || range->last >= end)) ||
      (is_empty && (view.offset < -kMostElements || view.offset > kMostElements)))
    tokens.fail(at, "the view leaves its value, which is {}", to_string(source.shape));
  if (!view.window) return {value.node, view};
  if (!offsets_fit(view)) tokens.fail(at, "the sizes are too large for these strides");
  for (int i = 0; i < view.shape.rank(); ++i)
    view.offset -= view.window->first[i] * view.strides[i];
  return {value.node, view};
}

}  // namespace

int checked_axis(const TokenReader& tokens, const Token& at, std::int64_t axis, int rank) {
  if (axis < -rank || axis >= rank)
    tokens.fail(at, "there is no axis {}: the value has {}", axis, rank);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Operand expanded_to(const TokenReader& tokens, const Token& at, const Operand& operand,
                    const Shape& shape) {
  const Shape& own = operand.view.shape;
  const int lead = shape.rank() - own.rank();
  bool fits = lead >= 0;
  for (int i = 0; fits && i < own.rank(); ++i) fits = own[i] == 1 || own[i] == shape[lead + i];
  if (!fits) tokens.fail(at, "{} does not broadcast to {}", to_string(own), to_string(shape));
  return own == shape ? operand : Operand{operand.node, expand(operand.view, shape)};
}

Operand parse_views(TokenReader& tokens, SizeReader& sizes, GraphBuilder& build, Operand value) {
  for (;;) {
    if (tokens.take("["))
      value = raw_view(tokens, sizes, build.graph(), value);
    else if (tokens.take("."))
      value = apply_word(tokens, sizes, build, value);
    else
      return value;
  }
}

}  // namespace sinter
