# SPDX-License-Identifier: BSD-3-Clause
"""Newton on the processor: its XPBD solver is the default here, as of its examples of rigid bodies; the search has that of
MuJoCo Warp. A pair of shapes has the mean of their friction and restitution."""

import newton
import warp

from worlds import NotExpressible
from worlds_frames import onto

PACKAGE = "newton"
SEARCH = [
    {"iterations": 20},
    {"solver": "mujoco", "cone": "elliptic", "impratio": 100},
]


class Simulation:
    def __init__(self, world, settings):
        if any(body.slides_along for body in world.bodies):
            raise NotExpressible("this adapter has no slides")
        if world.rolling:
            raise NotExpressible("this adapter has no rolling friction")
        warp.config.quiet = True
        warp.set_device("cpu")
        self.world = world
        builder = newton.ModelBuilder(gravity=world.gravity)
        surface = newton.ModelBuilder.ShapeConfig(mu=world.friction, restitution=world.restitution, mu_torsional=0.0, mu_rolling=0.0,
                                                  density=0.0)
        for plane in world.planes:
            place = warp.transform(plane.point, warp.quat(*self.turn(onto((0, 0, 1), plane.normal))))
            builder.add_shape_plane(plane=None, xform=place, width=0.0, length=0.0, cfg=surface)
        for body in world.bodies:
            frame = warp.transform(body.position, warp.quat(*self.turn(body.orientation)))
            x, y, z = body.inertia()
            number = builder.add_body(xform=frame, mass=body.mass, inertia=warp.mat33(x, 0, 0, 0, y, 0, 0, 0, z))
            if body.shape == "sphere":
                builder.add_shape_sphere(number, radius=body.size[0], cfg=surface)
            else:
                builder.add_shape_box(number, hx=body.size[0], hy=body.size[1], hz=body.size[2], cfg=surface)
        self.model = builder.finalize(device="cpu")
        if settings.get("solver") == "mujoco":
            if world.restitution:
                raise NotExpressible("MuJoCo Warp has no restitution")
            self.solver = newton.solvers.SolverMuJoCo(self.model, cone=settings["cone"], impratio=settings["impratio"],
                                                      use_mujoco_contacts=True)
        else:
            self.solver = newton.solvers.SolverXPBD(self.model, iterations=settings.get("iterations", 2),
                                                    enable_restitution=world.restitution > 0)
        self.states = [self.model.state(), self.model.state()]
        self.control = self.model.control()
        speeds = [(*body.velocity, *body.spin) for body in world.bodies]
        for state in self.states:
            state.body_qd.assign(speeds)
        newton.eval_ik(self.model, self.states[0], self.states[0].joint_q, self.states[0].joint_qd)
        self.contacts = self.model.contacts()
        self.forces = [(*body.force, 0.0, 0.0, 0.0) for body in world.bodies]

    @staticmethod
    def turn(q):
        return (q[1], q[2], q[3], q[0])

    def step(self, count):
        for _ in range(count):
            first, second = self.states
            first.body_f.assign(self.forces)
            self.model.collide(first, self.contacts)
            self.solver.step(first, second, self.control, self.contacts, self.world.time_step)
            self.states.reverse()

    def positions(self):
        return self.states[0].body_q.numpy()[:, :3].tolist()

    def orientations(self):
        return self.states[0].body_q.numpy()[:, [6, 3, 4, 5]].tolist()

    def velocities(self):
        return self.states[0].body_qd.numpy()[:, :3].tolist()

    def spins(self):
        return self.states[0].body_qd.numpy()[:, 3:].tolist()
