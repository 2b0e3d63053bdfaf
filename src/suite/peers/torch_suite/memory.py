"""Memory: what a case needs, the peak of a call, and releasing unused memory.

In: specs of tensors, or a device. Out: bytes.
"""

import gc
import math

import torch

from torch_suite.clocks import held_by_clock
from torch_suite.problems import Unavailable

KEPT_SHARE = 1 / 32  # of all memory, kept because allocating takes time; the rest is for other processes


def release(device):
    """Returns freed memory to the device if there is much of it."""
    if device != "cuda":
        return
    torch.cuda.synchronize()
    if torch.cuda.memory_reserved() > torch.cuda.mem_get_info()[1] * KEPT_SHARE:
        torch.cuda.empty_cache()


def release_all(device):
    """After a measurement. Looking for garbage takes time, more with each graph: only where it
    seems to hold tensors, after an error, or on the CPU, where they are not counted."""
    if device != "cuda" or torch.cuda.memory_allocated() > held_by_clock(device) + (64 << 20):
        gc.collect()
    release(device)


def measure_peak(each, device):
    if device != "cuda":
        each.reasons["peak_bytes"] = "PyTorch does not count the CPU's memory"
        return
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    each.run()
    torch.cuda.synchronize()
    each.row["peak_bytes"] = torch.cuda.max_memory_allocated() - before


def needed_bytes(inputs, outputs, dtype=None):
    """Of the tensors and one intermediate. With a `dtype`: if they were all of that one."""
    sizes = [
        math.prod(spec.shape) * (dtype or spec.dtype).itemsize for spec in [*inputs, *outputs]
    ]
    return sum(sizes) + max(sizes)


def check_fits(needed, memory):
    """On the CPU: memory that is not there ends the process, it raises nothing."""
    if memory and needed > memory:
        raise Unavailable(
            f"does not fit: about {needed >> 20} MiB are needed, {memory >> 20} MiB are free"
        )
