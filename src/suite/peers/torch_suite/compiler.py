"""torch.compile: its settings, and Inductor's information about its kernels.

In: a case's function. Out: the compiled one, or Unavailable.
"""

import functools
import gc
import sys

import torch

from torch_suite.problems import Unavailable, first_line


def set_up_compiler():
    """Raises recompile limits: every shape recompiles, and past the limit Dynamo runs uncompiled."""
    import torch._dynamo

    for name in (
        "cache_size_limit",
        "recompile_limit",
        "accumulated_cache_size_limit",
        "accumulated_recompile_limit",
    ):
        if hasattr(torch._dynamo.config, name):
            setattr(torch._dynamo.config, name, 1 << 16)


def negated(x):
    return -x


@functools.lru_cache(maxsize=None)
def load_compiler(device):
    """Once per process: importing the compiler and starting its workers belongs to no case."""
    try:
        torch.compile(negated, dynamic=False)(torch.ones(8, device=device))
    except Exception as problem:  # the case's own compilation reports the same
        print(f"torch.compile of a negation: {problem}", file=sys.stderr)
    # Excludes what is loaded now from garbage collection, which takes 0.1 s each time.
    gc.collect()
    gc.freeze()


def compiled(function, device):
    if not hasattr(torch, "compile"):
        raise Unavailable(f"PyTorch {torch.__version__} has no torch.compile")
    try:
        set_up_compiler()
        load_compiler(device)
        torch._dynamo.reset()
        # A whole graph or an error: nothing runs uncompiled unnoticed.
        return torch.compile(function, dynamic=False, fullgraph=True)
    except Exception as problem:
        raise Unavailable(f"torch.compile: {first_line(problem)}") from problem


class InductorCounts:
    """Inductor's kernel count, if this version has one."""

    def __init__(self):
        try:
            from torch._dynamo.utils import counters
            from torch._inductor import metrics

            metrics.reset()
            counters.clear()
            self._metrics, self._counters = metrics, counters
        except Exception:  # internal names: another version may not have them
            self._metrics = self._counters = None

    def kernels(self):
        return getattr(self._metrics, "generated_kernel_count", 0) or None

    def from_disk(self):
        if self._counters is None:
            return False
        inductor, autograd = self._counters["inductor"], self._counters["aot_autograd"]
        return inductor["fxgraph_cache_hit"] > 0 or autograd["autograd_cache_hit"] > 0
