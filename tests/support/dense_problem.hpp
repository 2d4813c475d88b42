// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <Eigen/Core>

#include "carom/contact/contact_problem.hpp"

#include "support/raw_problem.hpp"

/// @file
/// The convex contact problem written out with dense matrices, straight from its formulas, in any
/// scalar: what the library computes body by body and contact by contact is compared with this.
/// Plain loops on purpose: they share no code with the library, and compile fast.
namespace carom::testing {

/// M x.
template <typename Scalar>
[[nodiscard]] VectorX<Scalar> multiply(const MatrixX<Scalar>& matrix, const VectorX<Scalar>& x) {
  VectorX<Scalar> result = VectorX<Scalar>::Zero(matrix.rows());
  Scalar* const out = result.data();
  for (Index c = 0; c < matrix.cols(); ++c) {
    const Scalar* const column = matrix.data() + c * matrix.rows();
    const Scalar factor = x(c);
    for (Index r = 0; r < matrix.rows(); ++r) out[r] += factor * column[r];
  }
  return result;
}

/// Mᵀ x.
template <typename Scalar>
[[nodiscard]] VectorX<Scalar> multiply_transposed(const MatrixX<Scalar>& matrix,
                                                  const VectorX<Scalar>& x) {
  VectorX<Scalar> result(matrix.cols());
  for (Index c = 0; c < matrix.cols(); ++c) {
    const Scalar* const column = matrix.data() + c * matrix.rows();
    Scalar sum(0);
    for (Index r = 0; r < matrix.rows(); ++r) sum += column[r] * x(r);
    result(c) = sum;
  }
  return result;
}

template <typename Scalar>
[[nodiscard]] Scalar inner(const VectorX<Scalar>& a, const VectorX<Scalar>& b) {
  Scalar sum(0);
  for (Index i = 0; i < a.size(); ++i) sum += a(i) * b(i);
  return sum;
}

/// M⁻¹ of a symmetric positive definite matrix, by Gauss and Jordan.
template <typename Scalar>
[[nodiscard]] MatrixX<Scalar> invert(MatrixX<Scalar> matrix) {
  const Index n = matrix.rows();
  for (Index k = 0; k < n; ++k) {
    const Scalar pivot = Scalar(1) / matrix(k, k);
    matrix(k, k) = Scalar(1);
    for (Index c = 0; c < n; ++c) matrix(k, c) *= pivot;
    for (Index r = 0; r < n; ++r) {
      const Scalar factor = matrix(r, k);
      if (r == k || factor == Scalar(0)) continue;
      matrix(r, k) = Scalar(0);
      for (Index c = 0; c < n; ++c) matrix(r, c) -= factor * matrix(k, c);
    }
  }
  return matrix;
}

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

/// A, A⁻¹, J, R, v*, v̂ and μ in full.
template <typename Scalar>
struct DenseProblem {
  using Velocity = VectorX<Scalar>;  ///< n_v
  using Impulse = VectorX<Scalar>;   ///< 3 n_c

  MatrixX<Scalar> momentum, inverse_momentum, jacobian;
  VectorX<Scalar> free_velocity, bias, weights, friction;

  [[nodiscard]] Index contact_count() const { return friction.size(); }

  [[nodiscard]] Impulse project(const Impulse& y) const {
    Impulse result(y.size());
    for (Index i = 0; i < contact_count(); ++i) {
      const Vector3<Scalar> foot =
          foot_on_cone<Scalar>(friction(i), weights(3 * i), weights(3 * i + 2),
                               Vector3<Scalar>(y(3 * i), y(3 * i + 1), y(3 * i + 2)));
      for (Index k = 0; k < 3; ++k) result(3 * i + k) = foot(k);
    }
    return result;
  }
  [[nodiscard]] Impulse weigh(const Impulse& gamma) const {
    Impulse result(gamma.size());
    for (Index i = 0; i < gamma.size(); ++i) result(i) = weights(i) * gamma(i);
    return result;
  }
  /// u = J v − v̂ + R σ.
  [[nodiscard]] Impulse conic_velocity(const Velocity& v, const Impulse& slack) const {
    Impulse result = multiply(jacobian, v);
    for (Index i = 0; i < result.size(); ++i) result(i) += weights(i) * slack(i) - bias(i);
    return result;
  }
  /// y(v) = −R⁻¹(J v − v̂).
  [[nodiscard]] Impulse trial(const Velocity& v) const {
    Impulse result = multiply(jacobian, v);
    for (Index i = 0; i < result.size(); ++i) result(i) = (bias(i) - result(i)) / weights(i);
    return result;
  }
  [[nodiscard]] Impulse impulse(const Velocity& v) const { return project(trial(v)); }
  /// ½‖v − v*‖²_A + ½‖σ‖²_R.
  [[nodiscard]] Scalar conic_cost(const Velocity& v, const Impulse& slack) const {
    const Velocity change = v - free_velocity;
    return (inner(change, multiply(momentum, change)) + inner(slack, weigh(slack))) / Scalar(2);
  }
  /// ℓ(v).
  [[nodiscard]] Scalar cost(const Velocity& v) const { return conic_cost(v, impulse(v)); }
  /// ∇ℓ(v).
  [[nodiscard]] Velocity gradient(const Velocity& v) const {
    return multiply<Scalar>(momentum, v - free_velocity) -
           multiply_transposed(jacobian, impulse(v));
  }
  /// W = J A⁻¹ Jᵀ.
  [[nodiscard]] MatrixX<Scalar> delassus() const {
    MatrixX<Scalar> result(jacobian.rows(), jacobian.rows());
    for (Index i = 0; i < jacobian.rows(); ++i) {
      const Velocity row = jacobian.row(i);
      result.col(i) = multiply<Scalar>(jacobian, multiply(inverse_momentum, row));
    }
    return result;
  }
  /// r = J v* − v̂.
  [[nodiscard]] Impulse load() const { return multiply(jacobian, free_velocity) - bias; }
  /// ½ γᵀ(W + R)γ + rᵀγ.
  [[nodiscard]] Scalar dual_cost(const Impulse& gamma) const {
    const Velocity pushed = multiply_transposed(jacobian, gamma);
    return (inner(pushed, multiply(inverse_momentum, pushed)) + inner(gamma, weigh(gamma))) /
               Scalar(2) +
           inner(load(), gamma);
  }
  /// v* + A⁻¹ Jᵀ γ.
  [[nodiscard]] Velocity velocity(const Impulse& gamma) const {
    return free_velocity + multiply(inverse_momentum, multiply_transposed(jacobian, gamma));
  }
  /// ‖v‖_A.
  [[nodiscard]] Scalar energy_norm(const Velocity& v) const {
    using std::sqrt;
    return sqrt(inner(v, multiply(momentum, v)));
  }
  /// ‖p‖_{A⁻¹}.
  [[nodiscard]] Scalar momentum_norm(const Velocity& p) const {
    using std::sqrt;
    return sqrt(inner(p, multiply(inverse_momentum, p)));
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
  dense.inverse_momentum.setZero(size, size);
  dense.free_velocity.setZero(size);
  const auto place = [](MatrixX<Scalar>& matrix, Index row, Index column, const auto& block) {
    for (Index r = 0; r < block.rows(); ++r) {
      for (Index c = 0; c < block.cols(); ++c) matrix(row + r, column + c) = Scalar(block(r, c));
    }
  };
  for (std::size_t b = 0; b < raw.bodies.size(); ++b) {
    const RawBody& body = raw.bodies[b];
    const Index n = body.momentum.rows();
    MatrixX<Scalar> matrix(n, n);
    place(matrix, 0, 0, body.momentum);
    place(dense.momentum, starts[b], starts[b], matrix);
    place(dense.inverse_momentum, starts[b], starts[b], invert(matrix));
    for (Index i = 0; i < n; ++i) {
      dense.free_velocity(starts[b] + i) = Scalar(body.free_velocity(i));
    }
  }
  dense.jacobian.setZero(3 * count, size);
  dense.bias.setZero(3 * count);
  dense.weights.setZero(3 * count);
  dense.friction.setZero(count);
  for (Index i = 0; i < count; ++i) {
    const RawContact& contact = raw.contacts[std::size_t(i)];
    place(dense.jacobian, 3 * i, starts[std::size_t(contact.first)], contact.first_jacobian);
    if (contact.second >= 0) {
      place(dense.jacobian, 3 * i, starts[std::size_t(contact.second)], contact.second_jacobian);
    }
    const auto [tangent, normal] = contact.law.regularization;
    for (Index k = 0; k < 3; ++k) {
      dense.weights(3 * i + k) = Scalar(k < 2 ? tangent : normal);
      dense.bias(3 * i + k) = Scalar(contact.law.bias_velocity(k));
    }
    dense.friction(i) = Scalar(contact.law.friction);
  }
  return dense;
}

/// The numbers a problem was given, read back: for problems that come from files.
template <typename Scalar>
[[nodiscard]] RawProblem read_back(const ContactProblem<Scalar>& problem) {
  const auto copy = [](const auto& matrix) {
    Eigen::MatrixXd result(matrix.rows(), matrix.cols());
    for (Index c = 0; c < matrix.cols(); ++c) {
      for (Index r = 0; r < matrix.rows(); ++r) result(r, c) = double(matrix(r, c));
    }
    return result;
  };
  RawProblem raw;
  for (Index b = 0; b < problem.body_count(); ++b) {
    const auto [start, size] = problem.body(b);
    raw.bodies.push_back(
        {copy(problem.momentum_matrix(b)), copy(problem.free_velocity().segment(start, size))});
  }
  for (Index i = 0; i < problem.block_count(); ++i) {
    RawContact contact;
    contact.first = problem.side_body(i, 0);
    contact.first_jacobian = copy(problem.jacobian(i, 0));
    if (problem.side_count(i) == 2) {
      contact.second = problem.side_body(i, 1);
      contact.second_jacobian = copy(problem.jacobian(i, 1));
    }
    const auto [tangent, normal] = problem.friction_contact_law(i).regularization;
    contact.law = {double(problem.friction_contact_law(i).friction),
                   {double(tangent), double(normal)},
                   problem.friction_contact_law(i).bias_velocity.template cast<double>()};
    raw.contacts.push_back(contact);
  }
  return raw;
}

/// The same vector over another scalar.
template <typename To, typename From>
[[nodiscard]] VectorX<To> convert_vector(const From& x) {
  VectorX<To> result(x.size());
  for (Index i = 0; i < x.size(); ++i) result(i) = static_cast<To>(x(i));
  return result;
}

}  // namespace carom::testing
