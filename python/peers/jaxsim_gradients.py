# SPDX-License-Identifier: BSD-3-Clause
"""JaxSim: jax.jvp through a rollout, one direction per datum, on the processor, in doubles.

A block on two prismatic joints touches flat terrain with four of the eight points of its box.
Contact is the engine's default, soft after Hunt and Crossley with Coulomb's cone. Data enter where
JaxSim keeps them: masses in the links, friction in contact_params, weight and push as forces on a
link, since gravity is a fixed number along z. Terrain is fixed too, so that an oblique wall is the
flat ground in turned axes: velocities are turned into them and the outcome is turned back. Prints
one JSON object.
"""

import dataclasses
import importlib.metadata
import json
import math
import sys

import jax
import jax.numpy as jnp
import jaxsim.api as js
from jaxsim.rbda.contacts import SoftContacts, SoftContactsParams

from peer_scenes import GRAVITY, RADIUS, SCENES

STEP = 1e-3  # [s], the engine's default
# Counts of finer steps: an impact lasts a few milliseconds; a gap that closes at the very end of a
# step is no place to differentiate at, since the force of damping grows with the root of overlap.
OBLIQUE, GAP = "oblique impact on a smooth wall", "gap that closes within the step"
COUNTS = {OBLIQUE: 1000, GAP: 102}
MASSES = {OBLIQUE: 0.4, GAP: 2.0}  # [kg], where the mass is no datum
DAMPING = 2000.0  # the engine's default
NO_DAMPING = 1e-9  # the engine divides by its damping
SIDE = 2 * RADIUS
LINK = """<link name="{0}"><pose relative_to="{1}">0 0 0 0 0 0</pose>
<inertial><mass>{2}</mass><inertia><ixx>{2}</ixx><iyy>{2}</iyy><izz>{2}</izz>
<ixy>0</ixy><ixz>0</ixz><iyz>0</iyz></inertia></inertial>
{3}</link>"""
SLIDE = """<joint name="slide_{0}" type="prismatic"><pose relative_to="{1}">0 0 0 0 0 0</pose>
<parent>{1}</parent><child>{2}</child><axis><xyz>{3}</xyz></axis></joint>"""
BOX = f"""<collision name="box"><geometry><box><size>{SIDE} {SIDE} {SIDE}</size></box></geometry>
</collision>"""

WITHOUT = {
    "two equal balls": "contact is that of points with the terrain; bodies pass through each other",
    "restitution at a wall": "contact has damping, no coefficient of restitution",
    "billiard with four cushions": "terrain is one height over x and y, which encloses nothing",
}


def description():
    """A block on slides along x and z as SDF; the link between is as good as massless."""
    parts = [
        LINK.format("base", "__model__", 1.0, ""),
        LINK.format("carriage", "slide_x", 1e-9, ""),
        LINK.format("block", "slide_z", 1.0, BOX),
        '<joint name="hold" type="fixed"><parent>world</parent><child>base</child></joint>',
        SLIDE.format("x", "base", "carriage", "1 0 0"),
        SLIDE.format("z", "carriage", "block", "0 0 1"),
    ]
    return f'<sdf version="1.10"><model name="sliding">{"".join(parts)}</model></sdf>'


def with_data(model, given):
    """The model with the numbers of the data in it."""
    block = js.link.name_to_idx(model, link_name="block")
    kinetics = model.kin_dyn_parameters
    mass = kinetics.link_parameters.mass.at[block].set(given["mass"])
    links = dataclasses.replace(kinetics.link_parameters, mass=mass)
    return dataclasses.replace(
        model,
        time_step=given["step"],
        kin_dyn_parameters=dataclasses.replace(kinetics, link_parameters=links),
        contact_params=SoftContactsParams.build(mu=given["friction"], D=given["damping"]),
    )


def make_rollout():
    """Velocities at the end, as a function of what is given to the engine and of a count of steps.

    All scenes share it, so that it is compiled once.
    """
    model = js.model.JaxSimModel.build_from_model_description(
        description(), is_urdf=False, contact_model=SoftContacts.build(), gravity=0
    )
    block = js.link.name_to_idx(model, link_name="block")

    def rollout(given, count):
        moved = with_data(model, given)
        # Coordinates are those of the block's middle, above the ground by half its side.
        state = js.data.JaxSimModelData.build(
            moved,
            joint_positions=given["place"] + jnp.array([0.0, RADIUS]),
            joint_velocities=given["speed"],
            velocity_representation=js.common.VelRepr.Mixed,
        )
        x, z = given["force"]
        forces = jnp.zeros((moved.number_of_links(), 6)).at[block, 0].set(x).at[block, 2].set(z)

        def advance(_, state):
            return js.model.step(moved, state, link_forces=forces)

        return jax.lax.fori_loop(0, count, advance, state).joint_velocities

    def forward(given, slopes, count):
        return jax.jvp(lambda given: rollout(given, count), (given,), (slopes,))

    return jax.jit(forward)


def steps(name, scene):
    return COUNTS.get(name, round(scene["time"] / STEP))


def given_to_engine(name, scene, d):
    """What the engine is given for the data of a scene."""
    zero = jnp.zeros(())
    given = {
        "mass": zero + MASSES[name] if name in MASSES else d["m"],
        "friction": d.get("mu", zero),
        "damping": zero + DAMPING,
        "place": jnp.stack([zero, zero]),
        "speed": jnp.stack([d.get("v", zero), zero]),
        "force": jnp.stack([zero, zero]),
        "step": zero + scene["time"] / steps(name, scene),
    }
    if name == OBLIQUE:
        turn = turning(d["angle"])
        first = scene["data"]["angle"]
        place = (RADIUS + 0.02) * jnp.array([math.cos(first), math.sin(first)])
        given["place"] = turn @ place - jnp.array([0.0, RADIUS])
        given["speed"] = turn @ jnp.stack([d["vx"], d["vy"]])
        given["damping"] = zero + NO_DAMPING
    elif name == GAP:
        given["place"] = jnp.stack([zero, d["gap"]])
        given["speed"] = jnp.stack([zero, d["vz"]])
    else:
        angle, weight = d.get("angle", zero), d["m"] * GRAVITY
        along = weight * jnp.sin(angle) + d.get("force", zero)
        given["force"] = jnp.stack([along, -weight * jnp.cos(angle)])
    return given


def turning(angle):
    """Turns x and y into the directions along and off a wall whose normal has this angle to x."""
    c, s = jnp.cos(angle), jnp.sin(angle)
    return jnp.stack([jnp.stack([-s, c]), jnp.stack([c, s])])


def outcome_of(name, d, speed):
    """The velocity that is asked for."""
    if name == OBLIQUE:
        return turning(d["angle"])[:, 1] @ speed
    return speed[1] if name == GAP else speed[0]


def ask(name, scene, rollout):
    """The outcome with its derivatives, or a reason."""
    if name in WITHOUT:
        return {"reason": WITHOUT[name]}
    try:
        d = {key: jnp.asarray(value, dtype=float) for key, value in scene["data"].items()}
        enter = jax.jit(lambda d, t: jax.jvp(lambda d: given_to_engine(name, scene, d), (d,), (t,)))
        leave = jax.jit(lambda *a: jax.jvp(lambda d, v: outcome_of(name, d, v), a[:2], a[2:]))
        gradients, outcome = {}, None
        for datum in scene["gradients"]:
            one = {key: jnp.asarray(float(key == datum)) for key in d}
            given, slopes = enter(d, one)
            speed, by = rollout(given, slopes, steps(name, scene))
            outcome, slope = leave(d, speed, one, by)
            gradients[datum] = float(slope)
        return {"outcome": float(outcome), "gradients": gradients}
    except Exception as fault:  # what an engine cannot do is a result
        return {"reason": f"{type(fault).__name__}: {str(fault)[:200]}"}


def main():
    result, rollout = {}, make_rollout()
    for name, scene in SCENES.items():
        result[name] = ask(name, scene, rollout)
        print(name, result[name], file=sys.stderr, flush=True)
    version = f"{importlib.metadata.version('jaxsim')}, jax {jax.__version__}"
    print(json.dumps({"version": version, "scenes": result}))


if __name__ == "__main__":
    main()
