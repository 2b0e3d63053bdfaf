"""The cases: those of src/suite/cases/pointwise_cases.cpp and row_cases.cpp, as a user of PyTorch writes
them. In: tensors. Out: a tensor, or several. CASES is the table of them, by name.
"""

import collections

import torch
import torch.nn.functional as F


def pointwise_chain(x):
    y = torch.cos(x)
    x = x * y
    return x + torch.maximum(x, y)


def bias_gelu(x, bias):
    x = x + bias
    return x * 0.5 * (1.0 + torch.tanh(0.79788456 * x * (1.0 + 0.044715 * x * x)))


def bias_dropout_add(x, bias, residual):
    return residual + F.dropout(x + bias, p=0.5, training=False)


def bias_dropout_add_t(x, bias, residual):
    return residual.t() + F.dropout(x + bias.t(), p=0.5, training=False)


def softmax(x):
    return F.softmax(x, dim=1)


def double_softmax(x):
    return F.softmax(F.softmax(x, dim=1), dim=1)


def softmax_backward(grad, y):
    return torch.ops.aten._softmax_backward_data(grad, y, 1, y.dtype)


def layernorm(x, weight, bias):
    return F.layer_norm(x, (x.shape[-1],), weight, bias)


def norm_chain(x):
    for _ in range(3):
        x = x * torch.sum(x, 1, keepdim=True)
    return x


def h_red_pw(x):
    return torch.sum(x, dim=1), torch.cos(x)


def h_red_red(x):
    return torch.sum(x, dim=1), torch.amax(x, dim=1)


Input = collections.namedtuple("Input", "layout values")
Case = collections.namedtuple("Case", "function inputs")

MATRIX = Input("matrix", "normal")  # (rows, cols)
TRANSPOSED = Input("transposed", "normal")  # (cols, rows)
VECTOR = Input("vector", "normal")  # (cols)
SOFTMAXED = Input("matrix", "softmax")  # a row is the softmax of normal values
SHARES = Input("matrix", "shares")  # (1 + normal / 2) / cols

CASES = {
    "pointwise_chain": Case(pointwise_chain, [MATRIX]),
    "bias_gelu": Case(bias_gelu, [MATRIX, VECTOR]),
    "bias_dropout_add": Case(bias_dropout_add, [MATRIX, MATRIX, MATRIX]),
    "bias_dropout_add_t": Case(bias_dropout_add_t, [MATRIX, TRANSPOSED, TRANSPOSED]),
    "softmax": Case(softmax, [MATRIX]),
    "double_softmax": Case(double_softmax, [MATRIX]),
    "softmax_backward": Case(softmax_backward, [MATRIX, SOFTMAXED]),
    "layernorm": Case(layernorm, [MATRIX, VECTOR, VECTOR]),
    "norm_chain": Case(norm_chain, [SHARES]),
    "h_red_pw": Case(h_red_pw, [MATRIX]),
    "h_red_red": Case(h_red_red, [MATRIX]),
}
DTYPES = {
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f64": torch.float64,
}
