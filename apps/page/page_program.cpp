// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What the interactive figures of the page ask the library, as functions that a script can call.
/// scripts/page.sh compiles this file to WebAssembly; apps/page/carom.js calls it.
///
/// Numbers go in as arguments or through page_input(), come out through page_output(), whose count
/// the functions return; words come out through page_text(). A negative count: the input is out of
/// range.
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "carom/cones/friction_cone.hpp"
#include "carom/impact/outcomes.hpp"
#include "carom/impact/resolve.hpp"
#include "carom/impact/uniqueness.hpp"

#include "scenes/order_tree.hpp"
#include "scenes/touching_balls.hpp"

namespace {

using carom::Index;
using Vector = carom::VectorX<double>;

constexpr int most_balls = 6;
constexpr int out_of_range = -1;
constexpr double heaviest = 1e3;  ///< Mass of a ball, and the inverse of the least.

std::array<double, std::size_t(2 * most_balls)> input;
std::vector<double> output;
std::string text;

int output_count() {
  return int(output.size());
}

void write(const Vector& numbers) {
  output.insert(output.end(), numbers.begin(), numbers.end());
}

bool is_mass(double mass) {
  return mass >= 1 / heaviest && mass <= heaviest;
}

/// The balls of page_input(): their masses, then their velocities.
struct Cradle {
  carom::examples::ImpactScene scene;
  Vector momentum;

  explicit Cradle(int balls)
      : scene(carom::examples::ball_line({input.begin(), input.begin() + balls})),
        momentum(
            scene.momentum(Eigen::Map<const Vector>(input.data() + balls, Eigen::Index(balls)))) {}

  [[nodiscard]] static bool accepts(int balls) {
    if (balls < 1 || balls > most_balls) return false;
    for (std::size_t i = 0; i < std::size_t(balls); ++i) {
      const double velocity = input[std::size_t(balls) + i];
      if (!is_mass(input[i]) || !(std::abs(velocity) <= heaviest)) return false;
    }
    return true;
  }
};

/// Live pictures wait for the answer: fewer momenta than a program would look at.
carom::OutcomeOptions<double> live_options() {
  carom::OutcomeOptions<double> options;
  options.state_limit = 20'000;
  return options;
}

/// The outcomes of orders, which the page draws; without that of contacts together.
carom::ImpactOutcomes<double> outcomes_of(const carom::examples::ImpactScene& scene,
                                          const Vector& momentum) {
  auto all = enumerate_outcomes(scene.problem, scene.mass, momentum, live_options());
  std::erase_if(all.outcomes, [](const auto& outcome) { return outcome.together; });
  return all;
}

}  // namespace

extern "C" {

/// Where masses and velocities go in, 12 numbers.
double* page_input() {
  return input.data();
}
/// Where numbers come out.
const double* page_output() {
  return output.data();
}
/// Words of the last answer, ended by a zero.
const char* page_text() {
  return text.c_str();
}

/// Projects (x, y, z) onto the friction cone. Out: the point, then the derivative row by row.
/// Words: the region.
int page_project(double friction, double tangent_weight, double normal_weight, double x, double y,
                 double z) {
  const bool valid = friction >= 0 && tangent_weight > 0 && normal_weight > 0 &&
                     std::isfinite(friction + tangent_weight + normal_weight + x + y + z);
  if (!valid) return out_of_range;
  const carom::FrictionCone<double> cone{friction};
  const carom::ContactWeights<double> weights{tangent_weight, normal_weight};
  const carom::Vector3<double> trial(x, y, z);
  const auto projection = project(cone, weights, trial);
  const carom::SquareMatrix<double, 3> slope = projection_derivative(cone, weights, trial);
  output.clear();
  write(projection.point);
  for (Index row = 0; row < 3; ++row) write(slope.row(row).transpose());
  text = carom::to_string(projection.region);
  return output_count();
}

/// Every way balls in line can end. Out: how many; whether all were found; whether there is one
/// whatever the velocities; ξ; momenta met on the way; then for each outcome its velocities, the
/// length of its order, the order. Words: why there is one outcome for all velocities, or
/// "unknown".
int page_cradle(int balls) {
  if (!Cradle::accepts(balls)) return out_of_range;
  const Cradle cradle(balls);
  const auto& [scene, momentum] = cradle;
  const carom::Uniqueness uniqueness = classify(scene.problem);
  const auto all = outcomes_of(scene, momentum);
  output.assign({double(all.outcomes.size()), all.complete ? 1.0 : 0.0,
                 uniqueness.unique() ? 1.0 : 0.0, all.indeterminacy, double(all.states)});
  for (const auto& outcome : all.outcomes) {
    write(scene.velocity(outcome.momentum));
    output.push_back(double(outcome.sequence.size()));
    for (const Index contact : outcome.sequence) output.push_back(double(contact));
  }
  text = to_string(uniqueness);
  return output_count();
}

/// The tree of orders of the same impact. Out: how many orders; whether all are drawn; then for
/// each node its parent, contact, level, outcome and column, as OrderTree has them.
int page_tree(int balls, int limit) {
  if (!Cradle::accepts(balls) || limit < 1) return out_of_range;
  const Cradle cradle(balls);
  const auto& [scene, momentum] = cradle;
  const auto all = outcomes_of(scene, momentum);
  const auto tree = carom::examples::make_order_tree(scene, momentum, all, limit);
  output.assign({double(tree.order_count), tree.complete ? 1.0 : 0.0});
  for (const auto& node : tree.nodes) {
    output.insert(output.end(), {double(node.parent), double(node.contact), double(node.level),
                                 double(node.outcome), node.column});
  }
  return output_count();
}

/// One impact of balls in line, the contact that closes fastest first. Out: velocities,
/// reflections.
int page_impact(int balls) {
  if (!Cradle::accepts(balls)) return out_of_range;
  Cradle cradle(balls);
  carom::ImpactResolver<double, carom::MostInfeasibleFirst<double>> resolver;
  resolver.prepare(cradle.scene.problem);
  const auto report = resolver.resolve(cradle.scene.problem, cradle.momentum);
  output.clear();
  write(cradle.scene.velocity(cradle.momentum));
  output.push_back(double(report.reflections));
  return output_count();
}

/// The break shot: a ball of mass `cue` runs at unit speed along x between two of mass 1 that it
/// touches under the angle theta [rad]. Out: ξ; then for each outcome the velocities (x, y) of the
/// cue ball, the upper and the lower ball, and the contact that reflected first.
int page_billiards(double theta, double cue) {
  if (!(theta >= 0 && theta <= 7) || !is_mass(cue)) return out_of_range;
  const auto scene = carom::examples::billiards(theta, cue);
  const Vector momentum = scene.momentum(Vector::Unit(6, 0));
  const auto all = outcomes_of(scene, momentum);
  output.assign({all.indeterminacy});
  for (const auto& outcome : all.outcomes) {
    write(scene.velocity(outcome.momentum));
    output.push_back(outcome.sequence.empty() ? -1.0 : double(outcome.sequence.front()));
  }
  text = to_string(classify(scene.problem));
  return output_count();
}

}  // extern "C"
