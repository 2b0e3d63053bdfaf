// Renders the body of the loop over vectors twice: for whole vectors, and for a partial last one.
#include "src/codegen/cpu/elements.h"

#include <algorithm>
#include <iterator>

#include "src/base/check.h"
#include "src/codegen/analysis/limits.h"
#include "src/codegen/cpu/reduction.h"
#include "src/codegen/cpu/vector_body.h"

namespace sinter {

using tile::Code;
using tile::Instr;
using tile::kNoValue;
using tile::ValueId;

namespace {

constexpr int kUnroll = 4;
constexpr int kLightBody = 8;           // simple instructions
constexpr std::int64_t kSumBlock = 64;  // additions per accumulator before it is flushed

class ElementLoops {
 public:
  ElementLoops(const CpuValues& values, ScratchTiles& scratch, CWriter& code, const Stage& stage,
               const std::vector<TileUpdate>& updates, const StagePrefetches& prefetches)
      : values_(values),
        scratch_(scratch),
        code_(code),
        stage_(stage),
        updates_(updates),
        prefetches_(prefetches),
        limits_(element_loop_limits(values, stage, updated_tiles(updates))),
        shape_(shape()),
        unroll_(unroll()) {
    for (const Instr* instr : stage.sinks)
      if (instr->code == Code::reduce) reductions_.emplace_back(values, code, *instr);
  }

  void render() {
    for (const Reduction& reduction : reductions_) reduction.declare_results();
    code_.open();
    code_.line("const i64 rows = {};", values_.bound(limits_.row_limit, shape_.rows));
    code_.line("const i64 cols = {};", values_.bound(limits_.col_limit, shape_.cols));
    render_transposes();
    if (shape_.rows > 1) code_.open("for (i64 r = 0; r < rows; ++r)");
    render_columns();
    if (shape_.rows > 1) code_.close();
    code_.close();
  }

 private:
  static std::vector<ValueId> updated_tiles(const std::vector<TileUpdate>& updates) {
    std::vector<ValueId> tiles;
    for (const TileUpdate& update : updates) tiles.push_back(update.tile);
    return tiles;
  }

  // The common shape of the stage's results.
  tile::TileShape shape() const {
    if (!stage_.sinks.empty()) return values_.program[stage_.sinks[0]->args[0]].shape;
    return values_.program[stage_.kept.empty() ? updates_[0].tile : stage_.kept[0]].shape;
  }

  // A cheap reduction is bound by the latency of its accumulator: several accumulators hide it. If
  // bits may not depend on what shares the kernel, neither may their number.
  int unroll() const {
    int cost = 0;
    bool reduces = false;
    for (const Instr* instr : stage_.elements)
      cost += instr->code == Code::pointwise ? std::max(1, info(instr->op).cost) : 1;
    for (const Instr* instr : stage_.sinks) reduces |= instr->code == Code::reduce;
    const bool is_light = cost < kLightBody || values_.program.separate_ops;
    return reduces && is_light && shape_.cols >= 2 * kUnroll * values_.lanes ? kUnroll : 1;
  }

  void render_transposes() {
    for (const Instr* instr : stage_.elements) {
      if (!values_.is_transposed(*instr)) continue;
      const Affine& offsets = *values_.index.affine(instr->args[0]);
      const ValueId id = instr->results[0];
      const RangeMask rest = mask_beside_loops(*instr);  // loop bounds always apply
      const auto next = prefetches_.next_tiles.find(id);
      code_.line("transpose_load({}, {}, {} + ({}), {}, {}, {}{});", scratch_.tile(id),
                 values_.cols(id), values_.buffer_name(*instr), values_.names.text(offsets.base),
                 values_.names.text(offsets.col_step),
                 rest.row_limit ? values_.bound(rest.row_limit, shape_.rows) : "rows",
                 rest.col_limit ? values_.bound(rest.col_limit, shape_.cols) : "cols",
                 next == prefetches_.next_tiles.end() ? "" : ", " + next->second);
    }
  }

  RangeMask mask_beside_loops(const Instr& load) const {
    return load.args[1] == kNoValue ? RangeMask{}
                                    : beside(limits_, *values_.index.mask(load.args[1]));
  }

  void render_columns() {
    for (const Reduction& reduction : reductions_)
      for (int u = 0; u < unroll_; ++u) reduction.declare_accumulator(u);
    code_.line("i64 c = 0;");
    const std::vector<Reduction> sums = long_sums();
    for (const Reduction& sum : sums) sum.declare_total();
    const bool has_rest = limits_.col_limit || shape_.cols % values_.lanes != 0;
    const Instr* streamed = has_rest ? streaming_store() : nullptr;
    if (streamed)
      render_aligned(*streamed);
    else if (sums.empty())
      render_whole_vectors("cols");
    else
      render_blocks(sums);
    if (has_rest && !streamed) {
      code_.open("if (c < cols)");
      code_.line("const i64 n = cols - c;");
      render_part();
      code_.close();
    }
    for (const Reduction& sum : sums) sum.take_total();
    for (const Reduction& reduction : reductions_) reduction.finish();
  }

  // The store that decides where vectors start in a stage that only stores, past the cache: such
  // stores need aligned vectors. Reductions start at column 0, since their order must not depend
  // on addresses.
  const Instr* streaming_store() const {
    if (values_.program.caching != tile::Caching::nothing || !reductions_.empty()) return nullptr;
    if (!stage_.kept.empty() || !updates_.empty()) return nullptr;
    for (const Instr* instr : stage_.sinks) {
      const auto& offsets = values_.index.affine(instr->args[0]);
      if (offsets && offsets->col_step.is_one()) return instr;
    }
    return nullptr;
  }

  // A partial vector up to the first aligned address, whole vectors, and a partial one for the
  // rest, which shares its code with the first.
  void render_aligned(const Instr& store) {
    const Affine& offsets = *values_.index.affine(store.args[0]);
    code_.open("for (i64 n = misaligned_lanes({} + ({}), cols);;)", values_.buffer_name(store),
               values_.names.text(offsets, "r", "0"));
    code_.open("if (n > 0)");
    render_part();
    code_.line("c += n;");
    code_.close();
    code_.line("if (c >= cols) break;");
    render_whole_vectors("cols");
    code_.line("n = cols - c;");
    code_.close();
  }

  // The first n lanes of a vector.
  void render_part() {
    code_.line("const boolv lanes = lt(iota_i32(), splat((i32)n));");
    render_body(Lanes::first_n);
  }

  // Float sums so long that one running total would lose precision: these are summed in blocks.
  std::vector<Reduction> long_sums() const {
    std::vector<Reduction> sums;
    if (shape_.cols > 2 * block_cols())
      std::copy_if(reductions_.begin(), reductions_.end(), std::back_inserter(sums),
                   [](const Reduction& reduction) { return reduction.is_float_sum(); });
    return sums;
  }

  std::int64_t block_cols() const { return kSumBlock * values_.lanes * unroll_; }

  void render_blocks(const std::vector<Reduction>& sums) {
    code_.open("while (c + {} <= cols)", values_.lanes);
    code_.line("const i64 stop = cols - c < {} ? cols : c + {};", block_cols(), block_cols());
    render_whole_vectors("stop");
    for (const Reduction& sum : sums) sum.put_away();
    code_.close();
  }

  void render_whole_vectors(std::string_view stop) {
    if (unroll_ > 1) render_unrolled(stop);
    code_.open("for (; c + {} <= {}; c += {})", values_.lanes, stop, values_.lanes);
    render_body(Lanes::all);
    code_.close();
  }

  void render_unrolled(std::string_view stop) {
    code_.open("for (; c + {} <= {};)", unroll_ * values_.lanes, stop);
    for (int u = 0; u < unroll_; ++u) {
      code_.open();
      render_body(Lanes::all, u);
      code_.line("c += {};", values_.lanes);
      code_.close();
    }
    code_.close();
    for (const Reduction& reduction : reductions_)
      for (int u = 1; u < unroll_; ++u) reduction.merge(u);
  }

  // `accumulator`: the one the body adds to.
  void render_body(Lanes lanes, int accumulator = 0) {
    VectorBody body(values_, scratch_, code_, limits_, lanes);
    if (lanes == Lanes::all)
      for (const std::string& line : prefetches_.lines) code_.line("{}", line);
    for (const Instr* instr : stage_.elements) body.define(*instr);
    for (const Instr* instr : stage_.sinks) {
      if (instr->code == Code::reduce)
        Reduction(values_, code_, *instr).step(body, accumulator);
      else
        body.store(*instr);
    }
    for (ValueId id : stage_.kept) {
      const Instr& instr = *values_.facts.definition.at(id);
      if (!values_.is_transposed(instr) || !mask_beside_loops(instr).is_unlimited())
        keep(id, body.operand(id), lanes);
    }
    std::vector<std::string> next;  // read all before writing the first
    for (const TileUpdate& update : updates_) next.push_back(body.operand(update.next));
    for (std::size_t i = 0; i < updates_.size(); ++i) keep(updates_[i].tile, next[i], lanes);
  }

  // A partial last vector must not overwrite the next row.
  void keep(ValueId id, const std::string& value, Lanes lanes) {
    if (lanes == Lanes::first_n && shape_.rows > 1 && shape_.cols % values_.lanes != 0)
      return code_.line("store_n({}, {}, n);", scratch_.address(id), value);
    code_.line("store({}, {});", scratch_.address(id), value);
  }

  const CpuValues& values_;
  ScratchTiles& scratch_;
  CWriter& code_;
  const Stage& stage_;
  const std::vector<TileUpdate>& updates_;
  const StagePrefetches& prefetches_;
  const RangeMask limits_;
  const tile::TileShape shape_;
  const int unroll_;
  std::vector<Reduction> reductions_;
};

}  // namespace

void render_elements(const CpuValues& values, ScratchTiles& scratch, CWriter& code,
                     const Stage& stage, const std::vector<TileUpdate>& updates,
                     const StagePrefetches& prefetches) {
  if (stage.sinks.empty() && stage.kept.empty() && updates.empty()) return;
  ElementLoops(values, scratch, code, stage, updates, prefetches).render();
}

}  // namespace sinter
