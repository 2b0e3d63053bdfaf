// The cases that reduce along rows: the program as in peers/torch_suite/cases.py, and a reference
// in double.
#include <sinter/ops.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/suite/cases/case.h"

namespace sinter::suite {
namespace {

constexpr Input kMatrix{Layout::matrix, Values::normal};
constexpr Input kVector{Layout::vector, Values::normal};
constexpr Input kSoftmaxed{Layout::matrix, Values::softmax};
constexpr Input kShares{Layout::matrix, Values::shares};

double total(std::span<const double> x) { return std::accumulate(x.begin(), x.end(), 0.0); }

// Works in place: element i is read before it is written.
void softmax_row(std::span<const double> x, std::span<double> y) {
  const double top = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += y[i] = std::exp(x[i] - top);
  for (double& each : y) each /= sum;
}

Case softmax_case() {
  return {
      .name = "softmax",
      .formula = "softmax(x, 1)",
      .inputs = {kMatrix},
      .outputs = {Output::matrix},
      .program = [](std::span<const Tensor> in) -> Tensors { return {softmax(in[0], 1)}; },
      .reference = [](Rows in, ResultRows out) { softmax_row(in[0], out[0]); },
      .flops_per_element = 5,
      .tolerance_ulps = 32,
  };
}

Case double_softmax_case() {
  return {
      .name = "double_softmax",
      .formula = "softmax(softmax(x, 1), 1)",
      .inputs = {kMatrix},
      .outputs = {Output::matrix},
      .program = [](std::span<const Tensor> in) -> Tensors {
        return {softmax(softmax(in[0], 1), 1)};
      },
      .reference =
          [](Rows in, ResultRows out) {
            softmax_row(in[0], out[0]);
            softmax_row(out[0], out[0]);
          },
      .flops_per_element = 10,
      .tolerance_ulps = 64,
      .roundings = 2,  // the inner softmax is rounded too
  };
}

Case softmax_backward_case() {
  return {
      .name = "softmax_backward",
      .formula = "(g - sum(g*y, 1)) * y",
      .inputs = {kMatrix, kSoftmaxed},
      .outputs = {Output::matrix},
      .program = [](std::span<const Tensor> in) -> Tensors {
        return {(in[0] - sum(in[0] * in[1], 1, true)) * in[1]};
      },
      .reference =
          [](Rows in, ResultRows out) {
            const double dot = std::inner_product(in[0].begin(), in[0].end(), in[1].begin(), 0.0);
            for (std::size_t i = 0; i < in[0].size(); ++i) out[0][i] = (in[0][i] - dot) * in[1][i];
          },
      .flops_per_element = 4,
      .tolerance_ulps = 32,
  };
}

void layernorm_row(Rows in, ResultRows out) {
  constexpr double kEpsilon = 1e-5;
  const auto count = static_cast<double>(in[0].size());
  const double mean = total(in[0]) / count;
  double squares = 0;
  for (double x : in[0]) squares += (x - mean) * (x - mean);
  const double scale = 1 / std::sqrt(squares / count + kEpsilon);
  for (std::size_t i = 0; i < in[0].size(); ++i)
    out[0][i] = (in[0][i] - mean) * scale * in[1][i] + in[2][i];
}

Case layernorm_case() {
  return {
      .name = "layernorm",
      .formula = "layer_norm(x, weight, bias)",
      .inputs = {kMatrix, kVector, kVector},
      .outputs = {Output::matrix},
      .program = [](std::span<const Tensor> in) -> Tensors {
        return {layer_norm(in[0], in[1], in[2])};
      },
      .reference = layernorm_row,
      .flops_per_element = 7,
      .tolerance_ulps = 32,
  };
}

Case norm_chain_case() {
  return {
      .name = "norm_chain",
      .formula = "three times x = x * sum(x, 1)",
      .inputs = {kShares},
      .outputs = {Output::matrix},
      .program = [](std::span<const Tensor> in) -> Tensors {
        Tensor x = in[0];
        for (int i = 0; i < 3; ++i) x = x * sum(x, 1, true);
        return {x};
      },
      .reference =
          [](Rows in, ResultRows out) {
            std::copy(in[0].begin(), in[0].end(), out[0].begin());
            for (int i = 0; i < 3; ++i) {
              const double sum = total(out[0]);
              for (double& x : out[0]) x *= sum;
            }
          },
      .flops_per_element = 6,
      .tolerance_ulps = 64,
  };
}

Case reduce_beside_pointwise_case() {
  return {
      .name = "h_red_pw",
      .formula = "sum(x, 1), cos(x)",
      .inputs = {kMatrix},
      .outputs = {Output::row_value, Output::matrix},
      .program = [](std::span<const Tensor> in) -> Tensors {
        return {sum(in[0], 1), cos(in[0])};
      },
      .reference =
          [](Rows in, ResultRows out) {
            out[0][0] = total(in[0]);
            for (std::size_t i = 0; i < in[0].size(); ++i) out[1][i] = std::cos(in[0][i]);
          },
      .flops_per_element = 2,
      .tolerance_ulps = 32,
  };
}

Case reduce_beside_reduce_case() {
  return {
      .name = "h_red_red",
      .formula = "sum(x, 1), max(x, 1)",
      .inputs = {kMatrix},
      .outputs = {Output::row_value, Output::row_value},
      .program = [](std::span<const Tensor> in) -> Tensors {
        return {sum(in[0], 1), max(in[0], 1)};
      },
      .reference =
          [](Rows in, ResultRows out) {
            out[0][0] = total(in[0]);
            out[1][0] = *std::max_element(in[0].begin(), in[0].end());
          },
      .flops_per_element = 2,
      .tolerance_ulps = 32,
  };
}

}  // namespace

std::vector<Case> row_cases() {
  return {softmax_case(),
          double_softmax_case(),
          softmax_backward_case(),
          layernorm_case(),
          norm_chain_case(),
          reduce_beside_pointwise_case(),
          reduce_beside_reduce_case()};
}

}  // namespace sinter::suite
