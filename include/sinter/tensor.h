// Tensor: an n-dimensional array on a device or, while compile() traces a function, a symbolic
// value. Tensors are values: no operation changes its inputs; views share memory. Only call_into()
// (sinter/compile.h) writes to the tensors it is given.
#pragma once

#include <sinter/dtype.h>
#include <sinter/element.h>
#include <sinter/number.h>
#include <sinter/shape.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace sinter {

class TensorImpl;

class Tensor {
 public:
  Tensor() = default;  // undefined: defined() is false

  bool defined() const { return impl_ != nullptr; }
  DType dtype() const;
  const Shape& shape() const;
  std::int64_t size(int axis) const;  // negative axes count from the end
  int rank() const { return shape().rank(); }
  std::int64_t numel() const { return shape().numel(); }
  const Strides& strides() const;  // in elements
  bool is_contiguous() const;
  std::string device() const;  // "cpu", "cuda"; while tracing, the device the function will run on

  // A view of one index of the first axis; negative indices count from the end.
  Tensor operator[](std::int64_t index) const;

  // Device address of the first element; the others are strides() apart. A GPU may still be writing
  // it: use it on the same stream (sinter/cuda.h) or after synchronize().
  const void* data() const;

  // The same elements on `device`: the tensor itself if it is already there, else a row-major copy.
  Tensor to(const std::string& device) const;

  // Copies numel() elements in row-major order to `destination`.
  void copy_to(void* destination) const;
  template <typename T>
  std::vector<T> to_vector() const;
  // The value of a one-element tensor. UserError if T cannot hold it exactly: 0.5 as an int, 2^53 +
  // 1 as a double.
  template <typename T = double>
  T item() const;

  // For internal use: the implementation behind the handle.
  explicit Tensor(std::shared_ptr<const TensorImpl> impl) : impl_(std::move(impl)) {}
  const TensorImpl* impl() const { return impl_.get(); }
  const std::shared_ptr<const TensorImpl>& shared_impl() const { return impl_; }

 private:
  void require_dtype(DType wanted) const;
  Element only_element() const;  // for item()
  [[noreturn]] void fail_item() const;

  std::shared_ptr<const TensorImpl> impl_;
};

// A tensor or a number, for operations that take either: x * 2.0, maximum(x, 0), where(m, x, 1). A
// number takes the dtype of the tensors beside it, except that a C++ float with integer tensors
// gives f32. With 16-bit floats it keeps f32 precision, which kernels compute in. An integer that
// does not fit the integer dtype is a UserError; a number beyond a float dtype's range becomes
// infinity.
class Arg {
 public:
  Arg(Tensor tensor) : tensor_(std::move(tensor)) {}  // NOLINT: meant to convert
  Arg(Number number)                                  // NOLINT: meant to convert
      : number_(std::move(number)),
        kind_(number_.kind() == NumberKind::boolean   ? Kind::boolean
              : number_.kind() == NumberKind::integer ? Kind::integer
                                                      : Kind::real) {}
  template <typename T>
  requires std::is_arithmetic_v<T> Arg(T number) : Arg(Number(number)) {}  // NOLINT: likewise

  enum class Kind : std::uint8_t { tensor, boolean, integer, real };
  Kind kind() const { return kind_; }
  const Tensor& tensor() const { return tensor_; }
  const Number& number() const { return number_; }
  // The number's value (sinter/number.h).
  double real() const { return number_.real(); }
  std::int64_t integer() const { return number_.integer(); }
  bool is_beyond_i64() const { return number_.is_beyond_i64(); }

 private:
  Tensor tensor_;
  Number number_ = 0.0;
  Kind kind_ = Kind::tensor;
};

// An empty device name means the default device (sinter/device.h).

// Copies `shape.numel()` elements in row-major order from host memory.
Tensor from_host(const void* data, const Shape& shape, DType dtype, const std::string& device = "");

namespace detail {
// UserError unless `count` is shape.numel().
Tensor from_values(const void* data, std::size_t count, const Shape& shape, DType dtype,
                   const std::string& device);
}  // namespace detail

// Values in row-major order; UserError unless there are shape.numel() of them.
template <typename T>
Tensor from_vector(const std::vector<T>& values, const Shape& shape,
                   const std::string& device = "") {
  if constexpr (std::is_same_v<T, bool>) {  // std::vector<bool> packs bits
    const std::vector<unsigned char> bytes(values.begin(), values.end());
    return detail::from_values(bytes.data(), bytes.size(), shape, DType::boolean, device);
  } else {
    return detail::from_values(values.data(), values.size(), shape, dtype_of<T>(), device);
  }
}
// A tensor over memory the caller owns, without copying: memory of `device`, host memory for "cpu".
// `owner` is kept alive with the tensor.
Tensor from_memory(void* data, const Shape& shape, const Strides& strides, DType dtype,
                   std::shared_ptr<void> owner, const std::string& device = "");

// Formatted as in PyTorch, long tensors shortened. Integers are printed exactly.
std::string to_string(const Tensor& tensor);
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

template <typename T>
T Tensor::item() const {
  const auto value = exactly<T>(only_element());
  if (!value) fail_item();
  return *value;
}

template <typename T>
std::vector<T> Tensor::to_vector() const {
  require_dtype(dtype_of<T>());
  if constexpr (std::is_same_v<T, bool>) {
    std::vector<unsigned char> bytes(static_cast<std::size_t>(numel()));
    copy_to(bytes.data());
    return {bytes.begin(), bytes.end()};
  } else {
    std::vector<T> values(static_cast<std::size_t>(numel()));
    copy_to(values.data());
    return values;
  }
}

}  // namespace sinter
