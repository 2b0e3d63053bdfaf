// What a CUDA kernel's accesses ask of its buffers' addresses, so that one odd address of a buffer
// that is read element by element does not cost the others their wide accesses.
// In: a program's values. Out: by buffer, the bytes that its address has to be a multiple of.
#pragma once

#include <cstdint>
#include <vector>

#include "src/codegen/cuda/values.h"

namespace sinter {

// At most tile::kPackBytes each, at least an element: no access of the text is wider. Not counted
// is how a stage renders an access: what divides its offsets bounds every way.
std::vector<std::uint8_t> buffer_alignments(const CudaValues& values);

}  // namespace sinter
