# SPDX-License-Identifier: BSD-3-Clause
"""Is there a gradient backwards through a batch of rollouts with contact?

https://github.com/google-deepmind/mujoco_warp/issues/500 asks for differentiable steps, for planning and optimal
control. The thread has no scene. Here 64 worlds, of this project's choosing, push a block over the ground for 32
steps of 10 ms with forces of their own; every second world pushes too weakly and its block stays. Sought: the
gradient of the way by every force, by mass and by friction.

While the block slides, x = sum h^2 (T - k) (u_k/m - mu g) over the steps k = 0 .. T - 1, so that dx/du_k = h^2 (T -
k)/m and dx/dmu = -g h^2 T (T + 1)/2. A block that stays has gradients of zero. carom goes backwards through the whole
batch at once; it has no second derivatives.
"""

import carom
import numpy as np
from rows import Row, show

STEP, GRAVITY = 0.01, 9.81


def gradients(
    force: np.ndarray, heading: np.ndarray, mass: float, friction: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(x, dx/dforce, dx/dmass, dx/dfriction) of each world, x [m] along its heading. force: (worlds, steps) [N]."""
    worlds, steps = force.shape
    along = np.stack([np.cos(heading), np.sin(heading), np.zeros(worlds)], axis=1)
    pattern = carom.ContactProblem(STEP)
    pattern.add_contact(pattern.add_body(mass * np.eye(3), np.zeros(3)), np.eye(3), friction)
    velocity, way, answers = np.zeros((worlds, 3)), np.zeros(worlds), []
    for k in range(steps):
        free = velocity + STEP * (force[:, k, None] * along / mass - [0, 0, GRAVITY])
        answers.append(carom.solve_batch(carom.Batch.like(pattern, worlds, free_velocity=free), tolerance=1e-13))
        velocity = answers[-1].velocity
        way += STEP * (velocity * along).sum(axis=1)
    by_velocity = np.zeros((worlds, 3))
    by_force, by_mass, by_friction = np.zeros_like(force), np.zeros(worlds), np.zeros(worlds)
    for k in reversed(range(steps)):
        change = answers[k].pull_back(by_velocity + STEP * along)
        by_velocity = change.free_velocity  # d(free velocity)/d(velocity) is one
        by_force[:, k] = STEP / mass * (by_velocity * along).sum(axis=1)
        by_mass += np.trace(change.mass[0], axis1=1, axis2=2) - by_force[:, k] * force[:, k] / mass
        by_friction += change.friction[:, 0]
    return way, by_force, by_mass, by_friction


def main(worlds: int = 64, steps: int = 32, seed: int = 1) -> list[Row]:
    source = np.random.default_rng(seed)
    mass, friction = 1.5, 0.4
    holds = np.arange(worlds) % 2 == 0
    limit = friction * mass * GRAVITY
    force = (
        np.where(holds[:, None], source.uniform(0, 0.95, (worlds, steps)), source.uniform(1.1, 3, (worlds, steps)))
        * limit
    )
    way, by_force, by_mass, by_friction = gradients(force, source.uniform(0, 2 * np.pi, worlds), mass, friction)

    left = np.where(holds[:, None], 0, STEP**2 * (steps - np.arange(steps)))  # h^2 (T - k) of worlds that slide
    right = {
        "way [m]": (left * (force / mass - friction * GRAVITY)).sum(axis=1),
        "dx/dforce [m/N]": left / mass,
        "dx/dmass [m/kg]": -(left * force).sum(axis=1) / mass**2,
        "dx/dfriction [m]": -GRAVITY * left.sum(axis=1),
    }
    rows = []
    for (name, exact), found in zip(right.items(), (way, by_force, by_mass, by_friction)):
        worst = np.unravel_index(np.argmax(np.abs(found - exact)), exact.shape)
        rows.append(Row(f"{name}: largest", exact.flat[np.abs(exact).argmax()], found.flat[np.abs(exact).argmax()]))
        rows.append(Row(f"{name}: where the error is largest", exact[worst], found[worst]))
    return show(f"{worlds} rollouts of {steps} steps, backwards", rows)


if __name__ == "__main__":
    main()
