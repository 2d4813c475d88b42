// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "carom/impact/impact_problem.hpp"

namespace carom::examples {

/// A mass matrix and the closed contacts of one instant.
struct ImpactScene {
  MassMatrix<double> mass;
  ImpactProblem<double> problem;

  ImpactScene(MassMatrix<double> given, const std::vector<VectorX<double>>& gradients)
      : mass(std::move(given)), problem(mass.size()) {
    for (const auto& gradient : gradients) problem.add_contact(mass, gradient);
    problem.prepare();
  }

  [[nodiscard]] VectorX<double> momentum(const VectorX<double>& velocity) const {
    return mass.momentum(velocity);
  }
  [[nodiscard]] VectorX<double> velocity(VectorX<double> momentum) const {
    mass.apply_inverse(momentum);
    return momentum;
  }
  /// ⟨a, b⟩ = a M⁻¹ bᵀ.
  [[nodiscard]] double inner(const VectorX<double>& a, const VectorX<double>& b) const {
    return a.dot(velocity(b));
  }
  [[nodiscard]] double norm(const VectorX<double>& p) const { return std::sqrt(inner(p, p)); }
  [[nodiscard]] VectorX<double> rates(const VectorX<double>& p) const {
    VectorX<double> s(problem.contact_count());
    for (Index i = 0; i < s.size(); ++i) s(i) = problem.rate(i, p);
    return s;
  }
  /// u_i, dense.
  [[nodiscard]] VectorX<double> normal(Index i) const {
    VectorX<double> u = VectorX<double>::Zero(problem.size());
    problem.add_impulse(i, 1, u);
    return u;
  }
  /// p + Σ λ_i u_i.
  template <typename Impulses>
  [[nodiscard]] VectorX<double> moved(VectorX<double> p, const Impulses& impulses) const {
    for (Index i = 0; i < problem.contact_count(); ++i) {
      problem.add_impulse(i, *(impulses.data() + i), p);
    }
    return p;
  }
};

/// Balls in line that touch their neighbours; then a wall on the left, then one on the right.
[[nodiscard]] inline ImpactScene ball_line(const std::vector<double>& masses,
                                           bool left_wall = false, bool right_wall = false) {
  const auto n = static_cast<Index>(masses.size());
  std::vector<VectorX<double>> gradients;
  for (Index i = 0; i + 1 < n; ++i) {
    gradients.push_back(VectorX<double>::Unit(n, i + 1) - VectorX<double>::Unit(n, i));
  }
  if (left_wall) gradients.push_back(VectorX<double>::Unit(n, 0));
  if (right_wall) gradients.push_back(-VectorX<double>::Unit(n, n - 1));
  return {MassMatrix<double>::make_diagonal(Eigen::Map<const VectorX<double>>(masses.data(), n)),
          gradients};
}

/// A ball c between balls a and b that it touches under the angle theta, in the plane; coordinates
/// (c, a, b). The radii do not matter beyond the angle.
[[nodiscard]] inline ImpactScene billiards(double theta, double mass_c = 1, double mass_a = 1,
                                           double mass_b = 1) {
  const auto contact = [&](double angle, Index ball) {
    VectorX<double> gradient = VectorX<double>::Zero(6);
    const Vector<double, 2> direction(std::cos(angle), std::sin(angle));
    gradient.head<2>() = -direction;
    gradient.segment<2>(ball) = direction;
    return gradient;
  };
  VectorX<double> masses(6);
  masses << mass_c, mass_c, mass_a, mass_a, mass_b, mass_b;
  return {MassMatrix<double>::make_diagonal(masses),
          {contact(theta / 2, 2), contact(-theta / 2, 4)}};
}

}  // namespace carom::examples
