#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Counts the branches of include/carom that tests took, from clang's source-based coverage.

Usage: scripts/branches.py EXPORT... [--listed docs/coverage.md] [--output FILE]
An EXPORT is what `llvm-cov export` wrote for one test program. A branch is one outcome, true or false, of a
condition as it stands in a header: of an if, a loop, a `?:`, a case, and each operand of && and ||. It is
taken if any program took it in any instantiation of its template. Three kinds are left out: conditions that
the compiler decides (`if constexpr`, `while (true)`, comparisons of template arguments); the outcome of a
precondition (CAROM_EXPECTS) that ends the program, which is counted apart; and the adapters.

The report has a table per room, and a line for each branch that was not taken. With --listed, the exit
status is 1 if one of those is missing in the tables of that page: each has a row with the header, the
condition as it is written, and the outcome.
"""
import argparse
import collections
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = "/include/carom/"
ROOMS = ["core", "linalg", "cones", "contact", "solvers", "impact", "viscoelastic", "variational", "batch"]
BRANCH, EXPANSION = 4, 1  # kinds of regions in the export

#: One condition: its header, first line and column, end, and its place inside a macro (0 outside of one).
Condition = collections.namedtuple("Condition", "header line column end_line end_column inner")


def header_of(file_name):
    """`room/name` of a header of carom, or None."""
    _, found, rest = file_name.rpartition(INCLUDE)
    return rest.removesuffix(".hpp") if found and "/" in rest and not rest.startswith("adapters/") else None


def expansions(regions):
    """Where the file of each macro expansion is entered: number -> the expanding region."""
    return {region[6]: region for region in regions if region[7] == EXPANSION}


def conditions_of(function):
    """Yields each condition of an instantiation, with the counts of both outcomes."""
    entered = expansions(function["regions"])
    inner_count = collections.Counter()
    for branch in function["branches"]:
        line, column, end_line, end_column, taken, not_taken, file_id = branch[:7]
        inner = 0
        outside = file_id
        while outside in entered:  # a condition inside a macro is told apart by its order in there
            line, column, end_line, end_column, _, outside = entered[outside][:6]
        header = header_of(function["filenames"][outside])
        if header is None:
            continue
        if outside != file_id:
            inner_count[(line, column)] += 1
            inner = inner_count[(line, column)]
        yield Condition(header, line, column, end_line, end_column, inner), taken, not_taken


class Counts:
    """Outcomes of all conditions over all programs and instantiations."""

    def __init__(self, root=ROOT):
        self.root = root
        self.taken = collections.defaultdict(lambda: [0, 0])
        self.lines = {}

    def add(self, export):
        for data in export["data"]:
            for function in data["functions"]:
                for condition, true_count, false_count in conditions_of(function):
                    counts = self.taken[condition]
                    counts[0] += true_count
                    counts[1] += false_count

    def text(self, condition):
        """The condition as it is written."""
        if condition.header not in self.lines:
            path = self.root / "include/carom" / f"{condition.header}.hpp"
            self.lines[condition.header] = path.read_text(encoding="utf-8").split("\n")
        lines = [line.encode("utf-8") for line in self.lines[condition.header][condition.line - 1:condition.end_line]]
        lines[-1] = lines[-1][:condition.end_column - 1]
        lines[0] = lines[0][condition.column - 1:]
        text = " ".join(b" ".join(line.strip() for line in lines).decode("utf-8").split())
        if text == ":":  # of a loop over a range, whose head says more
            return self.loop_head(condition)
        return text

    def loop_head(self, condition):
        """`for (...)` of a loop over a range."""
        lines = self.lines[condition.header][condition.line - 1:condition.line + 5]
        text = " ".join(" ".join(line.strip() for line in lines).split())
        depth = 0
        for place, letter in enumerate(text):
            depth += (letter == "(") - (letter == ")")
            if letter == ")" and depth == 0:
                return text[:place + 1]
        return text

    def before(self, condition):
        """What stands on the line before the condition."""
        self.text(condition)  # which reads the header
        return self.lines[condition.header][condition.line - 1].encode("utf-8")[:condition.column - 1].decode("utf-8")

    def is_precondition(self, condition):
        return condition.inner > 0 and self.text(condition).startswith("CAROM_EXPECTS")

    def is_decided(self, condition):
        """Whether the compiler decides it."""
        return "if constexpr (" in self.before(condition) or self.text(condition) == "true"

    def is_joint(self, condition):
        """Whether it joins others by && or ||. Clang counts those, and the whole too where an operand needs a
        temporary, as with numbers of automatic differentiation."""
        depth, text = 0, self.text(condition)
        for place, letter in enumerate(text):
            depth += (letter in "([{") - (letter in ")]}")
            if depth == 0 and text[place:place + 2] in ("&&", "||"):
                return condition.inner == 0
        return False

    def outcomes(self):
        """(condition, outcome, whether it was taken) of every branch that counts."""
        for condition in sorted(self.taken):
            if self.is_decided(condition) or self.is_joint(condition):
                continue
            for outcome, count in zip((True, False), self.taken[condition]):
                yield condition, outcome, count > 0


def row(counts, condition, outcome):
    """How a branch that was not taken stands in a table."""
    text = counts.text(condition).replace("|", "\\|")
    if condition.inner:
        text += f" (condition {condition.inner} of the macro)"
    return f"| `{condition.header}` | {condition.line} | `{text}` | {'true' if outcome else 'false'} |"


def listed_rows(page):
    """(header, condition, outcome) of the rows of a page's tables, without the line number."""
    pattern = re.compile(r"^\| `([\w/]+)` \| \d+ \| `(.*?)`(?: \([^|]*\))? \| (true|false) \|", re.M)
    return {(found[1], found[2], found[3]) for found in pattern.finditer(page)}


def report(counts):
    """The lines of the report, and the rows of what was not taken."""
    total, taken = collections.Counter(), collections.Counter()
    preconditions = collections.Counter()
    rows = []
    for condition, outcome, was_taken in counts.outcomes():
        if counts.is_precondition(condition):
            preconditions["all"] += 1
            preconditions["taken"] += was_taken
            continue
        room = condition.header.split("/")[0]
        total[room] += 1
        taken[room] += was_taken
        if not was_taken:
            rows.append(row(counts, condition, outcome))
    lines = [f"{'room':<14}{'taken':>8}{'of':>8}{'share':>9}"]
    for room in [*(room for room in ROOMS if total[room]), "all"]:
        all_of, some_of = (total[room], taken[room]) if room != "all" else (total.total(), taken.total())
        lines.append(f"{room:<14}{some_of:>8}{all_of:>8}{100 * some_of / max(all_of, 1):>7.1f} %")
    lines.append(f"{'preconditions':<14}{preconditions['taken']:>8}{preconditions['all']:>8}"
                 f"{100 * preconditions['taken'] / max(preconditions['all'], 1):>7.1f} %  (not part of the sum)")
    return lines, rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("exports", nargs="+", type=pathlib.Path, metavar="EXPORT")
    parser.add_argument("--listed", type=pathlib.Path, help="a page that lists what is not taken")
    parser.add_argument("--output", type=pathlib.Path, help="where the whole report goes")
    options = parser.parse_args()
    counts = Counts()
    for path in options.exports:
        counts.add(json.loads(path.read_text(encoding="utf-8")))
    lines, rows = report(counts)
    if options.output:
        options.output.write_text("\n".join([*lines, "", *rows]) + "\n", encoding="utf-8")
    print("\n".join(lines))
    if options.listed is None:
        return 0
    listed = listed_rows(options.listed.read_text(encoding="utf-8"))
    missing = [entry for entry in rows if not listed_rows(entry) <= listed]
    print(f"{len(rows)} branches are not taken, {len(missing)} of them are not in {options.listed.name}")
    print("\n".join(missing))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
