# SPDX-License-Identifier: BSD-3-Clause
"""One row of the curves in an engine that has a Python package, through its adapter of the board.

    curve_child.py ENGINES SCENE ENGINE SETTINGS ANSWER

Writes samples and times as JSON, as carom_bullet_curve does. SETTINGS is a JSON object."""

import json
import pathlib
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import curve_scenes  # noqa: E402
import run_row  # noqa: E402

#: What does not buy accuracy by time: the friction cone of MuJoCo; of PhysX no damping, no sleep and no offset.
FIXED = {"mujoco": {"cone": "elliptic"},
         "sapien": {"threshold": 0.01, "offset": 0.001, "damping": 0.0, "velocity_iterations": 1}}


def mujoco_solver(simulation, settings):
    """Sets MuJoCo's solver; returns a function that reads the time of its solves until now [s]: making constraints,
    projecting them and solving."""
    import mujoco
    option = simulation.model.opt
    option.solver = getattr(mujoco.mjtSolver, f"mjSOL_{settings['solver'].upper()}")
    option.iterations, option.tolerance = settings["iterations"], settings.get("tolerance", 0.0)
    mujoco.set_mjcb_time(time.process_time)
    parts = [mujoco.mjtTimer.mjTIMER_POS_MAKE, mujoco.mjtTimer.mjTIMER_POS_PROJECT, mujoco.mjtTimer.mjTIMER_CONSTRAINT]
    return lambda: sum(simulation.data.timer[part].duration for part in parts)


def main(arguments):
    engines, scene_name, engine, settings, path = arguments
    settings = json.loads(settings)
    world = next(scene for scene in curve_scenes.SCENES if scene.name == scene_name).make()
    adapter = run_row.load(engines, engine)
    simulation = adapter.Simulation(world, settings | FIXED.get(engine, {}))
    solve_time = mujoco_solver(simulation, settings) if engine == "mujoco" else None
    samples, seconds = run_row.samples_of(simulation, world)
    result = {"samples": samples, "steps": world.step_count, "step": seconds / world.step_count}
    if solve_time:
        result["solve"] = solve_time() / world.step_count
    pathlib.Path(path).write_text(json.dumps(result), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
