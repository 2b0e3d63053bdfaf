"""A results.json as `sinter suite` writes it, made up: what the report's test draws.

Three cases on a 10x10 grid in two types from four providers, with rows that failed or were skipped,
several plans, and text that would run as a script if the page let it.
"""

import math

SIZES = [128 << i for i in range(10)]
DTYPES = {"f32": 4, "bf16": 2}
# case: (operations an element, eager's kernels, fused kernels)
CASES = {"softmax": (5, 5, 1), "layernorm": (9, 9, 1), "norm_chain": (6, 6, 3)}
PROVIDERS = ["fused", "eager", "torch_compile", "torch_eager"]
HOSTILE = "</script><script>window.hacked = 1</script><!-- <img src=x onerror='window.hacked = 2'>"


def is_skipped(rows, cols):
    return rows * cols >= 1 << 31


def limit_us(rows, cols, dtype):
    return 1.5 + 2 * rows * cols * DTYPES[dtype] / 200e3


def median_us(case, rows, cols, dtype, provider):
    """Fused loses at the smallest shapes, so that both sides of the scale are seen."""
    limit = limit_us(rows, cols, dtype)
    size = math.log2(rows * cols)
    fused = limit * (1.08 + 0.04 * CASES[case][2] * (32 - size) / 4) + 0.5
    slower = {
        "fused": 1, "eager": CASES[case][1] * (0.1 + 0.9 * (size - 13) / 19),
        "torch_compile": 0.93 + 0.08 * abs(math.log2(cols) - 10),
        "torch_eager": 1.2 + CASES[case][1] * (size - 10) / 40,
    }
    return round(fused * slower[provider], 3)


def limit_ratios(rows, cols, dtype, median):
    ratio = median / limit_us(rows, cols, dtype)
    return {"limit_ratio": ratio, "limit_ratio_p20": ratio * 0.98, "limit_ratio_p80": ratio * 1.03}


def make_row(case, rows, cols, dtype, provider):
    flops, eager_kernels, fused_kernels = CASES[case]
    least = 2 * rows * cols * DTYPES[dtype]
    kernels = {"fused": fused_kernels, "eager": eager_kernels}.get(provider)
    median = median_us(case, rows, cols, dtype, provider)
    row = {
        "case": case, "shape": f"{rows}x{cols}", "dtype": dtype, "device": "cpu",
        "provider": provider, "median_us": median, "p20_us": round(median * 0.97, 3),
        "p80_us": round(median * 1.06, 3), "min_us": round(median * 0.95, 3), "samples": 40, "visits": 2,
        "limit_us": round(limit_us(rows, cols, dtype), 3), **limit_ratios(rows, cols, dtype, median),
        "call_us": 1.5 if rows * cols <= 1 << 16 else None, "bytes_min": least,
        "bytes_planned": least * (kernels or 1) if kernels else None, "bytes_measured": None,
        "buffer_bytes": least * ((kernels or 1) - 1) // 2 if kernels else None,
        "compile_ms": 61.5 * kernels if kernels else None,
        "kernels_from_disk": 0 if kernels else None, "kernels": kernels, "max_abs_err": 2.4e-7,
        "max_rel_err": 1.3e-7, "tolerance": 1e-5 if provider == "fused" else None,
        "checked_elements": min(rows * cols, 65536), "flops": flops * rows * cols,
        "instructions": None, "peak_bytes": least // 2 if kernels else None,
        "reasons": {"bytes_measured": "no memory counters on this machine",
                    "instructions": "perf_event_open: permission denied"},
    }
    if not kernels:
        for field in ("bytes_planned", "buffer_bytes", "compile_ms", "kernels", "peak_bytes"):
            row["reasons"][field] = "a peer does not say"
    if is_skipped(rows, cols):
        row["skipped"] = "needs 17.2 GB, 12.0 GB are free"
    if (case, rows, cols, provider) == ("layernorm", 128, 128, "torch_compile"):
        row["error"] = HOSTILE
    if (case, rows, cols, dtype, provider) == ("norm_chain", 256, 256, "bf16", "fused"):
        row["max_rel_err"] = "nan"
    if "skipped" in row or "error" in row:
        for field in ("median_us", "p20_us", "p80_us", "min_us", "samples", "limit_us", "call_us",
                      "limit_ratio", "limit_ratio_p20", "limit_ratio_p80", "max_abs_err", "max_rel_err", "tolerance", "checked_elements"):
            row[field] = None
    return row


class PlanMaker:
    """Nodes and edges in order; what a node reads from another kernel is an unfused edge."""

    def __init__(self):
        self.nodes, self.edges = [], []

    def node(self, op, kernel, sources=(), detail="f32 (128, 128)", output=False, reason=""):
        at = len(self.nodes)
        self.nodes.append({"id": at, "op": op, "detail": detail, "kernel": kernel,
                           "output": output})
        for source in sources:
            fused = self.nodes[source]["kernel"] in (None, kernel)
            self.edges.append({"from": source, "to": at, "fused": fused,
                               "reason": "" if fused else reason, "bytes": 0 if fused else 131072})
        return at

    def plan(self, case, dtype, shapes):
        count = 1 + max(node["kernel"] or 0 for node in self.nodes)
        kernels = [{"name": f"{case}_{i}", "tiles": "4 rows x 128", "bytes_read": 65536,
                    "bytes_written": 65536, "flops": 98304, "predicted_us": 2.4}
                   for i in range(count)]
        return {"case": case, "dtype": dtype, "shapes": shapes, "nodes": self.nodes,
                "edges": self.edges, "kernels": kernels}


def softmax_plan(dtype, shapes, split):
    """In one kernel, or with the division in a second one."""
    make = PlanMaker()
    second = 1 if split else 0
    why = "rows of 65536 do not fit into a tile"
    x = make.node("input", None)
    top = make.node("row_max", 0, [x], "f32 (128, 1)")
    centred = make.node("sub", 0, [x, top])
    powers = make.node("exp", 0, [centred])
    total = make.node("row_sum", 0, [powers], "f32 (128, 1)")
    make.node("div", second, [powers, total], output=True, reason=why)
    return make.plan("softmax", dtype, shapes)


def layernorm_plan(dtype, shapes):
    make = PlanMaker()
    x, weight, bias = (make.node("input", None, detail=detail) for detail in
                       ("f32 (128, 128)", "f32 (128)", "f32 (128)"))
    epsilon = make.node("constant", None, detail="f32 1e-05")
    total = make.node("row_sum", 0, [x], "f32 (128, 1)")
    mean = make.node("mul", 0, [total], "f32 (128, 1)")
    centred = make.node("sub", 0, [x, mean])
    square = make.node("mul", 0, [centred, centred])
    variance = make.node("row_sum", 0, [square], "f32 (128, 1)")
    shifted = make.node("add", 0, [variance, epsilon], "f32 (128, 1)")
    scale = make.node("rsqrt", 0, [shifted], "f32 (128, 1)")
    normal = make.node("mul", 0, [centred, scale])
    weighted = make.node("mul", 0, [normal, weight])
    make.node("add", 0, [weighted, bias], output=True)
    return make.plan("layernorm", dtype, shapes)


def norm_chain_plan(dtype, shapes):
    make = PlanMaker()
    value = make.node("input", None)
    for step in range(3):
        total = make.node("row_sum", step, [value], "f32 (128, 1)",
                          reason="a row is read twice: " + HOSTILE)
        value = make.node("mul", step, [value, total], output=step == 2,
                          reason="a row is read twice, and does not fit into the scratch memory")
    return make.plan("norm_chain", dtype, shapes)


def make_results(slower=1.0, with_peers=True):
    providers = [name for name in PROVIDERS if with_peers or not name.startswith("torch")]
    rows = [make_row(case, r, c, dtype, provider) for case in CASES for dtype in DTYPES
            for r in SIZES for c in SIZES for provider in providers]
    for row in rows:
        if row["median_us"]:
            for field in ("median_us", "p20_us", "p80_us", "min_us", "limit_ratio",
                          "limit_ratio_p20", "limit_ratio_p80"):
                row[field] = round(row[field] * slower, 3)
    shapes = [f"{r}x{c}" for r in SIZES for c in SIZES if not is_skipped(r, c)]
    wide = [shape for shape in shapes if shape.endswith("x65536")]
    rest = [shape for shape in shapes if not shape.endswith("x65536")]
    plans = []
    for dtype in DTYPES:
        plans += [softmax_plan(dtype, rest, False), softmax_plan(dtype, wide, True),
                  layernorm_plan(dtype, shapes), norm_chain_plan(dtype, shapes)]
    meta = {
        "date": "2026-11-15T10:20:30Z", "device": "cpu",
        "description": "AMD EPYC 9354, 32 cores, 768 kB L2, 256 MB L3",
        "commit": "0123456789abcdef0123456789abcdef01234567",
        "command_line": "sinter suite --set grid --dtype f32,bf16 --peers torch",
        "version": "0.1.0", "versions": {"compiler": "g++ 12.2.0", "torch": "2.11.0"},
        "seconds": 0.4, "copy_bytes_per_s": 200e9, "peak_flops_per_s": 2.1e12,
        "interrupted": True,
        "not_run": [{"case": "matmul", "reason": "there are no contractions yet"}],
        "notes": ["torch_compile was measured without CUDA graphs. " + HOSTILE],
    }
    return {"format": 2, "meta": meta, "rows": rows, "plans": plans}
