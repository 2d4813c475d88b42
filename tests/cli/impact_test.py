#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`carom impact`: every field recomputed in exact fractions from the file, options."""
import json
import math
import sys

sys.dont_write_bytecode = True
from carom_program import Checks, strict_json  # noqa: E402
from elimination import dot  # noqa: E402
from impact_physics import Impact, diagonal, distance, line  # noqa: E402

FIELDS = ["outcomes", "unique", "reason", "indeterminacy", "reflections_bound", "plastic"]
ENDING = ["velocity", "momentum", "sequence", "impulses", "kinetic_energy"]


def ask(checks, scene, *words, code=0):
    return checks.json_of("impact", checks.file(json.dumps(scene)), *words, code=code)


def check_balance(checks, impact, name, ending, scale):
    """What holds for every ending: momentum, velocity, energy and impulses agree."""
    checks.expect(list(ending) == ENDING, name, "fields", list(ending))
    error = distance(ending["momentum"], impact.times_mass(ending["velocity"]))
    checks.expect(error <= 1e-12 * scale, name, "momentum is not mass times velocity", error)
    pushed = list(impact.momentum)
    for impulse, normal in zip(ending["impulses"], impact.normals):
        pushed = [p + impulse * n for p, n in zip(pushed, normal)]
    error = distance(ending["momentum"], pushed)
    checks.expect(error <= 1e-12 * scale, name, "momentum before plus impulses", error)
    energy = float(dot(ending["velocity"], impact.times_mass(ending["velocity"]))) / 2
    checks.expect(abs(ending["kinetic_energy"] - energy) <= 1e-12 * float(impact.energy), name,
                  "kinetic energy", ending["kinetic_energy"], energy)
    checks.expect(min(ending["impulses"], default=0) >= -1e-12 * scale, name, "pulls", ending)


def slowest(impact, velocity):
    return min((impact.unit_rate(i, velocity) for i in range(len(impact.normals))), default=0)


def check_plastic(checks, impact, name, ending, scale):
    """Moreau's conditions, which one momentum alone meets."""
    check_balance(checks, impact, name, ending, scale)
    checks.expect(ending["sequence"] == [], name, "sequence", ending)
    checks.expect(slowest(impact, ending["velocity"]) >= -1e-12 * scale, name, "closing")
    work = sum(abs(float(impact.rate(i, ending["velocity"])) * impulse)
               for i, impulse in enumerate(ending["impulses"]))
    checks.expect(work <= 1e-12 * max(1, float(impact.energy)), name, "opens and pushes", work)


def check_energy(checks, impact, name, ending, plastic, restitution):
    lost = float(impact.energy) - plastic["kinetic_energy"]
    energy = plastic["kinetic_energy"] + restitution**2 * lost
    checks.expect(abs(ending["kinetic_energy"] - energy) <= 1e-12 * float(impact.energy), name,
                  "energy", ending["kinetic_energy"], "expected", energy)


def check_ending(checks, impact, name, ending, plastic, restitution, scale):
    """The elastic ending along the printed sequence, or the blend that keeps R^2 of the energy."""
    check_balance(checks, impact, name, ending, scale)
    check_energy(checks, impact, name, ending, plastic, restitution)
    followed = impact.follow(ending["sequence"])
    if not checks.expect(followed is not None, name, "not admissible", ending["sequence"]):
        return
    velocity, impulses = followed
    step = [float(a) - b for a, b in zip(velocity, plastic["velocity"])]
    made = [a - b for a, b in zip(ending["velocity"], plastic["velocity"])]
    square = dot(step, step)
    share = dot(step, made) / square if square > 1e-20 * scale**2 else restitution
    checks.expect(restitution == 1 or share >= 0, name, "blend", share)
    for what, elastic in (("velocity", velocity), ("impulses", impulses)):
        share = 1 if restitution == 1 else share
        expected = [b + share * (float(a) - b) for a, b in zip(elastic, plastic[what])]
        error = distance(ending[what], expected)
        checks.expect(error <= 1e-11 * scale, name, what, ending[what], "expected", expected)


def check_answer(checks, name, scene, answer, restitution, every):
    """An answer that ended well, `every` outcome or one."""
    impact = Impact(scene)
    scale = max(1.0, *(abs(float(p)) for p in impact.momentum + impact.velocity))
    checks.expect(list(answer) == FIELDS, name, "fields", list(answer))
    check_plastic(checks, impact, f"{name}, plastic", answer["plastic"], scale)
    outcomes, plastic = answer["outcomes"], answer["plastic"]
    if restitution == 0:
        checks.expect(outcomes == [plastic] and answer["unique"], name, "plastic law", answer)
        checks.expect(answer["indeterminacy"] == 0, name, "plastic law", answer["indeterminacy"])
        return
    ends = impact.outcomes()
    checks.expect(answer["unique"] == (len(ends) == 1), name, "unique", answer["unique"], len(ends))
    checks.expect((answer["reason"] == "not unique") == (len(ends) > 1), name, answer["reason"])
    checks.expect(len(outcomes) == (len(ends) if every else 1), name, "outcomes", len(outcomes),
                  "expected", len(ends))
    for k, ending in enumerate(outcomes):
        check_ending(checks, impact, f"{name}, outcome {k}", ending, plastic, restitution, scale)
        checks.expect(slowest(impact, ending["velocity"]) >= -1e-12 * scale, name, "closing")
        bound = answer["reflections_bound"]
        checks.expect(bound == -1 or len(ending["sequence"]) <= bound, name, "bound", bound)
        checks.expect(bound == 0 or slowest(impact, impact.velocity) < 0, name, "bound", bound)
    elastic = [impact.follow(ending["sequence"]) for ending in outcomes]
    for velocity, _ in (found for found in elastic if found):
        near = [end for end in ends if distance(end, velocity) < 1e-9]
        checks.expect(len(near) == 1, name, "an outcome that no order leads to, or one twice")
        ends = [end for end in ends if distance(end, velocity) >= 1e-9]
    if every:
        check_indeterminacy(checks, name, impact, answer)


def check_indeterminacy(checks, name, impact, answer):
    largest = 0.0
    for a in answer["outcomes"]:
        for b in answer["outcomes"]:
            step = [x - y for x, y in zip(a["velocity"], b["velocity"])]
            largest = max(largest, float(dot(step, impact.times_mass(step))))
    xi = math.sqrt(largest / (2 * float(impact.energy))) if largest else 0
    checks.expect(abs(answer["indeterminacy"] - xi) <= 1e-9, name, "indeterminacy",
                  answer["indeterminacy"], "expected", xi)


def check_laws(checks):
    """Each law and order on scenes that are certified, enumerated and not unique: every order
    where the file alone sets the law, else one in turn, so that some scene has each pair."""
    scenes = {"equal": line([1, 1, 1], [3, 1, -1]), "unequal": line([1, 2, 3], [3, 2, 1]),
              "one outcome": line([1, 2, 1], [1, 0, 0]), "opening": line([1, 2, 1], [-1, 0, 1]),
              "late": line([1, 1, 1], [1, 0, 0.9]),
              "late, unequal": line([2, 1, 3], [1, 0, 0.8]),
              "corner": {"mass_matrix": [[3, 1], [1, 2]], "normals": [[2, 0], [-1, 3]],
                         "velocity": [-1, -0.5]},
              "wide": {"mass_matrix": diagonal([1, 1]), "normals": [[0.5, 2], [-0.5, 2]],
                       "velocity": [0.25, -1]},
              "one ball": line([2], [3])}
    for shift, (name, scene) in enumerate(scenes.items()):
        every_law = [([], 1), (["--law", "elastic"], 1), (["--law", "restitution"], 1),
                     (["--law", "plastic"], 0)]
        for given in (0, 0.3, 1):
            every_law.append((["--law", "elastic"], 1, given))
            every_law.append((["--law", "plastic"], 0, given))
            every_law.append((["--law", "restitution"], given, given))
            every_law.append(([], given, given))
        count = len(scene["normals"])
        orders = [[], ["--order", "most_infeasible"], ["--order", "all"]]
        orders += [["--order", text] for text in ("0,1", "1,0", "1,1,0")] if count == 2 else []
        for turn, (law, restitution, *given) in enumerate(every_law, shift):
            if checks.runs_slowly() and (turn - 2 * shift) % 3 != 0:  # a third, others each scene
                continue
            full = {**scene, "restitution": given[0]} if given else scene
            some = [orders[turn % len(orders)]] if law else orders
            answers = [ask(checks, full, *law, *order) for order in some]
            for order, answer in zip(some, answers):
                check_answer(checks, f"{name} {given} {law} {order}", full, answer, restitution,
                             "all" in order)
            if restitution in (0, 1):
                continue
            every = ask(checks, full, *law, "--order", "all") if law else answers[2]
            for order, answer in zip(some, answers):
                checks.expect(answer["indeterminacy"] == every["indeterminacy"], name, law, order,
                              "indeterminacy", answer["indeterminacy"], every["indeterminacy"])
    half = ask(checks, line([1, 2, 3], [3, 2, 1], restitution=0.5))["indeterminacy"]
    full = ask(checks, line([1, 2, 3], [3, 2, 1]))["indeterminacy"]
    checks.expect(0 < half < full, "restitution brings outcomes together", half, full)
    plastic = ask(checks, line([1, 2, 3], [3, 2, 1]), "--law", "plastic")
    checks.expect(plastic["reason"] == "plastic", "reason", plastic["reason"])


def check_reasons(checks):
    """The word of each reason for one outcome; the laws know some of theirs."""
    for masses, words, reason in (([1, 1], [], "orthogonal"), ([1] * 4, [], "Coxeter A3"),
                                  ([1, 2, 1], ["--order", "all"], "enumerated")):
        answer = ask(checks, line(masses, [1] + [0] * (len(masses) - 1)), *words)
        checks.expect((answer["unique"], answer["reason"]) == (True, reason), masses, answer)


def check_flat_landing(checks):
    """A unit cube that lands flat on four feet: v_z changes sign, no spin."""
    for spread in (0.5, 0.375):
        feet = [[0, 0, 1, y * spread, -x * spread, 0] for x in (-1, 1) for y in (-1, 1)]
        scene = {"mass_matrix": diagonal([2, 2, 2, 1 / 3, 1 / 3, 1 / 3]), "normals": feet,
                 "velocity": [0.5, 0, -3, 0, 0, 0]}
        for words in ([], ["--order", "together"], ["--order", "simultaneous"]):
            for restitution in (1, 0.5):
                answer = ask(checks, {**scene, "restitution": restitution}, *words)
                ending = answer["outcomes"][0]
                expected = [0.5, 0, 3 * restitution, 0, 0, 0]
                checks.expect(distance(ending["velocity"], expected) < 1e-13, "flat", words, ending)
                checks.expect(distance(ending["impulses"], [1.5 * (1 + restitution)] * 4) < 1e-13,
                              "flat", words, ending["impulses"])
                checks.expect(not answer["unique"] and answer["indeterminacy"] > 0.1, answer)
        ends = ask(checks, scene, "--order", "all")["outcomes"]
        near = [end for end in ends if distance(end["velocity"], [0.5, 0, 3, 0, 0, 0]) < 1e-9]
        checks.expect(len(near) == 1, "flat", "--order all", len(ends))
        spun = ask(checks, scene, "--order", "most_infeasible")["outcomes"][0]["velocity"]
        checks.expect(spread == 0.5 or max(map(abs, spun[3:])) > 0.1, "order", spread, spun)
    # The simultaneous law parts from the one outcome of every order, and says so.
    answer = ask(checks, line([1, 1, 1], [2, 0, -1]), "--order", "simultaneous")
    checks.expect(distance(answer["outcomes"][0]["velocity"], [-4 / 3, 2 / 3, 5 / 3]) < 1e-13 and
                  not answer["unique"] and answer["reason"] == "not unique", answer)


def check_input_forms(checks):
    scene = {"mass_matrix": [[3, 1, 0], [1, 2, 0.5], [0, 0.5, 1]],
             "normals": [[2, -1, 0], [0, 1, 4]], "velocity": [-1, 0.5, -0.25]}
    by_velocity = ask(checks, scene, "--order", "all")
    del scene["velocity"]
    scene["momentum"] = [-2.5, -0.125, 0]
    checks.expect(ask(checks, scene, "--order", "all") == by_velocity, "momentum", by_velocity)
    scene["restitution"] = 1
    checks.expect(ask(checks, scene, "--order", "all") == by_velocity, "restitution missing is 1")
    for power in (-300, -60, 60, 300):  # the length of a normal only scales its impulse
        scaled = {**scene, "normals": [[2, -1, 0], [0, 2.0**power, 4 * 2.0**power]]}
        answer = ask(checks, scaled, "--order", "all")
        error = max(distance(a["velocity"], b["velocity"])
                    for a, b in zip(answer["outcomes"], by_velocity["outcomes"]))
        impulses = [outcome["impulses"][1] * 2.0**power for outcome in answer["outcomes"]]
        expected = [outcome["impulses"][1] for outcome in by_velocity["outcomes"]]
        checks.expect(error < 1e-13 and distance(impulses, expected) < 1e-13, "length", power)
    for normals in ([], [[1, 0, 0]]):
        answer = ask(checks, {"mass_matrix": diagonal([1, 1, 1]), "normals": normals,
                              "velocity": [1, 2, 3]}, "--order", "all")
        ending = answer["outcomes"][0]
        checks.expect((ending["velocity"], ending["sequence"], answer["reflections_bound"]) ==
                      ([1, 2, 3], [], 0) and answer["reason"] == "orthogonal", "open", answer)
    answer = ask(checks, line([1, 2, 3], [0, 0, 0]), "--order", "all")
    checks.expect(len(answer["outcomes"]) == 1 and answer["indeterminacy"] == 0, "at rest", answer)


def check_repeated(checks):
    """A normal given again, at any length, changes nothing but the note."""
    scene = line([2, 1, 2], [2, 0, -1])
    alone = ask(checks, scene, "--order", "all")
    scene["normals"] += [[-3, 3, 0], [0, -0.5, 0.5]]
    path = checks.file(json.dumps(scene))
    for words in (["--order", "all"], ["--order", "2,3"], ["--law", "plastic"], []):
        result = checks.run("impact", path, "--json", *words)
        checks.expect(result.returncode == 0 and result.stderr.count("\n") == 1 and
                      "normals[2] repeats normals[0], normals[3] repeats normals[1]" in
                      result.stderr and "note" in result.stderr, "note", words, result)
        answer = strict_json(result.stdout)
        checks.expect(answer["outcomes"][0]["impulses"][2:] == [0, 0], "impulses", words, answer)
        checks.expect(answer["reflections_bound"] == 4, "bound", words, answer)
        if words == ["--order", "all"]:
            for ending in answer["outcomes"] + [answer["plastic"]]:
                del ending["impulses"][2:]
            checks.expect(answer == alone, "repeated", answer, alone)


def check_stopped_short(checks):
    left_out = ask(checks, line([1, 1, 1], [1, 0, 0]), "--order", "0", code=3)
    ending = left_out["outcomes"][0]
    checks.expect(distance(ending["velocity"], [0, 1, 0]) < 1e-15 and ending["sequence"] == [0],
                  "left out", left_out)
    wedged = {"mass_matrix": diagonal([1, 1]), "normals": [[1, 0], [-1, 0]], "velocity": [1, 2]}
    for words, code in (([], 3), (["--order", "all"], 3), (["--law", "plastic"], 0)):
        answer = ask(checks, wedged, *words, code=code)
        checks.expect(distance(answer["outcomes"][0]["velocity"], [0, 2]) < 1e-15, words, answer)
        checks.expect((answer["reason"], answer["unique"], answer["reflections_bound"]) ==
                      (("plastic", True, -1) if code == 0 else ("wedged", False, -1)), answer)
    table = checks.run("impact", checks.file(json.dumps(wedged)))
    checks.expect(table.returncode == 3 and "wedged" in table.stdout and "stopped short" in
                  table.stdout and table.stderr == "", "readable", table)
    many = line([1, 2] * 6, list(range(12, 0, -1)))
    for words, code in (([], 0), (["--order", "all"], 3)):
        answer = ask(checks, many, *words, code=code)
        checks.expect((answer["reason"], answer["unique"]) == ("unknown", False), words, answer)
        impact = Impact(many)
        check_ending(checks, impact, "many", answer["outcomes"][0], answer["plastic"], 1, 20.0)
    for power, reflections in ((1, 31), (2, 314), (3, 3141)):  # Galperin's digits of pi
        scene = line([1, 100**power], [0, -1])
        scene["normals"].insert(0, [1, 0])
        answer = ask(checks, scene)
        sequence = answer["outcomes"][0]["sequence"]
        checks.expect(sequence == [1 - k % 2 for k in range(reflections)], "pi", len(sequence))
        checks.expect(answer["reflections_bound"] == reflections, answer["reflections_bound"])


def check_readable(checks):
    result = checks.run("impact", checks.file(json.dumps(line([1, 1, 1], [1, 0, 0]))))
    for word in ("unique: dihedral m=3", "plastic", "0.333333", "0 1", "energy", "at most 2"):
        checks.expect(word in result.stdout, "table", word, result.stdout)
    checks.expect(result.returncode == 0 and result.stderr == "", "table", result)
    text = checks.run("impact", "--help").stdout
    for word in ("most_infeasible", "elastic", "plastic", "restitution", "velocity", "momentum",
                 "normals", "mass_matrix", "repeats", "orthogonal", "dihedral m=4", "Coxeter",
                 "enumerated", "not unique", "unknown", "wedged", "Exit code 3", *FIELDS, *ENDING):
        checks.expect(word in text, "help", word)
    example = text[text.rindex('{"mass_matrix"'):].strip()
    answer = checks.json_of("impact", checks.file(example))
    checks.expect(distance(answer["outcomes"][0]["velocity"], [0, 0, 1]) < 1e-15, "help example")
    checks.expect("impact" in checks.run("--help").stdout, "help")


if __name__ == "__main__":
    every_check = Checks()
    check_laws(every_check)
    check_reasons(every_check)
    check_flat_landing(every_check)
    check_input_forms(every_check)
    check_repeated(every_check)
    check_stopped_short(every_check)
    check_readable(every_check)
    every_check.end()
