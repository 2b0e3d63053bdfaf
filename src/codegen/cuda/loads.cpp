// Text goes inside loops over r and k; see CudaValues for the names.
#include "src/codegen/cuda/loads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "src/tile/access.h"

namespace sinter {

using tile::BufferParam;
using tile::Code;
using tile::Instr;
using tile::kNoValue;
using tile::TileShape;
using tile::ValueId;

namespace {

constexpr std::int64_t kMostSharedBytes = 40 * 1024;  // for tiles; reductions need a little more

}  // namespace

bool take_dense_tile(const CudaValues& values, CudaState& state, const Instr& access) {
  if (state.loop_depth > 0 || !is_dense_tile(values, access)) return false;
  const std::int64_t bytes = dense_tile_bytes(values, access);
  if (state.shared_bytes + bytes > kMostSharedBytes) return false;
  state.shared_bytes += bytes;
  return true;
}

bool CudaLoads::can_load_early(const CudaValues& values, const Instr& load) {
  const bool even_mask = load.args[1] == kNoValue || values.index.mask(load.args[1]);
  const bool plain_other = load.args[2] == kNoValue || values.is_scalar(load.args[2]);
  return values.index.affine(load.args[0]) && even_mask && plain_other;
}

void CudaLoads::render() {
  bool has_loads = false;
  bool has_fetched = false;
  for (const Instr* instr : stage_.elements) {
    has_loads |= instr->code == Code::load;
    has_fetched |= instr->code == Code::load && state_.fetched.count(instr->results[0]);
  }
  const bool early = std::exchange(state_.first_loads, state_.first_loads && !has_loads);
  for (const Instr* instr : stage_.elements)
    if (instr->code == Code::load) render_one(*instr, early);
  if (has_fetched) code_.line("fetch(program + {} * step, slot);", layout_.mapping().prefetch);
  render_shared_puts();
}

// The first loads of a program are all issued before any computation. Later loads are of small
// operands shared by all rows; loading these early would only occupy registers.
void CudaLoads::render_one(const Instr& load, bool early) {
  const ValueId id = load.results[0];
  if (!can_load_early(values_, load) || state_.shared.count(id) || state_.arrays.count(id)) return;
  if (state_.fetched.count(id)) return render_fetched(load);
  if (goes_through_shared(load)) {
    state_.shared_bytes += transposed_tile_bytes(values_, load);
    transposed_tiles_.push_back(&load);
    return transposed_.render_load(load, reading_of(load), other_text(load));
  }
  if (take_dense_tile(values_, state_, load)) {
    dense_tiles_.push_back(&load);
    return dense_.render_load(load, reading_of(load));
  }
  if (!early && !stage_.keeps(id)) {
    near_.push_back(&load);
    return;
  }
  const std::string to = declare(load);
  vectors_.open_vectors(values_.shape(id));
  vectors_.open_rows(values_.shape(id));
  render_vectors_of(load, to, values_.element_index(id));
  code_.close();
  code_.close();
}

void CudaLoads::render_near(bool in_rows) {
  for (const Instr* load : near_) {
    const ValueId id = load->results[0];
    if ((values_.shape(id).rows > 1) != in_rows) continue;
    code_.line("{} {}[{}];", values_.type(id), values_.name(id), layout_.vector());
    render_vectors_of(*load, values_.name(id), layout_.vector() > 1 ? "v" : "0");
  }
}

bool CudaLoads::is_near(ValueId id) const {
  return std::any_of(near_.begin(), near_.end(),
                     [&](const Instr* load) { return load->results[0] == id; });
}

std::string CudaLoads::declare(const Instr& load) {
  const ValueId id = load.results[0];
  state_.arrays.insert(id);
  if (can_stay_packed(load)) {
    state_.packed.insert(id);
    code_.line("{};", values_.packed_declaration(load));
    return fmt::format("{}[{}]", values_.name(id), values_.vector_number(id));
  }
  code_.line("{};", values_.declaration(id));
  const bool has_one = layout_.elements(values_.shape(id)) == layout_.vector();
  return has_one ? values_.name(id)
                 : fmt::format("{} + ({})", values_.name(id), values_.vector_index(id));
}

// Packed 16-bit floats (half2) take half the registers, and unpacking costs one instruction per
// element.
bool CudaLoads::can_stay_packed(const Instr& load) const {
  const BufferParam& buffer = values_.buffer(load);
  if (!is_floating(buffer.dtype) || size_of(buffer.dtype) != 2 || buffer.written) return false;
  if (layout_.vector() % 2 != 0 || !values_.index.affine(load.args[0])->col_step.is_one())
    return false;
  if (load.args[2] == kNoValue) return true;
  // The value for masked-off elements must be exact in 16 bits.
  const Instr& other = *values_.facts.definition.at(load.args[2]);
  constexpr double kWholeIn16Bits = 256;
  return other.code == Code::constant &&
         (std::isinf(other.real) ||
          (std::abs(other.real) <= kWholeIn16Bits && std::trunc(other.real) == other.real));
}

std::string CudaLoads::other_text(const Instr& load) const {
  const std::string_view type = values_.type(load.results[0]);
  return fmt::format("{}({})", type,
                     load.args[2] == kNoValue ? "0" : values_.operand(load.args[2]));
}

// Data that many programs read stays in the cache anyway.
const char* CudaLoads::reading_of(const Instr& load) const {
  if (is_near(load.results[0]) && !values_.program.in_place) return "kLater";
  if (values_.buffer(load).reused) return "kOften";
  switch (values_.program.caching) {
    case tile::Caching::results:
      return "kOnce";
    case tile::Caching::operands:
      return "kKept";
    default:
      return "kOften";
  }
}

// --- into registers ---

void CudaLoads::render_vectors_of(const Instr& load, const std::string& to,
                                  const std::string& element) {
  const Affine& offsets = *values_.index.affine(load.args[0]);
  if (state_.fetched_once.count(load.results[0]))
    render_take(load, to);
  else if (offsets.col_step.is_one() && !values_.buffer(load).written)
    render_vector_load(load, offsets, to);
  else
    render_single_loads(load, offsets, element);
}

void CudaLoads::render_vector_load(const Instr& load, const Affine& offsets,
                                   const std::string& to) {
  const TileShape shape = values_.shape(load.results[0]);
  const VectorMask mask = vectors_.mask(load.args[1], vectors_.inside(shape));
  const std::string at = values_.offset(offsets, "begin");
  const std::string widths =
      fmt::format("{}, {}, {}", layout_.vector(), vectors_.load_width(load), reading_of(load));
  const std::string buffer = values_.buffer_name(load);
  const std::string count =
      mask.where.empty() ? mask.count : fmt::format("{} ? idx({}) : 0", mask.where, mask.count);
  if (!mask.first.empty()) {
    code_.line("load_range<{}>({}, {}, {}, {}, {});", widths, to, buffer, at, mask.first, count);
    if (load.args[2] != kNoValue)
      code_.line("keep_range<{}>({}, {}, {}, {});", layout_.vector(), to, mask.first, count,
                 other_text(load));
  } else if (!mask.count.empty() && load.args[2] == kNoValue)
    code_.line("load_range<{}>({}, {}, {}, 0, {});", widths, to, buffer, at, count);
  else if (!mask.count.empty())
    code_.line("load_part<{}>({}, {}, {}, {}, {});", widths, to, buffer, at, count,
               other_text(load));
  else if (!mask.where.empty())
    code_.line("load_where<{}>({}, {}, {}, {}, {});", widths, to, buffer, at, mask.where,
               other_text(load));
  else
    code_.line("load_vector<{}>({}, {}, {});", widths, to, buffer, at);
}

void CudaLoads::render_single_loads(const Instr& load, const Affine& offsets,
                                    const std::string& element) {
  const TileShape shape = values_.shape(load.results[0]);
  vectors_.open_vector();
  std::vector<std::string> conditions = vectors_.inside(shape);
  if (load.args[1] != kNoValue)
    conditions.push_back(values_.condition(*values_.index.mask(load.args[1]), "col"));
  const std::string where = CudaVectors::all_of(conditions);
  const std::string value = values_.load_text(load, values_.offset(offsets, "col"));
  code_.line("{}[{}] = {};", values_.name(load.results[0]), element,
             where.empty() ? value : fmt::format("{} ? {} : {}", where, value, other_text(load)));
  code_.close();
}

// --- prefetch ---

bool CudaLoads::can_be_fetched(const CudaValues& values, const Instr& load) {
  if (!can_load_early(values, load) || values.buffer(load).written) return false;
  if (!values.index.affine(load.args[0])->col_step.is_one()) return false;
  const int element = static_cast<int>(size_of(values.buffer(load).dtype));
  const int width = std::min(values.layout.vector(), values.offset_multiple(load));
  const bool even_mask =
      load.args[1] == kNoValue ||
      values.divisibility.of(*values.index.mask(load.args[1])) >= values.layout.vector();
  return tile::fill_packs(width, element) && even_mask;
}

// A thread reads back the packs it fetched itself, so no barrier is needed. Packs of adjacent
// threads are adjacent, so a warp has no bank conflicts.
std::string CudaLoads::pack_index(const Instr& load) const {
  const TileShape shape = values_.shape(load.results[0]);
  const bool is_for_all = state_.fetched_once.count(load.results[0]) > 0;
  return flat_index_text({{"slot", is_for_all ? 1 : layout_.mapping().prefetch},
                          {"r", layout_.row_steps(shape)},
                          {"k", layout_.col_steps(shape)},
                          {"", layout_.vector() / vectors_.pack_width(load)},
                          {"thread_index()", layout_.mapping().threads}});
}

const std::string& CudaLoads::fetched_array(const Instr& load) const {
  const auto it = state_.fetched.find(load.results[0]);
  return it != state_.fetched.end() ? it->second : state_.fetched_once.at(load.results[0]);
}

void CudaLoads::render_fetch(const Instr& load) {
  const TileShape shape = values_.shape(load.results[0]);
  vectors_.open_vectors(shape);
  vectors_.open_rows(shape);
  const VectorMask mask = vectors_.mask(load.args[1], vectors_.inside(shape));
  const std::string at = values_.offset(*values_.index.affine(load.args[0]), "begin");
  code_.line("{}fetch_vector<{}, {}, {}>({}, {}, {}, {});",
             mask.where.empty() ? "" : fmt::format("if ({}) ", mask.where), layout_.vector(),
             vectors_.pack_width(load), reading_of(load), fetched_array(load), pack_index(load),
             values_.buffer_name(load), at);
  code_.close();
  code_.close();
}

void CudaLoads::render_fetched(const Instr& load) {
  const ValueId id = load.results[0];
  const std::string to = declare(load);
  vectors_.open_vectors(values_.shape(id));
  vectors_.open_rows(values_.shape(id));
  render_take(load, to);
  code_.close();
  code_.close();
}

void CudaLoads::render_take(const Instr& load, const std::string& to) {
  const TileShape shape = values_.shape(load.results[0]);
  const VectorMask mask = vectors_.mask(load.args[1], vectors_.inside(shape));
  const std::string at = values_.offset(*values_.index.affine(load.args[0]), "begin");
  const std::string arguments = fmt::format("{}, {}, {}, {}, {}", to, fetched_array(load),
                                            pack_index(load), values_.buffer_name(load), at);
  const std::string widths = fmt::format("{}, {}", layout_.vector(), vectors_.pack_width(load));
  if (mask.where.empty())
    code_.line("take_vector<{}>({});", widths, arguments);
  else
    code_.line("take_where<{}>({}, {}, {});", widths, arguments, mask.where, other_text(load));
}

// --- tiles that a block loads, through shared memory ---

bool CudaLoads::goes_through_shared(const Instr& load) const {
  return is_transposed_tile(values_, load) &&
         state_.shared_bytes + transposed_tile_bytes(values_, load) <= kMostSharedBytes;
}

// All loads are issued before the first write to shared memory, which has to wait for its load.
void CudaLoads::render_shared_puts() {
  if (transposed_tiles_.empty() && dense_tiles_.empty()) return;
  // Wait until all threads have read the last iteration's tile.
  if (state_.loop_depth > 0 || layout_.is_persistent()) code_.line("block_barrier();");
  for (const Instr* load : transposed_tiles_) {
    transposed_.render_puts(*load, other_text(*load));
    state_.shared[load->results[0]] = transposed_.element(*load);
  }
  for (const Instr* load : dense_tiles_) dense_.render_puts(*load);
  code_.line("block_barrier();");
  for (const Instr* load : dense_tiles_) {
    dense_.render_gets(*load);
    state_.arrays.insert(load->results[0]);
  }
}

}  // namespace sinter
