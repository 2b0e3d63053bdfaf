// A group's signature: a text of everything its best config depends on. Groups with equal
// signatures share tuning results: the same operations on the same types and layouts, of similar
// size.
#pragma once

#include <string>

#include "src/lower/iteration.h"

namespace sinter {

// "2^12 2^12r f32: max sub exp sum div #5d0e..": sizes rounded up to powers of two (r: reduced),
// dtypes and the first operations, for readers; then a hash of all operations with their operands
// and dtypes, and each access's level, strides (0, 1, or the power of two that divides them, up to
// 16) and alignment. Values of constants do not count.
std::string group_signature(const Plan& plan, GroupId group, const IterationSpace& space);

// The full text that is hashed.
std::string signature_text(const Plan& plan, GroupId group, const IterationSpace& space);

}  // namespace sinter
