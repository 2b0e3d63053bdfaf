// The implementation of a Tensor handle: memory on a device, or a value of a trace.
#pragma once

#include <sinter/tensor.h>

#include <memory>
#include <string_view>

#include "src/base/view.h"
#include "src/graph/graph.h"
#include "src/runtime/device.h"

namespace sinter {

class Trace;

class TensorImpl {
 public:
  bool is_traced() const { return node >= 0; }
  // The first element of a concrete tensor.
  void* data() const {
    return static_cast<std::byte*>(storage->data()) +
           view.offset * static_cast<std::int64_t>(size_of(dtype));
  }

  DType dtype = DType::f32;
  View view;  // over the storage's elements, or the traced node's
  StoragePtr storage;
  std::shared_ptr<Device> device;
  std::weak_ptr<Trace> trace;
  NodeId node = -1;
};

Tensor make_traced(DType dtype, const View& view, std::weak_ptr<Trace> trace, NodeId node);
Tensor make_tensor(DType dtype, const View& view, StoragePtr storage,
                   std::shared_ptr<Device> device);
// The same elements through another view. A traced view that shows only its fill is a constant.
Tensor with_view(const Tensor& tensor, const View& view);
// UserError naming the operation if the handle is empty.
const TensorImpl& checked(std::string_view op, const Tensor& tensor);

// Element `index` of contiguous host memory, and its text: exact for integers, short for floats.
Element element_at(const std::byte* data, DType dtype, std::int64_t index);
std::string to_string(const Element& element);

// UserError naming the operation for an invalid DType value.
void check_dtype(std::string_view op, DType dtype);

// The number of elements; UserError naming the operation if a size is negative or the product
// overflows.
std::int64_t checked_numel(std::string_view op, const Shape& shape);

// Normalizes a negative axis; UserError naming the operation if there is no such axis.
int checked_axis(std::string_view op, int axis, int rank);

}  // namespace sinter
