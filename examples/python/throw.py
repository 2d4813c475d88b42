# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # Which forces shove a puck to a target?
#
# A finger on a rail, which brakes it, pushes a puck over a table and lets it go; the puck slides on and
# comes to rest. The forces of the finger are sought that bring it to a target with little effort. The
# finger acts on the puck through a contact only, which opens when the finger slows down, and the puck
# stops by friction: torch differentiates through all of it.

# %%
import numpy as np
import torch

import carom
import carom.torch

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

pattern = carom.ContactProblem(TIME_STEP)
pattern.add_body(PUCK * np.eye(3), np.zeros(3))
pattern.add_body([[FINGER]], [0.0])
pattern.add_contact(0, np.eye(3), friction=FRICTION, rigid=True)
pattern.add_contact(0, PUCK_ROWS, friction=0.0, rigid=True, other=1, other_jacobian=FINGER_ROWS)
pattern.add_constraint(1, [1.0], RAIL)


def step(free_velocity, gap):
    """The velocity after a step, by the free velocity and the gap between finger and puck."""
    gaps = torch.stack([torch.zeros_like(gap), gap])
    return carom.torch.solve(pattern, law="coulomb", free_velocity=free_velocity, gap=gaps).velocity


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
        velocity = step(velocity + weight + along * force, puck - finger)
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
