// Shared memory holds a copy of the run. Rows whose length is no multiple of a pack have at most
// two threads at one bank when each thread reads its row.
#include "src/codegen/cuda/dense_tiles.h"

#include <fmt/format.h>

#include <cmath>

#include "src/base/rounding.h"
#include "src/codegen/cuda/vectors.h"
#include "src/tile/access.h"

namespace sinter {

using tile::Code;
using tile::Instr;
using tile::kNoValue;
using tile::TileShape;
using tile::ValueId;

namespace {

// Whether a load gives zeros where its mask is off.
bool gives_zeros(const CudaValues& values, const Instr& load) {
  if (load.args[1] == kNoValue || load.args[2] == kNoValue) return true;
  const Instr& other = *values.facts.definition.at(load.args[2]);
  return other.code == Code::constant && other.integer == 0 && other.real == 0 &&
         !std::signbit(other.real);
}

}  // namespace

bool is_dense_tile(const CudaValues& values, const Instr& access) {
  const TileShape shape = values.shape(access.args[0]);
  const auto& offsets = values.index.affine(access.args[0]);
  const tile::ThreadLayout& layout = values.layout;
  const auto element = static_cast<std::int64_t>(size_of(values.buffer(access).dtype));
  if (!offsets || shape.rows == 1 || shape.cols == 1 || layout.cluster() > 1 ||
      layout.is_persistent() || layout.vector() > 1 || !layout.rows_exact(shape))
    return false;
  if (access.code == Code::load && (values.buffer(access).written || !gives_zeros(values, access)))
    return false;
  if (!offsets->col_step.is_one() || offsets->row_step.constant() != shape.cols ||
      values.index.has_atoms(offsets->base))
    return false;
  const ValueId mask = access.args[access.code == Code::load ? 1 : 2];
  if (mask != kNoValue) {
    const auto& range = values.index.mask(mask);
    if (!range || range->col_limit || range->has_first()) return false;
  }
  return shape.rows * shape.cols * element % tile::kPackBytes == 0;
}

std::int64_t dense_tile_bytes(const CudaValues& values, const Instr& access) {
  const TileShape shape = values.shape(access.args[0]);
  return shape.rows * shape.cols * static_cast<std::int64_t>(size_of(values.buffer(access).dtype));
}

struct CudaDenseTiles::Run {
  TileShape shape;
  std::int64_t elements = 0;
  std::int64_t pack = 1;  // elements in 16 bytes
  bool is_aligned = false;
  std::int64_t steps = 1;  // packs per thread
  std::string type;        // of an element in memory
  std::string at;          // offset of element `i` of the run
  std::string count;       // elements from `i` on that are in range
};

CudaDenseTiles::Run CudaDenseTiles::run_of(const Instr& access) const {
  const Affine& offsets = *values_.index.affine(access.args[0]);
  Run run;
  run.shape = values_.shape(access.args[0]);
  run.elements = run.shape.rows * run.shape.cols;
  run.pack = tile::kPackBytes / static_cast<std::int64_t>(size_of(values_.buffer(access).dtype));
  run.is_aligned = values_.divisibility.of(offsets.base) >= run.pack;
  run.steps = ceil_div(run.elements, run.pack * values_.layout.threads());
  run.type = storage_type(values_.buffer(access).dtype);
  run.at = values_.names.text(Affine{offsets.base, {}, Index(1)}, "", "i");
  const ValueId mask = access.args[access.code == Code::load ? 1 : 2];
  const bool has_limit = mask != kNoValue && values_.index.mask(mask)->row_limit;
  run.count = has_limit ? fmt::format("({}) * {} - i",
                                      values_.names.text(*values_.index.mask(mask)->row_limit),
                                      run.shape.cols)
                        : std::to_string(run.pack);
  return run;
}

// Opens a loop over a thread's packs of the run: `i` is a pack's first element.
void CudaDenseTiles::open(const Run& run) const {
  const int threads = values_.layout.threads();
  code_.open("SN_UNROLL for (int step = 0; step < {}; ++step)", run.steps);
  code_.line("const i32 i = (step * {} + thread_index()) * {};", threads, run.pack);
  if (run.elements % (run.pack * threads) != 0) code_.line("if (i >= {}) break;", run.elements);
}

std::string CudaDenseTiles::array(const Instr& access) const {
  if (access.code == Code::load) return values_.name(access.results[0]) + "_run";
  return fmt::format("{}_{}_run", values_.name(access.args[1]), values_.buffer(access).name);
}

void CudaDenseTiles::render_load(const Instr& load, const std::string& reading) const {
  const Run run = run_of(load);
  code_.line("Pack<u32, 4> {}_packs[{}];", values_.name(load.results[0]), run.steps);
  open(run);
  code_.line("{}_packs[step] = words_of(load_run<{}, {}, {}>({}, {}, {}));",
             values_.name(load.results[0]), run.pack, run.is_aligned, reading,
             values_.buffer_name(load), run.at, run.count);
  code_.close();
}

void CudaDenseTiles::render_puts(const Instr& load) const {
  declare_run(load);
  const Run run = run_of(load);
  open(run);
  code_.line("put_pack({}, i, elements_of<{}, {}>({}_packs[step]));", array(load), run.type,
             run.pack, values_.name(load.results[0]));
  code_.close();
}

void CudaDenseTiles::render_gets(const Instr& load) const {
  const ValueId id = load.results[0];
  const TileShape shape = values_.shape(id);
  const CudaVectors vectors(values_, code_);
  code_.line("{};", values_.declaration(id));
  vectors.open_vectors(shape);
  vectors.open_rows(shape);
  const std::string in = CudaVectors::all_of(vectors.inside(shape));
  code_.line("{}{}[{}] = unpack_one(get({}, row * {} + begin));",
             in.empty() ? "" : fmt::format("if ({}) ", in), values_.name(id),
             values_.vector_index(id), array(load), shape.cols);
  code_.close();
  code_.close();
}

void CudaDenseTiles::declare_run(const Instr& access) const {
  const Run run = run_of(access);
  code_.line("SN_SHARED_RUN({}, {}, {});", run.type, array(access), run.elements);
}

std::string CudaDenseTiles::put_text(const Instr& store, const std::string& value) const {
  const TileShape shape = values_.shape(store.args[0]);
  const std::string in = CudaVectors::all_of(CudaVectors(values_, code_).inside(shape));
  return fmt::format("{}put_value({}, row * {} + col, {})",
                     in.empty() ? "" : fmt::format("if ({}) ", in), array(store), shape.cols,
                     value);
}

void CudaDenseTiles::render_store(const Instr& store) const {
  const Run run = run_of(store);
  open(run);
  code_.line("store_run<{}>({}, {}, {}, get_pack<{}>({}, i));", run.is_aligned,
             values_.buffer_name(store), run.at, run.count, run.pack, array(store));
  code_.close();
}

}  // namespace sinter
