// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "carom/batch/detail/lane_impact_metric.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Takes one problem out of its lane, whose cells are used up.
/// @tparam Cells  of one lane.
template <typename Cells>
class LaneImpactAnswer {
 public:
  using Number = decltype(Cells()[0]);
  using Scalar = typename Number::scalar_type;
  using Names = LaneImpactLayout;

  CAROM_DEVICE explicit LaneImpactAnswer(const LaneImpactCells<Cells>& problem) noexcept
      : problem_(problem),
        metric_{problem.layout.pattern, problem.factor()},
        n_(problem.layout.n) {}

  CAROM_DEVICE void write(const ImpactBatchView<Scalar>& view,
                          const ImpactBatchAnswers<Scalar>& answers, Index number) const noexcept {
    ImpactProblemReport<Scalar>& report = answers.reports[number];
    report = {.status = ImpactStatus(int(problem_.get(Names::status).value)),
              .reflections = Index(problem_.get(Names::count).value)};
    if (report.status == ImpactStatus::not_finite) return refuse(view, answers, number);
    if (problem_.layout.blends) blend();
    report.energy_gain = problem_.get(Names::energy).value;
    const bool by_velocity = view.momentum.data == nullptr;
    const Cells q = problem_.q(), given = problem_.given();
    for (int k = 0; k < n_; ++k) given.set(k, q[k] - given[k]);
    // What is given gets the change alone, so that what no contact moves keeps its bits.
    if (answers.momentum.data != nullptr) {
      metric_.give_momentum(by_velocity ? q : given);
      put(by_velocity ? q : given, by_velocity ? nullptr : view.momentum.of(number),
          answers.momentum.of(number));
    }
    if (answers.velocity.data != nullptr) {
      metric_.give_velocity(by_velocity ? given : q);
      put(by_velocity ? given : q, by_velocity ? view.velocity.of(number) : nullptr,
          answers.velocity.of(number));
    }
    if (answers.impulse.data == nullptr) return;
    for (int i = 0; i < problem_.layout.m; ++i) {
      answers.impulse.of(number)[i] = problem_.impulses()[i].value;
    }
  }

 private:
  CAROM_DEVICE void put(const Cells& from, const Scalar* before, Scalar* to) const noexcept {
    for (int k = 0; k < n_; ++k) {
      to[k] = before != nullptr ? before[k] + from[k].value : from[k].value;
    }
  }
  CAROM_DEVICE void refuse(const ImpactBatchView<Scalar>& view,
                           const ImpactBatchAnswers<Scalar>& answers, Index number) const noexcept {
    constexpr Scalar nan = std::numeric_limits<Scalar>::quiet_NaN();
    const auto copy = [&](const BatchArray<const Scalar>& from, const BatchArray<Scalar>& to) {
      for (int k = 0; to.data != nullptr && k < n_; ++k) {
        to.of(number)[k] = from.data != nullptr ? from.of(number)[k] : nan;
      }
    };
    const bool by_velocity = view.momentum.data == nullptr;
    copy(view.momentum, answers.momentum);
    copy(by_velocity ? view.velocity : BatchArray<const Scalar>{}, answers.velocity);
    for (int i = 0; answers.impulse.data != nullptr && i < problem_.layout.m; ++i) {
      answers.impulse.of(number)[i] = Scalar(0);
    }
  }
  /// q becomes the blend of the plastic outcome and the elastic one that keeps the energy that
  /// RestitutionImpact says: see restitution_blend().
  CAROM_DEVICE void blend() const noexcept {
    const Cells q = problem_.q(), plastic = problem_.plastic_q();
    const Number zero(0), r = problem_.get(Names::restitution);
    Number x = zero, d = zero;
    for (int k = 0; k < n_; ++k) {
      const Number difference = q[k] - plastic[k];
      x += difference * plastic[k];
      d += difference * difference;
    }
    const Number kept = r * r * (Number(2) * x + d), root = sqrt(x * x + d * kept);
    Number alpha = r;
    if (any(d > zero)) alpha = any(x > zero) ? kept / (x + root) : (root - x) / d;
    for (int k = 0; k < n_; ++k) q.set(k, plastic[k] + alpha * (q[k] - plastic[k]));
    const Cells impulses = problem_.impulses(), fallen = problem_.plastic_impulses();
    for (int i = 0; i < problem_.layout.m; ++i) {
      impulses.set(i, fallen[i] + alpha * (impulses[i] - fallen[i]));
    }
    problem_.set(Names::energy, problem_.get(Names::plastic_energy) +
                                    alpha * (x + alpha * d * Number(Scalar(0.5))));
  }

  LaneImpactCells<Cells> problem_;
  LaneImpactMetric<Cells> metric_;
  int n_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
