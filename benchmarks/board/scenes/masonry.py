# SPDX-License-Identifier: BSD-3-Clause
"""Blocks and cards that stand by friction and by the balance of moments, on both sides of the closed limit."""

import math

from worlds import GRAVITY, Body, Plane, World, turned

from .held import LEVEL
from .scene import POSITION, Scene

BEND, BENDS, BEND_MU, HELD = math.radians(30), 3, 0.3, 20.0
LONG, HALF, NEAR = 0.15, 0.05, 0.01  #: half lengths of a block, and its way to the next facet [m]


def bend_ratio():
    """Blocks slide along the facets of a hollow polygon, each pushes the next at its top edge; p is the friction angle.

    In a facet's frame (t along, n off it) the last block gets q (t - mu n) and -H t, so that N = mu q and H = q (1 - mu^2).
    The others get q (t - mu n) and, from the next, -q' (t' - mu n') = -q' ((cos d + mu sin d) t + (sin d - mu cos d) n): N = mu q
    + q' (sin d - mu cos d), which is positive as tan d > mu, and q - q' (cos d + mu sin d) = mu N, so that q (1 - mu^2) =
    q' ((1 - mu^2) cos d + 2 mu sin d). As tan 2p = 2 mu / (1 - mu^2), each bend takes cos d + tan 2p sin d."""
    return (math.cos(BEND) + math.tan(2 * math.atan(BEND_MU)) * math.sin(BEND)) ** BENDS


def bend(case):
    """Four blocks of 1 kg and three bends of 30 degrees; the last is held back by 20 N, the first pushed by the case times
    what the bends can hold. No gravity."""
    bodies, planes, corner = [], [], (0.0, 0.0)
    rear = -2 * LONG - NEAR  # of the first block, from the first corner
    for k in range(BENDS + 1):
        t = (math.cos(k * BEND), math.sin(k * BEND))
        n = (-t[1], t[0])
        planes.append(Plane((corner[0], 0, corner[1]), (n[0], 0, n[1])))
        middle = rear + LONG
        place = tuple(corner[i] + middle * t[i] + HALF * n[i] for i in (0, 1))
        push = case * bend_ratio() * HELD if k == 0 else -HELD if k == BENDS else 0.0
        bodies.append(Body("box", (LONG, HALF, HALF), 1.0, (place[0], 0, place[1]), turned((0, 1, 0), -k * BEND),
                           force=(push * t[0], 0, push * t[1])))
        ahead = rear + 2 * LONG + NEAR  # the next corner; the top edge of this block touches the rear of the next
        corner = tuple(corner[i] + ahead * t[i] for i in (0, 1))
        rear = 2 * HALF * math.sin(BEND) - NEAR * math.cos(BEND)
    return World(bodies, planes, (0, 0, 0), BEND_MU, step_count=150)


def bend_slips(case):
    return 1.0 if case > 1 else 0.0


def has_gone(body, least):
    """1 where a body has moved by more than `least` [m], else 0."""
    return lambda case, samples: float(math.dist(samples[0][POSITION][body], samples[-1][POSITION][body]) > least)


CARDS = [(cards, share) for cards in ("two", "three") for share in (1.1, 0.9)]
LONG_CARD, SHORT_CARD, THIN = 0.1, 0.08, 0.001  #: half lengths of cards [m]; they weigh 1 kg/m
PAIR, LEAN = math.radians(25), math.radians(28)  #: of two and of three cards, from the upright


def leaning(angle, half, foot, side):
    """A card that leans to -x by an angle; the lower end of its left face stands at x = foot. Mirrored if side < 0."""
    s, c = math.sin(angle), math.cos(angle)
    place = (foot + side * (THIN * c - half * s), 0.0, THIN * s + half * c)
    return Body("box", (THIN, 0.05, half), half, place, turned((0, 1, 0), -side * angle))


def two_cards():
    """(cards, friction that they need). The longer card carries the upper edge of the shorter on its underside: three points
    touch, whose forces follow from the weights alone. About their feet, with middles at a way p and the point of touch at x:
    z H = p w + x V of the first and z H = p' w' - x V of the second, H the force across and V that up on the second. Feet
    need H / (w + V) and H / (w' - V), the point of touch |tan(a + atan(V / H))|."""
    height = 2 * SHORT_CARD * math.cos(PAIR)
    x = height * math.tan(PAIR)
    first, second = leaning(PAIR, LONG_CARD, 0.0, -1), leaning(PAIR, SHORT_CARD, 2 * x, 1)
    weights = [card.mass * GRAVITY for card in (first, second)]
    loads = [first.position[0] * weights[0], (2 * x - second.position[0]) * weights[1]]
    up = (loads[1] - loads[0]) / (2 * x)
    across = (loads[0] + x * up) / height
    need = max(across / (weights[0] + up), across / (weights[1] - up), abs(math.tan(PAIR + math.atan2(up, across))))
    return [first, second], need


def three_cards():
    """(cards, friction that they need). Two cards lean on an upright one. Where both ends slip, H = mu N at the foot and V = mu H
    at the top, N + V = w: H = mu w / (1 + mu^2), and about the foot 2 l (H cos a + V sin a) = p w, p the way of the middle
    from the foot. With k = p / (2 l): mu^2 (sin a - k) + mu cos a - k = 0."""
    foot = THIN + 2 * LONG_CARD * math.sin(LEAN)
    cards = [leaning(LEAN, LONG_CARD, -foot, -1), leaning(LEAN, LONG_CARD, foot, 1),
             Body("box", (THIN, 0.05, LONG_CARD), LONG_CARD, (0.0, 0.0, LONG_CARD))]
    k = (foot - cards[1].position[0]) / (2 * LONG_CARD)
    a, b = math.sin(LEAN) - k, math.cos(LEAN)
    return cards, (math.sqrt(b * b + 4 * a * k) - b) / (2 * a)


def house(case):
    cards, need = two_cards() if case[0] == "two" else three_cards()
    return World(cards, [LEVEL], friction=case[1] * need, step_count=150)


def falls_short(case):
    return 1.0 if case[1] < 1 else 0.0


def has_fallen(least):
    """1 where a body has come down by more than `least` [m], else 0."""
    return lambda case, samples: float(
        max(a[2] - b[2] for a, b in zip(samples[0][POSITION], samples[-1][POSITION])) > least)


ARCHES = [(mode, share) for mode in ("slip", "hinge") for share in (1.1, 0.9)]


def arch(case):
    """Four blocks of 1 kg in a row, pressed by a pad on a slide against a wall; nothing is below them.

    Joints carry the press P and, at x from an end, a moment m g / l x (s - x) / 2, s = 4 l: the thrust rises by M / P, in the
    middle by 2 m g l / P, and stays in blocks of height h where P >= 2 m g l / h. The ends carry 2 m g by friction:
    P >= 2 m g / mu. As P is given, each is needed and both suffice."""
    long, mu = (0.05, 0.4) if case[0] == "slip" else (0.1, 0.8)
    press = case[1] * 2 * GRAVITY * max(2 * long / 0.1, 1 / mu)
    blocks = [Body("box", (long, 0.05, 0.05), 1.0, (long + 2 * long * k, 0, 0)) for k in range(4)]
    pad = Body("box", (0.02, 0.06, 0.06), 1.0, (8 * long + 0.02, 0, 0), force=(-press, 0, 0), slides_along=(1, 0, 0))
    return World([*blocks, pad], [Plane((0, 0, 0), (1, 0, 0))], friction=mu, step_count=150)


def overhang(case):
    """Four blocks of half length a, each shifted by the case times a / k over the one below, k from the top, on a block of
    100 kg."""
    half, below = 0.1, Body("box", (0.2, 0.1, 0.05), 100.0, (0.0, 0.0, 0.05))
    place, bodies = 0.1, [below]
    for k in (4, 3, 2, 1):
        place += case * half / k
        bodies.append(Body("box", (half, 0.05, 0.02), 1.0, (place, 0.0, 0.12 + 0.04 * (4 - k))))
    return World(bodies, [LEVEL], friction=0.5, step_count=150)


def topples(case):
    """The middle of the k upper blocks is at a / k from the edge below if all shifts are a / j: it stands up to there."""
    return 1.0 if case > 1 else 0.0


SCENES = [
    Scene("bend", "Capstan of blocks", "Four blocks push each other round three bends of 30 degrees in a hollow polygon, friction 0.3, "
          "held back by 20 N and pushed by 95 and 105 % of what that holds: does the last one move by 2 mm in 0.3 s (1) or not (0)?",
          "slips beyond (cos d + tan 2φ sin d)³ of the force that holds, µ = tan φ, which tends to exp(θ tan 2φ)", "", 0.0,
          [0.95, 1.05], bend, bend_slips, has_gone(BENDS, 0.002)),
    Scene("card_house", "Houses of two and of three cards", "Two cards lean on each other, or two on an upright one, with 110 and 90 % of "
          "the friction they need: does one come down by 5 mm in 0.3 s (1) or not (0)?", "forces of two cards follow from their "
          "weights; three need about tan a/2", "", 0.0, CARDS, house, falls_short, has_fallen(0.005)),
    Scene("flat_arch", "Flat arch", "Four blocks in a row over nothing, pressed at their ends by 110 and 90 % of what friction, or the line "
          "of thrust, needs: does one come down by 10 mm in 0.3 s (1) or not (0)?", "stands where P ≥ 2 m g/µ and P ≥ 2 m g l/h", "",
          0.0, ARCHES, arch, falls_short, has_fallen(0.01)),
    Scene("overhang", "Harmonic overhang", "Four blocks over an edge, shifted by 95 and 105 % of a/4, a/3, a/2 and a, half of their length: "
          "does one come down by 5 mm in 0.3 s (1) or not (0)?", "stands up to a (1 + 1/2 + 1/3 + 1/4)", "", 0.0, [0.95, 1.05],
          overhang, topples, has_fallen(0.005)),
]
