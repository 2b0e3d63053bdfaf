// Maker: builds a TileCase.
#pragma once

#include <initializer_list>
#include <random>
#include <string>
#include <utility>

#include "tests/codegen/tile_programs.h"

namespace sinter {

using testing_support::Numbers;
using tile::Axis;
using tile::Builder;
using tile::kNoValue;
using tile::ValueId;

inline Numbers numbers(std::int64_t count, DType dtype, unsigned seed = 1) {
  std::mt19937 random(seed);
  return testing_support::random_numbers(random, count, dtype);
}

inline TestBuffer filled(DType dtype, std::int64_t count, unsigned seed = 1) {
  return {dtype, numbers(count, dtype, seed)};
}
inline TestBuffer blank(DType dtype, std::int64_t count) {
  return {dtype, Numbers(static_cast<std::size_t>(count), dtype == DType::boolean ? 0 : -77)};
}

// A case under construction: buffers are declared and filled together.
struct Maker {
  explicit Maker(std::string name) : b(name), result{std::move(name), {}, {}, {}, 1, 2e-6} {}

  int in(DType dtype, std::int64_t count, unsigned seed = 1) {
    result.buffers.push_back(filled(dtype, count, seed));
    return b.add_buffer("in" + std::to_string(result.buffers.size()), dtype, false);
  }
  int in(DType dtype, Numbers values) {
    result.buffers.push_back({dtype, std::move(values)});
    return b.add_buffer("in" + std::to_string(result.buffers.size()), dtype, false);
  }
  int out(DType dtype, std::int64_t count) {
    result.buffers.push_back(blank(dtype, count));
    return b.add_buffer("out" + std::to_string(result.buffers.size()), dtype, true);
  }
  ValueId scalar(std::int64_t value) {
    result.scalars.push_back(value);
    return b.add_scalar("s" + std::to_string(result.scalars.size()), DType::i64);
  }
  ValueId cols(std::int64_t count) { return b.arange(Axis::cols, count); }
  ValueId rows(std::int64_t count) { return b.arange(Axis::rows, count); }
  // program_id * count + 0 .. count - 1
  ValueId block(std::int64_t count) {
    return b.add(b.mul(b.program_id(), b.integer(count)), cols(count));
  }
  ValueId below(ValueId position, ValueId limit) { return b.pointwise(Op::lt, {position, limit}); }
  ValueId load(int buffer, ValueId at, ValueId mask = kNoValue, double other = 0) {
    const DType dtype = compute_dtype(b.program().buffers[buffer].dtype);
    if (mask == kNoValue) return b.load(buffer, at, mask, kNoValue);
    return b.load(buffer, at, mask,
                  is_floating(dtype) ? b.real(other, dtype)
                                     : b.integer(static_cast<std::int64_t>(other), dtype));
  }
  ValueId real(double value) { return b.real(value, DType::f32); }
  ValueId op(Op op, std::initializer_list<ValueId> args) { return b.pointwise(op, args); }
  ValueId reduce(ReduceKind kind, ValueId value) { return b.reduce(kind, std::vector{value})[0]; }

  TileCase finish(std::int64_t grid = 1) {
    result.program = b.finish();
    verify(result.program);
    result.grid = grid;
    return std::move(result);
  }

  Builder b;
  TileCase result;
};

}  // namespace sinter
