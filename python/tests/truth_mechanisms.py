# SPDX-License-Identifier: BSD-3-Clause
"""Steps of mechanisms with known gradients; docs/derivations/gradients.md derives them."""

import numpy as np

import carom
from truth_steps import DT, rigid
from truth_table import Block, Scene, Step, effort, impulse, velocity


def capstan():
    """A rope slides over a drum in four corners, each of which holds back its share."""
    count = 4

    def ratio(d):
        c, s = np.cos(d.angle / 2), np.sin(d.angle / 2)
        return (c + d.mu * s) / (c - d.mu * s)

    def outcomes(d):
        return [DT * d.brake * ratio(d) ** count]

    def gradients(d):
        c, s = np.cos(d.angle / 2), np.sin(d.angle / 2)
        below, q = (c - d.mu * s) ** 2, ratio(d)
        by_ratio = DT * d.brake * count * q ** (count - 1)
        return [
            {
                "brake": DT * q**count,
                "mu": by_ratio * 2 * s * c / below,
                "angle": by_ratio * d.mu / below,
            }
        ]

    def model(d):
        c, s = np.cos(d.angle / 2), np.sin(d.angle / 2)
        bodies = [(d.m * np.eye(3), [d.v, 0, 0]) for _ in range(count)]  # (along, across, outward)
        contacts = [rigid(np.eye(3), d.mu, body=i) for i in range(count)]
        # A rope does not grow longer: ends of its pieces come closer at a speed >= 0.
        ahead = np.array([[0, 0, 0], [0, 0, 0], [c, 0, -s]])
        behind = np.array([[0, 0, 0], [0, 0, 0], [-c, 0, -s]])
        for i in range(count - 1):
            contacts.append(rigid(ahead, 0.0, body=i, other=i + 1, other_jacobian=behind))
        contacts.append(rigid(ahead, 0.0, body=count - 1, bias=[0, 0, c * d.v]))  # the hand
        limit = {"effort_limit": d.brake}
        brake = Block(np.array([[c, 0, s]]), limit, law=carom.DryFriction)
        return Step(DT, bodies, contacts, [brake], outcomes=[impulse(2 * count - 1, 2)])

    data = {"brake": 5.0, "mu": 0.3, "angle": 0.6, "m": 0.1, "v": 0.2}
    return Scene("capstan", data, outcomes, gradients, model)


def pinch():
    """Two fingers press a block with less than its weight needs: it slides down between them."""

    def outcomes(d):
        return [-d.g * DT + 2 * d.mu * d.force * DT / d.m, d.force * DT, d.force * DT]

    def gradients(d):
        slip = {
            "g": -DT,
            "mu": 2 * d.force * DT / d.m,
            "force": 2 * d.mu * DT / d.m,
            "m": -2 * d.mu * d.force * DT / d.m**2,
        }
        return [slip, {"force": DT}, {"force": DT}]

    def model(d):
        speed = d.force * DT / d.finger
        bodies = [(d.m * np.eye(3), [0, 0, -d.g * DT])]
        bodies += [(d.finger * np.eye(1), [speed]), (d.finger * np.eye(1), [-speed])]
        contacts = []
        for finger, sign in [(1, 1.0), (2, -1.0)]:
            rows = np.array([[0, 0, 1], [0, 1, 0], [sign, 0, 0]])
            hand = np.array([[0], [0], [-sign]])
            contacts.append(rigid(rows, d.mu, other=finger, other_jacobian=hand))
        chosen = [velocity(2), impulse(0, 2), impulse(1, 2)]
        return Step(DT, bodies, contacts, outcomes=chosen)

    data = {"m": 1.0, "finger": 0.3, "g": 9.81, "mu": 0.5, "force": 8.0}
    return Scene("pinch at its limit", data, outcomes, gradients, model)


def spinning_disc():
    """A disc that spins on the ground slows down by the moment of torsional friction."""

    def outcomes(d):
        return [d.spin - d.torsion * d.m * d.g * DT / d.inertia]

    def gradients(d):
        lost = d.torsion * d.m * d.g * DT / d.inertia
        return [
            {
                "spin": 1,
                "torsion": -lost / d.torsion,
                "m": -lost / d.m,
                "g": -lost / d.g,
                "inertia": lost / d.inertia,
            }
        ]

    def model(d):
        bodies = [(np.diag([d.m, d.m, d.m, d.inertia]), [0, 0, -d.g * DT, d.spin])]
        numbers = {"torsional_friction": d.torsion, "friction": d.mu}
        block = Block(np.eye(4), numbers, law=carom.WrenchContact, fixed={"shape": "torsional"})
        return Step(DT, bodies, [], [block], outcomes=[velocity(3)])

    data = {"m": 0.8, "inertia": 1e-3, "g": 9.81, "spin": 3.0, "torsion": 0.01, "mu": 0.5}
    return Scene("spinning disc", data, outcomes, gradients, model)


def ball_rows(d):
    """Velocity of a ball's lowest point; of a free body (velocity, spin)."""
    return np.array([[1, 0, 0, 0, -d.radius, 0], [0, 1, 0, d.radius, 0, 0], [0, 0, 1, 0, 0, 0]])


def ball_mass(d):
    """Of a free body (velocity, spin)."""
    return np.diag([d.m, d.m, d.m, d.inertia, d.inertia, d.inertia])


def rolling_resistance():
    """A ball rolls, and the moment of rolling friction slows it down."""

    def outcomes(d):
        moment = d.rolling * d.m * d.g * DT
        return [d.v - d.radius * moment / (d.inertia + d.m * d.radius**2)]

    def gradients(d):
        whole = d.inertia + d.m * d.radius**2
        moment = d.rolling * d.m * d.g * DT
        return [
            {
                "v": 1,
                "rolling": -d.radius * d.m * d.g * DT / whole,
                "g": -d.radius * d.rolling * d.m * DT / whole,
                "m": -d.radius * d.rolling * d.g * DT * d.inertia / whole**2,
                "inertia": d.radius * moment / whole**2,
                "radius": -moment * (d.inertia - d.m * d.radius**2) / whole**2,
            }
        ]

    def model(d):
        free = [d.v, 0, -d.g * DT, 0, d.v / d.radius, 0]
        rows = np.vstack([ball_rows(d), np.eye(6)[3:]])
        numbers = {"rolling_friction": d.rolling, "friction": d.mu}
        fixed = {"shape": "rolling", "torsional_friction": 0.01}
        block = Block(rows, numbers, law=carom.WrenchContact, fixed=fixed)
        return Step(DT, [(ball_mass(d), free)], [], [block], outcomes=[velocity(0)])

    data = {"m": 0.5, "inertia": 3e-4, "radius": 0.05, "g": 9.81, "v": 0.7, "rolling": 2e-3}
    return Scene("rolling resistance", data | {"mu": 0.6}, outcomes, gradients, model)


def rolling_after_a_kick():
    """A kicked ball rolls at once where friction suffices: 5/7 of the kick for a solid ball."""

    def whole(d):
        return d.m + d.inertia / d.radius**2

    def outcomes(d):
        return [(d.m * d.v + d.inertia * d.spin / d.radius) / whole(d)]

    def gradients(d):
        after, total, r = outcomes(d)[0], whole(d), d.radius
        return [
            {
                "v": d.m / total,
                "spin": d.inertia / (r * total),
                "m": (d.v - after) / total,
                "inertia": (d.spin / r - after / r**2) / total,
                "radius": (2 * d.inertia * after / r**3 - d.inertia * d.spin / r**2) / total,
            }
        ]

    def model(d):
        free = [d.v, 0, -d.push / d.m, 0, d.spin, 0]
        contacts = [rigid(ball_rows(d), d.mu)]
        return Step(DT, [(ball_mass(d), free)], contacts, outcomes=[velocity(0)])

    data = {"m": 0.5, "inertia": 0.4 * 0.5 * 0.05**2, "radius": 0.05, "v": 0.7, "spin": 0.0}
    return Scene(
        "ball that rolls after a kick", data | {"mu": 0.6, "push": 0.4}, outcomes, gradients, model
    )


def rod():
    """The end of a rod is caught by the ground: the rod turns about it."""

    def whole(d):
        return d.inertia + d.m * d.half**2

    def outcomes(d):
        swung = d.half * (np.cos(d.angle) * d.vz - np.sin(d.angle) * d.vx)
        return [(d.inertia * d.spin + d.m * swung) / whole(d)]

    def gradients(d):
        c, s, total, after = np.cos(d.angle), np.sin(d.angle), whole(d), outcomes(d)[0]
        arm = c * d.vz - s * d.vx
        return [
            {
                "spin": d.inertia / total,
                "vx": -d.m * d.half * s / total,
                "vz": d.m * d.half * c / total,
                "inertia": (d.spin - after) / total,
                "m": (d.half * arm - d.half**2 * after) / total,
                "half": (d.m * arm - 2 * d.m * d.half * after) / total,
                "angle": -d.m * d.half * (s * d.vz + c * d.vx) / total,
            }
        ]

    def model(d):
        c, s = d.half * np.cos(d.angle), d.half * np.sin(d.angle)
        rows = np.array([[1, 0, s], [0, 0, 0], [0, 1, -c]])
        bodies = [(np.diag([d.m, d.m, d.inertia]), [d.vx, d.vz, d.spin])]
        return Step(DT, bodies, [rigid(rows, d.mu)], outcomes=[velocity(2)])

    data = {"m": 0.9, "inertia": 0.02, "half": 0.25, "angle": 0.8, "mu": 1.5}
    return Scene(
        "rod caught at its end",
        data | {"vx": 0.1, "vz": -1.0, "spin": 0.4},
        outcomes,
        gradients,
        model,
    )


def motor_against_stop():
    """A motor at the limit of its effort drives a joint into a soft stop."""

    def whole(d):
        return d.inertia + DT * d.k * (DT + d.tau)

    def outcomes(d):
        after = (d.inertia * d.spin + DT * d.limit + DT * d.k * d.gap) / whole(d)
        return [after, d.inertia * (d.spin - after) + DT * d.limit]

    def gradients(d):
        after, total = outcomes(d)[0], whole(d)
        by = {
            "limit": DT / total,
            "gap": DT * d.k / total,
            "tau": -after * DT * d.k / total,
            "k": DT * (d.gap - after * (DT + d.tau)) / total,
            "inertia": (d.spin - after) / total,
            "spin": d.inertia / total,
        }
        stop = {name: -d.inertia * slope for name, slope in by.items()}
        stop["limit"] += DT
        stop["inertia"] += d.spin - after
        stop["spin"] += d.inertia
        return [by, stop]

    def model(d):
        law = {"wanted_velocity": d.wanted, "velocity_gain": d.gain, "effort_limit": d.limit}
        limit = {"gap": d.gap, "stiffness": d.k, "dissipation_time": d.tau}
        blocks = [
            Block(np.array([[1.0]]), law, law=carom.Motor),
            Block(np.array([[-1.0]]), limit, law=carom.JointLimit, fixed={"near_rigid": 0}),
        ]
        bodies = [(d.inertia * np.eye(1), [d.spin])]
        chosen = [velocity(0), effort(1)]
        return Step(DT, bodies, [], blocks, law="convex", rigid=False, outcomes=chosen)

    data = {"inertia": 0.3, "spin": 0.2, "limit": 4.0, "gap": 1e-3, "k": 800.0, "tau": 0.005}
    return Scene(
        "motor against a stop", data | {"wanted": 5.0, "gain": 40.0}, outcomes, gradients, model
    )


def hanging_chain():
    """Two weights hang on springs below each other."""

    def parts(d):
        return DT * d.k * (DT + d.tau), DT * d.k * d.x1, DT * d.k * d.x2

    def solved(d, first, second):
        a = parts(d)[0]
        area = (d.m1 + 2 * a) * (d.m2 + a) - a * a
        above = ((d.m2 + a) * first + a * second) / area
        return above, ((d.m1 + 2 * a) * second + a * first) / area

    def outcomes(d):
        a, b1, b2 = parts(d)
        pull = d.g * DT
        above, below = solved(d, d.m1 * pull - b1 + b2, d.m2 * pull - b2)
        return [above, below, -(b1 + a * above)]

    def gradients(d):
        above, below, _ = outcomes(d)
        a, stretched = parts(d)[0], DT * d.k
        # Right sides (first, second), and what a and b1 change by themselves.
        by_a = (below - 2 * above, above - below)
        both = DT * (DT + d.tau)
        sides = {
            "m1": (d.g * DT - above, 0, 0, 0),
            "m2": (0, d.g * DT - below, 0, 0),
            "g": (d.m1 * DT, d.m2 * DT, 0, 0),
            "x1": (-stretched, 0, 0, stretched),
            "x2": (stretched, -stretched, 0, 0),
            "tau": (stretched * by_a[0], stretched * by_a[1], stretched, 0),
            "k": (both * by_a[0] + DT * (d.x2 - d.x1), both * by_a[1] - DT * d.x2, both, DT * d.x1),
        }
        slopes = {name: solved(d, side[0], side[1]) for name, side in sides.items()}
        tension = {
            name: -(side[3] + side[2] * above + a * slopes[name][0]) for name, side in sides.items()
        }
        return [{n: s[0] for n, s in slopes.items()}, {n: s[1] for n, s in slopes.items()}, tension]

    def model(d):
        numbers = {"error": [d.x1, d.x2], "stiffness": d.k, "dissipation_time": d.tau}
        rows = np.array([[1.0, 0.0], [-1.0, 1.0]])  # speeds downwards, rates of growing longer
        springs = Block(rows, numbers, law=carom.Bilateral, fixed={"near_rigid": 0})
        bodies = [(np.diag([d.m1, d.m2]), [d.g * DT, d.g * DT])]
        chosen = [velocity(0), velocity(1), effort(0)]
        return Step(DT, bodies, [], [springs], law="convex", rigid=False, outcomes=chosen)

    data = {"m1": 0.6, "m2": 0.4, "g": 9.81, "x1": 0.02, "x2": 0.005, "k": 500.0, "tau": 0.01}
    return Scene("hanging chain", data, outcomes, gradients, model)


def rope():
    """Two weights on an elastic rope over a pulley."""

    def tension(d):
        a = DT * d.k * (DT + d.tau)
        return (DT * d.k * d.x + 2 * a * d.g * DT) / (1 + a * (1 / d.m1 + 1 / d.m2))

    def outcomes(d):
        pull = tension(d)
        return [d.g * DT - pull / d.m1, d.g * DT - pull / d.m2, -pull]

    def gradients(d):
        pull, a, fall = tension(d), DT * d.k * (DT + d.tau), d.g * DT
        turn = 1 / d.m1 + 1 / d.m2
        below = 1 + a * turn
        by_a = (2 * fall - pull * turn) / below
        by = {
            "x": DT * d.k / below,
            "tau": DT * d.k * by_a,
            "g": 2 * a * DT / below,
            "k": DT * d.x / below + DT * (DT + d.tau) * by_a,
            "m1": pull * a / (d.m1**2 * below),
            "m2": pull * a / (d.m2**2 * below),
        }
        rows = []
        for name, m in [("m1", d.m1), ("m2", d.m2)]:
            row = {key: -slope / m for key, slope in by.items()}
            row["g"] += DT
            row[name] += pull / m**2
            rows.append(row)
        return [*rows, {key: -slope for key, slope in by.items()}]

    def model(d):
        one = np.array([[1.0]])
        numbers = {"stretch": d.x, "stiffness": d.k, "dissipation_time": d.tau}
        tendon = Block(one, numbers, 0, 1, one, carom.Tendon, {"near_rigid": 0})
        bodies = [(d.m1 * np.eye(1), [d.g * DT]), (d.m2 * np.eye(1), [d.g * DT])]
        chosen = [velocity(0), velocity(1), effort(0)]
        return Step(DT, bodies, [], [tendon], rigid=False, outcomes=chosen)

    data = {"m1": 0.7, "m2": 0.5, "g": 9.81, "x": 0.004, "k": 900.0, "tau": 0.003}
    return Scene("rope over a pulley", data, outcomes, gradients, model)


SCENES = [
    capstan,
    pinch,
    spinning_disc,
    rolling_resistance,
    rolling_after_a_kick,
    rod,
    motor_against_stop,
    hanging_chain,
    rope,
]
