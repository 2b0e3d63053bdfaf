#!/usr/bin/env python3
"""Prints a results.json of `sinter suite` as the Markdown table of the README.

  scripts/results_table.py bench/results/FILE.json [SHAPE ..]
"""
import json
import sys


def main():
    results = json.load(open(sys.argv[1]))
    shapes = sys.argv[2:] or ["4096x4096"]
    by_key = {(row["case"], row["shape"], row["provider"]): row for row in results["rows"]}
    print("| case | shape | fused µs | eager µs | faster | copy of the same bytes µs | x copy | error |")
    print("|---|---|---|---|---|---|---|---|")
    for (case, shape, provider), fused in by_key.items():
        if provider != "fused" or shape not in shapes:
            continue
        eager = by_key[case, shape, "eager"]
        print(f"| {case} | {shape} | {fused['median_us']:.0f} | {eager['median_us']:.0f} "
              f"| {eager['median_us'] / fused['median_us']:.1f}x | {fused['limit_us']:.0f} "
              f"| {fused['median_us'] / fused['limit_us']:.2f} | {fused['max_rel_err']:.0e} |")


if __name__ == "__main__":
    main()
