# SPDX-License-Identifier: BSD-3-Clause
"""Nimble: Jacobians of BackpropSnapshot, chained over the steps of a rollout.

Nimble's defaults, with steps of 1 ms (10 ms for the gap); contact is rigid, restitution and
friction are coefficients of the bodies. Velocities, positions and pushes are differentiated; friction,
restitution and poses of walls have no Jacobian, and those by masses are not asked for. The C++
module is used as it is, because the Python layer around it needs torch. Prints one JSON object.
"""

import importlib.metadata
import json
import math
import sys

import nimblephysics_libs._nimblephysics as nimble
import numpy as np

from peer_scenes import GRAVITY, RADIUS, SCENES

AXES = {"x": [1.0, 0, 0], "y": [0, 1.0, 0]}


def add_ball(world, name, place, mass, axes, friction, restitution):
    """A ball on prismatic joints; the bodies between them are light."""
    skeleton, parent = nimble.dynamics.Skeleton(name), None
    for axis in axes:
        joint, body = skeleton.createPrismaticJointAndBodyNodePair(parent)
        joint.setAxis(np.array(AXES[axis]))
        body.setMass(1e-9)
        parent = body
    shift = nimble.math.Isometry3()
    shift.set_translation(np.array(place, dtype=float))
    skeleton.getRootJoint().setTransformFromParentBodyNode(shift)
    body.setMass(mass)
    node = body.createShapeNode(nimble.dynamics.SphereShape(RADIUS))
    node.createCollisionAspect()
    body.setFrictionCoeff(friction)
    body.setRestitutionCoeff(restitution)
    world.addSkeleton(skeleton)
    return skeleton


def add_wall(world, name, normal, place, friction, restitution):
    """A box whose face goes through a place; its normal lies in the plane of x and y."""
    skeleton = nimble.dynamics.Skeleton(name)
    joint, body = skeleton.createWeldJointAndBodyNodePair(None)
    size = np.array([1.0, 10.0, 10.0])
    x = np.array(normal, dtype=float)
    y = np.array([-x[1], x[0], 0.0])
    pose = nimble.math.Isometry3()
    pose.set_rotation(np.stack([x, y, np.cross(x, y)], axis=1))
    pose.set_translation(np.array(place, dtype=float) - 0.5 * x)
    joint.setTransformFromParentBodyNode(pose)
    node = body.createShapeNode(nimble.dynamics.BoxShape(size))
    node.createCollisionAspect()
    body.setFrictionCoeff(friction)
    body.setRestitutionCoeff(restitution)
    world.addSkeleton(skeleton)


def make(name, d):
    """(world, chosen velocity)."""
    world, chosen = nimble.simulation.World(), 0
    world.setTimeStep(1e-3)
    world.setGravity(np.zeros(3))
    if name == "two equal balls":
        add_ball(world, "a", [0, 0, 0], d["m1"], "x", 0, 1)
        add_ball(world, "b", [2 * RADIUS + 0.02, 0, 0], d["m2"], "x", 0, 1)
        chosen = 1
    elif name in ("oblique impact on a smooth wall", "restitution at a wall"):
        angle = d.get("angle", 0.0)
        normal = np.array([math.cos(angle), math.sin(angle), 0])
        add_ball(world, "a", (RADIUS + 0.02) * normal, 0.4, "xy", 0, d.get("e", 1))
        add_wall(world, "wall", normal, [0, 0, 0], 0, 1)
        chosen = 1 if "angle" in d else 0
    elif name == "billiard with four cushions":
        add_ball(world, "a", [0, 0, 0], 0.17, "xy", 0, 1)
        for k, (normal, place) in enumerate(
            [((0, -1, 0), 0.15), ((-1, 0, 0), 0.3), ((0, 1, 0), 0.15), ((1, 0, 0), 0.3)]
        ):
            add_wall(world, f"wall{k}", normal, -(place + RADIUS) * np.array(normal), 0, 1)
    elif "gap" in d:
        world.setTimeStep(0.01)
        add_ball(world, "a", [0, RADIUS + d["gap"], 0], 2.0, "y", 0, 0)
        add_wall(world, "ground", [0, 1, 0], [0, 0, 0], 0, 0)
    else:
        angle = d.get("angle", 0.0)
        world.setGravity(np.array([GRAVITY * math.sin(angle), -GRAVITY * math.cos(angle), 0]))
        add_ball(world, "a", [0, RADIUS, 0], d["m"], "xy", d["mu"], 0)
        add_wall(world, "ground", [0, 1, 0], [0, 0, 0], d["mu"], 0)
    return world, chosen


def rollout(name, scene):
    """The outcome, and its derivatives by velocities, positions and a push."""
    d = scene["data"]
    world, chosen = make(name, d)
    size = world.getNumDofs()
    speeds = [d[key] for key in ("v", "v1", "v2", "vx", "vy", "vz") if key in d]
    world.setVelocities(np.array(speeds + [0.0] * (size - len(speeds))))
    push = np.zeros(size)
    push[0] = d.get("force", 0.0)
    product, pushed = np.eye(2 * size), np.zeros(2 * size)
    for _ in range(round(scene["time"] / world.getTimeStep())):
        world.setControlForces(push)
        snapshot = nimble.neural.forwardPass(world, True)
        one = np.block(
            [
                [snapshot.getPosPosJacobian(world), snapshot.getVelPosJacobian(world)],
                [snapshot.getPosVelJacobian(world), snapshot.getVelVelJacobian(world)],
            ]
        )
        by_push = np.concatenate([np.zeros(size), snapshot.getControlForceVelJacobian(world)[:, 0]])
        product, pushed = one @ product, one @ pushed + by_push
        world.step()
    row = product[size + chosen]
    names = [key for key in ("v", "v1", "v2", "vx", "vy", "vz") if key in d]
    gradients = {key: float(row[size + k]) for k, key in enumerate(names)}
    gradients |= {"gap": float(row[0])} if "gap" in d else {}
    gradients |= {"force": float(pushed[size])} if "force" in d else {}
    gradients = {key: value for key, value in gradients.items() if key in scene["gradients"]}
    return {"outcome": float(world.getVelocities()[chosen]), "gradients": gradients}


def main():
    result = {}
    for name, scene in SCENES.items():
        try:
            result[name] = rollout(name, scene)
        except Exception as fault:  # what an engine cannot do is a result
            result[name] = {"reason": f"{type(fault).__name__}: {str(fault)[:200]}"}
        print(name, result[name], file=sys.stderr, flush=True)
    version = importlib.metadata.version("nimblephysics")
    without = {
        "mu, e, angle": "no Jacobian by friction, restitution and poses of fixed bodies",
        "m": "not asked for: the Python layer that registers masses needs torch",
    }
    print(json.dumps({"version": version, "scenes": result, "without": without}))


if __name__ == "__main__":
    main()
