#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`carom viscoelastic`: closed forms of one step, every method, and bad input."""
import json
import sys

sys.dont_write_bytecode = True
from carom_program import Checks  # noqa: E402


def mass_on_ground(push, mass=2.0):
    """A mass on one contact, in equilibrium across the plane."""
    return {"time_step": 0.005,
            "mass_matrix": [[mass if r == c else 0 for c in range(3)] for r in range(3)],
            "jacobian": [[1.0 if r == c else 0 for c in range(3)] for r in range(3)],
            "velocity": [0, 0, 0], "free_acceleration": [push / mass, 0, -9.81],
            "drift": [0, 0, 0], "stiffness": [1e5, 1e5, 1e5], "damping": [300, 300, 300],
            "friction": [0.5], "points": [push / 1e5, 0, -mass * 9.81 / 1e5], "anchors": [0, 0, 0]}


def close(got, expected, tolerance):
    return len(got) == len(expected) and all(
        abs(a - b) <= tolerance for a, b in zip(got, expected))


def step(checks, document, *options):
    return checks.json_of("viscoelastic", checks.file(json.dumps(document)), *options)


def check_closed_forms(checks):
    run = step(checks, mass_on_ground(5))
    checks.expect(run["modes"] == ["stick"] and run["status"] == "converged", "stick", run)
    checks.expect(close(run["force"], [-5, 0, 19.62], 1e-12), "stick", run["force"])
    checks.expect(run["force"] == run["average_force"], "stick", run)
    checks.expect(close(run["velocity"], [0, 0, 0], 1e-15), "stick", run["velocity"])
    run = step(checks, mass_on_ground(30))
    checks.expect(run["modes"] == ["slide"], "slide", run["modes"])
    checks.expect(close(run["force"], [-9.81, 0, 19.62], 1e-12), "slide", run["force"])
    checks.expect(close(run["velocity"], [0.005 * (30 - 9.81) / 2, 0, 0], 1e-15), "slide", run)
    checks.expect(close(run["displacement"], [0.005 ** 2 / 4 * (30 - 9.81), 0, 0], 1e-17), "slide",
                  run["displacement"])
    moved = [a + sum(g * w for g, w in zip(row, run["anchor_velocity"]))
             for a, row in zip(run["average_force"], run["gain"])]
    checks.expect(close(moved, run["force"], 1e-11), "gain", moved, run["force"])
    leaving = mass_on_ground(0)
    leaving["points"][2] = 0
    leaving["velocity"] = [0.1, 0, 3]
    run = step(checks, leaving)
    checks.expect(run["modes"] == ["open"] and run["force"] == [0, 0, 0], "open", run)
    checks.expect(close(run["velocity"], [0.1, 0, 3 - 0.005 * 9.81], 1e-15), "open", run)


def check_methods(checks):
    for method in ("coulomb", "convex", "radial", "document_qp", "stick"):
        run = step(checks, mass_on_ground(30), "--method", method)
        checks.expect(run["status"] == "converged", method, run)
        rises = run["anchor_velocity"][2]
        checks.expect((rises > 1e-6) == (method in ("convex", "document_qp")), method, rises)
        tangent, normal = abs(run["force"][0]), run["force"][2]
        checks.expect((tangent <= 0.5 * normal * (1 + 1e-12)) == (method != "stick"), method, run)
    path = checks.file(json.dumps(mass_on_ground(30)))
    result = checks.run("viscoelastic", path)
    checks.expect(result.returncode == 0 and "slide" in result.stdout, "table", result.stdout)
    result = checks.run("viscoelastic", path, "--method", "magic")
    checks.refused("method", result, "magic")


def check_refusals(checks):
    good = mass_on_ground(5)
    bad = [
        ({"time_step": 0}, "time_step"), ({"time_step": "soon"}, "time_step"),
        ({"stiffness": [1e5, -1, 1e5]}, "stiffness[1]", "-1"),
        ({"damping": [1, 2]}, "damping", "3 numbers"), ({"friction": [-0.5]}, "friction[0]"),
        ({"friction": [0.5, 0.5]}, "jacobian", "6 rows"),
        ({"jacobian": [[1, 0, 0], [0, 1], [0, 0, 1]]}, "jacobian[1]"),
        ({"mass_matrix": [[1, 0, 0], [0, 0, 0], [0, 0, 1]]}, "mass matrix", "(1, 1)"),
        ({"mass_matrix": [[1, 0, 0], [1, 1, 0], [0, 0, 1]]}, "mass matrix", "symmetric"),
        ({"mass_matrix": [[1, 1, 0], [1, 1, 0], [0, 0, 1]]}, "mass matrix", "positive definite"),
        ({"velocity": []}, "velocity"), ({"points": [0, 0, None]}, "points[2]"),
        ({"colour": 3}, "colour"),
        ({"stiffness": [1e300, 1e300, 1e300], "points": [1e300, 0, 0]}, "range of double"),
    ]
    for change, *words in bad:
        path = checks.file(json.dumps({**good, **change}))
        checks.refused(change, checks.run("viscoelastic", path), path.name, *words)
    missing = dict(good)
    del missing["drift"]
    path = checks.file(json.dumps(missing))
    checks.refused("missing", checks.run("viscoelastic", path), path.name, "drift")
    path = checks.file(json.dumps(good).replace("0.005", "NaN"))
    checks.refused("NaN", checks.run("viscoelastic", path), path.name)


def main():
    checks = Checks()
    check_closed_forms(checks)
    check_methods(checks)
    check_refusals(checks)
    checks.end()


main()
