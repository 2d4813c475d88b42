# SPDX-License-Identifier: BSD-3-Clause
"""Why does what a gripper holds creep out of it?

https://github.com/google-deepmind/mujoco/issues/3328 (MuJoCo 3.8.1): a capsule of 45 g and radius 4 mm, mu = 0.7,
between two pads that are guided in z and press with 12 to 60 N, sinks at a steady 50 to 155 um/s with elliptic cones
and impratio 10, at 1500 to 2300 um/s with impratio 1 or pyramids, and at 1.4 um/s with ten noslip iterations.

Coulomb's law holds it, since its weight of 0.44 N is far below 2 mu N: the right speed is zero. The pads here are
pushed by motors of a given force; the other numbers are the reporter's. Both columns step the same model.
"""

from typing import Any

import numpy as np
from in_mujoco import NAME, model, mujoco, run
from rows import Row, show

SETTINGS = {
    "elliptic, impratio 10": 'cone="elliptic" impratio="10"',
    "elliptic, impratio 1": 'cone="elliptic"',
    "pyramidal, impratio 1": 'cone="pyramidal"',
    "elliptic, impratio 10, noslip 10": 'cone="elliptic" impratio="10" noslip_iterations="10"',
}
FRICTION, MASS, RADIUS, STEP = 0.7, 0.045, 0.004, 0.002


def grip(load: float, options: str) -> Any:
    """The model: two pads on damped slides, and a horizontal capsule between them. load [N]."""
    pads = "".join(
        f'<body pos="{(RADIUS + 0.01) * side} 0 0.1">'
        f'<joint name="{name}" type="slide" axis="{-side} 0 0" damping="20"/>'
        '<geom type="box" size="0.01 0.03 0.02" mass="1"/></body>'
        for side, name in ((-1, "left"), (1, "right"))
    )
    capsule = f'<geom type="capsule" size="{RADIUS} 0.02" euler="90 0 0" mass="{MASS}"/>'
    motors = f'<actuator><motor joint="left" gear="{load}"/><motor joint="right" gear="{load}"/></actuator>'
    return model(f'{pads}<body pos="0 0 0.1"><freejoint/>{capsule}</body>', STEP, options, FRICTION, motors)


def heights(load: float, options: str, seconds: float, by_carom: bool) -> np.ndarray:
    """Height of the capsule at the start and after every step [m]."""

    def close(data):
        data.ctrl[:] = 1

    of, step = grip(load, SETTINGS[options]), None
    if by_carom:
        import carom.mujoco

        carom.mujoco.give_margin(of, 1e-3)
        step = carom.mujoco.Stepper().step
    return run(of, seconds, lambda data: data.qpos[4], prepare=close, step=step)


def creep(load: float, options: str, by_carom: bool) -> float:
    """How fast the capsule sinks, over the second half of 0.6 s [um/s]."""
    height = heights(load, options, 0.6, by_carom)
    half = len(height) // 2
    return 1e6 * (height[half] - height[-1]) / (STEP * (len(height) - 1 - half))


def main(loads: tuple[float, ...] = (6.0, 12.0)) -> list[Row]:
    rows = []
    for load in loads:
        for name in SETTINGS:
            ours, theirs = creep(load, name, True), creep(load, name, False)
            rows.append(Row(f"{load:g} N, {name} [um/s]", 0.0, ours, {NAME: theirs}))
    weak = 9.81 * MASS / (4 * FRICTION)  # half of what holds it: it falls with g - 2 mu N/m = g/2, from step to step
    height = heights(weak, "elliptic, impratio 1", 40 * STEP, True)
    fallen = STEP**2 * 9.81 / 2 * 40 * 41 / 2
    rows.append(Row(f"{weak:.3f} N, too little: falls in {40 * STEP:g} s [m]", fallen, height[0] - height[-1]))
    return show("A capsule in a grip: how fast it sinks", rows)


if __name__ == "__main__":
    main() if mujoco else print("this answer needs the package mujoco")
