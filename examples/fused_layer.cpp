// A first program: a layer as one fused kernel, what was fused, and the same layer eagerly.
#include <sinter/sinter.h>

#include <iostream>
#include <vector>

namespace sn = sinter;

int main() {
  const std::int64_t rows = 1024;
  const std::int64_t cols = 1024;
  const sn::Tensor x = sn::reshape(sn::arange(0, rows * cols) / 1e6, {rows, cols});
  const sn::Tensor bias = sn::full({cols}, 0.5);
  const sn::Tensor residual = sn::ones({rows, cols});

  auto layer = sn::compile([](sn::Tensor input, sn::Tensor b,
                              sn::Tensor r) { return sn::gelu(input + b, sn::GeluForm::tanh) + r; },
                           {.name = "gelu layer"});

  const sn::Tensor y = layer(x, bias, residual);  // one kernel
  std::cout << layer.explain();

  // Called outside compile(), operations run at once, each its own kernel.
  const sn::Tensor same = sn::gelu(x + bias, sn::GeluForm::tanh) + residual;
  const double difference = sn::max(sn::abs(y - same)).item();
  std::cout << "largest difference from running op by op: " << difference << "\n";
  return difference < 1e-5 ? 0 : 1;
}
