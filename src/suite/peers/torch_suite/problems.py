"""Classifies failures: a limitation of the machine or of PyTorch, or an error.

In: an exception. Out: its first line, and a row's `skipped` or `error`.
"""

SKIPPED_IF = (  # parts of messages that mean the machine or PyTorch lacks something
    "not implemented for",
    "No working C++ compiler found",
    "InvalidCxxCompiler",
    "Failed to find C compiler",
    "Cannot find a working triton installation",
    "TritonMissing",
)
OUT_OF_MEMORY_IF = ("out of memory", "can't allocate memory", "not enough memory")


class NoFunction(Exception):
    """There is nothing to measure: an unknown case, or a mistake in a script. The row's error."""


class Unavailable(Exception):
    """This PyTorch or this machine cannot do it: not a failure of the row."""


def first_line(problem):
    lines = str(problem).strip().splitlines()
    return f"{type(problem).__name__}: {lines[0].strip() if lines else ''}"[:400]


def outcome(problem):
    """The row's `skipped` or `error`."""
    text = f"{type(problem).__name__}: {problem}"
    if isinstance(problem, MemoryError) or any(each in text for each in OUT_OF_MEMORY_IF):
        return {"skipped": f"does not fit: {first_line(problem)}"}
    if isinstance(problem, Unavailable):
        return {"skipped": str(problem)}
    if isinstance(problem, NoFunction):
        return {"error": str(problem)[:400]}
    if any(each in text for each in SKIPPED_IF):
        return {"skipped": first_line(problem)}
    return {"error": first_line(problem)}
