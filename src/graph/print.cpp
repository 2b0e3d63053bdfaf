// Prints a Graph as text that parse_graph() reads back; docs/TEXT.md describes the format.
#include <algorithm>

#include "src/base/check.h"
#include "src/graph/graph.h"
#include "src/graph/text.h"

namespace sinter {
namespace {

// [(4, 8) strides (1, 0) + 3], [(6) strides (1) + 2 where (1) to (5) else 0.0]: the offset is that
// of the first element in the window.
std::string view_text(const View& view, DType dtype) {
  const std::int64_t offset = inside_window(view).offset;
  std::string window;
  if (view.window)
    window = fmt::format(" where {} to {} else {}", to_string(view.window->first),
                         to_string(view.window->last), number_text(view.window->fill, dtype));
  return fmt::format("[{} strides {}{}{}]", to_string(view.shape), to_string(view.strides),
                     offset ? fmt::format(" + {}", offset) : "", window);
}

std::string_view kind_name(NumberKind kind) {
  constexpr std::string_view kNames[] = {"bool", "integer", "real"};
  return kNames[static_cast<int>(kind)];
}

// An integer beyond i64 is written with all its digits.
std::string given_text(NumberKind kind, const Scalar& value) {
  if (kind == NumberKind::boolean) return value.integer ? "true" : "false";
  return kind == NumberKind::integer ? plain_text(value) : number_text(value, DType::f64);
}

std::string number_line(const NumberTable& numbers, const NumberExpr& expr) {
  std::string operands;
  for (const NumberId id : expr.used())
    operands += fmt::format("{}#{}", operands.empty() ? " " : ", ", id);
  const std::string_view dtype = name_of(expr.dtype);
  switch (expr.kind) {
    case NumberExpr::Kind::argument: {
      const NumberKind kind = numbers.arguments()[expr.index];
      return fmt::format("argument {} {}", kind_name(kind), given_text(kind, expr.traced));
    }
    case NumberExpr::Kind::value:
      return number_text(expr.value, DType::f64);
    case NumberExpr::Kind::apply:
      return fmt::format("{} {}{}", name_of(expr.op), dtype, operands);
    case NumberExpr::Kind::quotient:
      return "quotient" + operands;
    case NumberExpr::Kind::cast:
      return fmt::format("cast {}{}", dtype, operands);
    case NumberExpr::Kind::exact:
      return fmt::format("exact {}{}", dtype, operands);
    case NumberExpr::Kind::divisor:
      return fmt::format("divisor {}{}", dtype, operands);
  }
  return "";
}

std::string numbers_text(const NumberTable& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.exprs().size(); ++i)
    text += fmt::format("#{} = {}\n", i, number_line(numbers, numbers.exprs()[i]));
  for (const NumberGuard& guard : numbers.guards())
    text += fmt::format("guard #{} {} {}\n", guard.number, guard.same ? "is" : "is not",
                        number_text(guard.value, DType::f64));
  return text;
}

class Printer {
 public:
  explicit Printer(const Graph& graph) : graph_(graph), uses_(count_uses(graph)) {
    for (NodeId id = 0; id < graph.size(); ++id) find_inline_numbers(id);
  }

  std::string text() const {
    std::string text = numbers_text(graph_.numbers);
    for (NodeId id = 0; id < graph_.size(); ++id)
      if (!is_inline_[id]) text += line(id);
    text += "return";
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i)
      text += (i ? ", " : " ") + value_text(graph_.outputs[i]);
    return text + "\n";
  }

 private:
  // A constant is written inline as an operand if it has one reader and comes right before it:
  // that is where the parser will create it.
  void find_inline_numbers(NodeId id) {
    const Node& node = graph_[id];
    is_inline_.push_back(false);
    if (!is_pointwise(node.op)) return;
    NodeId before = id - 1;
    for (std::size_t i = node.operands.size(); i-- > 0;) {
      const Operand& operand = node.operands[i];
      if (operand.node != before || graph_[before].op != Op::constant || uses_[before] != 1 ||
          operand.view != expand(dense_view({}), node.shape))
        continue;
      is_inline_[before--] = true;
    }
  }

  std::string line(NodeId id) const {
    const Node& node = graph_[id];
    std::string text = fmt::format("%{}: {}{} = {}", id, name_of(node.dtype), to_string(node.shape),
                                   name_of(node));
    if (is_pointwise(node.op)) return text + pointwise_operands(node) + "\n";
    for (std::size_t i = 0; i < node.operands.size(); ++i)
      text += (i ? ", " : " ") + value_text(node.operands[i]);
    if (node.op == Op::constant) text += " " + constant_text(node.value, node.dtype);
    if (node.op == Op::number) text += fmt::format(" #{}", node.number);
    if (node.op == Op::iota)  // the parser reads them without rounding
      text += fmt::format(" {} step {}", number_text(node.value, DType::f64),
                          number_text(node.step, DType::f64));
    if (node.op == Op::concat) text += fmt::format(" axis {}", node.axes);
    if (is_reduction(node.op)) {
      text += " over axes";
      for (int i = 0; i < kMaxRank; ++i)
        if (node.axes >> i & 1) text += fmt::format(" {}", i);
    }
    return text + "\n";
  }

  std::string value_text(const Operand& operand) const {
    std::string text = fmt::format("%{}", operand.node);
    if (!is_whole(graph_, operand)) text += view_text(operand.view, graph_.dtype(operand));
    return text;
  }

  std::string pointwise_operands(const Node& node) const {
    std::vector<WrittenOperand> written;
    for (const Operand& operand : node.operands) {
      const Node& source = graph_[operand.node];
      if (is_inline_[operand.node])
        written.push_back({std::nullopt, written_literal(source.value, source.dtype)});
      else
        written.push_back({source.dtype, {}});
    }
    const std::vector<Constant> read = plain_constants(node.op, written, node.dtype);
    bool typed = false;  // plain numbers would be parsed with other dtypes
    for (std::size_t i = 0; i < read.size(); ++i)
      typed |= !written[i].dtype && read[i].dtype != graph_[node.operands[i].node].dtype;
    std::string text;
    for (std::size_t i = 0; i < read.size(); ++i) {
      text += i ? ", " : " ";
      if (written[i].dtype) {
        text += value_text(node.operands[i]);
        continue;
      }
      const Node& source = graph_[node.operands[i].node];
      if (typed) text += fmt::format("{} ", name_of(source.dtype));
      text += exact_text(source.value,
                         typed ? rounded_number(written[i].literal, source.dtype) : read[i].value,
                         source.dtype);
    }
    return text;
  }

  const Graph& graph_;
  ById<NodeId, int> uses_;
  ById<NodeId, char> is_inline_;
};

}  // namespace

std::string to_string(const Graph& graph) { return Printer(graph).text(); }

}  // namespace sinter
