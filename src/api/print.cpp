// Elements of any dtype as numbers, and tensors as text.
#include <sinter/ops.h>
#include <sinter/tensor.h>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <ostream>

#include "src/api/tensor_impl.h"
#include "src/api/trace.h"
#include "src/base/check.h"

namespace sinter {
namespace {

template <typename T>
T load(const std::byte* data, std::int64_t index) {
  T value;
  std::memcpy(&value, data + index * static_cast<std::int64_t>(sizeof value), sizeof value);
  return value;
}

Element real(double value) { return {value, 0, true}; }
Element whole(std::int64_t value) { return {0, value, false}; }

}  // namespace

Element element_at(const std::byte* data, DType dtype, std::int64_t index) {
  switch (dtype) {
    case DType::f32:
      return real(static_cast<double>(load<float>(data, index)));
    case DType::f16:
      return real(static_cast<double>(static_cast<float>(load<Half>(data, index))));
    case DType::bf16:
      return real(static_cast<double>(static_cast<float>(load<BFloat16>(data, index))));
    case DType::f64:
      return real(load<double>(data, index));
    case DType::i32:
      return whole(load<std::int32_t>(data, index));
    case DType::i64:
      return whole(load<std::int64_t>(data, index));
    case DType::boolean:
      return whole(load<unsigned char>(data, index) != 0);
  }
  return {};
}

std::string to_string(const Element& element) {
  if (!element.is_real) return fmt::format("{}", element.integer);
  if (std::isnan(element.real)) return "nan";  // ignores the sign bit
  return fmt::format("{:.5g}", element.real);
}

namespace {

constexpr std::int64_t kPrintedEdge = 3;
constexpr std::int64_t kPrintedWhole = 1000;

// Prints one tensor's elements; long axes are shortened to their ends.
class Printer {
 public:
  Printer(const Tensor& tensor, const std::vector<std::byte>& data)
      : shape_(tensor.shape()),
        dtype_(tensor.dtype()),
        data_(data.data()),
        shorten_(tensor.numel() > kPrintedWhole) {}

  std::string run() {
    level(0);
    return std::move(text_);
  }

 private:
  void level(int axis) {
    if (axis == shape_.rank()) {
      const Element value = element_at(data_, dtype_, at_++);
      text_ += dtype_ != DType::boolean ? to_string(value) : value.integer ? "true" : "false";
      return;
    }
    const bool is_last = axis + 1 == shape_.rank();
    std::int64_t below = 1;
    for (int i = axis + 1; i < shape_.rank(); ++i) below *= shape_[i];
    text_ += "[";
    for (std::int64_t i = 0; i < shape_[axis]; ++i) {
      if (i) text_ += is_last ? ", " : ",\n ";
      if (shorten_ && i == kPrintedEdge && shape_[axis] > 2 * kPrintedEdge) {
        const std::int64_t skipped = shape_[axis] - 2 * kPrintedEdge;
        text_ += is_last ? "..., " : "...,\n ";
        at_ += skipped * below;
        i += skipped;
      }
      level(axis + 1);
    }
    text_ += "]";
  }

  const Shape shape_;
  const DType dtype_;
  const std::byte* data_;
  const bool shorten_;
  std::int64_t at_ = 0;
  std::string text_;
};

}  // namespace

std::string to_string(const Tensor& tensor) {
  if (!tensor.defined()) return "Tensor(undefined)";
  const std::string kind = fmt::format("{}{}", name_of(tensor.dtype()), to_string(tensor.shape()));
  if (tensor.impl()->is_traced()) return fmt::format("Tensor({}, being traced)", kind);
  if (tensor.numel() == 0) return fmt::format("Tensor([], {})", kind);
  std::vector<std::byte> data(static_cast<std::size_t>(tensor.numel()) * size_of(tensor.dtype()));
  tensor.copy_to(data.data());
  return fmt::format("Tensor({}, {})", Printer(tensor, data).run(), kind);
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  return out << to_string(tensor);
}

}  // namespace sinter
