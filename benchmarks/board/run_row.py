# SPDX-License-Identifier: BSD-3-Clause
"""The child: one scene in one engine with one set of settings, all its cases, written as JSON to a file.

    run_row.py ENGINES SCENE ENGINE SETTINGS ANSWER

ENGINES is the folder of the adapters, SETTINGS a JSON object, ANSWER the file to write."""

import importlib.util
import json
import math
import pathlib
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import derivatives  # noqa: E402
import scene_list  # noqa: E402
from worlds import NotExpressible  # noqa: E402


def load(folder, name):
    """The module of an engine's adapter."""
    path = pathlib.Path(folder) / f"{name}_adapter.py"
    spec = importlib.util.spec_from_file_location(f"board_{name}", path)
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    return module


def sample(simulation, clock, count):
    """What an engine says of its bodies: [time, positions, orientations, velocities, spins], sizes checked."""
    parts = [simulation.positions(), simulation.orientations(), simulation.velocities(), simulation.spins()]
    names, widths = ["positions", "orientations", "velocities", "spins"], [3, 4, 3, 3]
    result = [clock]
    for part, name, width in zip(parts, names, widths):
        rows = [[float(number) for number in row] for row in part]
        if len(rows) != count or any(len(row) != width for row in rows):
            raise ValueError(f"{name}: expected {count} rows of {width}, got {[len(row) for row in rows][:8]}")
        for i, row in enumerate(rows):
            if not all(map(math.isfinite, row)):
                raise ValueError(f"{name}: body {i} is at {row} after {clock:.6g} s")
        result.append(rows)
    return result


def follow(adapter, world, settings):
    """The samples of a world, the time of its steps [s] and their number."""
    simulation = adapter.Simulation(world, settings)
    samples, seconds = samples_of(simulation, world)
    return samples, getattr(simulation, "solve_seconds", seconds), world.step_count


def samples_of(simulation, world):
    """The samples of a simulation at its start, and the processor time of its steps [s]."""
    every = world.sample_every or world.step_count
    samples, seconds = [sample(simulation, 0.0, len(world.bodies))], 0.0
    for done in range(0, world.step_count, every):
        count = min(every, world.step_count - done)
        begin = time.process_time()
        simulation.step(count)
        seconds += time.process_time() - begin
        samples.append(sample(simulation, (done + count) * world.time_step, len(world.bodies)))
    return samples, seconds


def differentiate(scene, case, settings, adapter, own):
    """(derivative, time [s], steps): by the engine's own gradients, or by differences."""
    if own:
        return own(scene, case, settings)
    return derivatives.by_differences(lambda world: follow(adapter, world, settings), scene, case, settings)


def main(arguments):
    engines, scene_name, engine, settings, path = arguments
    scene, settings = scene_list.find(scene_name), json.loads(settings)
    adapter = load(engines, engine)
    own = derivatives.own(engines, engine) if scene.change else None
    answers, seconds, steps = [], 0.0, 0
    try:
        for case in scene.cases:
            special = getattr(adapter, "answer", None)
            told = special(scene, case, settings) if special else None
            if told is None and scene.change:
                told, took, count = differentiate(scene, case, settings, adapter, own)
                seconds, steps = seconds + took, steps + count
            elif told is None:
                samples, took, count = follow(adapter, derivatives.finer(scene.world(case), settings), settings)
                told = scene.answer(case, samples)
                seconds, steps = seconds + took, steps + count
            answers.append(float(told))
        result = {"answers": answers, "seconds": seconds, "steps": steps}
    except NotExpressible as reason:
        result = {"not_expressible": str(reason)}
    except ValueError as fault:
        result = {"answers": [*answers, str(fault)] + [None] * (len(scene.cases) - len(answers) - 1)}
    text = json.dumps(result)  # NaN is written as NaN, and judged by the parent
    pathlib.Path(path).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
