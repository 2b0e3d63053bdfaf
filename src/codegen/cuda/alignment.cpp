// Vector accesses go along the columns if offsets step by one along them, and along the rows for
// tiles that go through shared memory.
#include "src/codegen/cuda/alignment.h"

#include <algorithm>

#include "src/codegen/cuda/dense_tiles.h"
#include "src/codegen/cuda/renderer.h"
#include "src/codegen/cuda/transposed_tiles.h"
#include "src/tile/access.h"

namespace sinter {
namespace {

using tile::Code;
using tile::Instr;

// Largest number of elements of one access.
int widest_access(const CudaValues& values, const Instr& access) {
  const tile::ValueId offsets = access.args[0];
  if (values.is_scalar(offsets)) return 1;
  const auto& affine = values.index.affine(offsets);
  if (!affine) return 1;
  int widest = 1;
  if (is_dense_tile(values, access)) return values.divisibility.of(affine->base);
  if (affine->col_step.is_one())
    widest = std::min(values.layout.vector(), values.offset_multiple(access));
  if (affine->row_step.is_one() && !values.is_row(offsets))
    widest = std::max(widest, transposed_tile_alignment(values, access));
  return widest;
}

}  // namespace

std::vector<std::uint8_t> buffer_alignments(const CudaValues& values) {
  std::vector<std::uint8_t> alignments;
  for (const tile::BufferParam& buffer : values.program.buffers)
    alignments.push_back(static_cast<std::uint8_t>(size_of(buffer.dtype)));
  tile::for_each_instr(values.program.body, [&](const Instr& instr) {
    if (instr.code != Code::load && instr.code != Code::store) return;
    const auto element = static_cast<std::int64_t>(size_of(values.buffer(instr).dtype));
    const std::int64_t bytes =
        std::min<std::int64_t>(widest_access(values, instr) * element, tile::kPackBytes);
    std::uint8_t& alignment = alignments[static_cast<std::size_t>(instr.index)];
    alignment = std::max(alignment, static_cast<std::uint8_t>(bytes));
  });
  return alignments;
}

}  // namespace sinter
