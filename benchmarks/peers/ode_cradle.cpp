// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <ode/ode.h>
#include <vector>

#include "peers/peer_cradle.hpp"

namespace carom::peers {
namespace {

/// What the callback of ODE's collision detection needs.
struct Meeting {
  dWorldID world;
  dJointGroupID contacts;
  double restitution;
};

void add_contact(void* data, dGeomID first, dGeomID second) {
  const auto& meeting = *static_cast<const Meeting*>(data);
  dContact contact{};
  if (dCollide(first, second, 1, &contact.geom, sizeof contact) == 0) return;
  contact.surface.mode = dContactBounce;
  contact.surface.bounce = static_cast<dReal>(meeting.restitution);
  dJointAttach(dJointCreateContact(meeting.world, meeting.contacts, &contact), dGeomGetBody(first),
               dGeomGetBody(second));
}

}  // namespace

// A contact asks for the separating speed max(e, erp φ) v, erp = 0.2. By dWorldQuickStep: with
// touching frictionless balls dWorldStep gives up, "LCP internal error", and leaves them as they
// were.
std::vector<double> strike_ode(const CradleShot& shot) {
  dInitODE2(0);
  const dWorldID world = dWorldCreate();
  const dSpaceID space = dSimpleSpaceCreate(nullptr);
  const dJointGroupID contacts = dJointGroupCreate(0);
  std::vector<dBodyID> balls;
  const std::vector<double> positions = ball_positions(shot);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    dMass mass;
    dMassSetSphereTotal(&mass, static_cast<dReal>(shot.masses[i]), static_cast<dReal>(ball_radius));
    balls.push_back(dBodyCreate(world));
    dBodySetMass(balls.back(), &mass);
    dBodySetPosition(balls.back(), static_cast<dReal>(positions[i]), 0, 0);
    dBodySetLinearVel(balls.back(), static_cast<dReal>(shot.velocities[i]), 0, 0);
    const dGeomID sphere = dCreateSphere(space, static_cast<dReal>(ball_radius));
    dGeomSetBody(sphere, balls.back());
  }
  Meeting meeting{world, contacts, shot.restitution};
  dSpaceCollide(space, &meeting, add_contact);
  dWorldSetQuickStepNumIterations(world, sweep_count);
  dWorldQuickStep(world, static_cast<dReal>(time_step));

  std::vector<double> velocities;
  for (const dBodyID ball : balls) {
    velocities.push_back(static_cast<double>(dBodyGetLinearVel(ball)[0]));
  }
  dJointGroupDestroy(contacts);
  dSpaceDestroy(space);
  dWorldDestroy(world);
  dCloseODE();
  return velocities;
}

}  // namespace carom::peers
