#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`carom project`: answers against the closed form in exact arithmetic, and every bad input."""
import json
import math
import random
import sys
from fractions import Fraction

sys.dont_write_bytecode = True
from carom_program import Checks  # noqa: E402


def root(square):
    """Square root of a fraction to some 60 digits."""
    scale = 10**120
    return Fraction(math.isqrt(square.numerator * scale // square.denominator), 10**60)


def projection(contact):
    """Nearest point of the cone in the metric R, by the textbook formula with fractions."""
    y = [Fraction(entry) for entry in contact["y"]]
    mu = Fraction(contact["mu"])
    tangent, normal = (Fraction(entry) for entry in contact["weights"])
    radius = root(y[0] ** 2 + y[1] ** 2)
    if radius <= mu * y[2]:
        return "stick", y
    if y[2] + mu * tangent / normal * radius <= 0:
        return "separate", [Fraction(0)] * 3
    along = (y[2] + mu * tangent / normal * radius) / (1 + mu**2 * tangent / normal)
    return "slide", [mu * along * y[0] / radius, mu * along * y[1] / radius, along]


def norm(vector):
    return math.sqrt(sum(float(entry) ** 2 for entry in vector))


def check_answer(checks, contact, result):
    region, point = projection(contact)
    checks.expect(result["region"] == region, contact, "region", result["region"])
    error = norm([Fraction(got) - exact for got, exact in zip(result["impulse"], point)])
    # Tangent entries are μ times a normal entry that the weights' ratio amplifies.
    tangent, normal = contact["weights"]
    scale = norm(contact["y"]) * max(1.0, math.sqrt(tangent / normal), math.sqrt(normal / tangent))
    checks.expect(error <= 1e-14 * scale, contact, "impulse", result["impulse"], "error", error)


def check_derivative(checks, contact, result):
    step = Fraction(norm(contact["y"])) / 10**9
    region, _ = projection(contact)
    for column in range(3):
        ends = []
        for sign in (-1, 1):
            moved = [Fraction(entry) for entry in contact["y"]]
            moved[column] += sign * step
            ends.append(projection({**contact, "y": moved}))
        if not ends[0][0] == ends[1][0] == region:
            continue  # too close to a boundary of regions
        for row in range(3):
            slope = float((ends[1][1][row] - ends[0][1][row]) / (2 * step))
            error = abs(result["derivative"][row][column] - slope)
            checks.expect(error <= 1e-8 * max(1, abs(slope)), contact, "derivative", row, column,
                          result["derivative"][row][column], "expected", slope)


def check_good(checks):
    draw = random.Random(20240501)
    contacts = [{"y": [draw.gauss(0, 1) for _ in range(3)], "mu": draw.choice([0, 0.1, 0.5, 1.5]),
                 "weights": [10 ** draw.uniform(-2, 2), 10 ** draw.uniform(-2, 2)]}
                for _ in range(300)]
    result = checks.json_of("project", checks.file(json.dumps({"contacts": contacts})))
    checks.expect(list(result) == ["results"] and len(result["results"]) == len(contacts),
                  "fields or number of results")
    for contact, answer in zip(contacts, result["results"]):
        checks.expect(list(answer) == ["impulse", "region", "derivative"], "fields", list(answer))
        check_answer(checks, contact, answer)
        check_derivative(checks, contact, answer)
    regions = {answer["region"] for answer in result["results"]}
    checks.expect(regions == {"stick", "slide", "separate"}, "regions seen", regions)

    empty = checks.json_of("project", checks.file('{"contacts":[]}'))
    checks.expect(empty == {"results": []}, "no contacts", empty)
    tiny = checks.json_of("project", checks.file(
        '{"contacts":[{"y":[3e-300,4e-300,0],"mu":1,"weights":[1,1]}]}'))
    checks.expect(abs(tiny["results"][0]["impulse"][2] / 2.5e-300 - 1) < 1e-14, "tiny", tiny)
    table = checks.run("project", checks.file(json.dumps({"contacts": contacts[:2]})))
    checks.expect(table.returncode == 0 and "region" in table.stdout and table.stderr == "",
                  "readable table", table)


def check_bad(checks):
    good = '"y":[1,2,3],"mu":0.5,"weights":[1,1]'
    cases = {
        "empty": ("", "JSON"),
        "not JSON": ("carom-problem 1", "JSON", "line 1"),
        "truncated": ('{"contacts":[{' + good, "JSON"),
        "bytes": (b"\x00\xff\xfe{", "JSON"),
        "broken word": (b'{"contacts":[], "\xff\n":1}', "JSON"),
        "two documents": ('{"contacts":[]} {}', "JSON"),
        "trailing comma": ('{"contacts":[],}', "JSON"),
        "deep": ("[" * 100000, "JSON"),
        "array": ("[]", "an object"),
        "number": ("3", "an object"),
        "no contacts": ("{}", "contacts"),
        "contacts null": ('{"contacts":null}', "contacts: expected an array, got null"),
        "contacts object": ('{"contacts":{}}', "contacts: expected an array, got an object"),
        "unknown field": ('{"contacts":[],"friction":1}', "unknown field 'friction'"),
        "unknown newline": ('{"contacts":[],"a\\nb":1}', "unknown field"),
        "field twice": ('{"contacts":[],"contacts":[]}', "'contacts'", "once"),
        "contact number": ('{"contacts":[7]}', "contacts[0]: expected an object, got 7"),
    }
    inside = {
        "unknown inside": (good + ',"m":1', "contacts[1]", "unknown field 'm'"),
        "mu twice": (good + ',"mu":1', "'mu'", "once"),
        "no y": ('"mu":0.5,"weights":[1,1]', "contacts[1].y"),
        "no mu": ('"y":[1,2,3],"weights":[1,1]', "contacts[1].mu"),
        "no weights": ('"y":[1,2,3],"mu":0.5', "contacts[1].weights"),
        "y text": (good.replace("[1,2,3]", '"1 2 3"'), "contacts[1].y: expected an array of 3"),
        "y short": (good.replace("[1,2,3]", "[1,2]"), "contacts[1].y", "3 numbers", "array of 2"),
        "y long": (good.replace("[1,2,3]", "[1,2,3,4]"), "contacts[1].y", "3 numbers"),
        "y nested": (good.replace("[1,2,3]", "[1,[2],3]"), "contacts[1].y[1]"),
        "y null": (good.replace("[1,2,3]", "[1,2,null]"), "contacts[1].y[2]", "got null"),
        "y word": (good.replace("[1,2,3]", '[1,"2",3]'), "contacts[1].y[1]"),
        "y nan": (good.replace("[1,2,3]", "[1,NaN,3]"), "JSON"),
        "y inf": (good.replace("[1,2,3]", "[1,Infinity,3]"), "JSON"),
        "y huge": (good.replace("[1,2,3]", "[1,1e999,3]"), "1e999"),
        "mu negative": (good.replace("0.5", "-0.5"), "contacts[1].mu", ">= 0, got -0.5"),
        "mu bool": (good.replace("0.5", "true"), "contacts[1].mu", "got true"),
        "mu array": (good.replace("0.5", "[0.5]"), "contacts[1].mu"),
        "weight zero": (good.replace("[1,1]", "[1,0]"), "contacts[1].weights[1]", "> 0"),
        "weight negative": (good.replace("[1,1]", "[-1,1]"), "contacts[1].weights[0]", "> 0"),
        "weights three": (good.replace("[1,1]", "[1,1,1]"), "contacts[1].weights", "2 numbers"),
        "overflow": ('"y":[1e308,1e308,0],"mu":1e-3,"weights":[1e10,1e-10]', "contacts[1]"),
    }
    for name, (fields, *words) in inside.items():
        cases[name] = ('{"contacts":[{' + good + "},{" + fields + "}]}", *words)
    for name, (content, *words) in cases.items():
        path = checks.file(content)
        for style in ([], ["--json"]):
            checks.refused(name, checks.run("project", path, *style), str(path), *words)
    checks.refused("missing", checks.run("project", "no/such/file"), "no/such/file")
    checks.refused("folder", checks.run("project", checks.folder.name), "directory")


if __name__ == "__main__":
    every = Checks()
    check_good(every)
    check_bad(every)
    every.end()
