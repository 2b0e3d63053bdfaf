// The primitives on dense arrays: broadcasting, casts, pointwise operations, reductions.
// In: References. Out: a new one.
#include "tests/fuzz/reference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "src/graph/graph.h"

namespace sinter::fuzz {

std::size_t position(const Shape& shape, const Shape& index) {
  std::int64_t at = 0;
  for (int i = 0; i < shape.rank(); ++i) at = at * shape[i] + index[i];
  return static_cast<std::size_t>(at);
}

bool broadcast_shapes(const Shape& a, const Shape& b, Shape& result) {
  result = Shape::filled(std::max(a.rank(), b.rank()), 1);
  for (int i = 0; i < result.rank(); ++i) {
    const int ia = i - (result.rank() - a.rank());
    const int ib = i - (result.rank() - b.rank());
    const std::int64_t sa = ia < 0 ? 1 : a[ia];
    const std::int64_t sb = ib < 0 ? 1 : b[ib];
    if (sa != sb && sa != 1 && sb != 1) return false;
    result[i] = sa == 1 ? sb : sa;
  }
  return true;
}

Reference broadcast_to(const Reference& a, const Shape& shape) {
  if (a.shape == shape) return a;
  Reference result{a.dtype, shape, {}};
  result.elements.resize(static_cast<std::size_t>(shape.numel()));
  const int lead = shape.rank() - a.shape.rank();
  Shape source = a.shape;
  for_each_index(shape, [&](const Shape& index, std::size_t at) {
    for (int i = 0; i < source.rank(); ++i) source[i] = a.shape[i] == 1 ? 0 : index[lead + i];
    result.elements[at] = a.elements[position(a.shape, source)];
  });
  return result;
}

Reference cast_to(const Reference& a, DType dtype) {
  if (a.dtype == dtype) return a;
  Reference result{dtype, a.shape, a.elements};
  for (Bounded& element : result.elements) element = cast(element, a.dtype, dtype);
  return result;
}

Reference filled(double number, DType dtype) {
  const Scalar scalar = Scalar::of(number).as(dtype);
  return {dtype,
          {},
          {is_floating(dtype) ? Bounded::real(scalar.real) : Bounded::whole(scalar.integer)}};
}

Reference number_like(double number, const Reference& other) {
  return {other.dtype, {}, filled(number, compute_dtype(other.dtype)).elements};
}

Reference apply_op(Op op, const std::vector<Reference>& operands, Kernels kernels) {
  std::vector<DType> dtypes;
  Shape shape;
  for (const Reference& operand : operands) {
    dtypes.push_back(operand.dtype);
    const Shape before = shape;
    broadcast_shapes(before, operand.shape, shape);
  }
  const OpTypes types = op_types(op, dtypes);
  std::vector<Reference> typed;
  for (std::size_t i = 0; i < operands.size(); ++i)
    typed.push_back(broadcast_to(cast_to(operands[i], types.operands[i]), shape));
  const DType operand_dtype = types.operands[typed.size() - 1];
  const Op computed = op_on(op, operand_dtype);
  Reference result{types.result, shape, {}};
  result.elements.reserve(typed[0].elements.size());
  std::array<Bounded, 3> element;
  for (std::size_t at = 0; at < typed[0].elements.size(); ++at) {
    for (std::size_t i = 0; i < typed.size(); ++i) element[i] = typed[i].elements[at];
    result.elements.push_back(pointwise(computed, operand_dtype, types.result,
                                        std::span(element).first(typed.size()), kernels));
  }
  return result;
}

Reference reduce_axes(ReduceKind kind, const Reference& a, std::uint32_t mask, bool keepdim) {
  const DType result_dtype = reduce_dtype(kind, a.dtype);
  Shape kept = a.shape;
  for (int i = 0; i < kept.rank(); ++i)
    if (mask >> i & 1) kept[i] = 1;
  std::vector<std::vector<Bounded>> parts(static_cast<std::size_t>(kept.numel()));
  Shape target = kept;
  for_each_index(a.shape, [&](const Shape& index, std::size_t at) {
    for (int i = 0; i < kept.rank(); ++i) target[i] = (mask >> i & 1) ? 0 : index[i];
    parts[position(kept, target)].push_back(a.elements[at]);
  });
  Reference result{result_dtype, keepdim ? kept : kept_shape(a.shape, mask), {}};
  for (const std::vector<Bounded>& part : parts)
    result.elements.push_back(reduce(kind, a.dtype, result_dtype, part));
  return result;
}

Shape transposed(Shape shape) {
  std::swap(shape[shape.rank() - 1], shape[shape.rank() - 2]);
  return shape;
}

Reference transposed(const Reference& a) {
  Reference result{a.dtype, transposed(a.shape), {}};
  result.elements.reserve(a.elements.size());
  for_each_index(result.shape, [&](const Shape& index, std::size_t) {
    result.elements.push_back(a.elements[position(a.shape, transposed(index))]);
  });
  return result;
}

std::optional<MatmulSizes> matmul_sizes(const Shape& a, const Shape& b) {
  if (a.rank() == 0 || b.rank() == 0) return std::nullopt;
  MatmulSizes sizes;
  sizes.k = a.back();
  if (b[std::max(0, b.rank() - 2)] != sizes.k) return std::nullopt;
  if (a.rank() > 1) sizes.m = a[a.rank() - 2];
  if (b.rank() > 1) sizes.n = b.back();
  Shape left;
  Shape right;
  for (int i = 0; i + 2 < a.rank(); ++i) left.push_back(a[i]);
  for (int i = 0; i + 2 < b.rank(); ++i) right.push_back(b[i]);
  if (!broadcast_shapes(left, right, sizes.batch)) return std::nullopt;
  return sizes;
}

namespace {

// One product of a sum. A kernel may add it without rounding it first, so a product that overflows
// alone may be finite in the sum.
Bounded product(const Bounded& a, const Bounded& b, DType dtype) {
  const std::array<Bounded, 2> operands{a, b};
  const Bounded result = pointwise(Op::mul, dtype, dtype, operands);
  const bool overflows =
      std::isfinite(a.value) && std::isfinite(b.value) && std::isinf(result.value);
  return overflows ? Bounded::unknown() : result;
}

Shape with_matrix(Shape batch, std::int64_t rows, std::int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}

}  // namespace

Reference multiply(const Reference& given_a, const Reference& given_b) {
  const auto [batch, m, k, n] = *matmul_sizes(given_a.shape, given_b.shape);
  const DType dtype = promote(given_a.dtype, given_b.dtype);
  Reference a = cast_to(given_a, dtype);
  Reference b = cast_to(given_b, dtype);
  if (b.shape.rank() == 1) b.shape.push_back(1);
  a = broadcast_to(a, with_matrix(batch, m, k));
  b = broadcast_to(b, with_matrix(batch, k, n));
  Reference result{dtype, batch, {}};
  if (given_a.shape.rank() > 1) result.shape.push_back(m);
  if (given_b.shape.rank() > 1) result.shape.push_back(n);
  std::vector<Bounded> products(static_cast<std::size_t>(k));
  for (std::int64_t row = 0; row < batch.numel() * m; ++row)
    for (std::int64_t column = 0; column < n; ++column) {
      for (std::int64_t i = 0; i < k; ++i) {
        const std::int64_t below = (row / m * k + i) * n + column;
        products[static_cast<std::size_t>(i)] =
            product(a.elements[static_cast<std::size_t>(row * k + i)],
                    b.elements[static_cast<std::size_t>(below)], compute_dtype(dtype));
      }
      result.elements.push_back(reduce(ReduceKind::sum, compute_dtype(dtype), dtype, products));
    }
  return result;
}

Reference reference_input(const Input& input) {
  Reference result{input.dtype, input.shape, {}};
  for (double value : input_values(input))
    result.elements.push_back(is_floating(input.dtype)
                                  ? Bounded::real(value)
                                  : Bounded::whole(static_cast<std::int64_t>(value)));
  return result;
}

std::vector<Reference> reference_values(const RandomProgram& program, Kernels kernels) {
  std::vector<Reference> values;
  for (const Input& input : program.inputs) values.push_back(reference_input(input));
  for (const Step& step : program.steps) values.push_back(reference_step(step, values, kernels));
  return values;
}

}  // namespace sinter::fuzz
