// Names, texts and keys.
#include "src/tile/kernel_body.h"

#include "src/base/check.h"

namespace sinter {
namespace {

std::string matrix_text(char name, const LibraryMatrix& matrix) {
  return fmt::format("  {}: lines of {}, {} apart, batches {} apart\n", name,
                     matrix.is_transposed ? "columns" : "rows", matrix.line, matrix.batch);
}

}  // namespace

const std::string& name_of(const KernelBody& body) {
  static const std::string kLibraryName = "library_matmul";
  const auto* program = std::get_if<tile::TileProgram>(&body);
  return program ? program->name : kLibraryName;
}

std::string to_string(const KernelBody& body) {
  if (const auto* program = std::get_if<tile::TileProgram>(&body)) return tile::to_string(*program);
  const auto& call = std::get<LibraryMatmul>(body);
  return fmt::format("library_matmul {} to {}: {} x ({}, {}) by ({}, {})\n{}{}{}",
                     name_of(call.dtype), name_of(call.result), call.batch, call.m, call.k, call.k,
                     call.n, matrix_text('a', call.a), matrix_text('b', call.b),
                     matrix_text('c', call.c));
}

Hash128 key_of(const KernelBody& body) {
  if (const auto* program = std::get_if<tile::TileProgram>(&body)) return key_of(*program);
  return key_of(std::get<LibraryMatmul>(body));
}

}  // namespace sinter
