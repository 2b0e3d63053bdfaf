// The CPU dialect. The function loops over program ids; a block of instructions is rendered stage
// by stage: scalars, rows, then a tile-program loop or loops over a tile's elements.
#include "src/codegen/cpu/renderer.h"

#include <algorithm>
#include <utility>

#include "src/base/check.h"
#include "src/codegen/analysis/limits.h"
#include "src/codegen/analysis/schedule.h"
#include "src/codegen/c_text.h"
#include "src/codegen/c_writer.h"
#include "src/codegen/cpu/elements.h"
#include "src/codegen/cpu/headers.h"
#include "src/codegen/cpu/prefetch.h"
#include "src/codegen/cpu/scratch.h"
#include "src/codegen/cpu/values.h"
#include "src/codegen/cpu/vector_body.h"

namespace sinter {
namespace {

using tile::Code;
using tile::Instr;
using tile::kNoValue;
using tile::TileProgram;
using tile::ValueId;

constexpr int kPrefetchTrips = 8;  // prefetch distance in loop iterations

// Goes before the first function: disables FMA contraction.
constexpr std::string_view kSeparateOps =
    "#define SN_SEPARATE_OPS 1\n"
    "#ifdef __clang__\n"
    "#pragma clang fp contract(off)\n"
    "#else\n"
    "#pragma GCC optimize(\"-ffp-contract=off\")\n"
    "#endif\n";

void declare_parameters(const TileProgram& program, CWriter& code) {
  for (tile::BufferId i = 0; i < program.buffers.end_id(); ++i) {
    const tile::BufferParam& param = program.buffers[i];
    const std::string_view type = storage_type(param.dtype);
    const std::string name = parameter_name(param.name);
    if (param.written)
      code.line("{}* {}const {} = ({}*)buffers[{}].data;", type,
                program.in_place ? "" : "__restrict ", name, type, i);
    else
      code.line("const {}* const {} = (const {}*)buffers[{}].data;", type, name, type, i);
  }
  for (tile::ScalarId i = 0; i < program.scalars.end_id(); ++i) {
    const tile::ScalarParam& param = program.scalars[i];
    const std::string name = parameter_name(param.name);
    if (param.dtype == DType::f64)
      code.line("const f64 {} = __builtin_bit_cast(f64, scalars[{}]);", name, i);
    else
      code.line("const i64 {} = scalars[{}];", name, i);
  }
}

class CpuRenderer {
 public:
  explicit CpuRenderer(const CpuValues& values)
      : values_(values), program_(values.program), scratch_(values) {}

  KernelSource run() {
    render_block(program_.body, {}, {}, kNoValue, "program + 1 < last ? program + 1 : program");
    KernelSource source;
    source.entry = "sinter_" + program_.name;
    source.scratch_bytes = scratch_.bytes();
    CWriter function;
    function.line("struct Binding {{ void* data; i64 elements; }};");
    function.line("");
    function.line(
        "extern \"C\" void {}(const Binding* buffers, const i64* scalars, i64 first, i64 last,",
        source.entry);
    function.open("    char* scratch)");
    declare_parameters(program_, function);
    for (const std::string& tile : scratch_.declarations()) function.line("{}", tile);
    function.open("for (i64 program = first; program < last; ++program)");
    function.append(code_);
    function.close();
    if (program_.caching == tile::Caching::nothing) function.line("stream_fence();");
    function.close();
    source.body = function.text();
    return source;
  }

 private:
  // `yields` are the next values of the block's loop-carried values; for `counter` and `next` see
  // plan_prefetches().
  void render_block(const std::vector<Instr>& block, const std::vector<ValueId>& yields,
                    const std::vector<ValueId>& carried, ValueId counter, const std::string& next) {
    const std::vector<Stage> stages =
        schedule(program_, values_.facts, values_.index, block, yields);
    const bool outermost = &block == &program_.body;
    if (outermost) scratch_.note_last_uses(stages);
    Prefetches prefetches = plan_prefetches(values_, stages, counter, next);
    for (std::size_t s = 0; s < stages.size(); ++s) {
      const Stage& stage = stages[s];
      if (outermost) scratch_.begin_stage(static_cast<int>(s));
      for (const Instr* instr : stage.scalars) render_scalar(*instr);
      if (s == 0)
        for (const std::string& declaration : prefetches.declarations)
          code_.line("{}", declaration);
      render_rows(stage.rows);
      if (stage.loop) {
        render_loop(*stage.loop);
        continue;
      }
      render_elements(values_, scratch_, code_, stage, tile_updates(stage, yields, carried),
                      prefetches.stages[static_cast<int>(s)]);
    }
  }

  // The updates of the loop-carried tiles that the stage yields.
  std::vector<TileUpdate> tile_updates(const Stage& stage, const std::vector<ValueId>& yields,
                                       const std::vector<ValueId>& carried) const {
    std::vector<TileUpdate> updates;
    for (std::size_t i = 0; i < yields.size() && !stage.yields.empty(); ++i)
      if (program_[carried[i]].shape == program_[stage.yields[0]].shape && yields[i] != carried[i])
        updates.push_back({carried[i], yields[i]});
    return updates;
  }

  // --- loops ---

  void render_loop(const Instr& loop) {
    const std::vector<ValueId> carried(loop.body_params.begin() + 1, loop.body_params.end());
    for (std::size_t i = 0; i < carried.size(); ++i) {
      const ValueId init = loop.args[3 + i];
      if (values_.is_scalar(carried[i])) {
        code_.line("{} {} = {};", values_.type(init), values_.name(carried[i]), values_.name(init));
      } else if (values_.is_row(carried[i])) {
        code_.line("{};", values_.variable(carried[i]));
        code_.line("{} {}[r] = {};", each_row(init), values_.name(carried[i]),
                   values_.scalar_operand(init));
      } else {
        scratch_.share(loop.results[i], carried[i]);
        start_tile(carried[i], init);
      }
    }
    const std::string& i = values_.name(loop.body_params[0]);
    code_.open("for (i64 {} = {}; {} < {}; {} += {})", i, values_.name(loop.args[0]), i,
               values_.name(loop.args[1]), i, values_.name(loop.args[2]));
    render_block(loop.body, loop.body_yields, carried, loop.body_params[0],
                 fmt::format("{} + {}", i, kPrefetchTrips));
    update_variables(carried, loop.body_yields);
    code_.close();
  }

  void start_tile(ValueId tile, ValueId init) {
    if (values_.rows(init) > 1) code_.open("{}", each_row(init));
    code_.open("for (i64 c = 0; c < {}; c += {})", values_.cols(init), values_.lanes);
    const RangeMask no_limits;
    VectorBody body(values_, scratch_, code_, no_limits, Lanes::all);
    const std::string value = body.operand(init);
    code_.line("store({}, {});", scratch_.address(tile), value);
    code_.close();
    if (values_.rows(init) > 1) code_.close();
  }

  std::string each_row(ValueId id) const {
    return fmt::format("for (i64 r = 0; r < {}; ++r)", values_.rows(id));
  }

  // Updates loop-carried scalars and rows. All are read before the first is written.
  void update_variables(const std::vector<ValueId>& carried, const std::vector<ValueId>& yields) {
    for (std::size_t i = 0; i < carried.size(); ++i) {
      const std::string& name = values_.name(carried[i]);
      const std::string_view type = values_.type(carried[i]);
      if (values_.is_scalar(carried[i])) {
        code_.line("const {} {}_next = {};", type, name, values_.name(yields[i]));
      } else if (values_.is_row(carried[i])) {
        code_.line("{} {}_next[{}];", type, name, values_.rows(carried[i]));
        code_.line("{} {}_next[r] = {};", each_row(carried[i]), name,
                   values_.scalar_operand(yields[i]));
      }
    }
    for (ValueId id : carried) {
      const std::string& name = values_.name(id);
      if (values_.is_scalar(id)) code_.line("{} = {}_next;", name, name);
      if (values_.is_row(id)) code_.line("{} {}[r] = {}_next[r];", each_row(id), name, name);
    }
  }

  // --- scalars and rows ---

  void render_scalar(const Instr& instr) {
    if (instr.code == Code::constant || instr.code == Code::scalar ||
        instr.code == Code::program_id || instr.code == Code::arange)
      return;
    if (instr.code == Code::store) return render_store(instr, {});
    code_.line("const {} = {};", values_.variable(instr.results[0]),
               values_.scalar_expression(instr));
  }

  std::int64_t rows_of(const Instr& instr) const {
    return values_.rows(instr.code == Code::store ? instr.args[0] : instr.results[0]);
  }

  // One loop per run of instructions with the same number of rows.
  void render_rows(const std::vector<const Instr*>& instrs) {
    for (auto begin = instrs.begin(); begin != instrs.end();) {
      const std::int64_t rows = rows_of(**begin);
      const auto end = std::find_if(begin, instrs.end(),
                                    [&](const Instr* instr) { return rows_of(*instr) != rows; });
      render_rows({begin, end}, rows);
      begin = end;
    }
  }

  void render_rows(const std::vector<const Instr*>& instrs, std::int64_t rows) {
    for (const Instr* instr : instrs)
      if (instr->code != Code::store) code_.line("{};", values_.variable(instr->results[0]));
    const RangeMask limits = row_loop_limits(values_, instrs);
    code_.open();
    code_.line("const i64 rows = {};", values_.bound(limits.row_limit, rows));
    code_.open("for (i64 r = 0; r < rows; ++r)");
    for (const Instr* instr : instrs) {
      if (instr->code == Code::store)
        render_store(*instr, limits);
      else
        code_.line("{}[r] = {};", values_.name(instr->results[0]),
                   values_.scalar_expression(*instr));
    }
    code_.close();
    code_.close();
  }

  // Stores one element; `limits` are enforced by the enclosing loop.
  void render_store(const Instr& instr, const RangeMask& limits) {
    const std::string store =
        fmt::format("store_one({} + {}, {});", values_.buffer_name(instr),
                    values_.scalar_operand(instr.args[0]), values_.scalar_operand(instr.args[1]));
    const ValueId guard = instr.args[2];
    const auto* mask =
        guard != kNoValue && values_.index.mask(guard) ? &*values_.index.mask(guard) : nullptr;
    if (guard == kNoValue || (mask && beside(limits, *mask).is_unlimited()))
      code_.line("{}", store);
    else
      code_.line("if ({}) {}", values_.scalar_operand(guard), store);
  }

  const CpuValues& values_;
  const TileProgram& program_;
  ScratchTiles scratch_;
  CWriter code_{2};
};

}  // namespace

KernelSource render_cpu(const TileProgram& program, int vector_bytes, bool has_libmvec) {
  const CpuValues values(program, vector_bytes);
  KernelSource source = CpuRenderer(values).run();
  source.name = program.name;
  source.prologue = fmt::format("// {}\n#define SN_LANES {}\n", program.name, values.lanes);
  if (!has_libmvec) source.prologue += "#define SN_NO_LIBMVEC 1\n";
  if (program.separate_ops) source.prologue += kSeparateOps;
  source.contract = !program.separate_ops;
  source.body = "namespace sn {\n\n" + reduction_declarations(program) + source.body +
                "\n}  // namespace sn\n";
  source.headers = headers_for(source.body);
  return source;
}

}  // namespace sinter
