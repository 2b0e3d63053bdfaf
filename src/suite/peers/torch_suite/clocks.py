"""Timing: the clocks of the CPU and of a GPU, and what is measured with them.

In: calls to be timed. Out: microseconds a call, and the row's fields of timing.
"""

import ctypes
import functools
import math
import time

import torch

MIN_SAMPLES = 5
MAX_SAMPLES = 2000
CALL_SECONDS = 0.02


class WallClock:
    SAMPLE_US = 200
    SHORT_US = 5000  # shorter calls get an unmeasured call first
    MAX_CALLS = 2000
    PAUSE_S = 60e-6  # worker threads of the previous function spin for a while

    def wait(self):
        pass

    def warm_up(self, run):
        """Approximate duration of a call."""
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
    LEAST_FILLS = 3  # as src/cuda/event_stopwatch.cpp does for Sinter's kernels
    MOST_FILLS = 64

    def __init__(self):
        l2 = getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 0)
        self.flush_bytes = max(2 * l2, self.LEAST_FLUSH)
        self._flush = torch.empty(self.flush_bytes, dtype=torch.int8, device="cuda")
        # Lines marked evict-last (Inductor does that) survive a flush: the next call, or anything
        # else that reads the same inputs, would find them in the cache.
        self._reset_l2 = ctypes.CDLL("libcuda.so.1").cuCtxResetPersistingL2Cache
        self._fill_s = math.inf
        self._fill_s = min(self.sample(self._flush.zero_, 0) for _ in range(3)) * 1e-6

    def wait(self):
        torch.cuda.synchronize()

    def warm_up(self, run):
        """Approximate host cost of a call in us."""
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
    """One per process: its flush buffer is kept between cases."""
    return CudaClock() if device == "cuda" else WallClock()


def held_by_clock(device):
    if device != "cuda" or not clock_of.cache_info().currsize:
        return 0
    return clock_of(device).flush_bytes


def time_in_turns(runs, seconds, clock):
    """Samples of each function, taken in turns with a rotating start; sorted."""
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
