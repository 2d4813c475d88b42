// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/cones/coulomb_contact.hpp"
#include "carom/core/elementary.hpp"
#include "carom/core/solve_report.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/viscoelastic/detail/coulomb_fallback.hpp"
#include "carom/viscoelastic/detail/slip_sweep.hpp"
#include "carom/viscoelastic/detail/slip_tuning.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Coulomb's law for coupled viscoelastic contacts.
///
/// The problem: find w with λ = λ_avg + G w such that each contact satisfies one of three cases:
/// stick w = 0; slide wₙ = 0 and λₜ = −μ λₙ wₜ/‖wₜ‖; open λ = 0 and wₙ ≥ 0. Notation: λ are the
/// average forces in their cones, λ_avg those for resting anchors, w the velocities of the anchors,
/// G the gain.
///
/// The steps:
/// 1. Sweep: solve the law of each contact exactly, one after the other, with the other w fixed
///    (block Gauss-Seidel). Stop if the largest change of a force is rounding.
/// 2. If the regions did not change in the last sweeps and the remaining sweeps would cost more,
///    compute one Newton step for the equations of the sliding and open contacts. If the next sweep
///    has no smaller change, return to the w before the Newton step.
/// 3. After the sweep limit, or if the error of the answer is above the target, CoulombFallback
///    solves the problem.
/// @cite  acary2018coulomb, for sweeps over contacts.
template <RealScalar Scalar>
class CoulombSlip {
 public:
  static constexpr int sweep_limit = detail::CoulombSlipTuning::sweep_limit;

  /// Sets the count of contacts. Cold: allocates only for a count larger than all before.
  void prepare(Index contact_count) {
    contacts_.prepare(contact_count);
    kept_.grow(3 * contact_count);
    newton_.prepare(contact_count);
    fallback_.prepare(contact_count);
  }

  /// @param gain      G, 3n×3n [N·s/m], symmetric positive definite.
  /// @param average   λ_avg, 3n [N].
  /// @param friction  μ, n [-], ≥ 0.
  /// @return  residual: slip_error [-]; iterations: sweeps, and linear systems of the fallback.
  /// @note  Real-time safe once prepared: no allocation, no exception; a sweep costs 9 n² products.
  ///        The work of the fallback is bounded, but by thousands of systems with 3n unknowns: rare
  ///        cases of stiff undamped contacts need seconds.
  template <typename Matrix, typename Values>
  SolveReport<Scalar> solve(const Matrix& gain, const Values& average,
                            const Values& friction) noexcept {
    CAROM_EXPECTS(average.size() == 3 * count() && friction.size() == count());
    SolveReport<Scalar> report;
    report.error_bound = std::numeric_limits<Scalar>::infinity();
    newton_steps_ = 0;
    if (!average.allFinite() || !gain.allFinite()) {
      report.residual = report.error_bound;
      contacts_.velocity().setZero();
      contacts_.force().setZero();
      return report;
    }
    contacts_.start(gain, average);
    iterate(gain, average, friction, report);
    const Scalar target =
        elementary::pow(std::numeric_limits<Scalar>::epsilon(), Scalar(Tuning::accuracy_power));
    if (report.converged()) {
      report.residual =
          slip_error(gain, average, friction, contacts_.velocity(), contacts_.response());
      report.residual_target = target;
    }
    if (!report.converged() || !(report.residual <= target)) {
      fall_back(gain, average, friction, target, report);
    }
    if (!force().allFinite() || !velocity().allFinite()) report.status = SolveStatus::not_finite;
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
  /// Count of Newton steps in the last solve.
  [[nodiscard]] int newton_steps() const noexcept { return newton_steps_; }

 private:
  using Tuning = detail::CoulombSlipTuning;

  [[nodiscard]] Index count() const noexcept { return contacts_.count(); }

  template <typename Matrix, typename Values>
  void iterate(const Matrix& gain, const Values& average, const Values& friction,
               SolveReport<Scalar>& report) noexcept {
    report.status = SolveStatus::iteration_limit;
    Scalar before = std::numeric_limits<Scalar>::infinity();
    bool tried = false;
    int patience = 0;
    while (report.iterations < Tuning::sweep_limit) {
      const auto [change, settled] = contacts_.sweep(gain, friction);
      report.residual = change;
      ++report.iterations;
      report.residual_target = contacts_.target(average, Scalar(Tuning::rounding));
      if (report.residual <= report.residual_target) {
        report.status = SolveStatus::converged;
        return;
      }
      if (tried && !(report.residual < before)) {  // the Newton step increased the change
        contacts_.restart_from(gain, average, kept_);
        for (Index i = 0; i < count(); ++i) contacts_.contact(i).ratio = Scalar(0);
        patience = Tuning::patience;
        tried = false;
        before = std::numeric_limits<Scalar>::infinity();
        continue;
      }
      tried = false;
      if (settled && --patience < 0 && worthwhile(report, before)) {
        kept_ = velocity();
        before = report.residual;
        tried = newton(gain, average, friction);
        if (tried) ++newton_steps_;
        continue;
      }
      before = report.residual;
    }
  }

  /// Whether a Newton step costs less than the remaining sweeps at the present rate.
  [[nodiscard]] bool worthwhile(const SolveReport<Scalar>& report, const Scalar& before) noexcept {
    using elementary::log;
    for (Index i = 0; i < count(); ++i) newton_.region(i) = region(i);
    const Index unknowns = newton_.unknowns(count());
    const auto n = Scalar(double(count())), m = Scalar(double(unknowns));
    const Scalar sweep_cost = n * (9 * n / Tuning::products_at_once + Tuning::contact_work);
    const Scalar newton_cost =
        m * m * m / Tuning::elimination_parts + Tuning::entry_work * m * m + Tuning::least_work;
    const Scalar ratio = report.residual / before;
    if (!(ratio < Scalar(1))) return true;
    const Scalar sweeps = log(report.residual_target / report.residual) /
                          log((std::max)(ratio, Scalar(Tuning::least_ratio)));
    return sweeps * sweep_cost > Scalar(Tuning::worth) * newton_cost;
  }

  /// Computes one step of Newton's method for the known regions. Returns false if there is none.
  template <typename Matrix, typename Values>
  [[nodiscard]] bool newton(const Matrix& gain, const Values& average,
                            const Values& friction) noexcept {
    if (!newton_.compute(gain, contacts_.response(), friction, velocity())) return false;
    contacts_.restart_from(gain, average, velocity() + newton_.step());
    return true;
  }

  /// Solves the problem by CoulombFallback.
  template <typename Matrix, typename Values>
  void fall_back(const Matrix& gain, const Values& average, const Values& friction,
                 const Scalar& target, SolveReport<Scalar>& report) noexcept {
    const int sweeps = report.iterations;
    report = fallback_.solve(gain, average, friction, force(), target);
    report.iterations += sweeps;
    contacts_.force() = fallback_.force();
    contacts_.velocity() = fallback_.velocity();
    for (Index i = 0; i < count(); ++i) contacts_.contact(i).region = fallback_.region(i);
  }

  detail::SlipSweep<Scalar, CoulombGain<Scalar>> contacts_;
  detail::SlipNewton<Scalar> newton_;
  CoulombFallback<Scalar> fallback_;
  Growing<VectorX<Scalar>> kept_;
  int newton_steps_ = 0;
};

}  // namespace CAROM_ABI
}  // namespace carom
