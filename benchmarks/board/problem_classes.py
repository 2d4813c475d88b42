# SPDX-License-Identifier: BSD-3-Clause
"""Classes of contact problems that anybody can make again: stacks, chains, packings and logs, as text problems (version 1 of
docs/file_formats.md). One step of 10 ms: every body has a drawn velocity beside that of gravity, every contact is closed.
Contacts are nearly rigid: R is 1e-6 of the mean diagonal of the contact's own J A⁻¹ Jᵀ."""

import itertools
import math
import random

from worlds import GRAVITY

STEP, SOFT, NOISE = 0.01, 1e-6, 0.05  #: [s], [-], [m/s, and rad/s of a body of 1 m]
CLASSES = {"stack": (4, 12), "chain": (8, 24), "packing": (3, 4), "logs": (4, 6)}  #: sizes


class Problem:
    """Bodies of one mass with diagonal inertia, and contacts between them or with the ground."""

    def __init__(self, seed):
        self.bodies, self.contacts, self.draw = [], [], random.Random(seed)

    def body(self, mass, inertia, place, size):
        """Returns the number of the body; `size` [m] divides the spin drawn."""
        drawn = [self.draw.uniform(-NOISE, NOISE) for _ in range(6)]
        free = [*drawn[:2], drawn[2] - STEP * GRAVITY, *(spin / size for spin in drawn[3:])]
        self.bodies.append((mass, inertia, place, free))
        return len(self.bodies) - 1

    def rows(self, number, point, axes, sign):
        """Jacobian of a point of a body, rows t1, t2, n."""
        arm = [p - q for p, q in zip(point, self.bodies[number][2])]
        result = []
        for a in axes:
            turn = (arm[1] * a[2] - arm[2] * a[1], arm[2] * a[0] - arm[0] * a[2], arm[0] * a[1] - arm[1] * a[0])
            result.append([sign * value for value in (*a, *turn)])
        return result

    def touch(self, first, second, point, normal, friction):
        """The normal points to the first body; the second is None for the ground."""
        least = min(range(3), key=lambda i: abs(normal[i]))
        side = [float(i == least) - normal[least] * normal[i] for i in range(3)]
        length = math.hypot(*side)
        side = [part / length for part in side]
        other = [normal[1] * side[2] - normal[2] * side[1], normal[2] * side[0] - normal[0] * side[2],
                 normal[0] * side[1] - normal[1] * side[0]]
        axes, sides = (side, other, normal), [(first, 1.0)] + ([] if second is None else [(second, -1.0)])
        blocks = [(number, self.rows(number, point, axes, sign)) for number, sign in sides]
        trace = sum(value * value / (self.bodies[number][0] if k < 3 else self.bodies[number][1][k - 3])
                    for number, rows in blocks for row in rows for k, value in enumerate(row))
        self.contacts.append((friction, SOFT * trace / 3, blocks))

    def text(self):
        lines = ["carom-problem 1", f"time_step {STEP!r}", f"bodies {len(self.bodies)}"]
        for mass, inertia, _, free in self.bodies:
            diagonal = [mass] * 3 + list(inertia)
            lines.append("body 6")
            lines += [" ".join(repr(diagonal[i] if i == k else 0.0) for k in range(6)) for i in range(6)]
            lines += [" ".join(map(repr, free)), " ".join(["0.0"] * 6)]
        lines.append(f"contacts {len(self.contacts)}")
        for friction, soft, blocks in self.contacts:
            numbers = " ".join(str(number) for number, _ in blocks)
            lines.append(f"contact weighted {len(blocks)} {numbers} {friction!r} {soft!r} {soft!r} 0.0 0.0 0.0")
            lines += [" ".join(map(repr, row)) for _, rows in blocks for row in rows]
        return "\n".join(lines) + "\n"


def stack(problem, count):
    """A tower of cubes of 0.1 m and 1 kg, four points at each joint, friction 0.5."""
    for k in range(count):
        cube = problem.body(1.0, (1 / 600,) * 3, (0.0, 0.0, 0.05 + 0.1 * k), 0.05)
        for x, y in itertools.product((-0.05, 0.05), repeat=2):
            problem.touch(cube, cube - 1 if k else None, (x, y, 0.1 * k), (0.0, 0.0, 1.0), 0.5)


def chain(problem, count):
    """Links of 0.1 kg and 0.1 m that hang one in the other, each from a hook that leans by a drawn angle; friction 0.3."""
    for k in range(count):
        link = problem.body(0.1, (1e-4, 1e-4, 5e-5), (0.0, 0.0, -0.1 * k), 0.05)
        lean, way = problem.draw.uniform(0, 0.3), problem.draw.uniform(0, 2 * math.pi)
        normal = (math.sin(lean) * math.cos(way), math.sin(lean) * math.sin(way), math.cos(lean))
        problem.touch(link, link - 1 if k else None, (0.0, 0.0, 0.05 - 0.1 * k), normal, 0.3)


def packing(problem, count):
    """A pyramid of balls of 0.1 m and 1 kg on a square, `count` layers, friction 0.3."""
    places = []
    for layer in range(count):
        side = count - layer
        places += [(0.1 * (i - (side - 1) / 2), 0.1 * (j - (side - 1) / 2), 0.05 + layer * 0.1 * math.sqrt(0.5))
                   for i in range(side) for j in range(side)]
    for place in places:
        ball = problem.body(1.0, (0.001,) * 3, place, 0.05)
        if place[2] < 0.06:
            problem.touch(ball, None, (place[0], place[1], 0.0), (0.0, 0.0, 1.0), 0.3)
    pairs(problem, places, 0.1, lambda point: [point], 0.3)


def logs(problem, count):
    """Capsules of 1 m and 2 kg, 0.1 m thick, `count` rows on each other; each pair touches at two points; friction 0.3."""
    places = [(0.1 * (k - (count - row - 1) / 2), 0.0, 0.05 + row * 0.1 * math.sqrt(0.75))
              for row in range(count) for k in range(count - row)]
    for place in places:
        log = problem.body(2.0, (0.17, 0.0025, 0.17), place, 0.5)
        if place[2] < 0.06:
            for y in (-0.45, 0.45):
                problem.touch(log, None, (place[0], y, 0.0), (0.0, 0.0, 1.0), 0.3)
    pairs(problem, places, 0.1, lambda point: [(point[0], y, point[2]) for y in (-0.45, 0.45)], 0.3)


def pairs(problem, places, reach, points, friction):
    """Touches of all bodies at the distance `reach`."""
    for i, j in itertools.combinations(range(len(places)), 2):
        distance = math.dist(places[i], places[j])
        if abs(distance - reach) < 1e-9:
            normal = [(a - b) / distance for a, b in zip(places[i], places[j])]
            for point in points([(a + b) / 2 for a, b in zip(places[i], places[j])]):
                problem.touch(i, j, point, normal, friction)


MAKERS = {"stack": stack, "chain": chain, "packing": packing, "logs": logs}


def text(name, size):
    problem = Problem(f"{name} {size}")
    MAKERS[name](problem, size)
    return problem.text()


def write(folder):
    """The files of all classes, written where they are not there as they should be."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, sizes in CLASSES.items():
        for size in sizes:
            path, words = folder / f"{name}_{size}.txt", text(name, size)
            if not path.exists() or path.read_text(encoding="utf-8") != words:
                path.write_text(words, encoding="utf-8")
            paths.append(path)
    return paths
