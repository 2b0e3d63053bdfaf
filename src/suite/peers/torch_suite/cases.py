"""The cases: those of src/suite/cases/pointwise_cases.cpp and row_cases.cpp, as a user of PyTorch writes
them. In: tensors. Out: a tensor, or several. CASES is the table of them, by name.
"""

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


CASES = {
    "pointwise_chain": pointwise_chain,
    "bias_gelu": bias_gelu,
    "bias_dropout_add": bias_dropout_add,
    "bias_dropout_add_t": bias_dropout_add_t,
    "softmax": softmax,
    "double_softmax": double_softmax,
    "softmax_backward": softmax_backward,
    "layernorm": layernorm,
    "norm_chain": norm_chain,
    "h_red_pw": h_red_pw,
    "h_red_red": h_red_red,
}
