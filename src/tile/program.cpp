// The verifier and the printer.
#include "src/tile/program.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "src/base/check.h"

namespace sinter::tile {

TileShape broadcast(TileShape a, TileShape b) {
  auto join = [](std::int64_t x, std::int64_t y) -> std::int64_t {
    if (x == y || y == 1) return x;
    return x == 1 ? y : 0;
  };
  return {join(a.rows, b.rows), join(a.cols, b.cols)};
}

void for_each_instr(const std::vector<Instr>& body,
                    const std::function<void(const Instr&)>& visit) {
  for (const Instr& instr : body) {
    visit(instr);
    for_each_instr(instr.body, visit);
  }
}

namespace {

bool is_identifier(const std::string& name) {
  const auto is_letter = [](char c) {
    return c == '_' || std::isalpha(static_cast<unsigned char>(c));
  };
  const auto is_word = [&](char c) {
    return is_letter(c) || std::isdigit(static_cast<unsigned char>(c));
  };
  return !name.empty() && is_letter(name[0]) && std::all_of(name.begin(), name.end(), is_word);
}

// Names become C identifiers.
void check_names(const TileProgram& program) {
  SINTER_ASSERT(is_identifier("k" + program.name), "kernel '{}' is no name", program.name);
  std::set<std::string> seen;
  const auto check = [&](const std::string& name) {
    SINTER_ASSERT(is_identifier(name), "parameter '{}' of kernel {} is no name", name,
                  program.name);
    SINTER_ASSERT(seen.insert(name).second, "kernel {} has two parameters called {}", program.name,
                  name);
  };
  for (const BufferParam& buffer : program.buffers) check(buffer.name);
  for (const ScalarParam& scalar : program.scalars) check(scalar.name);
}

class Verifier {
 public:
  explicit Verifier(const TileProgram& program)
      : program_(program), defined_(program.values.size(), 0) {}

  void check_block(const std::vector<Instr>& body) {
    std::vector<ValueId> local;
    for (const Instr& instr : body) {
      check(instr);
      for (ValueId id : instr.results) define(id, local);
    }
    for (ValueId id : local) defined_[static_cast<std::size_t>(id)] = 0;
  }

 private:
  void define(ValueId id, std::vector<ValueId>& local) {
    SINTER_ASSERT(id >= 0 && id < static_cast<ValueId>(program_.values.size()));
    SINTER_ASSERT(!defined_[static_cast<std::size_t>(id)], "v{} is defined twice", id);
    SINTER_ASSERT(program_[id].dtype == compute_dtype(program_[id].dtype), "v{}", id);
    defined_[static_cast<std::size_t>(id)] = 1;
    local.push_back(id);
  }

  void check_arg(const Instr& instr, ValueId id) const {
    SINTER_ASSERT(id >= 0 && id < static_cast<ValueId>(program_.values.size()) &&
                      defined_[static_cast<std::size_t>(id)],
                  "v{} is used before it is defined: {}", id, text_of(instr));
  }

  // "load of v3, v4, - in kernel softmax"
  std::string text_of(const Instr& instr) const {
    constexpr std::string_view kNames[] = {"constant",  "scalar", "program_id", "arange",
                                           "pointwise", "cast",   "load",       "store",
                                           "broadcast", "reduce", "loop"};
    std::string text = instr.code == Code::pointwise
                           ? std::string(name_of(instr.op))
                           : std::string(kNames[static_cast<std::size_t>(instr.code)]);
    for (std::size_t i = 0; i < instr.args.size(); ++i)
      text += fmt::format("{}{}", i ? ", " : " of ",
                          instr.args[i] == kNoValue ? "-" : fmt::format("v{}", instr.args[i]));
    return fmt::format("{} in kernel {}", text, program_.name);
  }

  bool fits(ValueId part, TileShape whole) const {
    return broadcast(program_[part].shape, whole) == whole;
  }

  void check_access(const Instr& instr, ValueId mask, TileShape shape) const {
    SINTER_ASSERT(program_[instr.args[0]].dtype == DType::i64, "offsets are i64: {}",
                  text_of(instr));
    SINTER_ASSERT(fits(instr.args[0], shape), "offsets do not broadcast: {}", text_of(instr));
    if (mask == kNoValue) return;
    SINTER_ASSERT(program_[mask].dtype == DType::boolean, "masks are bool: {}", text_of(instr));
    SINTER_ASSERT(fits(mask, shape), "the mask does not broadcast: {}", text_of(instr));
  }

  const BufferParam& checked_buffer(const Instr& instr) const {
    SINTER_ASSERT(instr.index >= 0 && instr.index < static_cast<int>(program_.buffers.size()),
                  "no buffer {}: {}", instr.index, text_of(instr));
    return program_.buffers[static_cast<std::size_t>(instr.index)];
  }

  void check(const Instr& instr) {
    for (std::size_t i = 0; i < instr.args.size(); ++i) {
      const bool optional =
          (instr.code == Code::load && i >= 1) || (instr.code == Code::store && i == 2);
      if (!(optional && instr.args[i] == kNoValue)) check_arg(instr, instr.args[i]);
    }
    switch (instr.code) {
      case Code::pointwise:
        check_pointwise(instr);
        break;
      case Code::load:
        check_load(instr);
        break;
      case Code::store:
        check_store(instr);
        break;
      case Code::cast: {
        const Value& result = program_[instr.results[0]];
        SINTER_ASSERT(result.dtype == compute_dtype(instr.storage) &&
                          result.shape == program_[instr.args[0]].shape,
                      "a cast changes the dtype only: {}", text_of(instr));
        break;
      }
      case Code::broadcast:
        SINTER_ASSERT(program_[instr.args[0]].dtype == program_[instr.results[0]].dtype &&
                          fits(instr.args[0], program_[instr.results[0]].shape),
                      "tiles do not broadcast: {}", text_of(instr));
        break;
      case Code::reduce:
        check_reduce(instr);
        break;
      case Code::loop:
        check_loop(instr);
        break;
      case Code::scalar:
        SINTER_ASSERT(instr.index >= 0 && instr.index < static_cast<int>(program_.scalars.size()),
                      "no scalar {}: {}", instr.index, text_of(instr));
        SINTER_ASSERT(program_[instr.results[0]].dtype ==
                          program_.scalars[static_cast<std::size_t>(instr.index)].dtype,
                      "{}", text_of(instr));
        break;
      default:
        break;
    }
  }

  void check_load(const Instr& instr) const {
    const BufferParam& buffer = checked_buffer(instr);
    const Value& result = program_[instr.results[0]];
    SINTER_ASSERT(result.dtype == compute_dtype(buffer.dtype), "{} is {}: {}", buffer.name,
                  name_of(buffer.dtype), text_of(instr));
    check_access(instr, instr.args[1], result.shape);
    SINTER_ASSERT((instr.args[1] == kNoValue) == (instr.args[2] == kNoValue),
                  "a mask needs a value for elsewhere: {}", text_of(instr));
    if (instr.args[2] == kNoValue) return;
    SINTER_ASSERT(
        program_[instr.args[2]].dtype == result.dtype && fits(instr.args[2], result.shape),
        "the value for elsewhere is no such tile: {}", text_of(instr));
  }

  void check_store(const Instr& instr) const {
    const BufferParam& buffer = checked_buffer(instr);
    SINTER_ASSERT(buffer.written, "store to read-only buffer {}", buffer.name);
    SINTER_ASSERT(program_[instr.args[1]].dtype == compute_dtype(buffer.dtype), "{} is {}: {}",
                  buffer.name, name_of(buffer.dtype), text_of(instr));
    const TileShape shape = program_[instr.args[0]].shape;
    SINTER_ASSERT(fits(instr.args[1], shape), "a stored tile is no larger than its offsets: {}",
                  text_of(instr));
    check_access(instr, instr.args[2], shape);
  }

  void check_reduce(const Instr& instr) const {
    const std::size_t count = is_arg(instr.reduce_kind) ? 2 : 1;
    SINTER_ASSERT(instr.args.size() == count && instr.results.size() == count, "{}",
                  text_of(instr));
    const TileShape result{program_[instr.args[0]].shape.rows, 1};
    for (std::size_t i = 0; i < count; ++i)
      SINTER_ASSERT(program_[instr.results[i]].dtype == program_[instr.args[i]].dtype &&
                        program_[instr.results[i]].shape == result &&
                        fits(instr.args[i], program_[instr.args[0]].shape),
                    "{}", text_of(instr));
  }

  void check_pointwise(const Instr& instr) const {
    SINTER_ASSERT(static_cast<int>(instr.args.size()) == info(instr.op).arity, "{}",
                  text_of(instr));
    TileShape shape;
    std::vector<DType> dtypes;
    for (ValueId arg : instr.args) {
      shape = broadcast(shape, program_[arg].shape);
      dtypes.push_back(program_[arg].dtype);
    }
    SINTER_ASSERT(shape.rows > 0 && shape.cols > 0, "tiles do not broadcast: {}", text_of(instr));
    const OpTypes types = op_types(instr.op, dtypes);
    for (std::size_t i = 0; i < dtypes.size(); ++i)
      SINTER_ASSERT(types.operands[i] == dtypes[i], "v{} is {}, not {}: {}", instr.args[i],
                    name_of(dtypes[i]), name_of(types.operands[i]), text_of(instr));
    SINTER_ASSERT(program_[instr.results[0]].dtype == types.result, "{}", text_of(instr));
    SINTER_ASSERT(program_[instr.results[0]].shape == shape, "{}", text_of(instr));
  }

  void check_loop(const Instr& instr) {
    SINTER_ASSERT(instr.args.size() >= 3, "{}", text_of(instr));
    const std::size_t carried = instr.args.size() - 3;
    SINTER_ASSERT(instr.body_params.size() == carried + 1 && instr.body_yields.size() == carried &&
                      instr.results.size() == carried,
                  "{}", text_of(instr));
    for (std::size_t i = 0; i < 3; ++i)
      SINTER_ASSERT(
          program_[instr.args[i]].dtype == DType::i64 && program_[instr.args[i]].shape.is_scalar(),
          "bounds are i64 scalars: {}", text_of(instr));
    std::vector<ValueId> local;
    for (ValueId id : instr.body_params) define(id, local);
    // The yields must be visible at the end of the body, so check it instruction by instruction.
    std::vector<ValueId> inner;
    for (const Instr& each : instr.body) {
      check(each);
      for (ValueId id : each.results) define(id, inner);
    }
    for (std::size_t i = 0; i < carried; ++i) {
      check_arg(instr, instr.body_yields[i]);
      const Value& carries = program_[instr.args[3 + i]];
      for (ValueId id : {instr.body_params[1 + i], instr.body_yields[i], instr.results[i]})
        SINTER_ASSERT(program_[id].dtype == carries.dtype && program_[id].shape == carries.shape,
                      "v{} is carried as something else: {}", id, text_of(instr));
    }
    for (ValueId id : inner) defined_[static_cast<std::size_t>(id)] = 0;
    for (ValueId id : local) defined_[static_cast<std::size_t>(id)] = 0;
  }

  const TileProgram& program_;
  std::vector<char> defined_;
};

class Printer {
 public:
  explicit Printer(const TileProgram& program) : program_(program) {}

  std::string text;

  void print_block(const std::vector<Instr>& body, int depth) {
    for (const Instr& instr : body) print(instr, depth);
  }

 private:
  static std::string list(const std::vector<ValueId>& ids) {
    std::string joined;
    for (ValueId id : ids)
      joined += (joined.empty() ? "" : ", ") + (id == kNoValue ? "-" : fmt::format("v{}", id));
    return joined;
  }

  void print(const Instr& instr, int depth) {
    text += std::string(static_cast<std::size_t>(depth) * 2, ' ');
    if (!instr.results.empty()) {
      const Value& value = program_[instr.results[0]];
      text += fmt::format("{}: {}", list(instr.results), name_of(value.dtype));
      if (!value.shape.is_scalar())
        text += fmt::format("({}, {})", value.shape.rows, value.shape.cols);
      text += " = ";
    }
    const std::string_view axis = instr.axis == Axis::rows ? "rows" : "cols";
    const std::string args = list(instr.args);
    switch (instr.code) {
      case Code::constant:
        text += is_floating(program_[instr.results[0]].dtype) ? fmt::format("{}", instr.real)
                                                              : fmt::format("{}", instr.integer);
        break;
      case Code::scalar:
        text += program_.scalars[static_cast<std::size_t>(instr.index)].name;
        break;
      case Code::program_id:
        text += "program_id";
        break;
      case Code::arange:
        text += fmt::format("arange {}", axis);
        break;
      case Code::pointwise:
        text += fmt::format("{} {}", name_of(instr.op), args);
        break;
      case Code::cast:
        text += fmt::format("cast {} to {}", args, name_of(instr.storage));
        break;
      case Code::load:
      case Code::store:
        text += fmt::format("{} {} {}", instr.code == Code::load ? "load" : "store",
                            program_.buffers[static_cast<std::size_t>(instr.index)].name, args);
        break;
      case Code::broadcast:
        text += fmt::format("broadcast {}", args);
        break;
      case Code::reduce:
        text += fmt::format("reduce {} {}", name_of(instr.reduce_kind), args);
        break;
      case Code::loop:
        text += fmt::format("loop {} as {}\n", args, list(instr.body_params));
        print_block(instr.body, depth + 1);
        text += std::string(static_cast<std::size_t>(depth) * 2 + 2, ' ') + "yield " +
                list(instr.body_yields);
        break;
    }
    text += "\n";
  }

  const TileProgram& program_;
};

}  // namespace

const char* name_of(Caching caching) {
  constexpr const char* kNames[] = {"any", "results", "operands", "nothing"};
  return kNames[static_cast<std::size_t>(caching)];
}

void verify(const TileProgram& program) {
  check_names(program);
  Verifier(program).check_block(program.body);
}

std::string to_string(const TileProgram& program) {
  Printer printer(program);
  printer.text = fmt::format("kernel {}", program.name);
  if (program.caching != Caching::any)
    printer.text += fmt::format(" (keeps {} in the cache)", name_of(program.caching));
  if (program.separate_ops) printer.text += " (operations round as they do alone)";
  printer.text += "\n";
  for (const BufferParam& buffer : program.buffers)
    printer.text += fmt::format("  {} {}: {}\n", buffer.written ? "out" : "in ", buffer.name,
                                name_of(buffer.dtype));
  for (const ScalarParam& scalar : program.scalars)
    printer.text += fmt::format("  scalar {}: {}\n", scalar.name, name_of(scalar.dtype));
  printer.print_block(program.body, 1);
  return printer.text;
}

}  // namespace sinter::tile
