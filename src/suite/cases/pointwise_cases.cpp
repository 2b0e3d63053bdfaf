// The pointwise cases: the program as in peers/torch_suite/cases.py, and a reference in double.
#include <sinter/ops.h>

#include <algorithm>
#include <cmath>

#include "src/suite/cases/case.h"

namespace sinter::suite {
namespace {

constexpr Input kMatrix{Layout::matrix, Values::normal};
constexpr Input kTransposed{Layout::transposed, Values::normal};
constexpr Input kVector{Layout::vector, Values::normal};

void add_rows(Rows in, ResultRows out) {
  for (std::size_t i = 0; i < in[0].size(); ++i) out[0][i] = in[2][i] + (in[0][i] + in[1][i]);
}

Case pointwise_chain_case() {
  return {
      .name = "pointwise_chain",
      .formula = "y = cos(x); x = x*y; y = max(x, y); x + y",
      .inputs = {kMatrix},
      .outputs = {Output::matrix},
      .program = [](std::span<const Tensor> in) -> Tensors {
        const Tensor y = cos(in[0]);
        const Tensor x = in[0] * y;
        return {x + maximum(x, y)};
      },
      .reference =
          [](Rows in, ResultRows out) {
            for (std::size_t i = 0; i < in[0].size(); ++i) {
              const double y = std::cos(in[0][i]);
              const double x = in[0][i] * y;
              out[0][i] = x + std::max(x, y);
            }
          },
      .flops_per_element = 4,
      .tolerance_ulps = 16,
  };
}

// Written out instead of calling gelu(): finding the fusion is the compiler's job.
Case bias_gelu_case() {
  return {
      .name = "bias_gelu",
      .formula = "x += b; x*0.5*(1 + tanh(0.79788456*x*(1 + 0.044715*x*x)))",
      .inputs = {kMatrix, kVector},
      .outputs = {Output::matrix},
      .program = [](std::span<const Tensor> in) -> Tensors {
        const Tensor x = in[0] + in[1];
        return {x * 0.5 * (1.0 + tanh(0.79788456 * x * (1.0 + 0.044715 * x * x)))};
      },
      .reference =
          [](Rows in, ResultRows out) {
            for (std::size_t i = 0; i < in[0].size(); ++i) {
              const double x = in[0][i] + in[1][i];
              out[0][i] = x * 0.5 * (1 + std::tanh(0.79788456 * x * (1 + 0.044715 * x * x)));
            }
          },
      .flops_per_element = 10,
      .tolerance_ulps = 32,
  };
}

// Dropout is inactive here (inference form): it passes its input through.
Case bias_dropout_add_case() {
  return {
      .name = "bias_dropout_add",
      .formula = "residual + dropout(x + bias), dropout inactive",
      .inputs = {kMatrix, kMatrix, kMatrix},
      .outputs = {Output::matrix},
      .program = [](std::span<const Tensor> in) -> Tensors { return {in[2] + (in[0] + in[1])}; },
      .reference = add_rows,
      .flops_per_element = 2,
      .tolerance_ulps = 8,
  };
}

Case bias_dropout_add_transposed_case() {
  return {
      .name = "bias_dropout_add_t",
      .formula = "residual^T + dropout(x + bias^T), dropout inactive",
      .inputs = {kMatrix, kTransposed, kTransposed},
      .outputs = {Output::matrix},
      .program = [](std::span<const Tensor> in) -> Tensors {
        return {transpose(in[2], 0, 1) + (in[0] + transpose(in[1], 0, 1))};
      },
      .reference = add_rows,
      .flops_per_element = 2,
      .tolerance_ulps = 8,
  };
}

}  // namespace

std::vector<Case> pointwise_cases() {
  return {pointwise_chain_case(), bias_gelu_case(), bias_dropout_add_case(),
          bias_dropout_add_transposed_case()};
}

}  // namespace sinter::suite
