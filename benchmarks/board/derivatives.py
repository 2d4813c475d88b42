# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of what a scene asks for by one of its data: by an engine's own gradients where it has them, else by central
differences of whole runs. Both are shares: by how many percent the answer changes where the datum changes by one."""

import copy
import importlib.util
import pathlib


def own_path(folder, engine):
    """The module with an engine's own gradients, beside its adapter."""
    return pathlib.Path(folder) / f"{engine}_gradients.py"


def own(folder, engine):
    """That module's `derivative`, or None where there is none."""
    path = own_path(folder, engine)
    if not path.exists():
        return None
    spec = importlib.util.spec_from_file_location(f"board_{engine}_gradients", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.derivative


def finer(world, settings):
    """The world with the board's own setting applied: `finer` steps in the place of one."""
    world, by = copy.copy(world), settings.get("finer", 1)
    world.time_step, world.step_count, world.sample_every = world.time_step / by, by * world.step_count, by * world.sample_every
    return world


def by_differences(follow, scene, case, settings):
    """(derivative, seconds, steps) from two runs with the datum `scene.change` of itself larger and smaller."""
    ends, seconds, steps = [], 0.0, 0
    for share in (scene.change, -scene.change):
        samples, took, count = follow(finer(scene.world(case, share), settings))
        ends.append(scene.answer(case, samples))
        seconds, steps = seconds + took, steps + count
    return (ends[0] - ends[1]) / (2 * scene.change), seconds, steps
