// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <Eigen/Core>

#include "carom/cones/coulomb_contact.hpp"
#include "carom/core/solve_report.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/viscoelastic/coulomb_fallback.hpp"
#include "carom/viscoelastic/detail/slip_newton.hpp"
#include "carom/viscoelastic/detail/slip_tuning.hpp"
#include "carom/viscoelastic/slip_error.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Coulomb's law for viscoelastic contacts that act on each other: λ = λ_avg + G w with, per
/// contact, stick w = 0, slide wₙ = 0 and λₜ = −μ λₙ wₜ/‖wₜ‖, or open λ = 0 and wₙ ≥ 0.
///
/// Sweeps of exact one-contact solves; once their modes repeat, Newton's method on what slides and
/// opens, kept only where the next sweep finds a smaller change. What that does not solve,
/// CoulombFallback does.
/// @cite  acary2018coulomb, for sweeps over contacts.
template <RealScalar Scalar>
class CoulombSlip {
 public:
  /// Most sweeps; a report of more iterations tells that CoulombFallback was asked.
  static constexpr int sweep_limit = detail::CoulombSlipTuning::sweep_limit;

  /// Takes n contacts. Cold: allocates where there were never as many.
  void prepare(Index contact_count) {
    const auto n = static_cast<std::size_t>(contact_count);
    count_ = contact_count;
    if (blocks_.size() < n) {
      blocks_.resize(n);
      contacts_.resize(n);
    }
    for (Vector* v : {&force_, &velocity_, &response_, &kept_}) v->grow(3 * contact_count);
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
    CAROM_EXPECTS(average.size() == 3 * count_ && friction.size() == count_);
    SolveReport<Scalar> report;
    report.error_bound = std::numeric_limits<Scalar>::infinity();
    velocity_.setZero();
    response_ = average;
    newton_steps_ = 0;
    if (!average.allFinite() || !gain.allFinite()) {
      report.residual = report.error_bound;
      force_.setZero();
      return report;
    }
    for (Index i = 0; i < count_; ++i) {
      contacts_[std::size_t(i)] = {at(response_, i), at(velocity_, i), ConeRegion::stick,
                                   Scalar(0)};
      blocks_[std::size_t(i)] = CoulombGain<Scalar>(gain.template block<3, 3>(3 * i, 3 * i));
    }
    iterate(gain, average, friction, report);
    const Scalar target =
        std::pow(std::numeric_limits<Scalar>::epsilon(), Scalar(Tuning::accuracy_power));
    if (report.converged()) {
      report.residual = slip_error(gain, average, friction, velocity_, response_);
      report.residual_target = target;
    }
    if (!report.converged() || !(report.residual <= target)) {
      fall_back(gain, average, friction, target, report);
    }
    if (!force_.allFinite() || !velocity_.allFinite()) report.status = SolveStatus::not_finite;
    return report;
  }

  [[nodiscard]] const Growing<VectorX<Scalar>>& force() const noexcept { return force_; }
  /// w [m/s]
  [[nodiscard]] const Growing<VectorX<Scalar>>& velocity() const noexcept { return velocity_; }
  [[nodiscard]] ConeRegion region(Index contact) const noexcept {
    return contacts_[std::size_t(contact)].region;
  }
  /// Newton steps of the last solve.
  [[nodiscard]] int newton_steps() const noexcept { return newton_steps_; }

 private:
  using Vector = Growing<VectorX<Scalar>>;
  using Tuning = detail::CoulombSlipTuning;

  template <typename Values>
  [[nodiscard]] static auto at(Values& values, Index i) noexcept {
    return values.template segment<3>(3 * i);
  }

  /// One sweep; largest change of a force, and whether all modes stayed.
  template <typename Matrix, typename Values>
  [[nodiscard]] Scalar sweep(const Matrix& gain, const Values& friction, bool& same) noexcept {
    Scalar largest(0);
    same = true;
    for (Index i = 0; i < count_; ++i) {
      auto& contact = contacts_[std::size_t(i)];
      const auto& block = blocks_[std::size_t(i)];
      const Vector3<Scalar> old = at(velocity_, i);
      const Vector3<Scalar> held = at(response_, i) - block.gain() * old;
      const ConeRegion before = contact.region;
      contact = block.solve(held, friction(i), contact.ratio);
      same = same && contact.region == before;
      const Vector3<Scalar> change = contact.velocity - old;
      at(force_, i) = contact.impulse;
      if (change.x() == Scalar(0) && change.y() == Scalar(0) && change.z() == Scalar(0)) continue;
      at(velocity_, i) = contact.velocity;
      Scalar* const out = response_.data();
      const Scalar* const columns = gain.data() + 9 * i * count_;
      const Index rows = 3 * count_;
      for (Index r = 0; r < rows; ++r) {
        out[r] += columns[r] * change(0) + columns[rows + r] * change(1) +
                  columns[2 * rows + r] * change(2);
      }
      largest =
          (std::max)(largest, Scalar((block.gain() * change).template lpNorm<Eigen::Infinity>()));
    }
    return largest;
  }

  template <typename Matrix, typename Values>
  void iterate(const Matrix& gain, const Values& average, const Values& friction,
               SolveReport<Scalar>& report) noexcept {
    report.status = SolveStatus::iteration_limit;
    Scalar before = std::numeric_limits<Scalar>::infinity();
    bool tried = false;
    int patience = 0;
    while (report.iterations < Tuning::sweep_limit) {
      bool same = true;
      report.residual = sweep(gain, friction, same);
      ++report.iterations;
      const Scalar size = (std::max)(average.template lpNorm<Eigen::Infinity>(),
                                     force_.template lpNorm<Eigen::Infinity>());
      report.residual_target =
          Scalar(Tuning::rounding) * std::numeric_limits<Scalar>::epsilon() * size;
      if (report.residual <= report.residual_target) {
        report.status = SolveStatus::converged;
        return;
      }
      if (tried && !(report.residual < before)) {  // Newton led astray
        velocity_ = kept_;
        response_ = average;
        response_.noalias() += gain * velocity_;
        for (Index i = 0; i < count_; ++i) contacts_[std::size_t(i)].ratio = Scalar(0);
        patience = Tuning::patience;
        tried = false;
        before = std::numeric_limits<Scalar>::infinity();
        continue;
      }
      tried = false;
      if (same && --patience < 0 && worthwhile(report, before)) {
        kept_ = velocity_;
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
    for (Index i = 0; i < count_; ++i) newton_.region(i) = region(i);
    const Index unknowns = newton_.unknowns(count_);
    const auto n = Scalar(double(count_)), m = Scalar(double(unknowns));
    // Operations, in units of one product: a sweep solves n contacts and adds 9 n² products, and a
    // factorisation of m unknowns takes m³/6.
    const Scalar sweep_cost = n * (9 * n / 4 + 120);
    const Scalar newton_cost = m * m * m / 6 + 20 * m * m + 100;
    const Scalar ratio = report.residual / before;
    if (!(ratio < Scalar(1))) return true;
    const Scalar sweeps =
        log(report.residual_target / report.residual) / log((std::max)(ratio, Scalar(1e-6)));
    return sweeps * sweep_cost > Scalar(Tuning::worth) * newton_cost;
  }

  /// One step of Newton's method for the modes at hand.
  template <typename Matrix, typename Values>
  [[nodiscard]] bool newton(const Matrix& gain, const Values& average,
                            const Values& friction) noexcept {
    if (!newton_.compute(gain, response_, friction, velocity_)) return false;
    velocity_ += newton_.step();
    response_ = average;
    response_.noalias() += gain * velocity_;
    return true;
  }

  /// Leaves the problem to CoulombFallback.
  template <typename Matrix, typename Values>
  void fall_back(const Matrix& gain, const Values& average, const Values& friction,
                 const Scalar& target, SolveReport<Scalar>& report) noexcept {
    const int sweeps = report.iterations;
    report = fallback_.solve(gain, average, friction, force_, target);
    report.iterations += sweeps;
    force_ = fallback_.force();
    velocity_ = fallback_.velocity();
    for (Index i = 0; i < count_; ++i) contacts_[std::size_t(i)].region = fallback_.region(i);
  }

  Index count_ = 0;
  std::vector<CoulombGain<Scalar>> blocks_;
  std::vector<CoulombContact<Scalar>> contacts_;
  detail::SlipNewton<Scalar> newton_;
  CoulombFallback<Scalar> fallback_;
  Vector force_, velocity_, response_, kept_;
  int newton_steps_ = 0;
};

}  // namespace CAROM_ABI
}  // namespace carom
