"""Inputs of the cases: tensors of a given layout and kind of values.

In: an Input of cases.py, a shape. Out: a tensor on the device.
"""

import torch
import torch.nn.functional as F

BLOCK_ELEMENTS = 1 << 24


def empty_input(what, rows, cols, dtype, device):
    sizes = {"matrix": (rows, cols), "transposed": (cols, rows), "vector": (cols,)}[what.layout]
    return torch.empty(sizes, dtype=dtype, device=device)


def make_input(what, rows, cols, dtype, device):
    tensor = empty_input(what, rows, cols, dtype, device)
    last = tensor.shape[-1]
    lines = tensor.view(-1, last)
    # A large tensor repeats one block: the time does not depend on the values, and the CPU
    # generates random numbers on one thread only.
    block = torch.randn(min(len(lines), max(1, BLOCK_ELEMENTS // last)), last, device=device)
    if what.values == "shares":
        block = (1 + block / 2) / last
    elif what.values == "softmax":
        block = F.softmax(block, dim=1)
    for first in range(0, len(lines), len(block)):
        part = lines[first : first + len(block)]
        part.copy_(block[: len(part)])
    return tensor
