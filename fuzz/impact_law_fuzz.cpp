// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: bytes as bodies that touch and an impact with a known plastic outcome. The
// projection must find it; every law and order must balance momentum, gain no energy, push only,
// and leave no contact that closes.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <Eigen/Cholesky>

#include "carom/impact/newton_restitution.hpp"
#include "carom/impact/order.hpp"
#include "carom/impact/plastic.hpp"
#include "carom/impact/resolve_impact.hpp"
#include "carom/impact/restitution.hpp"

#include "draws.hpp"

namespace {

using carom::ImpactProblem, carom::ImpactStatus, carom::Index, carom::MatrixX, carom::VectorX;
using carom::fuzz::demand, carom::fuzz::Draws;

constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// An impact, and the momentum after it under Moreau's plastic law: p⁺ + Σ λ_i u_i = p⁻ turned
/// round, with λ ≥ 0, rates s⁺ ≥ 0 and λ_i s_i⁺ = 0.
struct PlantedImpact {
  MatrixX<double> mass;
  ImpactProblem<double> problem;
  VectorX<double> before, after;
  double decades = 1;  ///< of the masses
};

bool plant(Draws& draws, PlantedImpact& planted) {
  const int size = 1 + draws.below(8), count = draws.below(7);
  const double decades = draws.pick({1.0, 1.0, 4.0, 8.0});
  planted.decades = decades;
  MatrixX<double> factor = MatrixX<double>::Zero(size, size);
  const bool full = draws.chance(0.3);
  for (int c = 0; c < size; ++c) {
    factor(c, c) = std::sqrt(draws.positive(decades));
    for (int r = c + 1; full && r < size; ++r) factor(r, c) = factor(c, c) * (draws.unit() - 0.5);
  }
  planted.mass = factor * factor.transpose();
  planted.problem.reset(size);
  const auto mass = carom::MassMatrix<double>::make_dense(planted.mass);
  MatrixX<double> gradients(size, count);
  // The outcome leaves the velocity zero along all normals of `closed` contacts: it is drawn first,
  // and each gradient is made orthogonal to it, or turned so that the contact opens.
  VectorX<double> velocity(size);
  draws.fill(velocity, 1);
  planted.after = planted.mass * velocity;
  VectorX<double> impulses = VectorX<double>::Zero(count);
  for (int i = 0; i < count; ++i) {
    VectorX<double> gradient(size);
    draws.fill(gradient, 1);
    if (i > 0 && draws.chance(0.15)) gradient = gradients.col(draws.below(i));
    const bool closed = draws.chance(0.6);
    const double square = velocity.squaredNorm();
    if (closed && square > 0) gradient -= velocity * (gradient.dot(velocity) / square);
    if (!closed && gradient.dot(velocity) < 0) gradient = -gradient;
    if (!(gradient.norm() > 1e-6)) return false;
    gradients.col(i) = gradient;
    impulses(i) = closed && draws.chance(0.7) ? draws.positive(2) : 0;
    planted.problem.add_contact(mass, gradient);
  }
  planted.problem.prepare();
  planted.before = planted.after;
  const double speed = std::sqrt(planted.after.dot(velocity));
  for (int i = 0; i < count; ++i) {
    planted.problem.add_impulse(i, -impulses(i) * std::max(speed, 1e-3), planted.before);
  }
  return true;
}

double norm(const PlantedImpact& planted, const VectorX<double>& momentum) {
  return std::sqrt(std::max(0.0, momentum.dot(planted.mass.llt().solve(momentum))));
}

template <typename Law>
void check(const PlantedImpact& planted, Law law, bool pushes) {
  const auto solution =
      resolve_impact(planted.problem, carom::MassMatrix<double>::make_dense(planted.mass),
                     planted.before, std::move(law));
  const auto status = solution.report.status;
  demand(status != ImpactStatus::not_finite, "numbers within the range of double are finite");
  demand(solution.momentum.allFinite() && solution.impulses.allFinite(), "the outcome is finite");
  // Reflections add their rounding, each relative to the momentum; that of M⁻¹ grows with the
  // decades.
  const double most =
      std::pow(10.0, planted.decades) * 1e3 * epsilon * double(10 + solution.report.reflections);
  const double scale = norm(planted, planted.before);
  if (!(scale > 0)) return;
  // Impulses along normals that nearly depend on each other may be large and cancel.
  const double gross = 1 + solution.impulses.template lpNorm<1>() / scale;
  demand(solution.momentum_error <= most * gross, "the change of momentum is that of the contacts",
         solution.momentum_error, most * gross);
  demand(solution.energy_error <= most * gross * gross, "the energy is that of the impulses",
         solution.energy_error, most * gross * gross);
  demand(!pushes || solution.report.energy_gain <= most * scale * scale, "no impact gains energy",
         solution.report.energy_gain, most * scale * scale);
  if (pushes && solution.impulses.size() > 0) {
    demand(solution.impulses.minCoeff() >= -most * scale, "contacts only push",
           solution.impulses.minCoeff(), most * scale);
  }
  if (status == ImpactStatus::resolved && pushes) {
    demand(solution.infeasibility <= 1e3 * most, "no contact closes after the impact",
           solution.infeasibility, 1e3 * most);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Draws draws(data, size);
  PlantedImpact planted;
  if (!plant(draws, planted)) return 0;
  const double restitution = draws.pick({0.0, 0.3, 0.8, 1.0});
  const carom::ImpactOptions<double> options{.reflection_limit = 20000};
  using carom::PlasticLaw;
  switch (draws.below(6)) {
    case 0:
      check(planted, carom::ImpactResolver<double>(options), true);
      break;
    case 1:
      check(planted, carom::ImpactResolver<double, carom::MostInfeasibleFirst<double>>(options),
            true);
      break;
    case 2:
      check(planted, carom::RestitutionImpact<double>(restitution, PlasticLaw::moreau, options),
            true);
      break;
    case 3:
      check(planted, carom::PlasticImpact<double>(PlasticLaw::bilateral), false);
      break;
    case 4: {
      carom::NewtonImpact<double> law(1e-6, options);
      law.prepare(planted.problem,
                  VectorX<double>::Constant(planted.problem.contact_count(), restitution));
      check(planted, std::move(law), true);
      break;
    }
    default: {
      check(planted, carom::PlasticImpact<double>(), true);
      const auto solution =
          resolve_impact(planted.problem, carom::MassMatrix<double>::make_dense(planted.mass),
                         planted.before, carom::PlasticImpact<double>());
      const double apart = norm(planted, solution.momentum - planted.after);
      // The known outcome has the rounding of gradients that were made orthogonal, in the metric of
      // M⁻¹.
      const double allowed = 1e-9 * std::pow(10.0, 0.6 * planted.decades) *
                             std::max(norm(planted, planted.before), norm(planted, planted.after));
      demand(apart <= allowed, "the plastic outcome is the known one", apart, allowed);
    }
  }
  return 0;
}
