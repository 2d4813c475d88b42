# SPDX-License-Identifier: BSD-3-Clause
"""How does one simulate a legged robot with contacts that only push, given M and J?

https://github.com/stack-of-tasks/pinocchio/issues/1556: an example of unilateral contact is missing, for experiments
as in MuJoCo's locomotion tasks. The thread has no model. Here a planar hopper of this project's choosing: a body of 3
kg on a leg of two links of 0.5 kg and 30 cm with motors at hip and knee, which crouches, jumps, flies and lands on a
point foot with friction.

carom takes what Pinocchio computes: the mass matrix M(q), the velocity without contact v + h M^-1 (tau - c), and the
foot's Jacobian. Here these are formulas of the script. The right column steps the same hopper without carom: it tries
every mode of the foot, open, sticking, sliding either way, and takes the one whose impulse and velocity obey
Coulomb's law.
"""

from collections.abc import Callable

import carom
import numpy as np
from rows import Row, show

BODY, LINK, LENGTH, GRAVITY, FRICTION, STEP = 3.0, 0.5, 0.3, 9.81, 0.6, 0.002
# coordinates q = (x, z of the hip, angle of the thigh, of the shank), both from straight down


def link_jacobians(q: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """(d(centre)/dq (2, 4), its derivative in time per squared angular speed (2, 4)) of thigh, shank and foot."""
    result = []
    for lengths in ((0.5, 0), (1, 0.5), (1, 1)):
        rows, bends = np.zeros((2, 4)), np.zeros((2, 4))
        rows[:, :2] = np.eye(2)
        for k, share in enumerate(lengths):
            angle = q[2 + k]
            rows[:, 2 + k] = share * LENGTH * np.array([np.cos(angle), np.sin(angle)])
            bends[:, 2 + k] = share * LENGTH * np.array([-np.sin(angle), np.cos(angle)])
        result.append((rows, bends))
    return result


def dynamics(q: np.ndarray, v: np.ndarray, torque: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """(M (4, 4), velocity after a step without contact, J of the foot (2, 4), its height [m])."""
    thigh, shank, foot = link_jacobians(q)
    mass = np.diag([BODY, BODY, LINK * LENGTH**2 / 12, LINK * LENGTH**2 / 12])
    force = np.array([0, -BODY * GRAVITY, torque[0] - torque[1], torque[1]])
    for rows, bends in (thigh, shank):
        mass += LINK * rows.T @ rows
        force -= LINK * rows.T @ (bends @ v**2 + [0, GRAVITY])
    height = q[1] - LENGTH * (np.cos(q[2]) + np.cos(q[3]))
    return mass, v + STEP * np.linalg.solve(mass, force), foot[0], height


def torque(q: np.ndarray, v: np.ndarray, time: float) -> np.ndarray:
    """Motors at hip and knee [N m]: hold a crouch until 0.1 s, then stretch, and bend again in flight."""
    bend = 0.7 if time < 0.1 else (0.15 if time < 0.22 else 0.6)
    error = np.array([bend, -2 * bend]) - [q[2], q[3] - q[2]]
    return np.clip(120 * error - 4 * np.array([v[2], v[3] - v[2]]), -40, 40)


def by_carom(
    solver: carom.Solver, mass: np.ndarray, free: np.ndarray, jacobian: np.ndarray, height: float
) -> np.ndarray:
    """Velocity (4,) after a step with the foot's contact."""
    problem = carom.ContactProblem(STEP)
    robot = problem.add_body(mass, free)
    rows = np.vstack([jacobian[0], np.zeros(4), jacobian[1]])  # no motion across the plane
    problem.add_contact(robot, rows, FRICTION, height)
    return solver.solve(problem).velocity


def by_modes(_: object, mass: np.ndarray, free: np.ndarray, jacobian: np.ndarray, height: float) -> np.ndarray:
    """Velocity of the one mode that obeys Coulomb's law; a gap may close, and no more."""
    inverse, least = np.linalg.inv(mass), -max(height, 0) / STEP
    if jacobian[1] @ free >= least:
        return free
    stick = np.linalg.solve(jacobian @ inverse @ jacobian.T, [0, least] - jacobian @ free)
    if abs(stick[0]) <= FRICTION * stick[1]:
        return free + inverse @ jacobian.T @ stick
    for way in (-1, 1):  # slides along -way, friction pushes along way
        push = inverse @ (jacobian[1] + way * FRICTION * jacobian[0])
        impulse = (least - jacobian[1] @ free) / (jacobian[1] @ push)
        if impulse >= 0 and way * (jacobian[0] @ (free + push * impulse)) <= 0:
            return free + push * impulse
    raise RuntimeError("no mode obeys Coulomb's law")


def hop(contact: Callable[..., np.ndarray], lean: float, seconds: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """(q (steps, 4), height of the foot (steps,) [m]) over time; lean [m/s]: of the hip at the start, along x."""
    q, v = np.array([0, 2 * LENGTH * np.cos(0.7), 0.7, -0.7]), np.array([lean, 0, 0, 0])
    solver, path, feet = carom.Solver(tolerance=1e-12), [], []
    for k in range(round(seconds / STEP)):
        mass, free, jacobian, height = dynamics(q, v, torque(q, v, k * STEP))
        v = contact(solver, mass, free, jacobian, height)
        q = q + STEP * v
        path.append(q)
        feet.append(q[1] - LENGTH * (np.cos(q[2]) + np.cos(q[3])))
    return np.array(path), np.array(feet)


def main(leans: tuple[float, ...] = (0.0, 0.4, 3.0)) -> list[Row]:
    rows = []
    for lean in leans:
        (path, feet), (exact, exact_feet) = hop(by_carom, lean), hop(by_modes, lean)
        worst = np.unravel_index(np.abs(path - exact).argmax(), path.shape)
        rows += [
            Row(f"start at {lean:g} m/s: highest hip [m]", exact[:, 1].max(), path[:, 1].max()),
            Row(f"start at {lean:g} m/s: highest foot [m]", exact_feet.max(), feet.max()),
            Row(f"start at {lean:g} m/s: where the paths differ most [m, rad]", exact[worst], path[worst]),
            Row(f"start at {lean:g} m/s: how far the foot sinks in [m]", 0.0, max(0.0, -feet.min())),
        ]
    return show("A planar hopper, 1 s", rows)


if __name__ == "__main__":
    main()
