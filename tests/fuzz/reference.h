// Reference: evaluates a RandomProgram step by step on dense arrays of Bounded elements, with code
// that shares no view, plan or kernel with the library.
// In: a program. Out: every value's dtype, shape and elements.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "src/graph/bounded.h"
#include "tests/fuzz/program.h"

namespace sinter::fuzz {

using bounded::agrees;
using bounded::Bounded;
using bounded::cast;
using bounded::Kernels;
using bounded::pointwise;
using bounded::reduce;
using bounded::rounded;
using bounded::Rounding;

struct Reference {
  DType dtype = DType::f32;
  Shape shape;
  std::vector<Bounded> elements;  // row-major
};

Reference reference_input(const Input& input);
// `values` are those before the step.
Reference reference_step(const Step& step, const std::vector<Reference>& values,
                         Kernels kernels = Kernels::host);
std::vector<Reference> reference_values(const RandomProgram& program,
                                        Kernels kernels = Kernels::host);

// --- the primitives -----------------------------------------------------------------------------

// The shape both broadcast to; false where they do not.
bool broadcast_shapes(const Shape& a, const Shape& b, Shape& result);
Reference broadcast_to(const Reference& a, const Shape& shape);
Reference cast_to(const Reference& a, DType dtype);
// `kernels` matters for operations that compute exp().
Reference apply_op(Op op, const std::vector<Reference>& operands, Kernels kernels = Kernels::host);
// A number as full() makes it, rounded to the dtype.
Reference filled(double number, DType dtype);
// A number of a program as an operand beside `other`; beside 16-bit floats it is f32.
Reference number_like(double number, const Reference& other);
// Of matrices along the last two axes; a vector is a row on the left and a column on the right.
// Products are computed in the dtype that sums them, those of 16-bit floats exactly.
Reference multiply(const Reference& a, const Reference& b);
// With the last two axes exchanged.
Shape transposed(Shape shape);
Reference transposed(const Reference& a);
// Batches of (m, k) by (k, n).
struct MatmulSizes {
  Shape batch;
  std::int64_t m = 1;
  std::int64_t k = 1;
  std::int64_t n = 1;

  // Or results, where each is a sum of nothing.
  std::int64_t products() const { return batch.numel() * m * std::max<std::int64_t>(k, 1) * n; }
};
// Nullopt if the shapes cannot be multiplied.
std::optional<MatmulSizes> matmul_sizes(const Shape& a, const Shape& b);
Reference reduce_axes(ReduceKind kind, const Reference& a, std::uint32_t mask, bool keepdim);

// Calls f(index, row-major position) for every index of the shape.
template <typename F>
void for_each_index(const Shape& shape, F&& f) {
  Shape index = Shape::filled(shape.rank(), 0);
  const std::int64_t count = shape.numel();
  for (std::int64_t i = 0; i < count; ++i) {
    f(static_cast<const Shape&>(index), static_cast<std::size_t>(i));
    for (int k = shape.rank() - 1; k >= 0 && ++index[k] == shape[k]; --k) index[k] = 0;
  }
}
std::size_t position(const Shape& shape, const Shape& index);

}  // namespace sinter::fuzz
