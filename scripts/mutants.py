#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Breaks the headers in many small ways, one at a time, and counts how many of them the tests notice.

Usage: scripts/mutants.py [--count N] [--seed S] [--folder build/mutants] STEP...
Steps, in this order: draw, build, run, report; without one, all of them.

draw    lists every place of include/carom where an operator, a constant, a condition, a statement or a
        returned value can be changed, shuffles the list by the seed, and writes copies of the headers that
        hold the first of them all at once (scripts/mutant.hpp). The environment variable CAROM_MUTANT
        chooses one when a test program starts, so that the tests are compiled once.
build   compiles the tests of the rooms with these headers. A mutant that makes a unit not compile is
        struck from the list, and its header is written again.
run     runs the tests for one mutant after the other: those of its header, then its room's, then those of
        the rooms above, until one fails. It stops after N mutants that are programs. Results are in
        results.jsonl; a run that was ended goes on where it stopped, and one after a change of the
        tests looks again at the survivors only (--survivors).
report  counts, per room and per kind of change, and lists the survivors with their change.

It needs libclang 14 for Python (PyPI: libclang==14.0.6, or Debian's python3-clang-14), clang++ and
what the tests need. Adapters and code for graphics processors alone are left out.
"""
import argparse
import collections
import json
import math
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROOMS = ["core", "linalg", "cones", "contact", "solvers", "impact", "viscoelastic", "variational", "batch"]
#: Whose tests a mutant of a room meets after its own, cheap ones first.
ABOVE = {
    "core": ["linalg", "cones", "contact", "impact", "solvers", "scenes"],
    "linalg": ["contact", "impact", "solvers", "viscoelastic", "variational", "scenes"],
    "cones": ["contact", "impact", "solvers", "viscoelastic", "batch", "scenes"],
    "contact": ["solvers", "viscoelastic", "batch", "scenes"],
    "solvers": ["viscoelastic", "batch", "scenes"],
    "impact": ["variational", "batch", "scenes"],
    "viscoelastic": ["scenes"],
    "variational": ["scenes"],
    "batch": ["scenes"],
}
#: How many more than asked are written into the headers, in the place of those that are no programs.
SPARE = 1.3
MEMORY = 6 << 30  # bytes of one test program, which a mutant may ask for without end
LINKED = ["CMakeLists.txt", "CMakePresets.json", "apps", "benchmarks", "cmake", "examples", "src", "tests", "scripts"]

ALIVE = ("survived", "not reached")  # outcomes of those that no test noticed

RELATIONS = {"<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal", "==": "equal", "!=": "unequal"}
OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+", "*": "/", "/": "*",
         "&&": "||", "||": "&&", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*="}
ARITHMETIC = {"+": "sum", "-": "difference", "*": "product", "/": "quotient"}
#: Text that must stay as it is because the compiler itself evaluates it, or because it is a contract.
OPENERS = re.compile(
    r"\b(static_assert|noexcept|decltype|sizeof|alignas|explicit|requires|CAROM_EXPECTS|if constexpr)\s*([({])")
TEMPLATE = re.compile(r"\btemplate\s*<")
TO_LINE_END = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*|\brequires\b[^\n({]*|\bconcept\b[^;]*", re.M)
NUMBER = re.compile(r"(\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)$")


class Mutant:
    """One change: where it is, what it does, and the pieces of text that make it selectable."""

    def __init__(self, path, start, end, kind, before, after, edits):
        self.path, self.start, self.end = path, start, end
        self.kind, self.before, self.after = kind, before, after
        #: (begin, end, text, span): replaces [begin, end); an empty interval is an insertion, which opens
        #: (span > 0) or closes (span < 0) an expression of that length.
        self.edits = edits

    @property
    def key(self):
        return (self.path, self.start, self.end, self.kind, self.after)

    @property
    def replaced(self):
        return {(begin, end) for begin, end, _, _ in self.edits if end > begin}


def closing(text, begin):
    """The index after the bracket that closes the one at `begin`."""
    pairs = {"(": ")", "{": "}", "<": ">", "[": "]"}
    opening, ending = text[begin], pairs[text[begin]]
    depth = 0
    for index in range(begin, len(text)):
        depth += (text[index] == opening) - (text[index] == ending)
        if depth == 0:
            return index + 1
    return len(text)


def blanked(text):
    """The text with comments and strings as spaces, of the same length."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def fixed_ranges(text):
    """Intervals of a blanked text where nothing may be changed."""
    ranges = [found.span() for found in TO_LINE_END.finditer(text)]
    for found in OPENERS.finditer(text):
        end = closing(text, found.start(2))
        if found[1] == "requires" and found[2] == "(" and text[end:].lstrip().startswith("{"):
            end = closing(text, text.index("{", end))
        ranges.append((found.start(), end))
    for found in TEMPLATE.finditer(text):
        ranges.append((found.start(), closing(text, found.end() - 1)))
    return ranges


class Header:
    """Finds what can be changed in one header."""

    def __init__(self, path, name):
        self.name = name
        self.data = path.read_bytes()
        self.text = self.data.decode("latin-1")  # offsets of libclang are bytes
        self.blank = blanked(self.text)
        self.fixed = fixed_ranges(self.blank)
        self.found = {}

    def is_fixed(self, start, end):
        return any(start < stop and end > begin for begin, stop in self.fixed)

    def add(self, start, end, kind, before, after, edits):
        if self.is_fixed(start, end):
            return
        mutant = Mutant(self.name, start, end, kind, before, after, edits)
        self.found.setdefault(mutant.key, mutant)

    @staticmethod
    def wrap(start, end, before, after):
        return [(start, start, before, end - start), (end, end, after, start - end)]

    def call(self, left, operator, right, name):
        """`L op R` becomes `name<id>(L, R)`."""
        return [(left[0], left[0], f"::carom_mutant::{name}<@>(", right[1] - left[0]),
                (operator[0], operator[1], ",", 0), (right[1], right[1], ")", left[0] - right[1])]

    def binary(self, left, right, in_loop_head):
        start, end = left[0], right[1]
        between = self.blank[left[1]:right[0]]
        sign = between.strip()
        if sign not in OTHER:
            return
        at = left[1] + between.index(sign)
        operator = (at, at + len(sign))
        change = (sign, OTHER[sign])
        if sign in RELATIONS:
            self.add(start, end, "relation", *change, self.call(left, operator, right, RELATIONS[sign]))
            if in_loop_head and sign != "!=":
                bound = self.text[right[0]:right[1]]
                self.add(*right, "loop bound", bound, f"{bound} - 1", self.wrap(*right, "::carom_mutant::bound<@>(", ")"))
        elif sign in ARITHMETIC:
            self.add(start, end, "arithmetic", *change, self.call(left, operator, right, ARITHMETIC[sign]))
        elif sign in ("&&", "||"):
            # By De Morgan's law, without a second copy of L and R, and with R evaluated as late as before:
            # L || R is ((L != m) && (R != m)) != m with m true.
            flip = ") != ::carom_mutant::active<@>())"
            edits = [(start, start, "(((static_cast<bool>(", end - start),
                     (left[1], left[1], flip, left[0] - left[1] - 0.5),
                     (right[0], right[0], "(static_cast<bool>(", right[1] - right[0] + 0.5),
                     (end, end, flip + flip, start - end)]
            self.add(start, end, "logic", *change, edits)
        else:
            helper = "added" if sign in ("+=", "-=") else "factor"
            self.add(start, end, "assignment", *change, self.wrap(*right, f"::carom_mutant::{helper}<@>(", ")"))

    def unary(self, start, operand):
        if self.text[start] == "-" and self.text[start + 1] != "-":
            self.add(start, operand[1], "sign", "-", "", [
                (start, start + 1, "", 0), (start, start, "::carom_mutant::minus<@>(", operand[1] - start),
                (operand[1], operand[1], ")", start - operand[1])])

    def condition(self, start, end):
        before = self.text[start:end]
        self.add(start, end, "condition", before, f"!({before})",
                 self.wrap(start, end, "static_cast<bool>(", ") != ::carom_mutant::active<@>()"))

    def literal(self, start, end):
        text = self.text[start:end]
        number = NUMBER.match(text)
        if not number or self.is_template_argument(start, end) or self.is_array_size(start, end):
            return
        is_integer = number[1].isdigit()
        value = int(number[1]) if is_integer else float(number[1])
        others = ["0", str(value + 1)] if value else ["1"]
        for other in others:
            if not is_integer and "." not in other:
                other += ".0"
            self.add(start, end, "constant", text, other,
                     [(start, end, f"::carom_mutant::constant<@>({text}, {other})", 0)])

    def is_template_argument(self, start, end):
        if self.blank[start - 1] == "<" and self.blank[start - 2] not in " <":
            return True
        return re.match(r"[\w\s:,+*]*(?<! )>(?!=)", self.blank[end:]) is not None

    def is_array_size(self, start, end):
        """Of a declaration like `double x[2] = ...`, which the compiler needs to know."""
        begin = max(self.blank.rfind(";", 0, start), self.blank.rfind("{", 0, start), self.blank.rfind("}", 0, start)) + 1
        declared = re.fullmatch(r"\s*(?:const\s+)?[\w:]+(?:<.*>)?(?:\s*\*)?\s+\w+(?:, \w+)*\[", self.blank[begin:start], re.S)
        return declared is not None and self.blank[end] == "]"

    def choice(self, start, end):
        """(std::max)(...) and its like."""
        found = re.fullmatch(r"\(?std::(max|min)\)?(?:<(\w+)>)?", self.text[start:end])
        if not found:
            return
        name = "larger" if found[1] == "max" else "smaller"
        other = "min" if found[1] == "max" else "max"
        arguments = f"@, {found[2]}" if found[2] else "@"
        self.add(start, end, "choice", found[1], other, [(start, end, f"::carom_mutant::{name}<{arguments}>", 0)])

    def statement(self, start, end):
        if self.text[start:].startswith(("CAROM_", "static_cast<void>")):
            return
        semicolon = end + len(self.blank[end:]) - len(self.blank[end:].lstrip())
        if self.blank[semicolon] != ";":
            return
        self.add(start, semicolon + 1, "statement", self.text[start:semicolon + 1], ";",
                 self.wrap(start, semicolon + 1, "{ if (!::carom_mutant::active<@>()) ", " }"))

    def result(self, start, end):
        before = self.text[start:end]
        self.add(start, end, "return", before, "another value", self.wrap(start, end, "::carom_mutant::returned<@>(", ")"))


class Finder:
    """Walks the syntax tree of all headers."""

    def __init__(self, cindex, headers):
        self.kinds = cindex.CursorKind
        self.types = cindex.TypeKind
        self.headers = headers  # by absolute path

    @staticmethod
    def span(cursor):
        return (cursor.extent.start.offset, cursor.extent.end.offset)

    def walk(self, cursor, header=None, may_return=True, in_loop_head=False):
        kinds = self.kinds
        if cursor.extent.start.file and cursor.kind != kinds.TRANSLATION_UNIT:
            header = self.headers.get(os.path.realpath(cursor.extent.start.file.name))
            if header is None and cursor.kind.is_declaration() and cursor.kind != kinds.NAMESPACE:
                return
            if header is None and cursor.kind == kinds.NAMESPACE and cursor.spelling in ("std", "Eigen", "__gnu_cxx"):
                return
        start, end = self.span(cursor)
        children = list(cursor.get_children())
        if header is not None and end > start:
            if not self.visit(cursor, header, start, end, children, may_return, in_loop_head):
                return
        if cursor.kind in (kinds.FUNCTION_DECL, kinds.CXX_METHOD, kinds.FUNCTION_TEMPLATE, kinds.CONVERSION_FUNCTION):
            may_return = cursor.result_type.kind not in (
                self.types.LVALUEREFERENCE, self.types.RVALUEREFERENCE, self.types.POINTER)
            if header is not None:
                head = header.blank[start:self.body_start(children, end)]
                may_return = may_return and not re.search(r"(&|\*|decltype\(auto\))\s*(\w+::)*(operator|\w+\s*\()", head)
        elif cursor.kind == kinds.LAMBDA_EXPR:
            may_return = True
        for child, head in self.descended(cursor, header, children):
            self.walk(child, header, may_return, head)

    def body_start(self, children, end):
        for child in children:
            if child.kind == self.kinds.COMPOUND_STMT:
                return child.extent.start.offset
        return end

    def descended(self, cursor, header, children):
        """The children that are code at run time, and whether they are the condition of a for loop."""
        kinds = self.kinds
        kind = cursor.kind
        if header is None:
            return [(child, False) for child in children]
        start, end = self.span(cursor)
        if kind in (kinds.DECL_REF_EXPR, kinds.ENUM_DECL, kinds.TYPE_ALIAS_DECL, kinds.TYPE_ALIAS_TEMPLATE_DECL):
            return []
        if kind == kinds.MEMBER_REF_EXPR:  # the object, without the member's template arguments
            return [(child, False) for child in children if child.extent.start.offset == start]
        if kind == kinds.CASE_STMT:
            return [(child, False) for child in children[1:]]
        if kind in (kinds.VAR_DECL, kinds.FIELD_DECL, kinds.PARM_DECL):
            name = cursor.location.offset
            if "constexpr" in header.blank[start:name].split():
                return []
            return [(child, False) for child in children if child.extent.start.offset > name]
        if kind == kinds.FOR_STMT:
            first = header.blank.find(";", start)
            second = header.blank.find(";", first + 1)
            return [(child, first < child.extent.start.offset < second) for child in children]
        return [(child, False) for child in children]

    def visit(self, cursor, header, start, end, children, may_return, in_loop_head):
        """Adds what can be changed at a cursor; returns whether to look inside."""
        kinds = self.kinds
        kind = cursor.kind
        if kind in (kinds.BINARY_OPERATOR, kinds.COMPOUND_ASSIGNMENT_OPERATOR) and len(children) == 2:
            header.binary(self.span(children[0]), self.span(children[1]), in_loop_head)
        elif kind == kinds.UNARY_OPERATOR and len(children) == 1:
            header.unary(start, self.span(children[0]))
        elif kind in (kinds.INTEGER_LITERAL, kinds.FLOATING_LITERAL):
            header.literal(start, end)
        elif kind == kinds.CALL_EXPR:
            self.visit_call(header, start, children, in_loop_head)
        elif kind in (kinds.IF_STMT, kinds.WHILE_STMT, kinds.CONDITIONAL_OPERATOR) and children:
            if children[0].kind.is_expression():
                header.condition(*self.span(children[0]))
        elif kind == kinds.RETURN_STMT and may_return and len(children) == 1:
            if children[0].kind != kinds.INIT_LIST_EXPR and header.text[self.span(children[0])[0]] != "{":
                header.result(*self.span(children[0]))
        if kind == kinds.COMPOUND_STMT:
            statements = children
        elif kind in (kinds.IF_STMT, kinds.FOR_STMT, kinds.WHILE_STMT, kinds.CXX_FOR_RANGE_STMT):
            statements = children[-2:] if kind == kinds.IF_STMT and len(children) > 2 else children[-1:]
        else:
            statements = []
        for child in statements:
            if child.kind.is_expression():
                header.statement(*self.span(child))
        return True

    def visit_call(self, header, start, children, in_loop_head):
        """Calls of overloaded operators have the operator among their children."""
        if len(children) == 3 and children[1].spelling.startswith("operator"):
            header.binary(self.span(children[0]), self.span(children[2]), in_loop_head)
        elif len(children) == 2 and children[1].spelling.startswith("operator") and header.text[start] == "-":
            header.unary(start, self.span(children[0]))
        elif children:
            header.choice(*self.span(children[0]))


def headers_of(root):
    """Relative paths of the headers whose code can be changed."""
    for room in ROOMS:
        for path in sorted((root / "include/carom" / room).rglob("*.hpp")):
            yield path.relative_to(root / "include").as_posix()


def all_mutants(root):
    try:
        from clang import cindex
    except ImportError:
        sys.exit("mutants.py: needs libclang for Python: pip install libclang==14.0.6")
    headers = {os.path.realpath(root / "include" / name): Header(root / "include" / name, name) for name in headers_of(root)}
    compiler = shutil.which("clang++-14") or "clang++"  # whose own headers libclang reads
    resource_folder = subprocess.run([compiler, "-print-resource-dir"], capture_output=True, text=True, check=True)
    unit = "\n".join(f'#include "{header.name}"' for header in headers.values())
    tree = cindex.Index.create().parse(
        "all.cpp", unsaved_files=[("all.cpp", unit)],
        args=["-x", "c++", "-std=c++20", f"-I{root / 'include'}", "-isystem", "/usr/include/eigen3",
              "-resource-dir", resource_folder.stdout.strip()])
    faults = [str(entry) for entry in tree.diagnostics if entry.severity >= cindex.Diagnostic.Error]
    if faults:
        sys.exit("mutants.py: the headers do not parse: " + faults[0])
    sys.setrecursionlimit(10000)
    Finder(cindex, headers).walk(tree.cursor)
    found = [mutant for header in headers.values() for mutant in header.found.values()]
    return sorted(found, key=lambda mutant: mutant.key)


def chosen(mutants, count, seed):
    """The first of the shuffled list; of two that change the same piece of text the first one stays."""
    order = list(mutants)
    random.Random(seed).shuffle(order)
    taken, result = set(), []
    for mutant in order:
        pieces = {(mutant.path, *piece) for piece in mutant.replaced}
        if taken & pieces:
            continue
        taken |= pieces
        result.append(mutant)
        if len(result) == count:
            break
    return result


def written(data, mutants):
    """The bytes of a header with the changes of `mutants`, pairs of number and change."""
    edits = [(begin, end, text.replace("@", str(number)), span, number)
             for number, mutant in mutants for begin, end, text, span in mutant.edits]
    # At one place what ends stands before what begins; of two that begin the longer one comes first, of two
    # that end the shorter one.
    def order(edit):
        begin, end, _, span, number = edit
        if begin < end:
            return (begin, 2, 0, 0)
        return (begin, 0, -span, -number) if span < 0 else (begin, 1, -span, number)
    text = data.decode("latin-1")
    parts, at = [], 0
    for begin, end, piece, _, _ in sorted(edits, key=order):
        parts += [text[at:begin], piece]
        at = max(at, end)
    parts.append(text[at:])
    result = "".join(parts)
    return result.replace("#pragma once", '#pragma once\n#include "mutant.hpp"\n#line 3', 1).encode("latin-1")


def place(data, mutant):
    line = data.count(b"\n", 0, mutant["start"]) + 1
    return f"{mutant['path']}:{line}"


def confine(seconds):
    """Of a test program, before it starts: a process group that can be ended as a whole, and limits of memory and
    of processor time, which does not depend on what else the machine does."""
    os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))


def processor_seconds():
    """Of all programs that were run and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Work:
    """The folder with the changed headers, the programs and the results."""

    def __init__(self, folder, rooms=ROOMS, root=ROOT):
        self.folder, self.rooms, self.root = folder, rooms, root
        self.tree, self.build_folder = folder / "tree", folder / "build"
        self.list_file, self.results_file = folder / "mutants.json", folder / "results.jsonl"

    def draw(self, count, seed):
        found = all_mutants(self.root)
        drawn = chosen(found, int(count * SPARE), seed)
        self.folder.mkdir(parents=True, exist_ok=True)
        rows = [{**vars(mutant), "number": number, "struck": False} for number, mutant in enumerate(drawn)]
        commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=self.root, capture_output=True, text=True)
        if self.results_file.exists() and not self.is_drawn(rows):
            self.results_file.unlink()  # numbers of another draw
        self.save({"seed": seed, "places": len(found), "commit": commit.stdout.strip(), "mutants": rows})
        kinds = collections.Counter(mutant.kind for mutant in found)
        print(f"{len(found)} changes are possible: " + ", ".join(f"{kinds[kind]} {kind}" for kind in sorted(kinds)))
        self.write_tree(rows)

    def is_drawn(self, rows):
        """Whether the list in the folder has these mutants."""
        def what(listed):
            return [(row["path"], row["start"], row["end"], row["kind"], row["after"]) for row in listed]
        return self.list_file.exists() and what(self.load()["mutants"]) == what(rows)

    def save(self, state):
        self.list_file.write_text(json.dumps(state, indent=1), encoding="utf-8")

    def load(self):
        return json.loads(self.list_file.read_text(encoding="utf-8"))

    def write_tree(self, rows, only=None):
        """Links everything but the headers, which are copies; `only` names those that are written again."""
        self.tree.mkdir(parents=True, exist_ok=True)
        for name in LINKED:
            link = self.tree / name
            if not link.exists():
                link.symlink_to(self.root / name)
        by_path = collections.defaultdict(list)
        for row in rows:
            if not row["struck"]:
                fields = {name: row[name] for name in ("path", "start", "end", "kind", "before", "after")}
                by_path[row["path"]].append((row["number"], Mutant(**fields, edits=[tuple(edit) for edit in row["edits"]])))
        sources = sorted((self.root / "include").rglob("*.hpp"))
        for source in sources:
            name = source.relative_to(self.root / "include").as_posix()
            if only is not None and name not in only:
                continue
            data = source.read_bytes()
            if by_path.get(name):
                data = written(data, by_path[name])
            self.put(self.tree / "include" / name, data)
        self.put(self.tree / "include/mutant.hpp", (self.root / "scripts/mutant.hpp").read_bytes())

    @staticmethod
    def put(path, data):
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_bytes() != data:
            path.write_bytes(data)

    def build(self, jobs):
        if not (self.build_folder / "build.ninja").exists():
            subprocess.run(
                ["cmake", "-S", self.tree, "-B", self.build_folder, "-G", "Ninja", "-DCMAKE_CXX_COMPILER=clang++",
                 "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-DCMAKE_CXX_EXTENSIONS=OFF",
                 "-DCMAKE_CXX_FLAGS=-w -Wno-c++11-narrowing -ferror-limit=0 -fno-caret-diagnostics -ftemplate-backtrace-limit=0",
                 "-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld", "-DCAROM_BUILD_EXAMPLES=OFF", "-DCAROM_INSTALL=OFF",
                 "-DCAROM_TEST_TREE=OFF", f"-DCAROM_TEST_ROOMS={';'.join([*ROOMS, 'scenes'])}"], check=True)
        for room in [*self.rooms, "scenes"]:
            while not self.build_program(f"carom_{room}_tests", jobs):
                pass

    def build_program(self, program, jobs):
        """Builds one test program; if mutants do not compile, strikes them and returns false."""
        log = self.folder / "build.log"
        with log.open("w", encoding="utf-8") as out:
            done = subprocess.run(["ninja", "-C", self.build_folder, "-j", str(jobs), "-k", "3", program],
                                  stdout=out, stderr=subprocess.STDOUT, check=False)
        if done.returncode == 0:
            print("built:", program, flush=True)
            return True
        state = self.load()
        struck = self.blamed(log.read_text(encoding="utf-8", errors="replace"), state["mutants"])
        if not struck:
            sys.exit(f"mutants.py: the build fails for another reason, see {log}")
        for row in struck:
            row["struck"] = True
            print("does not compile:", place((self.root / "include" / row["path"]).read_bytes(), row), row["kind"],
                  row["before"][:60], "->", row["after"][:60], flush=True)
        self.save(state)
        self.write_tree(state["mutants"], only={row["path"] for row in struck})
        return False

    def blamed(self, log, rows):
        """The mutants that a message of the compiler points at: by number, else by line and column."""
        lines = log.splitlines()
        blamed = set()
        live = [row for row in rows if not row["struck"]]
        tree = str(self.tree / "include") + "/"
        columns = {}
        for index, line in enumerate(lines):
            if ": error:" not in line and ": fatal error:" not in line:
                continue
            end = index + 1
            while end < len(lines) and ": error:" not in lines[end] and not lines[end].startswith(("[", "FAILED")):
                end += 1
            group = lines[index:end]
            numbers = {int(number) for text in group for number in re.findall(r"'(?:carom_mutant::)?\w+<(\d+)[,>]", text)}
            if numbers:
                blamed |= numbers
                continue
            for text in group:
                found = re.match(re.escape(tree) + r"(carom/[\w/]+\.hpp):(\d+):(\d+):", text)
                hits = [row["number"] for row in live if found and row["path"] == found[1]
                        and self.touches(columns, row, int(found[2]))]
                if hits:
                    blamed |= set(hits)
                    break
        return [row for row in live if row["number"] in blamed]

    def touches(self, cache, row, line):
        if row["path"] not in cache:
            cache[row["path"]] = (self.root / "include" / row["path"]).read_bytes()
        data = cache[row["path"]]
        first = data.count(b"\n", 0, row["start"]) + 1
        return first <= line <= data.count(b"\n", 0, row["end"]) + 1

    # --- running -------------------------------------------------------------------------------------

    def call(self, program, arguments, number, limit):
        """Runs tests for `limit` seconds of the processor at most; returns the outcome, these seconds, what the
        mutant noted and the end of the output."""
        note = self.folder / "note"
        note.write_text("")
        environment = {**os.environ, "CAROM_MUTANT_NOTE": str(note)}
        environment.pop("CAROM_MUTANT", None)
        if number is not None:
            environment["CAROM_MUTANT"] = str(number)
        scratch = self.folder / "scratch"
        scratch.mkdir(exist_ok=True)
        out = (self.folder / "output").open("w+b")
        begin = processor_seconds()
        process = subprocess.Popen(
            [self.build_folder / "bin" / program, *arguments], cwd=scratch, env=environment, stdout=out,
            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, preexec_fn=lambda: confine(math.ceil(limit)))
        ends = {0: "passed", -signal.SIGXCPU: "timeout"}
        try:
            process.wait(60 + 30 * limit)  # longer than any load of the machine, for those that wait for ever
            outcome = ends.get(process.returncode, "crash" if process.returncode < 0 else "failure")
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            outcome = "timeout"
        out.seek(0, os.SEEK_END)
        out.seek(max(0, out.tell() - 4000))
        tail = out.read().decode("utf-8", "replace")
        out.close()
        return outcome, processor_seconds() - begin, note.read_text(), tail

    def usual(self, cache, program, arguments):
        """The seconds of a run without a mutant, which must pass."""
        key = " ".join([program, *arguments])
        if key not in cache:
            outcome, seconds, _, tail = self.call(program, arguments, None, 3600)
            if outcome != "passed":
                sys.exit(f"mutants.py: {key} fails without a mutant ({outcome}):\n{tail}")
            cache[key] = seconds
            (self.folder / "seconds.json").write_text(json.dumps(cache, indent=1))
        return cache[key]

    def levels(self, row, depth):
        """The runs that a mutant must survive: what to call it, program, arguments."""
        _, room, *rest = row["path"].split("/")
        stem = pathlib.PurePosixPath(row["path"]).stem
        test = self.root / "tests" / room / "/".join(rest[:-1]) / f"{stem}_test.cpp"
        if test.exists():
            yield "header", f"carom_{room}_tests", ["-#", f"[#{stem}_test]~[.]~[slow]", "-a"]
        if depth != "header":
            yield "room", f"carom_{room}_tests", ["-a"]
        if depth == "above":
            for above in ABOVE[room]:
                if not (self.build_folder / "bin" / f"carom_{above}_tests").exists():
                    continue
                yield above, f"carom_{above}_tests", ["-a"]

    def judge(self, row, cache, depth):
        noted = set()
        for level, program, arguments in self.levels(row, depth):
            usual = self.usual(cache, program, arguments)
            outcome, seconds, note, tail = self.call(program, arguments, row["number"], 10 + 4 * usual)
            noted |= set(note)
            if outcome != "passed":
                named = re.findall(r"^-{70,}\n(.+)\n", tail, re.M)
                return {"outcome": outcome, "by": level, "test": named[-1] if named else "", "seconds": round(seconds, 1)}
        outcome = "survived" if "r" in noted else "impossible" if "i" in noted else "not reached"
        return {"outcome": outcome, "by": depth}

    def results(self):
        results = {}
        if self.results_file.exists():
            for line in self.results_file.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                results[entry["number"]] = entry
        return results

    def run(self, count, depth, survivors):
        state = self.load()
        cache_file = self.folder / "seconds.json"
        cache = json.loads(cache_file.read_text()) if cache_file.exists() else {}
        results = self.results()
        done = 0
        for row in state["mutants"]:
            if row["struck"] or row["path"].split("/")[1] not in self.rooms:
                continue
            old = results.get(row["number"])
            again = survivors and old and old["outcome"] in ALIVE
            if old is None or again:
                entry = {"number": row["number"], **self.judge(row, cache, depth)}
                results[row["number"]] = entry
                with self.results_file.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(entry) + "\n")
                print(entry["number"], entry["outcome"], entry["by"], row["path"], row["kind"], flush=True)
            done += results[row["number"]]["outcome"] != "impossible"
            if done == count:
                break

    def report(self):
        state = self.load()
        results = self.results()
        by_room, by_kind = (collections.defaultdict(collections.Counter) for _ in range(2))
        survivors = []
        for row in state["mutants"]:
            outcome = results.get(row["number"], {}).get("outcome")
            if outcome in (None, "impossible"):
                continue
            killed = outcome not in ALIVE
            for table, key in ((by_room, row["path"].split("/")[1]), (by_kind, row["kind"])):
                table[key]["killed" if killed else outcome] += 1
                table[key]["all"] += 1
            if not killed:
                survivors.append((row, results[row["number"]]))
        lines = [f"seed {state['seed']}, {state['places']} possible changes, headers of {state['commit'][:12]}",
                 f"struck because they do not compile: {sum(row['struck'] for row in state['mutants'])}; no program: "
                 f"{sum(entry['outcome'] == 'impossible' for entry in results.values())}", ""]
        ends = collections.Counter(entry["outcome"] + " in " + entry["by"] for entry in results.values())
        lines += ["  ".join(f"{key}: {ends[key]}" for key in sorted(ends)), ""]
        for title, table, keys in (("room", by_room, ROOMS), ("kind", by_kind, sorted(by_kind))):
            lines.append(f"{title:<14}{'mutants':>8}{'killed':>8}{'share':>9}{'not reached':>13}")
            total = collections.Counter()
            for key in [key for key in keys if key in table]:
                total.update(table[key])
                lines.append(self.row_of(key, table[key]))
            lines += [self.row_of("all", total), ""]
        for row, entry in sorted(survivors, key=lambda pair: pair[0]["path"]):
            data = (self.root / "include" / row["path"]).read_bytes()
            line = data.count(b"\n", 0, row["start"])
            text = data.split(b"\n")[line].decode("utf-8").strip()
            lines += [f"{row['number']:>4} {place(data, row)} {row['kind']}, {entry['outcome']} ({entry['by']}): "
                      f"{row['before']!r} -> {row['after']!r}", f"       {text}"]
        text = "\n".join(lines) + "\n"
        (self.folder / "report.txt").write_text(text, encoding="utf-8")
        return text

    @staticmethod
    def row_of(key, counts):
        share = 100 * counts["killed"] / counts["all"] if counts["all"] else 0
        return f"{key:<14}{counts['all']:>8}{counts['killed']:>8}{share:>7.1f} %{counts['not reached']:>13}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("steps", nargs="*", help="draw, build, run, report", metavar="STEP")
    parser.add_argument("--count", type=int, default=500, help="how many mutants")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/mutants")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="of the build")
    parser.add_argument("--rooms", nargs="+", choices=ROOMS, default=ROOMS, help="whose tests are built and run")
    parser.add_argument("--depth", choices=["header", "room", "above"], default="above", help="which tests a survivor must pass")
    parser.add_argument("--survivors", action="store_true", help="also run again those that survived")
    options = parser.parse_args()
    steps = options.steps or ["draw", "build", "run", "report"]
    unknown = set(steps) - {"draw", "build", "run", "report"}
    if unknown:
        parser.error(f"unknown step '{unknown.pop()}'")
    work = Work(options.folder.resolve(), options.rooms)
    for step in steps:
        if step == "draw":
            work.draw(options.count, options.seed)
        elif step == "build":
            work.build(options.jobs)
        elif step == "run":
            work.run(options.count, options.depth, options.survivors)
        else:
            print(work.report(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
