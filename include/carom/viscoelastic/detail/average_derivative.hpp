// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include <Eigen/Core>

#include "carom/linalg/detail/growing.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Derivatives of the average forces λ̄ and λ̄₂ of spring-dampers over a step, along many directions
/// of all data at once, for any diagonal K and B.
///
/// The motion ÿ = b − Υ (K y + B ẏ) of an anchor at rest and its derivatives
/// δÿ = δb − Υ (K δy + B δẏ) − δΥ (K y + B ẏ) − Υ (δK y + δB ẏ) are one linear system. It is
/// integrated by Taylor series over substeps in which its matrix has norm 1, so that they are exact
/// to rounding. Time is counted in units of 1/ω as in GeneralForces.
///
/// Column 0 is the motion itself; then follow the directions: of the first, Υ changes; those of K
/// and of B, one per row, are at the columns given.
/// @cite  hammoud2022exponential, eq. (11)–(20), for the averages; their derivatives are ours.
template <RealScalar Scalar>
class AverageDerivative {
 public:
  using Matrix = Growing<MatrixX<Scalar>>;
  using Vector = Growing<VectorX<Scalar>>;
  /// Terms of the series: the last is below 1/20! of the first.
  static constexpr int terms = 20;
  /// Most substeps: ω t or the damping rate times t beyond it ends as `evaluate() == false`.
  static constexpr int substep_limit = 200000;

  /// Sets the sizes. Cold: allocates beyond the largest so far.
  /// @param rows  3n.  @param columns  1 + directions.  @param turning  directions that change Υ.
  void prepare(Index rows, Index columns, Index turning) {
    for (Matrix* m : {&twice_, &once_, &place_, &rate_, &pushed_, &force_, &drive_}) {
      m->grow(rows, columns);
    }
    for (Matrix* m : {&sum_twice_, &sum_once_, &sum_place_, &sum_rate_}) m->grow(rows, columns);
    for (Matrix* m : {&start_, &average_, &average2_}) m->grow(rows, columns);
    inverse_mass_.grow(rows, rows);
    inverse_mass_by_.grow(rows, rows * turning);
    for (Vector* v : {&stiffness_, &damping_, &end_force_}) v->grow(rows);
    turning_ = turning;
  }

  /// y and ẏ at the start, and b, with their derivatives; set to zero by clear().
  [[nodiscard]] Matrix& place() noexcept { return start_; }
  [[nodiscard]] Matrix& rate() noexcept { return rate_; }
  [[nodiscard]] Matrix& acceleration() noexcept { return drive_; }
  /// Υ, and its derivative along direction d.
  [[nodiscard]] Matrix& inverse_mass() noexcept { return inverse_mass_; }
  [[nodiscard]] auto inverse_mass_by(Index d) noexcept {
    return inverse_mass_by_.middleCols(d * inverse_mass_.rows(), inverse_mass_.rows());
  }
  void clear() noexcept {
    for (Matrix* m : {&start_, &rate_, &drive_}) m->setZero();
  }

  /// Integrates.
  /// @param stiffness, damping  diagonals of K [N/m] and B [N·s/m], ≥ 0, 3n.
  /// @param first_stiffness, first_damping  directions of their first rows.
  /// @return  false when a number is not finite, or when there would be too many substeps.
  /// @note  Real-time safe once prepared: no allocation, no exception; about 20 products with Υ of
  ///        all columns per substep.
  template <typename Diagonal>
  [[nodiscard]] bool evaluate(const Diagonal& stiffness, const Diagonal& damping,
                              const Scalar& time, Index first_stiffness,
                              Index first_damping) noexcept {
    stiffness_ = stiffness;
    damping_ = damping;
    time_ = time;
    stiff_column_ = 1 + first_stiffness;
    damp_column_ = 1 + first_damping;
    Scalar norm;
    if (!choose_units(norm)) return false;
    using std::ceil;
    const Scalar substeps = ceil(norm);
    if (!(substeps <= Scalar(substep_limit))) return false;
    span_ = unit_ * time / substeps;
    sum_twice_.setZero();
    sum_once_.setZero();
    sum_place_ = start_;
    sum_rate_ = rate_ / unit_;
    for (int s = 0; s < int(substeps); ++s) add_series();
    write_averages();
    return average_.allFinite() && average2_.allFinite();
  }

  /// λ̄ and λ̄₂ in column 0, then their derivatives [N per direction].
  [[nodiscard]] Matrix& average() noexcept { return average_; }
  [[nodiscard]] Matrix& average2() noexcept { return average2_; }
  /// λ at the end of the step [N].
  [[nodiscard]] const Vector& end_force() const noexcept { return end_force_; }

 private:
  /// ω and the norm of the system's matrix times t, in units of 1/ω.
  [[nodiscard]] bool choose_units(Scalar& norm) noexcept {
    using std::abs, std::sqrt;
    const Index n = inverse_mass_.rows();
    Scalar spring(0), damper(0);
    for (Index r = 0; r < n; ++r) {
      Scalar spring_row(0), damper_row(0);
      for (Index c = 0; c < n; ++c) {
        spring_row += abs(inverse_mass_(r, c)) * stiffness_(c);
        damper_row += abs(inverse_mass_(r, c)) * damping_(c);
      }
      spring = (std::max)(spring, spring_row);
      damper = (std::max)(damper, damper_row);
    }
    unit_ = (std::max)(Scalar(sqrt(spring)), Scalar(1) / time_);
    norm = time_ * (std::max)(unit_, Scalar(spring / unit_ + damper));
    return norm - norm == Scalar(0);
  }

  /// Adds to the sums the further terms of their Taylor series over a substep.
  void add_series() noexcept {
    twice_ = sum_twice_;
    once_ = sum_once_;
    place_ = sum_place_;
    pushed_ = sum_rate_;
    for (int j = 1; j <= terms; ++j) {
      const Scalar share = span_ / Scalar(j);
      write_force();
      twice_ = share * once_;
      once_ = share * place_;
      place_ = share * pushed_;
      pushed_.noalias() = inverse_mass_.lazyProduct(force_);
      for (Index d = 0; d < turning_; ++d) {
        pushed_.col(1 + d).noalias() += inverse_mass_by(d).lazyProduct(force_.col(0));
      }
      pushed_ *= -share;
      if (j == 1) pushed_ += share / (unit_ * unit_) * drive_;
      sum_twice_ += twice_;
      sum_once_ += once_;
      sum_place_ += place_;
      sum_rate_ += pushed_;
    }
  }

  /// (K y + B ẏ)/ω² of the present term and its derivatives.
  void write_force() noexcept {
    const Index n = inverse_mass_.rows();
    const Scalar once = Scalar(1) / unit_, twice = once * once;
    for (Index c = 0; c < force_.cols(); ++c) {
      for (Index r = 0; r < n; ++r) {
        force_(r, c) = stiffness_(r) * twice * place_(r, c) + damping_(r) * once * pushed_(r, c);
      }
    }
    for (Index r = 0; r < n; ++r) {
      force_(r, stiff_column_ + r) += twice * place_(r, 0);
      force_(r, damp_column_ + r) += once * pushed_(r, 0);
    }
  }

  void write_averages() noexcept {
    const Index n = inverse_mass_.rows();
    const Scalar t = time_, once = Scalar(1) / unit_, twice = once * once;
    const auto moved = [&](Index r, Index c) { return sum_place_(r, c) - start_(r, c); };
    const auto swept = [&](Index r, Index c) { return once * sum_once_(r, c) - t * start_(r, c); };
    for (Index c = 0; c < average_.cols(); ++c) {
      for (Index r = 0; r < n; ++r) {
        const Scalar k = stiffness_(r), b = damping_(r);
        average_(r, c) = -(k * once * sum_once_(r, c) + b * moved(r, c)) / t;
        average2_(r, c) = -2 * (k * twice * sum_twice_(r, c) + b * swept(r, c)) / (t * t);
      }
    }
    for (Index r = 0; r < n; ++r) {
      average_(r, stiff_column_ + r) -= once * sum_once_(r, 0) / t;
      average2_(r, stiff_column_ + r) -= 2 * twice * sum_twice_(r, 0) / (t * t);
      average_(r, damp_column_ + r) -= moved(r, 0) / t;
      average2_(r, damp_column_ + r) -= 2 * swept(r, 0) / (t * t);
      end_force_(r) = -(stiffness_(r) * sum_place_(r, 0) + damping_(r) * unit_ * sum_rate_(r, 0));
    }
  }

  Matrix twice_, once_, place_, pushed_, force_;  ///< a term: ω²∫∫y, ω∫y, y, ẏ/ω; its force
  Matrix sum_twice_, sum_once_, sum_place_, sum_rate_;
  Matrix start_, rate_, drive_, average_, average2_, inverse_mass_, inverse_mass_by_;
  Vector stiffness_, damping_, end_force_;
  Scalar time_ = 0, unit_ = 1, span_ = 0;
  Index turning_ = 0, stiff_column_ = 0, damp_column_ = 0;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
