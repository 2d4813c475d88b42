# SPDX-License-Identifier: BSD-3-Clause
"""Does a rigid body bounce by its coefficient of restitution?

https://github.com/newton-physics/newton/issues/1131 asks for restitution of rigid bodies in AVBD; the thread has no
numbers. Here a cube of 20 cm, of this project's choosing, lands flat from 30 cm, on four corners at once, and a ball
of the same height on one point.

Newton's law gives e times the speed of the impact, and so a rise of e^2 times the fall. Steps in time meet the speeds
exactly and the height to within the way of one step before the impact, since a step knows no time of impact.
"""

import numpy as np
from boxes import World
from rows import Row, show

FALL, STEP = 0.3, 0.001


def bounce(
    restitution: float, shape: str, step: float = STEP, yaw: float = 0.0, seconds: float = 0.6
) -> tuple[float, float, np.ndarray]:
    """(speed after/before the first impact, the rise after it [m], heights over time [m])."""
    world = World(step)
    if shape == "box":
        body = world.add_box(1.0, (0.2, 0.2, 0.2), (0, 0, 0.1 + FALL), yaw=yaw)
    else:
        body = world.add_ball(1.0, 0.1, (0, 0, 0.1 + FALL))
    heights, speeds = [], []
    for _ in range(round(seconds / step)):
        touches = world.on_ground(body) if shape == "box" else world.among_balls()
        world.step([touches], friction=0.5, restitution=restitution)
        heights.append(world.position[body, 2] - 0.1)
        speeds.append(world.velocity[body, 2])
    heights, speeds = np.array(heights), np.array(speeds)
    hit = int(np.argmax(speeds > -1e-9))  # the first step that does not fall
    top = heights[hit:][: max(1, int(np.argmax(speeds[hit:] < -1e-9)))].max()
    return -speeds[hit] / speeds[hit - 1], float(top), heights


def main(restitutions: tuple[float, ...] = (0.0, 0.25, 0.5, 1.0), step: float = STEP, yaw: float = 0.0) -> list[Row]:
    rows = []
    for shape in ("box", "ball"):
        for e in restitutions:
            share, top, _ = bounce(e, shape, step, yaw)
            rows.append(Row(f"{shape}, e = {e:g}: speed after/before", e, share))
            rows.append(Row(f"{shape}, e = {e:g}: rise [m]", e**2 * FALL, top))
    return show(f"A bounce from 0.3 m, steps of {1e3 * step:g} ms", rows)


if __name__ == "__main__":
    main()
