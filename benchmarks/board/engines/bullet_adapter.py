# SPDX-License-Identifier: BSD-3-Clause
"""Bullet by pybullet, which multiplies the friction of two shapes and their restitution."""

import math

import pybullet

from worlds import turned

PACKAGE = "pybullet"
SEARCH = [
    {"damping": 0},
    {"damping": 0, "ground": "box"},
    {"damping": 0, "ground": "box", "iterations": 500, "residual": 1e-12},
    {"damping": 0, "iterations": 500, "residual": 1e-12, "threshold": 0.0},
    {"damping": 0, "ground": "box", "iterations": 500, "residual": 1e-12, "threshold": 0.0, "finer": 4},
]
THICK = 20.0  #: half of a box that stands for a plane [m]


def to_bullet(q):
    return (q[1], q[2], q[3], q[0])


def frame_of(normal):
    """A quaternion that turns z into a normal."""
    x, y, z = normal
    side = math.hypot(x, y)
    if side == 0:
        return (1, 0, 0, 0) if z > 0 else (0, 1, 0, 0)
    return turned((-y / side, x / side, 0), math.atan2(side, z))


class Simulation:
    def __init__(self, world, settings):
        self.client = pybullet.connect(pybullet.DIRECT)
        pybullet.resetSimulation()
        pybullet.setGravity(*world.gravity)
        options = {"fixedTimeStep": world.time_step, "numSubSteps": 0}
        if "iterations" in settings:
            options["numSolverIterations"] = settings["iterations"]
        if "residual" in settings:
            options["solverResidualThreshold"] = settings["residual"]
        if "threshold" in settings:
            options["restitutionVelocityThreshold"] = settings["threshold"]
        pybullet.setPhysicsEngineParameter(**options)
        share = math.sqrt(world.friction)
        self.surface = {"lateralFriction": share, "restitution": math.sqrt(world.restitution)}
        if world.rolling:
            self.surface["rollingFriction"] = world.rolling / (2 * share)
        self.settings, self.handles, self.world = settings, [], world
        for plane in world.planes:
            self.add_plane(plane)
        for body in world.bodies:
            self.handles.append(self.add_body(body))

    def add_plane(self, plane):
        if self.settings.get("ground") == "box":
            shape = pybullet.createCollisionShape(pybullet.GEOM_BOX, halfExtents=[THICK] * 3)
            centre = [p - THICK * n for p, n in zip(plane.point, plane.normal)]
            handle = pybullet.createMultiBody(0, shape, -1, centre, to_bullet(frame_of(plane.normal)))
        else:
            shape = pybullet.createCollisionShape(pybullet.GEOM_PLANE, planeNormal=plane.normal)
            handle = pybullet.createMultiBody(0, shape, -1, plane.point)
        pybullet.changeDynamics(handle, -1, **self.surface)

    def add_body(self, body):
        """(handle, link): a free body is a base, -1, and one on a slide the only link of a fixed base."""
        if body.shape == "sphere":
            shape = pybullet.createCollisionShape(pybullet.GEOM_SPHERE, radius=body.size[0])
        else:
            shape = pybullet.createCollisionShape(pybullet.GEOM_BOX, halfExtents=body.size)
        turn, still = to_bullet(body.orientation), (0, 0, 0, 1)
        if body.slides_along:
            handle = pybullet.createMultiBody(
                0, -1, -1, body.position, still, linkMasses=[body.mass], linkCollisionShapeIndices=[shape],
                linkVisualShapeIndices=[-1], linkPositions=[(0, 0, 0)], linkOrientations=[turn],
                linkInertialFramePositions=[(0, 0, 0)], linkInertialFrameOrientations=[still], linkParentIndices=[0],
                linkJointTypes=[pybullet.JOINT_PRISMATIC], linkJointAxis=[self.local_axis(body)])
            pybullet.setJointMotorControl2(handle, 0, pybullet.VELOCITY_CONTROL, force=0)
            link = 0
        else:
            handle, link = pybullet.createMultiBody(body.mass, shape, -1, body.position, turn), -1
            pybullet.resetBaseVelocity(handle, body.velocity, body.spin)
        extra = {} if "damping" not in self.settings else {
            "linearDamping": self.settings["damping"], "angularDamping": self.settings["damping"]}
        if "damping" in self.settings and link == 0:
            extra["jointDamping"] = self.settings["damping"]
        pybullet.changeDynamics(handle, link, **self.surface, **extra)
        return handle, link

    def local_axis(self, body):
        q = body.orientation
        inverse = to_bullet((q[0], -q[1], -q[2], -q[3]))
        return pybullet.rotateVector(inverse, body.slides_along)

    def step(self, count):
        pushed = [(pair, body.force) for pair, body in zip(self.handles, self.world.bodies) if any(body.force)]
        for _ in range(count):
            for (handle, link), force in pushed:
                place = self.state(handle, link)[0]
                pybullet.applyExternalForce(handle, link, force, place, pybullet.WORLD_FRAME)
            pybullet.stepSimulation()

    def state(self, handle, link):
        """(position, orientation as of Bullet, velocity, spin)."""
        if link == -1:
            return *pybullet.getBasePositionAndOrientation(handle), *pybullet.getBaseVelocity(handle)
        all_of_it = pybullet.getLinkState(handle, link, computeLinkVelocity=1, computeForwardKinematics=1)
        return all_of_it[0], all_of_it[1], all_of_it[6], all_of_it[7]

    def positions(self):
        return [self.state(*pair)[0] for pair in self.handles]

    def orientations(self):
        turns = [self.state(*pair)[1] for pair in self.handles]
        return [(q[3], q[0], q[1], q[2]) for q in turns]

    def velocities(self):
        return [self.state(*pair)[2] for pair in self.handles]

    def spins(self):
        return [self.state(*pair)[3] for pair in self.handles]
