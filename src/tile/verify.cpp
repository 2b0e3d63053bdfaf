// Checks every instruction against the values in scope.
#include "src/tile/verify.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <set>

#include "src/base/check.h"
#include "src/tile/thread_layout.h"

namespace sinter::tile {
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
std::string names_mistake(const TileProgram& program) {
  if (!program.name.empty() && !is_identifier(program.name))
    return fmt::format("kernel '{}' is no name", program.name);
  std::set<std::string> seen;
  const auto mistake_of = [&](const std::string& name) -> std::string {
    if (!is_identifier(name)) return fmt::format("parameter '{}' is no name", name);
    if (!seen.insert(name).second) return fmt::format("there are two parameters called {}", name);
    return "";
  };
  for (const BufferParam& buffer : program.buffers)
    if (std::string mistake = mistake_of(buffer.name); !mistake.empty()) return mistake;
  for (const ScalarParam& scalar : program.scalars)
    if (std::string mistake = mistake_of(scalar.name); !mistake.empty()) return mistake;
  return "";
}

std::string parameters_mistake(const TileProgram& program) {
  if (std::string mistake = names_mistake(program); !mistake.empty()) return mistake;
  for (const ScalarParam& scalar : program.scalars)
    if (std::string mistake = scalar_mistake(scalar); !mistake.empty()) return mistake;
  return mapping_mistake(program.mapping);
}

// Throws Mistake, for find_mistake() to catch.
class Verifier {
 public:
  Verifier(const TileProgram& program, const ById<ValueId, std::string>& names)
      : program_(program), names_(names), defined_(program.values.size(), 0) {}

  void check_body() { check_block(program_.body, nullptr); }

 private:
  // For the body of `loop`, also checks its yields while the block's values are in scope.
  void check_block(const std::vector<Instr>& body, const Instr* loop) {
    std::vector<ValueId> local;
    for (const Instr& instr : body) {
      const int number = ++last_;
      current_ = number;
      check(instr);
      current_ = number;
      for (ValueId id : instr.results) define(instr, id, local);
    }
    if (loop) check_yields(*loop);
    for (ValueId id : local) defined_[id] = 0;
  }

  template <typename... Args>
  [[noreturn]] void refuse(const Instr& instr, fmt::format_string<Args...> format,
                           Args&&... args) const {
    throw Mistake{
        fmt::format("{}: {}", fmt::format(format, std::forward<Args>(args)...), text_of(instr)),
        current_};
  }

  std::string name(ValueId id) const {
    if (id == kNoValue) return "-";
    return names_.contains(id) ? names_[id] : fmt::format("%{}", id);
  }

  // "load of %3, %4, -"
  std::string text_of(const Instr& instr) const {
    constexpr std::string_view kNames[] = {"constant",  "scalar", "program_id", "arange",
                                           "pointwise", "cast",   "load",       "store",
                                           "broadcast", "reduce", "loop"};
    std::string text = instr.code == Code::pointwise
                           ? std::string(name_of(instr.op))
                           : std::string(kNames[static_cast<std::size_t>(instr.code)]);
    for (std::size_t i = 0; i < instr.args.size(); ++i)
      text += (i ? ", " : " of ") + name(instr.args[i]);
    return text;
  }

  void define(const Instr& instr, ValueId id, std::vector<ValueId>& local) {
    if (!program_.values.contains(id)) refuse(instr, "there is no value {}", id);
    const Value& value = program_[id];
    if (defined_[id]) refuse(instr, "{} is defined twice", name(id));
    if (value.dtype != compute_dtype(value.dtype))
      refuse(instr, "{} is {}, which only buffers hold", name(id), name_of(value.dtype));
    if (value.shape.rows < 1 || value.shape.cols < 1) refuse(instr, "{} has no elements", name(id));
    defined_[id] = 1;
    local.push_back(id);
  }

  void check_arg(const Instr& instr, ValueId id) const {
    if (!program_.values.contains(id) || !defined_[id])
      refuse(instr, "{} is used before it is defined", name(id));
  }

  bool fits(ValueId part, TileShape whole) const {
    return broadcast(program_[part].shape, whole) == whole;
  }

  void check(const Instr& instr) {
    for (std::size_t i = 0; i < instr.args.size(); ++i) {
      const bool optional =
          (instr.code == Code::load && i >= 1) || (instr.code == Code::store && i == 2);
      if (!(optional && instr.args[i] == kNoValue)) check_arg(instr, instr.args[i]);
    }
    for (ValueId id : instr.results)
      if (!program_.values.contains(id)) refuse(instr, "there is no value {}", id);
    switch (instr.code) {
      case Code::constant:
      case Code::scalar:
      case Code::program_id:
      case Code::arange:
        return check_source(instr);
      case Code::pointwise:
        return check_pointwise(instr);
      case Code::load:
        return check_load(instr);
      case Code::store:
        return check_store(instr);
      case Code::cast:
        return check_cast(instr);
      case Code::broadcast:
        return check_broadcast(instr);
      case Code::reduce:
        return check_reduce(instr);
      case Code::loop:
        return check_loop(instr);
    }
  }

  void check_counts(const Instr& instr, std::size_t args, std::size_t results = 1) const {
    if (instr.args.size() != args || instr.results.size() != results)
      refuse(instr, "{} arguments and {} results are expected", args, results);
  }

  // Instructions without arguments.
  void check_source(const Instr& instr) const {
    check_counts(instr, 0);
    const Value& result = program_[instr.results[0]];
    if (instr.code == Code::arange) {
      const std::int64_t other = instr.axis == Axis::rows ? result.shape.cols : result.shape.rows;
      if (result.dtype != DType::i64 || other != 1)
        refuse(instr, "an arange is i64 along one axis");
      return;
    }
    if (!result.shape.is_scalar()) refuse(instr, "the result is one number");
    if (instr.code == Code::program_id && result.dtype != DType::i64)
      refuse(instr, "a program id is i64");
    if (instr.code != Code::scalar) return;
    if (!program_.scalars.contains(instr.index)) refuse(instr, "no scalar {}", instr.index);
    const ScalarParam& scalar = program_.scalars[instr.index];
    if (result.dtype != scalar.dtype) refuse(instr, "{} is {}", scalar.name, name_of(scalar.dtype));
  }

  void check_cast(const Instr& instr) const {
    check_counts(instr, 1);
    const Value& result = program_[instr.results[0]];
    if (result.dtype != compute_dtype(instr.storage) ||
        result.shape != program_[instr.args[0]].shape)
      refuse(instr, "a cast changes the dtype only");
  }

  void check_broadcast(const Instr& instr) const {
    check_counts(instr, 1);
    const Value& result = program_[instr.results[0]];
    if (program_[instr.args[0]].dtype != result.dtype || !fits(instr.args[0], result.shape))
      refuse(instr, "tiles do not broadcast");
  }

  const BufferParam& checked_buffer(const Instr& instr) const {
    if (!program_.buffers.contains(instr.index)) refuse(instr, "no buffer {}", instr.index);
    return program_.buffers[instr.index];
  }

  void check_access(const Instr& instr, ValueId mask, TileShape shape) const {
    if (program_[instr.args[0]].dtype != DType::i64) refuse(instr, "offsets are i64");
    if (!fits(instr.args[0], shape)) refuse(instr, "offsets do not broadcast");
    if (mask == kNoValue) return;
    if (program_[mask].dtype != DType::boolean) refuse(instr, "masks are bool");
    if (!fits(mask, shape)) refuse(instr, "the mask does not broadcast");
  }

  void check_load(const Instr& instr) const {
    check_counts(instr, 3);
    const BufferParam& buffer = checked_buffer(instr);
    const Value& result = program_[instr.results[0]];
    if (result.dtype != compute_dtype(buffer.dtype))
      refuse(instr, "{} is {}", buffer.name, name_of(buffer.dtype));
    check_access(instr, instr.args[1], result.shape);
    if (instr.args[1] == kNoValue && instr.args[2] != kNoValue)
      refuse(instr, "a value for elsewhere needs a mask");
    if (instr.args[2] == kNoValue) return;
    if (program_[instr.args[2]].dtype != result.dtype || !fits(instr.args[2], result.shape))
      refuse(instr, "the value for elsewhere has another type");
  }

  void check_store(const Instr& instr) const {
    check_counts(instr, 3, 0);
    const BufferParam& buffer = checked_buffer(instr);
    if (!buffer.written) refuse(instr, "store to read-only buffer {}", buffer.name);
    if (program_[instr.args[1]].dtype != compute_dtype(buffer.dtype))
      refuse(instr, "{} is {}", buffer.name, name_of(buffer.dtype));
    const TileShape shape = program_[instr.args[0]].shape;
    if (!fits(instr.args[1], shape)) refuse(instr, "a stored tile is no larger than its offsets");
    check_access(instr, instr.args[2], shape);
  }

  void check_reduce(const Instr& instr) const {
    const std::size_t count = is_arg(instr.reduce_kind) ? 2 : 1;
    check_counts(instr, count, count);
    const Value& reduced = program_[instr.args[0]];
    if (!is_defined_on(info(instr.reduce_kind).combine, reduced.dtype))
      refuse(instr, "there is no {} of {}", name_of(instr.reduce_kind), name_of(reduced.dtype));
    if (count == 2 && !is_integer(program_[instr.args[1]].dtype))
      refuse(instr, "positions are i32 or i64");
    for (std::size_t i = 0; i < count; ++i) {
      const Value& result = program_[instr.results[i]];
      if (result.dtype != program_[instr.args[i]].dtype ||
          result.shape != TileShape{reduced.shape.rows, 1})
        refuse(instr, "the result is one value per row, of the same dtype");
      if (!fits(instr.args[i], reduced.shape)) refuse(instr, "positions do not broadcast");
    }
  }

  void check_pointwise(const Instr& instr) const {
    check_counts(instr, static_cast<std::size_t>(info(instr.op).arity));
    if (!is_pointwise(instr.op) || instr.op == Op::cast)
      refuse(instr, "{} is not in the op table", name_of(instr.op));
    TileShape shape;
    std::vector<DType> dtypes;
    for (ValueId arg : instr.args) {
      shape = broadcast(shape, program_[arg].shape);
      dtypes.push_back(program_[arg].dtype);
    }
    if (shape.rows < 1 || shape.cols < 1) refuse(instr, "tiles do not broadcast");
    const OpTypes types = op_types(instr.op, dtypes);
    for (std::size_t i = 0; i < dtypes.size(); ++i)
      if (types.operands[i] != dtypes[i])
        refuse(instr, "{} is {}, not {}", name(instr.args[i]), name_of(dtypes[i]),
               name_of(types.operands[i]));
    if (!is_defined_on(instr.op, dtypes.back()))
      refuse(instr, "there is no {} of {}", name_of(instr.op), name_of(dtypes.back()));
    const Value& result = program_[instr.results[0]];
    if (result.dtype != types.result || result.shape != shape)
      refuse(instr, "the result has another type");
  }

  void check_loop(const Instr& instr) {
    const std::size_t carried = instr.results.size();
    if (instr.args.size() != carried + 3 || instr.body_params.size() != carried + 1 ||
        instr.body_yields.size() != carried)
      refuse(instr, "the numbers of carried values differ");
    for (std::size_t i = 0; i < 3; ++i) {
      const Value& bound = program_[instr.args[i]];
      if (bound.dtype != DType::i64 || !bound.shape.is_scalar())
        refuse(instr, "bounds are i64 scalars");
    }
    std::vector<ValueId> local;
    for (ValueId id : instr.body_params) define(instr, id, local);
    const Value& counter = program_[instr.body_params[0]];
    if (counter.dtype != DType::i64 || !counter.shape.is_scalar())
      refuse(instr, "the counter is an i64 scalar");
    const int number = current_;
    check_block(instr.body, &instr);
    current_ = number;
    for (ValueId id : local) defined_[id] = 0;
  }

  void check_yields(const Instr& loop) const {
    for (std::size_t i = 0; i < loop.body_yields.size(); ++i) {
      check_arg(loop, loop.body_yields[i]);
      const Value& carries = program_[loop.args[3 + i]];
      for (ValueId id : {loop.body_params[1 + i], loop.body_yields[i], loop.results[i]})
        if (program_[id].dtype != carries.dtype || program_[id].shape != carries.shape)
          refuse(loop, "{} is carried as something else", name(id));
    }
  }

  const TileProgram& program_;
  const ById<ValueId, std::string>& names_;
  ById<ValueId, char> defined_;
  int current_ = -1;  // index of the instruction being checked
  int last_ = -1;     // index of the last instruction visited
};

}  // namespace

std::string mapping_mistake(const Mapping& mapping) {
  const auto is_power = [](int x) {
    return x > 0 && std::has_single_bit(static_cast<unsigned>(x));
  };
  if (mapping.threads == 0) return "";  // the renderer chooses
  if (mapping.threads < 0 || mapping.threads % kWarpThreads != 0 || mapping.threads > kMostThreads)
    return fmt::format("a block has {0}, {1}, .. {2} threads, not {3}", kWarpThreads,
                       2 * kWarpThreads, kMostThreads, mapping.threads);
  if (!is_power(mapping.threads_per_row) || mapping.threads % mapping.threads_per_row != 0)
    return fmt::format("threads_per_row is a power of two that divides {}, not {}", mapping.threads,
                       mapping.threads_per_row);
  if (!is_power(mapping.vector) || mapping.vector > kWidestVector)
    return fmt::format("vector is a power of two up to {}, not {}", kWidestVector, mapping.vector);
  if (!is_power(mapping.cluster) || mapping.cluster > kLargestCluster)
    return fmt::format("cluster is a power of two up to {}, not {}", kLargestCluster,
                       mapping.cluster);
  if (mapping.blocks_at_once < 0 || mapping.blocks_at_once > kMostBlocksAtOnce)
    return fmt::format("blocks_at_once is from 0 to {}, not {}", kMostBlocksAtOnce,
                       mapping.blocks_at_once);
  if (mapping.prefetch < 0 || mapping.prefetch > kMostPrefetch)
    return fmt::format("prefetch is from 0 to {}, not {}", kMostPrefetch, mapping.prefetch);
  return "";
}

std::string scalar_mistake(const ScalarParam& scalar) {
  if (scalar.dtype != DType::i64 && scalar.dtype != DType::f64)
    return fmt::format("scalars are i64 or f64; {} is {}", scalar.name, name_of(scalar.dtype));
  const bool is_power =
      scalar.multiple_of > 0 && std::has_single_bit(static_cast<unsigned>(scalar.multiple_of));
  if (!is_power || (scalar.dtype == DType::f64 && scalar.multiple_of != 1))
    return fmt::format("{} {} cannot be a multiple of {}: only of a power of two, and only an i64",
                       name_of(scalar.dtype), scalar.name, scalar.multiple_of);
  if (scalar.positive && scalar.dtype != DType::i64)
    return fmt::format("{} {} cannot be positive: only an i64", name_of(scalar.dtype), scalar.name);
  if (scalar.at_least < 0 || (scalar.at_least > 0 && scalar.dtype != DType::i64))
    return fmt::format("{} {} cannot be at least {}: only an i64, and only a positive number",
                       name_of(scalar.dtype), scalar.name, scalar.at_least);
  return "";
}

std::optional<Mistake> find_mistake(const TileProgram& program,
                                    const ById<ValueId, std::string>& names) {
  if (std::string mistake = parameters_mistake(program); !mistake.empty())
    return Mistake{std::move(mistake), -1};
  try {
    Verifier(program, names).check_body();
  } catch (const Mistake& mistake) {
    return mistake;
  }
  return std::nullopt;
}

void verify(const TileProgram& program) {
  const std::optional<Mistake> mistake = find_mistake(program);
  SINTER_ASSERT(!mistake, "kernel {}: {}", program.name, mistake->message);
}

}  // namespace sinter::tile
