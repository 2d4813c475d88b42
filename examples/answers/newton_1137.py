# SPDX-License-Identifier: BSD-3-Clause
"""Does a box that falls on another box with restitution zero stay there?

https://github.com/newton-physics/newton/issues/1137: a box dropped from about 9 cm on another box, friction 0.5 and
restitution 0.0, bounces back to about 9 cm; restitution 1.0 changes nothing. A change proposed there drops a box of
10 cm edges on one of 20 x 20 x 10 cm: these sizes are used here, with 9 cm of free fall, boxes of 500 kg/m^3 and
frames of 1/50 s in 32 substeps.

The right rebound is zero, however the upper box is turned, wherever on the lower one it lands, and however large both
are.
"""

import numpy as np
from boxes import World
from in_mujoco import GROUND, NAME, box, model, mujoco, run
from rows import Row, show

LOWER, UPPER, FALL, STEP = (0.2, 0.2, 0.1), (0.1, 0.1, 0.1), 0.09, 1 / 50 / 32
DENSITY = 500.0


def drop(yaw: float, scale: float = 1.0, aside: float = 0.0, seconds: float = 0.3) -> np.ndarray:
    """Height of the upper box over the lower one over time [m]; aside [m]: off the middle; scale: of all lengths."""
    world = World(STEP * np.sqrt(scale))
    sizes = [scale * np.array(size) for size in (LOWER, UPPER)]
    lower, upper = (
        world.add_box(DENSITY * np.prod(size), size, (x, 0, z), yaw=turned)
        for size, x, z, turned in zip(sizes, (0, aside), (scale * 0.05, scale * (0.15 + FALL)), (0, yaw))
    )
    heights = []
    for _ in range(round(seconds / STEP)):
        world.step([world.on_ground(lower, 0.02 * scale), world.on_box(upper, lower)], friction=0.5, restitution=0.0)
        heights.append(world.position[upper, 2] - 0.15 * scale)
    return np.array(heights)


def drop_in_mujoco(yaw: float) -> dict[str, np.ndarray]:
    """The same where MuJoCo is installed, by its own soft contact."""
    if mujoco is None:
        return {}
    lower, upper = (
        box(DENSITY * np.prod(size), size, (0, 0, z), turned)
        for size, z, turned in ((LOWER, 0.05, 0.0), (UPPER, 0.15 + FALL, yaw))
    )
    of = model(GROUND + lower + upper, STEP)
    return {NAME: run(of, 0.3, lambda data: data.qpos[9] - 0.15)}


def rebound(heights: np.ndarray) -> float:
    """How high it rises after its first landing, over where it rests in the end [m]."""
    falls = np.diff(heights) < -1e-9
    landed = int(np.argmin(falls)) if not falls.all() else len(falls)
    return float(heights[landed:].max() - heights[-1])


def main(yaws: tuple[float, ...] = (0.0, 20.0), scales: tuple[float, ...] = (1.0, 100.0)) -> list[Row]:
    rows = []
    for degrees in yaws:
        others = {name: 1e3 * rebound(heights) for name, heights in drop_in_mujoco(np.radians(degrees)).items()}
        ours = 1e3 * rebound(drop(np.radians(degrees)))
        rows.append(Row(f"turned by {degrees:g} deg: rebound [mm]", 0.0, ours, others))
    rows += [
        Row(f"{scale:g} times as large: rebound/fall", 0.0, rebound(drop(0.2, scale)) / (FALL * scale))
        for scale in scales
    ]
    rows.append(Row("2 cm off the middle: rebound [mm]", 0.0, 1e3 * rebound(drop(0.0, aside=0.02))))
    final = drop(0.3)
    rows.append(Row("where it rests, over the lower box [mm]", 0.0, 1e3 * final[-1]))
    return show("A box dropped on a box from 9 cm, restitution 0", rows)


if __name__ == "__main__":
    main()
