// Small things that make tensors handy: indexing, slices that walk backwards, assignment, printing,
// numbers out of tensors, and a generic function compiled for two of them.
#include <sinter/sinter.h>

#include <cstdint>
#include <iostream>
#include <optional>
#include <vector>

namespace sn = sinter;

int main() {
  const std::vector<std::int64_t> sizes{3, 4};
  sn::Tensor x = sn::reshape(sn::arange(0, 12), sizes);
  x += 1;
  std::cout << x << "\n" << x[-1] << "\n" << sn::flip(x, 1) << "\n";

  // Every second column from the last one on, as Python's x[:, ::-2]. Compiled, it is a view.
  const auto weigh = sn::compile<2>([](auto a, auto weights) {
    return sn::sum(sn::slice(a, 1, std::nullopt, std::nullopt, -2) * weights, 1);
  });
  const sn::Tensor weights = sn::from_vector<std::int64_t>({10, 1}, {2});
  const sn::Tensor totals = weigh(x, weights);
  std::cout << totals << " " << totals.shape() << " " << totals.dtype() << "\n";

  // Powers of integers are integers: 9^19 is one that no double holds.
  const auto power = sn::pow(x[2][0], 19).item<std::int64_t>();
  const sn::Tensor even = sn::from_vector<bool>({true, false, true, false}, {4});
  const auto chosen = sn::sum(sn::where(even, x[2], sn::zeros_like(x[2]))).item<int>();
  std::cout << power << " " << chosen << "\n";

  // A mistake says what to do instead.
  try {
    sn::cast(x, sn::DType::i32) + std::int64_t{5000000000};
  } catch (const sn::UserError& error) {
    std::cout << error.what() << "\n";
  }
  const bool right = totals[0].item<int>() == 42 && power == 1350851717672992089 && chosen == 20;
  return right ? 0 : 1;
}
