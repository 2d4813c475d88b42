// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include <Eigen/Core>

#include "carom/cones/convex_contact.hpp"
#include "carom/cones/projection.hpp"
#include "carom/core/solve_report.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/solvers/search/block_sweep.hpp"
#include "carom/viscoelastic/detail/slip_tuning.hpp"

namespace carom {
inline namespace CAROM_ABI {

namespace detail {

/// Coupled viscoelastic contacts, λ = λ_avg + G w. Each contact in turn is solved by the law of one
/// contact, with the velocities w of the others fixed.
/// @tparam Block  CoulombGain or ConvexGain.
template <RealScalar Scalar, typename Block>
class SlipSweep {
 public:
  using Vector = Growing<VectorX<Scalar>>;

  /// The result of a sweep.
  struct Outcome {
    Scalar change;  ///< largest change of a contact's own force [N]
    bool settled;   ///< whether each contact stayed in its region
  };

  /// Sets the count of contacts. Cold: allocates only for a count larger than all before.
  void prepare(Index contact_count) {
    const auto n = static_cast<std::size_t>(contact_count);
    count_ = contact_count;
    if (blocks_.size() < n) {
      blocks_.resize(n);
      contacts_.resize(n);
    }
    for (Vector* v : {&force_, &velocity_, &response_}) v->grow(3 * contact_count);
  }
  [[nodiscard]] Index count() const noexcept { return count_; }

  /// Starts with all anchors at rest.
  template <typename Matrix, typename Values>
  void start(const Matrix& gain, const Values& average) noexcept {
    velocity_.setZero();
    response_ = average;
    for (Index i = 0; i < count_; ++i) {
      contacts_[std::size_t(i)] = {at(response_, i), at(velocity_, i), ConeRegion::stick,
                                   Scalar(0)};
      blocks_[std::size_t(i)] = Block(gain.template block<3, 3>(3 * i, 3 * i));
    }
  }

  /// Solves each contact once.
  template <typename Matrix, typename Values>
  [[nodiscard]] Outcome sweep(const Matrix& gain, const Values& friction) noexcept {
    Outcome outcome{Scalar(0), true};
    sweep_blocks(count_, false, [&](Index i, auto&& solve) {
      solve(One<Matrix>{*this, gain, i, friction(i), outcome});
    });
    return outcome;
  }

  /// The change of a force in a sweep that counts as zero: a count of roundings of the largest
  /// force [N].
  template <typename Values>
  [[nodiscard]] Scalar target(const Values& average, const Scalar& roundings) const noexcept {
    const Scalar size = (std::max)(average.template lpNorm<Eigen::Infinity>(),
                                   force_.template lpNorm<Eigen::Infinity>());
    return roundings * std::numeric_limits<Scalar>::epsilon() * size;
  }

  /// Continues from other velocities of the anchors.
  template <typename Matrix, typename Values, typename Velocity>
  void restart_from(const Matrix& gain, const Values& average, const Velocity& velocity) noexcept {
    velocity_ = velocity;
    response_ = average;
    response_.noalias() += gain * velocity_;
  }

  /// Last solution of a contact's law. Its ratio is the guess for the next sweep.
  [[nodiscard]] ContactOutcome<Scalar>& contact(Index i) noexcept {
    return contacts_[std::size_t(i)];
  }
  [[nodiscard]] const ContactOutcome<Scalar>& contact(Index i) const noexcept {
    return contacts_[std::size_t(i)];
  }
  /// λ of the solutions of the single contacts [N]
  [[nodiscard]] Vector& force() noexcept { return force_; }
  [[nodiscard]] const Vector& force() const noexcept { return force_; }
  /// w [m/s]
  [[nodiscard]] Vector& velocity() noexcept { return velocity_; }
  [[nodiscard]] const Vector& velocity() const noexcept { return velocity_; }
  /// λ_avg + G w [N]
  [[nodiscard]] Vector& response() noexcept { return response_; }
  [[nodiscard]] const Vector& response() const noexcept { return response_; }

 private:
  template <typename Values>
  [[nodiscard]] static auto at(Values& values, Index i) noexcept {
    return values.template segment<3>(3 * i);
  }

  /// One contact in the form that sweep_blocks() needs.
  template <typename Matrix>
  struct One {
    SlipSweep& all;
    const Matrix& gain;
    Index i;
    const Scalar& friction;
    Outcome& outcome;

    [[nodiscard]] const Block& block() const noexcept { return all.blocks_[std::size_t(i)]; }
    /// λ for the anchor at rest.
    [[nodiscard]] Vector3<Scalar> held() const noexcept {
      const Vector3<Scalar> own = at(all.velocity_, i);
      return at(all.response_, i) - block().gain() * own;
    }
    [[nodiscard]] ContactOutcome<Scalar> solve(const Vector3<Scalar>& held) const noexcept {
      return block().solve(held, friction, all.contact(i).ratio);
    }
    void spread(const ContactOutcome<Scalar>& answer) const noexcept {
      outcome.settled = outcome.settled && answer.region == all.contact(i).region;
      all.contact(i) = answer;
      const Vector3<Scalar> change = answer.velocity - at(all.velocity_, i);
      at(all.force_, i) = answer.impulse;
      if (change.x() == Scalar(0) && change.y() == Scalar(0) && change.z() == Scalar(0)) return;
      at(all.velocity_, i) = answer.velocity;
      Scalar* const out = all.response_.data();
      const Scalar* const columns = gain.data() + 9 * i * all.count_;
      const Index rows = 3 * all.count_;
      for (Index r = 0; r < rows; ++r) {
        out[r] += columns[r] * change(0) + columns[rows + r] * change(1) +
                  columns[2 * rows + r] * change(2);
      }
      outcome.change = (std::max)(
          outcome.change, Scalar((block().gain() * change).template lpNorm<Eigen::Infinity>()));
    }
  };

  Index count_ = 0;
  std::vector<Block> blocks_;
  std::vector<ContactOutcome<Scalar>> contacts_;
  Vector force_, velocity_, response_;
};

}  // namespace detail

/// The associated law for coupled contacts: min ½ wᵀG w + λ_avgᵀw over w_i in the dual cones. Then
/// λ = λ_avg + G w is in the cones and complementary to w.
///
/// The method is block descent on a strictly convex problem with separate constraints, which
/// converges for any coupling.
template <RealScalar Scalar>
class ConvexSlip {
 public:
  static constexpr int sweep_limit = detail::ConvexSlipTuning::sweep_limit;

  /// Sets the count of contacts. Cold: allocates only for a count larger than all before.
  void prepare(Index contact_count) { contacts_.prepare(contact_count); }

  /// @param gain      G, 3n×3n [N·s/m], symmetric positive definite.
  /// @param average   λ_avg, 3n [N].
  /// @param friction  μ, n [-], ≥ 0.
  /// @return  residual: largest change of a force in the last sweep [N].
  /// @note  Real-time safe once prepared: no allocation, no exception, at most `sweeps` sweeps.
  template <typename Matrix, typename Values1, typename Values2>
  SolveReport<Scalar> solve(const Matrix& gain, const Values1& average, const Values2& friction,
                            int sweeps = sweep_limit) noexcept {
    CAROM_EXPECTS(average.size() == 3 * contacts_.count() && friction.size() == contacts_.count());
    SolveReport<Scalar> report;
    report.error_bound = std::numeric_limits<Scalar>::infinity();
    if (!average.allFinite()) return report;
    contacts_.start(gain, average);
    report.status = SolveStatus::iteration_limit;
    while (report.iterations < sweeps) {
      report.residual = contacts_.sweep(gain, friction).change;
      ++report.iterations;
      report.residual_target =
          contacts_.target(average, Scalar(detail::ConvexSlipTuning::rounding));
      if (!(report.residual <= report.residual_target)) continue;
      report.status = SolveStatus::converged;
      break;
    }
    return report;
  }

  [[nodiscard]] const Growing<VectorX<Scalar>>& force() const noexcept { return contacts_.force(); }
  /// w [m/s]
  [[nodiscard]] const Growing<VectorX<Scalar>>& velocity() const noexcept {
    return contacts_.velocity();
  }
  [[nodiscard]] ConeRegion region(Index contact) const noexcept {
    return contacts_.contact(contact).region;
  }

 private:
  detail::SlipSweep<Scalar, ConvexGain<Scalar>> contacts_;
};

}  // namespace CAROM_ABI
}  // namespace carom
