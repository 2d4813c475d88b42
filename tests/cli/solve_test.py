#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`carom solve`: answers recomputed from the file alone, options, formats, exit codes."""
import sys

sys.dont_write_bytecode = True
from carom_program import DATA, Checks, strict_json  # noqa: E402
from text_problem import Problem, norm  # noqa: E402

FIELDS = ["law", "solver", "status", "iterations", "contacts", "velocities", "velocity", "impulse",
          "contact_velocity", "certificate", "seconds"]
CERTIFICATE = ["residual", "duality_gap", "velocity_error_bound", "cone_violation",
               "complementarity", "natural_map_error"]

SMALL = """carom-problem 1
time_step 0.01
bodies 2
body 3
2 0 0  0 2 0  0 0 2
1 0.5 -1
1 0.5 0
body 2
1 0.25  0.25 3
0 2
0 0
contacts 2
contact compliant 2 0 1 -0.001 1e4 0.02 0.5 1 0.001
1 0 0
0 1 0
0 0 1
-1 0
0 0
0 -1
contact weighted 1 1 0.3 0.01 0.002 0.1 -0.1 0.2
1 0
0 1
1 1
"""


def check_answer(checks, name, text, answer, tolerance):
    problem = Problem(text)
    checks.expect(list(answer) == FIELDS, name, "fields", list(answer))
    checks.expect(list(answer["certificate"]) == CERTIFICATE, name, list(answer["certificate"]))
    checks.expect((answer["law"], answer["solver"], answer["status"]) ==
                  ("convex", "sap", "converged"), name, answer["status"])
    count, velocities = len(problem.contacts), len(problem.free)
    checks.expect((answer["contacts"], answer["velocities"]) == (count, velocities), name, "counts")
    checks.expect((len(answer["velocity"]), len(answer["impulse"]),
                   len(answer["contact_velocity"])) == (velocities, 3 * count, 3 * count), name,
                  "lengths")
    checks.expect(answer["seconds"] > 0 and answer["iterations"] >= 0, name, "seconds, iterations")

    residual = problem.residual(answer["velocity"], answer["impulse"])
    checks.expect(residual <= tolerance * 1.01 + 1e-13, name, "residual", residual)
    checks.expect(abs(residual - answer["certificate"]["residual"]) <= 1e-3 * residual + 1e-13, name,
                  "residual", residual, "printed", answer["certificate"]["residual"])
    speed = norm(answer["velocity"]) or 1
    for i, contact in enumerate(problem.contacts):
        velocity = problem.contact_velocity(contact, answer["velocity"])
        printed = answer["contact_velocity"][3 * i:3 * i + 3]
        checks.expect(norm([a - b for a, b in zip(velocity, printed)]) <= 1e-11 * speed, name,
                      "contact velocity", i, velocity, printed)
        impulse = contact.impulse(velocity)
        printed = answer["impulse"][3 * i:3 * i + 3]
        slack = 1e-11 * speed / min(contact.tangent, contact.normal)
        checks.expect(norm([a - b for a, b in zip(impulse, printed)]) <= slack + 1e-9 * norm(impulse),
                      name, "impulse", i, impulse, printed)


def check_files(checks):
    names = ["pile_n1_s30", "pile_n10_s60", "robot_30x16", "wall_n10", "mujoco_sphere_10",
             "mujoco_box_10"]
    for name in names:
        path = DATA / f"{name}.txt"
        answer = checks.json_of("solve", path, "--law", "convex")
        check_answer(checks, name, path.read_text(encoding="utf-8"), answer, 1e-8)
    for tolerance in ("1e-4", "1e-12"):
        path = DATA / "pile_n10_s60.txt"
        answer = checks.json_of("solve", path, "--tolerance", tolerance, "--law", "convex",
                                "--solver", "sap", "--repeat", 5)
        check_answer(checks, f"tolerance {tolerance}", path.read_text(encoding="utf-8"), answer,
                     float(tolerance))


def check_shapes(checks):
    for name, text in {"two sizes": SMALL, "other spaces": SMALL.replace("\n", "\r\n\t ")}.items():
        check_answer(checks, name, text, checks.json_of("solve", checks.file(text), "--law", "convex"), 1e-8)
    odd_name = checks.file(SMALL, "problem with spaces.hdf5")  # recognised by content
    check_answer(checks, "odd name", SMALL, checks.json_of("solve", odd_name, "--law", "convex"), 1e-8)
    start = SMALL.index("contacts")
    free = checks.json_of("solve", checks.file(SMALL[:start] + "contacts 0\n"))
    checks.expect(free["velocity"] == [1, 0.5, -1, 0, 2] and free["impulse"] == [], "free", free)
    nothing = checks.json_of("solve", checks.file("carom-problem 1 time_step 1 bodies 0 contacts 0"))
    checks.expect(nothing["velocity"] == [] and nothing["status"] == "converged", "nothing", nothing)
    # The file's guess is where the solver starts: with the answer as guess there is nothing to do.
    answer = checks.json_of("solve", checks.file(SMALL), "--law", "convex", "--tolerance", "1e-12")["velocity"]
    guess = [" ".join(map(repr, part)) for part in (answer[:3], answer[3:])]
    warm = SMALL.replace("\n1 0.5 0\n", f"\n{guess[0]}\n").replace("\n0 0\nc", f"\n{guess[1]}\nc")
    again = checks.json_of("solve", checks.file(warm), "--law", "convex")
    checks.expect(again["iterations"] == 0 and again["velocity"] == answer, "warm start", again)


def check_table(checks):
    """The table for people has the numbers of --json, in their places, for blocks of any count of rows."""
    path = DATA / "constraints" / "arm_and_boxes.txt"
    answer = checks.json_of("solve", path)
    words = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    rows = []  # of each block, in the order of the file
    for line in words:
        if line[:1] == ["contact"]:
            rows.append(3)
        elif line[:2] == ["constraint", "intervals"]:
            rows.append(int(line[-1 if line[2] == "1" else 5]))
        elif line[:1] == ["constraint"]:
            rows.append({"friction": 3, "elliptic": 3, "torsional": 4, "rolling": 6}[line[1]])
    checks.expect(sum(rows) == len(answer["impulse"]) and len(rows) == answer["contacts"], "rows", rows)
    table = checks.run("solve", path).stdout.split("\n\n")
    lines = [line.split() for part in table for line in part.splitlines() if line.split() and line.split()[0].isdigit()]
    first, seen = 0, 0
    for number, count in enumerate(rows):
        own = [line for line in lines if int(line[0]) == number]
        impulse, velocity = answer["impulse"][first:first + count], answer["contact_velocity"][first:first + count]
        first += count
        if count == 3 and len(own[0]) == 7:
            shown = [float(x) for x in own[0][1:]]
            expected = impulse + velocity
        else:
            shown = [float(x) for line in own for x in line[2:]]
            expected = [x for pair in zip(impulse, velocity) for x in pair][:len(shown)]
        seen += len(shown)
        close = all(abs(a - b) <= 1e-5 * abs(b) + 1e-12 for a, b in zip(shown, expected))
        checks.expect(len(shown) == len(expected) and close, "table", number, shown, expected)
    checks.expect(seen >= 2 * 24, "rows shown", seen)


def check_stopped_short(checks):
    path = DATA / "pile_n10_s60.txt"
    answer = checks.json_of("solve", path, "--law", "convex", "--tolerance", "1e-300", code=3)
    checks.expect(answer["status"] == "no_progress" and list(answer) == FIELDS, "stopped", answer)
    checks.expect(answer["certificate"]["residual"] < 1e-10, "best answer", answer["certificate"])
    table = checks.run("solve", path, "--law", "convex", "--tolerance", "1e-300")
    checks.expect(table.returncode == 3 and "no_progress" in table.stdout and table.stderr == "",
                  "readable", table)
    overflow = SMALL.replace("1 0.5 -1", "1e300 0.5 -1e300").replace("1e4", "1e300")
    result = checks.run("solve", checks.file(overflow), "--json")
    checks.expect(result.returncode in (0, 3) and list(strict_json(result.stdout)) == FIELDS,
                  "numbers that overflow", result)


def check_command_line(checks):
    path = checks.file(SMALL)
    table = checks.run("solve", path)
    checks.expect(table.returncode == 0 and "converged" in table.stdout and table.stderr == "",
                  "readable", table)
    for words in (["--help"], ["solve", "--help"], ["project", "--help"], ["demo", "--help"],
                  ["--version"]):
        result = checks.run(*words)
        checks.expect(result.returncode == 0 and result.stdout and result.stderr == "", words, result)
    checks.expect("1e-8" in checks.run("solve", "--help").stdout, "default tolerance in the help")
    refusals = [([], "project, solve, certify, replay, impact, simulate, viscoelastic, heap or demo"),
                (["settle"], "settle"), (["solve"], "FILE"), (["project"], "FILE"), (["solve", path, path], "not expected"),
                (["solve", path, "--json=maybe"], "--json"), (["solve", path, "--fast"], "--fast"),
                (["solve", path, "--law", "exact"], "--law", "convex or coulomb"),
                (["solve", path, "--solver", "simplex"], "--solver", "sap, newton, gauss_seidel"),
                (["solve", path, "--solver"], "--solver")]
    for bad in ("0", "-1", "nan", "inf", "1e999", "1,5", "1e-8x", "", "0x1p-3", "tight"):
        refusals.append((["solve", path, f"--tolerance={bad}"], "--tolerance"))
    for bad in ("0", "-1", "1.5", "x", "99999999999", "99999999999999999999"):
        refusals.append((["solve", path, f"--repeat={bad}"], "--repeat"))
    for words, *parts in refusals:
        checks.refused(words, checks.run(*words), *parts)


if __name__ == "__main__":
    every = Checks()
    check_files(every)
    check_shapes(every)
    check_table(every)
    check_stopped_short(every)
    check_command_line(every)
    every.end()
