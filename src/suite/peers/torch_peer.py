"""PyTorch's rows of the fusion suite, for `sinter suite --peers torch`: eager and torch.compile.

In: argv[1] is the device; then one request a line on stdin: a cell (see torch_suite/workloads.py) with
"device", "seconds", "threads" and "memory". Out: one line of JSON each on stdout: a hello
{"versions", "providers", "compiles_ahead"} first, then {"rows": [..]} or {"error": ..}. The end of
stdin ends the process. A request {"compile_ahead": [cell, ..], "workers", "threads", "memory"} is
answered with {"compiled": how many} now and then, and {"ready": .., "failed": ..} at the end.
With "worker" as argv[2] it is one of the processes that compile for another.
The parts are in torch_suite/, one subject a file.
"""

import json
import os
import platform
import signal
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
if FOLDER not in sys.path:  # PYTHONSAFEPATH leaves it out
    sys.path.insert(0, FOLDER)

from torch_suite.channel import Channel

signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process decides when to stop
channel = Channel()  # before importing PyTorch: redirects what libraries print on stdout
# Graphs go to a folder beside this script, which the parent process removes, so that no run reuses
# what another one compiled or tuned. A folder set by the user is respected.
OWN_CACHE = "TORCHINDUCTOR_CACHE_DIR" not in os.environ
IS_WORKER = sys.argv[2:3] == ["worker"]
if OWN_CACHE and not IS_WORKER:
    cache = os.path.join(FOLDER, "inductor-cache")
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = cache
    os.environ["TRITON_CACHE_DIR"] = os.path.join(cache, "triton")
try:
    import torch
    import torch.nn.functional
except Exception as problem:  # a broken installation raises more than ImportError
    channel.say({"missing": f"{type(problem).__name__}: {problem}"})
    os._exit(1)

# Most of these import PyTorch.
from torch_suite.ahead import answer_worker, compile_ahead, do_not_run_kernels
from torch_suite.memory import release_all
from torch_suite.problems import first_line
from torch_suite.rows import PROVIDERS, measure


def answer(line, device):
    try:
        request = json.loads(line)
        if "compile_ahead" in request:
            return compile_ahead(request, device, channel.say)
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
    """The torch device: cpu, or cuda with the named GPU made current."""
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
        except Exception as problem:  # after some errors a process can no longer use its GPU
            print(f"ending: {problem}", file=sys.stderr)
            channel.say(reply)
            os._exit(1)
        channel.say(reply)


main()
