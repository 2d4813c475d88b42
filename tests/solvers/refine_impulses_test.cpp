// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/refine_impulses.hpp"

#include "carom/contact/delassus_form.hpp"
#include "carom/solvers/impulse_certificate.hpp"

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/raw_problem.hpp"
#include "support/stacks.hpp"
#include "support/tolerance.hpp"

namespace refine_impulses_test {

using carom::ContactMethod, carom::ContactProblem, carom::ContactSolver, carom::FrictionLaw;
using carom::SolveStatus, carom::VectorX;
using carom::testing::by_solver;

/// Natural map error of impulses, measured from W + R and q only.
double error_of(const ContactProblem<double>& problem, const VectorX<double>& impulse) {
  carom::DelassusForm<double> form;
  carom::DelassusProblem<double> dual;
  form.write(problem, dual);
  return certify(dual, impulse, FrictionLaw::convex).natural_map_error;
}

/// Nearly rigid problems: stacks that are pushed, and random bodies.
/// @param softness  R relative to the diagonal of W [-].
template <typename Observe>
void for_each_problem(double softness, const Observe& observe) {
  for (const int count : {1, 4}) {
    observe(carom::testing::build(carom::testing::make_stack(
        {.count = count, .normal = softness, .tangent = softness, .push = 0.3})));
  }
  carom::testing::VectorSource<double> source(17u);
  for (int round = 0; round < 60; ++round) {
    carom::testing::RawProblem raw = carom::testing::draw_problem(source, {.contact_count = 4});
    for (auto& contact : raw.contacts) {
      contact.law.regularization.tangent *= softness;
      contact.law.regularization.normal *= softness;
    }
    observe(carom::testing::build(raw));
  }
}

TEST_CASE("refine_impulses: restores the digits of nearly rigid contact", "[solvers][law]") {
  int refined = 0;
  for (const double softness : {1e-4, 1e-6, 1e-8}) {
    for_each_problem(softness, [&](const ContactProblem<double>& problem) {
      const double tolerance = 1e-13;
      ContactSolver<double> sap(
          {.law = FrictionLaw::convex, .method = ContactMethod::sap, .tolerance = tolerance});
      VectorX<double> velocity = problem.free_velocity();
      const auto begun = sap.solve(problem, velocity);
      if (begun.status != SolveStatus::no_progress) return;
      VectorX<double> impulse = sap.impulse();
      const double before = error_of(problem, impulse);
      ContactSolver<double> solver({.law = FrictionLaw::convex, .tolerance = tolerance});
      const auto report = refine_impulses(solver, problem, velocity, impulse, begun);
      const double after = error_of(problem, impulse);
      CAPTURE(softness, before, after, report.iterations - begun.iterations);
      CHECK(report.residual <= begun.residual);
      if (begun.residual <= 1e-8) CHECK(report.iterations - begun.iterations <= 12);
      CHECK(solver.limits().iteration_limit == carom::SolveLimits().iteration_limit);
      if (!report.converged()) return;
      ++refined;
      CHECK(after <= by_solver(1e-12));
      VectorX<double> own = velocity;
      write_velocity(problem, impulse, own);
      CHECK((own - velocity).norm() <= by_solver(1e-10) * (1 + own.norm()));
      CHECK(report.error_bound == certify(problem, velocity, impulse).velocity_error_bound);
    });
  }
  CHECK(refined >= 30);
}

TEST_CASE("refine_impulses: keeps the better answer, and one that is rigid or out of limits",
          "[solvers][law]") {
  const auto raw = carom::testing::make_stack({.count = 3, .normal = 1e-6, .tangent = 1e-6});
  ContactProblem<double> problem = carom::testing::build(raw);
  ContactSolver<double> sap(
      {.law = FrictionLaw::convex, .method = ContactMethod::sap, .tolerance = 1e-13});
  VectorX<double> velocity = problem.free_velocity();
  const auto begun = sap.solve(problem, velocity);
  const VectorX<double> impulse = sap.impulse(), given = velocity;
  VectorX<double> kept = impulse;
  ContactSolver<double> solver({.law = FrictionLaw::convex, .tolerance = 1e-13});
  solver.set_limits({.iteration_limit = 0});
  CHECK(refine_impulses(solver, problem, velocity, kept, begun).residual == begun.residual);
  CHECK((kept == impulse && velocity == given));
  solver.set_limits({});
  auto perfect = begun;
  perfect.residual = 0;
  CHECK(refine_impulses(solver, problem, velocity, kept, perfect).residual == 0);
  CHECK((kept == impulse && velocity == given));
  problem.make_rigid();
  CHECK(refine_impulses(solver, problem, velocity, kept, begun).iterations == begun.iterations);
  CHECK((kept == impulse && velocity == given));
}

TEST_CASE("refine_impulses: leaves the answer of a heap of many blocks as it is",
          "[solvers][law]") {
  ContactProblem<double> heap(0.01);
  const Eigen::Matrix3d unit = Eigen::Matrix3d::Identity();
  while (heap.block_count() < carom::detail::ContactSolverTuning::proximal_blocks) {
    heap.add_contact(heap.add_body(unit, Eigen::Vector3d(0, 0, -1)), unit,
                     carom::WeightedContact<double>{0.5, {1e-6, 1e-6}, Eigen::Vector3d::Zero()});
  }
  VectorX<double> velocity = heap.free_velocity();
  VectorX<double> impulse = VectorX<double>::Zero(heap.impulse_count());
  carom::SolveReport<double> begun;
  begun.measure = carom::ResidualMeasure::block_error;
  begun.residual = 1;
  ContactSolver<double> solver({.law = FrictionLaw::convex});
  CHECK(refine_impulses(solver, heap, velocity, impulse, begun).residual == 1);
  CHECK((impulse.isZero(0) && velocity == heap.free_velocity()));
}

}  // namespace refine_impulses_test
