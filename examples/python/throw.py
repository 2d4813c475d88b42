# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # Which forces shove a puck to a target?
#
# A finger on a rail, which brakes it, pushes a puck over a table and lets it go; the puck slides on and
# comes to rest. The forces of the finger are sought that bring it to a target with little effort. The
# finger acts on the puck through a contact only, which opens when the finger slows down, and the puck
# stops by friction: the gradient goes backwards through all of it. `throw_torch.py` leaves the chain rule
# to torch.

# %%
import numpy as np
from scipy.optimize import minimize

import carom

TIME_STEP = 0.02  # [s]
STEPS, PUSHES = 60, 20  # the finger is driven in the first 20 steps
PUCK, FINGER = 0.3, 0.5  # [kg]
FRICTION, GAP = 0.3, 0.02  # of puck and table; between finger and puck at the start [m]
RAIL = carom.DryFriction(3.0)  # brakes the finger by up to 3 N
TARGET = 0.6  # [m], of the puck

# %% [markdown]
# The step: velocities are the puck's (x, y, z) and the finger's x. The table carries the puck; the finger
# touches it with the normal along x. The rows of a contact are (t1, t2, n), and the normal velocity is
# that of the gap.

# %%
PUCK_ROWS = [[0.0, 1, 0], [0, 0, 1], [1, 0, 0]]  # y and z are tangents, x is the normal
FINGER_ROWS = [[0.0], [0], [-1]]
WEIGHT = np.array([0, 0, -9.81 * TIME_STEP, 0])  # what a step adds to the velocities
PUSH = np.array([0, 0, 0, TIME_STEP / FINGER])  # and what it adds for a force of 1 N


def make_step(free_velocity, gap):
    """The problem of a step, by the velocities without contact and the gap between finger and puck [m]."""
    problem = carom.ContactProblem(TIME_STEP)
    problem.add_body(PUCK * np.eye(3), free_velocity[:3])
    problem.add_body([[FINGER]], free_velocity[3:])
    problem.add_contact(0, np.eye(3), friction=FRICTION, rigid=True)
    problem.add_contact(0, PUCK_ROWS, friction=0.0, gap=gap, rigid=True, other=1, other_jacobian=FINGER_ROWS)
    problem.add_constraint(1, [1.0], RAIL)
    return problem


# %% [markdown]
# The whole motion for the forces of the finger [N]: the solution of each step, and where puck and finger end.


# %%
def simulate(forces):
    """The solutions of all steps, and the positions of puck and finger [m] at the end."""
    velocity, puck, finger, solutions = np.zeros(4), GAP, 0.0, []
    for k in range(STEPS):
        force = forces[k] if k < len(forces) else 0.0
        problem = make_step(velocity + WEIGHT + PUSH * force, puck - finger)
        solutions.append(carom.solve(problem, law="coulomb", tolerance=1e-12))
        velocity = solutions[-1].velocity
        puck += TIME_STEP * velocity[0]
        finger += TIME_STEP * velocity[3]
    return solutions, puck, finger


# %% [markdown]
# The cost is how far the puck ends from the target, and some of the effort. Its gradient is the chain rule from the
# last step to the first: `pull_back` of a step takes the gradient by its velocities to those by the velocities
# before it, and by the gap, which is the difference of the two positions.


# %%
def cost(forces):
    """The cost of some forces, and its gradient by them."""
    solutions, puck, _ = simulate(forces)
    by_forces, by_velocity = np.zeros(len(forces)), np.zeros(4)
    by_puck, by_finger = 200 * (puck - TARGET), 0.0
    for k in reversed(range(STEPS)):
        gradients = solutions[k].pull_back(by_velocity + TIME_STEP * np.array([by_puck, 0, 0, by_finger]))
        by_velocity = gradients.free_velocity
        by_puck, by_finger = by_puck + gradients.gap[1], by_finger - gradients.gap[1]
        if k < len(forces):
            by_forces[k] = by_velocity @ PUSH
    return 100 * (puck - TARGET) ** 2 + 1e-4 * forces @ forces, by_forces + 2e-4 * forces


# %% [markdown]
# A guess that reaches the puck: while the finger does not touch it, no force has any influence.


# %%
def main():
    costs = []

    def told(forces):
        value, gradient = cost(forces)
        costs.append(value)
        return value, gradient

    found = minimize(told, np.full(PUSHES, 6.0), jac=True, method="L-BFGS-B", options={"maxiter": 30})
    _, puck, _ = simulate(found.x)
    print(f"cost {costs[0]:.4g} -> {min(costs):.4g} in {len(costs)} motions of {STEPS} steps")
    print(f"the puck rests at {puck:.4f} m (target: {TARGET} m)")
    return puck


if __name__ == "__main__":
    main()
