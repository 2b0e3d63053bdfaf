// KernelBody: the code of a kernel: a tile program to render and compile, or a library call.
#pragma once

#include <sinter/dtype.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <variant>

#include "src/base/fields.h"
#include "src/tile/program.h"

namespace sinter {

// A matrix in memory: contiguous rows or columns, `line` elements apart (the leading dimension).
struct LibraryMatrix {
  bool is_transposed = false;  // column-major
  std::int64_t line = 0;
  std::int64_t batch = 0;  // elements from one matrix of a batch to the next
  friend bool operator==(const LibraryMatrix&, const LibraryMatrix&) = default;
};
constexpr auto fields_of(const LibraryMatrix*) {
  return std::tuple{key_field("is_transposed", &LibraryMatrix::is_transposed),
                    key_field("line", &LibraryMatrix::line),
                    key_field("batch", &LibraryMatrix::batch)};
}
static_assert(kListsEveryField<LibraryMatrix>);

// c = a b for each product of a batch: (m, k) times (k, n) gives (m, n), row-major. Buffers are
// bound in the order a, b, c.
struct LibraryMatmul {
  DType dtype = DType::f32;   // of a and b
  DType result = DType::f32;  // of c: `dtype`, or its compute dtype
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  std::int64_t batch = 1;
  LibraryMatrix a;
  LibraryMatrix b;
  LibraryMatrix c;
};
constexpr auto fields_of(const LibraryMatmul*) {
  return std::tuple{
      key_field("dtype", &LibraryMatmul::dtype), key_field("result", &LibraryMatmul::result),
      key_field("m", &LibraryMatmul::m),         key_field("n", &LibraryMatmul::n),
      key_field("k", &LibraryMatmul::k),         key_field("batch", &LibraryMatmul::batch),
      key_field("a", &LibraryMatmul::a),         key_field("b", &LibraryMatmul::b),
      key_field("c", &LibraryMatmul::c)};
}
static_assert(kListsEveryField<LibraryMatmul>);

using KernelBody = std::variant<tile::TileProgram, LibraryMatmul>;

// The tile program, null for other bodies.
inline const tile::TileProgram* tile_program(const KernelBody& body) {
  return std::get_if<tile::TileProgram>(&body);
}
inline tile::TileProgram* tile_program(KernelBody& body) {
  return std::get_if<tile::TileProgram>(&body);
}

// Whether it multiplies with matrix units, which are many times faster than f32 lanes.
bool uses_matrix_units(const KernelBody& body);

const std::string& name_of(const KernelBody& body);
std::string to_string(const KernelBody& body);
// The cache key: equal bodies share one kernel.
Hash128 key_of(const KernelBody& body);

}  // namespace sinter
