# SPDX-License-Identifier: BSD-3-Clause
"""Why does what a gripper holds creep out of it?

https://github.com/google-deepmind/mujoco/issues/3328 (MuJoCo 3.8.1): a capsule of 45 g and radius 4 mm, mu = 0.7, between two
pads that are guided in z and press with 12 to 60 N, sinks at a steady 50 to 155 um/s with elliptic cones and impratio 10, at
1500 to 2300 um/s with impratio 1 or pyramids, and at 1.4 um/s with ten noslip iterations.

Coulomb's law holds it, since its weight of 0.44 N is far below 2 mu N: the right speed is zero. The pads here are pushed by
motors of a given force; the other numbers are the reporter's. Both columns step the same model.
"""
from in_mujoco import NAME, model, mujoco, run
from rows import Row, show

SETTINGS = {
    "elliptic, impratio 10": 'cone="elliptic" impratio="10"',
    "elliptic, impratio 1": 'cone="elliptic"',
    "pyramidal, impratio 1": 'cone="pyramidal"',
    "elliptic, impratio 10, noslip 10": 'cone="elliptic" impratio="10" noslip_iterations="10"',
}
FRICTION, MASS, RADIUS = 0.7, 0.045, 0.004


def grip(load: float, options: str):
    """The model: two pads on damped slides, and a horizontal capsule between them. load [N]."""
    pads = "".join(
        f'<body pos="{(RADIUS + 0.01) * side} 0 0.1"><joint name="{name}" type="slide" axis="{-side} 0 0" damping="20"/>'
        '<geom type="box" size="0.01 0.03 0.02" mass="1"/></body>' for side, name in ((-1, "left"), (1, "right")))
    held = f'<body pos="0 0 0.1"><freejoint/><geom type="capsule" size="{RADIUS} 0.02" euler="90 0 0" mass="{MASS}"/></body>'
    motors = f'<actuator><motor joint="left" gear="{load}"/><motor joint="right" gear="{load}"/></actuator>'
    return model(pads + held, 0.002, options, FRICTION, motors)


def creep(of, step=None) -> float:
    """How fast the capsule sinks, over the second half of 0.6 s [um/s]."""
    def close(data):
        data.ctrl[:] = 1

    heights = run(of, 0.6, lambda data: data.qpos[4], prepare=close, step=step)
    half = len(heights) // 2
    return -(heights[-1] - heights[half]) / (0.002 * (len(heights) - 1 - half)) * 1e6


def main(loads: tuple[float, ...] = (6.0, 12.0)) -> list[Row]:
    import carom.mujoco

    rows = []
    for load in loads:
        for name, options in SETTINGS.items():
            theirs, ours = grip(load, options), grip(load, options)
            carom.mujoco.give_margin(ours, 1e-3)
            rows.append(Row(f"{load:g} N, {name} [um/s]", 0.0, creep(ours, carom.mujoco.Stepper().step), {NAME: creep(theirs)}))
    weight = 9.81 * MASS
    limit = weight / (2 * FRICTION)  # with half of this load they cannot hold it, and it falls with g - 2 mu N/m
    falling = grip(limit / 2, SETTINGS["elliptic, impratio 1"])
    carom.mujoco.give_margin(falling, 1e-3)
    speeds = run(falling, 0.08, lambda data: -data.qvel[4], step=carom.mujoco.Stepper().step,
                 prepare=lambda data: data.ctrl.__setitem__(slice(None), 1))
    rows.append(Row(f"{limit / 2:.3f} N, too little: speed gained from 0.04 to 0.08 s [m/s]", 0.04 * (9.81 - FRICTION * limit / MASS),
                    speeds[40] - speeds[20]))
    return show("A capsule in a grip: how fast it sinks", rows)


if __name__ == "__main__":
    main() if mujoco else print("this answer needs the package mujoco")
