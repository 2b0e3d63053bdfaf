"""A row: one workload, measured by each provider in turns.

In: a request: a cell (see workloads.py) with "seconds" and "memory". Out: its rows, as results.json
has them.
"""

import gc
import math
import time

import torch

from torch_suite.accuracy import Unchecked, accuracy, is_raised
from torch_suite.ahead import AHEAD_MS, key_of
from torch_suite.clocks import clock_of, host_cost_us, time_in_turns, timing_fields
from torch_suite.compiler import InductorCounts, compiled
from torch_suite.inputs import make_input
from torch_suite.memory import check_fits, measure_peak, needed_bytes, release
from torch_suite.problems import first_line, outcome
from torch_suite.workloads import as_tuple, check_outputs, workload_of

PROVIDERS = ["torch_eager", "torch_compile"]
CALL_ELEMENTS = 128 * 128


class Contestant:
    """A provider being measured. Once `ended`, it is skipped."""

    def __init__(self, provider):
        self.row = {"provider": provider}
        self.reasons = {
            "bytes_planned": "a peer has no plan",
            "bytes_measured": "no counters of memory traffic are read for a peer",
            "buffer_bytes": "PyTorch does not say which memory is an intermediate's",
            "instructions": "no counters of instructions are read for a peer",
            "tolerance": "a peer is held to no bound",
        }
        self.run = None
        self.ended = False

    def end(self, problem):
        self.row.update(outcome(problem))
        self.run = None
        self.ended = True

    def finish(self):
        return {**self.row, "reasons": self.reasons}


def first_call_eager(each, function, inputs, device, clock, ahead_ms):
    each.reasons["compile_ms"] = "nothing is compiled ahead of a call"
    each.reasons["kernels"] = "a profiler that counts them would slow what is measured"
    each.reasons["kernels_from_disk"] = "its kernels are part of PyTorch"
    each.run = lambda: function(*inputs)
    return each.run()


def first_call_compiled(each, function, inputs, device, clock, ahead_ms):
    function = compiled(function, device)
    counts = InductorCounts()
    start = time.perf_counter()
    outputs = function(*inputs)
    clock.wait()
    each.row["compile_ms"] = (time.perf_counter() - start) * 1e3
    if not counts.from_disk():
        ahead_ms = None
    if ahead_ms is not None:
        each.row["compile_ms"] += ahead_ms
    each.row["kernels"] = counts.kernels() if device == "cuda" else None
    if device != "cuda":
        each.reasons["kernels"] = "on the CPU Inductor counts loops, and a call runs several"
    elif each.row["kernels"] is None:
        each.reasons["kernels"] = "Inductor did not say how many kernels it made"
    if ahead_ms is not None:
        each.reasons["kernels_from_disk"] = (
            "compiled ahead, beside other graphs: compile_ms is that time and what it then took to "
            "load the graph from disk and to tune it"
        )
    elif counts.from_disk():
        each.reasons["kernels_from_disk"] = "Inductor took the whole graph from its cache on disk"
    else:
        each.reasons["kernels_from_disk"] = (
            "Inductor does not say; its cache on disk had no graph for this"
        )
    each.run = lambda: function(*inputs)
    return outputs


FIRST_CALL = {"torch_eager": first_call_eager, "torch_compile": first_call_compiled}


def check(each, workload, inputs, outputs, memory):
    try:
        if each.row["provider"] == "torch_eager" and not any(map(is_raised, inputs)):
            raise Unchecked("the reference is this very function")
        each.row.update(accuracy(workload, inputs, outputs, memory))
    except Exception as problem:  # it is measured all the same
        reason = problem if isinstance(problem, Unchecked) else f"in f64: {first_line(problem)}"
        for field in ("max_abs_err", "max_rel_err", "checked_elements"):
            each.reasons[field] = str(reason)


def first_call(each, workload, inputs, device, clock, request):
    call = FIRST_CALL[each.row["provider"]]
    ahead_ms = AHEAD_MS.get(key_of(request))
    outputs = as_tuple(call(each, workload.function, inputs, device, clock, ahead_ms))
    check_outputs(workload, outputs)
    check(each, workload, inputs, outputs, request.get("memory", 0))


def measure(request, device):
    """Rows of all providers, including errors."""
    contestants = [Contestant(provider) for provider in PROVIDERS]

    def alive():
        return [each for each in contestants if not each.ended]

    try:
        clock = clock_of(device)
        workload = workload_of(request)
        tensors = workload.inputs + workload.outputs
        check_fits(needed_bytes(workload.inputs, workload.outputs), request.get("memory", 0))
        torch.manual_seed(1)
        inputs = [make_input(spec, device) for spec in workload.inputs]
        for each in contestants:
            try:
                first_call(each, workload, inputs, device, clock, request)
                measure_peak(each, device)
            except Exception as problem:
                each.end(problem)
            release(device)
        if alive():
            runs = [each.run for each in alive()]
            gc.disable()
            timings = time_in_turns(runs, request["seconds"], clock)
            for each, samples in zip(alive(), timings):
                each.row.update(timing_fields(samples))
                if max(math.prod(spec.shape) for spec in tensors) <= CALL_ELEMENTS:
                    each.row["call_us"] = host_cost_us(each.run, clock)
                else:
                    each.reasons["call_us"] = "measured at 128x128 and below only"
    except Exception as problem:
        for each in alive():
            each.end(problem)
    finally:
        gc.enable()
    return [each.finish() for each in contestants]
