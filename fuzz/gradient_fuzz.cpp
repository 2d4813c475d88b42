// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: bytes as a tame contact problem and a change of its data. The derivative of the
// answer must be the limit of its differences, unless a block is on a boundary; the two products
// must be each other's transposes.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "carom/solvers/contact_solver.hpp"
#include "carom/solvers/coulomb_derivative.hpp"
#include "carom/solvers/sap_derivative.hpp"

#include "structured_problem.hpp"

namespace {

using carom::ContactProblem, carom::FrictionLaw, carom::Index, carom::ProblemDifferential;
using carom::VectorX;
using carom::fuzz::demand, carom::fuzz::Draws;
using Planted = carom::fuzz::PlantedProblem<double>;

struct Answer {
  VectorX<double> velocity, impulse;
  bool found = false;
};

Answer solve(const ContactProblem<double>& problem, FrictionLaw law, const VectorX<double>& guess) {
  carom::ContactSolver<double> solver({.law = law, .tolerance = 1e-13, .iteration_limit = 100});
  Answer answer;
  const auto report = solver.solve_from(problem, guess, answer.velocity);
  answer.impulse = solver.impulse();
  answer.found = report.residual <= 1e-11;
  return answer;
}

/// A change of the numbers that set_law() and set_free_velocity() can change.
ProblemDifferential<double> draw_change(Draws& draws, const ContactProblem<double>& problem) {
  ProblemDifferential<double> change;
  change.set_zero(problem);
  draws.fill(change.free_velocity, 1);
  draws.fill(change.bias_velocity, 1);
  for (Index i = 0; i < problem.block_count(); ++i) {
    if (problem.is_friction_contact(i)) {
      change.friction(i) = problem.friction_contact_law(i).friction * (2 * draws.unit() - 1);
    }
  }
  return change;
}
ContactProblem<double> moved(const ContactProblem<double>& problem,
                             const ProblemDifferential<double>& change, double h) {
  ContactProblem<double> result = problem;
  const VectorX<double> free = problem.free_velocity() + h * change.free_velocity;
  result.set_free_velocity(carom::as_span(free));
  for (Index i = 0; i < problem.block_count(); ++i) {
    auto law = problem.law(i);
    for (int r = 0; r < law.set.rows; ++r) {
      law.bias_velocity(r) += h * change.bias_velocity(problem.first_row(i) + r);
    }
    if (problem.is_friction_contact(i)) law.set.friction(0) += h * change.friction(i);
    result.set_law(i, law);
  }
  return result;
}

template <typename Derivative>
void check(const Planted& planted, const Answer& answer, Draws& draws, FrictionLaw law,
           Derivative& derivative) {
  const ContactProblem<double>& problem = planted.problem;
  const auto change = draw_change(draws, problem);
  VectorX<double> forward;
  const auto report = derivative.push_forward(problem, change, forward);
  if (!report.converged()) return;
  demand(forward.allFinite(), "the change of the velocity is finite");
  // Transposes.
  VectorX<double> by_velocity(problem.velocity_count());
  draws.fill(by_velocity, 1);
  ProblemDifferential<double> gradient;
  gradient.set_zero(problem);
  if (derivative.pull_back(problem, by_velocity, gradient).converged()) {
    const double left = by_velocity.dot(forward), right = gradient.dot(change);
    const double size = by_velocity.norm() * forward.norm() +
                        gradient.free_velocity.norm() * change.free_velocity.norm() +
                        gradient.bias_velocity.norm() * change.bias_velocity.norm() +
                        gradient.friction.norm() * change.friction.norm();
    demand(std::abs(left - right) <= 1e-7 * size, "the products are each other's transposes",
           std::abs(left - right), size);
  }
  // Differences of two widths: they tell how good differences are here.
  double errors[2] = {}, curved = 0;
  VectorX<double> differences[2];
  for (int k = 0; k < 2; ++k) {
    const double h = k == 0 ? 1e-5 : 1e-6;
    const Answer ahead = solve(moved(problem, change, h), law, answer.impulse);
    const Answer behind = solve(moved(problem, change, -h), law, answer.impulse);
    if (!ahead.found || !behind.found) return;
    differences[k] = (ahead.velocity - behind.velocity) / (2 * h);
    errors[k] = (differences[k] - forward).norm();
    curved = (ahead.velocity + behind.velocity - 2 * answer.velocity).norm() / h;
  }
  // Where the differences disagree, or the two sides do, a block changes its region within them, or
  // another answer was found.
  const double size = forward.norm() + differences[1].norm();
  const double trust = (differences[0] - differences[1]).norm() + curved + 1e-5 * size + 1e-8;
  if (std::min(errors[0], errors[1]) <= 10 * trust + 1e-4 * size) return;
  // A region may be narrower than these widths: within it narrower differences agree, up to the
  // error of the answers.
  double least = std::min(errors[0], errors[1]);
  for (const double h : {1e-8, 1e-9}) {
    const Answer ahead = solve(moved(problem, change, h), law, answer.impulse);
    const Answer behind = solve(moved(problem, change, -h), law, answer.impulse);
    if (!ahead.found || !behind.found) return;
    const VectorX<double> difference = (ahead.velocity - behind.velocity) / (2 * h);
    least = std::min(least, (difference - forward).norm());
  }
  demand(least <= 1e-3 * size, "the derivative is the limit of differences", least, trust);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Draws draws(data, size);
  const FrictionLaw law = draws.pick({FrictionLaw::coulomb, FrictionLaw::convex});
  carom::fuzz::ProblemShape shape;
  shape.most_blocks = 6;
  shape.softness = draws.pick({carom::fuzz::Softness::rigid, carom::fuzz::Softness::compliant,
                               carom::fuzz::Softness::mixed});
  const Planted planted = carom::fuzz::plant_problem<double>(draws, shape, law);
  const ContactProblem<double>& problem = planted.problem;
  const Answer answer = solve(problem, law, planted.impulse);
  if (!answer.found) return 0;
  if (law == FrictionLaw::convex && problem.rigid_count() == 0 && draws.chance(0.5)) {
    carom::SapDerivative<double> derivative;
    const auto linear = derivative.linearize(problem, answer.velocity);
    if (linear.usable() && linear.boundary_count == 0)
      check(planted, answer, draws, law, derivative);
    return 0;
  }
  carom::CoulombDerivative<double> derivative({.law = law});
  const auto linear = derivative.linearize(problem, answer.velocity, answer.impulse);
  if (linear.usable() && linear.boundary_count == 0) check(planted, answer, draws, law, derivative);
  return 0;
}
