// Element text goes inside loops over r, k and v; see CudaValues for the names.
#include "src/codegen/cuda/elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "src/base/check.h"
#include "src/codegen/cuda/reduction.h"

namespace sinter {

using tile::Code;
using tile::Instr;
using tile::kNoValue;
using tile::TileShape;
using tile::ValueId;

namespace {

class Elements {
 public:
  Elements(const CudaValues& values, CudaState& state, CWriter& code, const Stage& stage,
           const std::vector<CudaTileUpdate>& updates)
      : values_(values),
        layout_(values.layout),
        vectors_(values, code),
        dense_(values, code),
        loads_(values, state, code, stage),
        state_(state),
        code_(code),
        stage_(stage),
        updates_(updates) {}

  void render() {
    loads_.render();
    const TileShape shape = shape_of_stage();
    if (shape.cols <= 1) return reduce_single_columns();
    for (ValueId id : stage_.kept) declare(id);
    find_across();
    std::vector<CudaReduction> reductions;
    for (const Instr* sink : stage_.sinks)
      if (sink->code == Code::reduce)
        reductions.emplace_back(values_, code_, *sink, packed_type_of(*sink));
    for (const CudaReduction& each : reductions) each.declare_parts();
    for (const Instr* sink : stage_.sinks)
      if (sink->code == Code::store && is_vector_store(*sink) &&
          take_dense_tile(values_, state_, *sink)) {
        dense_stores_.push_back(sink);
        dense_.declare_run(*sink);
      }
    render_loops(shape, reductions);
    finish(reductions);
    if (!dense_stores_.empty()) code_.line("block_barrier();");
    for (const Instr* store : dense_stores_) dense_.render_store(*store);
  }

 private:
  TileShape shape_of_stage() const {
    if (!stage_.sinks.empty()) return values_.shape(stage_.sinks[0]->args[0]);
    if (!stage_.kept.empty()) return values_.shape(stage_.kept[0]);
    if (!stage_.yields.empty()) return values_.shape(stage_.yields[0]);
    return {};
  }

  // The packed type a reduction can use without unpacking; empty: it reduces elements. (Rows that
  // end inside a tile are masked before, element by element.)
  std::string packed_type_of(const Instr& reduce) const {
    const ValueId id = reduce.args[0];
    if (!CudaReduction::can_reduce_packed(reduce) || !state_.packed.count(id)) return "";
    return values_.packed_type(*values_.facts.definition.at(id));
  }

  bool declare(ValueId id) {
    if (state_.shared.count(id) || !state_.arrays.insert(id).second) return false;
    code_.line("{};", values_.declaration(id));
    return true;
  }

  // --- elements ---

  // The current element of a tile, or the value of a scalar or row.
  std::string operand(ValueId id) const {
    if (values_.shape(id).cols == 1) return values_.operand(id);
    return values_.is_offset(id) ? fmt::format("i64({})", element(id)) : element(id);
  }

  std::string element(ValueId id) const {
    if (const auto& offsets = values_.index.affine(id))
      return fmt::format("i64({})", values_.offset(*offsets, "col"));
    if (const auto& mask = values_.index.mask(id))
      return fmt::format("({})", values_.condition(*mask, mask_column(*mask)));
    if (const auto it = state_.shared.find(id); it != state_.shared.end()) return it->second;
    if (locals_.count(id)) return values_.name(id);
    if (across_.count(id)) return fmt::format("{}_vector[v]", values_.name(id));
    if (loads_.is_near(id))
      return fmt::format("{}[{}]", values_.name(id), layout_.vector() > 1 ? "v" : "0");
    if (state_.packed.count(id)) return fmt::format("element({}, v)", packed_operand(id));
    if (state_.arrays.count(id))
      return fmt::format("{}[{}]", values_.name(id), values_.element_index(id));
    const Instr& definition = *values_.facts.definition.at(id);
    SINTER_ASSERT(definition.code == Code::broadcast, "{} is nowhere", values_.name(id));
    return operand(definition.args[0]);
  }

  std::string packed_operand(ValueId id) const {
    return fmt::format("{}[{}]", values_.name(id), values_.vector_number(id));
  }

  // --- functions of a vector ---

  // Functions with a long slow path that is rarely taken: a vector's elements branch to it
  // together, so the element loop ends before the call and a new one starts after it.
  bool is_of_vector(const Instr& instr) const {
    if (instr.code != Code::pointwise || layout_.vector() == 1) return false;
    if (keeps_range(instr)) return true;
    return (instr.op == Op::sin || instr.op == Op::cos) &&
           values_.program[instr.results[0]].dtype == DType::f32;
  }

  // A value inside of rows that begin or end inside a vector, and a number outside.
  bool keeps_range(const Instr& instr) const {
    if (instr.op != Op::where || !values_.is_scalar(instr.args[2])) return false;
    if (values_.shape(instr.results[0]).cols == 1) return false;
    const auto& mask = values_.index.mask(instr.args[0]);
    return mask && mask->col_first && !mask->row_limit && !mask->row_first &&
           values_.divisibility.of(*mask) < layout_.vector();
  }

  // Finds the values that are used in a later element loop than the one that computes them.
  void find_across() {
    std::map<ValueId, int> part_of;
    int part = 0;
    const std::function<void(ValueId)> use = [&](ValueId id) {
      if (id == kNoValue) return;
      const auto found = part_of.find(id);
      if (found != part_of.end()) {
        if (found->second < part && !stage_.keeps(id)) across_.insert(id);
      } else if (const auto it = values_.facts.definition.find(id);
                 it != values_.facts.definition.end() && it->second->code == Code::broadcast) {
        use(it->second->args[0]);
      }
    };
    for (const Instr* instr : stage_.elements) {
      for (ValueId arg : instr->args) use(arg);
      if (!is_loaded(*instr)) part_of[instr->results[0]] = part;
      if (!is_of_vector(*instr)) continue;
      across_.insert(instr->results[0]);
      ++part;
    }
    for (const Instr* sink : stage_.sinks) {
      const bool is_vector = sink->code == Code::store && is_vector_store(*sink);
      for (std::size_t i = 0; i < sink->args.size(); ++i)
        use(is_vector && i == 1 ? stored_value(*sink) : sink->args[i]);
    }
    for (const CudaTileUpdate& update : updates_) use(update.next);
  }

  void render_vector_function(const Instr& instr) {
    const ValueId id = instr.results[0];
    const bool keeps = keeps_range(instr);
    code_.line("{}_vector[v] = {};", values_.name(id), operand(instr.args[keeps ? 1 : 0]));
    code_.close();
    if (keeps) {
      const VectorMask mask = vectors_.mask(instr.args[0], {});
      code_.line("keep_range<{}>({}_vector, {}, {}, {});", layout_.vector(), values_.name(id),
                 mask.first, mask.count, operand(instr.args[2]));
    } else {
      code_.line("{}_of_all<{}>({}_vector);", name_of(instr.op), layout_.vector(),
                 values_.name(id));
    }
    locals_.clear();
    vectors_.open_vector();
    if (stage_.keeps(id))
      code_.line("{}[{}] = {}_vector[v];", values_.name(id), values_.element_index(id),
                 values_.name(id));
  }

  // If a mask changes only at vector boundaries, it is the same for a whole vector.
  const char* mask_column(const RangeMask& mask) const {
    return values_.divisibility.of(mask) >= layout_.vector() ? "begin" : "col";
  }

  // Whether the load was rendered before the loops.
  bool is_loaded(const Instr& instr) const {
    return instr.code == Code::load &&
           (state_.shared.count(instr.results[0]) || CudaLoads::can_load_early(values_, instr));
  }

  void render_element(const Instr& instr) {
    const ValueId id = instr.results[0];
    if (is_loaded(instr)) return;
    std::vector<std::string> operands;
    for (ValueId arg : instr.args) operands.push_back(arg == kNoValue ? "" : operand(arg));
    std::string value = values_.expression(instr, std::move(operands));
    if (instr.code == Code::load) {
      const std::string in = CudaVectors::all_of(vectors_.inside(values_.shape(id)));
      if (!in.empty()) value = fmt::format("{} ? ({}) : {}(0)", in, value, values_.type(id));
    }
    if (stage_.keeps(id)) {
      code_.line("{}[{}] = {};", values_.name(id), values_.element_index(id), value);
    } else if (across_.count(id)) {
      code_.line("{}_vector[v] = {};", values_.name(id), value);
    } else {
      locals_.insert(id);
      code_.line("const {} {} = {};", values_.type(id), values_.name(id), value);
    }
  }

  void render_loops(TileShape shape, const std::vector<CudaReduction>& reductions) {
    vectors_.open_vectors(shape);
    loads_.render_near(false);
    vectors_.open_rows(shape);
    loads_.render_near(true);
    std::vector<VectorStore> stores;
    for (const Instr* sink : stage_.sinks)
      if (sink->code == Code::store && is_vector_store(*sink) && !is_dense_store(*sink)) {
        stores.push_back({sink, fmt::format("stored{}", stores.size())});
        code_.line("{} {}[{}];", values_.type(sink->args[1]), stores.back().name, layout_.vector());
      }
    const std::string in = layout_.cols_exact(shape) ? "" : fmt::format("begin < {}", shape.cols);
    for (const CudaReduction& each : reductions)
      if (each.reduces_packed()) each.accumulate_packed(packed_operand(each.instr().args[0]), in);
    for (ValueId id : across_)
      code_.line("{} {}_vector[{}];", values_.type(id), values_.name(id), layout_.vector());
    vectors_.open_vector();
    for (const Instr* instr : stage_.elements) {
      if (is_of_vector(*instr))
        render_vector_function(*instr);
      else
        render_element(*instr);
    }
    for (const CudaReduction& each : reductions) {
      if (each.reduces_packed()) continue;
      std::vector<std::string> entering;
      for (ValueId arg : each.instr().args) entering.push_back(operand(arg));
      each.accumulate(entering, in);
    }
    for (const VectorStore& store : stores)
      code_.line("{}[{}] = {};", store.name, layout_.vector() > 1 ? "v" : "0",
                 operand(stored_value(*store.instr)));
    for (const Instr* store : dense_stores_)
      code_.line("{};", dense_.put_text(*store, operand(stored_value(*store))));
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

  bool is_dense_store(const Instr& store) const {
    return std::find(dense_stores_.begin(), dense_stores_.end(), &store) != dense_stores_.end();
  }

  bool is_vector_store(const Instr& store) const {
    const auto& offsets = values_.index.affine(store.args[0]);
    const bool even_mask = store.args[2] == kNoValue || values_.index.mask(store.args[2]);
    return offsets && offsets->col_step.is_one() && even_mask;
  }

  // The value to store. If it is a cast to the buffer's 16-bit type, the store does the rounding.
  ValueId stored_value(const Instr& store) const {
    const ValueId id = store.args[1];
    const Instr& definition = *values_.facts.definition.at(id);
    const bool is_here = std::find(stage_.elements.begin(), stage_.elements.end(), &definition) !=
                         stage_.elements.end();
    const bool is_rounding = definition.code == Code::cast && size_of(definition.storage) == 2 &&
                             definition.storage == values_.buffer(store).dtype &&
                             values_.program[definition.args[0]].dtype == values_.program[id].dtype;
    return is_here && is_rounding ? definition.args[0] : id;
  }

  // Conditions for storing. If several rows of threads hold the same values, only one stores.
  std::vector<std::string> storing(TileShape shape) const {
    std::vector<std::string> parts = vectors_.inside(shape);
    if (shape.rows == 1 && layout_.thread_rows() > 1)
      parts.insert(parts.begin(), "thread_row == 0");
    return parts;
  }

  void render_vector_store(const VectorStore& store) {
    const Instr& instr = *store.instr;
    const TileShape shape = values_.shape(instr.args[0]);
    const VectorMask mask = vectors_.mask(instr.args[2], storing(shape));
    const std::string at = values_.offset(*values_.index.affine(instr.args[0]), "begin");
    const std::string widths = fmt::format("{}, {}", layout_.vector(), vectors_.pack_width(instr));
    const std::string buffer = values_.buffer_name(instr);
    const std::string statement =
        mask.count.empty()
            ? fmt::format("store_vector<{}>({}, {}, {});", widths, buffer, at, store.name)
        : mask.first.empty() ? fmt::format("store_part<{}>({}, {}, {}, {});", widths, buffer, at,
                                           mask.count, store.name)
                             : fmt::format("store_range<{}>({}, {}, {}, {}, {});", widths, buffer,
                                           at, mask.first, mask.count, store.name);
    if (mask.where.empty())
      code_.line("{}", statement);
    else
      code_.line("if ({}) {}", mask.where, statement);
  }

  void render_single_store(const Instr& store) {
    const TileShape shape = values_.shape(store.args[0]);
    std::vector<std::string> parts = storing(shape);
    if (store.args[2] != kNoValue) parts.push_back(operand(store.args[2]));
    const std::string where = CudaVectors::all_of(parts);
    const auto& offsets = values_.index.affine(store.args[0]);
    const std::string at = offsets ? values_.offset(*offsets, "col") : operand(store.args[0]);
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
        vectors_.open_rows(values_.shape(id));
        code_.line("{} = {};", values_.is_scalar(id) ? values_.name(id) : values_.row_variable(id),
                   values_.operand(sink->args[i]));
        code_.close();
      }
  }

  void finish(const std::vector<CudaReduction>& reductions) {
    if (reductions.empty()) return;
    for (const CudaReduction& each : reductions) each.reduce_warp();
    if (!layout_.needs_slots()) return;
    sync_cluster(values_, state_, code_);
    if (layout_.cluster() > 1 && state_.loop_depth == 0) return exchange_parts(reductions);
    for (const CudaReduction& each : reductions) each.put_parts("");
    const char* barrier = layout_.cluster() > 1 ? "cluster_barrier();" : "block_barrier();";
    code_.line("{}", barrier);
    for (const CudaReduction& each : reductions) each.take_parts();
    if (state_.loop_depth > 0) code_.line("{}", barrier);  // the next trip writes the slots again
  }

  // Persistent blocks alternate between two exchange barriers: one block may already use the next
  // program's barrier while another still waits at the last one.
  void exchange_parts(const std::vector<CudaReduction>& reductions) {
    const int number = state_.exchanges++;
    const std::string exchange = layout_.is_persistent()
                                     ? fmt::format("exchanges, {} + turn", 2 * number)
                                     : fmt::format("exchanges, {}", number);
    int bytes = 0;
    for (const CudaReduction& each : reductions) bytes += each.slot_bytes();
    code_.line("expect_at_exchange({}, {});", exchange, bytes);
    for (const CudaReduction& each : reductions) each.put_parts(exchange);
    code_.line("wait_for_exchange({}, {});", exchange,
               layout_.is_persistent() ? "trip / 2 % 2" : "0");
    for (const CudaReduction& each : reductions) each.take_parts();
  }

  const CudaValues& values_;
  const tile::ThreadLayout& layout_;
  const CudaVectors vectors_;
  const CudaDenseTiles dense_;
  CudaLoads loads_;
  CudaState& state_;
  CWriter& code_;
  const Stage& stage_;
  const std::vector<CudaTileUpdate>& updates_;
  std::vector<const Instr*> dense_stores_;
  std::set<ValueId> locals_;  // elements computed so far in this loop
  std::set<ValueId> across_;  // values kept in a vector-sized array for a later element loop
};

}  // namespace

void sync_cluster(const CudaValues& values, CudaState& state, CWriter& code) {
  if (values.layout.cluster() == 1 || state.cluster_started) return;
  code.line("wait_for_cluster();");
  state.cluster_started = true;
}

void render_cuda_elements(const CudaValues& values, CudaState& state, CWriter& code,
                          const Stage& stage, const std::vector<CudaTileUpdate>& updates) {
  Elements(values, state, code, stage, updates).render();
}

}  // namespace sinter
