// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

#include <Eigen/Core>

#include "carom/cones/projection.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/linalg/detail/lu.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Newton's method on Coulomb's law of viscoelastic contacts whose regions are given: λₜ + μ λₙ
/// wₜ/‖wₜ‖ = 0 where a contact slides, λ = 0 where it is open. The unknowns are the velocities that
/// do not vanish.
template <RealScalar Scalar>
class SlipNewton {
 public:
  using Vector = Growing<VectorX<Scalar>>;

  /// Sets the number of contacts. Cold: allocates beyond the largest so far.
  void prepare(Index contact_count) {
    const Index n = 3 * contact_count;
    regions_.resize((std::max)(regions_.size(), std::size_t(contact_count)));
    rows_.resize((std::max)(rows_.size(), std::size_t(n)));
    if (matrix_.rows() < n) matrix_.resize(n, n);
    step_.grow(n);
    fitted_.grow(n);
    lu_.prepare(n);
  }

  /// Region of a contact in the next step.
  [[nodiscard]] ConeRegion& region(Index contact) noexcept {
    return regions_[std::size_t(contact)];
  }
  [[nodiscard]] const ConeRegion& region(Index contact) const noexcept {
    return regions_[std::size_t(contact)];
  }
  /// How many unknowns the next step has.
  [[nodiscard]] Index unknowns(Index contact_count) const noexcept {
    Index sum = 0;
    for (Index i = 0; i < contact_count; ++i) sum += unknowns_of(regions_[std::size_t(i)]);
    return sum;
  }

  /// Change of w, 3n, that the linearised law asks for: −w in rows that are to vanish.
  [[nodiscard]] const Vector& step() const noexcept { return step_; }

  /// Computes a step.
  /// @param gain      G, 3n×3n [N·s/m].
  /// @param response  λ_avg + G w, 3n [N].
  /// @param friction  μ, n [-].
  /// @param velocity  w, 3n [m/s].
  /// @return  false when the equations are singular or a sliding contact is at rest.
  /// @note  Real-time safe: no allocation, no exception.
  template <typename Matrix, typename Values1, typename Values2, typename Values3>
  [[nodiscard]] bool compute(const Matrix& gain, const Values1& response, const Values2& friction,
                             const Values3& velocity) noexcept {
    const Index m = collect(friction.size());
    fit(gain, response, velocity);
    for (Index c = 0; c < m; ++c) {
      for (Index r = 0; r < m; ++r) matrix_(r, c) = gain(row(r), row(c));
    }
    for (Index r = 0; r < m; ++r) {
      step_(r) = -fitted_(row(r));
      const Index i = row(r) / 3;
      if (region(i) != ConeRegion::slide || !(friction(i) > Scalar(0))) continue;
      const Vector3<Scalar> w = velocity.template segment<3>(3 * i);
      const Scalar speed = w.template head<2>().norm();
      if (!(speed > Scalar(0))) return false;
      const Scalar normal = fitted_(3 * i + 2);
      const Index k = row(r) % 3, first = r - k;
      const Scalar share = friction(i) * w(k) / speed;
      step_(r) -= share * normal;
      for (Index c = 0; c < m; ++c) matrix_(r, c) += share * gain(3 * i + 2, row(c));
      const Scalar turn = friction(i) * (std::max)(normal, Scalar(0)) / speed;
      for (Index l = 0; l < 2; ++l) {
        matrix_(r, first + l) += turn * (Scalar(k == l ? 1 : 0) - w(k) / speed * w(l) / speed);
      }
    }
    if (!lu_.factor(matrix_, m)) return false;
    lu_.solve(step_.data());
    Index from = m;
    for (Index to = step_.size() - 1; to >= 0; --to) {  // to its rows, from the last
      const bool own = from > 0 && row(from - 1) == to;
      step_(to) = own ? step_(--from) : -velocity(to);
    }
    return true;
  }

 private:
  /// Writes λ with zero in the rows of w that are to vanish.
  template <typename Matrix, typename Values1, typename Values2>
  void fit(const Matrix& gain, const Values1& response, const Values2& velocity) noexcept {
    fitted_ = response;
    for (Index row = 0; row < fitted_.size(); ++row) {
      const bool vanishes = row % 3 >= unknowns_of(region(row / 3));
      if (vanishes && velocity(row) != Scalar(0)) fitted_ -= velocity(row) * gain.col(row);
    }
  }
  [[nodiscard]] static Index unknowns_of(ConeRegion region) noexcept {
    return region == ConeRegion::slide ? 2 : region == ConeRegion::separate ? 3 : 0;
  }
  [[nodiscard]] Index row(Index unknown) const noexcept { return rows_[std::size_t(unknown)]; }

  Index collect(Index contact_count) noexcept {
    Index m = 0;
    for (Index i = 0; i < contact_count; ++i) {
      for (Index k = 0; k < unknowns_of(region(i)); ++k) rows_[std::size_t(m++)] = 3 * i + k;
    }
    return m;
  }

  std::vector<ConeRegion> regions_;
  std::vector<Index> rows_;
  MatrixX<Scalar> matrix_;
  LuFactor<Scalar> lu_;
  Vector step_, fitted_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
