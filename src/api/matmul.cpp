// Matrix products.
#include <sinter/ops.h>

#include "src/api/op_call.h"
#include "src/api/origin.h"
#include "src/base/check.h"
#include "src/graph/matmul_views.h"

namespace sinter {

Tensor matmul(const Tensor& a, const Tensor& b) {
  checked("matmul", a);
  checked("matmul", b);
  const DType dtype = promote(a.dtype(), b.dtype());
  if (!is_floating(dtype))
    fail_user("matmul", "takes floating-point tensors, got {} and {}; convert them with cast()",
              name_of(a.dtype()), name_of(b.dtype()));
  const OperationName name("matmul");
  const Tensor left = cast(a, dtype);
  const Tensor right = cast(b, dtype);
  const MatmulViews views = matmul_views(left.impl()->view, right.impl()->view);
  if (!views.refusal.empty()) fail_user("matmul", "{}", views.refusal);
  checked_numel("matmul", views.a.shape);  // (batches.., rows, columns, summed)
  OpCall call;
  call.op = Op::contract;
  call.args = {with_view(left, views.a), with_view(right, views.b)};
  call.axes = views.axes;
  const Tensor contracted = apply(call);
  return with_view(contracted, matmul_result(contracted.impl()->view, views));
}

}  // namespace sinter
