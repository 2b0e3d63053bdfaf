"""Errors of a result against the same case in float64, on the checked rows.

In: a case, its inputs and outputs. Out: the row's fields of accuracy.
"""

import math

import torch

CHECKED_ELEMENTS = 1 << 22
CHECKED_ROWS = 64
MOST_ELEMENTS = 1 << 24  # in that many rows, where they are long: each becomes several float64


def as_tuple(result):
    return result if isinstance(result, tuple) else (result,)


def checked_rows(rows, cols):
    """Indices of evenly spaced rows from first to last; None for all rows."""
    least = max(1, min(CHECKED_ROWS, MOST_ELEMENTS // cols))
    count = min(rows, max(CHECKED_ELEMENTS // cols, least))
    if count == rows:
        return None
    return torch.arange(count) * (rows - 1) // max(count - 1, 1)


def largest_errors(actual, expected):
    """The largest |error|, absolute and relative to max(|expected|, rms of expected). NaN propagates."""
    actual = actual.double()
    same = (actual == expected) | (actual.isnan() & expected.isnan())
    error = (actual - expected).abs().masked_fill_(same, 0)
    rms = expected.square().mean().sqrt().item()
    relative = (error / expected.abs().clamp_min(rms)).masked_fill_(same, 0)
    return error.max().item(), relative.max().item()


def accuracy(case, inputs, outputs, rows, cols):
    """The same function in float64 on some of the rows: every case works row by row."""
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
