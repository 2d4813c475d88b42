# SPDX-License-Identifier: BSD-3-Clause
"""PhysX on the processor, by SAPIEN, in single precision. It takes the mean of two shapes' friction and restitution.

A body on a slide is a free one whose other five directions PhysX locks."""

import sapien
from sapien import physx

from worlds import NotExpressible
from worlds_frames import onto

PACKAGE = "sapien"
SEARCH = [
    {"tgs": False, "threshold": 0.01},
    {"iterations": 100, "velocity_iterations": 20},
    {"iterations": 100, "velocity_iterations": 20, "threshold": 0.01},
    {"iterations": 200, "velocity_iterations": 50, "threshold": 0.01, "offset": 0.001},
    {"iterations": 200, "velocity_iterations": 50, "threshold": 0.01, "offset": 0.001, "finer": 4},
    {"iterations": 200, "velocity_iterations": 50, "threshold": 0.01, "offset": 0.001, "damping": 0.0},
]
FREE, SLIDING_X = [False] * 6, [False, True, True, True, True, True]


class Simulation:
    def __init__(self, world, settings):
        if world.rolling:
            raise NotExpressible("PhysX has no rolling friction")
        config = physx.PhysxSceneConfig()
        config.gravity = world.gravity
        config.enable_pcm = True
        if "tgs" in settings:
            config.enable_tgs = settings["tgs"]
        if "threshold" in settings:
            config.bounce_threshold = settings["threshold"]
        physx.set_scene_config(config)
        body_config, shape_config = physx.PhysxBodyConfig(), physx.PhysxShapeConfig()
        if "iterations" in settings:
            body_config.solver_position_iterations = settings["iterations"]
            body_config.solver_velocity_iterations = settings["velocity_iterations"]
        if "offset" in settings:
            shape_config.contact_offset = settings["offset"]
            body_config.sleep_threshold = 0.0
        physx.set_body_config(body_config)
        physx.set_shape_config(shape_config)
        self.system = physx.PhysxCpuSystem()
        self.system.timestep = world.time_step
        self.scene = sapien.Scene([self.system])
        self.material = physx.PhysxMaterial(world.friction, world.friction, world.restitution)
        self.bodies, self.settings = world.bodies, settings
        for plane in world.planes:
            component = physx.PhysxRigidStaticComponent()
            component.attach(physx.PhysxCollisionShapePlane(self.material))
            self.enter(component, plane.point, onto((1, 0, 0), plane.normal))
        self.components = [self.add_body(body) for body in world.bodies]

    def enter(self, component, place, turn):
        entity = sapien.Entity()
        entity.add_component(component)
        entity.set_pose(sapien.Pose(list(place), list(turn)))
        self.scene.add_entity(entity)

    def add_body(self, body):
        component = physx.PhysxRigidDynamicComponent()
        if body.shape == "sphere":
            component.attach(physx.PhysxCollisionShapeSphere(body.size[0], self.material))
        else:
            component.attach(physx.PhysxCollisionShapeBox(list(body.size), self.material))
        component.mass = body.mass
        component.inertia = list(body.inertia())
        if body.slides_along and tuple(body.slides_along) != (1, 0, 0):
            raise NotExpressible("PhysX locks directions along the axes alone")
        component.set_locked_motion_axes(SLIDING_X if body.slides_along else FREE)
        self.enter(component, body.position, body.orientation)
        component.set_linear_velocity(list(body.velocity))
        component.set_angular_velocity(list(body.spin))
        if "damping" in self.settings:
            component.set_angular_damping(self.settings["damping"])
            component.set_linear_damping(self.settings["damping"])
        return component

    def step(self, count):
        pushed = [(c, list(b.force)) for c, b in zip(self.components, self.bodies) if any(b.force)]
        for _ in range(count):
            for component, force in pushed:
                component.add_force_torque(force, [0, 0, 0])
            self.system.step()

    def positions(self):
        return [c.entity.pose.p.tolist() for c in self.components]

    def orientations(self):
        return [c.entity.pose.q.tolist() for c in self.components]

    def velocities(self):
        return [c.linear_velocity.tolist() for c in self.components]

    def spins(self):
        return [c.angular_velocity.tolist() for c in self.components]
