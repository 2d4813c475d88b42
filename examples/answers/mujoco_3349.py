# SPDX-License-Identifier: BSD-3-Clause
"""Can a box stay on a ramp without a stiction spring?

https://github.com/google-deepmind/mujoco/pull/3349 adds a spring between bodies that stick, because a box on a
shallow ramp creeps downhill at a steady speed, although friction could hold it. The thread's numbers of a ramp were
not to be had; those here are this project's: a cube of 1 kg and 0.2 m, mu = 0.5, ramps of 5, 20, 26 and 30 degrees, 5
s.

Coulomb's law needs no memory of where a body stuck: below atan(mu) = 26.57 degrees the right slip is zero for ever,
above it the box gains g (sin - mu cos) per second, in every heading.
"""

import numpy as np
from boxes import World
from in_mujoco import GROUND, NAME, box, model, mujoco, run
from rows import Row, show

FRICTION, SIZE, STEP = 0.5, (0.2, 0.2, 0.2), 0.01


def weight(angle: float, heading: float) -> np.ndarray:
    """Gravity seen from the ramp, downhill along a heading [rad]."""
    along = np.sin(angle) * np.array([np.cos(heading), np.sin(heading)])
    return 9.81 * np.array([*along, -np.cos(angle)])


def slide(angle: float, heading: float, seconds: float) -> tuple[float, float]:
    """(way [m], speed [m/s]) downhill after some seconds."""
    world = World(STEP, weight(angle, heading))
    cube = world.add_box(1.0, SIZE, (0, 0, 0.1))
    for _ in range(round(seconds / STEP)):
        world.step([world.on_ground(cube)], friction=FRICTION)
    downhill = np.array([np.cos(heading), np.sin(heading), 0])
    return float(world.position[cube] @ downhill), float(world.velocity[cube, :3] @ downhill)


def slide_in_mujoco(
    angle: float, heading: float, seconds: float, options: str = 'cone="elliptic"'
) -> dict[str, np.ndarray]:
    """The way downhill over time [m], where MuJoCo is installed."""
    if mujoco is None:
        return {}
    ramp = model(GROUND + box(1.0, SIZE, (0, 0, 0.1)), STEP, options, FRICTION)
    ramp.opt.gravity[:] = weight(angle, heading)
    return {NAME: run(ramp, seconds, lambda data: data.qpos[:2] @ [np.cos(heading), np.sin(heading)])}


def main(headings: tuple[float, ...] = (0.0, 45.0)) -> list[Row]:
    rows = []
    for degrees in headings:
        heading = np.radians(degrees)
        for ramp in (5, 20, 26):
            slip, _ = slide(np.radians(ramp), heading, 5.0)
            others = {name: 1e3 * way[-1] for name, way in slide_in_mujoco(np.radians(ramp), heading, 5.0).items()}
            rows.append(Row(f"slip in 5 s on {ramp} deg, heading {degrees:g} deg [mm]", 0.0, 1e3 * slip, others))
        steep = np.radians(30)
        gain = 9.81 * (np.sin(steep) - FRICTION * np.cos(steep))
        _, speed = slide(steep, heading, 1.0)
        rows.append(Row(f"speed after 1 s on 30 deg, heading {degrees:g} deg [m/s]", gain, speed))
    return show("A cube on a ramp, mu = 0.5", rows)


if __name__ == "__main__":
    main()
