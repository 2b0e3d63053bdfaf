"""Errors of a result against the same function in float64.

In: a workload, its inputs and outputs. Out: the row's fields of accuracy, or Unchecked.
"""

import math

import torch

from torch_suite.memory import needed_bytes
from torch_suite.workloads import as_tuple, text_of

CHECKED_ELEMENTS = 1 << 22
CHECKED_ROWS = 64
MOST_ELEMENTS = 1 << 24  # in that many rows, where they are long: each becomes several float64


class Unchecked(Exception):
    """Why the row has no errors."""


def checked_rows(inputs):
    """Indices of evenly spaced rows from first to last; None for everything."""
    with_rows = [spec for spec in inputs if spec.row_axis is not None]
    if not with_rows:
        return None
    rows = with_rows[0].shape[with_rows[0].row_axis]
    cols = math.prod(with_rows[0].shape) // rows
    least = max(1, min(CHECKED_ROWS, MOST_ELEMENTS // cols))
    count = min(rows, max(CHECKED_ELEMENTS // cols, least))
    if count == rows:
        return None
    return torch.arange(count) * (rows - 1) // max(count - 1, 1)


def selected(spec, tensor, index):
    if index is None or spec.row_axis is None:
        return tensor
    return tensor.index_select(spec.row_axis, index.to(tensor.device))


def is_raised(tensor):
    return tensor.dtype.is_floating_point and tensor.dtype != torch.float64


def reference(function, inputs):
    """Its results for the inputs, with floats as float64."""
    doubles = [tensor.double() if is_raised(tensor) else tensor for tensor in inputs]
    expected = as_tuple(function(*doubles))
    for tensor in expected:
        if is_raised(tensor):
            raise Unchecked(f"the function gives {text_of([tensor])} for f64 inputs: no reference")
    return expected


def largest_errors(actual, expected):
    """The largest |error|, absolute and relative to max(|expected|, rms of the finite expected
    values). NaN propagates."""
    same = (actual == expected) | (actual.isnan() & expected.isnan())
    actual, expected = actual.double(), expected.double()
    error = (actual - expected).abs().masked_fill_(same, 0)
    finite = expected[expected.isfinite()]
    rms = finite.square().mean().sqrt().item() if finite.numel() else 0.0
    relative = (error / expected.abs().clamp_min(rms)).masked_fill_(same, 0)
    return error.max().item(), relative.max().item()


def accuracy(workload, inputs, outputs, memory):
    """The same function in float64, on some of the rows if these do not depend on each other.
    Integers and bools are compared as they are. Raises Unchecked, or whatever the function does."""
    index = checked_rows(workload.inputs)
    needed = needed_bytes(workload.inputs, workload.outputs, torch.float64)
    if index is None and memory and needed > memory:
        raise Unchecked(f"in f64 it does not fit: about {needed >> 20} MiB are needed")
    some = [selected(spec, tensor, index) for spec, tensor in zip(workload.inputs, inputs)]
    expected = reference(workload.function, some)
    errors = [
        largest_errors(selected(spec, out, index), ref)
        for spec, out, ref in zip(workload.outputs, outputs, expected)
        if ref.numel() > 0
    ]
    return {
        "max_abs_err": json_number(nan_max(error[0] for error in errors)),
        "max_rel_err": json_number(nan_max(error[1] for error in errors)),
        "checked_elements": sum(ref.numel() for ref in expected),
    }


def nan_max(values):
    values = list(values)
    return math.nan if any(map(math.isnan, values)) else max(values, default=0)


def json_number(value):
    """JSON has neither NaN nor infinity."""
    if math.isnan(value):
        return "nan"
    return "inf" if math.isinf(value) else value
