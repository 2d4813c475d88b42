// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "carom/core/elementary.hpp"
#include "carom/core/invalid_input.hpp"
#include "carom/core/scalar.hpp"
#include "carom/linalg/detail/cholesky.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Position and motion of a rigid body in space.
template <RealScalar Scalar>
struct FreeBodyState {
  Vector3<Scalar> position = Vector3<Scalar>::Zero();  ///< of the centre of mass [m].
  Vector<Scalar, 4> orientation{0, 0, 0, 1};  ///< Unit quaternion (x, y, z, w), body to world.
  Vector3<Scalar> velocity = Vector3<Scalar>::Zero();  ///< [m/s], world.
  Vector3<Scalar> rate = Vector3<Scalar>::Zero();      ///< ω [rad/s], world.

  /// The same state in another number type, for derivatives.
  template <RealScalar Other>
  [[nodiscard]] FreeBodyState<Other> cast() const noexcept {
    return {position.template cast<Other>(), orientation.template cast<Other>(),
            velocity.template cast<Other>(), rate.template cast<Other>()};
  }
};

/// A free rigid body with contact points above the plane z = 0. Velocities are (ṗ, ω) in world
/// axes. Its functions also accept states in other number types, such as numbers with derivatives.
template <RealScalar Scalar>
class FreeBody {
 public:
  using scalar_type = Scalar;
  using State = FreeBodyState<Scalar>;
  using Matrix3 = SquareMatrix<Scalar, 3>;

  Vector3<Scalar> force = Vector3<Scalar>::Zero();   ///< at the centre of mass, world [N].
  Vector3<Scalar> torque = Vector3<Scalar>::Zero();  ///< world [N·m].
  Vector3<Scalar> gravity{0, 0, Scalar(-9.81)};      ///< [m/s²]

  /// @param mass     [kg], > 0.
  /// @param inertia  about the centre of mass, body axes [kg·m²], symmetric positive definite.
  /// @param points   contact points, body axes [m].
  /// @note  Cold: throws std::invalid_argument.
  FreeBody(Scalar mass, const Matrix3& inertia, std::vector<Vector3<Scalar>> points)
      : mass_(mass), inertia_(inertia), points_(std::move(points)) {
    if (!detail::is_positive(mass)) detail::reject_if(detail::fault("mass", "a number > 0", mass));
    detail::reject_if(detail::symmetric_fault("", "inertia", inertia));
    Matrix3 factor = inertia;
    if (!factor_cholesky(factor.data(), 3, 3)) {
      detail::reject_if("inertia: expected a positive definite matrix, got another one");
    }
    inverse_inertia_.setIdentity();
    for (Index c = 0; c < 3; ++c) {
      solve_lower(factor.data(), 3, 3, inverse_inertia_.col(c).data());
      solve_lower_transposed(factor.data(), 3, 3, inverse_inertia_.col(c).data());
    }
    for (std::size_t i = 0; i < points_.size(); ++i) {
      detail::reject_if(detail::finite_fault("point " + std::to_string(i), points_[i]));
    }
  }

  [[nodiscard]] static constexpr Index velocity_count() noexcept { return 6; }
  [[nodiscard]] Index contact_count() const noexcept { return Index(points_.size()); }

  /// Rotation matrix of a state.
  template <RealScalar Number>
  [[nodiscard]] static SquareMatrix<Number, 3> rotation(
      const FreeBodyState<Number>& state) noexcept {
    const Vector<Number, 4>& q = state.orientation;
    const Number x = q(0), y = q(1), z = q(2), w = q(3);
    SquareMatrix<Number, 3> r;
    r << 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y), 2 * (x * y + w * z),
        1 - 2 * (x * x + z * z), 2 * (y * z - w * x), 2 * (x * z - w * y), 2 * (y * z + w * x),
        1 - 2 * (x * x + y * y);
    return r;
  }

  template <RealScalar Number, typename Matrix, typename Values>
  void write_dynamics(const FreeBodyState<Number>& state, Matrix& mass,
                      Values& acceleration) const noexcept {
    const SquareMatrix<Number, 3> r = rotation(state);
    const SquareMatrix<Number, 3> inertia = r * inertia_.template cast<Number>() * r.transpose();
    mass.setZero();
    mass.template topLeftCorner<3, 3>().diagonal().setConstant(Number(mass_));
    mass.template bottomRightCorner<3, 3>() = inertia;
    const Vector3<Number> spin = inertia * state.rate;
    const Vector3<Number> moment = torque.template cast<Number>() - cross(state.rate, spin);
    const Vector3<Scalar> fall = gravity + force / mass_;
    acceleration.template head<3>() = fall.template cast<Number>();
    acceleration.template tail<3>() =
        r * (inverse_inertia_.template cast<Number>() * (r.transpose() * moment));
  }

  template <RealScalar Number, typename Matrix, typename Values>
  void write_contacts(const FreeBodyState<Number>& state, Values& points, Matrix& jacobian,
                      Values& drift) const noexcept {
    const SquareMatrix<Number, 3> r = rotation(state);
    jacobian.setZero();
    for (Index i = 0; i < contact_count(); ++i) {
      const Vector3<Number> arm = r * points_[std::size_t(i)].template cast<Number>();
      points.template segment<3>(3 * i) = state.position + arm;
      drift.template segment<3>(3 * i) = cross(state.rate, cross(state.rate, arm));
      for (Index k = 0; k < 3; ++k) {  // ṗ + ω × arm
        jacobian(3 * i + k, k) = Number(1);
        jacobian(3 * i + k, 3 + (k + 1) % 3) = arm((k + 2) % 3);
        jacobian(3 * i + k, 3 + (k + 2) % 3) = -arm((k + 1) % 3);
      }
    }
  }

  template <RealScalar Number, typename Values>
  void write_velocity(const FreeBodyState<Number>& state, Values& velocity) const noexcept {
    velocity.template head<3>() = state.velocity;
    velocity.template tail<3>() = state.rate;
  }

  /// The rotation changes by the exponential of its displacement. The quaternion always has length
  /// 1.
  template <RealScalar Number, typename Values>
  void advance(FreeBodyState<Number>& state, const Values& displacement,
               const Values& velocity) const noexcept {
    using elementary::cos, elementary::sin, std::sqrt;
    state.position += displacement.template head<3>();
    const Vector3<Number> turn = displacement.template tail<3>();
    const Number square = turn.squaredNorm();
    const Number angle = sqrt(square);
    const bool turns = angle > Scalar(1e-4);
    const Number share = turns ? Number(sin(angle / 2) / angle) : Number(Scalar(0.5) - square / 48);
    const Vector3<Number> a = share * turn;
    Number c = cos(angle / 2);
    if constexpr (!std::floating_point<Number>) {  // the angle has no derivative at zero rotation
      if (!turns) c = Scalar(1) - square / 8;
    }
    const Vector3<Number> b = state.orientation.template head<3>();
    const Number w = state.orientation(3);
    state.orientation.template head<3>() = c * b + w * a + cross(a, b);
    state.orientation(3) = c * w - a.dot(b);
    state.orientation /= state.orientation.norm();
    state.velocity = velocity.template head<3>();
    state.rate = velocity.template tail<3>();
  }

  /// The displacement from one state to another, to first order.
  template <RealScalar Number, typename Values>
  void write_difference(const FreeBodyState<Number>& from, const FreeBodyState<Number>& to,
                        Values& displacement) const noexcept {
    displacement.template head<3>() = to.position - from.position;
    const Vector3<Number> a = to.orientation.template head<3>();
    const Vector3<Number> b = from.orientation.template head<3>();
    displacement.template tail<3>() =
        2 * (from.orientation(3) * a - to.orientation(3) * b - cross(a, b));
  }

  /// Kinetic energy plus the potential energy of gravity [J].
  [[nodiscard]] Scalar energy(const State& state) const noexcept {
    const Matrix3 r = rotation(state);
    const Vector3<Scalar> body_rate = r.transpose() * state.rate;
    return mass_ * state.velocity.squaredNorm() / 2 + body_rate.dot(inertia_ * body_rate) / 2 -
           mass_ * gravity.dot(state.position);
  }

 private:
  template <RealScalar Number>
  [[nodiscard]] static Vector3<Number> cross(const Vector3<Number>& a,
                                             const Vector3<Number>& b) noexcept {
    return {a(1) * b(2) - a(2) * b(1), a(2) * b(0) - a(0) * b(2), a(0) * b(1) - a(1) * b(0)};
  }

  Scalar mass_;
  Matrix3 inertia_, inverse_inertia_;
  std::vector<Vector3<Scalar>> points_;
};

}  // namespace CAROM_ABI
}  // namespace carom
