# SPDX-License-Identifier: BSD-3-Clause
"""MJX: jax.jvp through a rollout, one direction per datum, on the processor, in doubles.

The models are those of MuJoCo, with its defaults as MJX takes them. Data enter where MJX keeps
them: masses in body_mass, friction in geom_friction, angles of a slope in gravity, those of walls
in geom_quat, restitution in geom_solref. Reverse mode is asked for too. Prints one JSON object.
"""

import json
import math

import jax
import jax.numpy as jnp
import mujoco
from mujoco import mjx

import mujoco_models
from peer_scenes import GRAVITY, SCENES

jax.config.update("jax_enable_x64", True)


def solref(e):
    log = -jnp.log(e)
    ratio = log / jnp.sqrt(math.pi**2 + log**2)
    stiffness = mujoco_models.STIFFNESS
    return jnp.stack([-stiffness + 0 * e, -2 * ratio * math.sqrt(stiffness)])


def wall_quaternion(angle):
    """Turns z into (cos angle, sin angle, 0)."""
    half = math.sqrt(0.5)
    return jnp.stack([half + 0 * angle, -half * jnp.sin(angle), half * jnp.cos(angle), 0 * angle])


def slope_gravity(d):
    """Gravity of a slope that falls along x, and the push as a part of it."""
    angle = d.get("angle", jnp.zeros(()))
    push = d.get("force", 0.0) / d["m"]
    return jnp.stack([GRAVITY * jnp.sin(angle) + push, 0 * angle, -GRAVITY * jnp.cos(angle)])


def wall_quaternions(name, plain, d):
    """Turns of all geometries, with those of walls from the data."""
    if name.startswith("oblique"):
        return plain.at[0].set(wall_quaternion(d["angle"]))
    if "a1" in d:
        turned = plain.at[0].set(wall_quaternion(d["a1"] - math.pi / 2))
        return turned.at[1].set(wall_quaternion(d["a2"] + math.pi))
    return plain


def with_data(name, model, d):
    """The model with the numbers of the data in it; masses in body_mass alone."""
    if "m1" in d:
        return model.replace(body_mass=model.body_mass.at[1].set(d["m1"]).at[2].set(d["m2"]))
    if "e" in d:
        return model.replace(geom_solref=jnp.tile(solref(d["e"]), (model.ngeom, 1)))
    if "mu" in d:
        mass = model.body_mass.at[1].set(d["m"])
        option = model.opt.replace(gravity=slope_gravity(d))
        friction = model.geom_friction.at[:, 0].set(d["mu"])
        return model.replace(body_mass=mass, geom_friction=friction, opt=option)
    return model.replace(geom_quat=wall_quaternions(name, model.geom_quat, d))


def speeds_of(d, count):
    given = [d[name] for name in ("v", "v1", "v2", "vx", "vy", "vz") if name in d]
    given += [jnp.zeros(())] * (count - len(given))
    return jnp.stack(given)


def make_rollout(name, scene):
    """Outcome as a function of the data."""
    text, _, chosen = mujoco_models.build(name, scene["data"])
    plain = mujoco.MjModel.from_xml_string(text)
    model = mjx.put_model(plain)
    state = mjx.make_data(model)
    count = round(scene["time"] / plain.opt.timestep)

    def rollout(d):
        moved = with_data(name, model, d)
        start = state.replace(qvel=speeds_of(d, plain.nv))
        if "gap" in d:
            start = start.replace(qpos=start.qpos.at[0].add(d["gap"] - scene["data"]["gap"]))
        end, _ = jax.lax.scan(lambda x, _: (mjx.step(moved, x), None), start, None, count)
        return end.qvel[chosen]

    return rollout


def main():
    result, reverse = {}, {}
    for name, scene in SCENES.items():
        try:
            rollout = make_rollout(name, scene)
            d = {key: jnp.asarray(value, dtype=float) for key, value in scene["data"].items()}
            forward = jax.jit(lambda d, t, f=rollout: jax.jvp(f, (d,), (t,)))
            gradients, outcome = {}, None
            for datum in scene["gradients"]:
                one = {key: jnp.asarray(float(key == datum)) for key in d}
                outcome, slope = forward(d, one)
                gradients[datum] = float(slope)
            result[name] = {"outcome": float(outcome), "gradients": gradients}
        except Exception as fault:  # what an engine cannot do is a result
            result[name] = {"reason": f"{type(fault).__name__}: {str(fault)[:200]}"}
        print(name, result[name], flush=True, file=__import__("sys").stderr)
    name = "block sliding on a slope"
    try:
        d = {key: jnp.asarray(value, dtype=float) for key, value in SCENES[name]["data"].items()}
        found = jax.jit(jax.grad(make_rollout(name, SCENES[name])))(d)
        reverse = {key: float(value) for key, value in found.items()}
    except Exception as fault:
        reverse = {"reason": f"{type(fault).__name__}: {str(fault)[:300]}"}
    version = (
        f"{mujoco.mjx.__version__ if hasattr(mujoco.mjx, '__version__') else mujoco.__version__}"
    )
    print(
        json.dumps(
            {
                "version": f"{version}, jax {jax.__version__}",
                "scenes": result,
                "reverse mode": reverse,
            }
        )
    )


if __name__ == "__main__":
    main()
