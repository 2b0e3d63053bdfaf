// Buffers are filled with 0xff (a NaN in every float type) first, so that a kernel that writes
// nothing fails.
#include "src/tune/result_check.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "src/base/check.h"

namespace sinter {
namespace {

constexpr std::int64_t kPieceBytes = 4 << 20;

template <typename T>
double element(std::span<const std::byte> bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return static_cast<double>(value);
}

double value_at(std::span<const std::byte> bytes, DType dtype, std::size_t index) {
  std::uint16_t bits = 0;
  if (dtype == DType::f64) return element<double>(bytes, index);
  if (dtype == DType::f32) return element<float>(bytes, index);
  std::memcpy(&bits, bytes.data() + index * sizeof(bits), sizeof(bits));
  return dtype == DType::f16 ? f16_to_f32(bits) : bf16_to_f32(bits);
}

// Two ulps for 16-bit types; for the others, the rounding differences of sums of thousands of
// elements.
double tolerance_of(DType dtype) {
  if (dtype == DType::f16) return 0x1p-9;
  if (dtype == DType::bf16) return 0x1p-6;
  return dtype == DType::f32 ? 1e-4 : 1e-10;
}

bool is_near(double a, double b, double bound) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::abs(a - b) <= bound;  // infinities equal only themselves
}

}  // namespace

bool nearly_equal(std::span<const std::byte> a, std::span<const std::byte> b, DType dtype) {
  if (a.size() != b.size()) return false;
  if (std::equal(a.begin(), a.end(), b.begin())) return true;
  if (!is_floating(dtype)) return false;
  const std::size_t count = a.size() / size_of(dtype);
  double squares = 0;
  std::size_t finite = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (const double value = value_at(b, dtype, i); std::isfinite(value)) {
      squares += value * value;
      ++finite;
    }
  const double rms = finite ? std::sqrt(squares / static_cast<double>(finite)) : 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double expected = value_at(b, dtype, i);
    const double bound = tolerance_of(dtype) * (std::abs(expected) + rms);
    if (!is_near(value_at(a, dtype, i), expected, std::isfinite(bound) ? bound : 0)) return false;
  }
  return true;
}

ResultCheck::ResultCheck(Device& device, std::span<const WrittenBuffer> written, bool same_bits)
    : device_(device), same_bits_(same_bits) {
  for (const WrittenBuffer& each : written) add_pieces(each);
  for (Piece& piece : pieces_) {
    piece.original.resize(piece.reference.size());
    device_.copy_to_host(piece.original.data(), piece.at, piece.original.size());
  }
}

void ResultCheck::add_pieces(const WrittenBuffer& written) {
  const auto element = static_cast<std::int64_t>(size_of(written.dtype));
  const std::int64_t all = written.binding.elements * element;
  if (all <= 0) return;
  const std::int64_t bytes = std::min(all, kPieceBytes);
  auto* base = static_cast<std::byte*>(written.binding.data);
  std::vector<std::int64_t> starts{0};
  if (all > bytes) starts.push_back((all - bytes) / 2 / element * element);
  if (all > bytes) starts.push_back(all - bytes);
  for (std::int64_t start : starts)
    pieces_.push_back({base + start, written.dtype, {}, Bytes(static_cast<std::size_t>(bytes))});
}

void ResultCheck::spoil() {
  Bytes nonsense;
  for (const Piece& piece : pieces_) {
    nonsense.resize(std::max(nonsense.size(), piece.reference.size()), std::byte{0xff});
    device_.copy_from_host(piece.at, nonsense.data(), piece.reference.size());
  }
}

ResultCheck::Bytes ResultCheck::read(const Piece& piece) {
  Bytes bytes(piece.reference.size());
  device_.copy_to_host(bytes.data(), piece.at, bytes.size());
  return bytes;
}

void ResultCheck::set_reference(const std::function<void()>& run) {
  spoil();
  run();
  for (Piece& piece : pieces_) piece.reference = read(piece);
}

bool ResultCheck::is_right(const std::function<void()>& run) {
  spoil();
  run();
  for (const Piece& piece : pieces_) {
    const Bytes got = read(piece);
    if (same_bits_ ? got != piece.reference : !nearly_equal(got, piece.reference, piece.dtype))
      return false;
  }
  return true;
}

void ResultCheck::restore() {
  for (const Piece& piece : pieces_)
    device_.copy_from_host(piece.at, piece.original.data(), piece.original.size());
}

}  // namespace sinter
