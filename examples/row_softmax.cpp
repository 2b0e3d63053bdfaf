// Several results from one kernel: a softmax with its rows' entropy, on half-precision input.
#include <sinter/sinter.h>

#include <cmath>
#include <iostream>
#include <utility>

namespace sn = sinter;

int main() {
  auto softmax_entropy = sn::compile([](sn::Tensor logits) {
    const sn::Tensor x = sn::cast(logits, sn::DType::f32);
    const sn::Tensor p = sn::softmax(x, -1);
    const sn::Tensor entropy = -sn::sum(p * sn::log_softmax(x, -1), -1);
    return std::pair(sn::cast(p, sn::DType::f16), entropy);
  });

  const sn::Tensor logits = sn::zeros({4, 1000}, sn::DType::f16);
  const auto [p, entropy] = softmax_entropy(logits);
  std::cout << sn::to_string(entropy) << "\n" << softmax_entropy.explain();

  // All classes alike: the entropy is log(1000).
  const double error = std::fabs(sn::max(entropy).item() - std::log(1000.0));
  return error < 1e-4 ? 0 : 1;
}
