// Names, printing and cache keys.
#include "src/tile/kernel_body.h"

#include "src/base/check.h"

namespace sinter {
namespace {

std::string matrix_text(char name, const LibraryMatrix& matrix) {
  return fmt::format("  {}: lines of {}, {} apart, batches {} apart\n", name,
                     matrix.is_transposed ? "columns" : "rows", matrix.line, matrix.batch);
}

}  // namespace

bool uses_matrix_units(const KernelBody& body) {
  const auto* call = std::get_if<LibraryMatmul>(&body);
  return call && size_of(call->dtype) == 2;
}

const std::string& name_of(const KernelBody& body) {
  static const std::string kLibraryName = "library_matmul";
  const tile::TileProgram* program = tile_program(body);
  return program ? program->name : kLibraryName;
}

std::string to_string(const KernelBody& body) {
  if (const tile::TileProgram* program = tile_program(body)) return tile::to_string(*program);
  const auto& call = std::get<LibraryMatmul>(body);
  return fmt::format("library_matmul {} to {}: {} x ({}, {}) by ({}, {})\n{}{}{}",
                     name_of(call.dtype), name_of(call.result), call.batch, call.m, call.k, call.k,
                     call.n, matrix_text('a', call.a), matrix_text('b', call.b),
                     matrix_text('c', call.c));
}

Hash128 key_of(const KernelBody& body) {
  if (const tile::TileProgram* program = tile_program(body)) return key_of(*program);
  return key_of(std::get<LibraryMatmul>(body));
}

}  // namespace sinter
