// The CUDA dialect. All threads of a block (or cluster) run the program together; a block of
// instructions is rendered stage by stage: scalars, rows, then a tile-program loop or a thread's
// elements of tiles. A thread block runs one program, or, when prefetching, every step-th program.
#include "src/codegen/cuda/renderer.h"

#include <algorithm>
#include <map>
#include <utility>

#include "src/base/check.h"
#include "src/codegen/c_writer.h"
#include "src/codegen/cuda/alignment.h"
#include "src/codegen/cuda/elements.h"
#include "src/codegen/cuda/prefetch.h"
#include "src/codegen/cuda/values.h"
#include "src/codegen/kernel_headers.h"
#include "src/tile/access.h"

namespace sinter {
namespace {

using tile::Code;
using tile::Instr;
using tile::kNoValue;
using tile::TileProgram;
using tile::TileShape;
using tile::ValueId;

// Whether one stage stores to a buffer that another accesses: stages then need barriers in between.
bool has_ordered_accesses(const TileProgram& program) {
  std::map<int, int> accesses;
  tile::for_each_instr(program.body, [&](const Instr& instr) {
    if (instr.code == Code::load || instr.code == Code::store) ++accesses[instr.index];
    // A store in a loop can conflict with the next iteration's accesses.
    if (instr.code == Code::loop)
      tile::for_each_instr(instr.body, [&](const Instr& inner) {
        if (inner.code == Code::store) ++accesses[inner.index];
      });
  });
  return std::any_of(accesses.begin(), accesses.end(), [&](const auto& entry) {
    return entry.second > 1 && program.buffers[entry.first].written;
  });
}

class CudaRenderer {
 public:
  explicit CudaRenderer(const CudaValues& values)
      : values_(values),
        program_(values.program),
        layout_(values.layout),
        vectors_(values, code_),
        is_ordered_(has_ordered_accesses(program_)) {}

  KernelSource run() {
    KernelSource source;
    source.entry = "sinter_" + program_.name;
    source.mapping = layout_.mapping();
    const std::size_t word_of_programs = program_.buffers.size() + program_.scalars.size();
    source.divisors = values_.divisors.scalars;
    source.words = static_cast<int>(word_of_programs + 1 + source.divisors.size());
    code_.open("SN_KERNEL({}, {})", source.entry, source.words);
    declare_parameters();
    locate_thread();
    const std::vector<Stage> stages = stages_of(program_.body, {});
    if (layout_.cluster() > 1) render_cluster_start(stages);
    code_.line("wait_for_previous_kernel();");
    if (layout_.is_persistent())
      source.fetch_bytes = render_programs(stages, word_of_programs);
    else
      render_stages(stages, true, {}, {}, nullptr);
    sync_cluster(values_, state_, code_);
    code_.close();
    source.body = code_.text();
    return source;
  }

 private:
  void declare_parameters() {
    int word = 0;
    for (const tile::BufferParam& buffer : program_.buffers)
      code_.line("{}({}, {}, {});", buffer.written ? "SN_OUTPUT" : "SN_INPUT",
                 storage_type(buffer.dtype), parameter_name(buffer.name), word++);
    for (const tile::ScalarParam& scalar : program_.scalars) {
      const std::string name = parameter_name(scalar.name);
      if (scalar.dtype == DType::f64)
        code_.line("const f64 {} = real_word(arguments.words[{}]);", name, word++);
      else
        code_.line("const idx {} = (idx)arguments.words[{}];", name, word++);
    }
    ++word;  // the number of programs
    for (int divisor : values_.divisors.scalars)
      code_.line("const u64 {} = arguments.words[{}];", values_.inverse_name(divisor), word++);
  }

  void locate_thread() {
    const int group = layout_.threads_per_row();
    code_.line("const idx {} = (idx)(block_index(){});",
               layout_.is_persistent() ? "first_program" : "program", of_cluster());
    if (layout_.cluster() > 1) code_.line("const i32 rank = cluster_rank();");
    code_.line("const i32 thread_row = {};",
               layout_.thread_rows() > 1 ? fmt::format("(u32)thread_index() / {}", group) : "0");
    code_.line("const i32 thread_col = {};", group == 1 ? "0"
                                             : layout_.thread_rows() > 1
                                                 ? fmt::format("(u32)thread_index() % {}", group)
                                                 : "thread_index()");
  }

  // Sets up the exchange barriers before announcing this block: others may send partial results as
  // soon as they know that it has started.
  void render_cluster_start(const std::vector<Stage>& stages) {
    const auto has_exchange = [&](const Stage& stage) {
      return std::any_of(stage.sinks.begin(), stage.sinks.end(), [&](const Instr* sink) {
        return sink->code == Code::reduce && values_.shape(sink->args[0]).cols > 1;
      });
    };
    const auto exchanges = std::count_if(stages.begin(), stages.end(), has_exchange);
    if (exchanges > 0) code_.line("SN_EXCHANGES(exchanges, {});", exchanges * layout_.slot_turns());
    code_.line("cluster_has_started();");
  }

  std::string of_cluster() const {
    return layout_.cluster() > 1 ? fmt::format(" / {}", layout_.cluster()) : "";
  }

  // --- persistent blocks ---

  // Returns the size of the prefetch buffers in bytes.
  int render_programs(const std::vector<Stage>& stages, std::size_t word_of_programs) {
    const CudaPrefetch prefetch(values_, stages);
    const int depth = layout_.mapping().prefetch;
    code_.line("const idx programs = (idx)arguments.words[{}];", word_of_programs);
    code_.line("const idx step = (idx)(block_count(){});", of_cluster());
    render_shared(stages, prefetch);
    const int bytes = render_fetch(prefetch);
    code_.line("SN_UNROLL for (i32 i = 0; i < {}; ++i) fetch(first_program + i * step, i);", depth);
    sync_cluster(values_, state_, code_);
    code_.line("i32 trip = 0;");
    code_.open("for (idx program = first_program; program < programs; program += step, ++trip)");
    code_.line("const i32 slot = trip % {}, turn = trip % 2;", depth);
    code_.line("wait_for_fetched<{}>();", depth - 1);
    render_stages(stages, true, {}, {}, &prefetch);
    code_.close();
    return bytes;
  }

  // Renders scalars and loads that are the same for all programs.
  void render_shared(const std::vector<Stage>& stages, const CudaPrefetch& prefetch) {
    for (const Stage& stage : stages)
      for (const Instr* instr : stage.scalars)
        if (prefetch.is_shared(*instr)) render_scalar(*instr);
    Stage loads;
    loads.elements = prefetch.shared_loads();
    render_cuda_elements(values_, state_, code_, loads, {});
    state_.first_loads = true;
  }

  // Returns the size of the prefetch buffers in bytes. Also renders the `fetch` lambda.
  int render_fetch(const CudaPrefetch& prefetch) {
    int bytes = 0;
    const auto declare = [&](const Instr& load, int slots) {
      std::string array = values_.name(load.results[0]) + "_fetched";
      const DType dtype = values_.buffer(load).dtype;
      const auto own =
          static_cast<int>(slots * layout_.block_bytes(values_.shape(load.results[0]),
                                                       static_cast<int>(size_of(dtype))));
      code_.line("SN_FETCHED({}, {}, {}, {}, {});", storage_type(dtype), vectors_.pack_width(load),
                 array, own / tile::kPackBytes, bytes);
      bytes += own;
      return array;
    };
    const Stage none;
    CudaLoads loads(values_, state_, code_, none);
    for (const Instr* load : prefetch.late_shared_loads()) {
      state_.fetched_once[load->results[0]] = declare(*load, 1);
      loads.render_fetch(*load);
    }
    for (const Instr* load : prefetch.fetched_loads())
      state_.fetched[load->results[0]] = declare(*load, layout_.mapping().prefetch);
    code_.open("const auto fetch = [&](idx program, i32 slot)");
    code_.open("if (program < programs)");
    for (const Instr* instr : prefetch.offsets()) render_scalar(*instr);
    for (const Instr* load : prefetch.fetched_loads()) loads.render_fetch(*load);
    code_.close();
    code_.line("end_of_fetch();");
    code_.close(";");
    return bytes;
  }

  // --- blocks of instructions ---

  std::vector<Stage> stages_of(const std::vector<Instr>& block,
                               const std::vector<ValueId>& yields) const {
    return schedule(program_, values_.facts, values_.index, block, yields,
                    layout_.mapping().late_loads ? Loads::stay_late : Loads::stay);
  }

  // `yields` are the next values of the block's loop-carried values.
  void render_block(const std::vector<Instr>& block, const std::vector<ValueId>& yields,
                    const std::vector<ValueId>& carried) {
    render_stages(stages_of(block, yields), false, yields, carried, nullptr);
  }

  // Skips the instructions that `prefetch` has already issued.
  void render_stages(const std::vector<Stage>& stages, bool outermost,
                     const std::vector<ValueId>& yields, const std::vector<ValueId>& carried,
                     const CudaPrefetch* prefetch) {
    for (std::size_t s = 0; s < stages.size(); ++s) {
      const Stage& stage = stages[s];
      if (is_ordered_ && (s > 0 || !outermost)) render_barrier();
      if (outermost && !prefetch && s + 1 == stages.size()) code_.line("let_next_kernel_start();");
      for (const Instr* instr : stage.scalars)
        if (!prefetch || !prefetch->is_shared(*instr)) render_scalar(*instr);
      for (const Instr* instr : stage.rows) render_row(*instr);
      if (stage.loop)
        render_loop(*stage.loop);
      else
        render_cuda_elements(values_, state_, code_, stage, tile_updates(stage, yields, carried));
    }
  }

  void render_barrier() {
    sync_cluster(values_, state_, code_);
    code_.line("{}", layout_.cluster() > 1 ? "cluster_barrier();" : "block_barrier();");
  }

  // The updates of the loop-carried tiles that the stage yields.
  std::vector<CudaTileUpdate> tile_updates(const Stage& stage, const std::vector<ValueId>& yields,
                                           const std::vector<ValueId>& carried) const {
    std::vector<CudaTileUpdate> updates;
    for (std::size_t i = 0; i < yields.size() && !stage.yields.empty(); ++i)
      if (program_[carried[i]].shape == program_[stage.yields[0]].shape && yields[i] != carried[i])
        updates.push_back({carried[i], yields[i]});
    return updates;
  }

  // --- scalars and rows ---

  // Selects one of the threads that hold the same value, to store it.
  std::string one_thread(TileShape shape) const {
    std::string text = "thread_col == 0";
    if (shape.rows == 1 && layout_.thread_rows() > 1) text += " && thread_row == 0";
    if (layout_.cluster() > 1) text += " && rank == 0";
    return text;
  }

  void render_scalar(const Instr& instr) {
    if (instr.code == Code::constant || instr.code == Code::scalar ||
        instr.code == Code::program_id || instr.code == Code::arange)
      return;
    if (instr.code == Code::store) return render_store(instr);
    const ValueId id = instr.results[0];
    code_.line("const {} {} = {};", values_.type(id), values_.name(id), values_.expression(instr));
  }

  void render_row(const Instr& instr) {
    if (instr.code != Code::store) code_.line("{};", values_.declaration(instr.results[0]));
    const TileShape shape =
        values_.shape(instr.code == Code::store ? instr.args[0] : instr.results[0]);
    vectors_.open_rows(shape);
    if (instr.code == Code::store) {
      render_store(instr);
    } else {
      std::string value = values_.expression(instr);
      if (instr.code == Code::load && !layout_.rows_exact(shape))
        value = fmt::format("row < {} ? ({}) : {}(0)", shape.rows, value,
                            values_.type(instr.results[0]));
      code_.line("{} = {};", values_.row_variable(instr.results[0]), value);
    }
    code_.close();
  }

  // Stores one element; for rows, inside a loop over them.
  void render_store(const Instr& instr) {
    const TileShape shape = values_.shape(instr.args[0]);
    std::string where = one_thread(shape);
    if (!layout_.rows_exact(shape)) where += fmt::format(" && row < {}", shape.rows);
    if (instr.args[2] != kNoValue) where += " && " + values_.operand(instr.args[2]);
    code_.line("if ({}) store_one({}, {}, {});", where, values_.buffer_name(instr),
               values_.operand(instr.args[0]), values_.operand(instr.args[1]));
  }

  // --- loops ---

  void render_loop(const Instr& loop) {
    sync_cluster(values_, state_, code_);
    const std::vector<ValueId> carried(loop.body_params.begin() + 1, loop.body_params.end());
    for (std::size_t i = 0; i < carried.size(); ++i) start(carried[i], loop.args[3 + i]);
    const std::string& i = values_.name(loop.body_params[0]);
    const auto bound = [&](std::size_t arg) { return values_.name(loop.args[arg]); };
    code_.open("for (idx {} = {}; {} < {}; {} += {})", i, bound(0), i, bound(1), i, bound(2));
    ++state_.loop_depth;
    render_block(loop.body, loop.body_yields, carried);
    update_variables(carried, loop.body_yields);
    --state_.loop_depth;
    code_.close();
    for (std::size_t k = 0; k < carried.size(); ++k)
      if (program_[carried[k]].shape.cols > 1) state_.arrays.insert(loop.results[k]);
  }

  // Initializes a loop-carried value.
  void start(ValueId carried, ValueId init) {
    if (values_.is_scalar(carried)) {
      code_.line("{} {} = {};", values_.type(carried), values_.name(carried),
                 values_.operand(init));
      return;
    }
    code_.line("{};", values_.declaration(carried));
    if (values_.is_row(carried)) {
      vectors_.open_rows(values_.shape(carried));
      code_.line("{} = {};", values_.row_variable(carried), values_.operand(init));
      code_.close();
      return;
    }
    state_.arrays.insert(carried);
    Stage copy;
    copy.yields = {init};
    render_cuda_elements(values_, state_, code_, copy, {{carried, init}});
  }

  // Updates loop-carried scalars and rows. All are read before the first is written.
  void update_variables(const std::vector<ValueId>& carried, const std::vector<ValueId>& yields) {
    for (std::size_t i = 0; i < carried.size(); ++i) {
      const ValueId id = carried[i];
      if (values_.is_scalar(id)) {
        code_.line("const {} {}_next = {};", values_.type(id), values_.name(id),
                   values_.operand(yields[i]));
      } else if (values_.is_row(id)) {
        const bool several = layout_.row_steps(values_.shape(id)) > 1;
        code_.line("{} {}_next{};", values_.type(id), values_.name(id),
                   several ? fmt::format("[{}]", layout_.row_steps(values_.shape(id))) : "");
        vectors_.open_rows(values_.shape(id));
        code_.line("{}_next{} = {};", values_.name(id), several ? "[r]" : "",
                   values_.operand(yields[i]));
        code_.close();
      }
    }
    for (ValueId id : carried) {
      if (values_.is_scalar(id)) code_.line("{} = {}_next;", values_.name(id), values_.name(id));
      if (!values_.is_row(id)) continue;
      const bool several = layout_.row_steps(values_.shape(id)) > 1;
      vectors_.open_rows(values_.shape(id));
      code_.line("{} = {}_next{};", values_.row_variable(id), values_.name(id),
                 several ? "[r]" : "");
      code_.close();
    }
  }

  const CudaValues& values_;
  const TileProgram& program_;
  const tile::ThreadLayout& layout_;
  CWriter code_;
  const CudaVectors vectors_;
  const bool is_ordered_;
  CudaState state_;
};

// Whether all float buffers are 16-bit and nothing else is written, so that functions may be less
// precise. Wider floats, integers and comparisons would expose more digits of their results.
bool has_narrow_results(const TileProgram& program) {
  if (program.separate_ops) return false;  // must not depend on the other stores
  return std::all_of(
      program.buffers.begin(), program.buffers.end(), [](const tile::BufferParam& buffer) {
        return is_floating(buffer.dtype) ? size_of(buffer.dtype) == 2 : !buffer.written;
      });
}

std::vector<std::string_view> headers(Dialect dialect) {
  const char* primitives = dialect == Dialect::simt ? "simt/primitives.h" : "cuda/primitives.cuh";
  std::vector<std::string_view> headers;
  for (const char* name :
       {"cuda/types.cuh", primitives, "cuda/math.cuh", "cuda/memory.cuh", "cuda/reduce.cuh"})
    headers.insert(headers.end(), {kernel_header(name), "\n"});
  return headers;
}

}  // namespace

KernelSource render_cuda(const TileProgram& program, Dialect dialect) {
  const CudaValues values(program);
  KernelSource source = CudaRenderer(values).run();
  source.name = program.name;
  source.alignments = buffer_alignments(values);
  source.contract = !program.separate_ops;
  source.prologue = fmt::format("// {}\n", program.name);
  if (dialect == Dialect::simt) source.prologue += "#define SN_SIMT 1\n";
  source.prologue += fmt::format(
      "#define SN_THREADS {}\n#define SN_BLOCKS_AT_ONCE {}\n#define SN_CLUSTER {}\n"
      "#define SN_WIDE_INDEX {}\n"
      "#define SN_KEEPS_RESULTS {}\n#define SN_ALIGNED true\n#define SN_NARROW_RESULTS {}\n",
      source.mapping.threads, std::max(1, source.mapping.blocks_at_once), source.mapping.cluster,
      int{source.mapping.wide_index}, int{program.caching == tile::Caching::results},
      int{has_narrow_results(program)});
  source.headers = headers(dialect);
  source.body = "namespace sn {\n\n" + reduction_declarations(program) + source.body +
                "\n}  // namespace sn\n";
  return source;
}

}  // namespace sinter
