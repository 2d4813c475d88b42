// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "carom/contact/contact_problem.hpp"

#include "support/raw_problem.hpp"

/// @file
/// The convex contact problem written out with dense matrices, straight from its formulas, in any
/// scalar: what the library computes body by body and contact by contact is compared with this.
namespace carom::testing {

/// Nearest point of the friction cone in the metric diag(Rₜ, Rₜ, Rₙ), by geometry: y itself, or the
/// foot on the ray through (μ yₜ/‖yₜ‖, 1), or the apex.
template <typename Scalar>
[[nodiscard]] Vector3<Scalar> foot_on_cone(const Scalar& mu, const Scalar& tangent,
                                           const Scalar& normal, const Vector3<Scalar>& y) {
  using std::sqrt;
  const Scalar length = sqrt(Scalar(y.x() * y.x() + y.y() * y.y()));
  if (y.z() >= Scalar(0) && length <= mu * y.z()) return y;
  Vector3<Scalar> ray(Scalar(0), Scalar(0), Scalar(1));
  if (length > Scalar(0)) {
    ray.x() = mu * y.x() / length;
    ray.y() = mu * y.y() / length;
  }
  const Scalar along = tangent * (ray.x() * y.x() + ray.y() * y.y()) + normal * ray.z() * y.z();
  if (along <= Scalar(0)) return Vector3<Scalar>(Scalar(0), Scalar(0), Scalar(0));
  const Scalar squared = tangent * (ray.x() * ray.x() + ray.y() * ray.y()) + normal;
  return ray * Scalar(along / squared);
}

/// A, J, R, v*, v̂ and μ in full.
template <typename Scalar>
struct DenseProblem {
  MatrixX<Scalar> momentum, jacobian;
  VectorX<Scalar> free_velocity, bias, weights, friction;

  [[nodiscard]] Index contact_count() const { return friction.size(); }

  [[nodiscard]] VectorX<Scalar> project(const VectorX<Scalar>& y) const {
    VectorX<Scalar> result(y.size());
    for (Index i = 0; i < contact_count(); ++i) {
      result.template segment<3>(3 * i) =
          foot_on_cone<Scalar>(friction(i), weights(3 * i), weights(3 * i + 2),
                               Vector3<Scalar>(y.template segment<3>(3 * i)));
    }
    return result;
  }
  /// y(v) = −R⁻¹(J v − v̂).
  [[nodiscard]] VectorX<Scalar> trial(const VectorX<Scalar>& v) const {
    return (bias - jacobian * v).cwiseQuotient(weights);
  }
  [[nodiscard]] VectorX<Scalar> impulse(const VectorX<Scalar>& v) const {
    return project(trial(v));
  }
  /// ℓ(v).
  [[nodiscard]] Scalar cost(const VectorX<Scalar>& v) const {
    const VectorX<Scalar> change = v - free_velocity;
    const VectorX<Scalar> gamma = impulse(v);
    return change.dot(momentum * change) / Scalar(2) +
           gamma.dot(weights.cwiseProduct(gamma)) / Scalar(2);
  }
  /// ∇ℓ(v).
  [[nodiscard]] VectorX<Scalar> gradient(const VectorX<Scalar>& v) const {
    return momentum * (v - free_velocity) - jacobian.transpose() * impulse(v);
  }
  /// W = J A⁻¹ Jᵀ.
  [[nodiscard]] MatrixX<Scalar> delassus() const {
    return jacobian * momentum.llt().solve(jacobian.transpose());
  }
  /// r = J v* − v̂.
  [[nodiscard]] VectorX<Scalar> load() const { return jacobian * free_velocity - bias; }
  /// ½ γᵀ(W + R)γ + rᵀγ.
  [[nodiscard]] Scalar dual_cost(const VectorX<Scalar>& gamma) const {
    const VectorX<Scalar> pushed = jacobian.transpose() * gamma;
    return pushed.dot(momentum.llt().solve(pushed)) / Scalar(2) +
           gamma.dot(weights.cwiseProduct(gamma)) / Scalar(2) + load().dot(gamma);
  }
  /// v* + A⁻¹ Jᵀ γ.
  [[nodiscard]] VectorX<Scalar> velocity(const VectorX<Scalar>& gamma) const {
    return free_velocity + momentum.llt().solve(jacobian.transpose() * gamma);
  }
  /// u = J v − v̂ + R σ.
  [[nodiscard]] VectorX<Scalar> conic_velocity(const VectorX<Scalar>& v,
                                               const VectorX<Scalar>& slack) const {
    return jacobian * v - bias + weights.cwiseProduct(slack);
  }
  /// ‖v‖_A.
  [[nodiscard]] Scalar energy_norm(const VectorX<Scalar>& v) const {
    return std::sqrt(v.dot(momentum * v));
  }
  /// ‖p‖_{A⁻¹}.
  [[nodiscard]] Scalar momentum_norm(const VectorX<Scalar>& p) const {
    return std::sqrt(p.dot(momentum.llt().solve(p)));
  }
};

/// The raw problem as dense matrices.
template <typename Scalar = long double>
[[nodiscard]] DenseProblem<Scalar> assemble(const RawProblem& raw) {
  std::vector<Index> starts;
  Index size = 0;
  for (const RawBody& body : raw.bodies) {
    starts.push_back(size);
    size += body.momentum.rows();
  }
  const Index count = Index(raw.contacts.size());
  DenseProblem<Scalar> dense;
  dense.momentum.setZero(size, size);
  dense.free_velocity.setZero(size);
  for (std::size_t b = 0; b < raw.bodies.size(); ++b) {
    const RawBody& body = raw.bodies[b];
    const Index n = body.momentum.rows();
    dense.momentum.block(starts[b], starts[b], n, n) = body.momentum.cast<Scalar>();
    dense.free_velocity.segment(starts[b], n) = body.free_velocity.cast<Scalar>();
  }
  dense.jacobian.setZero(3 * count, size);
  dense.bias.setZero(3 * count);
  dense.weights.setZero(3 * count);
  dense.friction.setZero(count);
  for (Index i = 0; i < count; ++i) {
    const RawContact& contact = raw.contacts[std::size_t(i)];
    const auto place = [&](Index body, const Eigen::MatrixXd& block) {
      dense.jacobian.block(3 * i, starts[std::size_t(body)], 3, block.cols()) +=
          block.cast<Scalar>();
    };
    place(contact.first, contact.first_jacobian);
    if (contact.second >= 0) place(contact.second, contact.second_jacobian);
    const auto [tangent, normal] = contact.law.regularization;
    dense.weights.template segment<3>(3 * i) << Scalar(tangent), Scalar(tangent), Scalar(normal);
    dense.bias.template segment<3>(3 * i) = contact.law.bias_velocity.cast<Scalar>();
    dense.friction(i) = Scalar(contact.law.friction);
  }
  return dense;
}

/// The numbers a problem was given, read back: for problems that come from files.
template <typename Scalar>
[[nodiscard]] RawProblem read_back(const ContactProblem<Scalar>& problem) {
  RawProblem raw;
  for (Index b = 0; b < problem.body_count(); ++b) {
    const auto [start, size] = problem.body(b);
    raw.bodies.push_back({problem.momentum_matrix(b).template cast<double>(),
                          problem.free_velocity().segment(start, size).template cast<double>()});
  }
  for (Index i = 0; i < problem.contact_count(); ++i) {
    RawContact contact;
    contact.first = problem.side_body(i, 0);
    contact.first_jacobian = problem.jacobian(i, 0).transpose().template cast<double>();
    if (problem.side_count(i) == 2) {
      contact.second = problem.side_body(i, 1);
      contact.second_jacobian = problem.jacobian(i, 1).transpose().template cast<double>();
    }
    const auto [tangent, normal] = problem.regularization(i);
    contact.law = {double(problem.cone(i).friction),
                   {double(tangent), double(normal)},
                   problem.bias_velocity(i).template cast<double>()};
    raw.contacts.push_back(contact);
  }
  return raw;
}

}  // namespace carom::testing
