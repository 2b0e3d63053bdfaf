// DLPack without copying: from_dlpack() wraps the other library's memory, to_dlpack() lends ours.
// In: a DLManagedTensor or a Tensor. Out: the other one, or a UserError that leaves the argument
// with the caller.
#include "src/api/dlpack.h"

#include <sinter/io.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <span>
#include <string>

#include "src/api/tensor_impl.h"
#include "src/base/check.h"
#include "src/base/view.h"
#include "src/cuda/cuda_device.h"

namespace sinter {
namespace {

constexpr std::int64_t kMaxExtent = std::int64_t{1} << 56;  // elements; their bytes fit an int64_t

struct DlpackType {
  std::uint8_t code;
  std::uint8_t bits;
  DType dtype;
};
constexpr DlpackType kTypes[] = {{kDlpackFloat, 32, DType::f32},   {kDlpackFloat, 16, DType::f16},
                                 {kDlpackBfloat, 16, DType::bf16}, {kDlpackFloat, 64, DType::f64},
                                 {kDlpackInt, 32, DType::i32},     {kDlpackInt, 64, DType::i64},
                                 {kDlpackBool, 8, DType::boolean}};

template <typename... Args>
[[noreturn]] void fail_import(fmt::format_string<Args...> format, Args&&... args) {
  fail_user("from_dlpack", format, std::forward<Args>(args)...);
}

std::string describe(const DLDataType& type) {
  constexpr const char* kNames[] = {"int", "uint", "float", nullptr, "bfloat", "complex", "bool"};
  const bool named = type.code < std::size(kNames) && kNames[type.code];
  const std::string text = named ? fmt::format("{}{}", kNames[type.code], type.bits)
                                 : fmt::format("code {}, {} bits", type.code, type.bits);
  return type.lanes == 1 ? text : fmt::format("{} of {} lanes", text, type.lanes);
}

// The Sinter device that owns the memory.
std::string checked_device(const DLDevice& device) {
  if (device.device_type == kDlpackCpu || device.device_type == kDlpackCudaHost) return "cpu";
  if (device.device_type == kDlpackCuda) return fmt::format("cuda:{}", device.device_id);
  fail_import(
      "the tensor is on a device of type {}, expected {} (CPU) or {} (CUDA); copy it there "
      "first",
      device.device_type, kDlpackCpu, kDlpackCuda);
}

DLDevice dlpack_device(const Device& device) {
  if (const auto* cuda = dynamic_cast<const CudaDevice*>(&device))
    return {kDlpackCuda, cuda->ordinal()};
  return {kDlpackCpu, 0};
}

DType checked_dtype(const DLDataType& type) {
  for (const DlpackType& known : kTypes)
    if (type.code == known.code && type.bits == known.bits && type.lanes == 1) return known.dtype;
  fail_import(
      "there is no Sinter type for {}; it takes float16, float32, float64, bfloat16, int32, int64 "
      "and bool8",
      describe(type));
}

Shape checked_shape(const DLTensor& tensor) {
  if (tensor.ndim < 0 || tensor.ndim > kMaxRank)
    fail_import("the tensor has {} dimensions, expected 0 to {}", tensor.ndim, kMaxRank);
  if (tensor.ndim > 0 && !tensor.shape) fail_import("the shape pointer is null");
  const Shape shape(std::span(tensor.shape, static_cast<std::size_t>(tensor.ndim)));
  std::int64_t product = 1;  // without zeros: strides are products of the other sizes
  for (std::int64_t size : shape) {
    if (size < 0) fail_import("sizes cannot be negative: {}", to_string(shape));
    if (__builtin_mul_overflow(product, std::max<std::int64_t>(size, 1), &product) ||
        product > kMaxExtent)
      fail_import("{} has too many elements", to_string(shape));
  }
  return shape;
}

Strides checked_strides(const DLTensor& tensor, const Shape& shape) {
  // Strides of an empty tensor may be anything.
  if (!tensor.strides || shape.numel() == 0) return row_major(shape);
  Strides strides(std::span(tensor.strides, static_cast<std::size_t>(tensor.ndim)));
  std::int64_t last = 0;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] == 1) {
      strides[i] = std::max<std::int64_t>(strides[i], 0);  // never used
      continue;
    }
    if (strides[i] < 0)
      fail_import("strides cannot be negative: {}; make the tensor contiguous first",
                  to_string(strides));
    std::int64_t span = 0;
    if (__builtin_mul_overflow(shape[i] - 1, strides[i], &span) ||
        __builtin_add_overflow(last, span, &last) || last > kMaxExtent)
      fail_import("{} with strides {} reaches too far", to_string(shape), to_string(strides));
  }
  return strides;
}

void* checked_data(const DLTensor& tensor, const View& view, DType dtype) {
  if (view.shape.numel() == 0) return nullptr;
  if (!tensor.data) fail_import("the data pointer is null");
  // Integers, not pointers: an offset outside the address space must not wrap around.
  const auto bytes = static_cast<std::uint64_t>(extent(view).last + 1) * size_of(dtype);
  std::uint64_t first = reinterpret_cast<std::uintptr_t>(tensor.data);
  std::uint64_t end = 0;
  if (__builtin_add_overflow(first, tensor.byte_offset, &first) ||
      __builtin_add_overflow(first, bytes, &end))
    fail_import("the byte offset {} leaves the address space", tensor.byte_offset);
  if (first % size_of(dtype) != 0)
    fail_import("the data is not aligned to its {} elements; copy the tensor first",
                name_of(dtype));
  return static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
}

// Calls the managed tensor's deleter when the last tensor using the memory is gone.
class DlpackOwner {
 public:
  DlpackOwner() = default;
  ~DlpackOwner() {
    if (managed_ && managed_->deleter) managed_->deleter(managed_);
  }
  DlpackOwner(const DlpackOwner&) = delete;
  DlpackOwner& operator=(const DlpackOwner&) = delete;

  void take(DLManagedTensor* managed) { managed_ = managed; }

 private:
  DLManagedTensor* managed_ = nullptr;
};

// An exported tensor, with the arrays its DLTensor points to.
struct Export {
  DLManagedTensor managed{};
  Shape shape;
  Strides strides;
  Tensor tensor;  // keeps the memory alive
};

DLDataType dlpack_type(DType dtype) {
  for (const DlpackType& known : kTypes)
    if (known.dtype == dtype) return {known.code, known.bits, 1};
  SINTER_ASSERT(false, "{} has no DLPack type", name_of(dtype));
}

}  // namespace

Tensor from_dlpack(DLManagedTensor* managed) {
  if (!managed) fail_import("the tensor is null");
  const DLTensor& tensor = managed->dl_tensor;
  const std::string device = checked_device(tensor.device);
  const DType dtype = checked_dtype(tensor.dtype);
  const Shape shape = checked_shape(tensor);
  const Strides strides = checked_strides(tensor, shape);
  void* data = checked_data(tensor, {shape, strides, 0}, dtype);
  // Takes ownership last: if anything throws before, the caller keeps it.
  const auto owner = std::make_shared<DlpackOwner>();
  Tensor result = from_memory(data, shape, strides, dtype, owner, device);
  owner->take(managed);
  return result;
}

DLManagedTensor* to_dlpack(const Tensor& tensor) {
  const TensorImpl& impl = checked("to_dlpack", tensor);
  if (impl.is_traced())
    fail_user("to_dlpack", "values are not known while a function is being traced by compile()");
  impl.device->synchronize();  // the consumer does not know our streams
  auto exported = std::make_unique<Export>();
  exported->shape = tensor.shape();
  exported->strides = tensor.strides();
  exported->tensor = tensor;
  DLTensor& out = exported->managed.dl_tensor;
  // The standard requires null for empty tensors. The offset is applied to the pointer, since
  // several libraries ignore byte_offset.
  out.data = tensor.numel() == 0 ? nullptr : impl.data();
  out.device = dlpack_device(*impl.device);
  out.ndim = tensor.rank();
  out.dtype = dlpack_type(impl.dtype);
  out.shape = &exported->shape[0];
  out.strides = &exported->strides[0];
  exported->managed.manager_ctx = exported.get();
  exported->managed.deleter = [](DLManagedTensor* self) {
    delete static_cast<Export*>(self->manager_ctx);
  };
  return &exported.release()->managed;
}

}  // namespace sinter
