// A group's signature: what its kernel's best config depends on, as text. Groups with the same one
// share what was tuned: the same operations on the same types and layouts, of about the same size.
#pragma once

#include <string>

#include "src/lower/iteration.h"

namespace sinter {

// "2^12 2^12r f32: max sub exp sum div #5d0e..": sizes (r: reduced; of each the next power of two),
// types and the first operations for people, and a hash of all that counts: operations in order
// with their operands, types, and of each access its level, strides (0, 1, or the power of two that
// divides them, up to 16) and the alignment of its first element. Constants' values do not count.
std::string group_signature(const Plan& plan, int group, const IterationSpace& space);

// All of it, what the hash is made of.
std::string signature_text(const Plan& plan, int group, const IterationSpace& space);

}  // namespace sinter
