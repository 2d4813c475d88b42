// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Core>

#include "carom/linalg/detail/growing.hpp"
#include "carom/viscoelastic/detail/general_forces.hpp"
#include "carom/viscoelastic/detail/modal_forces.hpp"
#include "carom/viscoelastic/force_method.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Forces of viscoelastic contacts with resting anchors, averaged over a step, and the gain, their
/// derivative by the velocity w of the anchors: λ̄ = λ_avg + G w, λ̄₂ = λ_avg2 + G₂ w.
///
/// The data determine the method. If B = β K in each row up to a few roundings, it uses modes, in
/// generalized coordinates if these are fewer than the contact rows. Otherwise it uses the general
/// method.
/// ```
/// carom::AverageForces<double> forces;
/// forces.prepare(contacts, velocities);                                      // cold
/// forces.set(whitened, stiffness, damping, time_step);                       // hot from here
/// forces.evaluate(y, rate, acceleration, average, average2);
/// forces.write_gain(gain);
/// ```
template <RealScalar Scalar>
class AverageForces {
 public:
  /// Sets the sizes. Cold: allocates only for sizes larger than all before.
  void prepare(Index contact_count, Index velocity_count) {
    const Index n = 3 * contact_count;
    in_coordinates_ = velocity_count < n;
    modal_.prepare(contact_count, in_coordinates_ ? velocity_count : n);
    general_.prepare(contact_count);
    inverse_mass_.grow(n, n);
    spare_.grow(n, n);
  }

  /// Sets a step's data.
  /// @param whitened  L⁻¹Jᵀ, n_v×3n [1/√kg], with M = L Lᵀ.
  /// @param stiffness, damping  diagonals of K [N/m] and B [N·s/m], ≥ 0, 3n.
  /// @param time_step  t [s], > 0.
  /// @return  false if a number is not finite.
  /// @note  Real-time safe once prepared: no allocation, no exception.
  template <typename Matrix, typename Diagonal>
  [[nodiscard]] bool set(const Matrix& whitened, const Diagonal& stiffness, const Diagonal& damping,
                         const Scalar& time_step) noexcept {
    time_step_ = time_step;
    Scalar beta;
    const bool modal = proportional(stiffness, damping, beta);
    if (modal && in_coordinates_) {
      method_ = ForceMethod::coordinate_modes;
      return modal_.decompose_coordinates(whitened, stiffness, beta, time_step);
    }
    write_inverse_mass(whitened);
    if (modal) {
      method_ = ForceMethod::contact_modes;
      return modal_.decompose_contacts(inverse_mass_, stiffness, beta, time_step);
    }
    const bool done = general_.set(inverse_mass_, stiffness, damping, time_step);
    method_ = general_.way() == GeneralForces<Scalar>::Way::taylor ? ForceMethod::taylor
                                                                   : ForceMethod::exponential;
    return done;
  }

  [[nodiscard]] Scalar time_step() const noexcept { return time_step_; }
  [[nodiscard]] ForceMethod method() const noexcept { return method_; }
  [[nodiscard]] Index rows() const noexcept { return inverse_mass_.rows(); }

  /// λ_avg and λ_avg2 [N]; the arguments are those of ModalForces::evaluate.
  /// @return  false if the result is not finite.
  template <typename Vector1, typename Vector2>
  [[nodiscard]] bool evaluate(const Vector1& y, const Vector1& rate, const Vector1& acceleration,
                              Vector2& average, Vector2& average2) noexcept {
    if (!modal()) return general_.evaluate(y, rate, acceleration, average, average2);
    modal_.evaluate(y, rate, acceleration, average, average2);
    return average.allFinite() && average2.allFinite();
  }

  /// G, 3n×3n [N·s/m], symmetric positive semidefinite.
  template <typename Matrix>
  [[nodiscard]] bool write_gain(Matrix& gain) noexcept {
    if (!modal()) return write_general(gain, spare_);
    assemble(modal_.gains(), gain, [this](Index r) { return modal_.own_gain(r); });
    return true;
  }

  /// G₂, 3n×3n [N·s/m].
  template <typename Matrix>
  [[nodiscard]] bool write_gain2(Matrix& gain2) noexcept {
    if (!modal()) return write_general(spare_, gain2);
    assemble(modal_.gains2(), gain2, [this](Index r) { return modal_.own_gain2(r); });
    return true;
  }

  /// G and G₂, in one pass if the general method computes both at once.
  template <typename Matrix1, typename Matrix2>
  [[nodiscard]] bool write_gains(Matrix1& gain, Matrix2& gain2) noexcept {
    if (!modal()) return write_general(gain, gain2);
    return write_gain(gain) && write_gain2(gain2);
  }

  /// Columns j of G and G₂ only.
  template <typename Vector>
  [[nodiscard]] bool write_gain_column(Index j, Vector& gain, Vector& gain2) noexcept {
    if (!modal()) return general_.write_gain_column(j, gain, gain2);
    const auto& modes = modal_.modes();
    for (Index i = 0; i < rows(); ++i) {
      Scalar sum(0), sum2(0);
      for (Index k = 0; k < modal_.mode_count(); ++k) {
        const Scalar both = modes(k, i) * modes(k, j);
        sum += both * modal_.gains()(k);
        sum2 += both * modal_.gains2()(k);
      }
      gain(i) = sum + (i == j ? modal_.own_gain(i) : Scalar(0));
      gain2(i) = sum2 + (i == j ? modal_.own_gain2(i) : Scalar(0));
    }
    return true;
  }

 private:
  [[nodiscard]] bool modal() const noexcept {
    return method_ == ForceMethod::contact_modes || method_ == ForceMethod::coordinate_modes;
  }

  /// Whether B = β K; β is computed from the stiffest row.
  template <typename Diagonal>
  [[nodiscard]] static bool proportional(const Diagonal& stiffness, const Diagonal& damping,
                                         Scalar& beta) noexcept {
    beta = Scalar(0);
    Index stiffest = 0;
    if (stiffness.size() == 0) return true;
    stiffness.maxCoeff(&stiffest);
    if (stiffness(stiffest) > Scalar(0)) beta = damping(stiffest) / stiffness(stiffest);
    if (!(beta - beta == Scalar(0))) return false;
    // The rounding error of B = β K after a few operations is at most this. The modes would replace
    // a B with a larger error by β K.
    constexpr int roundings = 8;
    for (Index i = 0; i < stiffness.size(); ++i) {
      const Scalar expected = beta * stiffness(i);
      const Scalar apart = std::abs(damping(i) - expected);
      if (!(apart <= roundings * std::numeric_limits<Scalar>::epsilon() * expected)) return false;
    }
    return true;
  }

  template <typename Matrix>
  void write_inverse_mass(const Matrix& whitened) noexcept {
    const Index n = rows(), k = whitened.rows();
    for (Index c = 0; c < n; ++c) {
      for (Index r = c; r < n; ++r) {
        Scalar sum(0);
        for (Index i = 0; i < k; ++i) sum += whitened(i, r) * whitened(i, c);
        inverse_mass_(r, c) = inverse_mass_(c, r) = sum;
      }
    }
  }

  template <typename Weights, typename Matrix, typename Own>
  void assemble(const Weights& weights, Matrix& out, const Own& own) const noexcept {
    const auto& modes = modal_.modes();
    const Index n = rows(), count = modal_.mode_count();
    for (Index c = 0; c < n; ++c) {
      Scalar* const column = out.data() + c * n;
      std::fill(column + c, column + n, Scalar(0));
      for (Index k = 0; k < count; ++k) {
        const Scalar weight = weights(k) * modes(k, c);
        for (Index r = c; r < n; ++r) column[r] += weight * modes(k, r);
      }
      column[c] += own(c);
      for (Index r = c + 1; r < n; ++r) out(c, r) = column[r];
    }
  }

  /// Writes both gains column by column and removes their asymmetry, which is only rounding.
  template <typename Matrix1, typename Matrix2>
  [[nodiscard]] bool write_general(Matrix1& gain, Matrix2& gain2) noexcept {
    const Index n = rows();
    for (Index j = 0; j < n; ++j) {
      if (!general_.write_gain_column(j, gain.col(j), gain2.col(j))) return false;
    }
    for (Index c = 0; c < n; ++c) {
      for (Index r = c + 1; r < n; ++r) {
        gain(r, c) = gain(c, r) = (gain(r, c) + gain(c, r)) / 2;
        gain2(r, c) = gain2(c, r) = (gain2(r, c) + gain2(c, r)) / 2;
      }
    }
    return true;
  }

  ModalForces<Scalar> modal_;
  GeneralForces<Scalar> general_;
  Growing<MatrixX<Scalar>> inverse_mass_, spare_;
  Scalar time_step_ = 0;
  bool in_coordinates_ = false;
  ForceMethod method_ = ForceMethod::contact_modes;
};

}  // namespace CAROM_ABI
}  // namespace carom
