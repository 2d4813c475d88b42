// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "carom/batch/detail/lane_impact_metric.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Whether a problem's sequence names contacts only. The first entry that does not, or −1.
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

/// Looks for what is wrong with the numbers of an impact that was not resolved.
/// @tparam Stride  of the memory's numbers, as that of LaneCells.
template <RealScalar Scalar, int Stride = 1>
class ImpactInspection {
 public:
  /// @param pattern  of the problem
  CAROM_DEVICE ImpactInspection(const ImpactBatchView<Scalar>& view,
                                const ImpactBatchOptions<Scalar>& options,
                                const ImpactPatternView& pattern, Index problem) noexcept
      : view_(view), options_(options), problem_(problem), pattern_(pattern) {}

  /// Writes the first fault and its item.
  /// @param memory  for the lower half of the mass.
  CAROM_DEVICE_CALL void find(Scalar* memory, ImpactProblemReport<Scalar>& report) const noexcept {
    const auto tell = [&report](ImpactFault fault, int item) {
      report.fault = fault;
      report.item = item;
    };
    if (options_.order == ImpactOrder::sweep) {
      const int entry = wrong_impact_entry(view_, problem_, pattern_.contacts);
      if (entry >= 0) return tell(ImpactFault::sequence, entry);
    }
    if (options_.law == ImpactBatchLaw::restitution && view_.restitution.data != nullptr) {
      const Scalar r = *view_.restitution.of(problem_);
      if (!(r >= 0 && r <= 1)) return tell(ImpactFault::restitution, 0);
    }
    const int coordinate = wrong_mass(memory);
    if (coordinate >= 0) return tell(ImpactFault::mass, coordinate);
    const int n = pattern_.coordinates;
    for (int i = 0; i < pattern_.contacts; ++i) {
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
  /// Where a momentum of finite numbers is largest: its products are too large then.
  [[nodiscard]] CAROM_DEVICE static int most(const Scalar* numbers, int n) noexcept {
    int place = 0;
    for (int k = 1; k < n; ++k) {
      if (std::abs(numbers[k]) > std::abs(numbers[place])) place = k;
    }
    return place;
  }
  /// The first coordinate of the mass that is not finite or has no positive pivot, or −1.
  [[nodiscard]] CAROM_DEVICE int wrong_mass(Scalar* memory) const noexcept {
    using One = LaneCells<carom::Lanes<Scalar, 1>, Stride>;
    const One cells(memory);
    const int n = pattern_.coordinates;
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
  ImpactPatternView pattern_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
