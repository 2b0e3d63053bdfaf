#!/usr/bin/env python3
"""Fails if the documentation or a comment names a file of this repository that does not exist.

In: README.md and every .md under docs/: link targets, and words in backticks that look like a path
(they start with one of this repository's folders, or end in a source file's suffix). The sources:
words of comments that look like a path below a folder of this repository (numpy/lib/format.py is
not one).
Out: one line per missing path, `file:line: path`; exit status 1 if there is any.
"""

import os
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
SUFFIXES = (".md", ".h", ".cuh", ".cpp", ".cu", ".def", ".py", ".cmake", ".txt")
# Top-level folders: a path into one of them must exist.
FOLDERS = {"include", "src", "kernels", "cli", "python", "examples", "docs", "tests", "scripts",
           "cmake", ".ci"}
WRITTEN_AT_RUN_TIME = ("build/", "results/")
SOURCES = ("src", "include", "kernels", "cli", "tests")
SLASH_COMMENT = re.compile(r"(?<![:\w\"'])//(.*)")
HASH_COMMENT = re.compile(r"(?:^|\s)#(?![a-z]+\b)(.*)")
COMMENTS = {**dict.fromkeys((".h", ".cuh", ".cpp", ".def", ".js"), SLASH_COMMENT),
            **dict.fromkeys((".py", ".txt"), HASH_COMMENT)}
LINK = re.compile(r"\]\(([^)\s]+)(?:\s[^)]*)?\)")
CODE = re.compile(r"`([^`]+)`")
PATH = re.compile(r"^[\w.+-]+(/[\w.+-]+)*/?$")


def link_targets(line):
    for target in LINK.findall(line):
        target = target.split("#")[0]
        if target and not re.match(r"[a-z]+:", target):
            yield target


def code_paths(line):
    """Words in backticks that are paths; `src/fuse/plan.cpp:12` and `{a,b}.h` are understood."""
    for code in CODE.findall(LINK.sub("", line)):
        for word in code.split():
            word = re.sub(r":\d+$", "", word.strip("\"'<>,;:()"))
            for path in expand_braces(word):
                if path.startswith(WRITTEN_AT_RUN_TIME) or not PATH.match(path):
                    continue
                in_folder = "/" in path and path.split("/")[0] in FOLDERS
                if in_folder or path.endswith(SUFFIXES):
                    yield path


def expand_braces(word):
    match = re.search(r"\{([^{}]*)\}", word)
    if not match:
        return [word]
    heads = (word[:match.start()] + choice + word[match.end():] for choice in match[1].split(","))
    return [path for head in heads for path in expand_braces(head)]


def tails_of_paths():
    """Every file and folder by every tail of its path: base/view.h is src/base/view.h, too."""
    tails = set()
    for top in FOLDERS:
        for folder, folders, files in os.walk(ROOT / top):
            parts = os.path.relpath(folder, ROOT).split(os.sep)
            for name in files + folders + [""]:
                path = parts + [name] if name else parts
                tails.update("/".join(path[i:]) for i in range(len(path)))
    return tails


def comment_paths(text, comment):
    """(line number, path) for the words of comments that are paths with a slash."""
    for number, line in enumerate(text.splitlines(), 1):
        match = comment.search(line)
        if not match or "/" not in match[1]:
            continue
        for word in match[1].split():
            word = re.sub(r":\d+$", "", word.strip("\"'`<>,;:().").removesuffix("'s"))
            for path in expand_braces(word):
                path = path.rstrip("/")
                if "/" in path and PATH.match(path) and (
                        path.split("/")[0] in FOLDERS or path.endswith(SUFFIXES)):
                    yield number, path


def missing_in_comments():
    tails = tails_of_paths()
    missing = []
    count = 0
    for top in SOURCES:
        for folder, _, files in os.walk(ROOT / top):
            for name in sorted(files):
                comment = COMMENTS.get(os.path.splitext(name)[1])
                if not comment:
                    continue
                count += 1
                file = pathlib.Path(folder, name)
                text = file.read_text(errors="replace")
                missing += [f"{file.relative_to(ROOT)}:{number}: no {path}"
                            for number, path in comment_paths(text, comment)
                            if path.split("/")[0] in tails and path not in tails]
    return missing, count


def exists(path, page):
    """Relative to the page, the root, or include/. A bare name may be any file of that name."""
    if any((base / path).exists() for base in (page.parent, ROOT, ROOT / "include")):
        return True
    if "/" in path:
        return False
    return any(next((ROOT / folder).rglob(path), None) for folder in FOLDERS)


def main():
    pages = [page for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
             if page.exists()]
    missing = []
    for page in pages:
        in_block = False
        for number, line in enumerate(page.read_text().splitlines(), 1):
            if line.lstrip().startswith("```"):
                in_block = not in_block
            elif not in_block:
                where = f"{page.relative_to(ROOT)}:{number}"
                missing += [f"{where}: no {path}" for path in code_paths(line)
                            if not exists(path, page)]
                missing += [f"{where}: no {path}" for path in link_targets(line)
                            if not (page.parent / path).exists()]
    in_comments, sources = missing_in_comments()
    missing += in_comments
    print("\n".join(missing + [f"{len(pages)} pages and {sources} sources, "
                               f"{len(missing)} paths missing"]))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
