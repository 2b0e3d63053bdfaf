// The CPU dialect. A stage becomes a loop over rows around a loop over vectors of columns, whose
// body is written twice: for whole vectors, and for the last, partial one.
#include "src/codegen/cpu_renderer.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "src/base/check.h"
#include "src/codegen/c_text.h"
#include "src/codegen/cpu_headers.h"
#include "src/codegen/schedule.h"

namespace sinter {
namespace {

using tile::Code;
using tile::Instr;
using tile::kNoValue;
using tile::TileProgram;
using tile::ValueId;

constexpr int kUnroll = 4;
constexpr int kTripsAhead = 8;          // of a loop's prefetches
constexpr int kLightBody = 8;           // simple instructions
constexpr std::int64_t kSumBlock = 64;  // additions to one accumulator before it is put away

// How the elements of the vector at hand are limited.
enum class Body { whole, partial };

class CpuRenderer {
 public:
  CpuRenderer(const TileProgram& program, int vector_bytes)
      : program_(program),
        names_(value_names(program)),
        index_(program, names_),
        facts_(program),
        lanes_(vector_bytes / widest_element()) {}

  KernelSource run() {
    depth_ = 2;
    render_block(program_.body, {}, {}, "program", "program + 1 < last ? program + 1 : program");
    const std::string body = std::move(text_);
    text_.clear();
    depth_ = 0;
    source_.entry = "sinter_" + program_.name;
    line("struct Binding {{ void* data; i64 elements; }};");
    line("");
    line("extern \"C\" void {}(const Binding* buffers, const i64* scalars, i64 first, i64 last,",
         source_.entry);
    line("    char* scratch) {{");
    depth_ = 1;
    declare_parameters();
    for (const std::string& array : arrays_) line("{}", array);
    line("for (i64 program = first; program < last; ++program) {{");
    text_ += body;
    line("}}");
    if (program_.stream_stores) line("stream_fence();");
    depth_ = 0;
    line("}}");
    source_.text = std::move(text_);
    return std::move(source_);
  }

  int lanes() const { return lanes_; }

 private:
  // --- text -------------------------------------------------------------------------------------

  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += std::string(static_cast<std::size_t>(depth_) * 2, ' ');
    text_ += fmt::format(format, std::forward<Args>(args)...);
    text_ += "\n";
  }
  template <typename... Args>
  void open(fmt::format_string<Args...> format, Args&&... args) {
    line("{} {{", fmt::format(format, std::forward<Args>(args)...));
    ++depth_;
  }
  void close() {
    --depth_;
    line("}}");
  }

  // Constants are written where they are used, parameters keep their names.
  static std::vector<std::string> value_names(const TileProgram& program) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < program.values.size(); ++i) names.push_back(fmt::format("v{}", i));
    tile::for_each_instr(program.body, [&](const Instr& instr) {
      for (ValueId id : instr.results) {
        std::string& name = names[static_cast<std::size_t>(id)];
        if (instr.code == Code::constant) {
          const DType dtype = program[id].dtype;
          name = dtype == DType::i64 && instr.integer >= 0 ? std::to_string(instr.integer)
                                                           : literal(instr, dtype);
        } else if (instr.code == Code::scalar) {
          name = program.scalars[static_cast<std::size_t>(instr.index)].name;
        } else if (instr.code == Code::program_id) {
          name = "program";
        }
      }
    });
    return names;
  }

  const std::string& name(ValueId id) const { return names_[static_cast<std::size_t>(id)]; }
  std::int64_t rows_of(ValueId id) const { return program_[id].shape.rows; }
  bool is_scalar(ValueId id) const { return program_[id].shape.is_scalar(); }
  bool is_row(ValueId id) const { return !is_scalar(id) && program_[id].shape.cols == 1; }
  const tile::BufferParam& buffer(const Instr& instr) const {
    return program_.buffers[static_cast<std::size_t>(instr.index)];
  }

  // The size of the largest element that vectors hold; masks and offsets that stay symbolic do not.
  int widest_element() const {
    std::size_t widest = 4;
    auto count = [&](ValueId id) {
      if (!is_scalar(id) && !is_row(id)) widest = std::max(widest, size_of(program_[id].dtype));
    };
    tile::for_each_instr(program_.body, [&](const Instr& instr) {
      for (ValueId id : instr.results)
        if (!index_.is_index(id)) count(id);
      if (instr.code == Code::load || instr.code == Code::store) {
        if (!index_.affine(instr.args[0])) count(instr.args[0]);
        return;
      }
      // An index that is used as data; narrowed at once it never exists in full width.
      const bool narrows =
          instr.code == Code::cast && program_[instr.results[0]].dtype == DType::i32;
      for (ValueId id : instr.args)
        if (id != kNoValue && index_.affine(id) && !narrows && !instr.results.empty() &&
            !index_.is_index(instr.results[0]))
          count(id);
    });
    return static_cast<int>(widest);
  }

  void declare_parameters() {
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
      const tile::BufferParam& param = program_.buffers[i];
      const std::string_view type = storage_type(param.dtype);
      if (param.written)
        line("{}* __restrict const {} = ({}*)buffers[{}].data;", type, param.name, type, i);
      else
        line("const {}* const {} = (const {}*)buffers[{}].data;", type, param.name, type, i);
    }
    for (std::size_t i = 0; i < program_.scalars.size(); ++i) {
      const tile::ScalarParam& param = program_.scalars[i];
      if (param.dtype == DType::f64)
        line("const f64 {} = __builtin_bit_cast(f64, scalars[{}]);", param.name, i);
      else
        line("const i64 {} = scalars[{}];", param.name, i);
    }
  }

  // A scratch tile for a value; declared at the top of the function.
  const std::string& array_for(ValueId id) {
    auto [it, fresh] = array_of_.try_emplace(id, fmt::format("tile{}", id));
    if (!fresh) return it->second;
    const tile::Value& value = program_[id];
    const std::string_view type = storage_type(value.dtype);
    const std::size_t at = scratch_offset(id);
    arrays_.push_back(
        fmt::format("{}* const {} = ({}*)(scratch + {});", type, it->second, type, at));
    return it->second;
  }

  // Scratch is precious cache: a value takes the place of one that this stage reads for the last
  // time, element for element.
  std::size_t scratch_offset(ValueId id) {
    const tile::Value& value = program_[id];
    const bool whole_at_once = is_transposed_load(program_, index_, *facts_.definition.at(id));
    for (auto& [owner, at] : scratch_owners_) {
      auto last = last_use_.find(owner);
      if (last == last_use_.end() || program_[owner].shape != value.shape ||
          size_of(program_[owner].dtype) != size_of(value.dtype))
        continue;
      if (last->second > stage_ || (whole_at_once && last->second == stage_)) continue;
      const std::size_t offset = at;
      owner = id;
      return offset;
    }
    const std::size_t bytes =
        static_cast<std::size_t>(value.shape.rows * value.shape.cols) * size_of(value.dtype);
    const std::size_t offset = source_.scratch_bytes;
    source_.scratch_bytes += (bytes + 127) / 64 * 64;  // a line apart, and room for whole vectors
    scratch_owners_.emplace_back(id, offset);
    return offset;
  }

  // The last stage of the outermost block that reads each value; what loops read stays.
  void note_last_uses(const std::vector<Stage>& stages) {
    for (std::size_t s = 0; s < stages.size(); ++s)
      for (const auto* instrs : {&stages[s].elements, &stages[s].sinks})
        for (const Instr* instr : *instrs)
          for (ValueId arg : instr->args)
            if (arg != kNoValue && !facts_.crosses_blocks.count(arg) &&
                facts_.definition.at(arg)->code != Code::loop)
              last_use_[arg] = static_cast<int>(s);
  }

  std::string array_element(ValueId id, std::string_view col) {
    const std::string& array = array_for(id);
    if (rows_of(id) == 1) return fmt::format("{} + {}", array, col);
    return fmt::format("{} + r * {} + {}", array, program_[id].shape.cols, col);
  }

  // --- blocks and stages
  // --------------------------------------------------------------------------

  // `counter` is what steps from one run of the block to the next, `next` its later value.
  void render_block(const std::vector<Instr>& block, const std::vector<ValueId>& yields,
                    const std::vector<ValueId>& carried, const std::string& counter,
                    const std::string& next) {
    std::vector<Stage> stages = schedule(program_, facts_, index_, block, yields);
    const bool outermost = &block == &program_.body;
    if (outermost) note_last_uses(stages);
    Prefetches outer = std::exchange(prefetches_, {});
    for (std::size_t s = 0; s < stages.size(); ++s) {
      const Stage& stage = stages[s];
      if (outermost) stage_ = static_cast<int>(s);
      for (const Instr* instr : stage.scalars) render_scalar(*instr);
      if (s == 0) prefetches_ = plan_prefetches(stages, counter, next);
      prefetch_now_ = prefetches_.stage == static_cast<int>(s);
      render_rows(stage);
      if (stage.loop) {
        render_loop(*stage.loop);
        continue;
      }
      const bool is_last = s + 1 == stages.size();
      render_elements(stage, is_last ? yields : std::vector<ValueId>{}, carried);
    }
    prefetches_ = std::move(outer);
  }

  // What is asked for ahead of its time, because it comes from memory rather than from cache.
  struct Prefetches {
    int stage = -1;                             // which stage asks
    std::vector<std::string> lines;             // a line for each vector
    std::map<ValueId, std::string> next_tiles;  // where a transposed load's next tile begins
  };

  // Rows are asked for while the second stage computes on those at hand; with one stage only, what
  // hardware does not see coming is: transposed tiles, and the rows of a loop that jumps.
  Prefetches plan_prefetches(const std::vector<Stage>& stages, const std::string& counter,
                             const std::string& next) {
    Prefetches plan;
    if (!program_.stream_stores || stages[0].loop) return plan;
    const bool crosses = std::any_of(
        stages[0].elements.begin(), stages[0].elements.end(),
        [&](const Instr* instr) { return is_transposed_load(program_, index_, *instr); });
    if (crosses || counter != "program")
      plan.stage = 0;
    else if (stages.size() > 1 && !stages[1].loop)
      plan.stage = 1;
    else
      return plan;
    std::set<std::string> declared;
    for (const Instr* instr : stages[0].elements) {
      const auto& offsets =
          instr->code == Code::load ? index_.affine(instr->args[0]) : std::optional<Affine>{};
      const bool transposed = is_transposed_load(program_, index_, *instr);
      if (!offsets || !(transposed || offsets->col_step == "1")) continue;
      if (declared.insert(counter).second) line("const i64 {}_next = {};", counter, next);
      Affine ahead = *offsets;
      ahead.base = at_next(ahead.base, stages[0], counter, declared);
      if (transposed)
        plan.next_tiles[instr->results[0]] =
            fmt::format("{} + ({})", buffer(*instr).name, ahead.base);
      else
        plan.lines.push_back(fmt::format("__builtin_prefetch({}, 0, 2);", address(*instr, ahead)));
    }
    return plan;
  }

  // The text with every scalar that depends on the counter replaced by its value at the next one.
  std::string at_next(const std::string& text, const Stage& stage, const std::string& counter,
                      std::set<std::string>& declared) {
    std::set<std::string> moving{counter};
    auto moved = [&](const std::string& expression) {
      return replace_words(expression, [&](const std::string& word) {
        return moving.count(word) ? word + "_next" : word;
      });
    };
    for (const Instr* instr : stage.scalars) {
      if (instr->code != Code::pointwise) continue;
      const std::string expression = scalar_expression(*instr);
      const std::string next = moved(expression);
      if (next == expression) continue;
      const std::string& variable = name(instr->results[0]);
      moving.insert(variable);
      if (declared.insert(variable).second)
        line("const {} {}_next = {};", compute_type(program_[instr->results[0]].dtype), variable,
             next);
    }
    return moved(text);
  }

  void render_loop(const Instr& loop) {
    std::vector<ValueId> carried(loop.body_params.begin() + 1, loop.body_params.end());
    for (std::size_t i = 0; i < carried.size(); ++i) {
      const ValueId init = loop.args[3 + i];
      SINTER_ASSERT(!is_row(carried[i]), "loops carry scalars and tiles of columns");
      if (is_scalar(carried[i])) {
        line("{} {} = {};", compute_type(program_[init].dtype), name(carried[i]), name(init));
        names_[static_cast<std::size_t>(loop.results[i])] = name(carried[i]);
      } else {
        array_of_[loop.results[i]] = array_for(carried[i]);
        open("for (i64 c = 0; c < {}; c += {})", program_[init].shape.cols, lanes_);
        here_.clear();
        const std::string value = operand(init, Body::whole);
        line("store({}, {});", array_element(carried[i], "c"), value);
        close();
      }
    }
    const std::string& i = name(loop.body_params[0]);
    open("for (i64 {} = {}; {} < {}; {} += {})", i, name(loop.args[0]), i, name(loop.args[1]), i,
         name(loop.args[2]));
    render_block(loop.body, loop.body_yields, carried, i, fmt::format("{} + {}", i, kTripsAhead));
    std::vector<std::pair<std::string, std::string>> next;
    for (std::size_t k = 0; k < carried.size(); ++k) {
      if (!is_scalar(carried[k])) continue;
      line("const {} {}_next = {};", compute_type(program_[carried[k]].dtype), name(carried[k]),
           name(loop.body_yields[k]));
      next.emplace_back(name(carried[k]), name(carried[k]) + "_next");
    }
    for (const auto& [to, from] : next) line("{} = {};", to, from);
    close();
  }

  // --- scalars and rows
  // ---------------------------------------------------------------------------

  std::string scalar_operand(ValueId id) const {
    if (is_row(id) && !index_.is_index(id)) return name(id) + "[r]";
    if (!is_scalar(id)) {
      if (const auto& offsets = index_.affine(id))
        return "(" + add_text(offsets->base, mul_text("r", offsets->row_step)) + ")";
      const auto& mask = index_.mask(id);
      SINTER_ASSERT(mask && mask->col_limit.empty(), "{}", name(id));
      return fmt::format("(r < {})", mask->row_limit);
    }
    return name(id);
  }

  std::string scalar_expression(const Instr& instr) const {
    std::vector<std::string> args;
    for (ValueId id : instr.args) args.push_back(id == kNoValue ? "" : scalar_operand(id));
    const DType dtype = instr.results.empty() ? DType::f32 : program_[instr.results[0]].dtype;
    switch (instr.code) {
      case Code::pointwise:
        return expression_text(instr.op, args);
      case Code::cast:
        return cast_text(instr, args[0]);
      case Code::broadcast:
        return args[0];
      case Code::load: {
        std::string value = fmt::format("unpack_one({}[{}])", buffer(instr).name, args[0]);
        if (instr.args[1] == kNoValue) return value;
        return fmt::format("{} ? {} : {}({})", args[1], value, compute_type(dtype), args[2]);
      }
      default:
        SINTER_ASSERT(false, "not a scalar instruction");
        return {};
    }
  }

  std::string cast_text(const Instr& instr, const std::string& value) const {
    std::string text =
        fmt::format("to_{}({})", compute_type(program_[instr.results[0]].dtype), value);
    if (instr.storage == DType::f16) return "round_f16(" + text + ")";
    if (instr.storage == DType::bf16) return "round_bf16(" + text + ")";
    return text;
  }

  void render_scalar_store(const Instr& instr) {
    const std::string target =
        fmt::format("store_one({} + {}, {});", buffer(instr).name, scalar_operand(instr.args[0]),
                    scalar_operand(instr.args[1]));
    if (instr.args[2] == kNoValue || is_bounded_row_mask(instr.args[2]))
      line("{}", target);
    else
      line("if ({}) {}", scalar_operand(instr.args[2]), target);
  }

  void render_scalar(const Instr& instr) {
    if (instr.code == Code::constant || instr.code == Code::scalar ||
        instr.code == Code::program_id)
      return;
    if (instr.code == Code::store) return render_scalar_store(instr);
    line("const {} {} = {};", compute_type(program_[instr.results[0]].dtype),
         name(instr.results[0]), scalar_expression(instr));
  }

  void render_rows(const Stage& stage) {
    if (stage.rows.empty()) return;
    std::int64_t rows = 1;
    for (const Instr* instr : stage.rows) {
      rows =
          std::max(rows, rows_of(instr->code == Code::store ? instr->args[0] : instr->results[0]));
      if (instr->code != Code::store)
        line("{} {}[{}];", compute_type(program_[instr->results[0]].dtype), name(instr->results[0]),
             rows_of(instr->results[0]));
    }
    row_limit_ = common_row_limit(stage.rows);
    line("{{");
    ++depth_;
    declare_bound("rows", row_limit_, rows);
    open("for (i64 r = 0; r < rows; ++r)");
    for (const Instr* instr : stage.rows) {
      if (instr->code == Code::store)
        render_scalar_store(*instr);
      else
        line("{}[r] = {};", name(instr->results[0]), scalar_expression(*instr));
    }
    close();
    close();
    row_limit_.clear();
  }

  bool is_bounded_row_mask(ValueId id) const {
    const auto& mask = index_.mask(id);
    return mask && mask->col_limit.empty() && !mask->row_limit.empty() &&
           mask->row_limit == row_limit_;
  }

  void declare_bound(std::string_view variable, const std::string& limit, std::int64_t size) {
    if (limit.empty())
      line("const i64 {} = {};", variable, size);
    else
      line("const i64 {} = {} < {} ? {} : {};", variable, limit, size, limit, size);
  }

  // --- limits
  // -------------------------------------------------------------------------------------

  // The mask that guards an instruction's effect: a store's own, a reduction's by its select.
  ValueId guard(const Instr& instr) const {
    if (instr.code == Code::store) return instr.args[2];
    if (instr.code == Code::load) return instr.args[1];
    if (instr.code == Code::reduce) {
      const Instr& source = *facts_.definition.at(instr.args[0]);
      const bool selects = source.code == Code::pointwise && source.op == Op::where;
      return selects ? source.args[0] : kNoValue;
    }
    return kNoValue;
  }

  std::string common_row_limit(const std::vector<const Instr*>& instrs) const {
    std::optional<std::string> limit;
    for (const Instr* instr : instrs) {
      if (instr->code != Code::store && instr->code != Code::load) continue;
      const ValueId mask = guard(*instr);
      if (mask == kNoValue) {
        if (instr->code == Code::store) return "";
        continue;
      }
      const auto& prefix = index_.mask(mask);
      if (!prefix || prefix->row_limit.empty()) return "";
      if (limit && *limit != prefix->row_limit) return "";
      limit = prefix->row_limit;
    }
    return limit.value_or("");
  }

  // The one limit along an axis that all guards of the stage agree on; empty if they do not.
  std::string common_limit(const Stage& stage, std::string PrefixMask::*axis, bool reductions_too) {
    std::optional<std::string> limit;
    bool agreed = true;
    auto visit = [&](const Instr& instr, bool required) {
      const ValueId mask = guard(instr);
      const auto* prefix = mask == kNoValue || !index_.mask(mask) ? nullptr : &*index_.mask(mask);
      const std::string text = prefix ? (*prefix).*axis : "";
      if (text.empty()) {
        if (required || (mask != kNoValue && !prefix)) agreed = false;
        return;
      }
      if (limit && *limit != text) agreed = false;
      limit = text;
    };
    for (const Instr* instr : stage.sinks)
      visit(*instr, instr->code == Code::store || reductions_too);
    for (const Instr* instr : stage.elements)
      if (instr->code == Code::load) visit(*instr, false);
    return agreed ? limit.value_or("") : "";
  }

  // --- elements
  // -----------------------------------------------------------------------------------

  void render_elements(const Stage& stage, const std::vector<ValueId>& yields,
                       const std::vector<ValueId>& carried) {
    std::vector<std::pair<ValueId, ValueId>> updates;  // carried tile, its next value
    for (std::size_t i = 0; i < yields.size(); ++i)
      if (!is_scalar(carried[i]) && yields[i] != carried[i])
        updates.emplace_back(carried[i], yields[i]);
    if (stage.sinks.empty() && stage.kept.empty() && updates.empty()) return;

    tile::TileShape shape;
    auto grow = [&](ValueId id) { shape = tile::broadcast(shape, program_[id].shape); };
    for (const Instr* instr : stage.sinks) grow(instr->args[0]);
    for (ValueId id : stage.kept) grow(id);
    for (const auto& [tile, next] : updates) grow(tile);
    SINTER_ASSERT(shape.rows > 0 && shape.cols > 0, "tiles of one stage differ in shape");

    row_limit_ = common_limit(stage, &PrefixMask::row_limit, false);
    col_limit_ = common_limit(stage, &PrefixMask::col_limit, true);
    for (const Instr* instr : stage.sinks)
      if (instr->code == Code::reduce) declare_reduction_results(*instr);
    line("{{");
    ++depth_;
    declare_bound("rows", row_limit_, shape.rows);
    declare_bound("cols", col_limit_, shape.cols);
    render_transposes(stage);
    if (shape.rows > 1) open("for (i64 r = 0; r < rows; ++r)");
    render_columns(stage, updates, shape.cols);
    if (shape.rows > 1) close();
    close();
    row_limit_.clear();
    col_limit_.clear();
  }

  void render_transposes(const Stage& stage) {
    for (const Instr* instr : stage.elements) {
      if (!is_transposed_load(program_, index_, *instr)) continue;
      const Affine& offsets = *index_.affine(instr->args[0]);
      const ValueId id = instr->results[0];
      SINTER_ASSERT(instr->args[1] == kNoValue || mask_text(instr->args[1], Body::whole).empty(),
                    "a transposed load is cut by the loops' bounds");
      const auto next = prefetches_.next_tiles.find(id);
      line("transpose_load({}, {}, {} + ({}), {}, rows, cols{});", array_for(id),
           program_[id].shape.cols, buffer(*instr).name, offsets.base, offsets.col_step,
           next == prefetches_.next_tiles.end() ? "" : ", " + next->second);
    }
  }

  void declare_reduction_results(const Instr& instr) {
    for (ValueId id : instr.results) {
      const std::string_view type = compute_type(program_[id].dtype);
      if (rows_of(id) > 1)
        line("{} {}[{}];", type, name(id), rows_of(id));
      else
        line("{} {};", type, name(id));
    }
  }

  void render_columns(const Stage& stage, const std::vector<std::pair<ValueId, ValueId>>& updates,
                      std::int64_t cols) {
    const int unroll = unroll_of(stage, cols);
    for (const Instr* instr : stage.sinks)
      if (instr->code == Code::reduce)
        for (int u = 0; u < unroll; ++u) declare_accumulators(*instr, u);
    line("i64 c = 0;");
    const std::vector<const Instr*> sums = long_sums(stage, cols, unroll);
    for (const Instr* sum : sums)
      line("auto total{} = splat({});", sum->results[0],
           identity_text(ReduceKind::sum, program_[sum->args[0]].dtype));
    if (sums.empty()) {
      render_whole_vectors(stage, updates, unroll, "cols");
    } else {
      const std::int64_t block = kSumBlock * lanes_ * unroll;
      open("while (c + {} <= cols)", lanes_);
      line("const i64 stop = cols - c < {} ? cols : c + {};", block, block);
      render_whole_vectors(stage, updates, unroll, "stop");
      for (const Instr* sum : sums) {
        const ValueId id = sum->results[0];
        line("total{} = total{} + acc{};", id, id, id);
        line("acc{} = splat({});", id,
             identity_text(ReduceKind::sum, program_[sum->args[0]].dtype));
      }
      close();
    }
    if (!col_limit_.empty() || cols % lanes_ != 0) {
      open("if (c < cols)");
      line("const i64 n = cols - c;");
      line("const boolv lanes = lt(iota_i32(), splat((i32)n));");
      render_body(stage, updates, Body::partial);
      close();
    }
    for (const Instr* sum : sums)
      line("acc{} = acc{} + total{};", sum->results[0], sum->results[0], sum->results[0]);
    for (const Instr* instr : stage.sinks)
      if (instr->code == Code::reduce) finish_reduction(*instr);
  }

  void render_whole_vectors(const Stage& stage,
                            const std::vector<std::pair<ValueId, ValueId>>& updates, int unroll,
                            std::string_view stop) {
    if (unroll > 1) render_unrolled(stage, updates, unroll, stop);
    open("for (; c + {} <= {}; c += {})", lanes_, stop, lanes_);
    render_body(stage, updates, Body::whole);
    close();
  }

  // Sums of floats so long that one running total would lose digits: they are taken in blocks.
  std::vector<const Instr*> long_sums(const Stage& stage, std::int64_t cols, int unroll) const {
    std::vector<const Instr*> sums;
    for (const Instr* instr : stage.sinks)
      if (instr->code == Code::reduce && instr->reduce_kind == ReduceKind::sum &&
          is_floating(program_[instr->args[0]].dtype) && cols > 2 * kSumBlock * lanes_ * unroll)
        sums.push_back(instr);
    return sums;
  }

  // A light reduction would wait for its accumulator: several of them hide that.
  int unroll_of(const Stage& stage, std::int64_t cols) const {
    int cost = 0;
    bool reduces = false;
    for (const Instr* instr : stage.elements)
      cost += instr->code == Code::pointwise ? std::max(1, info(instr->op).cost) : 1;
    for (const Instr* instr : stage.sinks) reduces |= instr->code == Code::reduce;
    return reduces && cost < kLightBody && cols >= 2 * kUnroll * lanes_ ? kUnroll : 1;
  }

  void render_unrolled(const Stage& stage, const std::vector<std::pair<ValueId, ValueId>>& updates,
                       int unroll, std::string_view stop) {
    open("for (; c + {} <= {};)", unroll * lanes_, stop);
    for (int u = 0; u < unroll; ++u) {
      line("{{");
      ++depth_;
      accumulator_ = u;
      render_body(stage, updates, Body::whole);
      line("c += {};", lanes_);
      close();
    }
    accumulator_ = 0;
    close();
    for (const Instr* instr : stage.sinks)
      if (instr->code == Code::reduce)
        for (int u = 1; u < unroll; ++u) {
          const std::string index =
              is_arg(instr->reduce_kind) ? accumulator(instr->results[1], u) : std::string();
          accumulate(*instr, accumulator(instr->results[0], u), index);
          reset_accumulator(*instr, u);
        }
  }

  void reset_accumulator(const Instr& instr, int number) {
    if (is_arg(instr.reduce_kind)) return;  // seen again, an extreme changes nothing
    line("{} = splat({});", accumulator(instr.results[0], number),
         identity_text(instr.reduce_kind, program_[instr.args[0]].dtype));
  }

  static std::string accumulator(ValueId id, int number) {
    return number == 0 ? fmt::format("acc{}", id) : fmt::format("acc{}_{}", id, number);
  }

  void declare_accumulators(const Instr& instr, int number) {
    const DType dtype = program_[instr.args[0]].dtype;
    line("auto {} = splat({});", accumulator(instr.results[0], number),
         identity_text(instr.reduce_kind, dtype));
    if (!is_arg(instr.reduce_kind)) return;
    // Later than any position, so that the first element that ties with the start value wins.
    line("auto {} = splat({});", accumulator(instr.results[1], number),
         identity_text(ReduceKind::min, program_[instr.args[1]].dtype));
  }

  void finish_reduction(const Instr& instr) {
    constexpr std::string_view kReduce[] = {"reduce_add", "reduce_mul", "reduce_max",
                                            "reduce_min", "reduce_max", "reduce_min"};
    const ValueId id = instr.results[0];
    const std::string_view row = rows_of(id) > 1 ? "[r]" : "";
    line("{}{} = {}(acc{});", name(id), row, kReduce[static_cast<int>(instr.reduce_kind)], id);
    if (is_arg(instr.reduce_kind))
      line("{}{} = reduce_{}(acc{}, acc{});", name(instr.results[1]), row,
           name_of(instr.reduce_kind), id, instr.results[1]);
  }

  void render_body(const Stage& stage, const std::vector<std::pair<ValueId, ValueId>>& updates,
                   Body body) {
    here_.clear();
    if (prefetch_now_ && body == Body::whole)
      for (const std::string& prefetch : prefetches_.lines) line("{}", prefetch);
    for (const Instr* instr : stage.elements) {
      const std::string value = is_transposed_load(program_, index_, *instr)
                                    ? fmt::format("load({})", array_element(instr->results[0], "c"))
                                    : element_expression(*instr, body);
      line("const auto {} = {};", name(instr->results[0]), value);
      here_[instr->results[0]] = name(instr->results[0]);
    }
    for (const Instr* instr : stage.sinks) {
      if (instr->code == Code::reduce)
        accumulate(*instr, body);
      else
        render_store(*instr, body);
    }
    for (ValueId id : stage.kept)
      if (!is_transposed_load(program_, index_, *facts_.definition.at(id)))
        line("store({}, {});", array_element(id, "c"), operand(id, body));
    std::vector<std::string> next;  // all read before the first is written
    for (const auto& [tile, value] : updates) next.push_back(operand(value, body));
    for (std::size_t i = 0; i < updates.size(); ++i)
      line("store({}, {});", array_element(updates[i].first, "c"), next[i]);
  }

  void accumulate(const Instr& instr, Body body) {
    const DType dtype = program_[instr.args[0]].dtype;
    std::string value = operand(instr.args[0], body);
    if (body == Body::partial)
      value = fmt::format("select(lanes, {}, splat({}))", value,
                          identity_text(instr.reduce_kind, dtype));
    accumulate(instr, value, is_arg(instr.reduce_kind) ? operand(instr.args[1], body) : "");
  }

  void accumulate(const Instr& instr, const std::string& value, const std::string& position) {
    const std::string acc = accumulator(instr.results[0], accumulator_);
    switch (instr.reduce_kind) {
      case ReduceKind::sum:
        return line("{} = {} + {};", acc, acc, value);
      case ReduceKind::prod:
        return line("{} = {} * {};", acc, acc, value);
      case ReduceKind::max:
        return line("{} = maximum({}, {});", acc, acc, value);
      case ReduceKind::min:
        return line("{} = minimum({}, {});", acc, acc, value);
      default:
        return line("{}_step({}, {}, {}, {});", name_of(instr.reduce_kind), acc,
                    accumulator(instr.results[1], accumulator_), value, position);
    }
  }

  // A mask as a vector: nothing where the loop's bounds or the partial body's lanes say it already.
  std::string mask_text(ValueId id, Body body) {
    if (id == kNoValue) return "";
    const auto& prefix = index_.mask(id);
    if (!prefix) return operand(id, body);
    std::string text;
    if (!prefix->col_limit.empty() && prefix->col_limit != col_limit_)
      text = fmt::format("lt(splat(i32(c)) + iota_i32(), splat(i32({})))", prefix->col_limit);
    if (!prefix->row_limit.empty() && prefix->row_limit != row_limit_) {
      const std::string rows = fmt::format("splat(bool(r < {}))", prefix->row_limit);
      text = text.empty() ? rows : fmt::format("logical_and({}, {})", text, rows);
    }
    return text;
  }

  // An index tile as data: i64, or narrower when it is cast at once.
  std::string index_text(const Affine& affine, DType dtype) const {
    const std::string_view type = compute_type(dtype);
    const std::string start = add_text(add_text(affine.base, mul_text("r", affine.row_step)),
                                       mul_text("c", affine.col_step));
    if (affine.col_step == "0") return fmt::format("splat({}({}))", type, start);
    const std::string step =
        affine.col_step == "1" ? "" : fmt::format(" * splat({}({}))", type, affine.col_step);
    return fmt::format("(splat({}({})) + iota_{}(){})", type, start, type, step);
  }

  // What stands for a value inside the loop over vectors.
  std::string operand(ValueId id, Body body) {
    if (auto it = here_.find(id); it != here_.end()) return it->second;
    if (is_scalar(id))
      return fmt::format("splat({}({}))", compute_type(program_[id].dtype), name(id));
    if (index_.affine(id)) return index_text(*index_.affine(id), DType::i64);
    if (const auto& prefix = index_.mask(id)) {
      std::string text = mask_text(id, body);
      if (body == Body::partial && !prefix->col_limit.empty() && prefix->col_limit == col_limit_)
        text = text.empty() ? "lanes" : fmt::format("logical_and({}, lanes)", text);
      return text.empty() ? "splat(true)" : text;
    }
    if (is_row(id)) return fmt::format("splat({}[r])", name(id));
    if (auto it = array_of_.find(id); it == array_of_.end()) {
      const Instr& instr = *facts_.definition.at(id);
      if (instr.code == Code::broadcast) return operand(instr.args[0], body);
    }
    line("const auto {} = load({});", name(id), array_element(id, "c"));
    here_[id] = name(id);
    return name(id);
  }

  std::string element_expression(const Instr& instr, Body body) {
    switch (instr.code) {
      case Code::pointwise:
        return pointwise_expression(instr, body);
      case Code::cast:
        if (const auto& affine = index_.affine(instr.args[0]);
            affine && program_[instr.results[0]].dtype == DType::i32 && !is_scalar(instr.args[0]))
          return index_text(*affine, DType::i32);
        return cast_text(instr, operand(instr.args[0], body));
      case Code::broadcast:
        return operand(instr.args[0], body);
      case Code::load:
        return load_expression(instr, body);
      default:
        SINTER_ASSERT(false, "not an element instruction");
        return {};
    }
  }

  std::string pointwise_expression(const Instr& instr, Body body) {
    if (instr.op == Op::where && index_.mask(instr.args[0]) && body == Body::whole &&
        mask_text(instr.args[0], body).empty())
      return operand(instr.args[1], body);
    std::vector<std::string> args;
    for (ValueId id : instr.args) args.push_back(operand(id, body));
    return expression_text(instr.op, args);
  }

  // --- memory
  // -------------------------------------------------------------------------------------

  std::string address(const Instr& instr, const Affine& offsets) const {
    const std::string offset = add_text(add_text(offsets.base, mul_text("r", offsets.row_step)),
                                        mul_text("c", offsets.col_step));
    return fmt::format("{} + ({})", buffer(instr).name, offset);
  }

  std::string load_expression(const Instr& instr, Body body) {
    const std::string mask = mask_text(instr.args[1], body);
    const std::string other =
        instr.args[2] == kNoValue
            ? fmt::format("{}(0)", compute_type(program_[instr.results[0]].dtype))
            : name(instr.args[2]);
    const auto& offsets = index_.affine(instr.args[0]);
    if (!offsets || !mask.empty()) {
      const std::string at =
          offsets ? index_text(*offsets, DType::i64) : operand(instr.args[0], body);
      std::string lanes = mask.empty() ? "splat(true)" : mask;
      if (body == Body::partial) lanes = fmt::format("logical_and({}, lanes)", lanes);
      if (offsets && offsets->col_step == "1")
        return fmt::format("load_masked({}, {}, {})", address(instr, *offsets), lanes, other);
      return fmt::format("gather_masked({}, {}, {}, {})", buffer(instr).name, at, lanes, other);
    }
    const std::string at = address(instr, *offsets);
    if (offsets->col_step == "0") return fmt::format("splat(unpack_one(*({})))", at);
    if (offsets->col_step == "1")
      return body == Body::whole ? fmt::format("load({})", at)
                                 : fmt::format("load_n({}, n, {})", at, other);
    return body == Body::whole
               ? fmt::format("load_strided({}, {})", at, offsets->col_step)
               : fmt::format("load_strided_n({}, {}, n, {})", at, offsets->col_step, other);
  }

  void render_store(const Instr& instr, Body body) {
    const std::string value = operand(instr.args[1], body);
    const std::string mask = mask_text(instr.args[2], body);
    const auto& offsets = index_.affine(instr.args[0]);
    if (!offsets || !mask.empty()) {
      std::string lanes = mask.empty() ? "splat(true)" : mask;
      if (body == Body::partial) lanes = fmt::format("logical_and({}, lanes)", lanes);
      if (offsets && offsets->col_step == "1")
        return line("store_masked({}, {}, {});", address(instr, *offsets), value, lanes);
      const std::string at =
          offsets ? index_text(*offsets, DType::i64) : operand(instr.args[0], body);
      return line("scatter_masked({}, {}, {}, {});", buffer(instr).name, at, value, lanes);
    }
    const std::string at = address(instr, *offsets);
    if (offsets->col_step == "1") {
      if (body == Body::whole)
        return line("{}({}, {});", program_.stream_stores ? "stream" : "store", at, value);
      return line("store_n({}, {}, n);", at, value);
    }
    if (body == Body::whole)
      return line("store_strided({}, {}, {});", at, value, offsets->col_step);
    return line("store_strided_n({}, {}, {}, n);", at, value, offsets->col_step);
  }

  const TileProgram& program_;
  std::vector<std::string> names_;  // by value
  IndexAnalysis index_;
  ProgramFacts facts_;
  int lanes_;
  KernelSource source_;
  std::string text_;
  int depth_ = 0;
  std::map<ValueId, std::string> array_of_;  // values that live in scratch tiles
  std::vector<std::string> arrays_;          // their declarations
  std::vector<std::pair<ValueId, std::size_t>> scratch_owners_;  // who has which bytes of scratch
  std::map<ValueId, int> last_use_;                              // stage of the outermost block
  int stage_ = 0;                                                // being rendered
  std::map<ValueId, std::string> here_;  // values the current loop body has computed
  Prefetches prefetches_;                // of the block being rendered
  bool prefetch_now_ = false;
  int accumulator_ = 0;    // which of several the current body adds to
  std::string row_limit_;  // what the current loops' bounds take care of
  std::string col_limit_;
};

}  // namespace

KernelSource render_cpu(const TileProgram& program, int vector_bytes, bool has_libmvec) {
  CpuRenderer renderer(program, vector_bytes);
  KernelSource source = renderer.run();
  std::string text = fmt::format("// {}\n#define SN_LANES {}\n", program.name, renderer.lanes());
  if (!has_libmvec) text += "#define SN_NO_LIBMVEC 1\n";
  text += headers_for(source.text);
  text += "namespace sn {\n\n" + source.text + "\n}  // namespace sn\n";
  source.text = std::move(text);
  return source;
}

}  // namespace sinter
