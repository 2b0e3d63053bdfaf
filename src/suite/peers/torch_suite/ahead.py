"""Compiling ahead: worker processes compile what will be measured, all at once, and the measuring
process finds the graphs on disk. Nothing is timed meanwhile, and no kernel is tuned: Inductor tries
its configurations later, in the measuring process, alone on the machine.

In: the request {"compile_ahead": ..}. Out: graphs on disk, AHEAD_MS, and how many there are.
"""

import json
import os
import queue
import subprocess
import sys
import threading
import time

import torch

from torch_suite.compiler import compiled, load_compiler
from torch_suite.inputs import empty_input
from torch_suite.memory import needed_bytes, release_all
from torch_suite.problems import first_line
from torch_suite.workloads import specs_of, workload_of

WORKER_BYTES = 1 << 30  # GPU memory besides tensors: a context and its modules
FREE_SHARE = 0.6  # of the free memory, for the tensors of all workers

AHEAD_MS = {}  # compile times by key_of() a cell


def key_of(cell):
    return cell["case"], cell["shape"], cell["dtype"]


def do_not_run_kernels():
    """Skips first runs: kernels are compiled before them, and tuning on a busy machine is useless."""
    try:
        from torch._inductor.runtime.triton_heuristics import CachingAutotuner

        CachingAutotuner.run = lambda self, *args, **kwargs: None
    except Exception as problem:  # internal names, or no Triton; see forget_tuning()
        print(f"kernels run while compiling: {first_line(problem)}", file=sys.stderr)


def forget_tuning():
    """Drops tuning results from a busy machine, which are bad."""
    for folder, _, names in os.walk(os.environ["TORCHINDUCTOR_CACHE_DIR"]):
        for name in names:
            if name.endswith(".best_config"):
                os.remove(os.path.join(folder, name))


def compile_cell(cell, device):
    """In a worker: returns the compile time in ms."""
    workload = workload_of(cell)
    inputs = [empty_input(spec, device) for spec in workload.inputs]
    function = compiled(workload.function, device)
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
    """Compiling processes, each fed by a thread here with one cell after another."""

    def __init__(self, cells, threads, device, memory):
        # Largest first, so that all workers stay busy until the end.
        self._waiting = sorted(cells, key=cell_bytes, reverse=True)
        self._threads = threads
        self._device = device
        self._room = memory  # for tensors of cells being compiled
        self._changed = threading.Condition()
        self._busy = 0
        self.done = queue.SimpleQueue()  # (cell, ms or None); a None for each worker that ends

    def work(self, name):
        """The thread of one worker."""
        environment = {**os.environ, "TORCHINDUCTOR_COMPILE_THREADS": "1"}
        arguments = [sys.executable, os.path.abspath(sys.argv[0]), name, "worker"]
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
        except Exception as problem:  # the others continue
            print(f"a compiling process failed: {first_line(problem)}", file=sys.stderr)
        finally:
            if worker is not None:
                worker.kill()
                worker.wait()
            self.done.put(None)

    def _take(self):
        """The largest cell that fits."""
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
    return needed_bytes(specs_of(cell["inputs"]), specs_of(cell["outputs"]))


def compile_ahead(request, device, say):
    """Calls `say` with the number compiled; returns the final message."""
    cells = request["compile_ahead"]
    workers = min(request["workers"], len(cells))
    memory = request["memory"]
    if device == "cuda":
        memory = torch.cuda.mem_get_info()[0]
        workers = min(workers, max(1, int(memory * (1 - FREE_SHARE) / WORKER_BYTES)))
    crowd = CrowdOfWorkers(cells, request["threads"], device, int(memory * FREE_SHARE))
    for _ in range(workers):
        threading.Thread(target=crowd.work, args=(sys.argv[1],), daemon=True).start()
    load_compiler(device)  # meanwhile: takes as long as starting the workers
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
            AHEAD_MS[key_of(cell)] = milliseconds
            compiled_cells += 1
        say({"compiled": compiled_cells + failed})
    forget_tuning()
    return {"ready": compiled_cells, "failed": len(cells) - compiled_cells}
