// Names, printing and cache keys.
#include "src/tile/kernel_body.h"

#include "src/base/check.h"

namespace sinter {
namespace {

std::string matrix_text(char name, const LibraryMatrix& matrix) {
  return fmt::format("  {}: lines of {}, {} apart, batches {} apart\n", name,
                     matrix.is_transposed ? "columns" : "rows", matrix.line, matrix.batch);
}

const std::string& name(const tile::TileProgram& program) { return program.name; }
const std::string& name(const LibraryMatmul&) {
  static const std::string kName = "library_matmul";
  return kName;
}

std::string text(const tile::TileProgram& program) { return tile::to_string(program); }
std::string text(const LibraryMatmul& call) {
  return fmt::format("library_matmul {} to {}: {} x ({}, {}) by ({}, {})\n{}{}{}",
                     name_of(call.dtype), name_of(call.result), call.batch, call.m, call.k, call.k,
                     call.n, matrix_text('a', call.a), matrix_text('b', call.b),
                     matrix_text('c', call.c));
}

}  // namespace

bool uses_matrix_units(const KernelBody& body) {
  const auto* call = std::get_if<LibraryMatmul>(&body);
  return call && size_of(call->dtype) == 2;
}

const std::string& name_of(const KernelBody& body) {
  return std::visit([](const auto& each) -> const std::string& { return name(each); }, body);
}

std::string to_string(const KernelBody& body) {
  return std::visit([](const auto& each) { return text(each); }, body);
}

Hash128 key_of(const KernelBody& body) {
  return std::visit([](const auto& each) { return key_of(each); }, body);
}

}  // namespace sinter
