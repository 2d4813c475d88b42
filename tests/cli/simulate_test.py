#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`carom simulate`: closed forms of each system, rows of the CSV file, and bad input."""
import json
import math
import os
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from carom_program import Checks, strict_json  # noqa: E402

try:
    import pty
except ImportError:  # no terminals here
    pty = None


def scene(system, parameters, time_step, duration, **more):
    return {"system": system, "parameters": parameters, "time_step": time_step,
            "duration": duration, **more}


def close(got, expected, tolerance):
    return len(got) == len(expected) and all(
        abs(a - b) <= tolerance for a, b in zip(got, expected))


def simulate(checks, *arguments, **more):
    return checks.json_of("simulate", checks.file(json.dumps(scene(*arguments, **more))))


def check_ball(checks):
    first = math.sqrt(2 / 9.81)
    for share in (0.8, 1.0):
        run = simulate(checks, "bouncing_ball", {"height": 1, "mass": 2}, 0.01, 2,
                       restitution=share)
        expected, power, time = [], 1, first
        while time < 2:
            expected.append(time)
            power *= share
            time += 2 * first * power
        checks.expect(close(run["impact_times"], expected, 1e-11), "bounces", run["impact_times"])
        checks.expect(run["reflections"] == len(expected), "reflections", run["reflections"])
        checks.expect(run["energy_error_max"] < 1e-12, "energy", run["energy_error_max"])
        checks.expect(run["status"] == "converged" and run["final"]["time"] == 2, "end", run)


def check_smooth(checks):
    run = simulate(checks, "pendulum",
                   {"length": 1, "mass": 1, "gravity": 1, "angle": math.pi / 2, "rate": 0}, 0.01, 10)
    checks.expect(close(run["final"]["q"], [-0.946862453256], 5e-5), "pendulum", run["final"])
    checks.expect(3e-6 < run["energy_error_max"] < 4.3e-6, "pendulum", run["energy_error_max"])
    run = simulate(checks, "oscillator", {"mass": 4, "stiffness": 1, "position": 1, "velocity": 0.5},
                   0.01, 7)
    angle = 2 * math.atan(0.01 / 4) * 700
    checks.expect(close(run["final"]["q"], [math.cos(angle) + math.sin(angle)], 1e-11), "oscillator",
                  run["final"])
    checks.expect(run["energy_error_max"] < 1e-12, "oscillator", run["energy_error_max"])
    run = simulate(checks, "kepler", {"eccentricity": 0.6}, 0.001, 2 * math.pi)
    checks.expect(close(run["final"]["q"], [0.4, 0], 1e-3), "kepler", run["final"])
    checks.expect(run["momentum_error_max"] < 1e-11, "kepler", run["momentum_error_max"])
    run = simulate(checks, "double_pendulum",
                   {"lengths": [1, 0.5], "masses": [1, 2], "gravity": 9.81, "angles": [1, 2],
                    "rates": [0, 0]}, 0.001, 1)
    checks.expect(run["energy_error_max"] < 1e-4, "double pendulum", run["energy_error_max"])
    checks.expect(run["momentum_error_max"] is None, "double pendulum", run)


def check_balls(checks):
    run = simulate(checks, "cradle", {"masses": [1, 1, 1], "radius": 0.1, "gaps": [0.5, 0.25],
                                      "velocities": [1, 0, 0]}, 0.1, 1)
    checks.expect(close(run["impact_times"], [0.5, 0.75], 1e-12), "cradle", run["impact_times"])
    checks.expect(close(run["final"]["velocity"], [0, 0, 1], 1e-13), "cradle", run["final"])
    checks.expect(run["momentum_error_max"] < 1e-14, "cradle", run["momentum_error_max"])
    run = simulate(checks, "cradle", {"masses": [1], "radius": 0.1, "gaps": [], "velocities": [1],
                                      "left": -0.5, "right": 0.5}, 0.03, 1)
    checks.expect(close(run["impact_times"], [0.4], 1e-12), "walls", run["impact_times"])
    run = simulate(checks, "cradle", {"masses": [1], "radius": 0.1, "velocities": [-1],
                                      "left": -0.5}, 0.03, 1)
    checks.expect(close(run["impact_times"], [0.4], 1e-12), "walls", run["impact_times"])
    run = simulate(checks, "galperin", {"exponent": 2}, 0.1, 12)
    checks.expect(run["reflections"] == 314, "galperin", run["reflections"])
    checks.expect(len(run["impact_times"]) == 314, "galperin", len(run["impact_times"]))
    run = simulate(checks, "billiards",
                   {"masses": [1, 1], "radii": [0.1, 0.1], "positions": [[0.2, 0.5], [0.8, 0.5]],
                    "velocities": [[1, 0], [0, 0]], "table": [2, 1]}, 0.05, 1)
    checks.expect(close(run["impact_times"], [0.4], 1e-12), "billiards", run["impact_times"])
    checks.expect(close(run["final"]["velocity"], [0, 0, 1, 0], 1e-13), "billiards", run["final"])


def check_defaults(checks):
    """What may be left out is as the help says, and every parameter has an effect."""
    full = {
        "bouncing_ball": ({"height": 1}, {"gravity": 9.81, "mass": 1}),
        "pendulum": ({"angle": 1}, {"rate": 0, "length": 1, "mass": 1, "gravity": 9.81}),
        "double_pendulum": ({"lengths": [1, 1], "masses": [1, 1], "angles": [1, 0]},
                            {"rates": [0, 0], "gravity": 9.81}),
        "oscillator": ({"position": 1}, {"velocity": 0, "mass": 1, "stiffness": 1}),
        "cradle": ({"masses": [1, 2], "velocities": [1, 0]},
                   {"radius": 0, "gaps": [0]}),
        "billiards": ({"masses": [1, 2], "radii": [0.1, 0.1], "positions": [[1, 0.3], [2, 0.4]],
                       "velocities": [[4, 0], [0, 0]]}, {}),
        "rocking_block": ({"width": 0.2, "height": 1, "angle": 0.08}, {"mass": 1, "gravity": 9.81}),
        "galperin": ({"exponent": 1}, {}), "kepler": ({"eccentricity": 0.5}, {}),
        "trex": ({}, {"stance": "optimized", "drop": 0.17, "order": "foot_first"}),
    }
    changes = {"height": 2, "angle": 0.12, "position": 2, "exponent": 2, "eccentricity": 0.6,
               "gravity": 5, "length": 2, "rate": 1, "velocity": 1, "stiffness": 2, "width": 0.3,
               "lengths": [1, 2], "angles": [1, 1], "rates": [0, 1], "gaps": [0.1],
               "velocities": [2, 0], "radii": [0.2, 0.1], "positions": [[1, 0.3], [2, 0.41]],
               "radius": 0.1, "stance": "initial", "drop": 0.1, "order": "tail_first",
               "mass": 2, "masses": [2, 1], "right": 0.1, "table": [2.5, 0.51]}
    optional = {"cradle": ["right"], "billiards": ["table"]}
    end = 0.25

    def rows(system, parameters):
        path = checks.file("", "defaults.csv")
        given = checks.file(json.dumps(scene(system, parameters, 0.01, end)))
        result = checks.run("simulate", given, "--csv", path)
        checks.expect(result.returncode == 0, system, parameters, result.stderr)
        return path.read_text()

    for system, (needed, defaults) in full.items():
        plain = rows(system, needed)
        checks.expect(rows(system, {**needed, **defaults}) == plain, system, "defaults")
        for name in [*needed, *defaults, *optional.get(system, [])]:
            change = changes[name]
            if system == "billiards" and name == "velocities":
                change = [[5, 0], [0, 0]]
            before, base = plain, needed
            if name == "order":  # the optimised stance is the one where it makes no difference
                base = {**needed, "stance": "straight"}
                before = rows(system, base)
            changed = rows(system, {**base, name: change})
            checks.expect(changed != before, system, name, "is not heard")
        for name in needed:
            missing = checks.file(json.dumps(scene(
                system, {k: v for k, v in needed.items() if k != name}, 0.01, end)))
            checks.refused(f"{system} without {name}", checks.run("simulate", missing),
                           missing.name, f"parameters.{name}", "this field")


def check_rocking(checks):
    """Housner (1963), and the tilt as seen from outside."""
    width, height, gravity = 0.25, 1.2, 9.81
    alpha, radius = math.atan2(width, height), math.hypot(width, height) / 2
    ratio = 1 - 1.5 * math.sin(alpha) ** 2
    for side, share in ((1, 1.0), (-1, 1.0), (1, 0.9)):
        path = checks.file("", "rock.csv")
        given = checks.file(json.dumps(scene(
            "rocking_block", {"width": width, "height": height, "mass": 3, "gravity": gravity,
                              "angle": side * alpha / 2}, 0.001, 3, restitution=share)))
        result = checks.run("simulate", given, "--csv", path)
        checks.expect(result.returncode == 0, result.stderr)
        run = strict_json(result.stdout)
        cells = [[x for x in line.split(",")] for line in path.read_text().splitlines()[1:]]
        flat = 3 * gravity * radius * math.cos(alpha)
        above = [float(row[3]) - flat for row in cells]  # energy above both corners down
        expected = above[0]
        for before, row, after in zip(above, cells[1:], above[1:]):
            if row[4]:
                expected *= (ratio * share) ** 2
                checks.expect(abs(after / before - (ratio * share) ** 2) < 1e-4, "ratio",
                              after / before)
            checks.expect(abs(after / expected - 1) < 1e-3, "energy", row[0], after, expected)
        turns = [row for row in cells if row[4]]
        checks.expect(len(turns) == len(run["impact_times"]) == run["reflections"] >= 4,
                      "impacts", turns)
        linear = math.acosh(2) / math.sqrt(0.75 * gravity / radius)
        checks.expect(abs(run["impact_times"][0] / linear - 1) < alpha ** 2, "first impact",
                      run["impact_times"][0], linear)
        signs = [math.copysign(1, float(row[1])) for row in cells]
        changes = [i for i in range(1, len(signs)) if signs[i] != signs[i - 1]]
        checks.expect(signs[0] == side and len(changes) == len(turns), "sides", side, changes)
        checks.expect(run["energy_error_max"] < 1e-6, "smooth parts", run["energy_error_max"])
    flat = simulate(checks, "rocking_block", {"width": 2, "height": 1, "angle": 0.2}, 0.01, 3)
    checks.expect(len(flat["impact_times"]) == 1 and flat["final"]["q"] == [0], "squat", flat)


def check_trex(checks):
    """Falls freely until foot and tail land together; horizontal momentum stays."""
    landing = math.sqrt(2 * 0.17 / 9.81)
    ends = {}
    for stance in ("initial", "optimized", "straight"):
        for order in ("foot_first", "tail_first"):
            run = simulate(checks, "trex", {"stance": stance, "order": order}, landing / 20.5,
                           21 * landing / 20.5)
            # Released from a stance whose contacts lie on the ground to rounding.
            checks.expect(abs(run["impact_times"][0] - landing) < 1e-9, "landing", run)
            checks.expect(run["reflections"] >= 2, "reflections", run)
            checks.expect(run["energy_error_max"] is None, "dampers take energy", run)
            checks.expect(run["momentum_error_max"] < 1e-12, "momentum", run)
            ends[stance, order] = run["final"]["velocity"]
    apart = {stance: max(abs(a - b) for a, b in zip(ends[stance, "foot_first"],
                                                   ends[stance, "tail_first"]))
             for stance in ("initial", "optimized", "straight")}
    checks.expect(apart["straight"] > 0.1 and apart["initial"] > 1e-3, "orders", apart)
    checks.expect(apart["optimized"] < 1e-10, "orders", apart)


def check_kinds(checks):
    """The summary's fields, in order, for every kind of number they hold."""
    run = simulate(checks, "cradle", {"masses": [1, 1], "velocities": [1, 0]}, 0.1, 0)
    checks.expect(list(run) == ["impact_times", "reflections", "energy_error_max",
                                "momentum_error_max", "final", "status"], "fields", list(run))
    checks.expect(list(run["final"]) == ["time", "q", "velocity"], "final", run)
    checks.expect(run["final"]["time"] == 0 and run["impact_times"] == [], "no duration", run)
    # Every system without a symmetry says so, every other one keeps its momentum.
    run = simulate(checks, "billiards", {
        "masses": [1, 2], "radii": [0.1, 0.1], "positions": [[0, 0], [1, 0.1]],
        "velocities": [[1, 0], [0, 0.01]]}, 0.1, 2, restitution=0.5)
    checks.expect(run["momentum_error_max"] < 1e-14 and run["reflections"] == 1, "billiards", run)
    checks.expect(run["energy_error_max"] < 1e-14, "smooth parts", run)
    run = simulate(checks, "galperin", {"exponent": 0}, 0.5, 10)
    checks.expect(run["reflections"] == 3 and run["momentum_error_max"] is None, "galperin", run)


def check_stops(checks):
    """A step that cannot be made: exit code 3, the last good state, rows up to it."""
    path = checks.file("", "stopped.csv")
    given = checks.file(json.dumps(
        scene("pendulum", {"angle": 1, "gravity": 1e308, "length": 100}, 0.1, 3)))
    result = checks.run("simulate", given, "--csv", path)
    checks.expect(result.returncode == 3 and result.stderr == "", "stop", result)
    run = strict_json(result.stdout)
    rows = path.read_text().splitlines()
    checks.expect(run["status"] == "not_finite", "status", run)
    checks.expect(run["final"]["time"] < 3 and math.isfinite(run["final"]["q"][0]), "state", run)
    checks.expect(float(rows[-1].split(",")[0]) == run["final"]["time"], "rows", rows[-1])


def check_progress(checks):
    """A bar for people: on a terminal, never in a file, gone at the end."""
    for duration in (1, 10, 30):  # as long as it takes to be slow, whatever the build
        given = checks.file(json.dumps(scene(
            "cradle", {"masses": [1], "velocities": [1], "left": -1, "right": 1}, 1e-5, duration)))
        start = time.monotonic()
        result = checks.run("simulate", given)
        checks.expect(result.returncode == 0 and result.stderr == "", "no bar", result.stderr)
        if time.monotonic() - start > 1:
            break
    if pty is None:
        return
    master, slave = pty.openpty()
    start = time.monotonic()
    process = subprocess.Popen([checks.program, "simulate", str(given)], stdout=subprocess.PIPE,
                               stderr=slave)
    os.close(slave)
    shown = b""
    try:
        while chunk := os.read(master, 4096):
            shown += chunk
    except OSError:  # the other end is closed
        pass
    printed = process.communicate()[0].decode()
    os.close(master)
    took = time.monotonic() - start
    checks.expect(strict_json(printed)["status"] == "converged", "summary", printed[:200])
    checks.expect(took < 1 or (b"[#" in shown and b"%" in shown), "bar", took, shown[-200:])
    checks.expect(shown == b"" or shown.endswith(b"\r\x1b[K"), "bar is wiped", shown[-50:])


def check_rows(checks):
    path = checks.file("", "rows.csv")
    given = checks.file(json.dumps(scene("bouncing_ball", {"height": 1}, 0.1, 1)))
    result = checks.run("simulate", given, "--csv", path)
    checks.expect(result.returncode == 0, result.stderr)
    lines = path.read_text().splitlines()
    checks.expect(lines[0] == "time,q0,p0,energy,event" and len(lines) == 12, lines[0], len(lines))
    cells = [line.split(",") for line in lines[1:]]
    checks.expect([row[0] for row in cells if row[4]] == ["0.5"], "events", cells)
    checks.expect(all(row[4] in ("", "0") for row in cells), "events", cells)
    checks.expect(all(abs(float(row[3]) - 9.81) < 1e-12 for row in cells), "energies", cells)

    # Contacts have the numbers that --help tells: 0 and 1 between the balls, 2 with the left wall.
    told = checks.run("simulate", "--help").stdout
    checks.expect("Contacts by number" in told and "then the left" in told, "help", told[-1500:])
    given = checks.file(json.dumps(scene(
        "cradle", {"masses": [1, 1, 1], "velocities": [-1, 0, 0], "gaps": [1.05, 1.02], "left": -1.03}, 0.1, 4.5)))
    result = checks.run("simulate", given, "--csv", path)
    checks.expect(result.returncode == 0, result.stderr)
    events = [line.split(",")[-1] for line in path.read_text().splitlines()[1:]]
    checks.expect([event for event in events if event] == ["2", "0", "1"], "contacts", events)


def check_refusals(checks):
    good = scene("cradle", {"masses": [1, 1], "radius": 0.1, "gaps": [0], "velocities": [1, 0]}, 0.1,
                 1)
    bad = [
        ({"system": "swing"}, "system", "swing"), ({"time_step": 0}, "time_step", "> 0"),
        ({"duration": -1}, "duration", "-1"), ({"restitution": 1.5}, "restitution", "[0, 1]"),
        ({"speed": 1}, "speed"),
        ({"parameters": {"masses": [1, 1], "velocities": [1]}}, "parameters.velocities"),
        ({"parameters": {"masses": [1, 0], "velocities": [1, 0]}}, "parameters.masses[1]"),
        ({"parameters": {"masses": [1], "velocities": [1], "colour": 3}}, "colour"),
        ({"parameters": {"masses": [1], "velocities": [1], "left": 1}}, "parameters.left"),
        ({"parameters": 3}, "parameters"),
        ({"system": "kepler", "parameters": {"eccentricity": 1}}, "eccentricity"),
        ({"system": "galperin", "parameters": {"exponent": 1.5}}, "exponent"),
        ({"system": "billiards",
          "parameters": {"masses": [1, 1], "radii": [1, 1], "positions": [[0, 0], [1, 0]],
                         "velocities": [[0, 0], [0, 0]]}}, "overlap of 1"),
        ({"parameters": {"masses": [], "velocities": []}}, "parameters.masses"),
        ({"parameters": {"masses": [1, -1], "velocities": [1, 0]}}, "parameters.masses[1]", "-1"),
        ({"parameters": {"masses": [1, 1], "velocities": [1, "fast"]}}, "parameters.velocities[1]",
         "fast"),
        ({"parameters": {"masses": [1, 1], "velocities": [1, 0], "gaps": [0, 0]}},
         "parameters.gaps", "1 numbers"),
        ({"parameters": {"masses": [1, 1], "velocities": [1, 0], "gaps": [-1]}},
         "parameters.gaps[0]", ">= 0"),
        ({"parameters": {"masses": [1, 1], "velocities": [1, 0], "right": -0.1}}, "parameters.right"),
        ({"system": None}, "system", "null"), ({"time_step": "0.1"}, "time_step"),
        ({"time_step": 1e-12}, "time_step", "1e9"), ({"restitution": None}, "restitution"),
        ({"system": "bouncing_ball", "parameters": {"height": -1}}, "parameters.height"),
        ({"system": "double_pendulum", "parameters": {"lengths": [1], "masses": [1, 1],
                                                      "angles": [0, 0]}}, "parameters.lengths"),
        ({"system": "billiards",
          "parameters": {"masses": [1], "radii": [1], "positions": [[0]], "velocities": [[0, 0]]}},
         "parameters.positions[0]", "2 numbers"),
        ({"system": "billiards",
          "parameters": {"masses": [1], "radii": [1], "positions": [[1, 1]], "table": [1, 2],
                         "velocities": [[0, 0]]}}, "parameters.positions", "overlap of 1"),
        ({"system": "galperin", "parameters": {"exponent": 6}}, "exponent", "6"),
        ({"system": "rocking_block", "parameters": {"width": 1, "height": 1, "angle": -0.8}},
         "parameters.angle", "0.785398"),
        ({"system": "rocking_block", "parameters": {"width": 0, "height": 1, "angle": 0}},
         "parameters.width"),
        ({"system": "trex", "parameters": {"stance": "lying"}}, "parameters.stance",
         "optimized, initial, straight", "lying"),
        ({"system": "trex", "parameters": {"order": 3}}, "parameters.order", "tail_first"),
        ({"system": "trex", "parameters": {"drop": -0.1}}, "parameters.drop"),
    ]
    for change, *words in bad:
        path = checks.file(json.dumps({**good, **change}))
        checks.refused(change, checks.run("simulate", path), path.name, *words)
    for name in ("system", "time_step", "duration"):
        path = checks.file(json.dumps({k: v for k, v in good.items() if k != name}))
        checks.refused(name, checks.run("simulate", path), path.name, name, "this field")
    text = json.dumps(good)
    for word in ("NaN", "Infinity", "1e999"):
        path = checks.file(text.replace('"duration": 1', f'"duration": {word}'))
        checks.refused(word, checks.run("simulate", path), path.name)
    for broken in ("", "[]", text[:-1], text[:-1] + ', "duration": 2}'):
        path = checks.file(broken)
        checks.refused(broken, checks.run("simulate", path), path.name)
    checks.refused("no file", checks.run("simulate", checks.folder.name + "/none"), "none")
    kept = checks.file("precious", "rows.csv")
    path = checks.file(json.dumps({**good, "time_step": 0}))
    checks.refused("rows", checks.run("simulate", path, "--csv", kept), "time_step")
    checks.expect(kept.read_text() == "precious", "bad input leaves the rows alone")
    checks.refused("folder", checks.run("simulate", checks.file(json.dumps(good)), "--csv",
                                        checks.folder.name), "file to write")


def main():
    checks = Checks()
    check_ball(checks)
    check_smooth(checks)
    check_balls(checks)
    check_defaults(checks)
    check_rocking(checks)
    check_trex(checks)
    check_kinds(checks)
    check_stops(checks)
    check_progress(checks)
    check_rows(checks)
    check_refusals(checks)
    checks.end()


main()
