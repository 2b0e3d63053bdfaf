"""PyTorch's rows of the fusion suite, for `sinter suite --peers torch`: eager and torch.compile.

In: argv[1] is the device; then one request a line on stdin, {"case", "shape", "dtype", "device",
"seconds", "threads", "memory"}. Out: one line of JSON each on stdout: a hello {"versions",
"providers", "compiles_ahead"} first, then {"rows": [..]} or {"error": ..}. The end of stdin ends
the process. A request {"compile_ahead": [{"case", "shape", "dtype"}, ..], "workers", "threads",
"memory"} is answered with {"compiled": how many} now and then, and {"ready": .., "failed": ..} at
the end. With "worker" as argv[2] it is one of the processes that compile for another.
"""

import collections
import ctypes
import functools
import gc
import json
import math
import os
import platform
import queue
import signal
import subprocess
import sys
import threading
import time


class Channel:
    """The two ends of the conversation. What libraries print on stdout goes to stderr."""

    def __init__(self):
        self.requests = queue.SimpleQueue()
        self._in = os.fdopen(os.dup(0), "r", encoding="utf-8")
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        # Processes that libraries start must not hold the conversation open.
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)
        # A thread reads, so that the asker's end is noticed in the middle of a measurement too.
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self._in:
            self.requests.put(line)
        os._exit(0)

    def say(self, message):
        try:
            self._out.write(json.dumps(message, allow_nan=False) + "\n")
            self._out.flush()
        except BrokenPipeError:
            os._exit(0)


signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started us decides when to stop
channel = Channel()
# Graphs go to a folder beside this script, which whoever started us removes: no run finds what
# another one compiled or tuned. Someone who names a folder wants just that.
OWN_CACHE = "TORCHINDUCTOR_CACHE_DIR" not in os.environ
IS_WORKER = sys.argv[2:3] == ["worker"]
if OWN_CACHE and not IS_WORKER:
    cache = os.path.join(os.path.dirname(os.path.abspath(__file__)), "inductor-cache")
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = cache
    os.environ["TRITON_CACHE_DIR"] = os.path.join(cache, "triton")
try:
    import torch
    import torch.nn.functional as F
except Exception as problem:  # a broken installation raises more than ImportError
    channel.say({"missing": f"{type(problem).__name__}: {problem}"})
    os._exit(1)


# The cases: src/suite/pointwise_cases.cpp and row_cases.cpp, as a user of PyTorch writes them.


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
PROVIDERS = ["torch_eager", "torch_compile"]

CHECKED_ELEMENTS = 1 << 22
CHECKED_ROWS = 64
CALL_ELEMENTS = 128 * 128
CALL_SECONDS = 0.02
BLOCK_ELEMENTS = 1 << 24


class Unavailable(Exception):
    """This PyTorch, or this machine, cannot do it: no failure of the row."""


# Inputs and accuracy.


def empty_input(what, rows, cols, dtype, device):
    sizes = {"matrix": (rows, cols), "transposed": (cols, rows), "vector": (cols,)}[what.layout]
    return torch.empty(sizes, dtype=dtype, device=device)


def make_input(what, rows, cols, dtype, device):
    tensor = empty_input(what, rows, cols, dtype, device)
    last = tensor.shape[-1]
    lines = tensor.view(-1, last)
    # A large tensor repeats one block: its time does not depend on the values, and the CPU makes
    # random numbers on one thread only.
    block = torch.randn(min(len(lines), max(1, BLOCK_ELEMENTS // last)), last, device=device)
    if what.values == "shares":
        block = (1 + block / 2) / last
    elif what.values == "softmax":
        block = F.softmax(block, dim=1)
    for first in range(0, len(lines), len(block)):
        part = lines[first : first + len(block)]
        part.copy_(block[: len(part)])
    return tensor


def as_tuple(result):
    return result if isinstance(result, tuple) else (result,)


def checked_rows(rows, cols):
    """Indices of whole rows, spread evenly from the first to the last; None for all of them."""
    count = min(rows, max(CHECKED_ELEMENTS // cols, CHECKED_ROWS))
    if count == rows:
        return None
    return torch.arange(count) * (rows - 1) // max(count - 1, 1)


def largest_errors(actual, expected):
    """The largest |error|, alone and relative to max(|expected|, rms of expected). NaN stays."""
    actual = actual.double()
    same = (actual == expected) | (actual.isnan() & expected.isnan())
    error = (actual - expected).abs().masked_fill_(same, 0)
    rms = expected.square().mean().sqrt().item()
    relative = (error / expected.abs().clamp_min(rms)).masked_fill_(same, 0)
    return error.max().item(), relative.max().item()


def accuracy(case, inputs, outputs, rows, cols):
    """Every case works row by row: the same function in float64, on some of the rows."""
    index = checked_rows(rows, cols)
    index = slice(None) if index is None else index.to(inputs[0].device)
    doubles = []
    for what, tensor in zip(case.inputs, inputs):
        if what.layout == "matrix":
            tensor = tensor[index]
        elif what.layout == "transposed":
            tensor = tensor[:, index]
        doubles.append(tensor.double())
    expected = as_tuple(case.function(*doubles))
    errors = [largest_errors(out[index], ref) for out, ref in zip(as_tuple(outputs), expected)]
    return {
        "max_abs_err": json_number(nan_max(error[0] for error in errors)),
        "max_rel_err": json_number(nan_max(error[1] for error in errors)),
        "checked_elements": sum(ref.numel() for ref in expected),
    }


def nan_max(values):
    values = list(values)
    return math.nan if any(map(math.isnan, values)) else max(values)


def json_number(value):
    """JSON has neither NaN nor infinity."""
    if math.isnan(value):
        return "nan"
    return "inf" if math.isinf(value) else value


# Timing.


class WallClock:
    SAMPLE_US = 200
    SHORT_US = 5000  # shorter calls get an unmeasured one before them
    MAX_CALLS = 2000
    PAUSE_S = 60e-6  # for the threads of whoever ran last, which spin for a while

    def wait(self):
        pass

    def warm_up(self, run):
        """How long a call takes, about."""
        us = self._time(run, 1)
        return min(us, self._time(run, 3 if us < self.SHORT_US else 1))

    def sample(self, run, about_us):
        if about_us < self.SHORT_US:
            time.sleep(self.PAUSE_S)
            run()
        calls = math.ceil(self.SAMPLE_US / about_us)
        return self._time(run, min(max(calls, 1), self.MAX_CALLS))

    @staticmethod
    def _time(run, calls):
        start = time.perf_counter()
        for _ in range(calls):
            run()
        return (time.perf_counter() - start) * 1e6 / calls


class CudaClock:
    LEAST_FLUSH = 256 << 20
    LEAST_FILLS = 3  # of both: as the stopwatch of Sinter's own kernels
    MOST_FILLS = 64

    def __init__(self):
        l2 = getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 0)
        self.flush_bytes = max(2 * l2, self.LEAST_FLUSH)
        self._flush = torch.empty(self.flush_bytes, dtype=torch.int8, device="cuda")
        self._reset_l2 = self._find_reset()
        self._fill_s = math.inf
        self._fill_s = min(self.sample(self._flush.zero_, 0) for _ in range(3)) * 1e-6

    @staticmethod
    def _find_reset():
        """Lines that a kernel asked to be evicted last (Inductor's do) outlive any flush: its next
        call would find them, and so would whoever reads the same inputs."""
        try:
            return ctypes.CDLL("libcuda.so.1").cuCtxResetPersistingL2Cache
        except (OSError, AttributeError):
            return lambda: None

    def wait(self):
        torch.cuda.synchronize()

    def warm_up(self, run):
        """What a call costs its caller, about, in us."""
        host_us = math.inf
        for _ in range(3):
            start = time.perf_counter()
            run()
            host_us = min(host_us, (time.perf_counter() - start) * 1e6)
        self.wait()
        return host_us

    def sample(self, run, host_us):
        """On a cold L2. The flush keeps the GPU busy until the host has made the call: a GPU that
        caught up would wait for the host between the events."""
        self.wait()
        self._reset_l2()
        fills = 1 + math.ceil(2e-6 * host_us / self._fill_s)
        for _ in range(min(max(fills, self.LEAST_FILLS), self.MOST_FILLS)):
            self._flush.zero_()
        start = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        start.record()
        run()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) * 1e3


@functools.lru_cache(maxsize=None)
def clock_of(device):
    """One a process: what it flushes caches with is not given back between cases."""
    return CudaClock() if device == "cuda" else WallClock()


def held_by_clock(device):
    return clock_of(device).flush_bytes if device == "cuda" and clock_of.cache_info().currsize else 0


MIN_SAMPLES = 5
MAX_SAMPLES = 2000


def time_in_turns(runs, seconds, clock):
    """A sample of each in turns, starting with another each round: samples of each, sorted."""
    warm = [clock.warm_up(run) for run in runs]
    samples = [[] for _ in runs]
    start = time.perf_counter()
    for turn in range(MAX_SAMPLES):
        if turn >= MIN_SAMPLES and time.perf_counter() - start > seconds:
            break
        for k in range(len(runs)):
            i = (k + turn) % len(runs)
            samples[i].append(clock.sample(runs[i], warm[i]))
    return [sorted(each) for each in samples]


def timing_fields(samples):
    def at(share):
        return samples[int(share * (len(samples) - 1) + 0.5)]

    return {
        "median_us": at(0.5),
        "p20_us": at(0.2),
        "p80_us": at(0.8),
        "min_us": samples[0],
        "samples": len(samples),
    }


def host_cost_us(run, clock):
    """Many calls without waiting for their results, divided by their number: median of batches."""
    run()
    clock.wait()
    batches = []
    spent = 0.0
    while spent < CALL_SECONDS and len(batches) < MAX_SAMPLES:
        start = time.perf_counter()
        calls = 0
        while calls < 100 and (calls == 0 or time.perf_counter() - start < CALL_SECONDS / 10):
            run()
            calls += 1
        seconds = time.perf_counter() - start
        clock.wait()
        spent += seconds
        batches.append(seconds * 1e6 / calls)
    return sorted(batches)[len(batches) // 2]


# torch.compile.


def set_up_compiler():
    """Every shape is a recompilation; past a limit Dynamo would run the function uncompiled."""
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
    """Once a process: importing the compiler and starting its workers is no case's compile time."""
    try:
        torch.compile(negated, dynamic=False)(torch.ones(8, device=device))
    except Exception as problem:  # the case's own compilation will say the same
        print(f"torch.compile of a negation: {problem}", file=sys.stderr)
    # What is loaded now stays: looking through it for garbage takes a tenth of a second each time.
    gc.collect()
    gc.freeze()


def compiled(function, device):
    if not hasattr(torch, "compile"):
        raise Unavailable(f"PyTorch {torch.__version__} has no torch.compile")
    try:
        set_up_compiler()
        load_compiler(device)
        torch._dynamo.reset()
        # A whole graph or an error: nothing runs uncompiled without being noticed.
        return torch.compile(function, dynamic=False, fullgraph=True)
    except Exception as problem:
        raise Unavailable(f"torch.compile: {first_line(problem)}") from problem


class InductorCounts:
    """Inductor's own count of the kernels it made, where this version has one."""

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


# Compiling ahead. Worker processes compile what will be measured, all at once, and the measuring
# process finds the graphs on disk. Nothing is timed meanwhile, and no kernel is tuned: Inductor
# tries its configurations later, in the measuring process, alone on the machine.

WORKER_BYTES = 1 << 30  # of GPU memory, besides tensors: a context, and what is loaded into it
FREE_SHARE = 0.6  # of the memory that is free, for the tensors of all workers


def do_not_run_kernels():
    """A kernel is compiled before its first run; that run would only tune it, in a crowd."""
    try:
        from torch._inductor.runtime.triton_heuristics import CachingAutotuner

        CachingAutotuner.run = lambda self, *args, **kwargs: None
    except Exception as problem:  # internal names, or no Triton; see forget_tuning()
        print(f"kernels run while compiling: {first_line(problem)}", file=sys.stderr)


def forget_tuning():
    """What was tuned in a crowd was tuned badly."""
    for folder, _, names in os.walk(os.environ["TORCHINDUCTOR_CACHE_DIR"]):
        for name in names:
            if name.endswith(".best_config"):
                os.remove(os.path.join(folder, name))


def compile_cell(cell, device):
    """In a worker: the compile time in ms."""
    case = CASES[cell["case"]]
    rows, cols = map(int, cell["shape"].split("x"))
    inputs = [empty_input(what, rows, cols, DTYPES[cell["dtype"]], device) for what in case.inputs]
    function = compiled(case.function, device)
    start = time.perf_counter()
    function(*inputs)
    return (time.perf_counter() - start) * 1e3


def answer_worker(line, device):
    cell = json.loads(line)
    if cell["threads"]:
        torch.set_num_threads(cell["threads"])  # generated code depends on it
    try:
        with torch.no_grad():
            return {"compile_ms": compile_cell(cell, device)}
    except Exception as problem:
        return {"error": first_line(problem)}
    finally:
        release_all(device)


class CrowdOfWorkers:
    """Processes that compile, each with a thread here that gives it one cell after the other."""

    def __init__(self, cells, threads, device, memory):
        # The largest first: at the end all workers have something left to do.
        self._waiting = sorted(cells, key=cell_bytes, reverse=True)
        self._threads = threads
        self._device = device
        self._room = memory  # for tensors of cells that are being compiled
        self._changed = threading.Condition()
        self._busy = 0
        self.done = queue.SimpleQueue()  # (cell, ms or None); a None for each worker that ends

    def work(self, name):
        """The thread of one worker."""
        environment = {**os.environ, "TORCHINDUCTOR_COMPILE_THREADS": "1"}
        arguments = [sys.executable, os.path.abspath(__file__), name, "worker"]
        worker = None
        try:
            worker = subprocess.Popen(
                arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
            )
            worker.stdout.readline()  # its hello
            while (cell := self._take()) is not None:
                milliseconds = None
                try:
                    worker.stdin.write(json.dumps({**cell, "threads": self._threads}) + "\n")
                    worker.stdin.flush()
                    milliseconds = json.loads(worker.stdout.readline()).get("compile_ms")
                finally:
                    self._give_back(cell)
                    self.done.put((cell, milliseconds))
        except Exception as problem:  # the others go on
            print(f"a compiling process failed: {first_line(problem)}", file=sys.stderr)
        finally:
            if worker is not None:
                worker.kill()
                worker.wait()
            self.done.put(None)

    def _take(self):
        """The largest that has room."""
        with self._changed:
            while self._waiting:
                for i, cell in enumerate(self._waiting):
                    if cell_bytes(cell) <= self._room:
                        self._room -= cell_bytes(cell)
                        self._busy += 1
                        return self._waiting.pop(i)
                if self._busy == 0:  # too large: left to the measuring process
                    return None
                self._changed.wait()
            return None

    def _give_back(self, cell):
        with self._changed:
            self._room += cell_bytes(cell)
            self._busy -= 1
            self._changed.notify_all()


def cell_bytes(cell):
    return needed_bytes(CASES[cell["case"]], *map(int, cell["shape"].split("x")), cell["dtype"])


AHEAD_MS = {}  # what compiling took, by (case, shape, dtype)


def compile_ahead(request, device):
    cells = [cell for cell in request["compile_ahead"] if cell["case"] in CASES]
    workers = min(request["workers"], len(cells))
    memory = request["memory"]
    if device == "cuda":
        memory = torch.cuda.mem_get_info()[0]
        workers = min(workers, max(1, int(memory * (1 - FREE_SHARE) / WORKER_BYTES)))
    crowd = CrowdOfWorkers(cells, request["threads"], device, int(memory * FREE_SHARE))
    for _ in range(workers):
        threading.Thread(target=crowd.work, args=(sys.argv[1],), daemon=True).start()
    load_compiler(device)  # meanwhile: it takes as long as the workers take to start
    compiled_cells = failed = 0
    while workers:
        ended = crowd.done.get()
        if ended is None:
            workers -= 1
            continue
        cell, milliseconds = ended
        if milliseconds is None:
            failed += 1
        else:
            AHEAD_MS[cell["case"], cell["shape"], cell["dtype"]] = milliseconds
            compiled_cells += 1
        channel.say({"compiled": compiled_cells + failed})
    forget_tuning()
    return {"ready": compiled_cells, "failed": len(request["compile_ahead"]) - compiled_cells}


# A row.

SKIPPED_IF = (  # what a message says when the machine or PyTorch lacks something
    "not implemented for",
    "No working C++ compiler found",
    "InvalidCxxCompiler",
    "Failed to find C compiler",
    "Cannot find a working triton installation",
    "TritonMissing",
)
OUT_OF_MEMORY_IF = ("out of memory", "can't allocate memory", "not enough memory")


def first_line(problem):
    lines = str(problem).strip().splitlines()
    return f"{type(problem).__name__}: {lines[0].strip() if lines else ''}"[:400]


def outcome(problem):
    """The row's `skipped` or `error`."""
    text = f"{type(problem).__name__}: {problem}"
    if isinstance(problem, MemoryError) or any(each in text for each in OUT_OF_MEMORY_IF):
        return {"skipped": f"does not fit: {first_line(problem)}"}
    if isinstance(problem, Unavailable):
        return {"skipped": str(problem)}
    if any(each in text for each in SKIPPED_IF):
        return {"skipped": first_line(problem)}
    return {"error": first_line(problem)}


class Contestant:
    """A provider on its way through the measurement. Once `ended`, it is left out."""

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
        each.reasons["kernels"] = "on the CPU Inductor counts loops, of which a call runs several"
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


KEPT_SHARE = 1 / 32  # of all memory: asking for it takes time; more is for whoever runs next


def release(device):
    """Gives freed memory back to the device, if there is much of it."""
    if device != "cuda":
        return
    torch.cuda.synchronize()
    if torch.cuda.memory_reserved() > torch.cuda.mem_get_info()[1] * KEPT_SHARE:
        torch.cuda.empty_cache()


def release_all(device):
    """After a measurement. Looking for garbage takes time, more with each graph: only where it
    seems to hold tensors, after an error, or on the CPU, where nobody counts them."""
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


def needed_bytes(case, rows, cols, dtype):
    matrices = sum(what.layout != "vector" for what in case.inputs) + 2  # a result, an intermediate
    return matrices * rows * cols * DTYPES[dtype].itemsize


def check_fits(needed, memory):
    """On the CPU: memory that is not there ends the process, it raises nothing."""
    if memory and needed > memory:
        raise Unavailable(
            f"does not fit: about {needed >> 20} MiB are needed, {memory >> 20} MiB are free"
        )


def measure(request, device):
    """Rows of all providers. What goes wrong is in them."""
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


def answer(line, device):
    try:
        request = json.loads(line)
        if "compile_ahead" in request:
            return compile_ahead(request, device)
        if request["case"] not in CASES:
            return {"error": f"the PyTorch peer has no case {request['case']}"}
        if request.get("threads"):
            torch.set_num_threads(request["threads"])
        with torch.no_grad():
            return {"rows": measure(request, device)}
    except Exception as problem:
        return {"error": first_line(problem)}


def versions():
    found = {"torch": torch.__version__, "python": platform.python_version()}
    if torch.version.cuda:
        found["torch_cuda"] = torch.version.cuda
    try:
        import triton

        found["triton"] = triton.__version__
    except Exception:  # optional, and only for torch.compile on a GPU
        pass
    return {name: str(version) for name, version in found.items()}


def open_device(name):
    """Where tensors go: cpu, or cuda with the named GPU made the current one."""
    if not name.startswith("cuda"):
        return "cpu"
    if not torch.cuda.is_available():
        channel.say({"error": f"PyTorch {torch.__version__} sees no CUDA device"})
        os._exit(1)
    if ":" in name:
        torch.cuda.set_device(int(name.split(":")[1]))
    return "cuda"


def main():
    device = open_device(sys.argv[1] if len(sys.argv) > 1 else "cpu")
    channel.say({"versions": versions(), "providers": PROVIDERS, "compiles_ahead": OWN_CACHE})
    if IS_WORKER:
        do_not_run_kernels()
    while True:
        reply = (answer_worker if IS_WORKER else answer)(channel.requests.get(), device)
        try:
            release_all(device)
        except Exception as problem:  # after some errors a process cannot use its GPU any more
            print(f"ending: {problem}", file=sys.stderr)
            channel.say(reply)
            os._exit(1)
        channel.say(reply)


main()
