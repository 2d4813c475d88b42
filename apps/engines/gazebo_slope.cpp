// SPDX-License-Identifier: BSD-3-Clause
// Question: can a world of Gazebo's physics library have carom's solver?
//
// A block is on a slope of 30 degrees, friction μ = 0.5, in a world described by SDF, which the
// DART plugin of Gazebo's physics library (ignition-physics 5, of the release Fortress) makes and
// steps. After t = 1 s its speed is t g (sin a − μ cos a), whatever the heading of downhill. The
// world runs with DART's own solver, and with carom's in its place. Ends with 1 where carom's speed
// is wrong by more than 1e-4 m/s.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <dart/constraint/BoxedLcpConstraintSolver.hpp>
#include <ignition/physics/ForwardStep.hh>
#include <ignition/physics/FrameSemantics.hh>
#include <ignition/physics/GetEntities.hh>
#include <ignition/physics/Link.hh>
#include <ignition/physics/RequestEngine.hh>
#include <ignition/physics/dartsim/World.hh>
#include <ignition/physics/sdf/ConstructWorld.hh>
#include <ignition/plugin/Loader.hh>
#include <memory>
#include <numbers>
#include <sdf/Root.hh>
#include <sdf/World.hh>
#include <stdexcept>
#include <string>

#include "carom/adapters/dart.hpp"

#include "engines/slope_engines.hpp"

namespace {

using namespace carom::engines;
namespace physics = ignition::physics;

struct Features
    : physics::FeatureList<physics::ForwardStep, physics::GetEntities, physics::LinkFrameSemantics,
                           physics::sdf::ConstructSdfWorld, physics::dartsim::RetrieveWorld> {};

constexpr double steepness = std::numbers::pi / 6;
constexpr int steps = 1000;  // of 1 ms, DART's own

/// A box that touches with the friction of the slope.
std::string collision(const std::string& pose, const std::string& size) {
  const std::string mu = std::to_string(friction);
  return "<collision name='c'><pose>" + pose + "</pose><geometry><box><size>" + size +
         "</size></box></geometry><surface><friction><ode><mu>" + mu + "</mu><mu2>" + mu +
         "</mu2></ode></friction></surface></collision>";
}

/// The world, with gravity turned in the place of the ground.
std::string describe(double heading) {
  const double down = gravity * std::sin(steepness);
  const std::string pull = std::to_string(down * std::cos(heading)) + " " +
                           std::to_string(down * std::sin(heading)) + " " +
                           std::to_string(-gravity * std::cos(steepness));
  return "<sdf version='1.9'><world name='slope'><gravity>" + pull + "</gravity>" +
         "<model name='ground'><static>1</static><link name='link'>" +
         collision("0 0 -0.5 0 0 0", "40 40 1") + "</link></model>" +
         "<model name='block'><pose>0 0 0.1 0 0 0</pose><link name='link'><inertial><mass>" +
         std::to_string(mass) +
         "</mass><inertia><ixx>0.03</ixx><iyy>0.03</iyy><izz>0.05</izz></inertia></inertial>" +
         collision("0 0 0 0 0 0", "0.4 0.4 0.2") + "</link></model></world></sdf>";
}

/// Gives carom's solver to a world, with the detection of collisions that the world has.
/// @return  the solver, for its report().
std::shared_ptr<carom::DartLcpSolver> exchange_solver(dart::simulation::World& world) {
  const auto solver = std::make_shared<carom::DartLcpSolver>();
  auto exact = std::make_unique<dart::constraint::BoxedLcpConstraintSolver>(solver, nullptr);
  exact->getCollisionOption() = world.getConstraintSolver()->getCollisionOption();
  exact->setCollisionDetector(world.getConstraintSolver()->getCollisionDetector());
  world.setConstraintSolver(std::move(exact));
  return solver;
}

/// Downhill speed at the end [m/s].
double slide(double heading, Solver solver) {
  ignition::plugin::Loader loader;
  loader.LoadLib(CAROM_DARTSIM_PLUGIN);
  const auto engine = physics::RequestEngine3d<Features>::From(
      loader.Instantiate("ignition::physics::dartsim::Plugin"));
  if (!engine) throw std::runtime_error("the plugin lacks a feature: " CAROM_DARTSIM_PLUGIN);
  sdf::Root root;
  if (const sdf::Errors errors = root.LoadSdfString(describe(heading)); !errors.empty()) {
    throw std::runtime_error(errors.front().Message());
  }
  const auto world = engine->ConstructWorld(*root.WorldByIndex(0));
  std::shared_ptr<carom::DartLcpSolver> exact;
  if (solver == Solver::carom) exact = exchange_solver(*world->GetDartsimWorld());
  physics::ForwardStep::Input input;
  physics::ForwardStep::Output output;
  physics::ForwardStep::State state;
  for (int step = 0; step < steps; ++step) {
    world->Step(output, state, input);
    if (exact && !exact->report().converged()) throw std::runtime_error("a step is not solved");
  }
  const auto block = world->GetModel("block")->GetLink("link");
  const Eigen::Vector3d velocity = block->FrameDataRelativeToWorld().linearVelocity;
  return velocity.x() * std::cos(heading) + velocity.y() * std::sin(heading);
}

}  // namespace

int main() try {
  const double exact =
      1e-3 * steps * gravity * (std::sin(steepness) - friction * std::cos(steepness));
  std::printf("downhill speed [m/s], exact %.4f\n heading      DART     carom\n", exact);
  double worst = 0;
  for (int degrees = 0; degrees <= 90; degrees += 15) {
    const double heading = degrees * std::numbers::pi / 180;
    const double own = slide(heading, Solver::own), ours = slide(heading, Solver::carom);
    std::printf("%8d  %8.4f  %8.4f\n", degrees, own, ours);
    worst = std::max(worst, std::abs(ours - exact));
  }
  std::printf("largest error of carom's: %.1e\n", worst);
  return worst < 1e-4 ? 0 : 1;
} catch (const std::exception& fault) {
  std::fprintf(stderr, "%s\n", fault.what());
  return 1;
}
