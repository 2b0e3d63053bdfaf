// Small pieces of C text that every dialect writes: literals, type names, expressions of the op
// table.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "src/tile/program.h"

namespace sinter {

// A parameter's name in the text. No name of a dialect or its vocabulary ends in an underscore, so
// authors may call a parameter what they like.
std::string parameter_name(const std::string& name);

std::string_view compute_type(DType dtype);  // "f32", "bool"
std::string_view storage_type(DType dtype);  // as in memory: "bf16", "u8" for bool

std::string literal(const tile::Instr& constant, DType dtype);
// The value that changes nothing in a reduction of that kind.
std::string identity_text(ReduceKind kind, DType dtype);
// The reduction's name in kernel text: "Sum".
std::string reduction_name(ReduceKind kind);
// A line for each reduction that the program uses: SN_REDUCTION(Sum, a + b).
std::string reduction_declarations(const tile::TileProgram& program);

// The text with every identifier or number run through `replace`.
std::string replace_words(std::string_view text,
                          const std::function<std::string(const std::string&)>& replace);

// The op's expression with its operands put in for a, b, c.
std::string expression_text(Op op, std::span<const std::string> operands);

}  // namespace sinter
