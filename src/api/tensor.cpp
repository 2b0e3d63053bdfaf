// Tensor's methods, and copies to and from host memory.
#include <sinter/ops.h>
#include <sinter/tensor.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>

#include "src/api/devices.h"
#include "src/api/op_call.h"
#include "src/api/tensor_impl.h"
#include "src/api/trace.h"
#include "src/base/check.h"

namespace sinter {

Tensor make_traced(DType dtype, const View& view, std::weak_ptr<Trace> trace, NodeId node) {
  auto impl = std::make_shared<TensorImpl>();
  impl->dtype = dtype;
  impl->view = view;
  impl->trace = std::move(trace);
  impl->node = node;
  return Tensor(std::move(impl));
}

Tensor make_tensor(DType dtype, const View& view, StoragePtr storage,
                   std::shared_ptr<Device> device) {
  SINTER_ASSERT(!has_negative_strides(view), "{}", to_string(view));
  auto impl = std::make_shared<TensorImpl>();
  impl->dtype = dtype;
  impl->view = view;
  impl->storage = std::move(storage);
  impl->device = std::move(device);
  return Tensor(std::move(impl));
}

Tensor with_view(const Tensor& tensor, const View& view) {
  if (shows_fill_only(view))
    if (const auto trace = tensor.impl()->trace.lock())
      return trace->traced(trace->build.unpadded({tensor.impl()->node, view}));
  auto impl = std::make_shared<TensorImpl>(*tensor.impl());
  impl->view = view;
  return Tensor(std::move(impl));
}

const TensorImpl& checked(std::string_view op, const Tensor& tensor) {
  if (!tensor.defined()) fail_user(op, "the tensor is undefined (a default-constructed Tensor)");
  return *tensor.impl();
}

void check_dtype(std::string_view op, DType dtype) {
  if (static_cast<int>(dtype) >= kDTypeCount)
    fail_user(op, "there is no dtype number {}", static_cast<int>(dtype));
}

int checked_axis(std::string_view op, int axis, int rank) {
  const int positive = axis < 0 ? axis + rank : axis;
  if (positive < 0 || positive >= rank)
    fail_user(op, "there is no axis {} in a tensor of {} dimensions", axis, rank);
  return positive;
}

namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 56;  // their bytes fit an int64_t

}  // namespace

std::int64_t checked_numel(std::string_view op, const Shape& shape) {
  std::int64_t count = 1;
  // An empty axis must not hide that the others overflow.
  for (std::int64_t size : shape) {
    if (size < 0) fail_user(op, "sizes cannot be negative: {}", to_string(shape));
    if (__builtin_mul_overflow(count, std::max<std::int64_t>(size, 1), &count) ||
        count > kMostElements)
      fail_user(op, "{} has too many elements", to_string(shape));
  }
  return shape.numel();
}

namespace {

const TensorImpl& concrete(std::string_view op, const Tensor& tensor) {
  const TensorImpl& impl = checked(op, tensor);
  if (impl.is_traced())
    fail_user(op, "values are not known while a function is being traced by compile()");
  return impl;
}

// Memory the caller owns. It is released once nothing launched can still use it.
class BorrowedStorage : public Storage {
 public:
  BorrowedStorage(void* data, std::size_t bytes, std::shared_ptr<void> owner,
                  std::shared_ptr<Device> device)
      : Storage(data, bytes), owner_(std::move(owner)), device_(std::move(device)) {}
  ~BorrowedStorage() override {
    if (!used_) return;
    try {
      device_->synchronize();
    } catch (const Error&) {
      // After a device fault nothing runs there anymore.
    }
  }
  BorrowedStorage(const BorrowedStorage&) = delete;
  BorrowedStorage& operator=(const BorrowedStorage&) = delete;

  void note_use() override { used_ = true; }

 private:
  std::shared_ptr<void> owner_;
  std::shared_ptr<Device> device_;
  std::atomic<bool> used_{false};
};

// Copies between devices through host memory, in chunks.
void copy_by_host(Device& source, const void* from, Device& target, void* to, std::size_t bytes) {
  constexpr std::size_t kPiece = std::size_t{64} << 20;
  std::vector<std::byte> piece(std::min(bytes, kPiece));
  for (std::size_t at = 0; at < bytes; at += kPiece) {
    const std::size_t count = std::min(bytes - at, kPiece);
    source.copy_to_host(piece.data(), static_cast<const std::byte*>(from) + at, count);
    target.copy_from_host(static_cast<std::byte*>(to) + at, piece.data(), count);
  }
}

}  // namespace

DType Tensor::dtype() const { return checked("dtype", *this).dtype; }
const Shape& Tensor::shape() const { return checked("shape", *this).view.shape; }
const Strides& Tensor::strides() const { return checked("strides", *this).view.strides; }
std::int64_t Tensor::size(int axis) const { return shape()[checked_axis("size", axis, rank())]; }
bool Tensor::is_contiguous() const { return is_dense(checked("is_contiguous", *this).view); }

std::string Tensor::device() const {
  const TensorImpl& impl = checked("device", *this);
  if (!impl.is_traced()) return impl.device->name();
  const std::shared_ptr<Trace> trace = impl.trace.lock();
  return (trace && trace->device ? trace->device : default_device_handle())->name();
}

const void* Tensor::data() const { return concrete("data", *this).data(); }

void Tensor::copy_to(void* destination) const {
  concrete("copy_to", *this);
  if (!destination && numel() > 0) fail_user("copy_to", "the destination pointer is null");
  const TraceScope untraced(nullptr);  // the data is needed now, not recorded
  const Tensor dense = contiguous(*this);
  const auto bytes = static_cast<std::size_t>(numel()) * size_of(dtype());
  if (bytes > 0) dense.impl()->device->copy_to_host(destination, dense.impl()->data(), bytes);
}

Tensor Tensor::to(const std::string& name) const {
  const TensorImpl& impl = checked("to", *this);
  const std::shared_ptr<Device> target = open_device(name);
  if (impl.is_traced()) {
    if (device() == target->name()) return *this;
    fail_user("to", "a function that is being traced runs on one device, {}; move its inputs",
              device());
  }
  if (impl.device == target) return *this;
  const TraceScope untraced(nullptr);  // copied now, not recorded
  const Tensor dense = contiguous(*this);
  const auto bytes = static_cast<std::size_t>(numel()) * size_of(impl.dtype);
  StoragePtr storage = target->allocate(bytes);
  const void* from = dense.impl()->data();
  if (target->shares_host_memory())
    impl.device->copy_to_host(storage->data(), from, bytes);
  else if (impl.device->shares_host_memory())
    target->copy_from_host(storage->data(), from, bytes);
  else
    copy_by_host(*impl.device, from, *target, storage->data(), bytes);
  return make_tensor(impl.dtype, dense_view(shape()), std::move(storage), target);
}

void Tensor::require_dtype(DType wanted) const {
  if (dtype() != wanted)
    fail_user("to_vector", "the tensor is {}, not {}; cast it first", name_of(dtype()),
              name_of(wanted));
}

Element Tensor::only_element() const {
  concrete("item", *this);
  if (numel() != 1)
    fail_user("item", "needs a tensor of one element, this one is {}", to_string(shape()));
  std::byte bytes[sizeof(std::int64_t)];
  copy_to(bytes);
  return element_at(bytes, dtype(), 0);
}

void Tensor::fail_item() const {
  const Element value = only_element();
  fail_user("item",
            "the {} {} cannot be held exactly by the type asked for; cast the tensor, or "
            "ask for the C++ type of its dtype",
            name_of(dtype()), to_string(value));
}

Tensor from_host(const void* data, const Shape& shape, DType dtype, const std::string& name) {
  check_dtype("from_host", dtype);
  const std::int64_t count = checked_numel("from_host", shape);
  if (!data && count > 0) fail_user("from_host", "the data pointer is null");
  const auto bytes = static_cast<std::size_t>(count) * size_of(dtype);
  const std::shared_ptr<Device> device = open_device(name);
  StoragePtr storage = device->allocate(bytes);
  if (bytes > 0) device->copy_from_host(storage->data(), data, bytes);
  return make_tensor(dtype, dense_view(shape), std::move(storage), device);
}

Tensor detail::from_values(const void* data, std::size_t count, const Shape& shape, DType dtype,
                           const std::string& device) {
  const std::int64_t wanted = checked_numel("from_vector", shape);
  if (static_cast<std::uint64_t>(wanted) != count)
    fail_user("from_vector", "{} has {} elements, the vector has {}", to_string(shape), wanted,
              count);
  return from_host(data, shape, dtype, device);
}

Tensor from_memory(void* data, const Shape& shape, const Strides& strides, DType dtype,
                   std::shared_ptr<void> owner, const std::string& device) {
  check_dtype("from_memory", dtype);
  const std::int64_t count = checked_numel("from_memory", shape);
  if (!data && count > 0) fail_user("from_memory", "the data pointer is null");
  if (shape.rank() != strides.rank())
    fail_user("from_memory", "{} has {} sizes, {} strides", to_string(shape), shape.rank(),
              strides.rank());
  std::int64_t last = 0;
  for (int i = 0; i < shape.rank(); ++i) {
    if (strides[i] < 0)
      fail_user("from_memory", "strides cannot be negative: {}", to_string(strides));
    std::int64_t span = 0;
    if (__builtin_mul_overflow(std::max<std::int64_t>(shape[i] - 1, 0), strides[i], &span) ||
        __builtin_add_overflow(last, span, &last) || last > kMostElements)
      fail_user("from_memory", "strides {} reach too far for {}", to_string(strides),
                to_string(shape));
  }
  if (reinterpret_cast<std::uintptr_t>(data) % size_of(dtype) != 0)
    fail_user("from_memory", "the data pointer is not aligned to its {} elements", name_of(dtype));
  const View view{shape, strides, 0};
  const auto bytes = static_cast<std::size_t>(extent(view).last + 1) * size_of(dtype);
  const std::shared_ptr<Device> there = open_device(device);
  return make_tensor(
      dtype, view, std::make_shared<BorrowedStorage>(data, bytes, std::move(owner), there), there);
}

}  // namespace sinter
