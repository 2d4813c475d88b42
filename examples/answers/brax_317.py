# SPDX-License-Identifier: BSD-3-Clause
"""How does where a ball is after a bounce change with the height from which it starts?

https://github.com/google/brax/issues/317: an elastic ball without gravity starts between 2.9 and 3 m with a constant
speed downwards, bounces once and is looked at after 1 s. Simulated, its last height jumps with the first one, and the
gradients are not physical. The speed is this project's: 5 m/s; so are the steps of 1/100 s.

The ball is at z(T) = v T - z0, so dz(T)/dz0 = -1: who starts higher arrives later. Steps with restitution in them
(`solve`) know no time of impact: they are off by up to the way of a step, jump as the reporter says, and their chain
of gradients gives +1. The derivative through the time of impact (`ImpactStepDerivative`) has neither fault.
"""

import carom
import numpy as np
from rows import Row, show

SPEED, SECONDS = 5.0, 1.0


def through_impacts(start: float, restitution: float, steps: int = 100) -> tuple[float, float]:
    """(z(T) [m], dz(T)/dz(0)) with the time of impact."""
    motion = carom.ImpactStepDerivative([1.0], normals=[[1.0]], restitution=restitution)
    q, v, taken = np.array([start]), np.array([-SPEED]), []
    for _ in range(steps):
        taken.append(motion.step(q, v, SECONDS / steps))
        q, v = taken[-1].q, taken[-1].velocity
    by_q, by_v = np.ones(1), np.zeros(1)
    for step in reversed(taken):
        change = step.pull_back(by_q, by_v)
        by_q, by_v = change.q, change.velocity
    return float(q[0]), float(by_q[0])


def by_steps(start: float, restitution: float, steps: int = 100) -> float:
    """z(T) [m] by steps that bounce where a gap would close."""
    height, velocity, step = start, -SPEED, SECONDS / steps
    for _ in range(steps):
        problem = carom.ContactProblem(step)
        ball = problem.add_body(np.eye(3), [0, 0, velocity], [0, 0, velocity])
        problem.add_contact(ball, np.eye(3), 0.0, height, restitution=restitution)
        velocity = carom.solve(problem).velocity[2]
        height += step * velocity
    return float(height)


def main(
    starts: tuple[float, ...] = (2.9, 2.923, 2.977, 3.0), restitutions: tuple[float, ...] = (1.0, 0.7)
) -> list[Row]:
    rows = []
    for e in restitutions:
        for start in starts:
            where, slope = through_impacts(start, e)
            right = e * (SPEED * SECONDS - start)
            rows += [
                Row(f"e = {e:g}, from {start:g} m: z after 1 s [m]", right, where, {"solve": by_steps(start, e)}),
                Row(f"e = {e:g}, from {start:g} m: dz/dz0", -e, slope),
            ]
    return show("A ball without weight bounces once", rows)


if __name__ == "__main__":
    main()
