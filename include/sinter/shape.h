// Shape: up to kMaxRank sizes (or strides, or axes), stored inline so that a warm call does not
// allocate.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <type_traits>

namespace sinter {

inline constexpr int kMaxRank = 8;

class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const std::int64_t> dims);  // UserError beyond kMaxRank
  // From a std::vector, std::array or any other contiguous range of std::int64_t.
  template <typename Range>
  requires(!std::is_same_v<Range, Shape> &&
           std::is_convertible_v<const Range&, std::span<const std::int64_t>>)
      Shape(const Range& dims)  // NOLINT: meant to convert
      : Shape(std::span<const std::int64_t>(dims)) {}
  static Shape filled(int rank, std::int64_t value);

  int rank() const { return rank_; }
  bool empty() const { return rank_ == 0; }
  std::int64_t& operator[](int i) { return dims_[static_cast<std::size_t>(i)]; }
  std::int64_t operator[](int i) const { return dims_[static_cast<std::size_t>(i)]; }
  std::int64_t back() const { return dims_[static_cast<std::size_t>(rank_ - 1)]; }
  std::int64_t numel() const {
    std::int64_t product = 1;
    for (int i = 0; i < rank_; ++i) product *= (*this)[i];
    return product;
  }

  const std::int64_t* begin() const { return dims_.data(); }
  const std::int64_t* end() const { return dims_.data() + rank_; }

  void push_back(std::int64_t dim) {
    if (rank_ == kMaxRank) fail_rank();
    (*this)[rank_++] = dim;
  }
  void insert(int position, std::int64_t dim);
  void erase(int position);

  friend bool operator==(const Shape& a, const Shape& b) {
    if (a.rank_ != b.rank_) return false;
    for (int i = 0; i < a.rank_; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }

 private:
  [[noreturn]] static void fail_rank();

  std::array<std::int64_t, kMaxRank> dims_{};
  int rank_ = 0;
};

using Strides = Shape;

std::string to_string(const Shape& shape);  // "(4, 8)"
std::ostream& operator<<(std::ostream& out, const Shape& shape);

}  // namespace sinter
