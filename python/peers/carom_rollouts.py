# SPDX-License-Identifier: BSD-3-Clause
"""carom on the scenes that engines are asked for, its own gradients chained over steps of 2 ms.

Impacts are those of carom.impact. Prints one JSON object, with the worst errors of all 24 scenes of
the truth table. Runs with a Python that has carom, such as that of scripts/python.sh.
"""

import json
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests"))

import carom  # noqa: E402
import truth_table  # noqa: E402
from peer_scenes import GRAVITY, SCENES  # noqa: E402
from truth_steps import rigid  # noqa: E402
from truth_table import Scene, Step, velocity  # noqa: E402

STEP = 2e-3


def sliding_model(d):
    """One step of a block on a slope that falls along x, pushed or not."""
    push = getattr(d, "force", 0.0) / d.m
    along = d.v + STEP * (GRAVITY * np.sin(d.angle) + push)
    bodies = [(d.m * np.eye(3), [along, 0, -STEP * GRAVITY * np.cos(d.angle)])]
    return Step(STEP, bodies, [rigid(np.eye(3), d.mu)], outcomes=[velocity(0)])


def slide(scene):
    """The speed after the time of the scene, and its gradients, step by step."""
    data = {"v": 0.0, "angle": 0.0} | scene["data"]
    sums = dict.fromkeys(data, 0.0) | {"v": 1.0}
    for _ in range(round(scene["time"] / STEP)):
        (data["v"],), (by,) = truth_table.solve_step(
            Scene("", dict(data), None, None, sliding_model)
        )
        sums = {
            name: by["v"] * slope + (0.0 if name == "v" else by[name])
            for name, slope in sums.items()
        }
    return data["v"], sums


def of_the_table(name, data):
    """A scene of the truth table with the data that engines have."""
    found = next(scene for scene in truth_table.all_scenes() if scene.name == name)
    known = {key: value for key, value in data.items() if key in found.data}
    found.data = found.data | known
    if name.startswith("restitution"):
        found.data |= {"angle": 0.0, "vy": 0.0}
    if name.startswith("billiard"):
        half = np.pi / 2
        found.data |= {"a1": -half + data["a1"], "a2": np.pi + data["a2"], "a3": half, "a4": 0.0}
    if name.startswith("gap"):
        found.data |= {"mu": 0.0, "vx": 0.0}
    values, gradients = truth_table.solve_with_carom(found)
    chosen = 0 if name.startswith(("restitution", "billiard")) else 1
    return values[chosen], gradients[chosen]


def worst_errors():
    """The worst errors of outcomes and gradients of every scene, by their natural sizes."""
    result = {}
    for scene in truth_table.all_scenes():
        values, gradients = truth_table.exact(scene)
        found_values, found = truth_table.solve_with_carom(scene)
        size = max(abs(value) for value in values)
        outcome = max(abs(a - b) for a, b in zip(values, found_values)) / size
        worst = max(
            abs(found[k][name] - exact) / truth_table.natural_size(scene, values, name, exact)
            for k, by in enumerate(gradients)
            for name, exact in by.items()
        )
        numbers = len(values) * len(scene.data)
        result[scene.name] = {
            "about": scene.about,
            "outcome": outcome,
            "gradient": worst,
            "numbers": numbers,
        }
    return result


def main():
    result = {}
    for name, scene in SCENES.items():
        outcome, by = slide(scene) if "mu" in scene["data"] else of_the_table(name, scene["data"])
        gradients = {datum: float(by[datum]) for datum in scene["gradients"]}
        result[name] = {"outcome": float(outcome), "gradients": gradients}
    print(json.dumps({"version": carom.__version__, "scenes": result, "table": worst_errors()}))


if __name__ == "__main__":
    main()
