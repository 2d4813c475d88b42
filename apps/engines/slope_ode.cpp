// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cmath>
#include <cstddef>
#include <ode/ode.h>

#include "engines/slope_engines.hpp"

namespace carom::engines {
namespace {

struct Scene {
  dWorldID world;
  dJointGroupID contacts;
};

void add_contacts(void* data, dGeomID first, dGeomID second) {
  const auto& scene = *static_cast<const Scene*>(data);
  std::array<dContact, 8> contacts{};
  const int count =
      dCollide(first, second, int(contacts.size()), &contacts[0].geom, int(sizeof contacts[0]));
  for (std::size_t k = 0; k < std::size_t(count); ++k) {
    contacts[k].surface.mode = dContactApprox1;  // mu is a coefficient, not a force
    contacts[k].surface.mu = dReal(friction);
    dJointAttach(dJointCreateContact(scene.world, scene.contacts, &contacts[k]),
                 dGeomGetBody(first), dGeomGetBody(second));
  }
}

}  // namespace

double slide_in_ode(const Slope& slope, Solver /*own*/) {
  const double x = std::cos(slope.heading), y = std::sin(slope.heading);
  const double pull = gravity * std::sin(slope.angle), press = gravity * std::cos(slope.angle);
  dInitODE2(0);
  const Scene scene{dWorldCreate(), dJointGroupCreate(0)};
  const dSpaceID space = dSimpleSpaceCreate(nullptr);
  dWorldSetGravity(scene.world, dReal(pull * x), dReal(pull * y), dReal(-press));
  dCreatePlane(space, 0, 0, 1, 0);
  const dBodyID block = dBodyCreate(scene.world);
  dMass inertia;
  dMassSetBoxTotal(&inertia, dReal(mass), dReal(length), dReal(length), dReal(height));
  dBodySetMass(block, &inertia);
  dBodySetPosition(block, 0, 0, dReal(height / 2));
  dGeomSetBody(dCreateBox(space, dReal(length), dReal(length), dReal(height)), block);
  for (int step = 0; step < step_count; ++step) {
    Scene now = scene;
    dSpaceCollide(space, &now, add_contacts);
    dWorldStep(scene.world, dReal(time_step));
    dJointGroupEmpty(scene.contacts);
  }
  const dReal* const velocity = dBodyGetLinearVel(block);
  const double speed = double(velocity[0]) * x + double(velocity[1]) * y;
  dJointGroupDestroy(scene.contacts);
  dSpaceDestroy(space);
  dWorldDestroy(scene.world);
  dCloseODE();
  return speed;
}

}  // namespace carom::engines
