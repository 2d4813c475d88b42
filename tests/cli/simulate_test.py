#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`carom simulate`: closed forms of each system, rows of the CSV file, and bad input."""
import json
import math
import sys

sys.dont_write_bytecode = True
from carom_program import Checks  # noqa: E402


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
    run = simulate(checks, "galperin", {"exponent": 2}, 0.1, 12)
    checks.expect(run["reflections"] == 314, "galperin", run["reflections"])
    checks.expect(len(run["impact_times"]) == 314, "galperin", len(run["impact_times"]))
    run = simulate(checks, "billiards",
                   {"masses": [1, 1], "radii": [0.1, 0.1], "positions": [[0.2, 0.5], [0.8, 0.5]],
                    "velocities": [[1, 0], [0, 0]], "table": [2, 1]}, 0.05, 1)
    checks.expect(close(run["impact_times"], [0.4], 1e-12), "billiards", run["impact_times"])
    checks.expect(close(run["final"]["velocity"], [0, 0, 1, 0], 1e-13), "billiards", run["final"])


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
    ]
    for change, *words in bad:
        path = checks.file(json.dumps({**good, **change}))
        checks.refused(change, checks.run("simulate", path), path.name, *words)
    checks.refused("folder", checks.run("simulate", checks.file(json.dumps(good)), "--csv",
                                        checks.folder.name), "file to write")


def main():
    checks = Checks()
    check_ball(checks)
    check_smooth(checks)
    check_balls(checks)
    check_rows(checks)
    check_refusals(checks)
    checks.end()


main()
