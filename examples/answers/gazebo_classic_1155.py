# SPDX-License-Identifier: BSD-3-Clause
"""How does a user see that the solver of a step did not converge, and where?

https://github.com/gazebosim/gazebo-classic/issues/1155 asks to show convergence, so that users learn whether a model
or the solver is at fault. The thread has no scene. Here six cubes of 1 kg carry one of ten tonnes on top: a step in
which an answer after few systems is far off.

Every answer of carom has a status, a residual and the worst contact, and certify() judges impulses from anywhere. The
right column computes the largest violation of contact, |min(w gamma_n, u_n)| with the contact's inverse mass w, from
masses, points and impulses alone; beside it stand the residual and the worst contact as carom shows them.
"""

import carom
import numpy as np
from boxes import World
from rows import Row, show

STEP, FRICTION, SIZE = 0.005, 0.5, 0.2


def tower(cubes: int, top: float) -> tuple[World, list[dict]]:
    """A tower of cubes of 1 kg under one of mass `top` [kg], and its contacts."""
    world = World(STEP)
    for k in range(cubes + 1):
        world.add_box(top if k == cubes else 1.0, (SIZE, SIZE, SIZE), (0, 0, SIZE * (k + 0.5)))
    return world, [world.on_ground(0), *(world.on_box(k, k - 1) for k in range(1, cubes + 1))]


def violation(world: World, touches: list[dict], impulse: np.ndarray) -> float:
    """The largest |min(w gamma_n, u_n)| [m/s] of impulses (contacts, 3) [N s], without carom's matrices."""
    velocity = world.velocity + np.concatenate([STEP * world.gravity, np.zeros(3)])
    inverse = [np.linalg.inv(r * inertia @ r.T) for inertia, r in zip(world.inertia, world.rotation)]
    points = [(touch, i) for touch in touches for i in range(len(touch["gap"]))]
    found = []
    for apply in (True, False):  # first all impulses, then the velocities that they lead to
        for (touch, i), gamma in zip(points, impulse):
            frame = carom.ContactProblem.contact_frames(touch["normal"][i][None])[0]
            speed = weight = 0.0
            for body, sign in ((touch["body"][i], 1.0), (touch["other"][i], -1.0)):
                if body < 0:
                    continue
                arm, force = touch["point"][i] - world.position[body], sign * frame.T @ gamma
                if apply:
                    velocity[body] += np.concatenate([force / world.mass[body], inverse[body] @ np.cross(arm, force)])
                turned = np.cross(arm, frame[2])
                speed += sign * frame[2] @ (velocity[body, :3] + np.cross(velocity[body, 3:], arm))
                weight += 1 / world.mass[body] + turned @ inverse[body] @ turned
            if not apply:
                found.append(abs(min(weight * gamma[2], speed)))
    return float(max(found))


def shown(of: carom.Solution | carom.Certificate) -> dict[str, float]:
    """What carom says of an answer: the residual, and the worst contact where there is one."""
    return {"residual": of.residual} | ({} if of.worst_contact is None else {"worst contact": of.worst_contact})


def main(cubes: int = 6, top: float = 1e4, limits: tuple[int, ...] = (1, 4, 8, 100)) -> list[Row]:
    world, touches = tower(cubes, top)
    problem, rows = world.pose(touches, friction=FRICTION), []

    def judge(what: str, impulse: np.ndarray, answer: carom.Solution | None = None) -> None:
        judged = carom.certify(problem, impulse=impulse)
        right = violation(world, touches, impulse)
        rows.append(Row(f"{what}: violation [m/s]", right, judged.signorini, shown(answer or judged)))

    for limit in limits:
        answer = carom.solve(problem, iteration_limit=limit)
        judge(f"at most {limit:3} systems, {answer.status}", answer.impulse, answer)
    spoilt = answer.impulse.copy()
    spoilt[5] = 0
    judge("impulses from elsewhere, contact 5 missing", spoilt)
    squeezed = carom.ContactProblem(STEP)  # two walls that drive into a block: no motion obeys contact
    block = squeezed.add_body(np.eye(3), [0, 0, 0])
    for side in (1, -1):
        squeezed.add_contact(block, side * np.eye(3), FRICTION, surface_velocity=[0, 0, 1])
    answer = carom.solve(squeezed)
    said = float(answer.status == "infeasible")
    rows.append(Row("a block between walls that close: is it said to be infeasible", 1, said, shown(answer)))
    return show(f"{cubes} cubes of 1 kg under one of {top:g} kg", rows)


if __name__ == "__main__":
    main()
