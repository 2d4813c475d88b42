# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # The puck, with torch
#
# The forces that shove a puck to a target are sought as in `throw.py`, which has the scene. Here torch
# differentiates through all steps, so that nobody writes the chain rule down.

# %%
import numpy as np
import torch

import carom.torch
from throw import GAP, PUSH, PUSHES, STEPS, TARGET, TIME_STEP, WEIGHT, make_step

# %% [markdown]
# A step is a function of tensors: the free velocity, and the gap between finger and puck. The contact of puck and
# table stays closed.

# %%
pattern = make_step(np.zeros(4), GAP)


def step(free_velocity, gap):
    """The velocity after a step, by the free velocity and the gap between finger and puck."""
    gaps = torch.stack([torch.zeros_like(gap), gap])
    return carom.torch.solve(pattern, law="coulomb", free_velocity=free_velocity, gap=gaps).velocity


# %% [markdown]
# The whole motion for the forces of the finger [N]: where the puck is, and where the finger is.


# %%
def simulate(forces):
    """(steps, 2): positions of puck and finger [m]."""
    weight, push = torch.tensor(WEIGHT, dtype=torch.float64), torch.tensor(PUSH, dtype=torch.float64)
    velocity = torch.zeros(4, dtype=torch.float64)
    puck, finger = torch.tensor(GAP, dtype=torch.float64), torch.tensor(0.0, dtype=torch.float64)
    positions = []
    for k in range(STEPS):
        force = forces[k] if k < len(forces) else 0.0
        velocity = step(velocity + weight + push * force, puck - finger)
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
