// The operations. On tensors they run eagerly; inside compile(), on traced arguments, they are
// recorded. Negative axes count from the end.
#pragma once

#include <sinter/tensor.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sinter {

// Every row of ops.def: add(a, b), exp(a), where(condition, a, b), ... Shapes broadcast.
#define SINTER_POINTWISE_ARGS_1 const Arg& a
#define SINTER_POINTWISE_ARGS_2 const Arg &a, const Arg &b
#define SINTER_POINTWISE_ARGS_3 const Arg &a, const Arg &b, const Arg &c
#define SINTER_POINTWISE(name, arity, rule, cost, expression) \
  Tensor name(SINTER_POINTWISE_ARGS_##arity);
#include <sinter/ops.def>
#undef SINTER_POINTWISE
#undef SINTER_POINTWISE_ARGS_1
#undef SINTER_POINTWISE_ARGS_2
#undef SINTER_POINTWISE_ARGS_3

Tensor cast(const Arg& a, DType dtype);

enum class GeluForm : std::uint8_t { erf, tanh };
Tensor gelu(const Arg& a, GeluForm form = GeluForm::erf);

// At least one operand must be a Tensor for these to be found.
inline Tensor operator+(const Arg& a, const Arg& b) { return add(a, b); }
inline Tensor operator-(const Arg& a, const Arg& b) { return sub(a, b); }
inline Tensor operator*(const Arg& a, const Arg& b) { return mul(a, b); }
inline Tensor operator/(const Arg& a, const Arg& b) { return div(a, b); }
inline Tensor operator%(const Arg& a, const Arg& b) { return remainder(a, b); }
inline Tensor operator-(const Tensor& a) { return neg(a); }
inline Tensor operator<(const Arg& a, const Arg& b) { return lt(a, b); }
inline Tensor operator<=(const Arg& a, const Arg& b) { return le(a, b); }
inline Tensor operator>(const Arg& a, const Arg& b) { return gt(a, b); }
inline Tensor operator>=(const Arg& a, const Arg& b) { return ge(a, b); }
inline Tensor operator==(const Arg& a, const Arg& b) { return eq(a, b); }
inline Tensor operator!=(const Arg& a, const Arg& b) { return ne(a, b); }
inline Tensor operator&&(const Arg& a, const Arg& b) { return logical_and(a, b); }
inline Tensor operator||(const Arg& a, const Arg& b) { return logical_or(a, b); }
inline Tensor operator!(const Tensor& a) { return logical_not(a); }

// Rebinds the handle to the result; other handles keep the old tensor.
inline Tensor& operator+=(Tensor& a, const Arg& b) { return a = add(a, b); }
inline Tensor& operator-=(Tensor& a, const Arg& b) { return a = sub(a, b); }
inline Tensor& operator*=(Tensor& a, const Arg& b) { return a = mul(a, b); }
inline Tensor& operator/=(Tensor& a, const Arg& b) { return a = div(a, b); }

// Axes to reduce or flip; empty means all.
class Axes {
 public:
  Axes() = default;
  Axes(int axis) : axes_{axis} {}                          // NOLINT: meant to convert
  Axes(std::initializer_list<int> axes) : axes_(axes) {}   // NOLINT: meant to convert
  Axes(std::vector<int> axes) : axes_(std::move(axes)) {}  // NOLINT: meant to convert
  const std::vector<int>& list() const { return axes_; }

 private:
  std::vector<int> axes_;
};

// --- making tensors ---------------------------------------------------------------------------

// On `device`, or on the default device; while tracing, on the device the function runs on. A value
// that an integer dtype cannot hold exactly is a UserError.
Tensor full(const Shape& shape, const Arg& value, DType dtype = DType::f32,
            const std::string& device = "");
Tensor zeros(const Shape& shape, DType dtype = DType::f32, const std::string& device = "");
Tensor ones(const Shape& shape, DType dtype = DType::f32, const std::string& device = "");
// With a's shape and device, and a's dtype unless one is given.
Tensor full_like(const Tensor& a, const Arg& value, std::optional<DType> dtype = std::nullopt);
Tensor zeros_like(const Tensor& a, std::optional<DType> dtype = std::nullopt);
Tensor ones_like(const Tensor& a, std::optional<DType> dtype = std::nullopt);
// start, start + step, ... before stop. i64 if all three are integers, else f32.
Tensor arange(const Arg& start, const Arg& stop, const Arg& step = 1,
              std::optional<DType> dtype = std::nullopt, const std::string& device = "");

// --- views: nothing is copied, unless reshape() has to -------------------------------------------

Tensor reshape(const Tensor& a, const Shape& shape);  // one size may be -1
Tensor flatten(const Tensor& a);
Tensor permute(const Tensor& a, const Shape& axes);
Tensor transpose(const Tensor& a, int axis1, int axis2);
// Python's a[start:stop:step]: bounds may be negative or past the end, std::nullopt is an omitted
// bound. A negative step reverses; outside compile() that copies, because tensors in memory never
// have negative strides.
Tensor slice(const Tensor& a, int axis, std::optional<std::int64_t> start,
             std::optional<std::int64_t> stop, std::int64_t step = 1);
Tensor flip(const Tensor& a, const Axes& axes = {});  // reverses the elements along the axes
// Adds `before` and `after` elements of `value` at the two ends of an axis; negative counts remove
// elements. Inside compile() this is a view: nothing is copied.
Tensor pad(const Tensor& a, int axis, std::int64_t before, std::int64_t after,
           const Arg& value = 0);
std::vector<Tensor> chunk(const Tensor& a, std::int64_t chunks, int axis = 0);
std::vector<Tensor> split(const Tensor& a, const std::vector<std::int64_t>& sizes, int axis = 0);
Tensor squeeze(const Tensor& a);  // removes all axes of size 1
Tensor squeeze(const Tensor& a, int axis);
Tensor unsqueeze(const Tensor& a, int axis);
Tensor expand(const Tensor& a, const Shape& shape);  // -1 keeps a size
Tensor broadcast_to(const Tensor& a, const Shape& shape);
std::vector<Tensor> broadcast(const std::vector<Tensor>& tensors);  // to the common shape

Tensor contiguous(const Tensor& a);  // row-major; copies only if needed
Tensor concat(const std::vector<Tensor>& tensors, int axis = 0);
Tensor stack(const std::vector<Tensor>& tensors, int axis = 0);

// --- matrix products ----------------------------------------------------------------------------

// Rows of a times columns of b, summed along a's last axis: (.., m, k) and (.., k, n) give
// (.., m, n). Axes before the last two are batches, which broadcast. A tensor of one axis is a row
// on the left and a column on the right; the result lacks that axis. Floating-point tensors only;
// products of 16-bit floats are summed in f32.
Tensor matmul(const Tensor& a, const Tensor& b);

// --- reductions -------------------------------------------------------------------------------

// Every row of reductions.def: sum, prod, max, min over some axes (none: all of them); argmax and
// argmin give the first position of the extreme along one axis (none: in the flattened tensor),
// i64.
#define SINTER_REDUCTION_ARGS_Value const Axes &axes = {}, bool keepdim = false
#define SINTER_REDUCTION_ARGS_Position std::optional<int> axis = std::nullopt, bool keepdim = false
#define SINTER_REDUCTION(name, identity, combine, dtype, finish) \
  Tensor name(const Tensor& a, SINTER_REDUCTION_ARGS_##finish);
#include <sinter/reductions.def>
#undef SINTER_REDUCTION
#undef SINTER_REDUCTION_ARGS_Value
#undef SINTER_REDUCTION_ARGS_Position

Tensor mean(const Tensor& a, const Axes& axes = {}, bool keepdim = false);
Tensor any(const Tensor& a, const Axes& axes = {}, bool keepdim = false);
Tensor all(const Tensor& a, const Axes& axes = {}, bool keepdim = false);
// Divides by count - correction.
Tensor var(const Tensor& a, const Axes& axes = {}, bool keepdim = false, int correction = 1);
Tensor std(const Tensor& a, const Axes& axes = {}, bool keepdim = false, int correction = 1);
Tensor logsumexp(const Tensor& a, const Axes& axes = {}, bool keepdim = false);

// --- composites -------------------------------------------------------------------------------

Tensor softmax(const Tensor& a, int axis = -1);
Tensor log_softmax(const Tensor& a, int axis = -1);
// Over the last weight.rank() axes; without weight and bias, over the last axis.
Tensor layer_norm(const Tensor& a, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);
Tensor rms_norm(const Tensor& a, const Tensor& weight = {}, double eps = 1e-6);

}  // namespace sinter
