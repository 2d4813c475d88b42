#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""carom.mujoco beside mj_step on the models of gymnasium and dm_control: time, penetration, unsolved steps.

    pip install carom "gymnasium[mujoco]" dm_control
    benchmarks/mujoco_models.py [--law rigid] [--steps 600] [--seed 0]

Each model is driven by random controls in [-1, 1], the same for both. A model whose integrator is Runge-Kutta's gets
Euler's, for both. The two take turns, 20 steps each, and the ratio is that of the medians. Penetration is the deepest of
the run [mm]: MuJoCo's at its defaults.
"""
import argparse
import copy
import glob
import importlib
import os
import time
import warnings

import mujoco
import numpy as np

import carom.mujoco

EULER, RUNGE_KUTTA = 0, 1
TURN = 20  # steps, some milliseconds: longer than what a clock and a change of turns cost


def models():
    """(name, model) of all models that load."""
    import dm_control
    import gymnasium
    assets = os.path.join(os.path.dirname(gymnasium.__file__), "envs", "mujoco", "assets")
    for path in sorted(glob.glob(os.path.join(assets, "*.xml"))):
        yield "gymnasium." + os.path.basename(path)[:-4], mujoco.MjModel.from_xml_path(path)
    from dm_control.suite import common
    for path in sorted(glob.glob(os.path.join(os.path.dirname(dm_control.__file__), "suite", "*.xml"))):
        name = os.path.basename(path)[:-4]
        module = importlib.import_module("dm_control.suite." + name)
        special = {"quadruped": lambda: (module.make_model(floor_size=10), common.ASSETS),
                   "swimmer": lambda: module.get_model_and_assets(5),
                   "lqr": lambda: module.get_model_and_assets(2, 1, np.random.RandomState(0)),
                   "dog": lambda: module.get_model_and_assets(10, True)}
        try:
            text, files = special.get(name, getattr(module, "get_model_and_assets", None))()
            files = {key: value if isinstance(value, bytes) else value.encode() for key, value in files.items()}
            yield "dm_control." + name, mujoco.MjModel.from_xml_string(text if isinstance(text, str) else text.decode(), files)
        except (TypeError, ValueError, AttributeError):  # another version of dm_control: the file as it stands
            yield "dm_control." + name, mujoco.MjModel.from_xml_path(path)


class Run:
    """Steps of one model by one of the two."""

    def __init__(self, model, step):
        self.model, self.data, self.make_step = model, mujoco.MjData(model), step
        self.times, self.deepest, self.unsolved, self.rows = [], 0.0, 0, 0

    def turn(self, controls):
        begin = time.perf_counter()
        for control in controls:
            self.data.ctrl[:] = control
            answer = self.make_step(self.model, self.data)
            self.unsolved += answer is not None and not answer.converged
        self.times.append((time.perf_counter() - begin) / len(controls))
        self.rows += self.data.nefc

    def watch(self, controls):
        """The deepest penetration, without the clock."""
        for control in controls:
            self.data.ctrl[:] = control
            self.make_step(self.model, self.data)
            if self.data.ncon:
                self.deepest = max(self.deepest, -float(np.min(self.data.contact.dist)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--law", default="rigid")
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    ratios = []
    print("| model | velocities | rows, MuJoCo's and carom's | mj_step [us] | ratio | deepest [mm] | unsolved |\n|---|---:|---:|---:|---:|---:|---:|")
    for name, model in models():
        if model.opt.integrator == RUNGE_KUTTA:
            model.opt.integrator = EULER
        controls = np.random.default_rng(options.seed).uniform(-1, 1, (options.steps, model.nu))
        theirs = Run(copy.copy(model), mujoco.mj_step)
        ours = Run(copy.copy(model), carom.mujoco.Stepper(law=options.law).step)
        for first in range(0, options.steps, TURN):
            for run in (theirs, ours):
                run.turn(controls[first:first + TURN])
        ratios.append(np.median(ours.times) / np.median(theirs.times))
        watched = [Run(copy.copy(model), mujoco.mj_step), Run(copy.copy(model), carom.mujoco.Stepper(law=options.law).step)]
        for run in watched:
            run.watch(controls)
        turns = len(ours.times)
        print(f"| {name} | {model.nv} | {theirs.rows / turns:.1f}, {ours.rows / turns:.1f} | {np.median(theirs.times) * 1e6:.1f} "
              f"| {ratios[-1]:.2f} | {watched[0].deepest * 1e3:.2f}, {watched[1].deepest * 1e3:.2f} | {ours.unsolved} |", flush=True)
    print(f"\n{len(ratios)} models: median ratio {np.median(ratios):.2f}, most {max(ratios):.2f}; mujoco {mujoco.__version__}")


if __name__ == "__main__":
    main()
