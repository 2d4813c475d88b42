// SPDX-License-Identifier: BSD-3-Clause
// The systems of `carom simulate`, read from their parameters.
#include "cli/simulated_systems.hpp"

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/parameters.hpp"
#include "cli/simulation.hpp"
#include "io/number_text.hpp"
#include "scenes/billiards.hpp"
#include "scenes/line_of_balls.hpp"
#include "scenes/rocking_block.hpp"
#include "scenes/simple_systems.hpp"
#include "scenes/trex_drop.hpp"

namespace carom::cli {
namespace {

using files::NumberRange;
using Vector = VectorX<double>;
using Numbers = std::vector<double>;

Vector vector_of(const Numbers& numbers) {
  return Eigen::Map<const Vector>(numbers.data(), Index(numbers.size()));
}

/// Total momentum along each of the axes; the coordinates run through the axes in turn.
auto total_momentum(Index axes) {
  return [axes](const MechanicalState<double>& state) {
    Vector sum = Vector::Zero(axes);
    for (Index k = 0; k < state.momentum.size(); ++k) sum(k % axes) += state.momentum(k);
    return std::pair(sum, state.momentum.cwiseAbs().sum());
  };
}

SimulationRun run_of(const Scene& scene) {
  return [scene](const SimulationPlan& plan) { return Simulation(scene, plan).run(); };
}

SimulationRun read_bouncing_ball(Parameters& given) {
  const Vector q = Vector::Constant(1, given.number("height", NumberRange::nonnegative));
  const examples::BouncingBall ball{given.number_or("mass", 1, NumberRange::positive),
                                    given.number_or("gravity", 9.81, NumberRange::nonnegative)};
  given.end();
  return run_of({AnySystem(ball), q, Vector::Zero(1)});
}

SimulationRun read_pendulum(Parameters& given) {
  const examples::PointPendulum pendulum{given.number_or("length", 1, NumberRange::positive),
                                         given.number_or("mass", 1, NumberRange::positive),
                                         given.number_or("gravity", 9.81)};
  const Vector q = Vector::Constant(1, given.number("angle"));
  const Vector velocity = Vector::Constant(1, given.number_or("rate", 0));
  given.end();
  return run_of({AnySystem(pendulum), q, velocity});
}

SimulationRun read_double_pendulum(Parameters& given) {
  const Numbers lengths = given.numbers("lengths", 2, NumberRange::positive);
  const Numbers masses = given.numbers("masses", 2, NumberRange::positive);
  const examples::PointDoublePendulum pendulum{lengths[0], lengths[1], masses[0], masses[1],
                                               given.number_or("gravity", 9.81)};
  const Vector q = vector_of(given.numbers("angles", 2));
  const Vector velocity =
      given.has("rates") ? vector_of(given.numbers("rates", 2)) : Vector(Vector::Zero(2));
  given.end();
  return run_of({AnySystem(pendulum), q, velocity});
}

SimulationRun read_oscillator(Parameters& given) {
  const examples::SpringMass spring{given.number_or("mass", 1, NumberRange::positive),
                                    given.number_or("stiffness", 1, NumberRange::nonnegative)};
  const Vector q = Vector::Constant(1, given.number("position"));
  const Vector velocity = Vector::Constant(1, given.number_or("velocity", 0));
  given.end();
  return run_of({AnySystem(spring), q, velocity});
}

SimulationRun line_run(const examples::LineStart& start) {
  Scene scene{AnySystem(start.balls), start.q, start.velocity};
  if (!start.balls.left && !start.balls.right) scene.kept = total_momentum(1);
  return run_of(scene);
}

SimulationRun read_cradle(Parameters& given) {
  const Numbers masses = given.numbers("masses", NumberRange::positive);
  if (masses.empty()) refuse(given.place("masses"), "at least one number", "none");
  const double radius = given.number_or("radius", 0, NumberRange::nonnegative);
  const Numbers gaps = given.has("gaps")
                           ? given.numbers("gaps", masses.size() - 1, NumberRange::nonnegative)
                           : Numbers(masses.size() - 1, 0.0);
  const Numbers velocities = given.numbers("velocities", masses.size());
  examples::LineStart start = examples::make_cradle(masses, radius, gaps, velocities);
  if (given.has("left")) start.balls.left = given.number("left");
  if (given.has("right")) start.balls.right = given.number("right");
  given.end();
  Vector open(start.balls.gap_count());
  start.balls.write_gaps(start.q, open);
  const Index last = start.q.size() - 1;
  if (start.balls.left && open(last) < 0) {
    refuse(given.place("left"), "a wall left of the first ball, whose centre starts at 0",
           files::format_number(*start.balls.left));
  }
  if (start.balls.right && open(open.size() - 1) < 0) {
    refuse(given.place("right"),
           "a wall right of the last ball, which ends at " +
               files::format_number(start.q(last) + radius),
           files::format_number(*start.balls.right));
  }
  return line_run(start);
}

SimulationRun read_galperin(Parameters& given) {
  const double exponent = given.number("exponent", NumberRange::nonnegative);
  if (exponent != std::floor(exponent) || exponent > 5) {
    refuse(given.place("exponent"), "a whole number from 0 to 5",
           describe(given.field("exponent")));
  }
  given.end();
  return line_run(examples::make_galperin(int(exponent)));
}

SimulationRun read_billiards(Parameters& given) {
  examples::Billiards balls;
  balls.masses = given.numbers("masses", NumberRange::positive);
  const std::size_t count = balls.masses.size();
  if (count == 0) refuse(given.place("masses"), "at least one number", "none");
  balls.radii = given.numbers("radii", count, NumberRange::positive);
  const Vector q = vector_of(given.points("positions", count));
  const Vector velocity = vector_of(given.points("velocities", count));
  if (given.has("table")) {
    const Numbers sides = given.numbers("table", 2, NumberRange::positive);
    balls.table = examples::BilliardTable{sides[0], sides[1]};
  }
  given.end();
  Vector open(balls.gap_count());
  balls.write_gaps(q, open);
  if (open.size() > 0 && open.minCoeff() < -1e-9) {
    refuse(given.place("positions"), "balls that do not overlap and lie on the table",
           "an overlap of " + files::format_rounded(-open.minCoeff(), 6));
  }
  Scene scene{AnySystem(balls), q, velocity};
  if (!balls.table) scene.kept = total_momentum(2);
  return run_of(scene);
}

SimulationRun read_kepler(Parameters& given) {
  const double e = given.number("eccentricity", NumberRange::nonnegative);
  if (e >= 1)
    refuse(given.place("eccentricity"), "a number in [0, 1)",
           describe(given.field("eccentricity")));
  given.end();
  // Starts at the nearest point of an orbit with half axis 1.
  Scene scene{AnySystem(examples::KeplerOrbit()), Eigen::Vector2d(1 - e, 0),
              Eigen::Vector2d(0, std::sqrt((1 + e) / (1 - e)))};
  scene.kept = [](const MechanicalState<double>& state) {
    const double spin = state.q(0) * state.momentum(1) - state.q(1) * state.momentum(0);
    return std::pair(Vector(Vector::Constant(1, spin)), std::abs(spin));
  };
  return run_of(scene);
}

SimulationRun read_rocking_block(Parameters& given) {
  const double width = given.number("width", NumberRange::positive);
  const double height = given.number("height", NumberRange::positive);
  const examples::RockingBlock block{width, height,
                                     given.number_or("mass", 1, NumberRange::positive),
                                     given.number_or("gravity", 9.81, NumberRange::nonnegative)};
  const double angle = given.number("angle");
  given.end();
  const double balance = block.balance_angle();
  if (std::abs(angle) >= balance) {
    refuse(
        given.place("angle"),
        "a tilt below the balance angle atan(width/height) = " + files::format_rounded(balance, 6),
        describe(given.field("angle")));
  }
  Scene scene{AnySystem(block), Vector::Constant(1, std::abs(angle)), Vector::Zero(1)};
  scene.impact_share = block.rate_ratio();
  scene.mirrored = true;
  scene.first_side = angle < 0 ? -1 : 1;
  return run_of(scene);
}

examples::TrexStance named_stance(const std::string& name) {
  if (name == "straight") return examples::trex_straight();
  examples::TrexStance stance = examples::trex_initial();
  if (name == "optimized" && !examples::optimize_trex(stance).converged()) {
    refuse("parameters.stance", "a stance the design search reaches", name);
  }
  return stance;
}

SimulationRun read_trex(Parameters& given) {
  const std::string stance_name = given.word("stance", {"optimized", "initial", "straight"});
  const double drop = given.number_or("drop", 0.17, NumberRange::nonnegative);
  const std::string order = given.word("order", {"foot_first", "tail_first"});
  given.end();
  const examples::TrexStance stance = named_stance(stance_name);
  Scene scene{AnySystem(examples::Trex(stance.shape, stance.q)), stance.q,
              Vector::Zero(examples::trex_size)};
  scene.q(examples::trex_y) += drop;
  const examples::TrexReflections reflections{
      order == "tail_first" ? examples::TrexOrder::tail_first : examples::TrexOrder::foot_first};
  scene.law = [reflections](double restitution) { return AnyImpactLaw(restitution, reflections); };
  scene.kept = [](const MechanicalState<double>& state) {  // no force acts along the ground
    const auto push = state.momentum.head<2>();
    return std::pair(Vector(push.head<1>()), push.cwiseAbs().sum());
  };
  scene.lossless = false;
  return run_of(scene);
}

using Reader = SimulationRun (*)(Parameters&);

const std::map<std::string, Reader>& readers() {
  static const std::map<std::string, Reader> all{{"bouncing_ball", read_bouncing_ball},
                                                 {"pendulum", read_pendulum},
                                                 {"double_pendulum", read_double_pendulum},
                                                 {"oscillator", read_oscillator},
                                                 {"cradle", read_cradle},
                                                 {"billiards", read_billiards},
                                                 {"galperin", read_galperin},
                                                 {"rocking_block", read_rocking_block},
                                                 {"kepler", read_kepler},
                                                 {"trex", read_trex}};
  return all;
}

}  // namespace

SimulationRun read_simulation(const Json& system, const Json& parameters) {
  const auto found =
      system.is_string() ? readers().find(system.get<std::string>()) : readers().end();
  if (found == readers().end()) {
    std::string list;
    for (const auto& [name, reader] : readers()) list += (list.empty() ? "" : ", ") + name;
    refuse("system", "one of " + list, describe(system));
  }
  Parameters given(parameters);
  return found->second(given);
}

}  // namespace carom::cli
