// A step of gradient descent with momentum whose learning rate changes at every call. The numbers
// are inputs: nothing is compiled after the first call.
#include <sinter/sinter.h>

#include <iostream>
#include <utility>

namespace sn = sinter;

int main() {
  int traces = 0;
  const auto step = sn::compile([&](const sn::Tensor& w, const sn::Tensor& m, const sn::Tensor& g,
                                    const sn::Number& rate, const sn::Number& momentum) {
    ++traces;
    const sn::Tensor next = momentum * m + (1 - momentum) * g;
    return std::pair{w - rate * next, next};
  });

  const sn::Tensor target = sn::arange(0, 8, 1, sn::DType::f32);
  sn::Tensor w = sn::zeros({8});
  sn::Tensor m = sn::zeros({8});
  double rate = 0.5;
  for (int i = 0; i < 200; ++i, rate *= 0.99) std::tie(w, m) = step(w, m, w - target, rate, 0.9);

  std::cout << w << "\nthe function was traced " << traces << " time(s)\n";
  return traces == 1 && sn::max(sn::abs(w - target)).item<float>() < 0.01F ? 0 : 1;
}
