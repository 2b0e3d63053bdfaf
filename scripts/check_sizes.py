#!/usr/bin/env python3
"""Fails on a file, function or parameter list in src/ or cli/ that is too long.

In: the C++ sources of this repository. A function counts from its signature to its closing brace.
Out: one line per violation, `file:line: reason`; exit status 1 if there is any.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
TREES = ("src", "cli")
SUFFIXES = {".h", ".cpp"}
MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 60
MAX_PARAMETERS = 6

SCOPE = re.compile(r"^(?:.*[\s>])?(?:namespace|class|struct|union|enum|extern)\b[^()=]*$", re.S)
NAME = re.compile(r"((?:[\w~]+(?:<[^<>()]*>)?\s*::\s*)*"
                  r"(?:operator\s*(?:\(\)|\[\]|[^\s\w(]+|[\w:<>&* ]+?)|~?\w+))\s*$")
NOT_FUNCTIONS = {"requires", "decltype", "noexcept", "alignas", "explicit", "sizeof", "if", "for",
                 "static_assert", "__attribute__", "defined"}
LITERAL_OR_COMMENT = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<tag>[^()\s]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.S | re.M)


def blank(text):
    """`text` without comments, literals and preprocessor lines; line numbers stay."""
    return LITERAL_OR_COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text)


def matching(text, start, closing):
    """The index of the bracket that closes the one at `start`."""
    opening = text[start]
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] == opening) - (text[i] == closing)
        if depth == 0:
            return i
    return len(text) - 1


def count_parameters(text):
    """Commas outside of brackets, plus one; `text` is what stands between the parentheses."""
    if not text.strip() or text.strip() == "void":
        return 0
    depth = 0
    commas = 0
    for before, c in zip(" " + text, text):
        if c in "([{<":
            depth += 1
        elif c in ")]}" or (c == ">" and before != "-"):
            depth -= 1
        commas += c == "," and depth == 0
    return commas + 1


def signature(statement):
    """(name, parameter count) of a function's declaration; None for any other statement."""
    i = 0
    while (i := statement.find("(", i)) >= 0:
        if statement[:i].rstrip().endswith("operator"):  # operator()
            i = statement.find("(", i + 1)
        end = matching(statement, i, ")")
        name = NAME.search(statement[:i])
        if "=" in re.sub(r"operator\s*\S+|[<>=!]=", "", statement[:i]):
            return None  # an initializer
        if name and name[1] not in NOT_FUNCTIONS and not name[1].isupper():
            return name[1], count_parameters(statement[i + 1:end])
        i = end + 1
    return None


def functions(text):
    """Yields (first line, last line, name, parameter count) for the functions that `text` declares
    or defines; both lines are the same for a declaration."""
    text = blank(text)
    start = i = 0

    def line_of(index):
        return text.count("\n", 0, index) + 1

    def first_line():
        return line_of(start + len(text[start:i]) - len(text[start:i].lstrip()))

    while i < len(text):
        c = text[i]
        if c == "(":
            i = matching(text, i, ")")
        elif c in ";}" or (c == ":" and text[start:i].strip() in ("public", "private", "protected")):
            found = signature(text[start:i]) if c == ";" else None
            if found:
                line = first_line()
                yield line, line, *found
            start = i + 1
        elif c == "{":
            statement = text[start:i]
            found = signature(statement)
            if SCOPE.match(re.sub(r"template\s*<[^{}]*?>\s*(?=\w+\s)", "", statement)) and not found:
                start = i + 1
            elif not found or is_member_initializer(statement):
                i = matching(text, i, "}")
            else:
                end = matching(text, i, "}")
                yield first_line(), line_of(end), *found
                start = end + 1
                i = end
        i += 1


def is_member_initializer(statement):
    """Whether a brace after `statement`, a constructor's, belongs to `: member{..}`."""
    after = statement[statement.rfind(")") + 1:]
    return bool(re.search(r"\)\s*:[^:]", statement)) and bool(re.search(r"[\w>]\s*$", after))


def violations(path, text):
    lines = text.count("\n")
    if lines > MAX_FILE_LINES:
        yield f"{path}:1: the file has {lines} lines, at most {MAX_FILE_LINES} are allowed"
    for first, last, name, parameters in functions(text):
        if last - first + 1 > MAX_FUNCTION_LINES:
            yield (f"{path}:{first}: {name}() has {last - first + 1} lines, at most "
                   f"{MAX_FUNCTION_LINES} are allowed")
        if parameters > MAX_PARAMETERS:
            yield (f"{path}:{first}: {name}() has {parameters} parameters, at most "
                   f"{MAX_PARAMETERS} are allowed")


def main():
    files = sorted(file for tree in TREES for file in (ROOT / tree).rglob("*")
                   if file.suffix in SUFFIXES)
    failures = [failure for file in files
                for failure in violations(file.relative_to(ROOT).as_posix(),
                                          file.read_text(errors="replace"))]
    print("\n".join(failures + [f"{len(files)} files, {len(failures)} too long"]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
