#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The site lists everything: each page of docs/ and of the rooms stands in a table of contents, each public header and each
concept in the C++ reference, each name of the Python package in the Python reference; and nothing is listed that is not there.

Runs from the repository root; prints one line per fault and exits with 1 if there is any.
"""
import pathlib
import re
import sys

SITE = pathlib.Path("docs/site")
ROOMS = pathlib.Path("include/carom")
PACKAGE = pathlib.Path("python/carom/__init__.py")


def compare(what, listed, present):
    for name in sorted(present - listed):
        yield f"{SITE}: {what} {name} is not listed"
    for name in sorted(listed - present):
        yield f"{SITE}: {what} {name} is listed and does not exist"


def listed_pages():
    """What stands in tables of contents, as a path from the root of the repository."""
    for page in SITE.rglob("*.md"):
        for table in re.findall(r"^```\{toctree\}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S):
            for line in table.splitlines():
                if page_of_line := re.search(r"(?:^|<)/([\w/]+)>?$", line):
                    yield f"{page_of_line[1]}.md"


def main():
    pages = {*pathlib.Path("docs").rglob("*.md"), *ROOMS.glob("*/README.md"), *pathlib.Path("benchmarks").rglob("README.md")}
    pages = {page.as_posix() for page in pages} - {(SITE / "index.md").as_posix()}
    pages |= {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "examples/data/README.md", "python/README.md"}
    faults = [*compare("page", set(listed_pages()), pages)]

    reference = "".join(page.read_text(encoding="utf-8") for page in (SITE / "cpp").glob("*.md"))
    headers = [path for path in ROOMS.glob("*/*.hpp")]
    faults += compare("header", set(re.findall(r"\{doxygenfile\} (\S+)", reference)),
                      {path.relative_to("include").as_posix() for path in headers})
    concepts = {f"carom::{name}" for path in headers for name in re.findall(r"^concept (\w+)", path.read_text(encoding="utf-8"), re.M)}
    faults += compare("concept", set(re.findall(r"\{doxygenconcept\} (\S+)", reference)), concepts)

    python = (SITE / "python.md").read_text(encoding="utf-8")
    exported = re.search(r"^__all__ = \[(.*?)\]", PACKAGE.read_text(encoding="utf-8"), re.M | re.S)[1]
    names = {f"carom.{name}" for name in re.findall(r'"([A-Za-z]\w*)"', exported)}
    documented = {name for name in re.findall(r"^\.\. auto(?:class|function):: (\S+)", python, re.M) if name.count(".") == 1}
    faults += compare("name", documented, names)

    print("\n".join(faults) or f"{len(pages)} pages, {len(headers)} headers, {len(concepts)} concepts and {len(names)} names are listed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
