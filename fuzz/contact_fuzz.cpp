// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: bytes as a contact problem with a known answer and as options of a solver. What
// is reported as converged must be an answer by measures that share no code with the solver; the
// proven bound must hold for the known answer; and nothing may prove that there is none.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "carom/solvers/answer_error.hpp"
#include "carom/solvers/contact_certificate.hpp"
#include "carom/solvers/gauss_seidel.hpp"
#include "carom/solvers/infeasibility_ray.hpp"
#include "carom/solvers/projected_gradient.hpp"
#include "carom/solvers/solve_contact.hpp"
#include "carom/solvers/solve_or_prove.hpp"

#include "structured_problem.hpp"

namespace {

using carom::ContactMethod, carom::ContactProblem, carom::FrictionLaw, carom::Index;
using carom::SolveReport, carom::SolveStatus, carom::VectorX;
using carom::fuzz::demand;
using Planted = carom::fuzz::PlantedProblem<double>;

constexpr double epsilon = std::numeric_limits<double>::epsilon();

struct Answer {
  VectorX<double> velocity, impulse;
};

/// How well the numbers of a problem can be an answer at all: the rounding of the known one.
struct Rounding {
  double judged = 0, momentum = 0, law = 0;
};

/// What holds for every report, and for the answer beside it.
void check_answer(const Planted& planted, FrictionLaw law, const SolveReport<double>& report,
                  const Answer& answer, const Rounding& rounding, bool softened) {
  const ContactProblem<double>& problem = planted.problem;
  demand(answer.velocity.allFinite() && answer.impulse.allFinite(), "the answer is finite");
  demand(report.residual >= 0 && report.residual_target >= 0, "the residual is a number");
  demand(report.error_bound >= 0, "the error bound is a number");
  demand(report.iterations >= 0, "iterations are counted");
  demand(report.status != SolveStatus::infeasible, "a problem with an answer is not infeasible");
  demand(report.status != SolveStatus::not_finite, "numbers within the range of double are finite");
  if (!report.converged()) return;
  demand(report.residual <= report.residual_target, "converged means below the target",
         report.residual, report.residual_target);
  const auto own =
      carom::fuzz::independent_error(problem, law, answer.velocity, answer.impulse, softened);
  const double allowed = 100 * report.residual_target;
  demand(own.momentum <= allowed + 30 * rounding.momentum + 1e3 * epsilon,
         "what converged balances momenta", own.momentum, allowed);
  demand(own.law <= allowed + 30 * rounding.law + 1e3 * epsilon, "what converged obeys its law",
         own.law, allowed);
  if (report.measure != carom::ResidualMeasure::block_error || softened) return;
  const double judged = judge_answer(problem, law, answer.velocity, answer.impulse).residual;
  demand(judged <= report.residual_target * (1 + 1e-6), "the judge agrees", judged,
         report.residual_target);
}

/// The distance of two velocities in the norm of A.
double distance(const ContactProblem<double>& problem, const VectorX<double>& a,
                const VectorX<double>& b) {
  VectorX<double> difference = a - b;
  problem.whiten(carom::as_span(difference));
  return difference.norm();
}

/// Of compliant contact under the convex law each velocity has a proven bound: two of them cannot
/// be farther apart than the sum.
void check_bound(const Planted& planted, const Answer& answer) {
  const auto known = certify(planted.problem, planted.velocity, planted.impulse);
  const auto found = certify(planted.problem, answer.velocity, answer.impulse);
  const double bound = known.velocity_error_bound + found.velocity_error_bound;
  const double apart = distance(planted.problem, answer.velocity, planted.velocity);
  demand(!(apart > bound * (1 + 1e-12)), "the proven bound holds for the known answer", apart,
         bound);
  for (const auto& certificate : {known, found}) {
    for (const double measure :
         {certificate.residual, certificate.velocity_residual, certificate.duality_gap,
          certificate.velocity_error_bound, certificate.cone_violation, certificate.complementarity,
          certificate.natural_map_error}) {
      demand(!std::isnan(measure), "a measure of the certificate is a number");
    }
  }
}

/// The solvers in impulses.
void check_dual(carom::fuzz::Draws& draws, const Planted& planted, FrictionLaw law) {
  carom::DelassusForm<double> form;
  carom::DelassusProblem<double> dual;
  form.write(planted.problem, dual);
  VectorX<double> impulse = VectorX<double>::Zero(planted.problem.impulse_count());
  const double tolerance = draws.pick({1e-4, 1e-8});
  const auto check = [&](const SolveReport<double>& report) {
    demand(impulse.allFinite(), "impulses are finite");
    demand(!std::isnan(report.residual) && report.residual >= 0, "the residual is a number");
    if (!report.converged()) return;
    const auto certificate = certify(dual, impulse, law);
    demand(certificate.cone_violation <= 1e-12 * impulse.norm() + 1e-300,
           "impulses are in their sets", certificate.cone_violation, impulse.norm());
  };
  if (draws.chance(0.5)) {
    carom::GaussSeidel<double> solver({.law = law, .tolerance = tolerance, .iteration_limit = 200});
    check(solver.solve(dual, impulse));
  } else {
    carom::ProjectedGradient<double> solver(
        {.law = law, .tolerance = tolerance, .iteration_limit = 200});
    check(solver.solve(dual, impulse));
  }
}

/// No ray proves that a problem with an answer has none.
void check_proofs(carom::fuzz::Draws& draws, const Planted& planted, FrictionLaw law) {
  VectorX<double> guess = planted.impulse;
  if (draws.chance(0.5)) draws.fill(guess, 4);
  const VectorX<double> ray = refine_ray(planted.problem, law, guess);
  demand(ray.allFinite(), "a ray is finite");
  for (const VectorX<double>* any : {&ray, static_cast<const VectorX<double>*>(&guess)}) {
    const auto certificate = certify_infeasible(planted.problem, law, *any);
    demand(!certificate.infeasible, "no ray proves that a problem with an answer has none",
           certificate.drive, certificate.cancellation);
    const double needed = certificate.velocity_needed;
    const double moved =
        distance(planted.problem, planted.velocity, planted.problem.free_velocity());
    const bool hard = planted.problem.rigid_count() == planted.problem.block_count();
    demand(!hard || !(needed > moved * (1 + 1e-6)),
           "the speed that a ray asks for is not too large", needed, moved);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  carom::fuzz::Draws draws(data, size);
  const FrictionLaw law = draws.pick({FrictionLaw::coulomb, FrictionLaw::convex});
  const ContactMethod method =
      draws.pick({ContactMethod::automatic, ContactMethod::automatic, ContactMethod::sap,
                  ContactMethod::interior_point, ContactMethod::proximal});
  const double tolerance = draws.pick({1e-8, 1e-8, 1e-4, 1e-11});
  const int kind = draws.below(8);
  const auto shape = carom::fuzz::draw_shape(draws);
  const Planted planted = carom::fuzz::plant_problem<double>(draws, shape, law);
  const ContactProblem<double>& problem = planted.problem;

  Rounding rounding;
  const auto known =
      carom::fuzz::independent_error(problem, law, planted.velocity, planted.impulse, false);
  rounding.momentum = known.momentum;
  rounding.law = known.law;
  rounding.judged = judge_answer(problem, law, planted.velocity, planted.impulse).residual;
  if (carom::fuzz::is_tame(shape)) {
    demand(known.law <= 1e-9 && known.momentum <= 1e-9, "the known answer is one", known.law);
    demand(rounding.judged <= 1e-8, "the judge accepts the known answer", rounding.judged);
  }
  Answer answer;
  SolveReport<double> report;
  const bool softened = method == ContactMethod::sap;
  if (kind == 0) {
    check_dual(draws, planted, law);
    return 0;
  }
  if (kind == 1) {
    check_proofs(draws, planted, law);
    return 0;
  }
  carom::ContactSolver<double> solver(
      {.law = law, .method = method, .tolerance = tolerance, .iteration_limit = 400});
  answer.velocity = problem.free_velocity();
  const bool warm = kind == 2;
  if (warm) {
    report = solver.solve_from(problem, planted.impulse, answer.velocity);
  } else if (kind == 3) {
    VectorX<double> ray;
    report = solve_or_prove(solver, problem, answer.velocity, ray);
    demand(ray.size() == 0, "a problem with an answer has no ray");
  } else {
    report = solver.solve(problem, answer.velocity);
  }
  answer.impulse = solver.impulse();
  check_answer(planted, law, report, answer, rounding, softened);
  const bool convex = law == FrictionLaw::convex;
  if (convex && problem.rigid_count() == 0) check_bound(planted, answer);
  if (carom::fuzz::is_tame(shape) && convex && method == ContactMethod::automatic &&
      tolerance == 1e-8) {
    demand(report.converged(), "a tame convex problem is solved", report.residual, tolerance);
  }
  if (carom::fuzz::is_tame(shape) && warm && method == ContactMethod::automatic) {
    demand(report.residual <= 10 * tolerance + 10 * rounding.judged,
           "a solve from an answer stays at an answer", report.residual, rounding.judged);
  }
  return 0;
}
