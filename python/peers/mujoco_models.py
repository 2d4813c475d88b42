# SPDX-License-Identifier: BSD-3-Clause
"""The scenes as MuJoCo models, for its own finite differences and for MJX.

Solver settings are MuJoCo's defaults (Newton, pyramidal cones, default solref and solimp) with a
step of 2 ms, and one of 10 ms for the gap that closes within the step. Where bodies bounce, solref
takes MuJoCo's direct form (-stiffness, -damping): stiffness 1e5, damping for the restitution
wanted, a step of 1 ms. Bodies have slide joints, so that they neither turn nor tip.
"""

import math

from peer_scenes import GRAVITY, RADIUS

STIFFNESS = 1e5


def bounce(e):
    """solref of restitution e, that of a damped oscillator which leaves at e times its speed."""
    log = -math.log(e)
    ratio = log / math.sqrt(math.pi**2 + log**2)
    return f"{-STIFFNESS} {-2 * ratio * math.sqrt(STIFFNESS)}"


def world(step, gravity, bodies, planes):
    """A model of bodies on slide joints and of planes."""
    x, y, z = gravity
    return f"""<mujoco><option timestep="{step}" gravity="{x} {y} {z}" integrator="Euler"/>
<worldbody>{planes}{bodies}</worldbody></mujoco>"""


def ball(name, place, mass, axes, contact, condim=1):
    """A ball that slides along some axes."""
    joints = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in axes)
    return f"""<body name="{name}" pos="{place}">{joints}
<geom type="sphere" size="{RADIUS}" mass="{mass}" condim="{condim}" {contact}/></body>"""


def plane(place, angle, contact, condim=1):
    """A wall whose normal lies in the plane of x and y at an angle to x."""
    normal = f"{math.cos(angle)} {math.sin(angle)} 0"
    return f"""<geom type="plane" size="5 5 1" pos="{place}" zaxis="{normal}"
condim="{condim}" {contact}/>"""


def floor(contact, condim):
    return f'<geom type="plane" size="5 5 1" condim="{condim}" {contact}/>'


def build(name, d):
    """(model as text, velocities at the start, outcome's velocity, its factor)."""
    axes2 = ["1 0 0", "0 1 0"]
    if name == "two equal balls":
        contact = f'solref="{bounce(1.0)}"'
        bodies = ball("a", "0 0 0", d["m1"], axes2[:1], contact)
        bodies += ball("b", f"{2 * RADIUS + 0.02} 0 0", d["m2"], axes2[:1], contact)
        return world(1e-3, (0, 0, 0), bodies, ""), [d["v1"], d["v2"]], 1
    if name in ("oblique impact on a smooth wall", "restitution at a wall"):
        contact = f'solref="{bounce(d.get("e", 1.0))}"'
        angle = d.get("angle", 0.0)
        away = RADIUS + 0.02
        place = f"{away * math.cos(angle)} {away * math.sin(angle)} 0"
        bodies = ball("a", place, 0.4, axes2, contact)
        chosen = 1 if name.startswith("oblique") else 0
        wall = plane("0 0 0", angle, contact)
        return world(1e-3, (0, 0, 0), bodies, wall), [d["vx"], d.get("vy", 0.0)], chosen
    if name == "billiard with four cushions":
        contact = f'solref="{bounce(1.0)}"'
        half = math.pi / 2
        walls = plane(f"0 {0.15 + RADIUS} 0", -half + d["a1"], contact)
        walls += plane(f"{0.3 + RADIUS} 0 0", math.pi + d["a2"], contact)
        walls += plane(f"0 {-0.15 - RADIUS} 0", half, contact)
        walls += plane(f"{-0.3 - RADIUS} 0 0", 0.0, contact)
        return (
            world(1e-3, (0, 0, 0), ball("a", "0 0 0", 0.17, axes2, contact), walls),
            [d["vx"], d["vy"]],
            0,
        )
    axes3 = ["1 0 0", "0 1 0", "0 0 1"]
    if name == "gap that closes within the step":
        bodies = ball("a", f"0 0 {RADIUS + d['gap']}", 2.0, axes3[2:], "")
        return world(0.01, (0, 0, 0), bodies, floor("", 1)), [d["vz"]], 0
    contact = f'friction="{d["mu"]} 0 0"'
    bodies = ball("a", f"0 0 {RADIUS}", d["m"], axes3, contact, 3)
    angle = d.get("angle", 0.0)
    push = d.get("force", 0.0) / d["m"]
    gravity = (GRAVITY * math.sin(angle) + push, 0, -GRAVITY * math.cos(angle))
    return world(2e-3, gravity, bodies, floor(contact, 3)), [d.get("v", 0.0), 0.0, 0.0], 0


SPEEDS = {"v", "v1", "v2", "vx", "vy", "vz"}
