# SPDX-License-Identifier: BSD-3-Clause
"""Is there friction without slip for many worlds at once, as MuJoCo's noslip pass gives it for one?

https://github.com/google-deepmind/mujoco_warp/issues/87 asks for the noslip solver in MuJoCo Warp; the thread has no
numbers. Here 100 worlds, all of this project's choosing, each have a cube of 1 kg on a ramp of its own slope, heading
and friction; half of the ramps are too steep. The right speed after a second is max(0, sin - mu cos) g t.

carom solves all worlds of a step in one call, under Coulomb's law, which knows neither a regularisation nor a second
pass.
"""

import carom
import numpy as np
from boxes import World
from in_mujoco import GROUND, NAME, box, model, mujoco, run
from mujoco_3349 import SIZE, weight
from rows import Row, show

STEP, SECONDS = 0.01, 1.0


def draw(count: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(slope, heading [rad], friction) of each world: every second friction is above the tangent of the slope."""
    source = np.random.default_rng(seed)
    slope, heading = np.radians(source.uniform(5, 35, count)), source.uniform(0, 2 * np.pi, count)
    share = np.where(np.arange(count) % 2, source.uniform(1.05, 2, count), source.uniform(0.2, 0.95, count))
    return slope, heading, share * np.tan(slope)


def speeds(slope: np.ndarray, heading: np.ndarray, friction: np.ndarray, threads: int | None = None) -> np.ndarray:
    """Downhill speed of the cube of each world after a second [m/s], and that of all worlds in one call per step."""
    world = World(STEP)
    cube = world.add_box(1.0, SIZE, (0, 0, 0.1))
    pattern = world.pose([world.on_ground(cube)])  # on its ramp's axes a cube that slides does not leave this pose
    pull = np.zeros((len(slope), 6))
    pull[:, :3] = [STEP * weight(a, b) for a, b in zip(slope, heading)]
    mu = np.repeat(friction[:, None], pattern.contact_count, axis=1)
    velocity = np.zeros_like(pull)
    for _ in range(round(SECONDS / STEP)):
        batch = carom.Batch.like(pattern, len(slope), free_velocity=velocity + pull, friction=mu)
        velocity = carom.solve_batch(batch, tolerance=1e-10, threads=threads).velocity
    return velocity[:, 0] * np.cos(heading) + velocity[:, 1] * np.sin(heading)


def speed_in_mujoco(slope: float, heading: float, friction: float, iterations: int) -> float:
    """Its mean speed over the last half [m/s]."""
    ramp = model(
        GROUND + box(1.0, SIZE, (0, 0, 0.1)), STEP, f'cone="elliptic" noslip_iterations="{iterations}"', friction
    )
    ramp.opt.gravity[:] = weight(slope, heading)
    way = run(ramp, SECONDS, lambda data: data.qpos[:2] @ [np.cos(heading), np.sin(heading)])
    return (way[-1] - way[len(way) // 2]) / (STEP * (len(way) - 1 - len(way) // 2))


def main(count: int = 100, seed: int = 1) -> list[Row]:
    slope, heading, friction = draw(count, seed)
    right = np.maximum(0, np.sin(slope) - friction * np.cos(slope)) * 9.81 * SECONDS
    ours = speeds(slope, heading, friction)
    holds = right == 0
    others = {}
    if mujoco:
        for iterations in (0, 3, 10):
            held = [
                abs(speed_in_mujoco(*of, iterations)) for of in zip(slope[holds][:5], heading[holds], friction[holds])
            ]
            others[f"{NAME}, noslip {iterations}"] = 1e6 * max(held)
    rows = [
        Row("where friction holds: fastest world [um/s]", 0.0, 1e6 * np.abs(ours[holds]).max(), others),
        Row("where it does not: largest error of the speed [m/s]", 0.0, np.abs(ours - right)[~holds].max()),
        Row("speed of the steepest of these [m/s]", right.max(), ours[right.argmax()]),
    ]
    return show(f"{count} worlds in one call (MuJoCo: the first five that hold)", rows)


if __name__ == "__main__":
    main()
