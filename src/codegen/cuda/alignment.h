// The alignment that a CUDA kernel's vector accesses require of each buffer. It is tracked per
// buffer, so that a misaligned buffer that is read element by element does not disable vector
// accesses to the others. In: a program's values. Out: the required alignment in bytes, by buffer.
#pragma once

#include <cstdint>
#include <vector>

#include "src/codegen/cuda/values.h"

namespace sinter {

// From the element size up to tile::kPackBytes. An upper bound, derived from the divisibility of
// the offsets: it holds however a stage renders an access.
std::vector<std::uint8_t> buffer_alignments(const CudaValues& values);

}  // namespace sinter
