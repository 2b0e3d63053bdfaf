// C text shared by all dialects: literals, type names, and expressions of the op table.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "src/tile/program.h"

namespace sinter {

std::string_view compute_type(DType dtype);  // "f32", "bool"
std::string_view storage_type(DType dtype);  // as in memory: "bf16", "u8" for bool

std::string literal(const tile::Instr& constant, DType dtype);
// The identity element of the reduction, as a constant.
tile::Instr identity(ReduceKind kind, DType dtype);
std::string identity_text(ReduceKind kind, DType dtype);
// The reduction's name in kernel text: "Sum".
std::string reduction_name(ReduceKind kind);
// One line per reduction the program uses: SN_REDUCTION(Sum, a + b).
std::string reduction_declarations(const tile::TileProgram& program);

// An index into one dimension of an array; empty text: 0.
struct Subscript {
  std::string_view text;
  std::int64_t extent;
};
// The row-major index of an element: "(r * 4 + k) * 8 + v". Dimensions of extent 1 are left out.
std::string flat_index_text(std::initializer_list<Subscript> subscripts);

// The op's expression with the operands substituted for a, b, c.
std::string expression_text(Op op, std::span<const std::string> operands);

}  // namespace sinter
