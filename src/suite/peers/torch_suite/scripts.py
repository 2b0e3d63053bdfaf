"""Scripts: my.py beside a program file my.sinter, with the same program as a function `program`.

In: a script's path. Out: its function, or NoFunction with the mistake. Needs no PyTorch itself.
"""

import functools
import inspect
import os
import re
import sys
import types

from torch_suite.problems import NoFunction, first_line


@functools.lru_cache(maxsize=None)
def module_of(path):
    """Runs the script, once per process. An import would leave a __pycache__ beside it."""
    stem = os.path.splitext(os.path.basename(path))[0]
    module = types.ModuleType("program_" + re.sub(r"\W", "_", stem))
    module.__file__ = path
    sys.modules[module.__name__] = module  # torch.compile looks for a function's module there
    try:
        with open(path, "rb") as file:
            code = compile(file.read(), path, "exec", dont_inherit=True)
        exec(code, module.__dict__)
    except (Exception, SystemExit) as problem:
        raise NoFunction(f"{path}: {first_line(problem)}") from problem
    return module


def program_of(path, inputs):
    """Its function, which has to take that many inputs."""
    function = getattr(module_of(path), "program", None)
    if not callable(function):
        raise NoFunction(f"{path} defines no function program(*inputs)")
    try:
        signature = inspect.signature(function)
    except ValueError:  # some built-in functions have none
        return function
    try:
        signature.bind(*range(inputs))
    except TypeError as problem:
        raise NoFunction(
            f"{path}: the program has {inputs} inputs, but the function is program{signature}: "
            f"{problem}"
        ) from problem
    return function
