#!/usr/bin/env python3
"""Prints a results.json of `sinter suite` as a Markdown table for the README.

  scripts/results_table.py bench/results/FILE.json [SHAPE ..]

Peers get a column each, and what Sinter gains over the faster of them.
"""
import json
import sys

PEERS = {"torch_eager": "PyTorch eager", "torch_compile": "torch.compile"}


def microseconds(us):
    return f"{us:.1f}" if us < 100 else f"{us:.0f}"


def cells(by_provider):
    fused, eager = by_provider["fused"], by_provider["eager"]
    yield microseconds(fused["median_us"])
    yield microseconds(eager["median_us"])
    yield f"{eager['median_us'] / fused['median_us']:.1f}x"
    peers = [by_provider[name]["median_us"] for name in PEERS if name in by_provider]
    if peers:
        yield from (microseconds(us) for us in peers)
        yield f"{min(peers) / fused['median_us']:.2f}x"
    yield microseconds(fused["limit_us"])
    yield f"{fused['limit_ratio']:.2f}"
    yield f"{fused['max_rel_err']:.0e}"


def main():
    results = json.load(open(sys.argv[1]))
    shapes = sys.argv[2:] or ["4096x4096"]
    groups = {}
    for row in results["rows"]:
        if row["shape"] in shapes:
            groups.setdefault((row["case"], row["shape"]), {})[row["provider"]] = row
    titles = ["case", "shape", "fused µs", "eager µs", "faster"]
    present = [name for name in PEERS if any(name in group for group in groups.values())]
    if present:
        titles += [f"{PEERS[name]} µs" for name in present] + ["faster than the best"]
    titles += ["copy µs", "x copy", "error"]
    print("| " + " | ".join(titles) + " |")
    print("|---" * len(titles) + "|")
    for (case, shape), by_provider in groups.items():
        print("| " + " | ".join([case, shape, *cells(by_provider)]) + " |")


if __name__ == "__main__":
    main()
