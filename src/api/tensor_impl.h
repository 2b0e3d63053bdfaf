// What stands behind a Tensor handle: memory on a device, or a value of a trace.
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
  View view;  // over the storage's elements, or over the traced node's
  StoragePtr storage;
  std::shared_ptr<Device> device;
  std::weak_ptr<Trace> trace;
  NodeId node = -1;
};

Tensor make_traced(DType dtype, const View& view, std::weak_ptr<Trace> trace, NodeId node);
Tensor make_tensor(DType dtype, const View& view, StoragePtr storage,
                   std::shared_ptr<Device> device);
// The same elements seen through another view.
Tensor with_view(const Tensor& tensor, const View& view);
// Throws UserError naming the operation when the handle is empty.
const TensorImpl& checked(std::string_view op, const Tensor& tensor);

// Element `index` of dense host memory, and its text: integers exactly, floats shortly.
Element element_at(const std::byte* data, DType dtype, std::int64_t index);
std::string to_string(const Element& element);

// UserError naming the operation when the value is none of DType's.
void check_dtype(std::string_view op, DType dtype);

// The number of elements; UserError naming the operation when a size is negative or they are too
// many to count.
std::int64_t checked_numel(std::string_view op, const Shape& shape);

// An axis from the end if negative; UserError naming the operation when there is no such axis.
int checked_axis(std::string_view op, int axis, int rank);

}  // namespace sinter
