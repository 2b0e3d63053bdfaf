// A compiled function saved as text, edited like any other file, and loaded again.
#include <sinter/sinter.h>

#include <fstream>
#include <iostream>
#include <vector>

namespace sn = sinter;

int main() {
  const auto scaled = sn::compile([](const sn::Tensor& x) { return sn::softmax(x * 0.5); });
  const std::vector<sn::Tensor> inputs{sn::reshape(sn::arange(0, 32, 1, sn::DType::f32), {4, 8})};
  scaled.save("scaled_softmax.sinter", inputs);
  const sn::CompiledFunction loaded = sn::load_program("scaled_softmax.sinter");
  const sn::Tensor same = loaded.call(inputs)[0];

  // By hand: sizes follow from the inputs, so one file serves every shape.
  std::ofstream("row_norm.sinter") << "sizes rows = 4, cols = 8\n"
                                      "%x: f32(rows, cols) = input\n"
                                      "%squares = square %x\n"
                                      "%total = sum %squares over axis 1\n"
                                      "%length = sqrt %total\n"
                                      "%y = div %x, %length.unsqueeze(1)   // rows of length 1\n"
                                      "return %y\n";
  const sn::CompiledFunction row_norm = sn::load_program("row_norm.sinter");
  const sn::Tensor y = row_norm.call(std::vector{sn::full({2, 100}, 3)})[0];
  std::cout << row_norm.explain() << y.shape() << " " << y[0][0] << "\n";

  // A mistake in the text has a line and a column.
  std::ofstream("wrong.sinter") << "%x: f32(4) = input\n%y = epx %x\nreturn %y\n";
  try {
    sn::load_program("wrong.sinter");
  } catch (const sn::UserError& error) {
    std::cout << error.what() << "\n";
  }
  const auto difference = sn::max(sn::abs(same - scaled(inputs[0]))).item<float>();
  return difference == 0 && y[1][99].item<float>() == 0.1F ? 0 : 1;
}
