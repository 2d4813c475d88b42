// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "carom/contact/primal.hpp"

#include "ensemble/random_step.hpp"

namespace carom::ensemble {

/// The errors of an answer (v, γ) in each part of the law, computed from the bodies and from no
/// data of a solver. All are ≥ 0 and relative, and 0 at an exact answer.
///
/// With u = J v − v̂ + R γ, R = 0 for rigid contact; U the largest of ‖u‖, ‖J v* − v̂‖, and Γ the
/// largest ‖γ‖ over the contacts.
struct LawViolation {
  double balance = 0;  ///< ‖A(v − v*) − Jᵀγ‖_{A⁻¹} by the momentum_scale()
  double cone = 0;     ///< (‖γₜ‖ − μγₙ)₊ and (−γₙ)₊ by Γ
  double normal = 0;  ///< (−ũₙ)₊ by U, |γₙ ũₙ| by Γ U; ũₙ = uₙ, in the convex law uₙ − μ‖uₜ‖
  /// μγₙ‖uₜ‖ + γₜ·uₜ| by Γ U: friction dissipates the largest possible power
  double friction = 0;

  [[nodiscard]] double worst() const noexcept {
    return std::max({balance, cone, normal, friction});
  }
};

namespace detail {

[[nodiscard]] inline double momentum_imbalance(const ContactProblem<double>& problem,
                                               const VectorX<double>& velocity,
                                               const VectorX<double>& impulse) {
  VectorX<double> pushed = VectorX<double>::Zero(problem.velocity_count()), change = velocity;
  double gross = 0;
  for (Index i = 0; i < problem.block_count(); ++i) {
    const Vector3<double> gamma = impulse.segment<3>(3 * i);
    problem.friction_contact(i).add_momentum(gamma, pushed);
    gross += problem.friction_contact(i).gross_squared(gamma);
  }
  problem.whiten(carom::as_span(change));
  problem.whiten_momentum(carom::as_span(pushed));
  const auto free = problem.whitened_free_velocity();
  const double scale = momentum_scale(free.squaredNorm(), pushed.squaredNorm(), gross);
  const double left = (change - free - pushed).norm();
  return scale > 0 ? left / scale : left;
}

}  // namespace detail

/// @param impulse  γ, triples (t₁, t₂, n).
[[nodiscard]] inline LawViolation check_law(const RandomStep& step, const VectorX<double>& velocity,
                                            const VectorX<double>& impulse) {
  const ContactProblem<double>& problem = step.problem;
  LawViolation found;
  found.balance = detail::momentum_imbalance(problem, velocity, impulse);
  const auto relative_velocity = [&](Index i) {
    Vector3<double> u = problem.friction_contact(i).velocity(velocity) -
                        problem.friction_contact_law(i).bias_velocity;
    if (step.law != StepLaw::rigid) {
      const auto [tangent, normal] = problem.friction_contact_law(i).regularization;
      u += Vector3<double>(tangent, tangent, normal).cwiseProduct(impulse.segment<3>(3 * i));
    }
    return u;
  };
  double fast = 0, strong = 0;  // U, Γ
  for (Index i = 0; i < problem.block_count(); ++i) {
    const Vector3<double> load = problem.friction_contact(i).velocity(problem.free_velocity()) -
                                 problem.friction_contact_law(i).bias_velocity;
    fast = std::max({fast, relative_velocity(i).norm(), load.norm()});
    strong = std::max(strong, impulse.segment<3>(3 * i).norm());
  }
  if (!(fast > 0)) fast = 1;
  if (!(strong > 0)) strong = 1;
  for (Index i = 0; i < problem.block_count(); ++i) {
    const double mu = problem.friction_contact_law(i).friction;
    const Vector3<double> u = relative_velocity(i) / fast,
                          gamma = impulse.segment<3>(3 * i) / strong;
    const double slip = u.head<2>().norm();
    const double lift = step.law == StepLaw::convex ? u.z() - mu * slip : u.z();
    found.cone = std::max({found.cone, gamma.head<2>().norm() - mu * gamma.z(), -gamma.z()});
    found.normal = std::max({found.normal, -lift, std::abs(gamma.z() * lift)});
    found.friction = std::max(found.friction,
                              std::abs(mu * gamma.z() * slip + gamma.head<2>().dot(u.head<2>())));
  }
  return found;
}

}  // namespace carom::ensemble
