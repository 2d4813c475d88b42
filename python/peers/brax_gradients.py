# SPDX-License-Identifier: BSD-3-Clause
"""Brax: jax.grad through a rollout of its generalized pipeline, on the processor, in doubles.

The models are those of MuJoCo, with Brax's defaults. Data enter where Brax keeps them: masses in
the links' inertia, friction in geom_friction, restitution in geom_solref, angles of a slope in
gravity, those of walls in geom_quat. Prints one JSON object.
"""

import importlib.metadata
import json
import sys

import jax
import jax.numpy as jnp
from brax.generalized import pipeline
from brax.io import mjcf

import mjx_gradients
import mujoco_models
from peer_scenes import SCENES

jax.config.update("jax_enable_x64", True)


def with_data(name, system, d):
    """The system with the numbers of the data in it."""
    masses = [d[key] for key in ("m", "m1", "m2") if key in d]
    if masses:
        inertia = system.link.inertia.replace(mass=jnp.stack(masses))
        system = system.replace(link=system.link.replace(inertia=inertia))
    if "mu" in d:
        system = system.replace(
            gravity=mjx_gradients.slope_gravity(d),
            geom_friction=system.geom_friction.at[:, 0].set(d["mu"]),
        )
    if "e" in d:
        given = jnp.tile(mjx_gradients.solref(d["e"]), (len(system.geom_solref), 1))
        system = system.replace(geom_solref=given)
    quaternions = mjx_gradients.wall_quaternions(name, system.geom_quat, d)
    return system.replace(geom_quat=quaternions)


def make_rollout(name, scene):
    """Outcome as a function of the data."""
    text, _, chosen = mujoco_models.build(name, scene["data"])
    system = mjcf.loads(text)
    step = float(system.opt.timestep)

    def rollout(d):
        moved = with_data(name, system, d)
        place = jnp.zeros(system.q_size())
        if "gap" in d:
            place = place.at[0].add(d["gap"] - scene["data"]["gap"])
        state = pipeline.init(moved, place, mjx_gradients.speeds_of(d, system.qd_size()))
        act = jnp.zeros(system.act_size())
        end, _ = jax.lax.scan(
            lambda x, _: (pipeline.step(moved, x, act), None),
            state,
            None,
            round(scene["time"] / step),
        )
        return end.qd[chosen]

    return rollout


def main():
    result = {}
    for name, scene in SCENES.items():
        try:
            d = {key: jnp.asarray(value, dtype=float) for key, value in scene["data"].items()}
            outcome, by = jax.jit(jax.value_and_grad(make_rollout(name, scene)))(d)
            gradients = {datum: float(by[datum]) for datum in scene["gradients"]}
            result[name] = {"outcome": float(outcome), "gradients": gradients}
        except Exception as fault:  # what an engine cannot do is a result
            result[name] = {"reason": f"{type(fault).__name__}: {str(fault)[:200]}"}
        print(name, result[name], file=sys.stderr, flush=True)
    print(json.dumps({"version": importlib.metadata.version("brax"), "scenes": result}))


if __name__ == "__main__":
    main()
