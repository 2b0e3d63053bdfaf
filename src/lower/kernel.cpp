// Verifying and printing kernels.
#include "src/lower/kernel.h"

#include <bit>

#include "src/base/check.h"

namespace sinter {
namespace {

std::string scalar_text(const KernelScalar& scalar) {
  if (scalar.dtype == DType::f64) return fmt::format("{}", std::bit_cast<double>(scalar.bits));
  return fmt::format("{}", scalar.bits);
}

void verify_library_call(const Kernel& kernel, const LibraryMatmul& call) {
  SINTER_ASSERT(kernel.buffers.size() == 3, "{} takes 3 buffers, not {}", kernel.name(),
                kernel.buffers.size());
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i)
    SINTER_ASSERT(kernel.buffers[i].written == (i == 2), "{} writes its last buffer only",
                  kernel.name());
  SINTER_ASSERT(kernel.scalars.empty(), "{} takes no scalars, not {}", kernel.name(),
                kernel.scalars.size());
  SINTER_ASSERT(kernel.grid == 1, "{} has a grid of {}", kernel.name(), kernel.grid);
  SINTER_ASSERT(call.batch > 0 && call.m > 0 && call.n > 0 && call.k > 0,
                "{} multiplies {} x ({}, {}) by ({}, {})", kernel.name(), call.batch, call.m,
                call.k, call.k, call.n);
  for (const LibraryMatrix* matrix : {&call.a, &call.b, &call.c})
    SINTER_ASSERT(matrix->line > 0 && matrix->batch >= 0, "{}: lines are {} apart, batches {}",
                  kernel.name(), matrix->line, matrix->batch);
}

}  // namespace

KernelScalar KernelScalar::of(double value) {
  return {DType::f64, std::bit_cast<std::int64_t>(value)};
}

std::vector<std::int64_t> scalar_words(const Kernel& kernel) {
  std::vector<std::int64_t> words;
  words.reserve(kernel.scalars.size());
  for (const KernelScalar& scalar : kernel.scalars) words.push_back(scalar.bits);
  return words;
}

void verify(const Kernel& kernel) {
  SINTER_ASSERT(kernel.grid >= 0, "{} has a grid of {}", kernel.name(), kernel.grid);
  const tile::TileProgram* program = tile_program(kernel.body);
  if (!program) return verify_library_call(kernel, std::get<LibraryMatmul>(kernel.body));
  SINTER_ASSERT(kernel.buffers.size() == program->buffers.size(), "{} takes {} buffers, not {}",
                kernel.name(), program->buffers.size(), kernel.buffers.size());
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i)
    SINTER_ASSERT(kernel.buffers[i].written == program->buffers[i].written,
                  "{} disagrees with its arguments about writing buffer {}", kernel.name(), i);
  SINTER_ASSERT(kernel.scalars.size() == program->scalars.size(), "{} takes {} scalars, not {}",
                kernel.name(), program->scalars.size(), kernel.scalars.size());
  for (std::size_t i = 0; i < kernel.scalars.size(); ++i)
    SINTER_ASSERT(kernel.scalars[i].dtype == program->scalars[i].dtype, "{} takes {} as {}, not {}",
                  kernel.name(), program->scalars[i].name, name_of(program->scalars[i].dtype),
                  name_of(kernel.scalars[i].dtype));
}

std::string to_string(const Kernel& kernel) {
  const tile::TileProgram* program = tile_program(kernel.body);
  std::string text =
      fmt::format("kernel {}: {}, grid {}\n", kernel.name(), to_string(kernel.config), kernel.grid);
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
    const KernelBuffer& buffer = kernel.buffers[i];
    text += fmt::format("  {} {}= %{}{}\n", buffer.written ? "out" : "in",
                        program ? program->buffers[i].name + " " : "", buffer.node,
                        buffer.offset == 0 ? "" : fmt::format(" + {}", buffer.offset));
  }
  for (std::size_t i = 0; i < kernel.scalars.size(); ++i) {
    const KernelScalar& scalar = kernel.scalars[i];
    text += fmt::format("  {} {}= {}{}\n", name_of(scalar.dtype),
                        program ? program->scalars[i].name + " " : "", scalar_text(scalar),
                        scalar.is_given() ? fmt::format(", given as %{}", scalar.number) : "");
  }
  return text;
}

}  // namespace sinter
