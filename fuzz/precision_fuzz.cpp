// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: bytes as a contact problem of floats, solved in float and, with exactly these
// numbers, in double. Of compliant contact under the convex law the answers, and any other
// velocity, can be no farther apart than the sum of their proven bounds. Of the rest, what float
// calls converged must be so for the judge in double.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "carom/solvers/answer_error.hpp"
#include "carom/solvers/contact_certificate.hpp"
#include "carom/solvers/contact_solver.hpp"

#include "structured_problem.hpp"

namespace {

using carom::ContactProblem, carom::FrictionLaw, carom::Index, carom::VectorX;
using carom::fuzz::demand, carom::fuzz::Draws;
using Planted = carom::fuzz::PlantedProblem<float>;

constexpr double epsilon = std::numeric_limits<float>::epsilon();

carom::WeightedBlock<double> in_double(const carom::WeightedBlock<float>& law) {
  carom::WeightedBlock<double> same;
  same.set.shape = law.set.shape;
  same.set.rows = law.set.rows;
  same.set.lower = law.set.lower.cast<double>();
  same.set.upper = law.set.upper.cast<double>();
  same.set.friction = law.set.friction.cast<double>();
  same.set.shift = law.set.shift.cast<double>();
  same.regularization = law.regularization.cast<double>();
  same.bias_velocity = law.bias_velocity.cast<double>();
  same.rigid = law.rigid;
  return same;
}

/// The same problem, without rounding: it stores A, v*, J and the laws as they were given.
ContactProblem<double> in_double(const ContactProblem<float>& problem) {
  ContactProblem<double> same(problem.time_step());
  for (Index b = 0; b < problem.body_count(); ++b) {
    const auto [start, size] = problem.body(b);
    same.add_body(problem.momentum_matrix(b).cast<double>(),
                  problem.free_velocity().segment(start, size).cast<double>());
  }
  for (Index i = 0; i < problem.block_count(); ++i) {
    const auto law = in_double(problem.law(i));
    problem.visit(i, [&](const auto& block) {
      const auto side = [&](int s) { return block.columns(s).transpose().template cast<double>(); };
      if (block.side_count() == 1) {
        same.add_constraint(block.side(0).body, side(0), law);
      } else {
        same.add_constraint(block.side(0).body, side(0), block.side(1).body, side(1), law);
      }
    });
  }
  return same;
}

template <typename Scalar>
struct Answer {
  VectorX<Scalar> velocity, impulse;
  carom::SolveReport<Scalar> report;
};

template <typename Scalar>
Answer<Scalar> solve(const ContactProblem<Scalar>& problem, FrictionLaw law, Scalar tolerance) {
  carom::ContactSolver<Scalar> solver({.law = law, .tolerance = tolerance, .iteration_limit = 200});
  Answer<Scalar> answer;
  answer.velocity = problem.free_velocity();
  answer.report = solver.solve(problem, answer.velocity);
  answer.impulse = solver.impulse();
  demand(answer.velocity.allFinite() && answer.impulse.allFinite(), "the answer is finite");
  demand(answer.report.residual >= 0, "the residual is a number");
  return answer;
}

/// ‖v − v_opt‖_A has a proven bound for any v, in float with the rounding of float.
void check_bounds(Draws& draws, const Planted& planted, const ContactProblem<double>& exact,
                  const Answer<float>& by_float, const Answer<double>& by_double) {
  VectorX<float> any = planted.velocity;
  draws.fill(any, 2);
  const double known = certify(exact, by_double.velocity).velocity_error_bound;
  for (const VectorX<float>& velocity :
       {by_float.velocity, VectorX<float>(by_double.velocity.cast<float>()), planted.velocity,
        VectorX<float>(planted.problem.free_velocity()), any}) {
    if (!velocity.allFinite()) continue;
    const double bound = double(certify(planted.problem, velocity).velocity_error_bound) + known;
    VectorX<double> apart = velocity.cast<double>() - by_double.velocity;
    exact.whiten(carom::as_span(apart));
    demand(!(apart.norm() > bound * (1 + 1e-12)),
           "float and double are no farther apart than their bounds", apart.norm(), bound);
  }
}

/// The impulses relative to the slowest body [-]: a velocity has the rounding of the impulses that
/// make it, and those of jammed contacts may be far larger than what moves.
double effort(const ContactProblem<double>& problem, const VectorX<float>& impulse) {
  double pushes = 0, slowest = std::numeric_limits<double>::infinity();
  problem.for_each_block([&](const auto& block) {
    for (int s = 0; s < block.side_count(); ++s) {
      for (int r = 0; r < block.rows(); ++r) {
        pushes += block.whitened_columns(s).col(r).norm() *
                  std::abs(double(impulse(block.first_row() + r)));
      }
    }
  });
  for (Index b = 0; b < problem.body_count(); ++b) {
    const auto [start, size] = problem.body(b);
    const double motion = problem.whitened_free_velocity().segment(start, size).norm();
    if (motion > 0) slowest = std::min(slowest, motion);
  }
  return pushes / slowest;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Draws draws(data, size);
  const FrictionLaw law =
      draws.pick({FrictionLaw::convex, FrictionLaw::convex, FrictionLaw::coulomb});
  const float tolerance = draws.pick({1e-4f, 1e-3f, 1e-5f});
  auto shape = carom::fuzz::draw_shape(draws);
  if (law == FrictionLaw::convex) shape.softness = carom::fuzz::Softness::compliant;
  shape.decades = std::min(shape.decades, 6.0);  // products of masses stay numbers of float
  const Planted planted = carom::fuzz::plant_problem<float>(draws, shape, law);
  const ContactProblem<double> exact = in_double(planted.problem);
  const auto by_float = solve<float>(planted.problem, law, tolerance);
  if (law == FrictionLaw::convex && planted.problem.rigid_count() == 0) {
    check_bounds(draws, planted, exact, by_float, solve<double>(exact, law, 1e-10));
  }
  if (carom::fuzz::is_tame(shape) && law == FrictionLaw::convex && tolerance > 1e-4f) {
    demand(by_float.report.converged(), "a tame convex problem is solved in float",
           by_float.report.residual, tolerance);
  }
  // Of wild numbers the residual in float has errors of its own, which have no bound here.
  if (!by_float.report.converged() || !carom::fuzz::is_tame(shape)) return 0;
  const auto judged = [&](const VectorX<float>& velocity, const VectorX<float>& impulse) {
    return judge_answer(exact, law, VectorX<double>(velocity.cast<double>()),
                        VectorX<double>(impulse.cast<double>()))
        .residual;
  };
  const double found = judged(by_float.velocity, by_float.impulse),
               known = judged(planted.velocity, planted.impulse);
  const double allowed = 1.01 * double(by_float.report.residual_target) +
                         10 * epsilon * effort(exact, by_float.impulse) + 300 * epsilon;
  demand(found <= allowed + 30 * known, "the judge in double agrees with that in float", found,
         allowed);
  return 0;
}
