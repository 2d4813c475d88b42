// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <Eigen/Core>

#include "carom/cones/projection.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/linalg/detail/lu.hpp"
#include "carom/viscoelastic/contact_step.hpp"
#include "carom/viscoelastic/slip_law.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Derivatives of average forces in their cones, λ̄ = λ_avg + G w, from those at a fixed w.
///
/// By the implicit function theorem on the law with the regions that the solver found: w = 0 where
/// a contact sticks; λₜ + μ λₙ wₜ/‖wₜ‖ = 0 where it slides, with wₙ = 0, or under the associated
/// law wₙ = μ‖wₜ‖; λ = 0 where it is open. Contacts on the boundary of a region are named: there
/// the derivative is that of the region which the solver chose.
template <RealScalar Scalar>
class SlipDerivative {
 public:
  using Matrix = Growing<MatrixX<Scalar>>;
  using Vector = Growing<VectorX<Scalar>>;
  /// A contact is on a boundary when it is so near, relative to its own force [-]: above what
  /// rounding leaves of a solve, and below any distance that a difference could step over.
  static constexpr double nearness = 1e-9;

  /// Sets the sizes. Cold: allocates beyond the largest so far.
  void prepare(Index contact_count, Index columns) {
    const Index n = 3 * contact_count;
    for (Matrix* m : {&gain_, &gain2_, &by_unknown_, &by_unknown2_}) m->grow(n, n);
    if (matrix_.rows() < n) matrix_.resize(n, n);
    lu_.prepare(n);
    solved_.grow(n, columns);
    rows_.resize((std::max)(rows_.size(), std::size_t(n)));
    boundary_.resize((std::max)(boundary_.size(), std::size_t(contact_count)));
  }

  /// @param step  a solved step, asked for G and G₂.  @param data  what it was solved on.
  /// @param friction_column  the column of the first contact's μ.
  /// @param average, average2  in: λ̄ and λ̄₂ in column 0, then derivatives, all at a fixed w; out:
  ///                           those that w follows.
  /// @return  false when the equations of slip are singular.
  /// @note  Real-time safe once prepared: no allocation, no exception.
  template <typename Data>
  [[nodiscard]] bool apply(SlipLaw law, ContactStep<Scalar>& step, const Data& data,
                           Index friction_column, Matrix& average, Matrix& average2) noexcept {
    const auto& friction = data.friction;
    const Index n = friction.size();
    std::fill_n(boundary_.begin(), n, std::uint8_t(0));
    if (law == SlipLaw::stick) return true;
    collect(step, n);
    for (Index i = 0; i < n; ++i) {
      if (step.region(i) == ConeRegion::stick) judge_stick(i, step, data);
    }
    if (unknowns_ == 0) return true;
    if (!step.forces().write_gains(gain_, gain2_)) return false;
    for (Index i = 0; i < n; ++i) {
      if (step.region(i) != ConeRegion::stick) judge_slip(i, step, friction(i), law, average2);
    }
    write_equations(law, step, friction, friction_column, average, average2);
    if (!lu_.factor(matrix_, unknowns_)) return false;
    solved_.col(0).setZero();
    for (Index c = 1; c < average.cols(); ++c) lu_.solve(solved_.col(c).data());
    average.noalias() += by_unknown_.leftCols(unknowns_).lazyProduct(solved_.topRows(unknowns_));
    average2.noalias() += by_unknown2_.leftCols(unknowns_).lazyProduct(solved_.topRows(unknowns_));
    average.col(0) = step.force();
    for (Index i = 0; i < n; ++i) place_second(i, step, friction(i), friction_column, average2);
    for (Index i = 0; i < n; ++i) {
      if (step.region(i) == ConeRegion::separate) average.middleRows(3 * i, 3).setZero();
    }
    return true;
  }

  /// Whether a contact was on the boundary of its region.
  [[nodiscard]] bool one_sided(Index contact) const noexcept {
    return boundary_[std::size_t(contact)] != 0;
  }

 private:
  [[nodiscard]] Index row(Index unknown) const noexcept { return rows_[std::size_t(unknown)]; }

  /// Unknowns: wₜ of contacts that slide, w of open ones.
  void collect(const ContactStep<Scalar>& step, Index count) noexcept {
    unknowns_ = 0;
    for (Index i = 0; i < count; ++i) {
      const ConeRegion region = step.region(i);
      const Index own = region == ConeRegion::slide ? 2 : region == ConeRegion::separate ? 3 : 0;
      for (Index k = 0; k < own; ++k) rows_[std::size_t(unknowns_++)] = 3 * i + k;
    }
  }

  template <typename Data>
  void judge_stick(Index i, const ContactStep<Scalar>& step, const Data& data) noexcept {
    using std::hypot;
    const auto& f = step.force();
    const Scalar tangent = hypot(f(3 * i), f(3 * i + 1)), normal = f(3 * i + 2);
    // A contact without springs and dampers along the plane has nothing that could slip.
    const auto is_held = [&](Index row) {
      return data.stiffness(row) > Scalar(0) || data.damping(row) > Scalar(0);
    };
    const bool slips = is_held(3 * i) || is_held(3 * i + 1);
    const Scalar slack = slips ? data.friction(i) * normal - tangent : normal;
    boundary_[std::size_t(i)] = !(slack > Scalar(nearness) * (normal + tangent));
  }

  void judge_slip(Index i, const ContactStep<Scalar>& step, const Scalar& friction, SlipLaw law,
                  const Matrix& average2) noexcept {
    using std::abs, std::hypot;
    const auto& f = step.force();
    const auto& w = step.anchor_velocity();
    const Index r = 3 * i;
    const Scalar speed = hypot(w(r), w(r + 1));
    const Scalar size = step.average_force().template segment<3>(r).norm();
    const Scalar margin = Scalar(nearness) * size;
    if (step.region(i) == ConeRegion::slide) {
      const bool slow = !((gain_(r, r) + gain_(r + 1, r + 1)) * speed > margin);
      boundary_[std::size_t(i)] =
          slow || !(f(r + 2) > margin) || !(abs(average2(r + 2, 0)) > margin);
      return;
    }
    const Scalar rise = law == SlipLaw::convex ? friction * speed : Scalar(0);
    boundary_[std::size_t(i)] = !(gain_(r + 2, r + 2) * (w(r + 2) - rise) > margin);
  }

  /// Changes of all forces with the unknowns, the matrix, and the right-hand sides.
  template <typename Values>
  void write_equations(SlipLaw law, const ContactStep<Scalar>& step, const Values& friction,
                       Index friction_column, Matrix& average, Matrix& average2) noexcept {
    for (Index r = 0; r < gain_.rows(); ++r) {  // a row without spring and damper has no gain
      if (!(gain_(r, r) > Scalar(0))) gain_(r, r) = Scalar(1);
    }
    for (Index u = 0; u < unknowns_; ++u) {
      by_unknown_.col(u) = gain_.col(row(u));
      by_unknown2_.col(u) = gain2_.col(row(u));
      const Index i = row(u) / 3, normal = 3 * i + 2;
      if (law != SlipLaw::convex || step.region(i) != ConeRegion::slide) continue;
      const Scalar rise = friction(i) * along(step, row(u));
      by_unknown_.col(u) += rise * gain_.col(normal);
      by_unknown2_.col(u) += rise * gain2_.col(normal);
      if (row(u) != 3 * i) continue;
      const Scalar slip = speed(step, i);
      average.col(friction_column + i) += slip * gain_.col(normal);
      average2.col(friction_column + i) += slip * gain2_.col(normal);
    }
    for (Index u = 0; u < unknowns_; ++u) {
      const Index r = row(u), i = r / 3, normal = 3 * i + 2;
      matrix_.row(u).head(unknowns_) = by_unknown_.row(r).head(unknowns_);
      solved_.row(u) = -average.row(r);
      if (step.region(i) != ConeRegion::slide) continue;
      const Scalar part = along(step, r), share = friction(i) * part;
      const Scalar force = step.force()(normal);
      matrix_.row(u).head(unknowns_) += share * by_unknown_.row(normal).head(unknowns_);
      solved_.row(u) -= share * average.row(normal);
      solved_(u, friction_column + i) -= force * part;
      const Index first = u - r % 3;
      for (Index l = 0; l < 2; ++l) {
        matrix_(u, first + l) += friction(i) * force * turning(step, r, l);
      }
    }
  }

  [[nodiscard]] static Scalar speed(const ContactStep<Scalar>& step, Index i) noexcept {
    return step.anchor_velocity().template segment<2>(3 * i).norm();
  }
  /// Entry of wₜ/‖wₜ‖; zero where nothing moves.
  [[nodiscard]] static Scalar along(const ContactStep<Scalar>& step, Index row) noexcept {
    const Scalar size = speed(step, row / 3);
    return size > Scalar(0) ? step.anchor_velocity()(row) / size : Scalar(0);
  }
  /// Its derivative by entry l of wₜ.
  [[nodiscard]] static Scalar turning(const ContactStep<Scalar>& step, Index row,
                                      Index l) noexcept {
    const Scalar size = speed(step, row / 3);
    if (!(size > Scalar(0))) return Scalar(0);
    const Scalar same = row % 3 == l ? Scalar(1) : Scalar(0);
    return (same - along(step, row) * along(step, row - row % 3 + l)) / size;
  }

  /// λ̄₂ of an open contact is zero, and that of a sliding one −μ max(λ̄₂ₙ, 0) wₜ/‖wₜ‖.
  void place_second(Index i, const ContactStep<Scalar>& step, const Scalar& friction,
                    Index friction_column, Matrix& average2) noexcept {
    const ConeRegion region = step.region(i);
    if (region == ConeRegion::stick) return;
    const Index r = 3 * i;
    const Scalar normal = average2(r + 2, 0);
    if (region == ConeRegion::separate || !(normal > Scalar(0))) {
      average2.middleRows(r, 3).setZero();
      return;
    }
    Index first = 0;
    while (row(first) != r) ++first;
    for (Index k = 0; k < 2; ++k) {
      const Scalar part = along(step, r + k), reach = friction * normal;
      average2.row(r + k) = -friction * part * average2.row(r + 2);
      for (Index l = 0; l < 2; ++l) {
        average2.row(r + k).tail(average2.cols() - 1) -=
            reach * turning(step, r + k, l) * solved_.row(first + l).tail(average2.cols() - 1);
      }
      average2(r + k, friction_column + i) -= normal * part;
    }
  }

  Matrix gain_, gain2_, by_unknown_, by_unknown2_, solved_;
  MatrixX<Scalar> matrix_;
  LuFactor<Scalar> lu_;
  std::vector<Index> rows_;
  std::vector<std::uint8_t> boundary_;
  Index unknowns_ = 0;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
