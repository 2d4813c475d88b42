# SPDX-License-Identifier: BSD-3-Clause
"""MuJoCo: a scene as an XML model, stepped by mj_step.

MuJoCo has no coefficient of restitution. Where a scene has one, solref takes its direct form, a spring of 1e5 1/s^2
and the damping with which a free oscillator leaves at e times its speed."""

import math

import mujoco

from worlds import rotated, times

PACKAGE = "mujoco"
SEARCH = [
    {"cone": "elliptic"},
    {"cone": "elliptic", "impratio": 100},
    {"cone": "elliptic", "impratio": 1000, "solref": 0.004},
    {"cone": "elliptic", "impratio": 100, "noslip": 20},
    {"cone": "elliptic", "impratio": 1000, "solref": 0.001, "solimp": 0.9999, "finer": 4},
]
STIFFNESS = 1e5  #: of bouncing contacts [1/s²]


def numbers(values):
    return " ".join(repr(float(value)) for value in values)


def contact_text(world, settings):
    """Friction, its directions, and the softness of all shapes."""
    rolls = world.rolling > 0
    text = f'friction="{world.friction} 0 {world.rolling}" condim="{6 if rolls else 3}"'
    if world.restitution > 0:
        log = -math.log(world.restitution)
        damping = 2 * log / math.hypot(math.pi, log) * math.sqrt(STIFFNESS)
        text += f' solref="{-STIFFNESS} {-damping}"'
    elif "solref" in settings:
        text += f' solref="{settings["solref"]} 1"'
    if "solimp" in settings:
        text += f' solimp="{settings["solimp"]} {settings["solimp"]} 0.0001"'
    return text


def model_text(world, settings):
    option = f'timestep="{world.time_step}" gravity="{numbers(world.gravity)}" cone="{settings.get("cone", "pyramidal")}" '
    option += f'impratio="{settings.get("impratio", 1)}" noslip_iterations="{settings.get("noslip", 0)}"'
    parts = [f'<geom type="plane" size="0 0 1" pos="{numbers(p.point)}" zaxis="{numbers(p.normal)}"/>' for p in world.planes]
    for body in world.bodies:
        joint = f'<joint type="slide" axis="{numbers(body.slides_along)}"/>' if body.slides_along else "<freejoint/>"
        size = numbers(body.size)
        if body.slides_along:  # the axis of a joint is one of the body's frame
            q = body.orientation
            local = rotated((q[0], -q[1], -q[2], -q[3]), body.slides_along)
            joint = f'<joint type="slide" axis="{numbers(local)}"/>'
        parts.append(f'<body pos="{numbers(body.position)}" quat="{numbers(body.orientation)}">{joint}'
                     f'<geom type="{body.shape}" size="{size}" mass="{body.mass}"/></body>')
    return (f'<mujoco><option {option}/><default><geom {contact_text(world, settings)}/></default>'
            f'<worldbody>{"".join(parts)}</worldbody></mujoco>')


class Simulation:
    def __init__(self, world, settings):
        self.bodies = world.bodies
        self.model = mujoco.MjModel.from_xml_string(model_text(world, settings))
        self.data = mujoco.MjData(self.model)
        for i, body in enumerate(world.bodies):
            self.data.xfrc_applied[i + 1, :3] = body.force
            at = self.model.jnt_dofadr[i]
            if body.slides_along:
                continue  # at rest in all scenes
            q = body.orientation
            self.data.qvel[at:at + 3] = body.velocity
            self.data.qvel[at + 3:at + 6] = rotated((q[0], -q[1], -q[2], -q[3]), body.spin)

    def step(self, count):
        mujoco.mj_step(self.model, self.data, nstep=count)

    def positions(self):
        mujoco.mj_kinematics(self.model, self.data)
        return self.data.xpos[1:].tolist()

    def orientations(self):
        return self.data.xquat[1:].tolist()

    def velocities(self):
        at = self.model.jnt_dofadr
        return [list(times(self.data.qvel[at[i]], body.slides_along)) if body.slides_along else
                self.data.qvel[at[i]:at[i] + 3].tolist() for i, body in enumerate(self.bodies)]

    def spins(self):
        at = self.model.jnt_dofadr
        return [(0, 0, 0) if body.slides_along else
                rotated(self.data.xquat[i + 1].tolist(), self.data.qvel[at[i] + 3:at[i] + 6].tolist())
                for i, body in enumerate(self.bodies)]
