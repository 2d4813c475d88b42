# SPDX-License-Identifier: BSD-3-Clause
"""Does a box that slides without spin begin to turn?

https://github.com/jrouwe/JoltPhysics/issues/983: a sliding box can turn, because friction is applied to its contact
points one after the other, and so not alike. The thread has no numbers; here a box of 40 x 20 x 10 cm, mu = 0.5,
slides at 2 m/s, in every heading and turned in every way to it.

Friction opposes the same slip at all four corners, so the right yaw is zero, the speed after 0.3 s is v - mu g t, and
the box stops after v^2/(2 mu g), to within half the way of a first step of 5 ms.
"""

import numpy as np
from boxes import World
from in_mujoco import GROUND, NAME, box, model, mujoco, run
from rows import Row, show

SIZE, FRICTION, SPEED, STEP = (0.4, 0.2, 0.1), 0.5, 2.0, 0.005
CONES = ("pyramidal", "elliptic")  # of MuJoCo


def slide(heading: float, yaw: float, order: int = 0) -> tuple[float, float, float]:
    """(yaw gained [rad], speed after 0.3 s [m/s], way until it stops [m]); order: a seed for that of the corners."""
    along, source = np.array([np.cos(heading), np.sin(heading), 0]), np.random.default_rng(order)
    world = World(STEP)
    block = world.add_box(1.0, SIZE, (0, 0, 0.05), [*SPEED * along, 0, 0, 0], yaw)
    for k in range(round(0.6 / STEP)):
        touches = world.on_ground(block)
        shuffled = source.permutation(len(touches["gap"]))
        world.step([{name: value[shuffled] for name, value in touches.items()}], friction=FRICTION)
        if k == round(0.3 / STEP) - 1:
            speed = float(world.velocity[block, :3] @ along)
    return (world.yaw(block) - yaw + np.pi) % (2 * np.pi) - np.pi, speed, float(world.position[block] @ along)


def yaw_in_mujoco(heading: float, yaw: float, cone: str) -> float:
    """The yaw gained [rad], by MuJoCo's own contact."""
    of = model(GROUND + box(1.0, SIZE, (0, 0, 0.05), yaw), STEP, f'cone="{cone}"', FRICTION)
    velocity = SPEED * np.array([np.cos(heading), np.sin(heading), 0, 0, 0, 0])
    return run(of, 0.6, lambda data: 2 * np.arctan2(data.qpos[6], data.qpos[3]), velocity)[-1] - yaw


def main(
    headings: tuple[float, ...] = (0.0, 17.0, 45.0, 80.0), yaws: tuple[float, ...] = (0.0, 25.0), order: int = 0
) -> list[Row]:
    rows, ends = [], []
    for heading in headings:
        for yaw in yaws:
            angles = np.radians(heading), np.radians(yaw)
            ends.append(slide(*angles, order))
            others = {f"{NAME} {cone}": np.degrees(yaw_in_mujoco(*angles, cone)) for cone in CONES if mujoco}
            scene = f"heading {heading:g} deg, turned by {yaw:g} deg"
            rows.append(Row(f"{scene}: yaw gained [deg]", 0.0, np.degrees(ends[-1][0]), others))
    _, speeds, ways = np.array(ends).T
    right = SPEED - FRICTION * 9.81 * 0.3
    rows.append(Row("speed after 0.3 s, the worst of these [m/s]", right, speeds[np.abs(speeds - right).argmax()]))
    right = SPEED**2 / (2 * FRICTION * 9.81)
    rows.append(Row("way until it stops, the worst of these [m]", right, ways[np.abs(ways - right).argmax()]))
    return show("A sliding box, mu = 0.5, 2 m/s", rows)


if __name__ == "__main__":
    main()
