# SPDX-License-Identifier: BSD-3-Clause
"""With which push does a capsule send a sphere to a target, found by gradients through the collision?

https://github.com/google-deepmind/mujoco/issues/2237 (MuJoCo 3.2.5, MJX): a capsule gets a push along x in the first
step, hits a sphere, and the sphere should come to rest at the origin; the gradient of the cost by the push is NaN.
The model's numbers were not to be had; here a capsule of 1 kg, 0.5 m away, hits a sphere of 0.4 kg that should be at
the origin after 1 s, without friction.

With restitution e of the energy the sphere leaves with c times the capsule's speed J/m1, c = m1 (1 + e)/(m1 + m2), so
that it is at x0 + c (T J/m1 - d): its derivative by the push J is c T/m1, since a faster capsule also arrives
earlier.
"""

import carom
import numpy as np
from rows import Row, show

CAPSULE, SPHERE, DISTANCE, START, SECONDS, STEPS = 1.0, 0.4, 0.5, -1.0, 1.0, 50


def sphere_after(push: float, restitution: float) -> tuple[float, float]:
    """(where the sphere is after a second [m], its derivative by the push [m/(N s)])."""
    motion = carom.ImpactStepDerivative([CAPSULE, SPHERE], normals=[[-1.0, 1.0]], restitution=restitution)
    q, v, steps = np.array([START - DISTANCE, START]), np.array([push / CAPSULE, 0.0]), []
    for _ in range(STEPS):
        steps.append(motion.step(q, v, SECONDS / STEPS))
        q, v = steps[-1].q, steps[-1].velocity
    by_q, by_v = np.array([0.0, 1.0]), np.zeros(2)
    for step in reversed(steps):
        change = step.pull_back(by_q, by_v)
        by_q, by_v = change.q, change.velocity
    return float(q[1]), float(by_v[0] / CAPSULE)


def find_push(restitution: float, guess: float) -> tuple[float, int]:
    """(the push that brings the sphere to the origin [N s], how many rollouts that took), by Newton's method."""
    push = guess
    for rollouts in range(1, 20):
        miss, slope = sphere_after(push, restitution)
        if abs(miss) < 1e-10:
            break
        push -= miss / slope
    return push, rollouts


def main(restitutions: tuple[float, ...] = (0.0, 0.6, 1.0), guess: float = 0.8) -> list[Row]:
    rows = []
    for e in restitutions:
        gain = CAPSULE * (1 + e) / (CAPSULE + SPHERE)
        where, slope = sphere_after(guess, e)
        push, rollouts = find_push(e, guess)
        rows += [
            Row(
                f"e = {e:g}: sphere after {guess:g} N s [m]",
                START + gain * (SECONDS * guess / CAPSULE - DISTANCE),
                where,
            ),
            Row(f"e = {e:g}: its gradient [m/(N s)]", gain * SECONDS / CAPSULE, slope),
            Row(
                f"e = {e:g}: push to the origin, {rollouts} rollouts [N s]",
                CAPSULE * (DISTANCE - START / gain) / SECONDS,
                push,
            ),
        ]
    return show("A capsule sends a sphere to the origin", rows)


if __name__ == "__main__":
    main()
