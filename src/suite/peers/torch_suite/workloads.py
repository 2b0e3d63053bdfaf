"""Workloads: what is measured, a function and the tensors it takes and gives. A case of the suite and
a program from a file are the same here.

In: a cell of a request: {"case", "shape", "dtype", "inputs", "outputs"}, where a tensor is {"shape",
"dtype"} and perhaps "values" and "row_axis" (see TensorSpec in src/suite/cases/tensor_spec.h); with
"script", the path of a Python file, the function is that file's `program`. Out: a Workload.
"""

import collections

import torch

from torch_suite.cases import CASES
from torch_suite.problems import NoFunction
from torch_suite.scripts import program_of

Workload = collections.namedtuple("Workload", "function inputs outputs")
# `row_axis` is None in a program from a file: nothing is known about its rows.
TensorSpec = collections.namedtuple("TensorSpec", "shape dtype values row_axis")

DTYPES = {
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f64": torch.float64,
    "i32": torch.int32,
    "i64": torch.int64,
    "bool": torch.bool,
}


def specs_of(tensors):
    return [
        TensorSpec(
            tuple(each["shape"]), DTYPES[each["dtype"]], each.get("values"), each.get("row_axis")
        )
        for each in tensors
    ]


def workload_of(cell):
    inputs = specs_of(cell["inputs"])
    if "script" in cell:
        function = program_of(cell["script"], len(inputs))
    elif cell["case"] in CASES:
        function = CASES[cell["case"]]
    else:
        raise NoFunction(f"the PyTorch peer has no case {cell['case']}")
    return Workload(function, inputs, specs_of(cell["outputs"]))


def as_tuple(result):
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


def text_of(tensors):
    """Like f32(4096, 128), i64()."""
    names = {dtype: name for name, dtype in DTYPES.items()}
    return ", ".join(
        f"{names.get(each.dtype, each.dtype)}({', '.join(map(str, each.shape))})" for each in tensors
    )


def check_outputs(workload, outputs):
    """Other results than Sinter's would not be the same program."""
    if not all(isinstance(each, torch.Tensor) for each in outputs):
        raise NoFunction("the function returns something else than a tensor or several")
    found = [(tuple(each.shape), each.dtype) for each in outputs]
    if found != [(each.shape, each.dtype) for each in workload.outputs]:
        raise NoFunction(
            f"the function returns {text_of(outputs)}, but the program {text_of(workload.outputs)}"
        )
