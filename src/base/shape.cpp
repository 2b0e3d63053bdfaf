// Shape's constructors, comparison and printing.
#include <sinter/shape.h>

#include <ostream>

#include "src/base/check.h"

namespace sinter {

Shape::Shape(std::span<const std::int64_t> dims) {
  for (std::int64_t dim : dims) push_back(dim);
}

Shape Shape::filled(int rank, std::int64_t value) {
  Shape shape;
  for (int i = 0; i < rank; ++i) shape.push_back(value);
  return shape;
}

void Shape::fail_rank() { fail_user("shape", "tensors have at most {} dimensions", kMaxRank); }

void Shape::insert(int position, std::int64_t dim) {
  if (rank_ == kMaxRank) fail_rank();
  for (int i = rank_; i > position; --i) (*this)[i] = (*this)[i - 1];
  (*this)[position] = dim;
  ++rank_;
}

void Shape::erase(int position) {
  for (int i = position; i + 1 < rank_; ++i) (*this)[i] = (*this)[i + 1];
  --rank_;
}

std::string to_string(const Shape& shape) {
  std::string text = "(";
  for (int i = 0; i < shape.rank(); ++i) text += fmt::format("{}{}", i ? ", " : "", shape[i]);
  return text + ")";
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << to_string(shape); }

}  // namespace sinter
