// Prints a TileProgram as text that parse_tile_program() reads back; docs/TEXT.md describes the
// format.
#include "src/base/check.h"
#include "src/graph/text.h"
#include "src/tile/program.h"

namespace sinter::tile {
namespace {

std::string type_text(const Value& value) {
  if (value.shape.is_scalar()) return std::string(name_of(value.dtype));
  return fmt::format("{}({}, {})", name_of(value.dtype), value.shape.rows, value.shape.cols);
}

std::string list(const std::vector<ValueId>& ids) {
  std::string joined;
  for (ValueId id : ids) joined += fmt::format("{}%{}", joined.empty() ? "" : ", ", id);
  return joined;
}

// The fields that differ from their defaults: "mapping threads = 128, vector = 4".
std::string mapping_text(const Mapping& mapping) {
  std::string text;
  for_each_field<Mapping>([&](const auto& field) {
    const auto value = mapping.*field.member;
    if (value == Mapping{}.*field.member) return;
    text += fmt::format("{} {} = {}", text.empty() ? "mapping" : ",", field.name, value);
  });
  return text;
}

class Printer {
 public:
  explicit Printer(const TileProgram& program) : program_(program) {}

  std::string text() {
    text_ = program_.name.empty() ? "kernel\n" : fmt::format("kernel {}\n", program_.name);
    print_parameters();
    print_block(program_.body, 1);
    return std::move(text_);
  }

 private:
  void line(int depth, const std::string& text) {
    text_ += std::string(static_cast<std::size_t>(depth) * 2, ' ') + text + "\n";
  }

  void print_parameters() {
    if (program_.caching != Caching::any)
      line(1, fmt::format("caching {}", name_of(program_.caching)));
    if (program_.separate_ops) line(1, "separate_ops");
    if (program_.in_place) line(1, "in_place");
    if (const std::string mapping = mapping_text(program_.mapping); !mapping.empty())
      line(1, mapping);
    for (const BufferParam& buffer : program_.buffers)
      line(1, fmt::format("{} {}: {}{}", buffer.written ? "out" : "in", buffer.name,
                          name_of(buffer.dtype), buffer.reused ? " reused" : ""));
    for (const ScalarParam& scalar : program_.scalars)
      line(1, fmt::format(
                  "scalar {}: {}{}{}{}", scalar.name, name_of(scalar.dtype),
                  scalar.multiple_of == 1 ? "" : fmt::format(" multiple of {}", scalar.multiple_of),
                  scalar.positive ? " positive" : "",
                  scalar.at_least == 0 ? "" : fmt::format(" at least {}", scalar.at_least)));
  }

  void print_block(const std::vector<Instr>& body, int depth) {
    for (const Instr& instr : body) {
      std::string results;
      for (ValueId id : instr.results)
        results +=
            fmt::format("{}%{}: {}", results.empty() ? "" : ", ", id, type_text(program_[id]));
      line(depth, results + (results.empty() ? "" : " = ") + operation(instr));
      if (instr.code != Code::loop) continue;
      print_block(instr.body, depth + 1);
      const std::string yields = list(instr.body_yields);
      line(depth + 1, yields.empty() ? "yield" : "yield " + yields);
    }
  }

  std::string operation(const Instr& instr) const {
    switch (instr.code) {
      case Code::constant: {
        const DType dtype = program_[instr.results[0]].dtype;
        return "constant " +
               constant_text(
                   is_floating(dtype) ? Scalar::of(instr.real) : Scalar::of(instr.integer), dtype);
      }
      case Code::scalar:
        return "scalar " + program_.scalars[instr.index].name;
      case Code::program_id:
        return "program_id";
      case Code::arange: {
        const TileShape shape = program_[instr.results[0]].shape;
        const bool is_rows = instr.axis == Axis::rows;
        return fmt::format("arange {} {}", is_rows ? "rows" : "cols",
                           is_rows ? shape.rows : shape.cols);
      }
      case Code::pointwise:
        return fmt::format("{} {}", name_of(instr.op), list(instr.args));
      case Code::cast:
        return fmt::format("cast {} to {}", list(instr.args), name_of(instr.storage));
      case Code::load:
      case Code::store:
        return access(instr);
      case Code::broadcast: {
        const TileShape shape = program_[instr.results[0]].shape;
        return fmt::format("broadcast {} to ({}, {})", list(instr.args), shape.rows, shape.cols);
      }
      case Code::reduce:
        return fmt::format("reduce {} {}", name_of(instr.reduce_kind), list(instr.args));
      case Code::loop:
        return loop_header(instr);
    }
    return "";
  }

  // "load x[%3] where %4 else %5", "store y[%3] = %6 where %4"
  std::string access(const Instr& instr) const {
    const std::string& buffer = program_.buffers[instr.index].name;
    if (instr.code == Code::load) {
      std::string text = fmt::format("load {}[%{}]", buffer, instr.args[0]);
      if (instr.args[1] == kNoValue) return text;
      text += fmt::format(" where %{}", instr.args[1]);
      return instr.args[2] == kNoValue ? text : fmt::format("{} else %{}", text, instr.args[2]);
    }
    const std::string text =
        fmt::format("store {}[%{}] = %{}", buffer, instr.args[0], instr.args[1]);
    return instr.args[2] == kNoValue ? text : fmt::format("{} where %{}", text, instr.args[2]);
  }

  // "loop %7 = %1 to %2 step %3 carrying %8 = %4"
  static std::string loop_header(const Instr& instr) {
    std::string text = fmt::format("loop %{} = %{} to %{} step %{}", instr.body_params[0],
                                   instr.args[0], instr.args[1], instr.args[2]);
    for (std::size_t i = 1; i < instr.body_params.size(); ++i)
      text += fmt::format("{} %{} = %{}", i == 1 ? " carrying" : ",", instr.body_params[i],
                          instr.args[2 + i]);
    return text;
  }

  const TileProgram& program_;
  std::string text_;
};

}  // namespace

std::string to_string(const TileProgram& program) { return Printer(program).text(); }

}  // namespace sinter::tile
