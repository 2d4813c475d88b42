# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # Which forces shove a puck to a target?
#
# A finger on a rail, which brakes it, pushes a puck over a table and lets it go; the puck slides on and
# comes to rest. The forces of the finger are sought that bring it to a target with little effort. The finger acts on the puck
# through a contact only, which opens when the finger slows down, and the puck stops by friction: torch
# differentiates through all of it.

# %%
import numpy as np
import torch

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
ON_TABLE = np.eye(3)
PUCK_ROWS = np.array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]])  # y and z are tangents, x is the normal
FINGER_ROWS = np.array([[0.0], [0], [-1]])


class Step(torch.autograd.Function):
    """The velocity after a step, by the free velocity and the gap between finger and puck."""

    @staticmethod
    def forward(context, free_velocity, gap):
        free = free_velocity.detach().tolist()
        problem = carom.ContactProblem(TIME_STEP)
        problem.add_body(PUCK * np.eye(3), free[:3])
        problem.add_body([[FINGER]], free[3:])
        problem.add_contact(0, ON_TABLE, friction=FRICTION, rigid=True)
        problem.add_contact(0, PUCK_ROWS, friction=0.0, gap=float(gap), rigid=True, other=1, other_jacobian=FINGER_ROWS)
        problem.add_constraint(1, [1.0], RAIL)
        context.solution = carom.solve(problem, law="coulomb", tolerance=1e-12)
        return torch.tensor(context.solution.velocity.tolist(), dtype=torch.float64)

    @staticmethod
    def backward(context, by_velocity):
        gradients = context.solution.pull_back(by_velocity.tolist())
        by_free_velocity = torch.tensor(gradients.free_velocity.tolist(), dtype=torch.float64)
        return by_free_velocity, torch.tensor(gradients.gap[1], dtype=torch.float64)


# %% [markdown]
# The whole motion for the forces of the finger [N]: where the puck is, and where the finger is.


# %%
def simulate(forces):
    """(steps, 2): positions of puck and finger [m]."""
    weight = torch.tensor([0.0, 0.0, -9.81 * TIME_STEP, 0.0], dtype=torch.float64)
    along = torch.tensor([0.0, 0.0, 0.0, TIME_STEP / FINGER], dtype=torch.float64)
    velocity = torch.zeros(4, dtype=torch.float64)
    puck, finger = torch.tensor(GAP, dtype=torch.float64), torch.tensor(0.0, dtype=torch.float64)
    positions = []
    for k in range(STEPS):
        force = forces[k] if k < len(forces) else 0.0
        velocity = Step.apply(velocity + weight + along * force, puck - finger)
        puck = puck + TIME_STEP * velocity[0]
        finger = finger + TIME_STEP * velocity[3]
        positions.append(torch.stack([puck, finger]))
    return torch.stack(positions)


def cost(forces):
    """How far the puck ends from the target, and some of the effort."""
    return 100 * (simulate(forces)[-1, 0] - TARGET) ** 2 + 1e-4 * (forces**2).sum()


# %% [markdown]
# A guess that reaches the puck: while the finger does not touch it, no force has any influence.


# %%
def optimise(iterations=30):
    """The forces of the finger [N], and the cost of each iterate."""
    forces = torch.full((PUSHES,), 6.0, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([forces], max_iter=iterations, line_search_fn="strong_wolfe")
    costs = []

    def closure():
        optimiser.zero_grad()
        value = cost(forces)
        value.backward()
        costs.append(float(value))
        return value

    optimiser.step(closure)
    return forces.detach(), costs


def main():
    forces, costs = optimise()
    end = simulate(forces)[-1]
    print(f"cost {costs[0]:.4g} -> {min(costs):.4g} in {len(costs)} motions of {STEPS} steps")
    print(f"the puck rests at {float(end[0]):.4f} m (target: {TARGET} m)")
    return float(end[0])


if __name__ == "__main__":
    main()
