// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/cones/coulomb_contact.hpp"
#include "carom/core/solve_report.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/viscoelastic/detail/coulomb_fallback.hpp"
#include "carom/viscoelastic/detail/slip_sweep.hpp"
#include "carom/viscoelastic/detail/slip_tuning.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Coulomb's law for viscoelastic contacts that act on each other: λ = λ_avg + G w with, per
/// contact, stick w = 0, slide wₙ = 0 and λₜ = −μ λₙ wₜ/‖wₜ‖, or open λ = 0 and wₙ ≥ 0.
///
/// Sweeps solve one contact after the other exactly. Once the regions repeat, a step of Newton's
/// method on the contacts that slide or open follows, and is kept only where the next sweep finds a
/// smaller change. CoulombFallback takes what this does not solve.
/// @cite  acary2018coulomb, for sweeps over contacts.
template <RealScalar Scalar>
class CoulombSlip {
 public:
  static constexpr int sweep_limit = detail::CoulombSlipTuning::sweep_limit;

  /// Sets the number of contacts. Cold: allocates beyond the largest so far.
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
  /// @note  Real-time safe once prepared: no allocation, no exception; a sweep takes 9 n² products.
  ///        The fallback's work is bounded, but by thousands of systems of 3n: rare cases of stiff
  ///        undamped contacts take seconds.
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
        std::pow(std::numeric_limits<Scalar>::epsilon(), Scalar(Tuning::accuracy_power));
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
  /// Newton steps of the last solve.
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
      if (tried && !(report.residual < before)) {  // the Newton step made it worse
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

  /// Whether a Newton step costs less than the sweeps left at the present rate.
  [[nodiscard]] bool worthwhile(const SolveReport<Scalar>& report, const Scalar& before) noexcept {
    using std::log;
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

  /// Takes one step of Newton's method for the regions known; false where there is none.
  template <typename Matrix, typename Values>
  [[nodiscard]] bool newton(const Matrix& gain, const Values& average,
                            const Values& friction) noexcept {
    if (!newton_.compute(gain, contacts_.response(), friction, velocity())) return false;
    contacts_.restart_from(gain, average, velocity() + newton_.step());
    return true;
  }

  /// Leaves the problem to CoulombFallback.
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
