# SPDX-License-Identifier: BSD-3-Clause
"""Can friction differ by direction, follow the body, and slip a little under load?

https://github.com/gazebosim/gz-physics/issues/15 asks for friction pyramid parameters: mu1 and mu2 along a direction
fixed to the body, and slip1, slip2, by which a contact creeps under load, for skid-steered robots. The thread has no
scene. Here a block of 2 kg with mu1 = 0.3 along its own axis and mu2 = 0.8 across, turned by 25 degrees.

On an elliptic cone the block moves from the pull N/sqrt((cos a/mu1)^2 + (sin a/mu2)^2) on, at a to its axis; it then
slides where friction takes the most power, which here is found by bisection. With a slip of s it creeps at s times
the pull, below that limit.
"""

import carom
import numpy as np
from rows import Row, show

MASS, FIRST, SECOND, STEP, GRAVITY = 2.0, 0.3, 0.8, 0.01, 9.81
NORMAL = MASS * GRAVITY


def axes(yaw: float) -> np.ndarray:
    """Rows (t1, t2, n): t1 along the block's own axis."""
    return np.array([[np.cos(yaw), np.sin(yaw), 0], [-np.sin(yaw), np.cos(yaw), 0], [0, 0, 1.0]])


def step(pull: np.ndarray, yaw: float) -> np.ndarray:
    """Velocity (3,) [m/s] after a step from rest under a pull (2,) [N]."""
    problem = carom.ContactProblem(STEP)
    block = problem.add_body(MASS * np.eye(3), STEP * np.array([*pull / MASS, -GRAVITY]))
    problem.add_constraint(block, axes(yaw), carom.WrenchContact(FIRST, shape="elliptic", second_friction=SECOND))
    return carom.solve(problem, tolerance=1e-13).velocity


def limit(angle: float) -> float:
    """The pull from which on it slides [N], at an angle to its axis [rad]."""
    return NORMAL / np.hypot(np.cos(angle) / FIRST, np.sin(angle) / SECOND)


def least_pull(angle: float, yaw: float) -> float:
    """The pull from which on carom's block moves [N], by bisection."""
    along, low, high = np.array([np.cos(yaw + angle), np.sin(yaw + angle)]), 0.0, 2 * NORMAL
    for _ in range(40):
        pull = (low + high) / 2
        low, high = (low, pull) if np.linalg.norm(step(pull * along, yaw)) > 1e-9 else (pull, high)
    return high


def slide(pull: np.ndarray, yaw: float) -> np.ndarray:
    """Velocity u (2,) after a step from rest, by bisection of s = |(mu_1 u_1, mu_2 u_2)|.

    It slides by m u_i = h (F_i - N mu_i^2 u_i/s) along its axes.
    """
    frame, squares = axes(yaw)[:2, :2], np.array([FIRST, SECOND]) ** 2
    force = frame @ pull

    def at(s):
        return STEP * force / (MASS + STEP * NORMAL * squares / s)

    low, high = 1e-12, 1e3
    for _ in range(200):
        s = np.sqrt(low * high)
        low, high = (s, high) if np.sqrt(squares @ at(s) ** 2) > s else (low, s)
    return frame.T @ at(s)


def creep(pull: np.ndarray, slip: float, yaw: float) -> np.ndarray:
    """Velocity (3,) of a block whose contact slips by `slip` [m/s/N], once it is steady."""
    velocity = np.zeros(3)
    for _ in range(200):
        problem = carom.ContactProblem(STEP)
        block = problem.add_body(MASS * np.eye(3), velocity + STEP * np.array([*pull / MASS, -GRAVITY]))
        softness = [slip / STEP, slip / STEP, 1e-9]
        problem.add_contact(block, axes(yaw), SECOND, regularization=softness, bias=np.zeros(3))
        velocity = carom.solve(problem, tolerance=1e-13).velocity
    return velocity


def main(angles: tuple[float, ...] = (0.0, 30.0, 60.0, 90.0), yaw: float = 25.0, slip: float = 0.004) -> list[Row]:
    turned, rows = np.radians(yaw), []
    for degrees in angles:
        angle = np.radians(degrees)
        pull = limit(angle) * np.array([np.cos(turned + angle), np.sin(turned + angle)])
        right, found = slide(2 * pull, turned), step(2 * pull, turned)
        ways = [np.degrees(np.arctan2(u[1], u[0])) for u in (right, found)]
        at = f"{degrees:g} deg to the axis"
        rows += [
            Row(f"{at}: least pull that moves it [N]", limit(angle), least_pull(angle, turned)),
            Row(f"{at}, twice the limit: speed [m/s]", np.linalg.norm(right), np.linalg.norm(found)),
            Row(f"{at}, twice the limit: where it goes [deg]", *ways),
        ]
    pull = 0.5 * SECOND * NORMAL * np.array([np.cos(0.3), np.sin(0.3)])
    found = np.linalg.norm(creep(pull, slip, turned))
    rows.append(Row("slip: speed of creep [m/s]", slip * np.linalg.norm(pull), found))
    return show(f"A block with mu1 = {FIRST} along its axis, mu2 = {SECOND} across", rows)


if __name__ == "__main__":
    main()
