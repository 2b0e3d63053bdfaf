#!/usr/bin/env python3
"""Prints a results.json of `sinter suite` as a Markdown table for README.md and docs/RESULTS.md.

  scripts/results_table.py bench/results/FILE.json [SHAPE ..]
  scripts/results_table.py --grid bench/results/FILE.json [OTHER.json ..]
  scripts/results_table.py --random bench/results/FILE.json [OTHER.json ..]

Each peer gets a column, and there is one for the speedup over the fastest. With --grid a row is a
case over all its shapes: how often it is not slower than the best peer, and near the copy; other
files, of other dtypes, add columns for near the copy. With --random the files are runs of
--set random, whose cells are counted together. The terms are defined in
src/suite/report/page/rules.json, which the report uses too.
"""
import json
import pathlib
import statistics
import sys

PEERS = {"torch_eager": "PyTorch eager", "torch_compile": "torch.compile"}
RULES = json.loads(
    (pathlib.Path(__file__).resolve().parents[1] / "src/suite/report/page/rules.json").read_text())


def microseconds(us):
    return f"{us:.1f}" if us < 100 else f"{us:.0f}"


def print_table(titles, rows):
    print("| " + " | ".join(titles) + " |")
    print("|---" * len(titles) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


def steady_us(row):
    """A peer's time: the median, or p20 if its samples vary widely (something else was running)."""
    is_unsteady = row["p80_us"] > RULES["far_apart"] * row["p20_us"]
    return row["p20_us"] if is_unsteady else row["median_us"]


def peer_times(cell):
    return [steady_us(cell[name]) for name in PEERS if name in cell]


def cells_of(results):
    """Rows of one case and shape, by provider."""
    cells = {}
    if "random" in results["meta"]:
        sys.exit("a run of --set random: use --random")
    for row in results["rows"]:
        if row["dtype"] != results["rows"][0]["dtype"]:
            sys.exit("rows of several types: sinter suite --dtype")
        cells.setdefault((row["case"], row["shape"]), {})[row["provider"]] = row
    return cells


def columns(cell):
    fused = cell["fused"]
    yield microseconds(fused["median_us"])
    if "eager" in cell:
        yield microseconds(cell["eager"]["median_us"])
        yield f"{cell['eager']['median_us'] / fused['median_us']:.1f}x"
    peers = peer_times(cell)
    if peers:
        yield from (microseconds(us) for us in peers)
        yield f"{min(peers) / fused['median_us']:.2f}x"
    yield microseconds(fused["limit_us"])
    yield f"{fused['limit_ratio']:.2f}"
    yield f"{fused['max_rel_err']:.0e}"


def shapes_table(results, shapes):
    cells = {key: cell for key, cell in cells_of(results).items() if key[1] in shapes}
    providers = {name for cell in cells.values() for name in cell}
    titles = ["case", "shape", "fused µs"]
    if "eager" in providers:
        titles += ["eager µs", "faster"]
    present = [name for name in PEERS if name in providers]
    if present:
        titles += [f"{PEERS[name]} µs" for name in present] + ["faster than the best"]
    titles += ["copy µs", "x copy", "error"]
    print_table(titles, ([case, shape, *columns(cell)] for (case, shape), cell in cells.items()))


def is_near_copy(fused):
    is_large = fused["bytes_min"] >= RULES["large_bytes"]
    return fused["limit_ratio"] <= RULES["near_copy_large" if is_large else "near_copy"]


def near_copy(cells):
    return f"{sum(is_near_copy(cell['fused']) for cell in cells)} of {len(cells)}"


def summary(cells):
    gains = [min(peer_times(cell)) / cell["fused"]["median_us"] for cell in cells]
    level = sum(gain * RULES["noise"] >= 1 for gain in gains)
    return [
        f"{level} of {len(cells)}",
        f"{min(gains):.2f}x",
        f"{statistics.median(gains):.2f}x",
        f"{max(gains):.2f}x",
        near_copy(cells),
    ]


def cells_by_case(results):
    """Cells by case, plus 'all'."""
    by_case = {}
    for (case, _), cell in cells_of(results).items():
        by_case.setdefault(case, []).append(cell)
    by_case["all"] = [cell for cells in by_case.values() for cell in cells]
    return by_case


def grid_table(results, others):
    by_case = cells_by_case(results)
    without = [cell for cell in by_case["all"] if not peer_times(cell)]
    if without or not by_case["all"]:
        sys.exit(f"{len(without)} cells of {len(by_case['all'])} have no peer's time: "
                 "sinter suite --peers torch")
    for other in others:
        if cells_of(other).keys() != cells_of(results).keys():
            sys.exit(f"the results of {other['rows'][0]['dtype']} are of other cases or shapes")
    titles = ["case", "not slower", "least", "median", "most", "near the copy"]
    titles += [f"in {other['rows'][0]['dtype']}" for other in others]
    more = [cells_by_case(other) for other in others]
    rows = [
        [case, *summary(cells), *(near_copy(other[case]) for other in more)]
        for case, cells in by_case.items()
    ]
    print_table(titles, rows)


def is_timed(row):
    """Measured, and not wrong."""
    if row["median_us"] is None or "error" in row:
        return False
    error, tolerance = row["max_rel_err"], row["tolerance"]
    return error is None or tolerance is None or float(error) <= tolerance


def random_cells(files):
    """Cells of all files with a fused time, each by provider, by case plus 'all'."""
    by_case = {}
    for results in files:
        if "random" not in results["meta"]:
            sys.exit("not a run of --set random")
        cells = {}
        for row in results["rows"]:
            if is_timed(row):
                key = (row["case"], row["shape"], row["dtype"])
                cells.setdefault(key, {})[row["provider"]] = row
        for (case, _, _), cell in cells.items():
            if "fused" in cell:
                by_case.setdefault(case, []).append(cell)
    by_case = dict(sorted(by_case.items()))
    by_case["all"] = [cell for cells in by_case.values() for cell in cells]
    return by_case


def random_near_copy(cells, is_large):
    """How many cells of that size are near the copy by the random set's rule."""
    limit = RULES["near_copy_large_random" if is_large else "near_copy_random"]
    ratios = [cell["fused"]["limit_ratio"] for cell in cells
              if (cell["fused"]["bytes_min"] >= RULES["large_bytes"]) == is_large
              and cell["fused"]["limit_ratio"] is not None]
    if not ratios:
        return "-"
    return f"{sum(ratio <= limit for ratio in ratios)} of {len(ratios)}, most {max(ratios):.2f}x"


def random_row(cells):
    gains = [min(peer_times(cell)) / cell["fused"]["median_us"] for cell in cells
             if peer_times(cell)]
    level = sum(gain * RULES["noise"] >= 1 for gain in gains)
    rated = [f"{level} of {len(gains)}", f"{min(gains):.2f}x", f"{statistics.median(gains):.2f}x",
             f"{max(gains):.2f}x"] if gains else ["-"] * 4
    return [*rated, random_near_copy(cells, True), random_near_copy(cells, False)]


def random_table(files):
    megabytes = RULES["large_bytes"] / 1e6
    titles = ["case", "not slower", "least", "median", "most",
              f"within {RULES['near_copy_large_random']:.2f}x of the copy, from {megabytes:.0f} MB",
              f"within {RULES['near_copy_random']:.2f}x of the copy, below"]
    print_table(titles, [[case, *random_row(cells)] for case, cells in random_cells(files).items()])
    seeds = ", ".join(str(results["meta"]["random"]["seed"]) for results in files)
    print(f"\nSeeds: {seeds}")


def main():
    arguments = sys.argv[1:]
    kind = arguments.pop(0) if arguments[:1] in (["--grid"], ["--random"]) else None
    if not arguments:
        sys.exit(__doc__)
    if kind == "--random":
        random_table([json.load(open(name)) for name in arguments])
        return
    results = json.load(open(arguments[0]))
    if kind == "--grid":
        grid_table(results, [json.load(open(name)) for name in arguments[1:]])
    else:
        shapes_table(results, arguments[1:] or ["4096x4096"])


if __name__ == "__main__":
    main()
