#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`carom certify`: measures in closed form, answers of `carom solve` and spoilt ones, rays, bad
answers."""
import json
import math
import sys

sys.dont_write_bytecode = True
from carom_program import DATA, Checks  # noqa: E402

CONVEX = ["--law", "convex"]
FIELDS = ["law", "velocity_error_bound", "duality_gap", "residual", "natural_map_error",
          "cone_violation", "complementarity", "signorini", "friction_direction",
          "momentum_residual", "worst", "verdict", "index"]
MEASURES = FIELDS[1:10]

# A mass of 2 kg falls onto two contacts apart: R = 0.5 each, v_hat = 0.
MASS, FALL, WEIGHT = 2, -0.5, 0.5
BALL = """carom-problem 1
time_step 0.01
bodies 1
body 3
2 0 0 0 2 0 0 0 2
0 0 -0.5
0 0 0
contacts 1
contact weighted 1 0 0.5 0.5 0.5 0 0 0
1 0 0 0 1 0 0 0 1
"""
CLOSING = """carom-problem 1
time_step 0.01
bodies 1
body 3
2 0 0 0 2 0 0 0 2
0 0 -0.0981
0 0 0
contacts 2
contact rigid 1 0 0.5 0.1 0.1 0 0 0.1
1 0 0 0 1 0 0 0 1
contact rigid 1 0 0.5 0.1 0.1 0 0 {down}
1 0 0 0 -1 0 0 0 -1
"""


def certify(checks, problem, answer, *words, code=0):
    """What the program says of an answer, with the fields and the table that must be there."""
    text = answer if isinstance(answer, str) else json.dumps(answer)
    path = checks.file(text, "answer.json")
    judged = checks.json_of("certify", problem, path, *words, code=code)
    if judged is None:
        return {}
    checks.expect([*judged][:len(FIELDS)] == FIELDS, words, "fields", [*judged])
    verdict = judged["verdict"]
    checks.expect(verdict.endswith(".") and "\n" not in verdict, "one sentence", verdict)
    table = checks.run("certify", problem, path, *words)
    checks.expect(table.returncode == code and table.stdout.startswith(verdict), "table", table)
    return judged


def near(x, y, relative=1e-12):
    return x is not None and abs(x - y) <= relative * abs(y)


def check_ball(checks):
    """m (v - v*) = g, v + R g = 0: v = m v*/(m + 1/R), and every measure beside it by hand."""
    path = checks.file(BALL)
    exact = MASS * FALL / (MASS + 1 / WEIGHT)
    push = MASS * (exact - FALL)
    right = {"velocity": [0, 0, exact], "impulse": [0, 0, push]}
    for part in ("velocity", "impulse", None):
        answer = {name: right[name] for name in right if part in (None, name)}
        judged = certify(checks, path, answer, *CONVEX, "--tolerance", "1e-14")
        checks.expect(judged["residual"] <= 1e-14 and judged["velocity_error_bound"] <= 1e-14,
                      part, judged)
        checks.expect((judged["momentum_residual"] is None) == (part is not None), part, judged)
        checks.expect(judged["verdict"].startswith("The answer solves the problem"), judged)
    off = 0.125  # the gradient is (m + 1/R) off
    judged = certify(checks, path, {"velocity": [0, 0, exact + off]}, *CONVEX)
    slope = (MASS + 1 / WEIGHT) * off
    checks.expect(near(judged["velocity_error_bound"], slope / math.sqrt(MASS)), judged)
    checks.expect(near(judged["duality_gap"], slope**2 / MASS / 2), judged)
    checks.expect(near(judged["residual"], slope / (MASS * abs(FALL))), judged)
    checks.expect("does not solve" in judged["verdict"] and "contact 0" in judged["verdict"], judged)
    checks.expect(judged["worst"] == {"contact": 0, "measure": "natural_map_error"}, judged)
    certify(checks, path, {"velocity": [0, 0, exact + off]}, *CONVEX, "--tolerance", "1e-3", code=3)
    judged = certify(checks, path, {"velocity": [0, 0, exact + off]}, *CONVEX, "--tolerance", "1e9")
    text, _, _ = judged["verdict"].partition(" m/s (rad/s where it turns)")
    within = float(text.rpartition(" ")[2])  # three digits
    checks.expect(near(within, slope / MASS, 6e-3), judged)
    # The right velocity with impulses of another one, and impulses that pull.
    judged = certify(checks, path, {"velocity": [0, 0, exact], "impulse": [0, 0, 2 * push]},
                     *CONVEX, "--tolerance", "1e-6", code=3)
    checks.expect(near(judged["momentum_residual"], push / max(2 * push, MASS * abs(FALL))) or
                  near(judged["momentum_residual"], 0.5), judged)
    checks.expect("impulses lead to" in judged["verdict"], judged)
    judged = certify(checks, path, {"impulse": [0, 0, -1]}, *CONVEX)
    checks.expect(judged["cone_violation"] == 1 and
                  judged["worst"] == {"contact": 0, "measure": "cone_violation"}, judged)
    # Under Coulomb's law there is no bound and no gap.
    judged = certify(checks, path, right, "--tolerance", "1e-13")
    checks.expect(judged["velocity_error_bound"] is None and judged["duality_gap"] is None, judged)
    # A velocity alone says nothing of rigid contact.
    judged = certify(checks, path, {"velocity": [0, 0, 0]}, *CONVEX, "--rigid")
    checks.expect(all(judged[name] is None for name in MEASURES), judged)
    certify(checks, path, {"velocity": [0, 0, 0]}, *CONVEX, "--rigid", "--tolerance", "1", code=3)
    judged = certify(checks, path, {"impulse": [0, 0, 1]}, "--rigid", "--tolerance", "1e-13")
    checks.expect(judged["velocity_error_bound"] is None and judged["residual"] <= 1e-13, judged)
    certify(checks, path, {"velocity": [0, 0, 0], "impulse": [0, 0, 1]}, "--rigid", "--tolerance",
            "1e-13")


def check_index(checks):
    """W = [[1, 0.5], [0.5, 0.26]], mu = 1, free velocity (1, 0.1): the contact can stay open, slide or stick, each in closed
    form; the indices of the three answers sum to one. What is no answer has no index."""
    soft = 1e-6
    path = checks.file(f"""carom-problem 1
time_step 0.01
bodies 1
body 3
1 0 0 0 1 0 0 0 1
1 0 -4
1 0 -4
contacts 1
contact weighted 1 0 1 {soft} {soft} 0 0 0
1 0 0 0 1 0 0.5 0 0.1
""", "wedge.txt")
    slide = 0.1 / (0.5 - 0.26 - soft)
    determinant = (1 + soft) * (0.26 + soft) - 0.25
    stick = [(-0.26 - soft + 0.05) / determinant, 0, (0.5 - 0.1 * (1 + soft)) / determinant]
    for impulse, index in (([0, 0, 0], 1), ([-slide, 0, slide], -1), (stick, 1)):
        judged = certify(checks, path, {"impulse": impulse}, "--tolerance", "1e-6")
        checks.expect(judged["index"] == index, impulse, judged)
    judged = certify(checks, path, {"impulse": [-slide, 0, 1.1 * slide]})
    checks.expect(judged["index"] is None and "does not solve" in judged["verdict"], judged)
    judged = certify(checks, path, {"impulse": [0, 0, 0]}, *CONVEX)
    checks.expect(judged["index"] is None, judged)


def check_solutions(checks):
    """What `carom solve` prints is an answer; spoilt, it is none, and the contact is named."""
    cases = [("pile_n10_s60.txt", CONVEX), ("pile_n10_s60.txt", []),
             ("pile_n10_s60.txt", [*CONVEX, "--rigid"]), ("fclib/rolling_incline_rolls.hdf5", []),
             ("fclib/OneObject-i1028-138.cpf", [])]
    for name, words in cases[:2] if checks.runs_slowly() else cases:
        path = DATA / name
        answer = checks.json_of("solve", path, "--tolerance", "1e-10", *words)
        judged = certify(checks, path, answer, "--tolerance", "1e-8", *words)
        checks.expect(judged["law"] == answer["law"], name, words, judged)
        for field in ("natural_map_error", "cone_violation"):
            given = answer["certificate"][field]
            checks.expect(abs(judged[field] - given) <= 1e-9 + 1e-6 * given, name, field, judged)
        bad = dict(answer, impulse=list(answer["impulse"]))
        largest = max(range(len(bad["impulse"])), key=lambda k: abs(bad["impulse"][k]))
        bad["impulse"][largest] *= 1.25
        judged = certify(checks, path, bad, "--tolerance", "1e-3", *words, code=3)
        checks.expect("does not solve" in judged["verdict"], name, judged["verdict"])
        judged = certify(checks, path, {"impulse": bad["impulse"]}, *words)
        size = len(bad["impulse"]) // answer["contacts"]
        checks.expect(judged["worst"]["contact"] == largest // size or
                      judged["natural_map_error"] > 1e-3, name, words, judged["worst"])


def check_rays(checks):
    """A body between two plates that close: the ray of `carom solve` proves that there is no
    answer. Between plates that open the same ray proves nothing, nor does half of it."""
    for words in (CONVEX, []):
        path = checks.file(CLOSING.format(down=0.1))
        answer = checks.json_of("solve", path, *words, code=3)
        checks.expect(answer["status"] == "infeasible", words, answer["status"])
        judged = certify(checks, path, answer, "--tolerance", "1e-8", *words)
        checks.expect(judged["ray"]["infeasible"] and "proves" in judged["verdict"], words, judged)
        checks.expect(judged["ray"]["velocity_needed"] is None, judged)  # infinite
        checks.expect(judged["ray"]["velocity_bound"] is None, judged)
        ray = {"ray": answer["ray"]}
        checks.expect(certify(checks, path, ray, *words)["ray"]["infeasible"], words, "alone")
        half = {"ray": {"impulse": answer["ray"]["impulse"][:3] + [0, 0, 0]}}
        open_path = checks.file(CLOSING.format(down=-0.2), "open")
        for where, what in ((path, half), (open_path, ray)):
            judged = certify(checks, where, what, "--tolerance", "1e-8", *words, code=3)
            checks.expect(not judged["ray"]["infeasible"] and "not prove" in judged["verdict"],
                          words, judged)


BAD = {
    "empty": ("", "JSON"),
    "prose": ("an answer", "JSON"),
    "cut": ('{"velocity": [0, 0', "JSON"),
    "nan": ('{"velocity": [0, 0, NaN]}', "JSON"),
    "infinite": ('{"velocity": [0, 0, 1e999]}', "1e999"),
    "null": ('{"velocity": [0, null, 0]}', "velocity[1]", "null"),
    "word": ('{"velocity": [0, "x", 0]}', "velocity[1]"),
    "array": ("[1, 2]", "an object", "array of 2"),
    "nothing": ("{}", "velocity, impulse or ray"),
    "nulls": ('{"velocity": null, "impulse": null}', "velocity, impulse or ray"),
    "short": ('{"velocity": [0, 0]}', "velocity", "3 numbers", "array of 2"),
    "long": ('{"impulse": [0, 0, 0, 0, 0, 0]}', "impulse", "3 numbers", "array of 6"),
    "number": ('{"impulse": 7}', "impulse", "3 numbers", "7"),
    "twice": ('{"impulse": [0,0,0], "impulse": [0,0,1]}', "impulse", "twice"),
    "ray number": ('{"ray": 7}', "ray", "an object"),
    "ray empty": ('{"ray": {}}', "ray.impulse", "none"),
    "ray short": ('{"ray": {"impulse": [1]}}', "ray.impulse", "3 numbers"),
}


def check_bad(checks):
    path = checks.file(BALL)
    for name, (text, *words) in BAD.items():
        answer = checks.file(text, "answer.json")
        checks.refused(name, checks.run("certify", path, answer, "--json"), "answer.json", *words)
    answer = checks.file('{"velocity": [0, 0, 0]}', "answer.json")
    for words in (["certify"], ["certify", path], ["certify", path, "no/such"],
                  ["certify", "no/such", answer], ["certify", answer, path],
                  ["certify", path, answer, "--law", "newton"],
                  ["certify", path, answer, "--tolerance", "0"],
                  ["certify", path, answer, "--tolerance", "nan"]):
        checks.refused(words, checks.run(*words))
    other = DATA / "pile_n10_s60.txt"
    checks.refused("another problem", checks.run("certify", other, answer), "velocity", "array of 3")
    # Numbers of any size get a verdict.
    for x in (1e-320, 1e160, 1e308, -1e308):
        for answer in ({"velocity": [x, 0, x]}, {"impulse": [x, 0, x]},
                       {"velocity": [x, 0, 0], "impulse": [0, 0, x]}, {"ray": {"impulse": [0, 0, x]}}):
            certify(checks, path, answer)
    text = checks.run("certify", "--help").stdout
    for word in FIELDS:
        checks.expect(word in text, "help", word)


if __name__ == "__main__":
    every_check = Checks()
    check_ball(every_check)
    check_index(every_check)
    check_solutions(every_check)
    check_rays(every_check)
    check_bad(every_check)
    every_check.end()
