# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # Which mass, which friction?
#
# A box is pushed over the floor by a known force and its position is measured, with noise. Its mass m and
# its friction µ are sought: those whose simulated trajectory is nearest to the measured one. The gradient
# of the distance by both goes backwards through all steps, solved contacts included, and costs little more
# than the simulation.

# %%
import time

import numpy as np
from scipy.optimize import minimize

import carom

TIME_STEP = 0.01  # [s]
GRAVITY = np.array([0.0, 0.0, -9.81])  # [m/s^2]

# %% [markdown]
# The push: 2 s along x and y, strong enough at times to slide the box and weak enough at times to let it
# stick. Where it only slid or only stuck, mass and friction could not be told apart.

# %%
times = TIME_STEP * np.arange(200)
push = np.stack([14 * np.sin(4 * times) ** 2, 9 * np.sin(3 * times), np.zeros_like(times)], axis=1)  # [N]


# %% [markdown]
# One step of time: A is m times one, the free velocity is that of push and weight, the floor is rigid and
# Coulomb's law holds exactly.


# %%
def step(mass, friction, velocity, force):
    problem = carom.ContactProblem(TIME_STEP)
    problem.add_body(mass * np.eye(3), velocity + TIME_STEP * (force / mass + GRAVITY))
    problem.add_contact(0, np.eye(3), friction=friction, rigid=True)
    return carom.solve(problem, law="coulomb", tolerance=1e-12)


def simulate(mass, friction):
    """The solutions of all steps, and the positions (steps, 3) [m] at their ends."""
    velocity, position, solutions, positions = np.zeros(3), np.zeros(3), [], []
    for force in push:
        solutions.append(step(mass, friction, velocity, force))
        velocity = solutions[-1].velocity
        position = position + TIME_STEP * velocity
        positions.append(position)
    return solutions, np.array(positions)


# %% [markdown]
# The distance to the measured positions, and its gradient by mass and friction: the chain rule, from the
# last step to the first. `pull_back` of a step takes the gradient by its velocity to those by its data.
# The mass stands in A and in the free velocity.


# %%
def distance(parameters, measured, noise):
    """sum |x - measured|^2 / (2 noise^2) of (mass, friction), and its gradient."""
    mass, friction = parameters
    solutions, positions = simulate(mass, friction)
    errors = (positions - measured) / noise
    by_mass = by_friction = 0.0
    by_position, by_velocity = np.zeros(3), np.zeros(3)
    for solution, force, error in zip(reversed(solutions), push[::-1], errors[::-1]):
        by_position = by_position + error / noise
        gradients = solution.pull_back(by_velocity + TIME_STEP * by_position)
        by_velocity = gradients.free_velocity
        by_mass += np.trace(gradients.mass[0]) - TIME_STEP / mass**2 * (by_velocity @ force)
        by_friction += gradients.friction[0]
    return 0.5 * (errors**2).sum(), np.array([by_mass, by_friction])


def identify(measured, noise, guess=(1.0, 0.1)):
    """(mass [kg], friction [-]) of the trajectory nearest to the measured one, and how many were tried.

    Both are positive, so their logarithms are sought.
    """

    def of_logarithms(logarithms):
        parameters = np.exp(logarithms)
        value, gradient = distance(parameters, measured, noise)
        return value, gradient * parameters

    enough = {"gtol": 1.0}  # noise alone makes gradients far greater
    found = minimize(of_logarithms, np.log(guess), jac=True, method="L-BFGS-B", options=enough)
    return np.exp(found.x), found.nfev


# %% [markdown]
# A box of 2.3 kg with µ = 0.35, measured to 2 mm. The guess is too light and slides too easily. It should
# slide: a box that never moves tells nothing about its friction, and all gradients are zero there.


# %%
def main():
    noise = 2e-3  # [m]
    _, positions = simulate(2.3, 0.35)
    measured = positions + np.random.default_rng(1).normal(scale=noise, size=positions.shape)
    start = time.perf_counter()
    (mass, friction), tried = identify(measured, noise)
    seconds = time.perf_counter() - start
    print(f"mass {mass:.3f} kg (true: 2.300), friction {friction:.4f} (true: 0.3500)")
    print(f"{tried} simulations of {len(push)} steps with their gradients in {seconds:.2f} s")
    return mass, friction


if __name__ == "__main__":
    main()
