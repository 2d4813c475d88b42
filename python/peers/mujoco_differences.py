# SPDX-License-Identifier: BSD-3-Clause
"""MuJoCo: central differences of rollouts, or with the argument "transition" its mjd_transitionFD.

The latter, centred, is chained over the steps of a rollout and gives derivatives by velocities.
Both take steps of 1e-6. Prints one JSON object.
"""

import json
import sys

import mujoco
import numpy as np

import mujoco_models
from peer_scenes import SCENES

STEP = 1e-6


def start(name, d):
    text, speeds, chosen = mujoco_models.build(name, d)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qvel[:] = speeds
    return model, data, chosen


def rollout(name, d, time):
    model, data, chosen = start(name, d)
    for _ in range(round(time / model.opt.timestep)):
        mujoco.mj_step(model, data)
    return data.qvel[chosen]


def by_speeds(name, d, time):
    """d(chosen velocity)/d(velocities at the start), a product of the engine's own Jacobians."""
    model, data, chosen = start(name, d)
    size = 2 * model.nv
    product, one = np.eye(size), np.zeros((size, size))
    for _ in range(round(time / model.opt.timestep)):
        mujoco.mjd_transitionFD(model, data, STEP, True, one, None, None, None)
        product = one @ product
        mujoco.mj_step(model, data)
    return product[model.nv + chosen, model.nv :]


def main():
    result = {}
    for name, scene in SCENES.items():
        d, time = scene["data"], scene["time"]
        gradients, speeds = {}, None
        for datum in scene["gradients"]:
            if "transition" in sys.argv:
                if datum not in mujoco_models.SPEEDS:
                    continue
                speeds = by_speeds(name, d, time) if speeds is None else speeds
                index = 1 if datum in ("v2", "vy") else 0
                gradients[datum] = float(speeds[index])
                continue
            step = STEP * max(abs(d[datum]), 1e-3)
            ends = [rollout(name, d | {datum: d[datum] + s * step}, time) for s in (1, -1)]
            gradients[datum] = float((ends[0] - ends[1]) / (2 * step))
        result[name] = {"outcome": float(rollout(name, d, time)), "gradients": gradients}
    print(json.dumps({"version": mujoco.__version__, "scenes": result}))


if __name__ == "__main__":
    main()
