# SPDX-License-Identifier: BSD-3-Clause
"""Steps of blocks and points with known gradients; docs/derivations/gradients.md derives them."""

import numpy as np

from truth_table import Block, Scene, Step, impulse, velocity

DT = 0.01  # the time step of every scene [s]


def rigid(jacobian, friction, **more):
    """A contact that does not give way."""
    sides = {name: more.pop(name) for name in ("body", "other", "other_jacobian") if name in more}
    return Block(jacobian, {"friction": friction} | more, fixed={"rigid": True}, **sides)


def two_unequal_balls():
    """Two balls of unequal masses collide in line with restitution e."""

    def outcomes(d):
        part = (1 + d.e) * (d.v1 - d.v2) / (d.m1 + d.m2)
        return [d.v1 - part * d.m2, d.v2 + part * d.m1]

    def gradients(d):
        total, speed, k = d.m1 + d.m2, d.v1 - d.v2, 1 + d.e
        by_mass = {"m1": k * d.m2 * speed / total**2, "m2": -k * d.m1 * speed / total**2}
        first, second = k * d.m2 / total, k * d.m1 / total
        return [
            {"e": -d.m2 * speed / total, "v1": 1 - first, "v2": first} | by_mass,
            {"e": d.m1 * speed / total, "v1": second, "v2": 1 - second} | by_mass,
        ]

    def model(d):
        rows = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
        bias = [0, 0, d.e * (d.v1 - d.v2)]
        contact = rigid(rows, 0.0, bias=bias, body=1, other=0, other_jacobian=-rows)
        bodies = [(d.m1 * np.eye(3), [d.v1, 0, 0]), (d.m2 * np.eye(3), [d.v2, 0, 0])]
        return Step(DT, bodies, [contact], outcomes=[velocity(0), velocity(3)])

    data = {"m1": 0.5, "m2": 0.2, "v1": 1.0, "v2": -0.6, "e": 0.7}
    return Scene("two unequal balls", data, outcomes, gradients, model)


def slope_rows(d):
    """(downhill, across, normal) of a slope that falls along x."""
    c, s = np.cos(d.angle), np.sin(d.angle)
    return np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]])


def block_at_rest():
    """A block rests on a slope: neither friction nor angle moves it, and they share its weight."""

    def outcomes(d):
        weight = d.m * d.g * DT
        return [0 * weight, 0 * weight, -weight * np.sin(d.angle), weight * np.cos(d.angle)]

    def gradients(d):
        c, s = np.cos(d.angle), np.sin(d.angle)
        return [
            {},
            {},
            {"m": -d.g * DT * s, "g": -d.m * DT * s, "angle": -d.m * d.g * DT * c},
            {"m": d.g * DT * c, "g": d.m * DT * c, "angle": -d.m * d.g * DT * s},
        ]

    def model(d):
        chosen = [velocity(0), velocity(2), impulse(0, 0), impulse(0, 2)]
        bodies = [(d.m * np.eye(3), [0, 0, -d.g * DT])]
        return Step(DT, bodies, [rigid(slope_rows(d), d.mu)], outcomes=chosen)

    data = {"m": 2.0, "g": 9.81, "mu": 0.5, "angle": 0.3}
    return Scene("block at rest on a slope", data, outcomes, gradients, model)


def block_sliding():
    """A block slides down a slope and gains g dt (sin - mu cos) of speed in a step."""

    def speed(d):
        return d.v + d.g * DT * (np.sin(d.angle) - d.mu * np.cos(d.angle))

    def outcomes(d):
        return [speed(d) * np.cos(d.angle), -speed(d) * np.sin(d.angle)]

    def gradients(d):
        c, s = np.cos(d.angle), np.sin(d.angle)
        by = {"v": 1, "g": DT * (s - d.mu * c), "mu": -d.g * DT * c}
        turned = d.g * DT * (c + d.mu * s)
        return [
            {name: k * c for name, k in by.items()} | {"angle": turned * c - speed(d) * s},
            {name: -k * s for name, k in by.items()} | {"angle": -turned * s - speed(d) * c},
        ]

    def model(d):
        c, s = np.cos(d.angle), np.sin(d.angle)
        bodies = [(d.m * np.eye(3), [d.v * c, 0, -d.v * s - d.g * DT])]
        contacts = [rigid(slope_rows(d), d.mu)]
        return Step(DT, bodies, contacts, outcomes=[velocity(0), velocity(2)])

    data = {"m": 2.0, "g": 9.81, "mu": 0.2, "angle": 0.5, "v": 0.4}
    return Scene("block sliding on a slope", data, outcomes, gradients, model)


def pushed_block():
    """A block at rest is pushed with more than its friction: dv = dt (F/m - mu g)."""

    def outcomes(d):
        return [DT * (d.force / d.m - d.mu * d.g)]

    def gradients(d):
        by_m = -DT * d.force / d.m**2
        return [{"force": DT / d.m, "m": by_m, "mu": -DT * d.g, "g": -DT * d.mu}]

    def model(d):
        bodies = [(d.m * np.eye(3), [DT * d.force / d.m, 0, -d.g * DT])]
        return Step(DT, bodies, [rigid(np.eye(3), d.mu)], outcomes=[velocity(0)])

    data = {"m": 1.5, "g": 9.81, "mu": 0.4, "force": 9.0}
    return Scene("pushed block that starts to slide", data, outcomes, gradients, model)


def belt():
    """A block slides on a belt: friction points along the slip, which keeps its direction."""

    def outcomes(d):
        x, y = d.vx - d.bx, d.vy - d.by
        kept = 1 - d.mu * d.g * DT / np.sqrt(x * x + y * y)
        return [d.bx + kept * x, d.by + kept * y]

    def gradients(d):
        slip = np.array([d.vx - d.bx, d.vy - d.by])
        speed, lost = np.linalg.norm(slip), d.mu * d.g * DT
        by_v = (1 - lost / speed) * np.eye(2) + lost * np.outer(slip, slip) / speed**3
        by_belt = np.eye(2) - by_v
        return [
            {
                "vx": by_v[i, 0],
                "vy": by_v[i, 1],
                "bx": by_belt[i, 0],
                "by": by_belt[i, 1],
                "mu": -d.g * DT * slip[i] / speed,
                "g": -d.mu * DT * slip[i] / speed,
            }
            for i in range(2)
        ]

    def model(d):
        bodies = [(d.m * np.eye(3), [d.vx, d.vy, -d.g * DT])]
        contacts = [rigid(np.eye(3), d.mu, bias=[d.bx, d.by, 0])]
        return Step(DT, bodies, contacts, outcomes=[velocity(0), velocity(1)])

    data = {"m": 3.0, "g": 9.81, "mu": 0.3, "vx": 0.1, "vy": 0.2, "bx": 0.5, "by": -0.1}
    return Scene("belt", data, outcomes, gradients, model)


def closing_gap():
    """A block with an open gap reaches the ground within the step, at the speed gap/dt."""

    def outcomes(d):
        return [d.vx - d.mu * (-d.gap / DT - d.vz), -d.gap / DT]

    def gradients(d):
        return [{"vx": 1, "mu": d.gap / DT + d.vz, "gap": d.mu / DT, "vz": d.mu}, {"gap": -1 / DT}]

    def model(d):
        bodies = [(d.m * np.eye(3), [d.vx, 0, d.vz])]
        contacts = [rigid(np.eye(3), d.mu, gap=d.gap)]
        return Step(DT, bodies, contacts, outcomes=[velocity(0), velocity(2)])

    data = {"m": 2.0, "mu": 0.3, "vx": 0.8, "vz": -0.5, "gap": 1e-3}
    return Scene("gap that closes within the step", data, outcomes, gradients, model)


def compliant_numbers(d):
    """A contact that gives way, as carom takes it."""
    names = {"gap": d.gap, "stiffness": d.k, "dissipation_time": d.tau, "friction": d.mu}
    return Block(np.eye(3), names)


COMPLIANT = {"m": 2.0, "mu": 0.4, "vx": 0.6, "vz": -0.0981, "gap": -1.962e-4, "k": 1e5, "tau": 2e-3}


def compliant_contact():
    """A block slides on a spring at its equilibrium, under Coulomb's law."""

    def load(d):
        return (-d.gap / (DT + d.tau) - d.vz) / (1 / d.m + 1 / (DT * d.k * (DT + d.tau)))

    def outcomes(d):
        return [d.vx - d.mu * load(d) / d.m, d.vz + load(d) / d.m]

    def gradients(d):
        long, p = DT + d.tau, load(d)
        weight = 1 / (DT * d.k * long)
        sum_ = 1 / d.m + weight
        by = {
            "vz": -1 / sum_,
            "gap": -1 / (long * sum_),
            "k": p * weight / (d.k * sum_),
            "tau": (d.gap / long**2 + p * weight / long) / sum_,
            "m": p / (d.m**2 * sum_),
        }
        x = {name: -d.mu * slope / d.m for name, slope in by.items()}
        z = {name: slope / d.m for name, slope in by.items()}
        x |= {"vx": 1, "mu": -p / d.m, "m": x["m"] + d.mu * p / d.m**2}
        z |= {"vz": z["vz"] + 1, "m": z["m"] - p / d.m**2}
        return [x, z]

    def model(d):
        bodies = [(d.m * np.eye(3), [d.vx, 0, d.vz])]
        chosen = [velocity(0), velocity(2)]
        return Step(DT, bodies, [compliant_numbers(d)], rigid=False, outcomes=chosen)

    return Scene("compliant contact", dict(COMPLIANT), outcomes, gradients, model)


def convex_lift():
    """The same block under the convex law, which lifts it by mu times its slip."""
    slip = 1e-3 / np.sqrt(3)  # m times the tangential regularization

    def sums(d):
        weight = 1 / (DT * d.k * (DT + d.tau))
        return weight, 1 / d.m + weight + d.mu**2 * (1 + slip) / d.m

    def load(d):
        return (-d.gap / (DT + d.tau) - d.vz + d.mu * d.vx) / sums(d)[1]

    def outcomes(d):
        return [d.vx - d.mu * load(d) / d.m, d.vz + load(d) / d.m]

    def gradients(d):
        long, p = DT + d.tau, load(d)
        weight, sum_ = sums(d)
        by = {
            "vx": d.mu / sum_,
            "vz": -1 / sum_,
            "gap": -1 / (long * sum_),
            "k": p * weight / (d.k * sum_),
            "tau": (d.gap / long**2 + p * weight / long) / sum_,
            "m": p * (1 + d.mu**2 * (1 + slip)) / (d.m**2 * sum_),
            "mu": (d.vx - 2 * p * d.mu * (1 + slip) / d.m) / sum_,
        }
        x = {name: -d.mu * slope / d.m for name, slope in by.items()}
        z = {name: slope / d.m for name, slope in by.items()}
        x |= {"vx": x["vx"] + 1, "mu": x["mu"] - p / d.m, "m": x["m"] + d.mu * p / d.m**2}
        z |= {"vz": z["vz"] + 1, "m": z["m"] - p / d.m**2}
        return [x, z]

    def model(d):
        bodies = [(d.m * np.eye(3), [d.vx, 0, d.vz])]
        chosen = [velocity(0), velocity(2)]
        return Step(DT, bodies, [compliant_numbers(d)], law="convex", rigid=False, outcomes=chosen)

    return Scene("lift of the convex law", dict(COMPLIANT), outcomes, gradients, model)


def stack_of_two():
    """The lower of two stacked blocks is pushed out; the load of the upper passes through it."""

    def outcomes(d):
        ground, between = (d.m1 + d.m2) * d.g, d.m2 * d.g
        first = DT * (d.force - d.mu1 * ground - d.mu2 * between) / d.m1
        return [first, d.mu2 * d.g * DT, ground * DT]

    def gradients(d):
        k = DT / d.m1
        ground, between = (d.m1 + d.m2) * d.g, d.m2 * d.g
        push = d.force - d.mu1 * ground - d.mu2 * between
        first = {
            "force": k,
            "mu1": -k * ground,
            "mu2": -k * between,
            "m1": -k * push / d.m1 - k * d.mu1 * d.g,
            "m2": -k * (d.mu1 + d.mu2) * d.g,
            "g": -k * (d.mu1 * (d.m1 + d.m2) + d.mu2 * d.m2),
        }
        load = {"m1": d.g * DT, "m2": d.g * DT, "g": (d.m1 + d.m2) * DT}
        return [first, {"mu2": d.g * DT, "g": d.mu2 * DT}, load]

    def model(d):
        down = -d.g * DT
        bodies = [
            (d.m1 * np.eye(3), [DT * d.force / d.m1, 0, down]),
            (d.m2 * np.eye(3), [0, 0, down]),
        ]
        contacts = [
            rigid(np.eye(3), d.mu1),
            rigid(np.eye(3), d.mu2, body=1, other=0, other_jacobian=-np.eye(3)),
        ]
        return Step(DT, bodies, contacts, outcomes=[velocity(0), velocity(3), impulse(0, 2)])

    data = {"m1": 2.0, "m2": 1.2, "g": 9.81, "mu1": 0.3, "mu2": 0.25, "force": 25.0}
    return Scene("stack of two blocks", data, outcomes, gradients, model)


def wedge():
    """A block slides along a groove whose two walls share its weight."""

    def outcomes(d):
        s = np.sin(d.angle)
        return [d.v - d.mu * d.g * DT / s, d.m * d.g * DT / (2 * s)]

    def gradients(d):
        c, s = np.cos(d.angle), np.sin(d.angle)
        lost, load = d.g * DT / s, d.m * d.g * DT / (2 * s)
        return [
            {"v": 1, "mu": -lost, "g": -d.mu * DT / s, "angle": d.mu * lost * c / s},
            {"m": load / d.m, "g": load / d.g, "angle": -load * c / s},
        ]

    def model(d):
        c, s = np.cos(d.angle), np.sin(d.angle)
        left = np.array([[1, 0, 0], [0, s, -c], [0, c, s]])
        right = np.array([[1, 0, 0], [0, s, c], [0, -c, s]])
        bodies = [(d.m * np.eye(3), [d.v, 0, -d.g * DT])]
        contacts = [rigid(left, d.mu), rigid(right, d.mu)]
        return Step(DT, bodies, contacts, outcomes=[velocity(0), impulse(0, 2)])

    data = {"m": 1.3, "g": 9.81, "mu": 0.2, "angle": 0.7, "v": 0.9}
    return Scene("wedge", data, outcomes, gradients, model)


SCENES = [
    two_unequal_balls,
    block_at_rest,
    block_sliding,
    pushed_block,
    belt,
    closing_gap,
    compliant_contact,
    convex_lift,
    stack_of_two,
    wedge,
]
