// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "carom/batch/detail/lane_impact_layout.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Writes the answer of the problem in one lane. Its cells are overwritten.
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
    // Only the change is added to the original numbers: numbers without contact influence have the
    // same bits.
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
  /// Replaces q by the blend of the plastic and the elastic outcome with the energy of
  /// RestitutionImpact: see restitution_blend().
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

/// Whether all entries of a problem's sequence are contacts. Returns the first entry that is not,
/// or −1.
/// @param contacts  of the problem
template <typename Scalar>
[[nodiscard]] CAROM_DEVICE int wrong_impact_entry(const ImpactBatchView<Scalar>& view,
                                                  Index problem, int contacts) noexcept {
  for (int i = 0; i < view.length_of_sequence(problem); ++i) {
    const int contact = view.sequence.of(problem)[i];
    if (contact < 0 || contact >= contacts) return i;
  }
  return -1;
}

/// Finds the fault in the numbers of an impact that was not resolved.
/// @tparam Stride  of the numbers in memory, as in LaneCells.
template <RealScalar Scalar, int Stride = 1>
class ImpactInspection {
 public:
  /// @param pattern  of the problem
  CAROM_DEVICE ImpactInspection(const ImpactBatchView<Scalar>& view,
                                const ImpactBatchOptions<Scalar>& options,
                                const ImpactPattern& pattern, Index problem) noexcept
      : view_(view), options_(options), problem_(problem), pattern_(pattern) {}

  /// Writes the first fault and its item.
  /// @param memory  for the lower half of the mass.
  CAROM_DEVICE_CALL void find(Scalar* memory, ImpactProblemReport<Scalar>& report) const noexcept {
    const auto tell = [&report](ImpactFault fault, int item) {
      report.fault = fault;
      report.item = item;
    };
    if (options_.order == ImpactOrder::sweep) {
      const int entry = wrong_impact_entry(view_, problem_, pattern_.contact_count());
      if (entry >= 0) return tell(ImpactFault::sequence, entry);
    }
    if (options_.law == ImpactBatchLaw::restitution && view_.restitution.data != nullptr) {
      const Scalar r = *view_.restitution.of(problem_);
      if (!(r >= 0 && r <= 1)) return tell(ImpactFault::restitution, 0);
    }
    const int coordinate = wrong_mass(memory);
    if (coordinate >= 0) return tell(ImpactFault::mass, coordinate);
    const int n = pattern_.coordinate_count();
    for (int i = 0; i < pattern_.contact_count(); ++i) {
      const Scalar* const normal = view_.normals.of(problem_) + i * n;
      Scalar largest = 0;
      for (int k = 0; k < n; ++k) largest = larger_or_nan(std::abs(normal[k]), largest);
      if (!(std::isfinite(largest) && largest > 0)) return tell(ImpactFault::normal, i);
    }
    const auto& given = view_.momentum.data != nullptr ? view_.momentum : view_.velocity;
    int item = 0;
    while (item + 1 < n && std::isfinite(given.of(problem_)[item])) ++item;
    if (n > 0 && std::isfinite(given.of(problem_)[item])) item = most(given.of(problem_), n);
    tell(ImpactFault::momentum, item);
  }

 private:
  [[nodiscard]] CAROM_DEVICE static Scalar larger_or_nan(const Scalar& a,
                                                         const Scalar& b) noexcept {
    return std::isnan(b) || a <= b ? b : a;
  }
  /// The place of the largest entry of a finite momentum: its products are too large then.
  [[nodiscard]] CAROM_DEVICE static int most(const Scalar* numbers, int n) noexcept {
    int place = 0;
    for (int k = 1; k < n; ++k) {
      if (std::abs(numbers[k]) > std::abs(numbers[place])) place = k;
    }
    return place;
  }
  /// The first coordinate at which the mass is not finite or its pivot is not positive, or −1.
  [[nodiscard]] CAROM_DEVICE int wrong_mass(Scalar* memory) const noexcept {
    using One = LaneCells<carom::Lanes<Scalar, 1>, Stride>;
    const One cells(memory);
    const int n = pattern_.coordinate_count();
    const bool diagonal = pattern_.is_diagonal();
    const Scalar* const mass = view_.mass.of(problem_);
    int place = 0;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < (diagonal ? 1 : i + 1); ++j) {
        const Scalar entry = mass[diagonal ? i : i * n + j];
        if (!std::isfinite(entry)) return i;
        cells.of_lane(place++, 0) = entry;
      }
    }
    if (any(LaneImpactMetric<One>{pattern_, cells}.begin())) return -1;
    for (int i = 0; i < n; ++i) {
      const Scalar inverse = cells.of_lane(diagonal ? i : i * (i + 1) / 2 + i, 0);
      if (!(std::isfinite(inverse) && inverse > 0)) return i;
    }
    return -1;
  }

  const ImpactBatchView<Scalar>& view_;
  const ImpactBatchOptions<Scalar>& options_;
  Index problem_;
  ImpactPattern pattern_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
