#!/usr/bin/env python3
"""Fails on an #include that points the wrong way.

In: the sources of this repository and the table SINTER_FOLDERS in src/CMakeLists.txt.
Out: one line per violation, `file:line: reason`; exit status 1 if there is any.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
SUFFIXES = {".h", ".cuh", ".cpp", ".cu", ".def", ".inc"}
TREES = ("include", "src", "kernels", "cli", "tests", "examples", "python")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')

CUDA_HEADER = re.compile(
    r"(cuda|cupti|cublas|cudnn|cufft|curand|cusparse|nvrtc|nvml|nvtx|nvToolsExt|nvJitLink|cute/|"
    r"cutlass/|cooperative_groups|mma\.h$|crt/|driver_types|vector_types)")
CUDA_HOMES = ("src/cuda/", "kernels/cuda/")
TORCH_HEADER = re.compile(r"(torch/|ATen/|c10/|pybind11/|Python\.h$)")


def read_table():
    """SINTER_FOLDERS as {folder: every folder it may include, itself and transitive ones too}."""
    text = (ROOT / "src/CMakeLists.txt").read_text()
    body = re.search(r"set\(SINTER_FOLDERS(.*?)\n\)", text, re.S).group(1)
    rows = dict(re.findall(r'"([a-z]+):\s*([a-z ]*)"', body))
    allowed = {}

    def reach(folder, path=()):
        if folder in path:
            sys.exit(f"SINTER_FOLDERS has a cycle: {' -> '.join(path + (folder,))}")
        if folder not in rows:
            sys.exit(f"SINTER_FOLDERS names {folder}, which has no row")
        if folder not in allowed:
            used = (reach(name, path + (folder,)) for name in rows[folder].split())
            allowed[folder] = {folder}.union(*used)
        return allowed[folder]

    for folder in rows:
        reach(folder)
    return allowed


def is_standard_header(name):
    """<vector>, <cstdint>; a third-party header has a folder or a suffix."""
    return "/" not in name and "." not in name


def violation(path, quote, name, allowed):
    """Why `path` (relative, with /) may not include `name`; None if it may."""
    if CUDA_HEADER.match(name) and not path.startswith(CUDA_HOMES):
        return f"{name}: CUDA headers belong in src/cuda"
    if TORCH_HEADER.match(name) and not path.startswith("python/"):
        return f"{name}: torch belongs in python/"
    target = pathlib.PurePosixPath(name).parts
    tree, *rest = pathlib.PurePosixPath(path).parts

    if tree == "include":
        public = name.startswith("sinter/")
        if not public and not (quote == "<" and is_standard_header(name)):
            return f"{name}: a public header includes <sinter/..> and the standard library only"
    if tree == "examples" and target[0] in ("src", "cli", "tests", "kernels"):
        return f"{name}: an example uses the public headers only"
    if tree == "src" and len(rest) > 1:
        if rest[0] not in allowed:
            return f"src/{rest[0]} has no row in SINTER_FOLDERS (src/CMakeLists.txt)"
        if target[0] in ("cli", "tests", "examples", "python"):
            return f"{name}: src/ includes nothing from {target[0]}/"
        if target[0] == "src" and len(target) > 2 and target[1] not in allowed[rest[0]]:
            return f"src/{rest[0]} may not include {name} (see SINTER_FOLDERS)"
    if tree in ("src", "cli", "tests") and quote == '"' and not name.startswith("sinter/"):
        if not (ROOT / name).exists():
            return f'"{name}": no such file; includes start at the repository\'s root'
    return None


def main():
    allowed = read_table()
    count = 0
    failures = []
    for tree in TREES:
        for file in sorted((ROOT / tree).rglob("*")):
            if file.suffix not in SUFFIXES:
                continue
            count += 1
            path = file.relative_to(ROOT).as_posix()
            for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
                match = INCLUDE.match(line)
                reason = match and violation(path, match[1], match[2], allowed)
                if reason:
                    failures.append(f"{path}:{number}: {reason}")
    print("\n".join(failures + [f"{count} files, {len(failures)} includes the wrong way"]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
