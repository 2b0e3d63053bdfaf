"""Inputs of workloads: tensors of a given shape, dtype and kind of values.

In: a TensorSpec. Out: a tensor on the device.
"""

import torch
import torch.nn.functional as F

BLOCK_ELEMENTS = 1 << 24
LARGEST_INTEGER = 17  # Sinter's normal numbers end there, times 4

# From normal numbers, in lines along the last axis. As src/suite/cases/inputs.cpp and
# program_inputs.cpp draw them: a program may use an integer as an index.
VALUES = {
    "normal": lambda block: block,
    "shares": lambda block: (1 + block / 2) / block.shape[1],
    "softmax": lambda block: F.softmax(block, dim=1),
    "integers": lambda block: (4 * block).round().clamp(-LARGEST_INTEGER, LARGEST_INTEGER),
    "bools": lambda block: block > 0,
}


def empty_input(spec, device):
    """Of any floats, but valid indices."""
    make = torch.empty if spec.dtype.is_floating_point else torch.zeros
    return make(spec.shape, dtype=spec.dtype, device=device)


def make_input(spec, device):
    tensor = empty_input(spec, device)
    if tensor.numel() == 0:
        return tensor
    last = spec.shape[-1] if spec.shape else 1
    lines = tensor.view(-1, last)
    # A large tensor repeats one block: the time does not depend on the values, and the CPU
    # generates random numbers on one thread only.
    block = torch.randn(min(len(lines), max(1, BLOCK_ELEMENTS // last)), last, device=device)
    block = VALUES[spec.values](block)
    for first in range(0, len(lines), len(block)):
        part = lines[first : first + len(block)]
        part.copy_(block[: len(part)])
    return tensor
