// Infers the shape and dtype of each instruction as it is added.
#include "src/tile/builder.h"

#include <array>
#include <bit>

#include "src/base/check.h"
#include "src/tile/dead_values.h"

namespace sinter::tile {

Builder::Builder(std::string name) {
  constexpr std::size_t kUsualLength = 64;
  program_.name = std::move(name);
  program_.body.reserve(kUsualLength);
  blocks_.push_back(&program_.body);
}

ValueId Builder::new_value(DType dtype, TileShape shape) {
  return program_.values.push_back({dtype, shape});
}

ValueId Builder::emit(Instr&& instr, DType dtype, TileShape shape) {
  const ValueId id = new_value(dtype, shape);
  instr.results.push_back(id);
  blocks_.back()->push_back(std::move(instr));
  return id;
}

int Builder::add_buffer(std::string name, DType dtype, bool written, bool reused) {
  program_.buffers.push_back({std::move(name), dtype, written, reused});
  return static_cast<int>(program_.buffers.size()) - 1;
}

ValueId Builder::add_scalar(std::string name, DType dtype, int multiple_of) {
  return add_scalar({std::move(name), dtype, multiple_of});
}

ValueId Builder::add_scalar(ScalarParam param) {
  SINTER_ASSERT(blocks_.size() == 1, "parameters belong to the outermost block");
  const DType dtype = param.dtype;
  program_.scalars.push_back(std::move(param));
  Instr instr;
  instr.code = Code::scalar;
  instr.index = static_cast<int>(program_.scalars.size()) - 1;
  return emit(std::move(instr), dtype, {});
}

ValueId Builder::real(double value, DType dtype) { return constant(value, 0, dtype); }

ValueId Builder::integer(std::int64_t value, DType dtype) { return constant(0, value, dtype); }

// Added to the outermost block, before the open loops, so that all later code can use it.
ValueId Builder::constant(double real, std::int64_t integer, DType dtype) {
  const auto [known, is_new] =
      constants_.try_emplace({dtype, std::bit_cast<std::uint64_t>(real), integer}, kNoValue);
  if (!is_new) return known->second;
  Instr instr;
  instr.code = Code::constant;
  instr.real = real;
  instr.integer = integer;
  instr.results = {known->second = new_value(dtype, {})};
  blocks_.front()->push_back(std::move(instr));
  return known->second;
}

bool Builder::is_integer_constant(ValueId id, std::int64_t value) const {
  const auto known = constants_.find({program_[id].dtype, 0, value});
  return known != constants_.end() && known->second == id;
}

ValueId Builder::program_id() {
  Instr instr;
  instr.code = Code::program_id;
  return emit(std::move(instr), DType::i64, {});
}

ValueId Builder::arange(Axis axis, std::int64_t count) {
  Instr instr;
  instr.code = Code::arange;
  instr.axis = axis;
  return emit(std::move(instr), DType::i64,
              axis == Axis::rows ? TileShape{count, 1} : TileShape{1, count});
}

ValueId Builder::pointwise(Op op, std::span<const ValueId> args) {
  Instr instr;
  instr.code = Code::pointwise;
  instr.op = op;
  instr.args.assign(args.begin(), args.end());
  TileShape shape;
  std::array<DType, 3> dtypes{};
  for (std::size_t i = 0; i < args.size(); ++i) {
    shape = broadcast(shape, program_[args[i]].shape);
    dtypes.at(i) = program_[args[i]].dtype;
  }
  const OpTypes types = op_types(op, std::span(dtypes).first(args.size()));
  return emit(std::move(instr), types.result, shape);
}

ValueId Builder::cast(ValueId value, DType target) {
  if (program_[value].dtype == target) return value;
  Instr instr;
  instr.code = Code::cast;
  instr.args = {value};
  instr.storage = target;
  return emit(std::move(instr), compute_dtype(target), program_[value].shape);
}

ValueId Builder::broadcast_to(ValueId value, TileShape shape) {
  if (program_[value].shape == shape) return value;
  Instr instr;
  instr.code = Code::broadcast;
  instr.args = {value};
  return emit(std::move(instr), program_[value].dtype, shape);
}

ValueId Builder::add(ValueId a, ValueId b) {
  if (is_integer_constant(a, 0)) return b;
  if (is_integer_constant(b, 0)) return a;
  return pointwise(Op::add, {a, b});
}

ValueId Builder::mul(ValueId a, ValueId b) {
  if (is_integer_constant(a, 1) || is_integer_constant(b, 0)) return b;
  if (is_integer_constant(b, 1) || is_integer_constant(a, 0)) return a;
  return pointwise(Op::mul, {a, b});
}

ValueId Builder::load(int buffer, ValueId offsets, ValueId mask, ValueId other) {
  Instr instr;
  instr.code = Code::load;
  instr.index = buffer;
  instr.args = {offsets, mask, other};
  TileShape shape = program_[offsets].shape;
  if (mask != kNoValue) shape = broadcast(shape, program_[mask].shape);
  return emit(std::move(instr), compute_dtype(program_.buffers[buffer].dtype), shape);
}

void Builder::store(int buffer, ValueId offsets, ValueId value, ValueId mask) {
  Instr instr;
  instr.code = Code::store;
  instr.index = buffer;
  instr.args = {offsets, value, mask};
  blocks_.back()->push_back(std::move(instr));
}

std::vector<ValueId> Builder::reduce(ReduceKind kind, std::span<const ValueId> args) {
  Instr instr;
  instr.code = Code::reduce;
  instr.reduce_kind = kind;
  instr.args.assign(args.begin(), args.end());
  // Positions may be a single broadcast row: the first argument determines the number of rows.
  const std::int64_t rows = program_[args[0]].shape.rows;
  for (ValueId arg : args) instr.results.push_back(new_value(program_[arg].dtype, {rows, 1}));
  std::vector<ValueId> results = instr.results;
  blocks_.back()->push_back(std::move(instr));
  return results;
}

std::vector<ValueId> Builder::loop(
    ValueId begin, ValueId end, ValueId step, std::span<const ValueId> init,
    const std::function<std::vector<ValueId>(ValueId, std::span<const ValueId>)>& body) {
  Instr instr;
  instr.code = Code::loop;
  instr.args = {begin, end, step};
  instr.args.insert(instr.args.end(), init.begin(), init.end());
  instr.body_params.push_back(new_value(DType::i64, {}));
  for (ValueId value : init)
    instr.body_params.push_back(new_value(program_[value].dtype, program_[value].shape));
  blocks_.push_back(&instr.body);
  instr.body_yields = body(instr.body_params[0], std::span(instr.body_params).subspan(1));
  blocks_.pop_back();
  for (ValueId value : init)
    instr.results.push_back(new_value(program_[value].dtype, program_[value].shape));
  std::vector<ValueId> results = instr.results;
  blocks_.back()->push_back(std::move(instr));
  return results;
}

TileProgram Builder::finish() {
  remove_dead_values(program_);
#ifndef NDEBUG
  verify(program_);
#endif
  return std::move(program_);
}

}  // namespace sinter::tile
