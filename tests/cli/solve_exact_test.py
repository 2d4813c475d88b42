#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`carom solve` of rigid contact and Coulomb's law: natural map recomputed from the files alone."""
import math
import struct
import sys

sys.dont_write_bytecode = True
from carom_program import DATA, Checks  # noqa: E402
from text_problem import Problem  # noqa: E402


def project(y, mu):
    """Nearest point of the friction cone, normal first."""
    slip = math.hypot(*y[1:])
    if slip <= mu * y[0]:
        return y
    normal = (y[0] + mu * slip) / (1 + mu * mu)
    if normal <= 0:
        return [0.0] * len(y)
    return [normal] + [mu * normal * x / slip for x in y[1:]]


def natural_map(friction, impulse, velocity, load, inverse_mass, dimension):
    """err and err_abh of docs/file_formats.md."""
    size = math.sqrt(sum(x * x for x in load))
    total = 0.0
    for i, mu in enumerate(friction):
        part = slice(i * dimension, (i + 1) * dimension)
        r = [x * inverse_mass / size for x in impulse[part]]
        u = [x / size for x in velocity[part]]
        y = [a - b for a, b in zip(r, u)]
        y[0] -= mu * math.hypot(*u[1:])
        total += sum((a - b) ** 2 for a, b in zip(r, project(y, mu)))
    absolute = math.sqrt(total)
    scale = max(1, math.hypot(*impulse) * inverse_mass / size, math.hypot(*velocity) / size)
    return absolute / scale, absolute


def read_cpf(path):
    """mu, q and the columns of W."""
    data = path.read_bytes()
    end = data.index(b"\ndata\n") + 6
    header, arrays, at = {}, {}, end
    for line in data[:end].decode().splitlines():
        words = line.split()
        if words and words[0] == "array":
            kind = {"f64": "d", "i32": "i"}[words[2]]
            count = int(words[3])
            arrays[words[1]] = struct.unpack_from(f"<{count}{kind}", data, at)
            at += struct.calcsize(f"<{count}{kind}")
        elif len(words) > 1:
            header[words[0]] = words[1]
    return int(header["dim"]), arrays


def check_files(checks):
    names = sorted((DATA / "fclib").glob("*.cpf"))
    checks.expect(len(names) > 5, "files", names)
    for path in names:
        dimension, arrays = read_cpf(path)
        if "W.ptr" not in arrays:
            continue
        friction, load = arrays["mu"], arrays["q"]
        if checks.runs_slowly() and len(friction) > 30:
            continue
        pointers, rows, values = arrays["W.ptr"], arrays["W.idx"], arrays["W.val"]
        for tolerance in (1e-8, 1e-12):
            answer = checks.json_of("solve", path, "--tolerance", tolerance)
            impulse = answer["impulse"]
            checks.expect((answer["law"], answer["solver"], answer["status"]) ==
                          ("coulomb", "newton", "converged"), path.name, answer["status"])
            checks.expect((answer["contacts"], len(impulse)) == (len(friction), len(load)), path.name)
            velocity, trace = list(load), 0.0
            for column, x in enumerate(impulse):
                for k in range(pointers[column], pointers[column + 1]):
                    velocity[rows[k]] += values[k] * x
                    trace += values[k] if rows[k] == column else 0
            relative, absolute = natural_map(friction, impulse, velocity, load, trace / len(load),
                                             dimension)
            printed = answer["certificate"]
            checks.expect(relative <= 1.1 * tolerance, path.name, relative)
            checks.expect(abs(relative - printed["natural_map_error"]) <= 0.05 * tolerance, path.name,
                          relative, printed)
            # The printed ones are upper bounds: with 1e-14 of all that is added in the sums.
            rounding = 1e-14 * (absolute / relative if relative > 0 else 1)
            checks.expect(abs(absolute - printed["natural_map_error_abh"]) <=
                          0.1 * max(absolute, tolerance) + rounding, path.name, absolute, printed)
            inverse_mass = trace / len(load)
            speed = max(map(abs, load)) + max(map(abs, impulse)) * inverse_mass
            checks.expect(max(abs(a - b) for a, b in zip(velocity, answer["contact_velocity"])) <=
                          1e-9 * speed, path.name, "contact velocity")


def check_solvers(checks):
    path = DATA / "fclib" / "FC3D_Example1.cpf"
    expected = checks.json_of("solve", path, "--tolerance", "1e-12")["impulse"]
    for solver in ("gauss_seidel", "admm", "apgd"):
        answer = checks.json_of("solve", path, "--solver", solver)
        checks.expect(answer["solver"] == solver, solver, answer["solver"])
        checks.expect(max(abs(a - b) for a, b in zip(answer["impulse"], expected)) <= 1e-6, solver,
                      answer["impulse"], expected)
    refused = checks.run("solve", path, "--solver", "sap")
    checks.refused(["sap"], refused, "--solver", "bodies")


def check_bodies(checks):
    """On bodies: the momentum balance holds, sliding contacts do not separate, rigid ones do not
    approach, and the law is Coulomb's unless the convex one is asked for."""
    path = DATA / "pile_n10_s60.txt"
    problem = Problem(path.read_text(encoding="utf-8"))
    for words in ([], ["--rigid"], ["--law", "convex", "--rigid"], ["--law", "coulomb"],
                  ["--rigid", "--solver", "gauss_seidel", "--tolerance", "1e-4"],
                  ["--solver", "sap"]):
        answer = checks.json_of("solve", path, *words)
        tolerance = 1e-4 if "1e-4" in words else 1e-8
        checks.expect(answer["status"] == "converged", words, answer["status"])
        checks.expect(answer["law"] == ("convex" if "convex" in words else "coulomb"), words)
        residual = problem.residual(answer["velocity"], answer["impulse"])
        checks.expect(residual <= 1e-12, words, "momentum", residual)
        checks.expect(answer["certificate"]["natural_map_error"] <= tolerance, words)
    law = ["--law", "convex", "--tolerance", "1e-12"]
    convex = checks.json_of("solve", path, *law)["impulse"]
    again = checks.json_of("solve", path, *law, "--solver", "newton")["impulse"]
    size = math.hypot(*convex)
    checks.expect(max(abs(a - b) for a, b in zip(convex, again)) <= 1e-7 * size, "convex by newton")


MIXED = """carom-problem 1
time_step 0.01
bodies 2
body 3
2 0 0 0 2 0 0 0 2
0 0 -0.0981
0 0 0
body 3
2 0 0 0 2 0 0 0 2
0 0 -0.0981
0 0 0
contacts 2
contact rigid 1 0 0.5 0.1 0.1 0 0 0
1 0 0 0 1 0 0 0 1
contact compliant 1 1 -0.01 1e4 0.02 0 0 0.001
1 0 0 0 1 0 0 0 1
"""


def check_mixed(checks):
    """A rigid contact of a file does not give way, a compliant one is its spring and damper: by
    every law and solver; with --rigid neither gives way."""
    mass, step, gap, stiffness, dissipation, fall = 2, 0.01, -0.01, 1e4, 0.02, -0.0981
    spring = step * stiffness
    rise = (mass * fall - spring * gap) / (mass + spring * (step + dissipation))
    path = checks.file(MIXED)
    for words in ([], ["--law", "convex"], ["--solver", "gauss_seidel"], ["--solver", "sap"],
                  ["--law", "convex", "--solver", "gauss_seidel"]):
        answer = checks.json_of("solve", path, *words)
        checks.expect(answer["status"] == "converged", words, answer["status"])
        checks.expect(abs(answer["velocity"][2]) <= 1e-7, words, answer["velocity"])
        checks.expect(abs(answer["velocity"][5] - rise) <= 1e-7, words, answer["velocity"], rise)
    answer = checks.json_of("solve", path, "--rigid")
    expected = -gap / (step + dissipation)
    checks.expect(abs(answer["velocity"][5] - expected) <= 1e-7, "--rigid", answer["velocity"])


CLOSING = """carom-problem 1
time_step 0.01
bodies 1
body 3
2 0 0 0 2 0 0 0 2
0 0 -0.0981
0 0 0
contacts 2
contact rigid 1 0 0.5 0.1 0.1 0 0 {up}
1 0 0 0 1 0 0 0 1
contact rigid 1 0 0.5 0.1 0.1 0 0 {down}
1 0 0 0 -1 0 0 0 -1
"""


def check_infeasible(checks):
    """A body between two plates that close has no velocity: the ray is impulses in both cones that
    move nothing and would gain. Between plates that open there is an answer and no ray."""
    for words in ([], ["--law", "convex"]):
        path = checks.file(CLOSING.format(up=0.1, down=0.1))
        answer = checks.json_of("solve", path, *words, code=3)
        checks.expect(answer["status"] == "infeasible", words, answer["status"])
        first, second = answer["ray"]["impulse"][:3], answer["ray"]["impulse"][3:]
        for ray in (first, second):
            checks.expect(math.hypot(*ray[:2]) <= 0.5 * ray[2] * (1 + 1e-9), words, "cone", ray)
        size = math.hypot(*first, *second)
        moved = [first[0] + second[0], first[1] - second[1], first[2] - second[2]]
        checks.expect(size > 0 and math.hypot(*moved) <= 1e-9 * size, words, "moves", moved)
        checks.expect(first[2] * 0.1 + second[2] * 0.1 > 1e-3 * size, words, "gains", first, second)
        path = checks.file(CLOSING.format(up=0.1, down=-0.2))
        answer = checks.json_of("solve", path, *words)
        checks.expect(answer["status"] == "converged" and "ray" not in answer, words, "opening")
        checks.expect(abs(answer["velocity"][2] - 0.1) <= 1e-7, words, answer["velocity"])


def check_deadline(checks):
    """By a deadline that is over at once the answer is balanced and in its cones, the exit code 3;
    by one that is far away it is the answer."""
    path = DATA / "pile_n10_s60.txt"
    problem = Problem(path.read_text(encoding="utf-8"))
    for words in (["--law", "convex"], [], ["--rigid"], ["--rigid", "--solver", "gauss_seidel"],
                  ["--rigid", "--solver", "admm"], ["--rigid", "--solver", "apgd"]):
        answer = checks.json_of("solve", path, *words, "--deadline", "1e-9", code=3)
        checks.expect(answer["status"] == "deadline", words, answer["status"])
        checks.expect(answer["certificate"]["cone_violation"] <= 1e-12, words)
        if words != ["--law", "convex"]:
            residual = problem.residual(answer["velocity"], answer["impulse"])
            checks.expect(residual <= 1e-12, words, "momentum", residual)
        if "--solver" not in words:
            late = checks.json_of("solve", path, *words, "--deadline", "1000")
            checks.expect(late["status"] == "converged", words, late["status"])
    for word in ("0", "-1", "soon", "nan"):
        checks.refused(word, checks.run("solve", path, "--deadline", word), "--deadline", "> 0")


if __name__ == "__main__":
    every = Checks()
    check_files(every)
    check_solvers(every)
    check_bodies(every)
    check_mixed(every)
    check_infeasible(every)
    check_deadline(every)
    every.end()
