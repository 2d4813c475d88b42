// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <initializer_list>
#include <vector>

#include "carom/core/scalar.hpp"

/// @file
/// Small mechanical systems with closed answers.
namespace carom::testing {

template <typename Scalar>
[[nodiscard]] VectorX<Scalar> numbers(std::initializer_list<double> list) {
  VectorX<Scalar> result(Index(list.size()));
  Index i = 0;
  for (const double x : list) result(i++) = Scalar(x);
  return result;
}

/// L = v²/2 + cos q.
template <typename Scalar>
struct Pendulum {
  using scalar_type = Scalar;
  [[nodiscard]] Index size() const { return 1; }
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q& q, const Q& v, const T&) const {
    using std::cos;
    return v(0) * v(0) / Scalar(2) + cos(q(0));
  }
};

/// m v²/2 − k q²/2.
template <typename Scalar>
struct Oscillator {
  using scalar_type = Scalar;
  Scalar mass = 1, stiffness = 1;
  [[nodiscard]] Index size() const { return 1; }
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q& q, const Q& v, const T&) const {
    return mass / 2 * (v(0) * v(0)) - stiffness / 2 * (q(0) * q(0));
  }
};

/// A unit mass free on a line with one gap, to derive from: gaps(q, out) is missing.
struct OnLine {
  using scalar_type = double;
  [[nodiscard]] Index size() const { return 1; }
  [[nodiscard]] Index gap_count() const { return 1; }
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q&, const Q& v, const T&) const {
    return v(0) * v(0) / 2.0;
  }
};

/// A ball of unit mass over a floor at height zero.
template <typename Scalar>
struct BouncingBall {
  using scalar_type = Scalar;
  Scalar gravity = Scalar(9.81);
  [[nodiscard]] Index size() const { return 1; }
  [[nodiscard]] Index gap_count() const { return 1; }
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q& q, const Q& v, const T&) const {
    return v(0) * v(0) / Scalar(2) - gravity * q(0);
  }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    out(0) = q(0);
  }
};

/// Point masses on a line that touch when they meet; a wall at zero.
struct MassesOnLine {
  using scalar_type = double;
  std::vector<double> masses;
  bool wall = false;
  [[nodiscard]] Index size() const { return Index(masses.size()); }
  [[nodiscard]] Index gap_count() const { return size() - 1 + (wall ? 1 : 0); }
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q&, const Q& v, const T&) const {
    T sum = 0.0;
    for (Index i = 0; i < size(); ++i) sum += masses[std::size_t(i)] / 2 * (v(i) * v(i));
    return sum;
  }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    for (Index i = 0; i + 1 < size(); ++i) out(i) = q(i + 1) - q(i);
    if (wall) out(size() - 1) = q(0);
  }
};

/// A potential −1/√q that ends at zero, and a stop far off: too much for Newton in one large step.
struct RootedWell : OnLine {
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q& q, const Q& v, const T&) const {
    using std::sqrt;
    return v(0) * v(0) / 2.0 - 1.0 / sqrt(q(0));
  }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    out(0) = 8.0 - q(0);
  }
};

/// The plane with a unit mass drawn to the origin by 1/r.
template <typename Scalar>
struct Kepler {
  using scalar_type = Scalar;
  [[nodiscard]] Index size() const { return 2; }
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q& q, const Q& v, const T&) const {
    using std::sqrt;
    const T radius = sqrt(q(0) * q(0) + q(1) * q(1));
    return (v(0) * v(0) + v(1) * v(1)) / Scalar(2) + Scalar(1) / radius;
  }
};

/// A body thrown in the plane, by mass matrix and potential.
template <typename Scalar>
struct Thrown {
  using scalar_type = Scalar;
  Scalar mass = 2, gravity = Scalar(9.81);
  [[nodiscard]] Index size() const { return 2; }
  void write_mass(const VectorX<Scalar>&, MatrixX<Scalar>& out) const noexcept {
    out.setIdentity();
    out *= mass;
  }
  [[nodiscard]] Scalar potential(const VectorX<Scalar>& q) const noexcept {
    return mass * gravity * q(1);
  }
  void write_potential_gradient(const VectorX<Scalar>&, VectorX<Scalar>& out) const noexcept {
    out << 0, mass * gravity;
  }
  void write_potential_hessian(const VectorX<Scalar>&, MatrixX<Scalar>& out) const noexcept {
    out.setZero();
  }
};

/// Two unit rods with unit masses at their ends, absolute angles.
template <typename Scalar>
struct DoublePendulum {
  using scalar_type = Scalar;
  [[nodiscard]] Index size() const { return 2; }
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q& q, const Q& v, const T&) const {
    using std::cos;
    return v(0) * v(0) + v(1) * v(1) / Scalar(2) + v(0) * v(1) * cos(q(0) - q(1)) +
           Scalar(2) * cos(q(0)) + cos(q(1));
  }
};

/// The double pendulum by its mass matrix and potential.
template <typename Scalar>
struct DoublePendulumByParts {
  using scalar_type = Scalar;
  [[nodiscard]] Index size() const { return 2; }
  void write_mass(const VectorX<Scalar>& q, MatrixX<Scalar>& out) const noexcept {
    const Scalar c = std::cos(q(0) - q(1));
    out << 2, c, c, 1;
  }
  void write_mass_slope(const VectorX<Scalar>& q, Index i, MatrixX<Scalar>& out) const noexcept {
    const Scalar s = (i == 0 ? -1 : 1) * std::sin(q(0) - q(1));
    out << 0, s, s, 0;
  }
  void write_mass_curvature(const VectorX<Scalar>& q, Index i, Index j,
                            MatrixX<Scalar>& out) const noexcept {
    const Scalar c = (i == j ? -1 : 1) * std::cos(q(0) - q(1));
    out << 0, c, c, 0;
  }
  [[nodiscard]] Scalar potential(const VectorX<Scalar>& q) const noexcept {
    return -2 * std::cos(q(0)) - std::cos(q(1));
  }
  void write_potential_gradient(const VectorX<Scalar>& q, VectorX<Scalar>& out) const noexcept {
    out << 2 * std::sin(q(0)), std::sin(q(1));
  }
  void write_potential_hessian(const VectorX<Scalar>& q, MatrixX<Scalar>& out) const noexcept {
    out << 2 * std::cos(q(0)), 0, 0, std::cos(q(1));
  }
};

/// A unit mass on a circle of radius one about the origin, gravity 1 downwards: the pendulum in
/// Cartesian coordinates.
template <typename Scalar>
struct RodPendulum {
  using scalar_type = Scalar;
  [[nodiscard]] Index size() const { return 2; }
  [[nodiscard]] Index constraint_count() const { return 1; }
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q& q, const Q& v, const T&) const {
    return (v(0) * v(0) + v(1) * v(1)) / Scalar(2) - q(1);
  }
  template <typename Q>
  void constraints(const Q& q, Q& out) const {
    out(0) = (q(0) * q(0) + q(1) * q(1) - Scalar(1)) / Scalar(2);
  }
};

/// The rod pendulum with a stop at x = 0.3.
struct RodWithStop : RodPendulum<double> {
  [[nodiscard]] Index gap_count() const { return 1; }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    out(0) = 0.3 - q(0);
  }
};

/// The oscillator with damping and a drive cos t.
template <typename Scalar>
struct DrivenOscillator : Oscillator<Scalar> {
  Scalar damping = Scalar(0.3);
  template <typename Q, typename T>
  void force(const Q&, const Q& v, const T& t, Q& out) const {
    using std::cos;
    out(0) = cos(t) - damping * v(0);
  }
};

/// A mass on a frictionless unit ball, gravity 1 downwards.
struct OnBall {
  using scalar_type = double;
  [[nodiscard]] Index size() const { return 2; }
  [[nodiscard]] Index gap_count() const { return 1; }
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q& q, const Q& v, const T&) const {
    return (v(0) * v(0) + v(1) * v(1)) / 2.0 - q(1);
  }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    using std::sqrt;
    out(0) = sqrt(q(0) * q(0) + q(1) * q(1)) - 1.0;
  }
};

}  // namespace carom::testing
