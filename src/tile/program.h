// TileProgram: the tile language's IR. A program runs once for every program id; its values are
// two-dimensional tiles (rows, cols), where a 1 broadcasts; (1, 1) is a scalar. Sizes and strides
// are run-time scalars, tile shapes are fixed, so masks handle ragged edges. Instructions execute
// in order on whole tiles: a load sees all earlier stores of its program and no later ones.
#pragma once

#include <sinter/dtype.h>

#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "src/base/by_id.h"
#include "src/base/fields.h"
#include "src/graph/reduction.h"

namespace sinter::tile {

using ValueId = std::int32_t;
inline constexpr ValueId kNoValue = -1;
using BufferId = int;
using ScalarId = int;

struct TileShape {
  std::int64_t rows = 1;
  std::int64_t cols = 1;
  bool is_scalar() const { return rows == 1 && cols == 1; }
  friend bool operator==(const TileShape&, const TileShape&) = default;
};
constexpr auto fields_of(const TileShape*) {
  return std::tuple{key_field("rows", &TileShape::rows), key_field("cols", &TileShape::cols)};
}
static_assert(kListsEveryField<TileShape>);

// Values have compute dtypes only (f32, f64, i32, i64, bool); 16-bit floats exist only in buffers.
struct Value {
  DType dtype = DType::f32;
  TileShape shape;
};
constexpr auto fields_of(const Value*) {
  return std::tuple{key_field("dtype", &Value::dtype), key_field("shape", &Value::shape)};
}
static_assert(kListsEveryField<Value>);

enum class Code : std::uint8_t {
  constant,    // number
  scalar,      // scalar parameter `index`
  program_id,  // the id of the running program, i64
  arange,      // 0, 1, ... along `axis`, i64
  pointwise,   // `op` on args
  cast,        // to the result's dtype, rounding to `storage` on the way if that is a 16-bit float;
               // floats to integers: NaN gives 0, out-of-range values saturate
  load,        // buffer `index` at element offsets args[0] where mask args[1]; args[2] elsewhere,
               // or any values if that is absent
  store,       // args[1] to buffer `index` at offsets args[0] where mask args[2]
  broadcast,   // args[0] broadcast to the result's shape
  reduce,      // args along the columns; argmax and argmin take and return (value, position)
  loop,        // for args[0] <= i < args[1] step args[2], carrying args[3..]
};

enum class Axis : std::uint8_t { rows, cols };

struct Instr {
  Code code = Code::constant;
  std::vector<ValueId> results;
  std::vector<ValueId> args;  // kNoValue where an optional one is absent
  Op op = Op::copy;
  ReduceKind reduce_kind = ReduceKind::sum;
  Axis axis = Axis::cols;
  int index = 0;
  double real = 0;             // constant
  std::int64_t integer = 0;    // constant
  DType storage = DType::f32;  // cast
  // loop: body_params = {i, carried...}, body_yields = the next carried values
  std::vector<ValueId> body_params;
  std::vector<ValueId> body_yields;
  std::vector<Instr> body;
};
constexpr auto fields_of(const Instr*) {
  return std::tuple{key_field("code", &Instr::code),
                    key_field("results", &Instr::results),
                    key_field("args", &Instr::args),
                    key_field("op", &Instr::op),
                    key_field("reduce_kind", &Instr::reduce_kind),
                    key_field("axis", &Instr::axis),
                    key_field("index", &Instr::index),
                    key_field("real", &Instr::real),
                    key_field("integer", &Instr::integer),
                    key_field("storage", &Instr::storage),
                    key_field("body_params", &Instr::body_params),
                    key_field("body_yields", &Instr::body_yields),
                    key_field("body", &Instr::body)};
}
static_assert(kListsEveryField<Instr>);

struct BufferParam {
  std::string name;
  DType dtype = DType::f32;
  bool written = false;
  bool reused = false;  // several programs read the same elements: worth caching
};
constexpr auto fields_of(const BufferParam*) {
  return std::tuple{note_field("name", &BufferParam::name), key_field("dtype", &BufferParam::dtype),
                    key_field("written", &BufferParam::written),
                    key_field("reused", &BufferParam::reused)};
}
static_assert(kListsEveryField<BufferParam>);

struct ScalarParam {
  std::string name;
  DType dtype = DType::i64;   // i64 or f64
  int multiple_of = 1;        // i64 only: a power of two that divides every value it can have
  bool positive = false;      // i64 only: every value it can have is from 1 to 2^31 - 1
  std::int64_t at_least = 0;  // i64 only: bounds every value it can have; 0: nothing is known
};
constexpr auto fields_of(const ScalarParam*) {
  return std::tuple{note_field("name", &ScalarParam::name), key_field("dtype", &ScalarParam::dtype),
                    key_field("multiple_of", &ScalarParam::multiple_of),
                    key_field("positive", &ScalarParam::positive),
                    key_field("at_least", &ScalarParam::at_least)};
}
static_assert(kListsEveryField<ScalarParam>);

// How a program's tiles map to GPU threads; other executors ignore it. Consecutive threads are
// adjacent along a tile's columns, `threads_per_row` of them, then along its rows.
struct Mapping {
  int threads = 0;          // per block; 0: the renderer chooses the whole mapping
  int threads_per_row = 0;  // divides `threads`
  int vector = 1;           // adjacent elements of a row that a thread accesses at once
  int cluster = 1;          // blocks that share a program, each with a part of the columns
  int blocks_at_once = 0;   // resident blocks per multiprocessor the registers allow; 0: any
  int prefetch = 0;         // depth: programs whose loads are in flight while one runs; if > 0,
                            // blocks are persistent and run several programs in turn
  bool late_loads = false;  // load operands of later stages only when needed, to save registers
  bool wide_index = true;   // offsets need 64 bits
  friend bool operator==(const Mapping&, const Mapping&) = default;
};
constexpr auto fields_of(const Mapping*) {
  return std::tuple{key_field("threads", &Mapping::threads),
                    key_field("threads_per_row", &Mapping::threads_per_row),
                    key_field("vector", &Mapping::vector),
                    key_field("cluster", &Mapping::cluster),
                    key_field("blocks_at_once", &Mapping::blocks_at_once),
                    key_field("prefetch", &Mapping::prefetch),
                    key_field("late_loads", &Mapping::late_loads),
                    key_field("wide_index", &Mapping::wide_index)};
}
static_assert(kListsEveryField<Mapping>);

// Which data a kernel asks the cache to keep.
enum class Caching : std::uint8_t {
  any,
  results,   // GPUs: reads are evicted first, writes last
  operands,  // GPUs: reads are evicted last
  nothing,   // CPUs: writes bypass the cache
};
const char* name_of(Caching caching);

struct TileProgram {
  std::string name;
  ById<BufferId, BufferParam> buffers;
  ById<ScalarId, ScalarParam> scalars;
  ById<ValueId, Value> values;
  std::vector<Instr> body;
  Caching caching = Caching::any;
  // Every operation gives the same bits as in its own kernel: no FMA contraction, and functions
  // compute single elements as they compute vectors.
  bool separate_ops = false;
  // A written buffer may share memory with one that is read, at the same offsets.
  bool in_place = false;
  Mapping mapping;

  const Value& operator[](ValueId id) const { return values[id]; }
};
constexpr auto fields_of(const TileProgram*) {
  return std::tuple{note_field("name", &TileProgram::name),
                    key_field("buffers", &TileProgram::buffers),
                    key_field("scalars", &TileProgram::scalars),
                    key_field("values", &TileProgram::values),
                    key_field("body", &TileProgram::body),
                    key_field("caching", &TileProgram::caching),
                    key_field("separate_ops", &TileProgram::separate_ops),
                    key_field("in_place", &TileProgram::in_place),
                    key_field("mapping", &TileProgram::mapping)};
}
static_assert(kListsEveryField<TileProgram>);

// Throws InternalError naming the instruction: undefined values, shapes that do not broadcast,
// wrong dtypes, stores to read-only buffers, unknown parameters.
void verify(const TileProgram& program);

// Text that parse_tile_program() (src/tile/parse.h) reads back; docs/TEXT.md describes the format.
std::string to_string(const TileProgram& program);

// Visits every instruction in order, including loop bodies.
void for_each_instr(const std::vector<Instr>& body, const std::function<void(const Instr&)>& visit);

// The shape two tiles broadcast to; a dimension that does not broadcast is 0.
TileShape broadcast(TileShape a, TileShape b);

}  // namespace sinter::tile
