# SPDX-License-Identifier: BSD-3-Clause
"""Three of Newton's own examples, each with carom.newton.SolverCarom and with Newton's solvers in its place.

    pip install "newton[sim]" usd-core newton-usd-schemas scipy
    python examples/python/newton_examples.py [--frames FRAMES] [--worlds 4]

basic_shapes drops seven shapes, basic_joints swings three mechanisms, and basic_urdf stands quadrupeds on their feet. The
examples are those of the wheel of Newton, unchanged but for the solver, which has its defaults, and for the graph, which is
left out for all. Each has tests of its own, which are run. The table has, for each solver: the time of its steps, without the
search for contacts; the largest error of a joint, of its anchors and of its locked angles; the deepest penetration over all
frames, and that at the end; the fastest body at the end; and whether the tests of the example pass.
"""
import argparse
import importlib
import time
import warnings
from dataclasses import dataclass, field

import newton
import newton.examples
import numpy as np
import warp

import carom.newton
from carom._newton_joints import Joints, rotate

FRAMES = {"basic_shapes": 150, "basic_joints": 100, "basic_urdf": 200}  # of 10 ms, as Newton's own tests take them
SOLVERS = {"carom": carom.newton.SolverCarom, "XPBD": newton.solvers.SolverXPBD,
           "MuJoCo": lambda model: newton.solvers.SolverMuJoCo(model, njmax=500, nconmax=200)}  # room for the rows of a world


@dataclass
class Measured:
    """What a run has shown."""

    seconds: list = field(default_factory=list)  # of each step
    anchor: float = 0.0  # [m]
    angle: float = 0.0  # [rad]
    deepest: float = 0.0  # [m]
    left: float = 0.0  # penetration at the end [m]
    fastest: float = 0.0  # at the end [m/s]
    failed: str = ""


def locked_errors(joints, state):
    """The largest error of all joints: of anchors [m], of locked angles [rad]."""
    pose = state.body_q.numpy().astype(float)
    value = joints.pose(np.vstack([pose[:, :3], np.zeros(3)]), np.vstack([pose[:, 3:], [0, 0, 0, 1.0]])).value
    errors = np.where(joints.locked, np.abs(value), 0.0)
    return errors[:, :3].max(initial=0.0), errors[:, 3:].max(initial=0.0)


def penetration(model, pipeline, contacts, state):
    """The deepest of the contacts that Newton finds at a state [m]."""
    pipeline.collide(state, contacts)
    count = int(contacts.rigid_contact_count.numpy()[0])
    pose = np.vstack([state.body_q.numpy().astype(float), [0, 0, 0, 0, 0, 0, 1.0]])
    bodies, touch = np.append(model.shape_body.numpy(), -1), []
    for k in (0, 1):
        b = bodies[getattr(contacts, f"rigid_contact_shape{k}").numpy()[:count]]
        local = (getattr(contacts, f"rigid_contact_point{k}").numpy() + getattr(contacts, f"rigid_contact_offset{k}").numpy())[:count]
        touch.append(pose[b, :3] + rotate(pose[b, 3:], local.astype(float)))
    gaps = ((touch[1] - touch[0]) * contacts.rigid_contact_normal.numpy()[:count]).sum(1)
    return max(0.0, -gaps.min(initial=0.0))


def made(name, solver, worlds):
    """An example of Newton's with a solver in the place of its own, and the times of its steps."""
    module = importlib.import_module(f"newton.examples.basic.example_{name}")
    parser = module.Example.create_parser() if hasattr(module.Example, "create_parser") else newton.examples.create_parser()
    args = newton.examples.default_args(parser)
    args.world_count = worlds
    if getattr(args, "solver", None) is None:
        args.solver = "xpbd"
    own = newton.solvers.SolverXPBD
    newton.solvers.SolverXPBD = solver if solver is own else lambda model, **settings: solver(model)
    module.Example.capture = lambda self: setattr(self, "graph", None)
    try:
        example = module.Example(newton.viewer.ViewerNull(), args)
    finally:
        newton.solvers.SolverXPBD = own
    seconds, step = [], example.solver.step

    def timed(*arguments, **options):
        start = time.perf_counter()
        step(*arguments, **options)
        seconds.append(time.perf_counter() - start)

    example.solver.step = timed
    return example, seconds


def run(name, solver, frames=None, worlds=4):
    """Steps an example, as often as its tests are for unless told otherwise. Returns what was measured."""
    example, seconds = made(name, solver, worlds)
    joints, pipeline = Joints(example.model), newton.CollisionPipeline(example.model)
    contacts, measured = pipeline.contacts(), Measured(seconds)
    try:
        for _ in range(FRAMES[name] if frames is None else frames):
            example.step()
            if hasattr(example, "test_post_step"):
                example.test_post_step()
            anchor, angle = locked_errors(joints, example.state_0)
            measured.anchor, measured.angle = max(measured.anchor, anchor), max(measured.angle, angle)
            measured.left = penetration(example.model, pipeline, contacts, example.state_0)
            measured.deepest = max(measured.deepest, measured.left)
        measured.fastest = float(np.abs(example.state_0.body_qd.numpy()[:, :3]).max())
        example.test_final()
    except ValueError as fault:
        measured.failed = str(fault).splitlines()[0]
    return measured


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=int, help="of 10 ms each; the tests of the examples are for the default")
    parser.add_argument("--worlds", type=int, default=4, help="of basic_urdf")
    parser.add_argument("--examples", nargs="*", default=list(FRAMES), choices=list(FRAMES))
    parser.add_argument("--solvers", nargs="*", default=list(SOLVERS), choices=list(SOLVERS))
    given = parser.parse_args()
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    warp.config.quiet = True
    warp.set_device("cpu")
    print(f"{'example':13} {'solver':7} {'ms a step':>9} {'anchor m':>9} {'angle':>8} {'deepest':>8} {'at end':>8} {'m/s':>8}  its tests")
    for name in given.examples:
        for label in given.solvers:
            m = run(name, SOLVERS[label], given.frames, given.worlds)
            print(f"{name:13} {label:7} {1e3 * np.median(m.seconds):9.2f} {m.anchor:9.1e} {m.angle:8.1e} {m.deepest:8.1e} {m.left:8.1e} "
                  f"{m.fastest:8.1e}  {m.failed or 'pass'}", flush=True)


if __name__ == "__main__":
    main()
