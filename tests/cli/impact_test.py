#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`carom impact`: every field recomputed in exact fractions from the file, closed forms, options."""
import json
import math
import sys

sys.dont_write_bytecode = True
from carom_program import Checks, strict_json  # noqa: E402
from elimination import dot  # noqa: E402
from impact_physics import (Impact, coxeter_gram, diagonal, distance, from_gram,  # noqa: E402
                            line, pooled)

FIELDS = ["outcomes", "unique", "reason", "indeterminacy", "reflections_bound", "plastic"]
ENDING = ["velocity", "momentum", "sequence", "impulses", "kinetic_energy"]
ROOT2, ROOT3, ROOT5 = math.sqrt(2), math.sqrt(3), math.sqrt(5)


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


def check_mirrored(checks, name, ending):
    """What balls in line end in that are symmetric before: each as fast from the middle as its twin."""
    speeds = ending["velocity"]
    middle = sum(speeds) / len(speeds)
    error = max(abs(a + b - 2 * middle) for a, b in zip(speeds, reversed(speeds)))
    checks.expect(error < 1e-12, name, "not symmetric", speeds)


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


def check_answer(checks, name, scene, answer, restitution, every, mirrored=False):
    """An answer that ended well, `every` outcome or one; of balls in line that are symmetric where
    `mirrored`, of which one outcome is that of contacts together, which no order leads to."""
    impact = Impact(scene)
    scale = max(1.0, *(abs(float(p)) for p in impact.momentum + impact.velocity))
    checks.expect(list(answer) == FIELDS, name, "fields", list(answer))
    check_plastic(checks, impact, f"{name}, plastic", answer["plastic"], scale)
    outcomes, plastic = answer["outcomes"], answer["plastic"]
    if restitution == 0:
        checks.expect(outcomes == [plastic] and answer["unique"], name, "plastic law", answer)
        checks.expect(answer["indeterminacy"] == 0, name, "plastic law", answer["indeterminacy"])
        return
    if mirrored:
        *outcomes, together = outcomes  # found last
        check_balance(checks, impact, f"{name}, together", together, scale)
        check_energy(checks, impact, f"{name}, together", together, plastic, restitution)
        check_mirrored(checks, f"{name}, together", together)
        checks.expect(slowest(impact, together["velocity"]) >= -1e-12 * scale, name, "closing")
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


def check_closed_forms(checks):
    for speeds in ([1, 0], [2.5, -1.5], [0.1, 0]):  # two equal balls swap
        answer = ask(checks, line([3, 3], speeds))
        error = distance(answer["outcomes"][0]["velocity"], speeds[::-1])
        checks.expect(error < 1e-14 and answer["reason"] == "orthogonal", "swap", speeds, answer)
    for speeds in ([1, 0, 0], [1, 1, 0, 0], [4, 1, 3, 2, 0], [5, 4, 3, 2, 1, 0], [2, 2, 1, 1],
                   list(range(12, 0, -1))):
        scene = line([0.2] * len(speeds), speeds)
        for order in ([], ["--order", "all"], ["--order", "1,0"][:2 * (len(speeds) == 3)]):
            answer = ask(checks, scene, *order)
            ending = answer["outcomes"][0]
            error = distance(ending["velocity"], sorted(speeds))
            crossings = sum(a > b for i, a in enumerate(speeds) for b in speeds[i + 1:])
            name = {3: "dihedral m=3"}.get(len(speeds), f"Coxeter A{len(speeds) - 1}")
            checks.expect(error < 1e-13 * len(speeds)**2, "cradle", speeds, ending["velocity"])
            checks.expect(len(ending["sequence"]) == answer["reflections_bound"] == crossings,
                          "cradle", speeds, "reflections", ending["sequence"], crossings)
            checks.expect((answer["unique"], answer["reason"], answer["indeterminacy"],
                           len(answer["outcomes"])) == (True, name, 0, 1), "cradle", answer)
    wall = line([1, 1, 1], [-3, 2, -1])
    wall["normals"].insert(0, [1, 0, 0])
    answer = ask(checks, wall)
    checks.expect(distance(answer["outcomes"][0]["velocity"], [1, 2, 3]) < 1e-14 and
                  answer["reason"] == "Coxeter B3", "wall", answer)
    for r in (0, 0.25, 0.7, 1):  # figure 2b
        answer = ask(checks, line([2, 2, 2], [3, 0, 0], restitution=r))
        speeds = [1 - r, 1 - r, 1 + 2 * r]
        ending = answer["outcomes"][0]
        lost = 1 - ending["kinetic_energy"] / 9
        checks.expect(distance(ending["velocity"], speeds) < 1e-14, "2b", r, ending)
        checks.expect(abs(lost - 2 / 3 * (1 - r * r)) < 1e-14, "2b", r, "lost", lost)
    for masses, speeds in (([1, 2, 1, 2, 1], [5, 4, 3, 2, 1]), ([3, 1, 2], [1, 2, 0]),
                           ([1, 1, 1], [1, 0, 1]), ([1, 5, 2, 2], [0, 3, 4, 1])):
        answer = ask(checks, line(masses, speeds), "--law", "plastic")
        error = distance(answer["outcomes"][0]["velocity"], pooled(masses, speeds))
        checks.expect(error < 1e-14 * 9, "plastic line", masses, speeds, answer)


def check_reasons(checks):
    """What the normals alone certify, with the number of reflections when everything closes."""
    cases = {"dihedral m=3": (2, [(0, 1, 3)], 3), "dihedral m=4": (2, [(0, 1, 4)], 4),
             "dihedral m=7": (2, [(0, 1, 7)], 7), "orthogonal": (3, [], 3),
             "Coxeter A3": (3, [(0, 1, 3), (1, 2, 3)], 6),
             "Coxeter B3": (3, [(0, 1, 3), (1, 2, 4)], 9),
             "Coxeter H3": (3, [(0, 1, 5), (1, 2, 3)], 15),
             "Coxeter D4": (4, [(0, 1, 3), (0, 2, 3), (0, 3, 3)], 12),
             "Coxeter F4": (4, [(0, 1, 3), (1, 2, 4), (2, 3, 3)], 24),
             "Coxeter A3 x A1": (4, [(0, 3, 3), (3, 2, 3)], 7),
             "Coxeter H3 x I2(5) x A1": (6, [(5, 1, 5), (1, 3, 3), (0, 2, 5)], 21),
             "Coxeter E6": (6, [(0, 1, 3), (1, 2, 3), (2, 3, 3), (3, 4, 3), (2, 5, 3)], 36)}
    for name, (size, edges, roots) in cases.items():
        scene = from_gram(coxeter_gram(size, edges), [-1.0 - 0.1 * i for i in range(size)])
        answer = ask(checks, scene)
        checks.expect((answer["reason"], answer["unique"]) == (name, True), name, answer["reason"])
        ending = answer["outcomes"][0]
        checks.expect(len(ending["sequence"]) == answer["reflections_bound"] == roots, name,
                      "reflections", len(ending["sequence"]), answer["reflections_bound"], roots)
        impact = Impact(scene)
        scale = max(abs(float(p)) for p in impact.momentum + impact.velocity)
        check_ending(checks, impact, name, ending, answer["plastic"], 1, scale)
        sweep = ask(checks, scene, "--order", ",".join(map(str, reversed(range(size)))))
        error = distance(sweep["outcomes"][0]["velocity"], ending["velocity"])
        checks.expect(error < 1e-12 * scale, name, "depends on the order", error)
    for m, ratio in ((3, 1), (4, 1 + ROOT2), (5, 2 + ROOT5), (6, 3 + 2 * ROOT3)):
        answer = ask(checks, line([ratio, 1, ratio], [2, 0, -1]), "--order", "all")
        checks.expect((answer["reason"], answer["reflections_bound"]) == (f"dihedral m={m}", m),
                      "mass ratio", ratio, answer)
    pairs = line([1, 1, 1, 1, 1, 1], [3, 1, 0, -2, 5, 4])
    del pairs["normals"][3]
    answer = ask(checks, pairs)
    checks.expect(answer["reason"] == "Coxeter A3 x A1" and
                  distance(answer["outcomes"][0]["velocity"], [-2, 0, 1, 3, 4, 5]) < 1e-14, answer)
    answer = ask(checks, line([1, 2, 1], [1, 0, 0]), "--order", "all")
    checks.expect(answer["reason"] == "enumerated", "reason", answer["reason"])


def check_golden(checks):
    """Numbers of another program: masses, speeds before, after (most infeasible first), ways."""
    cases = [([2, 1, 1], [1, 0, 0], [1 / 9, 4 / 9, 4 / 3], 1),
             ([1, 2, 1], [1, 0, 0], [-1 / 3, 2 / 9, 8 / 9], 1),
             ([1, 1, 2], [1, 0, 0], [-1 / 3, 0, 2 / 3], 1),
             ([1, 1, 3], [1, 0, 0], [-0.5, 0, 0.5], 1),
             ([2, 1, 2], [2, 0, -1], [-1.2592592592592606, 1.3827160493827173, 1.567901234567902], 2),
             ([1 + ROOT2, 1, 1 + ROOT2], [2, 0, -1],
              [-1.1715728752538117, 0.8284271247461912, 1.8284271247461912], 1),
             ([2 + ROOT5, 1, 2 + ROOT5], [2, 0, -1], [-1, 0, 2], 1),
             ([3 + 2 * ROOT3, 1, 3 + 2 * ROOT3], [2, 0, -1],
              [-1.07179676972449, 0.9282032302755092, 1.9282032302755079], 1),
             ([2, 1, 1, 1, 1], [1, 0, 0, 0, 0],
              [0.012345679012345984, 0.04938271604938291, 4 / 27, 4 / 9, 4 / 3], 1),
             ([1, 2, 3, 4, 5], [1, 0, 0, 0, 0],
              [-1 / 3, -2 / 15, -0.0761904761904763, -0.050793650793650835, 0.40634920634920657], 1)]
    for masses, before, after, ways in cases:
        answer = ask(checks, line(masses, before))
        error = distance(answer["outcomes"][0]["velocity"], after)
        checks.expect(error < 1e-13, "golden", masses, before, error)
        outcomes = ask(checks, line(masses, before), "--order", "all")["outcomes"]
        checks.expect(len(outcomes) == ways, "golden", masses, before, "ways", len(outcomes))
    for order, after in (("0,1", cases[4][2]),
                         ("1,0", [-1.0617283950617296, 0.19753086419753108, 1.9629629629629641])):
        answer = ask(checks, line([2, 1, 2], [2, 0, -1]), "--order", order)
        checks.expect(distance(answer["outcomes"][0]["velocity"], after) < 1e-13, order, answer)
    for angle, xi in ((60, 0.75), (80, 0.2542327033789543), (90, 0), (120, 0.5590169943749473),
                      (150, 0.1549142093659344), (180, 0)):  # figure 5: a cue ball between two
        half = math.radians(angle) / 2
        normals = [[-math.cos(half), -math.sin(half), math.cos(half), math.sin(half), 0, 0],
                   [-math.cos(half), math.sin(half), 0, 0, math.cos(half), -math.sin(half)]]
        scene = {"mass_matrix": diagonal([1] * 6), "normals": normals,
                 "velocity": [1, 0, 0, 0, 0, 0]}
        answer = ask(checks, scene)
        checks.expect(abs(answer["indeterminacy"] - xi) < 1e-9, "figure 5", angle, answer)
    for speeds in ([5, 4, 3, 2, 1], [2, 1, 0, -1, -2]):
        scene = line([1, 2, 1, 2, 1], speeds)
        answer = ask(checks, scene, "--order", "all")
        checks.expect(len(answer["outcomes"]) == 73, "chain", len(answer["outcomes"]))
        check_answer(checks, f"chain {speeds}", scene, answer, 1, True, True)
        plain = ask(checks, scene)["outcomes"][0]
        check_mirrored(checks, f"chain {speeds}", plain)
        checks.expect(plain == answer["outcomes"][-1], "chain", "default", plain)
        first = ask(checks, scene, "--order", "most_infeasible")["outcomes"][0]
        near = [end for end in answer["outcomes"][:-1]
                if distance(end["velocity"], first["velocity"]) < 1e-9]
        checks.expect(len(near) == 1, "chain", "most infeasible", first)
        scene["restitution"] = 0.6
        answer = ask(checks, scene, "--order", "all")
        check_answer(checks, f"chain {speeds}, R = 0.6", scene, answer, 0.6, True, True)


def check_flat_landing(checks):
    """A unit cube that lands flat on four feet, at any spread: v_z changes sign, no spin."""
    for spread in (0.5, 0.375, 0.1):
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
    check_closed_forms(every_check)
    check_reasons(every_check)
    check_golden(every_check)
    check_flat_landing(every_check)
    check_input_forms(every_check)
    check_repeated(every_check)
    check_stopped_short(every_check)
    check_readable(every_check)
    every_check.end()
