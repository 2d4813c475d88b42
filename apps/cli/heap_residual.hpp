// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "carom/contact/contact_problem.hpp"
#include "carom/contact/coulomb_law.hpp"

namespace carom::cli {
namespace detail {

/// The nearest point of the friction cone ‖xₜ‖ ≤ μ xₙ in the metric diag(Rₜ, Rₜ, Rₙ).
[[nodiscard]] inline Vector3<double> nearest_in_cone(double mu, double tangent, double normal,
                                                     const Vector3<double>& y) {
  const double length = y.head<2>().norm();
  if (length <= mu * y.z()) return y;
  const double pull = mu * tangent / normal;
  const double along = (y.z() + pull * length) / (1 + mu * pull);
  if (!(along > 0)) return Vector3<double>::Zero();
  const double scale = length > 0 ? mu * along / length : 0;
  return {scale * y.x(), scale * y.y(), along};
}

/// Visits all contacts, each with the bodies and Jacobians of its sides.
class HeapReader {
 public:
  explicit HeapReader(const ContactProblem<double>& problem) : problem_(problem) {
    inverse_.reserve(std::size_t(problem.body_count()));
    for (Index b = 0; b < problem.body_count(); ++b) {
      const SquareMatrix<double, 6> matrix = problem.momentum_matrix(b);
      inverse_.emplace_back(matrix.llt().solve(SquareMatrix<double, 6>::Identity()));
    }
  }
  [[nodiscard]] const SquareMatrix<double, 6>& inverse(Index body) const {
    return inverse_[std::size_t(body)];
  }
  [[nodiscard]] Vector3<double> velocity(Index i, const VectorX<double>& v) const {
    Vector3<double> sum = Vector3<double>::Zero();
    for (int s = 0; s < problem_.side_count(i); ++s) {
      sum += rows(i, s) * v.segment<6>(6 * problem_.side_body(i, s));
    }
    return sum;
  }
  void add_momentum(Index i, const Vector3<double>& impulse, VectorX<double>& momentum) const {
    for (int s = 0; s < problem_.side_count(i); ++s) {
      momentum.segment<6>(6 * problem_.side_body(i, s)) += rows(i, s).transpose() * impulse;
    }
  }
  /// The trace of J A⁻¹ Jᵀ.
  [[nodiscard]] double inverse_mass(Index i) const {
    double sum = 0;
    for (int s = 0; s < problem_.side_count(i); ++s) {
      const Eigen::Matrix<double, 3, 6> j = rows(i, s);
      sum += (j * inverse(problem_.side_body(i, s))).cwiseProduct(j).sum();
    }
    return sum;
  }

 private:
  [[nodiscard]] Eigen::Matrix<double, 3, 6> rows(Index i, int side) const {
    return problem_.jacobian(i, side);
  }

  const ContactProblem<double>& problem_;
  std::vector<SquareMatrix<double, 6>> inverse_;
};

/// ‖A(v − v*) − p‖_{A⁻¹} relative to the larger of ‖v*‖_A and ‖p‖_{A⁻¹}.
[[nodiscard]] inline double momentum_balance(const ContactProblem<double>& problem,
                                             const HeapReader& reader,
                                             const VectorX<double>& velocity,
                                             const VectorX<double>& pushed) {
  double off = 0, free = 0, contact = 0;
  for (Index b = 0; b < problem.body_count(); ++b) {
    const SquareMatrix<double, 6> mass = problem.momentum_matrix(b);
    const Vector<double, 6> before = problem.free_velocity().segment<6>(6 * b);
    const Vector<double, 6> p = pushed.segment<6>(6 * b);
    const Vector<double, 6> left = mass * (velocity.segment<6>(6 * b) - before) - p;
    off += left.dot(reader.inverse(b) * left);
    free += before.dot(mass * before);
    contact += p.dot(reader.inverse(b) * p);
  }
  const double scale = std::sqrt(std::max(free, contact));
  return scale > 0 ? std::sqrt(off) / scale : std::sqrt(off);
}

/// The natural map error of impulses, whose velocities are v* + A⁻¹ p.
[[nodiscard]] inline double natural_map_error(const ContactProblem<double>& problem,
                                              const HeapReader& reader, FrictionLaw law,
                                              const VectorX<double>& impulse,
                                              const VectorX<double>& pushed) {
  VectorX<double> velocity = problem.free_velocity();
  for (Index b = 0; b < problem.body_count(); ++b) {
    velocity.segment<6>(6 * b) += reader.inverse(b) * pushed.segment<6>(6 * b);
  }
  const auto softness = [&](Index i) -> Vector3<double> {
    const WeightedContact<double>& numbers = problem.friction_contact_law(i);
    if (numbers.rigid) return Vector3<double>::Zero();
    const double tangent = numbers.regularization.tangent;
    return {tangent, tangent, numbers.regularization.normal};
  };
  double trace = 0;
  for (Index i = 0; i < problem.block_count(); ++i) {
    trace += reader.inverse_mass(i) + softness(i).sum();
  }
  const double mobility = trace / double(impulse.size());
  double load = 0, speed = 0, off = 0;
  for (Index i = 0; i < problem.block_count(); ++i) {
    const WeightedContact<double>& numbers = problem.friction_contact_law(i);
    const Vector3<double> bias = numbers.bias_velocity, gamma = impulse.segment<3>(3 * i);
    Vector3<double> u = reader.velocity(i, velocity) - bias + softness(i).cwiseProduct(gamma);
    load += (reader.velocity(i, problem.free_velocity()) - bias).squaredNorm();
    speed += u.squaredNorm();
    if (law == FrictionLaw::coulomb) u.z() += numbers.friction * u.head<2>().norm();
    const Vector3<double> point = nearest_in_cone(numbers.friction, 1, 1, gamma - u / mobility);
    off += (gamma - point).squaredNorm();
  }
  const double scale = std::max({std::sqrt(load), mobility * impulse.norm(), std::sqrt(speed)});
  return scale > 0 ? mobility * std::sqrt(off) / scale : 0;
}

}  // namespace detail

/// The relative error of velocities and impulses for a problem of free rigid bodies and friction
/// contacts [-]. It is computed from the problem's own numbers, in memory proportional to bodies
/// and contacts.
///
/// Compliant contact under the convex law: ‖A(v − v*) − Jᵀγ(v)‖_{A⁻¹}, with the impulses of the
/// velocities, relative to the larger of ‖v*‖_A and ‖Jᵀγ(v)‖_{A⁻¹}. All other laws: the larger of
/// this balance with the given impulses, and their natural map error as in ImpulseCertificate.
/// @param velocity  v, n_v [rad/s, m/s].
/// @param impulse   γ, three to a contact, (t₁, t₂, n) [N·s].
/// @return  infinite if a number is not finite.
/// @pre  every body has six velocities, every block is a friction contact.
[[nodiscard]] inline double heap_residual(const ContactProblem<double>& problem, FrictionLaw law,
                                          const VectorX<double>& velocity,
                                          const VectorX<double>& impulse) {
  const detail::HeapReader reader(problem);
  const bool from_velocity = law == FrictionLaw::convex && problem.rigid_count() == 0;
  VectorX<double> pushed = VectorX<double>::Zero(problem.velocity_count());
  for (Index i = 0; i < problem.block_count(); ++i) {
    Vector3<double> gamma = impulse.segment<3>(3 * i);
    if (from_velocity) {
      const WeightedContact<double>& numbers = problem.friction_contact_law(i);
      const auto [tangent, normal] = numbers.regularization;
      const Vector3<double> softness(tangent, tangent, normal);
      const Vector3<double> trial =
          (numbers.bias_velocity - reader.velocity(i, velocity)).cwiseQuotient(softness);
      gamma = detail::nearest_in_cone(numbers.friction, tangent, normal, trial);
    }
    reader.add_momentum(i, gamma, pushed);
  }
  double residual = detail::momentum_balance(problem, reader, velocity, pushed);
  if (!from_velocity && problem.block_count() > 0) {
    const double error = detail::natural_map_error(problem, reader, law, impulse, pushed);
    residual = error > residual || std::isnan(error) ? error : residual;
  }
  return std::isfinite(residual) ? residual : std::numeric_limits<double>::infinity();
}

}  // namespace carom::cli
