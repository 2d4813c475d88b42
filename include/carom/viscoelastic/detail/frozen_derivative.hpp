// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Eigen/Core>

#include "carom/linalg/detail/cholesky.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/viscoelastic/contact_step.hpp"
#include "carom/viscoelastic/detail/average_derivative.hpp"
#include "carom/viscoelastic/detail/slip_derivative.hpp"
#include "carom/viscoelastic/detail/step_columns.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Derivatives of a ContactStep's velocity, displacement and forces by all of its data.
template <RealScalar Scalar>
class FrozenDerivative {
 public:
  using Matrix = Growing<MatrixX<Scalar>>;
  using Vector = Growing<VectorX<Scalar>>;

  /// Sets the sizes. Cold: allocates beyond the largest so far.
  void prepare(Index contact_count, Index velocity_count) {
    columns_ = {velocity_count, contact_count};
    const Index k = velocity_count, n = 3 * contact_count;
    averages_.prepare(n, 1 + columns_.count(), k);
    slip_.prepare(contact_count, 1 + columns_.count());
    factor_.grow(k, k);
    answer_.grow(k, n);
    answer_by_.grow(k, n);
    inverse_mass_.grow(k, k);
    velocity_by_.grow(k, columns_.count());
    displacement_by_.grow(k, columns_.count());
    push_.grow(k);
  }

  [[nodiscard]] const PartColumns& columns() const noexcept { return columns_; }

  /// @param step  solved on the data.
  /// @param mechanism  derivatives of the mechanism's active contacts, as ActiveMechanism has them.
  /// @return  false when numbers leave the range or the equations of slip are singular.
  /// @note  Real-time safe once prepared: no allocation, no exception.
  template <typename Data, typename Mechanism>
  [[nodiscard]] bool evaluate(SlipLaw law, ContactStep<Scalar>& step, const Data& data,
                              const Mechanism& mechanism) noexcept {
    if (!factor(data)) return false;
    start(data, mechanism);
    averages_.rate().col(0) -= step.anchor_velocity();
    if (columns_.contacts > 0) {
      if (!averages_.evaluate(data.stiffness, data.damping, data.time_step, columns_.stiffness(),
                              columns_.damping())) {
        return false;
      }
      write_time(data.time_step);
      if (!slip_.apply(law, step, data, 1 + columns_.friction(), averages_.average(),
                       averages_.average2())) {
        return false;
      }
    }
    write_motion(data, mechanism);
    return velocity_by_.allFinite() && displacement_by_.allFinite();
  }

  /// ∂v⁺, n_v rows, columns as PartColumns says.
  [[nodiscard]] const Matrix& velocity_by() const noexcept { return velocity_by_; }
  /// ∂(q⁺ ⊖ q), at a fixed q.
  [[nodiscard]] const Matrix& displacement_by() const noexcept { return displacement_by_; }
  /// ∂λ̄, 3n rows.
  [[nodiscard]] auto force_by() noexcept { return averages_.average().rightCols(columns_.count()); }
  /// M⁻¹, n_v×n_v.
  [[nodiscard]] const Matrix& inverse_mass() const noexcept { return inverse_mass_; }
  /// Whether an active contact was on the boundary of its region.
  [[nodiscard]] bool one_sided(Index contact) const noexcept { return slip_.one_sided(contact); }

 private:
  /// M⁻¹ and A = M⁻¹Jᵀ.
  template <typename Data>
  [[nodiscard]] bool factor(const Data& data) noexcept {
    const Index k = columns_.velocities;
    factor_ = data.mass_matrix;
    if (!factor_cholesky(factor_.data(), k, k)) return false;
    inverse_mass_.setIdentity();
    solve_lower(factor_.data(), k, k, inverse_mass_.data(), k);
    for (Index c = 0; c < k; ++c) {
      solve_lower_transposed(factor_.data(), k, k, inverse_mass_.col(c).data());
    }
    answer_.noalias() = inverse_mass_.lazyProduct(data.jacobian.transpose());
    return true;
  }

  /// out ← ∂A/∂q_d = M⁻¹ (∂Jᵀ − ∂M A).
  template <typename Mechanism>
  void write_answer_by(Index d, const Mechanism& mechanism) noexcept {
    for (Index c = 0; c < answer_.cols(); ++c) {
      for (Index r = 0; r < columns_.velocities; ++r) {
        push_(r) = mechanism.jacobian_by(d, c, r);
      }
      push_.noalias() -= mechanism.mass_by(d).lazyProduct(answer_.col(c));
      answer_by_.col(c).noalias() = inverse_mass_.lazyProduct(push_);
    }
  }

  /// Writes y, ẏ, b and Υ with all their derivatives.
  template <typename Data, typename Mechanism>
  void start(const Data& data, const Mechanism& mechanism) noexcept {
    const Index k = columns_.velocities, n = 3 * columns_.contacts;
    averages_.clear();
    auto& place = averages_.place();
    auto& rate = averages_.rate();
    auto& drive = averages_.acceleration();
    averages_.inverse_mass().noalias() = data.jacobian.lazyProduct(answer_);
    place.col(0) = data.points - data.anchors;
    rate.col(0).noalias() = data.jacobian.lazyProduct(data.velocity);
    drive.col(0) = data.drift;
    drive.col(0).noalias() += data.jacobian.lazyProduct(data.free_acceleration);
    for (Index d = 0; d < k; ++d) {
      write_answer_by(d, mechanism);
      auto turned = averages_.inverse_mass_by(d);
      turned.noalias() = data.jacobian.lazyProduct(answer_by_);
      for (Index r = 0; r < n; ++r) {
        for (Index j = 0; j < k; ++j) {
          const Scalar by = mechanism.jacobian_by(d, r, j);
          turned.row(r) += by * answer_.row(j);
          rate(r, 1 + d) += by * data.velocity(j);
          drive(r, 1 + d) += by * data.free_acceleration(j);
        }
      }
      place.col(1 + d) = data.jacobian.col(d);
      rate.col(1 + k + d) = data.jacobian.col(d);
      drive.col(1 + columns_.acceleration() + d) = data.jacobian.col(d);
    }
    for (Index d = 0; d < 2 * k; ++d) {
      drive.col(1 + d).noalias() += data.jacobian.lazyProduct(mechanism.acceleration_by(d));
      for (Index r = 0; r < n; ++r) drive(r, 1 + d) += mechanism.drift_by(d, r);
    }
    for (Index r = 0; r < n; ++r) place(r, 1 + columns_.anchors() + r) = Scalar(-1);
  }

  /// Column of t: (t λ̄)′ = λ(t) and (t² λ̄₂/2)′ = t λ̄.
  void write_time(const Scalar& t) noexcept {
    auto& average = averages_.average();
    auto& average2 = averages_.average2();
    const Index time = 1 + columns_.time();
    average.col(time) = (averages_.end_force() - average.col(0)) / t;
    average2.col(time) = 2 / t * (average.col(0) - average2.col(0));
  }

  template <typename Data, typename Mechanism>
  void write_motion(const Data& data, const Mechanism& mechanism) noexcept {
    const Index k = columns_.velocities, count = columns_.count();
    const Scalar t = data.time_step;
    auto& force = averages_.average();
    auto& force2 = averages_.average2();
    velocity_by_.noalias() = answer_.lazyProduct(force.rightCols(count));
    displacement_by_.noalias() = answer_.lazyProduct(force2.rightCols(count));
    for (Index d = 0; d < k; ++d) {
      write_answer_by(d, mechanism);
      velocity_by_.col(d).noalias() += answer_by_.lazyProduct(force.col(0));
      displacement_by_.col(d).noalias() += answer_by_.lazyProduct(force2.col(0));
      velocity_by_(d, columns_.acceleration() + d) += Scalar(1);
      displacement_by_(d, columns_.acceleration() + d) += Scalar(1);
    }
    for (Index d = 0; d < 2 * k; ++d) {
      velocity_by_.col(d) += mechanism.acceleration_by(d);
      displacement_by_.col(d) += mechanism.acceleration_by(d);
    }
    velocity_by_ *= t;
    displacement_by_ *= t * t / 2;
    for (Index d = 0; d < k; ++d) {
      velocity_by_(d, k + d) += Scalar(1);
      displacement_by_(d, k + d) += t;
    }
    push_ = data.free_acceleration;
    push_.noalias() += answer_.lazyProduct(force.col(0));
    velocity_by_.col(columns_.time()) += push_;
    push_ = data.free_acceleration;
    push_.noalias() += answer_.lazyProduct(force2.col(0));
    displacement_by_.col(columns_.time()) += data.velocity + t * push_;
  }

  PartColumns columns_;
  AverageDerivative<Scalar> averages_;
  SlipDerivative<Scalar> slip_;
  Matrix factor_, inverse_mass_, answer_, answer_by_, velocity_by_, displacement_by_;
  Vector push_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
