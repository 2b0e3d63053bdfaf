// Independent chains of multiply-adds: enough of them to hide the FMA latency, few enough to stay
// in registers.
#include "src/cpu/peak_flops.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <vector>

#include "src/codegen/c_writer.h"

namespace sinter {
namespace {

// Runs of 2 to 7 ms: long enough for every thread to get a core.
constexpr int kRuns = 16;
constexpr int kProgramsPerThread = 16;  // for load balance if a thread is delayed
constexpr std::int64_t kRounds = 65536;

// Two FMA units with a latency of four or five cycles need 10 chains. x86 has 16 registers below
// AVX-512, two of which hold the factor and the addend; other targets have 32 and up to four units.
int chains_of(int vector_bytes) {
#if defined(__x86_64__) || defined(__i386__)
  return vector_bytes < 64 ? 12 : 24;
#else
  (void)vector_bytes;
  return 24;
#endif
}

}  // namespace

std::int64_t flops_of_round(int vector_bytes) {
  return std::int64_t{2} * chains_of(vector_bytes) * (vector_bytes / 4);
}

KernelSource peak_flops_kernel(int vector_bytes) {
  const int chains = chains_of(vector_bytes);
  KernelSource source;
  source.name = "peak_flops";
  source.entry = "sinter_peak_flops";
  CWriter code;
  code.line("typedef __INT64_TYPE__ i64;");
  code.line("typedef float V __attribute__((vector_size({})));", vector_bytes);
  code.line("struct Binding {{ void* data; i64 elements; }};");
  code.line("");
  code.line("extern \"C\" void {}(const Binding* buffers, const i64* scalars, i64 first, i64 last,",
            source.entry);
  code.open("    char*)");
  code.line("float* const values = (float*)buffers[0].data;");
  code.open("for (i64 program = first; program < last; ++program)");
  // Every chain converges to b / (1 - m) = 2 from below: no infinities, no denormals. The chains
  // start from different values unknown to the compiler, so it can neither merge nor precompute
  // them.
  code.line("const float x = values[program];");
  code.line("const V m = 0.75f - V{{}}, b = 0.5f - V{{}};");
  for (int i = 0; i < chains; ++i) code.line("V a{} = x + {}.0f / 64 - V{{}};", i, i);
  code.open("for (i64 round = 0; round < scalars[0]; ++round)");
  for (int i = 0; i < chains; ++i) code.line("a{} = a{} * m + b;", i, i);
  code.close();
  for (int i = 1; i < chains; ++i) code.line("a0 += a{};", i);
  code.line("float sum = 0;");
  code.line("for (int lane = 0; lane < {}; ++lane) sum += a0[lane];", vector_bytes / 4);
  code.line("values[program] = sum;");
  code.close();
  code.close();
  source.body = code.text();
  return source;
}

double measure_peak_flops(const CompiledKernel& kernel, int threads, int vector_bytes) {
  const std::int64_t programs = std::int64_t{threads} * kProgramsPerThread;
  std::vector<float> values(static_cast<std::size_t>(programs));
  const std::array buffers{tile::BufferBinding{values.data(), programs}};
  const std::array<std::int64_t, 1> scalars{kRounds};
  const double flops = static_cast<double>(programs * kRounds * flops_of_round(vector_bytes));
  double best = 0;
  for (int run = 0; run < kRuns; ++run) {
    std::fill(values.begin(), values.end(), 0.0F);
    const auto start = std::chrono::steady_clock::now();
    kernel.launch(buffers, scalars, programs, std::numeric_limits<double>::infinity());
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    best = std::max(best, flops / seconds.count());
  }
  return best;
}

}  // namespace sinter
