// Each element has its own bound. A row has one tolerance: the largest bound, or the bound of the
// element that exceeds its own the most. So a row is wrong exactly if an element is.
#include "src/suite/measure/bounded_accuracy.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/api/tensor_impl.h"
#include "src/base/check.h"
#include "src/suite/measure/host_rows.h"
#include "src/suite/reference/graph_reference.h"

namespace sinter::suite {
namespace {

using bounded::Bounded;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The elements of a result in row-major order, in place if the host can read them.
class HostElements {
 public:
  explicit HostElements(const Tensor& tensor) : dtype_(tensor.dtype()), data_(tensor.data()) {
    const bool is_in_order = is_dense({tensor.shape(), tensor.strides(), 0});
    if (tensor.impl()->device->shares_host_memory() && is_in_order) return;
    copy_ = host_memory(tensor.numel() * static_cast<std::int64_t>(size_of(dtype_)));
    tensor.copy_to(copy_->data());
    data_ = copy_->data();
  }

  Bounded at(std::int64_t position) const { return element_at(data_, dtype_, position); }

 private:
  DType dtype_;
  const void* data_;
  StoragePtr copy_;
};

// Over the finite elements that have a bound.
double rms_of(std::span<const Bounded> elements) {
  double squares = 0;
  double count = 0;
  for (const Bounded& x : elements) {
    if (!x.known() || !std::isfinite(x.value)) continue;
    squares += x.value * x.value;
    count += 1;
  }
  return count == 0 ? 0 : std::sqrt(squares / count);
}

struct Judgement {
  std::int64_t compared = 0;
  double absolute = 0;
  double relative = 0;
  double largest_bound = 0;
  double worst_excess = 1;  // |error| / bound of the worst element; above 1: it is wrong
  double worst_bound = 0;   // of that element

  void add(double error, double bound, double scale) {
    ++compared;
    absolute = std::max(absolute, error);
    relative = std::max(relative, error / scale);
    largest_bound = std::max(largest_bound, bound / scale);
    const double excess = error <= bound ? 0 : bound == 0 ? kInfinity : error / bound;
    if (excess <= worst_excess) return;
    worst_excess = excess;
    worst_bound = bound / scale;
  }
  double tolerance() const { return worst_excess > 1 ? worst_bound : largest_bound; }
};

// The distance between a result and its reference; infinite if only one is NaN or infinite.
double error_of(const Bounded& got, const Bounded& want, DType dtype) {
  if (!is_floating(dtype)) {
    if (got.integer == want.integer) return 0;
    // At least 1: the doubles nearest to two large integers may be the same.
    return std::max(
        1.0, std::fabs(static_cast<double>(got.integer) - static_cast<double>(want.integer)));
  }
  if (got.value == want.value || (std::isnan(got.value) && std::isnan(want.value))) return 0;
  const double error = std::fabs(got.value - want.value);
  return std::isnan(error) ? kInfinity : error;
}

void judge(const Tensor& output, const OutputSample& sample, std::span<const Bounded> expected,
           Judgement& judgement) {
  const HostElements results(output);
  const bool is_real = is_floating(output.dtype());
  const double rms = is_real ? rms_of(expected) : 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Bounded& want = expected[i];
    if (!want.known()) continue;
    const Bounded got = results.at(sample.position(static_cast<std::int64_t>(i)));
    const double size = std::fabs(is_real ? want.value : static_cast<double>(want.integer));
    const double scale = std::max(std::isfinite(size) ? size : 0, rms);
    judgement.add(error_of(got, want, output.dtype()), want.error, scale > 0 ? scale : 1);
  }
}

}  // namespace

Checked check_bounded(std::span<const Tensor> outputs, const Sample& sample,
                      std::span<const std::vector<Bounded>> expected) {
  SINTER_ASSERT(outputs.size() == expected.size(), "{} results, expected {}", outputs.size(),
                expected.size());
  Judgement judgement;
  for (std::size_t k = 0; k < outputs.size(); ++k)
    judge(outputs[k], sample.outputs[k], expected[k], judgement);
  Checked checked;
  checked.checked_elements = judgement.compared;
  if (judgement.compared == 0) {
    for (const char* field : {"max_abs_err", "max_rel_err", "tolerance"})
      checked.reasons[field] = "no element of the results has a bound that would say anything";
    return checked;
  }
  checked.max_abs_err = judgement.absolute;
  checked.max_rel_err = judgement.relative;
  checked.tolerance = judgement.tolerance();
  return checked;
}

}  // namespace sinter::suite
