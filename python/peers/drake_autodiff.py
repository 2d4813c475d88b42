# SPDX-License-Identifier: BSD-3-Clause
"""Drake: AutoDiffXd through its simulator, a continuous plant with point contact.

Contact is Hunt and Crossley's with Stribeck friction, as Drake has it where steps are not discrete,
with the plant's defaults: penetration allowance 1 mm and stiction tolerance 1e-3 m/s; Runge and
Kutta's method of order 2 with fixed steps of 0.02 ms. Weight and push are generalized forces, so
that angles of a slope can be differentiated. Prints one JSON object.
"""

import importlib.metadata
import json
import sys

import numpy as np
from pydrake.autodiffutils import AutoDiffXd
from pydrake.geometry import (
    AddContactMaterial,
    HalfSpace,
    ProximityProperties,
    SceneGraphConfig,
    Sphere,
)
from pydrake.math import RigidTransform
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, CoulombFriction
from pydrake.multibody.tree import PrismaticJoint, SpatialInertia, UnitInertia
from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator_
from pydrake.systems.framework import DiagramBuilder

from peer_scenes import GRAVITY, RADIUS, SCENES

STIFFNESS, STEP = 1e5, 2e-5
AXES = {"x": [1, 0, 0], "y": [0, 1, 0], "z": [0, 0, 1]}


def properties(friction, elastic):
    """Contact numbers: the plant's own stiffness and dissipation unless a contact is elastic."""
    result = ProximityProperties()
    numbers = {"dissipation": 0.0, "point_stiffness": STIFFNESS} if elastic else {}
    AddContactMaterial(friction=CoulombFriction(friction, friction), properties=result, **numbers)
    return result


def add_ball(plant, name, place, mass, axes, friction):
    """A ball on prismatic joints along some axes; masses of the links between are tiny."""
    parent = plant.world_body()
    for axis in axes[:-1]:
        link = plant.AddRigidBody(
            f"{name}_{axis}", SpatialInertia(1e-9, [0, 0, 0], UnitInertia(1, 1, 1))
        )
        plant.AddJoint(
            PrismaticJoint(f"{name}_{axis}", parent.body_frame(), link.body_frame(), AXES[axis])
        )
        parent = link
    body = plant.AddRigidBody(
        name, SpatialInertia(mass, [0, 0, 0], UnitInertia.SolidSphere(RADIUS))
    )
    plant.AddJoint(
        PrismaticJoint(f"{name}_{axes[-1]}", parent.body_frame(), body.body_frame(), AXES[axes[-1]])
    )
    plant.RegisterCollisionGeometry(
        body,
        RigidTransform(place),
        Sphere(RADIUS),
        f"{name}_ball",
        properties(friction, elastic=friction == 0),
    )


def add_wall(plant, name, normal, place, friction=0.0):
    pose = HalfSpace.MakePose(np.asarray(normal, dtype=float), np.asarray(place, dtype=float))
    plant.RegisterCollisionGeometry(
        plant.world_body(), pose, HalfSpace(), name, properties(friction, elastic=friction == 0)
    )


def make(name, d):
    """(diagram, plant, bodies with a mass to differentiate, chosen velocity)."""
    builder = DiagramBuilder()
    plant, scene_graph = AddMultibodyPlantSceneGraph(builder, time_step=0.0)
    config = SceneGraphConfig()  # its dissipation is a double, which AutoDiffXd refuses
    config.default_proximity_properties.hunt_crossley_dissipation = None
    config.default_proximity_properties.point_stiffness = None
    scene_graph.set_config(config)
    plant.mutable_gravity_field().set_gravity_vector([0, 0, 0])
    masses, chosen = {}, 0
    if name == "two equal balls":
        add_ball(plant, "a", [0, 0, 0], d["m1"], "x", 0)
        add_ball(plant, "b", [2 * RADIUS + 0.02, 0, 0], d["m2"], "x", 0)
        masses, chosen = {"a": "m1", "b": "m2"}, 1
    elif name == "oblique impact on a smooth wall":
        normal = np.array([np.cos(d["angle"]), np.sin(d["angle"]), 0])
        add_ball(plant, "a", (RADIUS + 0.02) * normal, 0.4, "xy", 0)
        add_wall(plant, "wall", normal, [0, 0, 0])
        chosen = 1
    elif name == "billiard with four cushions":
        add_ball(plant, "a", [0, 0, 0], 0.17, "xy", 0)
        for k, (normal, place) in enumerate(
            [((0, -1, 0), 0.15), ((-1, 0, 0), 0.3), ((0, 1, 0), 0.15), ((1, 0, 0), 0.3)]
        ):
            add_wall(plant, f"wall{k}", normal, -(place + RADIUS) * np.array(normal))
    elif "mu" in d:
        add_ball(plant, "a", [0, 0, RADIUS], d["m"], "xz", d["mu"])
        add_wall(plant, "ground", [0, 0, 1], [0, 0, 0], d["mu"])
        masses = {"a": "m"}
    else:
        add_ball(plant, "a", [0, 0, RADIUS + d["gap"]], 2.0, "z", 1.0)
        add_wall(plant, "ground", [0, 0, 1], [0, 0, 0], 1.0)
    plant.Finalize()
    return builder.Build(), plant, masses, chosen


def force_of(d):
    """Weight and push along x and z, in the axes of the slope."""
    angle = d.get("angle", 0.0)
    weight = d["m"] * GRAVITY
    return [weight * np.sin(angle) + d.get("force", 0.0), -weight * np.cos(angle)]


def rollout(name, scene, names):
    """The outcome with its derivatives by some data."""
    plain = dict(scene["data"])
    diagram, plant, masses, chosen = make(name, plain)
    d = {
        key: (
            AutoDiffXd(value, np.eye(len(names))[names.index(key)])
            if key in names
            else AutoDiffXd(value)
        )
        for key, value in plain.items()
    }
    system = diagram.ToAutoDiffXd()
    simulator = Simulator_[AutoDiffXd](system)
    context = simulator.get_mutable_context()
    plant_ad = system.GetSubsystemByName(plant.get_name())
    own = plant_ad.GetMyMutableContextFromRoot(context)
    for body, key in masses.items():
        plant_ad.GetBodyByName(body).SetMass(own, d[key])
    speeds = [AutoDiffXd(0.0) for _ in range(plant.num_velocities())]
    for k, key in enumerate([key for key in ("v", "v1", "v2", "vx", "vy", "vz") if key in d]):
        speeds[k] = d[key]
    plant_ad.SetVelocities(own, np.array(speeds))
    if "gap" in d:
        plant_ad.SetPositions(own, np.array([d["gap"] - plain["gap"]]))
    if "mu" in d:
        force = np.array([AutoDiffXd(f) if isinstance(f, float) else f for f in force_of(d)])
        plant_ad.get_applied_generalized_force_input_port().FixValue(own, force)
    ResetIntegratorFromFlags(simulator, "runge_kutta2", STEP)
    simulator.AdvanceTo(scene["time"])
    end = plant_ad.GetVelocities(own)[chosen]
    slopes = end.derivatives()
    return end.value(), dict(zip(names, slopes if len(slopes) else np.zeros(len(names))))


WITHOUT = {
    "mu": "the friction of a geometry is a plain number",
    "angle of a wall": "the pose of a fixed geometry is a plain number",
}


def main():
    result = {}
    for name, scene in SCENES.items():
        if name == "restitution at a wall":
            result[name] = {"reason": "contact has dissipation, no coefficient of restitution"}
            continue
        names = [key for key in scene["gradients"] if key not in ("mu", "e", "a1", "a2")]
        if name.startswith("oblique"):
            names.remove("angle")
        try:
            outcome, slopes = rollout(name, scene, names)
            result[name] = {
                "outcome": float(outcome),
                "gradients": {k: float(v) for k, v in slopes.items()},
            }
        except Exception as fault:  # what an engine cannot do is a result
            result[name] = {"reason": f"{type(fault).__name__}: {str(fault)[:200]}"}
        print(name, result[name], file=sys.stderr, flush=True)
    version = importlib.metadata.version("drake")
    print(json.dumps({"version": version, "scenes": result, "without": WITHOUT}))


if __name__ == "__main__":
    main()
