#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Finds what scripts/mutants.py can change in the headers, draws from it, and writes changed headers."""
import os
import random
import re
import shutil
import subprocess
import sys

ROOMS = ["core", "linalg", "cones", "contact", "solvers", "impact", "viscoelastic", "variational", "batch"]

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
