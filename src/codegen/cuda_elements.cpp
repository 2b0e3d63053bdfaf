// Element text is written inside loops over r, k and v; see CudaValues for the names.
#include "src/codegen/cuda_elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/base/check.h"
#include "src/codegen/cuda_reduction.h"

namespace sinter {

using tile::Code;
using tile::Instr;
using tile::kNoValue;
using tile::TileShape;
using tile::ValueId;

namespace {

constexpr int kMostUnrolled = 128;                    // elements of a thread
constexpr std::int64_t kMostSharedBytes = 40 * 1024;  // of tiles; reductions take a little more

std::string_view unroll(int steps) { return steps <= kMostUnrolled ? "SN_UNROLL " : ""; }

class Elements {
 public:
  Elements(const CudaValues& values, CudaState& state, CWriter& code, const Stage& stage,
           const std::vector<CudaTileUpdate>& updates)
      : values_(values),
        layout_(values.layout),
        state_(state),
        code_(code),
        stage_(stage),
        updates_(updates) {}

  void render() {
    const bool far = std::exchange(state_.first_loads, state_.first_loads && !has_loads());
    for (const Instr* instr : stage_.elements)
      if (instr->code == Code::load) render_load(*instr, far);
    if (barrier_needed_) code_.line("block_barrier();");
    const TileShape shape = shape_of_stage();
    if (shape.cols <= 1) return reduce_single_columns();
    for (ValueId id : stage_.kept) declare(id);
    std::vector<CudaReduction> reductions;
    for (const Instr* sink : stage_.sinks)
      if (sink->code == Code::reduce) reductions.emplace_back(values_, code_, *sink);
    for (const CudaReduction& each : reductions) each.declare_parts();
    render_loops(shape, reductions);
    finish(reductions);
  }

 private:
  TileShape shape_of_stage() const {
    if (!stage_.sinks.empty()) return values_.shape(stage_.sinks[0]->args[0]);
    if (!stage_.kept.empty()) return values_.shape(stage_.kept[0]);
    if (!stage_.yields.empty()) return values_.shape(stage_.yields[0]);
    return {};
  }

  bool has_loads() const {
    return std::any_of(stage_.elements.begin(), stage_.elements.end(),
                       [](const Instr* instr) { return instr->code == Code::load; });
  }

  bool declare(ValueId id) {
    if (state_.shared.count(id) || !state_.arrays.insert(id).second) return false;
    code_.line("{};", values_.declaration(id));
    return true;
  }

  // --- loops ---

  // Over vectors: `begin` is the column of their first element. Rows are inside, so that what all
  // of them share is loaded once.
  void open_vectors(TileShape shape) {
    const int steps = layout_.col_steps(shape);
    if (steps > 1)
      code_.open("{}for (int k = 0; k < {}; ++k)", unroll(layout_.elements(shape)), steps);
    else
      code_.open();
    std::string at = layout_.cluster() > 1 ? "rank" : "0";
    if (layout_.cluster() > 1) at = mul_text(at, std::to_string(steps));
    if (steps > 1) at = add_text(at, "k");
    at = add_text(mul_text(at, std::to_string(layout_.threads_per_row())), "thread_col");
    code_.line("const idx begin = {};", mul_text(at, std::to_string(layout_.vector())));
  }
  void open_vector() {
    if (layout_.vector() > 1)
      code_.open("SN_UNROLL for (int v = 0; v < {}; ++v)", layout_.vector());
    else
      code_.open();
    code_.line("const idx col = begin{};", layout_.vector() > 1 ? " + v" : "");
  }

  static std::string row_text(TileShape shape) { return shape.rows == 1 ? "0" : "row"; }

  // That a vector of the tile lies inside it; empty: it does.
  std::vector<std::string> inside(TileShape shape) const {
    std::vector<std::string> parts;
    if (!layout_.rows_exact(shape)) parts.push_back(fmt::format("row < {}", shape.rows));
    if (!layout_.cols_exact(shape)) parts.push_back(fmt::format("begin < {}", shape.cols));
    return parts;
  }

  static std::string all_of(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : " && ") + part;
    return text;
  }

  // --- loads ---

  // Known before any element is computed, so that it can be loaded ahead.
  bool is_ahead(const Instr& load) const {
    const bool even_mask = load.args[1] == kNoValue || values_.index.mask(load.args[1]);
    const bool plain_other = load.args[2] == kNoValue || values_.is_scalar(load.args[2]);
    return values_.index.affine(load.args[0]) && even_mask && plain_other;
  }

  // The first loads of a program all go before what is computed with them; later ones are of little
  // that all rows share, and would only take up registers.
  void render_load(const Instr& load, bool far) {
    const ValueId id = load.results[0];
    if (!is_ahead(load) || state_.shared.count(id) || state_.arrays.count(id)) return;
    if (goes_through_shared(load)) return render_shared_tile(load);
    if (!far && !is_kept(id)) {
      near_.push_back(&load);
      return;
    }
    declare(id);
    open_vectors(values_.shape(id));
    open_rows(values_, code_, values_.shape(id));
    render_vectors_of(load, values_.name(id) + index_after(values_.vector_index(id)),
                      values_.element_index(id));
    code_.close();
    code_.close();
  }

  // Inside the loop over vectors, or over rows: one vector's elements.
  void render_near_loads(bool in_rows) {
    for (const Instr* load : near_) {
      const ValueId id = load->results[0];
      if ((values_.shape(id).rows > 1) != in_rows) continue;
      code_.line("{} {}[{}];", values_.type(id), values_.name(id), layout_.vector());
      render_vectors_of(*load, values_.name(id), layout_.vector() > 1 ? "v" : "0");
    }
  }
  bool is_near(ValueId id) const {
    return std::any_of(near_.begin(), near_.end(),
                       [&](const Instr* load) { return load->results[0] == id; });
  }

  static std::string index_after(const std::string& index) {
    return index == "0" ? "" : fmt::format(" + ({})", index);
  }

  void render_vectors_of(const Instr& load, const std::string& to, const std::string& element) {
    const TileShape shape = values_.shape(load.results[0]);
    const Affine& offsets = *values_.index.affine(load.args[0]);
    if (offsets.col_step == "1" && !values_.buffer(load).written)
      render_vector_load(load, offsets, shape, to);
    else
      render_single_loads(load, offsets, shape, element);
  }

  std::string other_text(const Instr& load) const {
    const std::string_view type = values_.type(load.results[0]);
    return fmt::format("{}({})", type,
                       load.args[2] == kNoValue ? "0" : values_.operand(load.args[2]));
  }

  const char* how_often(const Instr& load) const {
    if (is_near(load.results[0])) return "kLater";
    return values_.program.stream_loads && !values_.buffer(load).reused ? "kOnce" : "kOften";
  }

  // Elements of one access.
  int pack_width(const Instr& instr) const {
    const int element = static_cast<int>(size_of(values_.buffer(instr).dtype));
    return std::min({layout_.vector(), 16 / element, values_.divisibility.of(instr.args[0])});
  }

  // The part of a mask that holds for whole vectors, and how many elements are on otherwise.
  struct VectorMask {
    std::vector<std::string> conditions;
    std::string count;  // empty: all
  };
  VectorMask vector_mask(ValueId mask_id, TileShape shape,
                         std::vector<std::string> conditions) const {
    VectorMask result{std::move(conditions), ""};
    if (mask_id == kNoValue) return result;
    PrefixMask mask = *values_.index.mask(mask_id);
    if (!mask.col_limit.empty() && values_.divisibility.of(mask_id) < layout_.vector()) {
      result.count = sub_text(mask.col_limit, "begin");
      mask.col_limit.clear();
    }
    const std::string condition = values_.condition(mask, row_text(shape), "begin");
    if (!condition.empty()) result.conditions.push_back(condition);
    return result;
  }

  void render_vector_load(const Instr& load, const Affine& offsets, TileShape shape,
                          const std::string& to) {
    const VectorMask mask = vector_mask(load.args[1], shape, inside(shape));
    const std::string at = values_.offset(offsets, row_text(shape), "begin");
    const std::string widths =
        fmt::format("{}, {}, {}", layout_.vector(), pack_width(load), how_often(load));
    const std::string where = all_of(mask.conditions);
    const std::string buffer = values_.buffer_name(load);
    if (!mask.count.empty())
      code_.line("load_part<{}>({}, {}, {}, {}, {});", widths, to, buffer, at,
                 where.empty() ? mask.count : fmt::format("{} ? idx({}) : 0", where, mask.count),
                 other_text(load));
    else if (!where.empty())
      code_.line("load_where<{}>({}, {}, {}, {}, {});", widths, to, buffer, at, where,
                 other_text(load));
    else
      code_.line("load_vector<{}>({}, {}, {});", widths, to, buffer, at);
  }

  void render_single_loads(const Instr& load, const Affine& offsets, TileShape shape,
                           const std::string& element) {
    open_vector();
    std::vector<std::string> parts = inside(shape);
    if (load.args[1] != kNoValue)
      parts.push_back(values_.condition(*values_.index.mask(load.args[1]), row_text(shape), "col"));
    const std::string where = all_of(parts);
    const std::string value =
        values_.load_text(load, values_.offset(offsets, row_text(shape), "col"));
    const ValueId id = load.results[0];
    code_.line("{}[{}] = {};", values_.name(id), element,
               where.empty() ? value : fmt::format("{} ? {} : {}", where, value, other_text(load)));
    code_.close();
  }

  // --- transposed tiles, through shared memory ---

  bool goes_through_shared(const Instr& load) const {
    const TileShape shape = values_.shape(load.results[0]);
    if (!is_transposed_load(values_.program, values_.index, load) || layout_.cluster() > 1 ||
        values_.buffer(load).written)
      return false;
    const bool exact = layout_.rows_exact(shape) && layout_.cols_exact(shape) &&
                       shape.rows * shape.cols % layout_.mapping().threads == 0;
    return exact && state_.shared_bytes + shared_bytes(load) <= kMostSharedBytes;
  }

  // Elements of one access along the rows.
  int row_pack_width(const Instr& load) const {
    const int element = static_cast<int>(size_of(values_.buffer(load).dtype));
    const std::int64_t each = values_.shape(load.results[0]).rows *
                              values_.shape(load.results[0]).cols / layout_.mapping().threads;
    return std::min<int>(
        {16 / element, values_.row_divisibility.of(load.args[0]), static_cast<int>(each)});
  }

  // A column of the tile has one element more than it needs, so that its neighbours along a row lie
  // in different banks.
  static std::int64_t pitch(TileShape shape) { return shape.rows + 1; }
  std::int64_t shared_bytes(const Instr& load) const {
    const TileShape shape = values_.shape(load.results[0]);
    return pitch(shape) * shape.cols *
           static_cast<std::int64_t>(size_of(values_.program[load.results[0]].dtype));
  }

  void render_shared_tile(const Instr& load) {
    const ValueId id = load.results[0];
    const TileShape shape = values_.shape(id);
    const Affine& offsets = *values_.index.affine(load.args[0]);
    const std::string tile = values_.name(id) + "_tile";
    state_.shared_bytes += shared_bytes(load);
    code_.line("SN_SHARED({}, {}, {});", values_.type(id), tile, pitch(shape) * shape.cols);
    if (state_.loop_depth > 0) code_.line("block_barrier();");  // the last trip has been read
    int width = row_pack_width(load);
    while (shape.rows % width != 0 ||
           shape.rows * shape.cols / layout_.mapping().threads % width != 0)
      width /= 2;
    const int threads = layout_.mapping().threads;
    code_.open("SN_UNROLL for (int i = 0; i < {}; ++i)", shape.rows * shape.cols / threads / width);
    code_.line("const int element = (i * {} + thread_index()) * {};", threads, width);
    code_.line("const idx row = element % {}, col = element / {};", shape.rows, shape.rows);
    code_.line("{} part[{}];", values_.type(id), width);
    PrefixMask mask;
    if (load.args[1] != kNoValue) mask = *values_.index.mask(load.args[1]);
    const std::string in_column = values_.condition({"", mask.col_limit}, "row", "col");
    const std::string count =
        mask.row_limit.empty() ? std::to_string(width) : sub_text(mask.row_limit, "row");
    code_.line("load_part<{0}, {0}, {1}>(part, {2}, {3}, {4}, {5});", width, how_often(load),
               values_.buffer_name(load), values_.offset(offsets, "row", "col"),
               in_column.empty() ? fmt::format("idx({})", count)
                                 : fmt::format("{} ? idx({}) : 0", in_column, count),
               other_text(load));
    code_.line("SN_UNROLL for (int w = 0; w < {}; ++w) put({}, col * {} + row + w, part[w]);",
               width, tile, pitch(shape));
    code_.close();
    state_.shared[id] = fmt::format("get({}, col * {} + row)", tile, pitch(shape));
    barrier_needed_ = true;
  }

  // --- elements ---

  bool is_kept(ValueId id) const {
    return std::find(stage_.kept.begin(), stage_.kept.end(), id) != stage_.kept.end();
  }

  // A tile's element, or what every element of a row or tile has.
  std::string operand(ValueId id) const {
    const TileShape shape = values_.shape(id);
    if (shape.cols == 1) return values_.operand(id);
    if (const auto& offsets = values_.index.affine(id))
      return fmt::format("i64({})", values_.offset(*offsets, row_text(shape), "col"));
    if (const auto& mask = values_.index.mask(id))
      return fmt::format("({})", values_.condition(*mask, row_text(shape), mask_column(id)));
    if (const auto it = state_.shared.find(id); it != state_.shared.end()) return it->second;
    if (locals_.count(id)) return values_.name(id);
    if (is_near(id))
      return fmt::format("{}[{}]", values_.name(id), layout_.vector() > 1 ? "v" : "0");
    if (state_.arrays.count(id))
      return fmt::format("{}[{}]", values_.name(id), values_.element_index(id));
    const Instr& definition = *values_.facts.definition.at(id);
    SINTER_ASSERT(definition.code == Code::broadcast, "{} is nowhere", values_.name(id));
    return operand(definition.args[0]);
  }

  // A mask that turns off between vectors is the same for all of one.
  const char* mask_column(ValueId id) const {
    return values_.divisibility.of(id) >= layout_.vector() ? "begin" : "col";
  }

  void render_element(const Instr& instr) {
    const ValueId id = instr.results[0];
    const bool is_loaded = instr.code == Code::load && (state_.shared.count(id) || is_ahead(instr));
    if (is_loaded) return;
    std::vector<std::string> operands;
    for (ValueId arg : instr.args) operands.push_back(arg == kNoValue ? "" : operand(arg));
    std::string value = values_.expression(instr, std::move(operands));
    if (instr.code == Code::load) {
      const std::string in = all_of(inside(values_.shape(id)));
      if (!in.empty()) value = fmt::format("{} ? ({}) : {}(0)", in, value, values_.type(id));
    }
    if (is_kept(id)) {
      code_.line("{}[{}] = {};", values_.name(id), values_.element_index(id), value);
    } else {
      locals_.insert(id);
      code_.line("const {} {} = {};", values_.type(id), values_.name(id), value);
    }
  }

  void render_loops(TileShape shape, const std::vector<CudaReduction>& reductions) {
    open_vectors(shape);
    render_near_loads(false);
    open_rows(values_, code_, shape);
    render_near_loads(true);
    std::vector<VectorStore> stores;
    for (const Instr* sink : stage_.sinks)
      if (sink->code == Code::store && is_vector_store(*sink)) {
        stores.push_back({sink, fmt::format("stored{}", stores.size())});
        code_.line("{} {}[{}];", values_.type(sink->args[1]), stores.back().name, layout_.vector());
      }
    open_vector();
    for (const Instr* instr : stage_.elements) render_element(*instr);
    const std::string in = layout_.cols_exact(shape) ? "" : fmt::format("begin < {}", shape.cols);
    for (const CudaReduction& each : reductions) {
      std::vector<std::string> entering;
      for (ValueId arg : each.instr().args) entering.push_back(operand(arg));
      each.accumulate(entering, in);
    }
    for (const VectorStore& store : stores)
      code_.line("{}[{}] = {};", store.name, layout_.vector() > 1 ? "v" : "0",
                 operand(store.instr->args[1]));
    for (const Instr* sink : stage_.sinks)
      if (sink->code == Code::store && !is_vector_store(*sink)) render_single_store(*sink);
    render_updates();
    code_.close();
    for (const VectorStore& store : stores) render_vector_store(store);
    code_.close();
    code_.close();
    locals_.clear();
  }

  // All are read before the first is written.
  void render_updates() {
    for (const CudaTileUpdate& update : updates_)
      code_.line("const {} {}_next = {};", values_.type(update.carried),
                 values_.name(update.carried), operand(update.next));
    for (const CudaTileUpdate& update : updates_)
      code_.line("{}[{}] = {}_next;", values_.name(update.carried),
                 values_.element_index(update.carried), values_.name(update.carried));
  }

  // --- stores ---

  struct VectorStore {
    const Instr* instr;
    std::string name;
  };

  bool is_vector_store(const Instr& store) const {
    const auto& offsets = values_.index.affine(store.args[0]);
    const bool even_mask = store.args[2] == kNoValue || values_.index.mask(store.args[2]);
    return offsets && offsets->col_step == "1" && even_mask;
  }

  // Of what several rows of threads hold alike, one stores.
  std::vector<std::string> storing(TileShape shape) const {
    std::vector<std::string> parts = inside(shape);
    if (shape.rows == 1 && layout_.thread_rows() > 1)
      parts.insert(parts.begin(), "thread_row == 0");
    return parts;
  }

  void render_vector_store(const VectorStore& store) {
    const Instr& instr = *store.instr;
    const TileShape shape = values_.shape(instr.args[0]);
    const VectorMask mask = vector_mask(instr.args[2], shape, storing(shape));
    const std::string where = all_of(mask.conditions);
    const std::string at =
        values_.offset(*values_.index.affine(instr.args[0]), row_text(shape), "begin");
    const std::string widths = fmt::format("{}, {}", layout_.vector(), pack_width(instr));
    const std::string statement =
        mask.count.empty() ? fmt::format("store_vector<{}>({}, {}, {});", widths,
                                         values_.buffer_name(instr), at, store.name)
                           : fmt::format("store_part<{}>({}, {}, {}, {});", widths,
                                         values_.buffer_name(instr), at, mask.count, store.name);
    if (where.empty())
      code_.line("{}", statement);
    else
      code_.line("if ({}) {}", where, statement);
  }

  void render_single_store(const Instr& store) {
    const TileShape shape = values_.shape(store.args[0]);
    std::vector<std::string> parts = storing(shape);
    if (store.args[2] != kNoValue) parts.push_back(operand(store.args[2]));
    const std::string where = all_of(parts);
    const auto& offsets = values_.index.affine(store.args[0]);
    const std::string at =
        offsets ? values_.offset(*offsets, row_text(shape), "col") : operand(store.args[0]);
    const std::string statement = fmt::format("store_one({}, {}, {});", values_.buffer_name(store),
                                              at, operand(store.args[1]));
    if (where.empty())
      code_.line("{}", statement);
    else
      code_.line("if ({}) {}", where, statement);
  }

  // --- reductions ---

  // A row of one element is its own result.
  void reduce_single_columns() {
    for (const Instr* sink : stage_.sinks)
      for (std::size_t i = 0; i < sink->results.size(); ++i) {
        const ValueId id = sink->results[i];
        code_.line("{}{};", values_.is_scalar(id) ? fmt::format("{} ", values_.type(id)) : "",
                   values_.is_scalar(id) ? values_.name(id) : values_.declaration(id));
        open_rows(values_, code_, values_.shape(id));
        code_.line("{} = {};", values_.is_scalar(id) ? values_.name(id) : values_.row_variable(id),
                   values_.operand(sink->args[i]));
        code_.close();
      }
  }

  void finish(const std::vector<CudaReduction>& reductions) {
    if (reductions.empty()) return;
    for (const CudaReduction& each : reductions) each.reduce_warp();
    if (!CudaReduction::needs_slots(layout_)) return;
    meet_cluster(values_, state_, code_);
    for (const CudaReduction& each : reductions) each.put_parts();
    const char* barrier = layout_.cluster() > 1 ? "cluster_barrier();" : "block_barrier();";
    code_.line("{}", barrier);
    for (const CudaReduction& each : reductions) each.take_parts();
    if (state_.loop_depth > 0) code_.line("{}", barrier);  // the next trip writes the slots again
  }

  const CudaValues& values_;
  const CudaLayout& layout_;
  CudaState& state_;
  CWriter& code_;
  const Stage& stage_;
  const std::vector<CudaTileUpdate>& updates_;
  std::vector<const Instr*> near_;  // loads inside the loops
  std::set<ValueId> locals_;        // elements computed so far
  bool barrier_needed_ = false;
};

}  // namespace

void open_rows(const CudaValues& values, CWriter& code, TileShape shape) {
  const int steps = values.layout.row_steps(shape);
  if (steps > 1) {
    code.open("{}for (int r = 0; r < {}; ++r)", unroll(values.layout.elements(shape)), steps);
    code.line("const idx row = {};",
              add_text(mul_text("r", std::to_string(values.layout.thread_rows())), "thread_row"));
  } else {
    code.open();
    if (shape.rows > 1) code.line("const idx row = thread_row;");
  }
}

void meet_cluster(const CudaValues& values, CudaState& state, CWriter& code) {
  if (values.layout.cluster() == 1 || state.cluster_met) return;
  code.line("wait_for_cluster();");
  state.cluster_met = true;
}

void render_cuda_elements(const CudaValues& values, CudaState& state, CWriter& code,
                          const Stage& stage, const std::vector<CudaTileUpdate>& updates) {
  Elements(values, state, code, stage, updates).render();
}

}  // namespace sinter
