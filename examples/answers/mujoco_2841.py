# SPDX-License-Identifier: BSD-3-Clause
"""How does the speed after a collision change with the speed before, and with the damping of the contact?

https://github.com/google-deepmind/mujoco/issues/2841 (MuJoCo 3.3.2, MJX): a sphere hits a box; the gradient of the
speed after by the speed before is NaN, and the aim, to find the damping ratio from the speed after, fails. The masses
of the thread's model were not to be had; here a sphere of 0.3 kg at 2 m/s hits a free box of 0.5 kg.

With restitution e the box leaves at (1 + e) m1 v/(m1 + m2). A contact that is a spring of damping ratio zeta and
pushes only has e = exp(-zeta (pi - 2 asin zeta)/sqrt(1 - zeta^2)), which the last rows compare with a chain of 2000
steps and its gradient backwards.
"""

from collections.abc import Callable

import carom
import numpy as np
from rows import Row, show

BALL, BOX, SPEED, STIFFNESS = 0.3, 0.5, 2.0, 1e5


def frame(direction: np.ndarray) -> np.ndarray:
    """Rows (t1, t2, n) with n along a direction."""
    return carom.ContactProblem.contact_frames(np.atleast_2d(direction))[0]


def rigid(speed: float, restitution: float, direction: np.ndarray) -> tuple[float, float, float]:
    """(speed of the box after, its derivative by the sphere's speed, and by restitution)."""
    problem, rows = carom.ContactProblem(0.001), frame(direction)
    ball = problem.add_body(BALL * np.eye(3), speed * direction, speed * direction)
    box = problem.add_body(BOX * np.eye(3), np.zeros(3), np.zeros(3))
    problem.add_contact(box, rows, 0.3, other=ball, other_jacobian=-rows, restitution=restitution)
    solution = carom.solve(problem, tolerance=1e-14)
    change = solution.pull_back(np.concatenate([np.zeros(3), direction]))
    by_speed = (
        change.free_velocity[:3] + change.velocity[:3]
    ) @ direction  # it enters as the free speed, and as that before the step
    return float(solution.velocity[3:] @ direction), float(by_speed), float(change.restitution[0])


def damped(ratio: float, steps: int = 2000) -> tuple[float, float, float]:
    """(e, de/dzeta, d(after)/d(before)) of a sphere on a spring and a damper, by steps and backwards through them."""
    omega = np.sqrt(STIFFNESS / BALL)
    step, delay = 1.5 * np.pi / omega / steps, 2 * ratio / omega
    gap, velocity, answers = 0.0, -SPEED, []
    for _ in range(steps):
        problem = carom.ContactProblem(step)
        problem.add_contact(
            problem.add_body(BALL * np.eye(3), [0, 0, velocity]), np.eye(3), 0.0, gap, STIFFNESS, delay
        )
        answers.append(carom.solve(problem, tolerance=1e-13))
        velocity = answers[-1].velocity[2]
        gap += step * velocity
    by_velocity, by_gap, by_delay = 1.0, 0.0, 0.0
    for answer in reversed(answers):
        change = answer.pull_back([0, 0, by_velocity + step * by_gap])
        by_gap += change.gap[0]
        by_velocity = change.free_velocity[2]
        by_delay += change.dissipation_time[0]
    return velocity / SPEED, by_delay * 2 / omega / SPEED, -by_velocity


def slope(function: Callable[[complex], complex], at: float) -> float:
    """The derivative of a formula, by a complex step."""
    return float(np.imag(function(at + 1e-30j)) / 1e-30)


def restitution_of(ratio: complex) -> complex:
    """e of a damping ratio below 1."""
    return np.exp(-ratio / np.sqrt(1 - ratio**2) * (np.pi - 2 * np.arcsin(ratio)))


def main(
    restitutions: tuple[float, ...] = (0.0, 0.5, 1.0),
    direction: tuple[float, ...] = (1.0, 0.0, 0.0),
    ratios: tuple[float, ...] = (0.1, 0.4),
) -> list[Row]:
    along = np.array(direction) / np.linalg.norm(direction)
    rows, share = [], BALL / (BALL + BOX)
    for e in restitutions:
        speed, by_speed, by_e = rigid(SPEED, e, along)
        rows += [
            Row(f"e = {e:g}: speed of the box [m/s]", (1 + e) * share * SPEED, speed),
            Row(f"e = {e:g}: by the speed of the sphere", (1 + e) * share, by_speed),
            Row(f"e = {e:g}: by e [m/s]", share * SPEED, by_e),
        ]
    for ratio in ratios:
        e, by_ratio, by_speed = damped(ratio)
        rows += [
            Row(f"zeta = {ratio:g}: speed after/before", float(restitution_of(ratio)), e),
            Row(f"zeta = {ratio:g}: d(after/before)/dzeta", slope(restitution_of, ratio), by_ratio),
            Row(f"zeta = {ratio:g}: d(after)/d(before)", float(restitution_of(ratio)), by_speed),
        ]
    return show("A sphere hits a box (rigid), and a wall (spring and damper)", rows)


if __name__ == "__main__":
    main()
