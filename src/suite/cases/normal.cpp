// A hash of the index interpolates between two quantiles of the normal distribution; the quantile
// table fits in the L1 cache.
#include "src/suite/cases/normal.h"

#include <array>
#include <cmath>
#include <numbers>

namespace sinter::suite {
namespace {

constexpr int kBits = 11;
constexpr std::size_t kIntervals = std::size_t{1} << kBits;

// The quantile function, by Newton's method.
double quantile(double p) {
  if (p > 0.5) return -quantile(1 - p);
  double x = -std::sqrt(-2 * std::log(p)) / 1.3;
  for (int i = 0; i < 30; ++i) {
    const double below = 0.5 * std::erfc(-x / std::numbers::sqrt2);
    const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
    const double step = (below - p) / density;
    x -= std::fmin(std::fmax(step, -0.5), 0.5);
    if (std::fabs(step) < 1e-12) break;
  }
  return x;
}

using Table = std::array<float, kIntervals + 1>;

// The outermost two would be infinite; they are set to the quantile of one in 2^17.
Table make_table() {
  Table table{};
  for (std::size_t i = 1; i < kIntervals; ++i)
    table[i] = static_cast<float>(quantile(static_cast<double>(i) / kIntervals));
  table[0] = static_cast<float>(quantile(std::ldexp(1.0, -17)));
  table[kIntervals] = -table[0];
  return table;
}

std::uint64_t mix(std::uint64_t x) {  // splitmix64's finalizer
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

float pick(const Table& table, std::uint32_t bits) {
  const std::uint32_t interval = bits >> (32 - kBits);
  const float place = static_cast<float>(bits << kBits >> 8) * 0x1p-24f;
  return table[interval] + place * (table[interval + 1] - table[interval]);
}

}  // namespace

std::uint64_t seed_of(std::string_view text) {  // FNV-1a
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return mix(hash);
}

void fill_normal(std::uint64_t seed, std::int64_t first, std::span<float> values) {
  static const Table table = make_table();
  const auto start = static_cast<std::uint64_t>(first);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t index = start + i;
    const std::uint64_t hash = mix(seed + (index >> 1) * 0x9e3779b97f4a7c15ULL);
    values[i] = pick(table, static_cast<std::uint32_t>(index & 1 ? hash >> 32 : hash));
  }
}

}  // namespace sinter::suite
