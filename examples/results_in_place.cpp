// Results in memory that the caller gives: one row of a batch per call, and a step that updates its
// state in place. No call takes memory for results.
#include <sinter/sinter.h>

#include <iostream>

namespace sn = sinter;

int main() {
  const auto normalized = sn::compile([](const sn::Tensor& x) { return sn::softmax(x); });
  const sn::Tensor batch = sn::zeros({4, 6});
  for (int i = 0; i < 4; ++i)
    normalized.call_into(batch[i], sn::arange(0, 6, 1, sn::DType::f32) * i);
  std::cout << batch << "\n";

  const auto decay = sn::compile(
      [](const sn::Tensor& mean, const sn::Tensor& x) { return mean * 0.75 + x * 0.25; });
  const sn::Tensor mean = sn::zeros({6});
  const sn::Tensor x = sn::ones({6});
  decay.call_into(mean, mean, x);  // the output is an input: each element replaces itself
  sn::reset_peak_memory();
  const std::size_t in_use = sn::device_memory().in_use;
  for (int i = 0; i < 50; ++i) decay.call_into(mean, mean, x);
  std::cout << mean << "\n";

  const bool took_no_memory = sn::device_memory().peak == in_use;
  const bool is_right = sn::max(sn::abs(mean - 1)).item<float>() < 1e-5F &&
                        sn::max(sn::abs(sn::sum(batch, {1}) - 1)).item<float>() < 1e-5F;
  return took_no_memory && is_right ? 0 : 1;
}
