"""A row: one case at one shape, measured by each provider in turns.

In: a request {"case", "shape", "dtype", "seconds", ..}. Out: its rows, as results.json has them.
"""

import gc
import time

import torch

from torch_suite.accuracy import accuracy
from torch_suite.ahead import AHEAD_MS
from torch_suite.cases import CASES, DTYPES
from torch_suite.clocks import clock_of, host_cost_us, time_in_turns, timing_fields
from torch_suite.compiler import InductorCounts, compiled
from torch_suite.inputs import make_input
from torch_suite.memory import check_fits, measure_peak, needed_bytes, release
from torch_suite.problems import outcome

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


def first_call_eager(each, case, inputs, device, clock, ahead_ms):
    each.reasons["compile_ms"] = "nothing is compiled ahead of a call"
    each.reasons["kernels"] = "a profiler that counts them would slow what is measured"
    each.reasons["kernels_from_disk"] = "its kernels are part of PyTorch"
    each.run = lambda: case.function(*inputs)
    return each.run()


def first_call_compiled(each, case, inputs, device, clock, ahead_ms):
    function = compiled(case.function, device)
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


def first_call(each, case, inputs, shape, device, clock, ahead_ms):
    outputs = FIRST_CALL[each.row["provider"]](each, case, inputs, device, clock, ahead_ms)
    if each.row["provider"] == "torch_eager" and inputs[0].dtype == torch.float64:
        for field in ("max_abs_err", "max_rel_err", "checked_elements"):
            each.reasons[field] = "the reference is this very function"
    else:
        each.row.update(accuracy(case, inputs, outputs, *shape))


def measure(request, device):
    """Rows of all providers, including errors."""
    case = CASES[request["case"]]
    rows, cols = map(int, request["shape"].split("x"))
    dtype = DTYPES[request["dtype"]]
    contestants = [Contestant(provider) for provider in PROVIDERS]
    ahead_ms = AHEAD_MS.get((request["case"], request["shape"], request["dtype"]))

    def alive():
        return [each for each in contestants if not each.ended]

    try:
        clock = clock_of(device)
        check_fits(needed_bytes(case, rows, cols, request["dtype"]), request.get("memory", 0))
        torch.manual_seed(1)
        inputs = [make_input(what, rows, cols, dtype, device) for what in case.inputs]
        for each in contestants:
            try:
                first_call(each, case, inputs, (rows, cols), device, clock, ahead_ms)
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
                if rows * cols <= CALL_ELEMENTS:
                    each.row["call_us"] = host_cost_us(each.run, clock)
                else:
                    each.reasons["call_us"] = "measured at 128x128 and below only"
    except Exception as problem:
        for each in alive():
            each.end(problem)
    finally:
        gc.enable()
    return [each.finish() for each in contestants]
