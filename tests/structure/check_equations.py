#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks docs/equations.md and docs/derivations/errata.md against the tree.

Runs from the repository root; prints one line per fault and exits with 1 if there is any.
Every header and every test named in a row exists, the test has a case of that name, sources are in
docs/references.bib, and every header that cites a source has a row in equations.md.
"""
import pathlib
import re
import sys

HEADERS = pathlib.Path("include/carom")
TESTS = pathlib.Path("tests")
EQUATIONS = pathlib.Path("docs/equations.md")
ERRATA = pathlib.Path("docs/derivations/errata.md")
BIBLIOGRAPHY = pathlib.Path("docs/references.bib")

CASE = re.compile(r'TEST_CASE\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)')
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
KEY = re.compile(r"\b[a-z]+(?:19|20)\d\d[a-z]+\b")
CITE = re.compile(r"@cite\s+([a-z]+(?:19|20)\d\d[a-z]+)")
TEST = re.compile(r"`([\w/]+_test\.cpp)`: ([^|]+)")


def case_names(path):
    """Names of a file's test cases, without what stands before the first colon."""
    text = path.read_text(encoding="utf-8")
    whole = ("".join(LITERAL.findall(match[1])) for match in CASE.finditer(text))
    return {name.split(": ", 1)[-1] for name in whole}


def test_faults(place, text):
    """Faults of the tests that a cell or a line names, as `file`: name of the case."""
    for file, name in TEST.findall(text.replace(r"\|", "¦")):
        path = TESTS / file
        if not path.exists():
            yield f"{place}: no {path}"
        elif name.strip().replace("¦", "|").rstrip(".") not in case_names(path):
            yield f"{place}: {path} has no test '{name.strip()}'"


def row_faults(place, row):
    """Faults of one row of equations.md: equation, headers, test."""
    cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
    if len(cells) != 3:
        yield f"{place}: expected three cells, got {len(cells)}"
        return
    for name in re.findall(r"`([^`]+)`", cells[1]):
        header = pathlib.Path(name) if name.startswith("apps/") else HEADERS / name
        if not header.exists():
            yield f"{place}: no {header}"
    if not re.search(r"`[\w/]+\.hpp`", cells[1]):
        yield f"{place}: names no header"
    if not TEST.search(cells[2]):
        yield f"{place}: names no test"
    yield from test_faults(place, cells[2])


def citation_faults(text):
    """Headers with a citation have a row; its source is in the bibliography."""
    for path in sorted(HEADERS.glob("*/*.hpp")):
        cited = CITE.findall(path.read_text(encoding="utf-8"))
        name = path.relative_to(HEADERS).as_posix()
        if cited and f"`{name}`" not in text:
            yield f"{EQUATIONS}: no row for {name}, which cites {cited[0]}"


def main():
    faults, rows = [], 0
    known = set(re.findall(r"^@\w+\{(\w+),", BIBLIOGRAPHY.read_text(encoding="utf-8"), re.M))
    for page in [EQUATIONS, ERRATA]:
        text = page.read_text(encoding="utf-8")
        for key in sorted(set(KEY.findall(text)) - known):
            faults.append(f"{page}: {key} is not in {BIBLIOGRAPHY}")
        for number, line in enumerate(text.splitlines(), 1):
            place = f"{page}:{number}"
            if page == ERRATA:
                faults += test_faults(place, line)
            elif line.startswith("| ") and not line.startswith(("| equation", "| source, ")):
                rows += 1
                faults += row_faults(place, line)
    faults += citation_faults(EQUATIONS.read_text(encoding="utf-8"))
    print("\n".join(faults) or f"{rows} equations, each with its header and its test")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
