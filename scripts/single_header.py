#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes all of carom into one header, for those who would rather copy a file than install a package.

Usage: scripts/single_header.py OUTPUT
The text depends on the headers alone: they stand in the order in which carom.hpp includes them, each
once and before the first that needs it; the standard library's and Eigen's headers come first, sorted.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
UMBRELLA = "carom/carom.hpp"
LICENCE_LINE = "// SPDX-License-Identifier: BSD-3-Clause"
OWN_INCLUDE = re.compile(r'\s*#\s*include\s+"(carom/[\w/]+\.hpp)"')
FOREIGN_INCLUDE = re.compile(r"\s*#\s*include\s+<([\w./]+)>")
CONDITION = re.compile(r"\s*#\s*(if|ifdef|ifndef|endif)\b")


class Fault(Exception):
    pass


class Collector:
    """Walks the headers depth first, each once, and keeps what they say."""

    def __init__(self, include_folder, seen=()):
        self.include_folder = include_folder
        self.seen = set(seen)
        self.guarded = set()  # of those seen: stand inside a preprocessor condition
        self.foreign = set()
        self.body = []

    def add(self, name, depth=0):
        """Adds a header; `depth` counts the conditions around the place of its #include."""
        self.seen.add(name)
        nested = depth
        kept = []
        text = (self.include_folder / name).read_text(encoding="utf-8")
        for number, line in enumerate(text.splitlines(), 1):
            condition = CONDITION.match(line)
            if condition:
                nested += -1 if condition[1] == "endif" else 1
            own = OWN_INCLUDE.match(line)
            foreign = FOREIGN_INCLUDE.match(line)
            if own:
                kept += self.follow(own[1], nested, depth, f"{name}:{number}")
            elif foreign and nested == 0:
                self.foreign.add(foreign[1])
            elif line not in (LICENCE_LINE, "#pragma once"):
                kept.append(line)
        if nested != depth:
            raise Fault(f"{name}: a condition is left open")
        self.body += section(name, kept)

    def follow(self, name, nested, depth, place):
        """Adds what an #include names if it is new; returns what has to stand in its place.

        A header inside a condition stays there, and must bring no others: those would be missing
        wherever the condition does not hold.
        """
        if name in self.seen:
            if nested == 0 and name in self.guarded:
                raise Fault(f"{place}: {name} stands inside a condition further up")
            return []
        if nested == 0:
            self.add(name)
            return []
        if depth > 0:
            raise Fault(f"{place}: a condition decides whether {name} is seen")
        inside = Collector(self.include_folder, self.seen)
        inside.add(name, nested)
        self.seen.add(name)
        self.guarded.add(name)
        return inside.body


def section(name, lines):
    """The lines of one header under its name, without the blank lines around them."""
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")
    return [f"// ---- {name}", "", text, ""] if text else []


def sort_key(name):
    """Standard headers before Eigen's before others, as in every header of carom."""
    return (1 if name.startswith("Eigen/") else 2 if "." in name else 0, name)


def single_header(root):
    collector = Collector(root / "include")
    collector.add(UMBRELLA)
    licence = (root / "LICENSE").read_text("utf-8").splitlines()
    version = {
        part: re.search(rf"#define CAROM_VERSION_{part} (\d+)", "\n".join(collector.body))[1]
        for part in ("MAJOR", "MINOR", "PATCH")
    }
    top = [
        LICENCE_LINE,
        f"// carom {'.'.join(version.values())} in one header, made from include/carom; edit there.",
        "// It takes the place of <carom/carom.hpp>: a unit includes the one or the other.",
        "//",
        *[f"// {line}".rstrip() for line in licence],
        "#pragma once",
        "",
        *[f"#include <{name}>" for name in sorted(collector.foreign, key=sort_key)],
        "",
    ]
    return "\n".join([*top, *collector.body])


def main():
    if len(sys.argv) != 2:
        print("usage: single_header.py OUTPUT", file=sys.stderr)
        return 2
    output = pathlib.Path(sys.argv[1])
    try:
        text = single_header(ROOT)
    except (Fault, OSError) as fault:
        print(fault, file=sys.stderr)
        return 1
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
