// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <Eigen/Core>

#include "carom/linalg/detail/growing.hpp"
#include "carom/linalg/detail/second_order.hpp"
#include "carom/viscoelastic/concepts.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Derivatives of what a mechanism says of itself, by its configuration (in coordinates of the
/// tangent, q ⊕ δ) and its velocity: its functions run on numbers that carry four slopes at a time.
template <DifferentiableMechanism System>
class MechanismDerivative {
 public:
  using Scalar = typename System::scalar_type;
  using State = typename System::State;
  using Number = FirstOrder<Scalar>;
  using Matrix = Growing<MatrixX<Scalar>>;
  using Vector = Growing<VectorX<Scalar>>;

  /// Sets the sizes. Cold: allocates beyond the largest so far.
  void prepare(Index contact_count, Index velocity_count) {
    const Index n = 3 * contact_count, k = velocity_count;
    mass_.grow(k, k);
    jacobian_.grow(n, k);
    for (Growing<VectorX<Number>>* v : {&acceleration_, &displacement_, &velocity_}) v->grow(k);
    for (Growing<VectorX<Number>>* v : {&points_, &drift_}) v->grow(n);
    mass_by_.grow(k, k * k);
    jacobian_by_.grow(n, k * k);
    acceleration_by_.grow(k, 2 * k);
    drift_by_.grow(n, 2 * k);
    advance_by_.grow(k, 2 * k);
  }

  /// Differentiates M, v̇_free, J and J̇ v.
  /// @note  Real-time safe if the mechanism's functions and its state's copies are.
  void evaluate(const System& system, const State& state, const Vector& velocity) noexcept {
    const Index k = velocity.size();
    for (Index first = 0; first < 2 * k; first += Number::inners) {
      const Index count = (std::min)(Index(Number::inners), 2 * k - first);
      const auto seeded = seed(system, state, velocity, first);
      system.write_dynamics(seeded, mass_, acceleration_);
      system.write_contacts(seeded, points_, jacobian_, drift_);
      for (Index s = 0; s < count; ++s) take(first + s, s);
    }
  }

  /// Differentiates the tangent coordinates of q ⊕ d by those of q and by d.
  void evaluate_advance(const System& system, const State& state, const Vector& displacement,
                        const State& next) noexcept {
    const Index k = displacement.size();
    const auto target = next.template cast<Number>();
    for (Index first = 0; first < 2 * k; first += Number::inners) {
      const Index count = (std::min)(Index(Number::inners), 2 * k - first);
      auto seeded = seed(system, state, displacement, first);  // the velocity has no influence
      for (Index i = 0; i < k; ++i) displacement_(i) = velocity_(i);
      system.advance(seeded, displacement_, velocity_);
      system.write_difference(target, seeded, acceleration_);
      for (Index s = 0; s < count; ++s) {
        for (Index i = 0; i < k; ++i) advance_by_(i, first + s) = acceleration_(i).inner(s);
      }
    }
  }

  /// ∂M/∂q_d, n_v×n_v.
  [[nodiscard]] auto mass_by(Index d) const noexcept {
    return mass_by_.middleCols(d * mass_by_.rows(), mass_by_.rows());
  }
  /// ∂J/∂q_d, 3n×n_v.
  [[nodiscard]] auto jacobian_by(Index d) const noexcept {
    return jacobian_by_.middleCols(d * mass_by_.rows(), mass_by_.rows());
  }
  /// ∂v̇_free/∂(q, v), n_v×2n_v.
  [[nodiscard]] const Matrix& acceleration_by() const noexcept { return acceleration_by_; }
  /// ∂(J̇ v)/∂(q, v), 3n×2n_v.
  [[nodiscard]] const Matrix& drift_by() const noexcept { return drift_by_; }
  /// ∂(q ⊕ d)/∂(q, d), n_v×2n_v.
  [[nodiscard]] const Matrix& advance_by() const noexcept { return advance_by_; }

 private:
  /// The state with a velocity, and in both the slopes of variables first, first + 1, ….
  [[nodiscard]] auto seed(const System& system, const State& state, const Vector& velocity,
                          Index first) noexcept {
    const Index k = velocity.size();
    for (Index i = 0; i < k; ++i) {
      displacement_(i) = Number(0);
      velocity_(i) = Number(velocity(i));
      for (Index s = 0; s < Number::inners; ++s) {
        if (first + s == i) displacement_(i).inner(s) = Scalar(1);
        if (first + s == k + i) velocity_(i).inner(s) = Scalar(1);
      }
    }
    auto seeded = state.template cast<Number>();
    system.advance(seeded, displacement_, velocity_);
    return seeded;
  }

  /// Takes the slopes by variable v, which are in place s.
  void take(Index v, Index s) noexcept {
    const Index k = mass_.rows(), n = drift_.size();
    for (Index i = 0; i < k; ++i) acceleration_by_(i, v) = acceleration_(i).inner(s);
    for (Index i = 0; i < n; ++i) drift_by_(i, v) = drift_(i).inner(s);
    if (v >= k) return;  // M and J do not depend on the velocity
    for (Index c = 0; c < k; ++c) {
      for (Index r = 0; r < k; ++r) mass_by_(r, v * k + c) = mass_(r, c).inner(s);
      for (Index r = 0; r < n; ++r) jacobian_by_(r, v * k + c) = jacobian_(r, c).inner(s);
    }
  }

  Growing<MatrixX<Number>> mass_, jacobian_;
  Growing<VectorX<Number>> acceleration_, displacement_, velocity_, points_, drift_;
  Matrix mass_by_, jacobian_by_, acceleration_by_, drift_by_, advance_by_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
