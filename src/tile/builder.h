// Builder: writes a TileProgram instruction by instruction. Shapes and dtypes of results are
// inferred from the arguments; verify() checks the whole program. Equal constants share one value;
// finish() removes dead values and renumbers the rest.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "src/tile/program.h"

namespace sinter::tile {

class Builder {
 public:
  explicit Builder(std::string name);

  BufferId add_buffer(std::string name, DType dtype, bool written, bool reused = false);
  // A new parameter and its value.
  ValueId add_scalar(std::string name, DType dtype, int multiple_of = 1);
  ValueId add_scalar(ScalarParam param);

  ValueId real(double value, DType dtype);
  ValueId integer(std::int64_t value, DType dtype = DType::i64);
  ValueId program_id();
  ValueId arange(Axis axis, std::int64_t count);

  ValueId pointwise(Op op, std::initializer_list<ValueId> args) {
    return pointwise(op, std::span(args.begin(), args.size()));
  }
  ValueId pointwise(Op op, std::span<const ValueId> args);
  // `target` may be a 16-bit float: the value is then rounded to it but stays f32.
  ValueId cast(ValueId value, DType target);

  ValueId broadcast_to(ValueId value, TileShape shape);

  // i64 index arithmetic; adding 0 and multiplying by 0 or 1 emit no instruction.
  ValueId add(ValueId a, ValueId b);
  ValueId sub(ValueId a, ValueId b) { return pointwise(Op::sub, {a, b}); }
  ValueId mul(ValueId a, ValueId b);
  ValueId quotient(ValueId a, ValueId b) { return pointwise(Op::floor_div, {a, b}); }
  ValueId modulo(ValueId a, ValueId b) { return pointwise(Op::remainder, {a, b}); }
  // Quotient and remainder with one division.
  struct Divided {
    ValueId quotient;
    ValueId rest;
  };
  Divided divide(ValueId a, ValueId b) {
    const ValueId whole = quotient(a, b);
    return {whole, sub(a, mul(whole, b))};
  }

  ValueId load(BufferId buffer, ValueId offsets, ValueId mask, ValueId other);
  void store(BufferId buffer, ValueId offsets, ValueId value, ValueId mask);

  std::vector<ValueId> reduce(ReduceKind kind, std::span<const ValueId> args);  // along the columns

  // body(i, carried) returns the next values of `carried`.
  std::vector<ValueId> loop(
      ValueId begin, ValueId end, ValueId step, std::span<const ValueId> init,
      const std::function<std::vector<ValueId>(ValueId, std::span<const ValueId>)>& body);

  const Value& operator[](ValueId id) const { return program_[id]; }
  const TileProgram& program() const { return program_; }
  void set_caching(Caching caching) { program_.caching = caching; }
  void set_mapping(const Mapping& mapping) { program_.mapping = mapping; }

  TileProgram finish();

 private:
  ValueId new_value(DType dtype, TileShape shape);
  ValueId emit(Instr&& instr, DType dtype, TileShape shape);
  ValueId constant(double real, std::int64_t integer, DType dtype);
  bool is_integer_constant(ValueId id, std::int64_t value) const;

  TileProgram program_;
  std::vector<std::vector<Instr>*> blocks_;  // the innermost open block is last
  // By dtype, the bits of `real`, and `integer`.
  std::map<std::tuple<DType, std::uint64_t, std::int64_t>, ValueId> constants_;
};

}  // namespace sinter::tile
