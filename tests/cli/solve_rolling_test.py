#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`carom solve` of FCLIB's rolling form: five numbers per contact, closed forms, the natural map
of a ball recomputed by plain loops."""
import math
import sys

sys.dont_write_bytecode = True
from carom_program import DATA, Checks  # noqa: E402

MASS, RADIUS, STEP, GRAVITY, FRICTION, ROLLING = 2, 0.25, 0.01, 9.81, 0.5, 0.02
INERTIA = 0.4 * MASS * RADIUS**2


def nearest(y, mu, roll):
    """Nearest point of the cone, (n, t1, t2, m1, m2), by bisection for its normal."""
    slip, turn = math.hypot(*y[1:3]), math.hypot(*y[3:])
    low, high = 0.0, abs(y[0]) + mu * slip + roll * turn + 1
    for _ in range(200):
        n = (low + high) / 2
        if n - y[0] < mu * max(0, slip - mu * n) + roll * max(0, turn - roll * n):
            low = n
        else:
            high = n
    n = high if high > 1e-300 else 0.0
    shares = [mu * n / slip if slip > mu * n else 1] * 2 + [roll * n / turn if turn > roll * n else 1] * 2
    return [n] + [share * x for share, x in zip(shares, y[1:])]


def natural_map(slope, impulse, law):
    """err of docs/file_formats.md for a ball on an incline that falls along t1."""
    # W of a ball: along n, along t1 and t2 with what turns it, about t1 and t2.
    w = [[0.0] * 5 for _ in range(5)]
    for k, x in enumerate([1 / MASS] + 2 * [1 / MASS + RADIUS**2 / INERTIA] + 2 * [1 / INERTIA]):
        w[k][k] = x
    w[1][4] = w[4][1] = -RADIUS / INERTIA
    w[2][3] = w[3][2] = RADIUS / INERTIA
    size = math.hypot(1, slope)
    q = [-GRAVITY * STEP / size, GRAVITY * STEP * slope / size, 0, 0, 0]
    load, mean = math.hypot(*q), sum(w[k][k] for k in range(5)) / 5
    u = [(q[k] + sum(a * b for a, b in zip(w[k], impulse))) / load for k in range(5)]
    r = [x * mean / load for x in impulse]
    y = [a - b for a, b in zip(r, u)]
    if law == "coulomb":
        y[0] -= FRICTION * math.hypot(*u[1:3]) + ROLLING * math.hypot(*u[3:])
    distance = math.dist(r, nearest(y, FRICTION, ROLLING))
    return distance / max(1, math.hypot(*r), math.hypot(*u)), [x * load for x in u]


def check_incline(checks):
    for name, slope in (("rests", 0.06), ("rolls", 0.2)):
        path = DATA / "fclib" / f"rolling_incline_{name}.hdf5"
        for law in ("coulomb", "convex"):
            for solver in ("newton", "gauss_seidel", "admm", "apgd"):
                answer = checks.json_of("solve", path, "--law", law, "--solver", solver)
                what = (name, law, solver)
                checks.expect((answer["status"], answer["contacts"], len(answer["impulse"]),
                               len(answer["contact_velocity"]), len(answer["velocity"])) ==
                              ("converged", 1, 5, 5, 6), what, answer)
                error, velocity = natural_map(slope, answer["impulse"], law)
                printed = answer["certificate"]["natural_map_error"]
                checks.expect(error <= 1.1e-8 and abs(error - printed) <= 1e-10, what, error, printed)
                checks.expect(math.dist(velocity, answer["contact_velocity"]) <= 1e-12, what,
                              "contact velocity", velocity)
                checks.expect("multiplier" not in answer, what)
        exact = checks.json_of("solve", path, "--tolerance", "1e-13")
        fall = GRAVITY / math.hypot(1, slope)
        expected = max(0, fall * (slope - ROLLING / RADIUS) / 1.4)
        checks.expect(abs(exact["velocity"][0] / STEP - expected) <= 1e-9, name, "acceleration",
                      exact["velocity"], expected)
        normal, drag, _, _, moment = exact["impulse"]
        checks.expect(abs(normal - MASS * fall * STEP) <= 1e-10, name, "normal", normal)
        checks.expect(abs(MASS * (fall * slope * STEP - exact["velocity"][0]) + drag) <= 1e-10, name,
                      "drag", drag)
        held = MASS * fall * slope * STEP * RADIUS
        checks.expect(abs(moment + min(held, ROLLING * normal)) <= 1e-10, name, "moment", moment)


def check_others(checks):
    for name, contacts, velocities in (("heap", 30, 60), ("planted", 10, 0), ("bar", 2, 12)):
        path = DATA / "fclib" / f"rolling_{name}.hdf5"
        for law in ("coulomb", "convex"):
            answer = checks.json_of("solve", path, "--law", law)
            checks.expect((answer["status"], answer["law"], answer["contacts"], len(answer["impulse"]),
                           len(answer["velocity"])) ==
                          ("converged", law, contacts, 5 * contacts, velocities), name, law)
            checks.expect(answer["certificate"]["natural_map_error"] <= 1e-8, name, law)
            checks.expect(len(answer.get("multiplier", [])) == (1 if name == "bar" else 0), name)
    shown = checks.run("solve", DATA / "fclib" / "rolling_bar.hdf5").stdout
    for words in ("5 components", "resist rolling", "equality constraints 1", "m2 [N s, N m s]",
                  "m2 [m/s, rad/s]"):
        checks.expect(words in shown, "table", words, shown)


if __name__ == "__main__":
    every = Checks()
    probe = every.run("solve", DATA / "fclib" / "rolling_bar.hdf5")
    if "built without" in probe.stderr:
        print("no HDF5: nothing to check")
        sys.exit(0)
    check_incline(every)
    check_others(every)
    every.end()
