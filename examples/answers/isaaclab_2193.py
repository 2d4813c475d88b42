# SPDX-License-Identifier: BSD-3-Clause
"""Does a contact sensor read the weight of what lies on it?

https://github.com/isaac-sim/IsaacLab/issues/2193: the force of a contact sensor should weigh particles of water, and
does not read the expected weight. A related thread, #1238, has a cube of 1000 kg on one of 512 kg, which are the
first rows here; the particles are this project's: 40 balls of 10 to 30 g that fall into a heap, on ground that is the
sensor.

The impulse of a contact over the step is its force. At rest the sum is the weight; while things fall and slide it is
the weight plus the change of momentum, sum F = sum m (dv/dt + g), in every step, and friction of what slides is mu
times the normal force.
"""

import carom
import numpy as np
from boxes import World
from in_mujoco import GROUND, NAME, box, model, mujoco, run
from rows import Row, show

STEP = 0.005


def cubes(upper: float, lower: float) -> tuple[float, float]:
    """Forces (on the ground, between the cubes) [N] of one cube on another, masses [kg], after 20 steps."""
    world = World(STEP)
    below = world.add_box(lower, (1, 1, 1), (0, 0, 0.5))
    above = world.add_box(upper, (0.8, 0.8, 0.8), (0, 0, 1.4), yaw=0.2)
    for _ in range(20):
        solution = world.step([world.on_ground(below), world.on_box(above, below)], friction=0.5)
    force = solution.impulse[:, 2] / STEP
    return force[:4].sum(), force[4:].sum()


def cubes_in_mujoco(upper: float, lower: float) -> dict[str, float]:
    """What MuJoCo reads on the ground after 2 s [N]."""
    if mujoco is None:
        return {}

    def weigh(data):
        force, total = np.zeros(6), 0.0
        for i in range(data.ncon):
            mujoco.mj_contactForce(of, data, i, force)
            total += force[0] * (0 in data.contact[i].geom)
        return total

    of = model(GROUND + box(lower, (1, 1, 1), (0, 0, 0.5)) + box(upper, (0.8, 0.8, 0.8), (0, 0, 1.4), 0.2), STEP)
    return {NAME: run(of, 2.0, weigh)[-1]}


def pour(count: int, seed: int, steps: int = 120) -> tuple[np.ndarray, np.ndarray]:
    """Force on the ground in every step (steps, 3) [N], and the same from the momentum of all balls."""
    source, world = np.random.default_rng(seed), World(STEP)
    for i in range(count):
        place = 0.045 * np.array([i % 3, i // 3 % 3, i // 9]) + [0, 0, 0.03] + source.normal(scale=1e-3, size=3)
        world.add_ball(source.uniform(0.01, 0.03), 0.02, place)
    mass, read, right = np.array(world.mass), [], []
    for _ in range(steps):
        before, touches = world.velocity[:, :3], world.among_balls()
        solution = world.step([touches], friction=0.4)
        frame = carom.ContactProblem.contact_frames([[0, 0, 1.0]])[0]
        read.append(solution.impulse[touches["other"] < 0].sum(axis=0) @ frame / STEP)
        right.append(mass @ ((world.velocity[:, :3] - before) / STEP - world.gravity))
    return np.array(read), np.array(right)


def push(force: float, friction: float) -> float:
    """Friction [N] on a sliding cube of 5 kg."""
    world = World(STEP)
    cube = world.add_box(5.0, (0.2, 0.2, 0.2), (0, 0, 0.1), (1, 0, 0, 0, 0, 0))
    solution = world.step([world.on_ground(cube)], push=np.array([[force, 0, 0, 0, 0, 0]]), friction=friction)
    return float(np.linalg.norm(solution.impulse[:, :2].sum(axis=0)) / STEP)


def main(masses: tuple[float, float] = (1000.0, 512.0), count: int = 40, seed: int = 1) -> list[Row]:
    ground, between = cubes(*masses)
    read, right = pour(count, seed)
    worst = np.unravel_index(np.abs(read - right).argmax(), read.shape)
    rows = [
        Row("a cube on a cube: force on the ground [N]", 9.81 * sum(masses), ground, cubes_in_mujoco(*masses)),
        Row("a cube on a cube: force between them [N]", 9.81 * masses[0], between),
        Row(f"{count} balls fall: largest force on the ground [N]", right[:, 2].max(), read[:, 2].max()),
        Row(f"{count} balls fall: where force and momentum differ most [N]", right[worst], read[worst]),
        Row("a sliding cube: friction [N]", 0.3 * 5 * 9.81, push(0.0, 0.3)),
        Row("a pushed cube: friction [N]", 0.3 * 5 * 9.81, push(8.0, 0.3)),
    ]
    return show("What a contact sensor should read", rows)


if __name__ == "__main__":
    main()
