// The program in README.md: a layer as one fused kernel, and what explain() says about it.
#include <sinter/sinter.h>

#include <iostream>
namespace sn = sinter;

int main() {
  sn::Tensor x = sn::ones({1024, 1024});
  sn::Tensor bias = sn::full({1024}, 0.5);
  sn::Tensor residual = sn::ones({1024, 1024});

  auto layer = sn::compile(
      [](sn::Tensor input, sn::Tensor b, sn::Tensor r) { return sn::gelu(input + b) + r; },
      {.name = "layer"});

  sn::Tensor y = layer(x, bias, residual);  // compiled at the first call: one kernel
  std::cout << layer.explain();
}
