#!/usr/bin/env python3
"""Compares two builds of the sinter tool, case by case in turns, so that both meet the same noise.

    scripts/compare_builds.py before/sinter after/sinter --device cuda --shapes 4096x4096,33x100003

Each round runs every case with both tools; a cell's time is the least median of all rounds. Prints
the cells that changed most. With --out, writes all of them as JSON.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

CASES = (
    "pointwise_chain,softmax,double_softmax,softmax_backward,layernorm,norm_chain,h_red_pw,"
    "h_red_red,bias_gelu,bias_dropout_add,bias_dropout_add_t"
)
SHAPES = (
    "128x128,1024x1024,4096x4096,16384x1024,128x65536,65536x128,2048x16384,"
    "300x4000,4096x50257,33x100003,100000x17"
)


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before", help="the sinter tool of one build")
    parser.add_argument("after", help="the sinter tool of the other build")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--cases", default=CASES, help="comma-separated")
    parser.add_argument("--shapes", default=SHAPES, help="comma-separated")
    parser.add_argument("--dtype", default="f32")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", default="0.02", help="of measuring each cell, in each round")
    parser.add_argument("--out", help="file for all cells, as JSON")
    return parser.parse_args()


def measure(tool, case, arguments, folder):
    """Medians by (case, shape), in microseconds."""
    command = [tool, "suite", "--cases", case, "--shapes", arguments.shapes]
    command += ["--device", arguments.device, "--dtype", arguments.dtype, "--providers", "fused"]
    command += ["--seconds", arguments.seconds, "--out", folder]
    run = subprocess.run(command, capture_output=True, text=True)
    results = pathlib.Path(folder, "results.json")
    if run.returncode != 0 or not results.exists():
        sys.exit(f"{' '.join(command)}\nfailed with {run.returncode}:\n{run.stderr[-2000:]}")
    rows = json.loads(results.read_text())["rows"]
    return {(row["case"], row["shape"]): row["median_us"] for row in rows if row["median_us"]}


def measure_in_turns(arguments):
    """The least medians of each tool, by cell."""
    tools = {"before": arguments.before, "after": arguments.after}
    least = {}
    cases = arguments.cases.split(",")
    for turn in range(arguments.rounds):
        for number, case in enumerate(cases):
            print(f"round {turn + 1}/{arguments.rounds}: {case}", file=sys.stderr)
            order = sorted(tools, reverse=(turn + number) % 2 == 1)
            for which in order:
                with tempfile.TemporaryDirectory() as folder:
                    medians = measure(tools[which], case, arguments, folder)
                for cell, time in medians.items():
                    times = least.setdefault(cell, {})
                    times[which] = min(time, times.get(which, time))
    return {cell: times for cell, times in least.items() if len(times) == 2}


def main():
    arguments = parse_arguments()
    cells = measure_in_turns(arguments)
    if not cells:
        sys.exit("no cell was measured with both builds")
    rows = [
        {
            "case": case,
            "shape": shape,
            "before_us": times["before"],
            "after_us": times["after"],
            "ratio": times["after"] / times["before"],
        }
        for (case, shape), times in cells.items()
    ]
    rows.sort(key=lambda row: row["ratio"])
    median = rows[len(rows) // 2]["ratio"]
    print(f"{len(rows)} cells on {arguments.device}; median after/before {median:.3f}")
    shown = rows if len(rows) <= 20 else rows[:6] + [None] + rows[-14:]
    for row in shown:
        if row is None:
            print("   ...")
            continue
        print(
            f"{row['ratio']:6.3f}  {row['case']:20} {row['shape']:>14}"
            f" {row['before_us']:10.2f} -> {row['after_us']:10.2f} us"
        )
    if arguments.out:
        meta = {"command": " ".join(sys.argv), "device": arguments.device, "dtype": arguments.dtype}
        pathlib.Path(arguments.out).write_text(json.dumps({"meta": meta, "cells": rows}, indent=1))


if __name__ == "__main__":
    main()
