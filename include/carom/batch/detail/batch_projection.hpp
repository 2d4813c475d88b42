// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/batch/detail/lane_block_law.hpp"
#include "carom/batch/projection_batch_view.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Projects points of a batch, one group of lanes after the other.
template <RealScalar Scalar, int LaneCount>
class BatchProjection {
 public:
  CAROM_DEVICE BatchProjection(const ProjectionBatchView<Scalar>& view,
                               const ProjectionBatchAnswers<Scalar>& answers) noexcept
      : view_(view), answers_(answers), shape_(LaneShape::of(view.shape)), rows_(view.rows()) {}

  /// Projects the points from `first` to before `end`.
  CAROM_DEVICE void run(Index first, Index end) const noexcept {
    for (; first < end; first += LaneCount) {
      const int used = int((std::min)(Index(LaneCount), end - first));
      Index points[LaneCount];
      // Lanes without their own point repeat the last one.
      for (int l = 0; l < LaneCount; ++l) points[l] = first + (std::min)(l, used - 1);
      project_group(points, used);
    }
  }

 private:
  using Number = carom::Lanes<Scalar, LaneCount>;
  using Mask = typename Number::Mask;
  using Trial = LaneRowsTrial<Number>;

  [[nodiscard]] CAROM_DEVICE static constexpr Scalar largest() noexcept {
    return (std::numeric_limits<Scalar>::max)();
  }

  /// Largest number whose square, and sums of such squares, are in range.
  [[nodiscard]] CAROM_DEVICE static Scalar most_square() noexcept {
    return std::sqrt(largest()) / 16;
  }
  [[nodiscard]] CAROM_DEVICE bool is_cone() const noexcept { return shape_.normal >= 0; }
  [[nodiscard]] CAROM_DEVICE static Number gather(const BatchArray<const Scalar>& array,
                                                  const Index (&points)[LaneCount],
                                                  int from) noexcept {
    Scalar numbers[LaneCount];
    for (int l = 0; l < LaneCount; ++l) numbers[l] = array.of(points[l])[from];
    return Number::load(numbers);
  }
  [[nodiscard]] CAROM_DEVICE Trial read(const Index (&points)[LaneCount]) const noexcept;
  CAROM_DEVICE void project_group(const Index (&points)[LaneCount], int used) const noexcept;
  /// Lanes without a fault according to diagnose(); the fault of the answer is not checked.
  [[nodiscard]] CAROM_DEVICE Mask are_valid(const Trial& at) const noexcept;
  /// @return  lanes in which it is finite.
  [[nodiscard]] CAROM_DEVICE Mask write_derivative(const Trial& at,
                                                   const Index (&points)[LaneCount],
                                                   int used) const noexcept;
  [[nodiscard]] CAROM_DEVICE ProjectionDiagnosis diagnose(Index point) const noexcept;
  [[nodiscard]] CAROM_DEVICE ProjectionFault fault_of_row(Index point, int row) const noexcept;
  CAROM_DEVICE void clear(Index point) const noexcept;

  const ProjectionBatchView<Scalar>& view_;
  const ProjectionBatchAnswers<Scalar>& answers_;
  LaneShape shape_;
  int rows_;
};

// --- implementation ---

template <RealScalar Scalar, int LaneCount>
CAROM_DEVICE auto BatchProjection<Scalar, LaneCount>::read(
    const Index (&points)[LaneCount]) const noexcept -> Trial {
  Trial at;
  at.rows = rows_;
  at.shape = shape_;
  for (int r = 0; r < rows_; ++r) {
    at.weight[r] = gather(view_.weights, points, r);
    at.y[r] = gather(view_.point, points, r);
    at.lower[r] = at.upper[r] = Number(0);
    if (view_.bounds.data == nullptr) continue;
    at.lower[r] = gather(view_.bounds, points, r);
    if (is_cone()) {
      at.y[r] += at.lower[r];
    } else {
      at.upper[r] = gather(view_.bounds, points, rows_ + r);
    }
  }
  for (int i = 0; i < 3; ++i) {
    const bool has = i < friction_count(view_.shape);
    at.mu[i] = has ? gather(view_.friction, points, i) : Number(0);
  }
  return at;
}

template <RealScalar Scalar, int LaneCount>
CAROM_DEVICE void BatchProjection<Scalar, LaneCount>::project_group(
    const Index (&points)[LaneCount], int used) const noexcept {
  const Trial at = read(points);
  auto valid = are_valid(at);
  Number nearest[6];
  write_convex_impulse(at, nearest);
  for (int r = 0; r < rows_; ++r) {
    if (is_cone()) nearest[r] = nearest[r] - at.lower[r];
    valid = valid & (abs(nearest[r]) <= Number(largest()));
    Scalar numbers[LaneCount];
    nearest[r].store(numbers);
    for (int l = 0; l < used; ++l) answers_.nearest.of(points[l])[r] = numbers[l];
  }
  if (answers_.derivative.data != nullptr) {
    valid = valid & write_derivative(at, points, used);
  }
  for (int l = 0; l < used; ++l) answers_.faults[points[l]] = {};
  if (!any(!valid)) return;
  for (int l = 0; l < used; ++l) {
    answers_.faults[points[l]] = diagnose(points[l]);
    if (answers_.faults[points[l]].fault != ProjectionFault::none) clear(points[l]);
  }
}

template <RealScalar Scalar, int LaneCount>
CAROM_DEVICE auto BatchProjection<Scalar, LaneCount>::are_valid(const Trial& at) const noexcept
    -> Mask {
  const Number zero(0), most(most_square());
  Mask valid = everywhere<Number>(is_cone() || view_.bounds.data != nullptr);
  for (int r = 0; r < rows_; ++r) {
    const Number &y = at.y[r], &weight = at.weight[r], &low = at.lower[r], &high = at.upper[r];
    valid = valid & (weight > zero) & (weight <= Number(largest()));
    valid = valid & (abs(y) <= most) & (weight * abs(y) <= most);
    const Mask fits = (low <= high) & (low <= Number(largest())) & (high >= Number(-largest()));
    valid = valid & (is_cone() ? abs(low) <= Number(largest()) : fits);
  }
  for (int b = 0; is_cone() && !shape_.ellipsoidal && b < shape_.group_count; ++b) {
    const auto& [first, size] = shape_.groups[b];
    if (size < 2) continue;
    const Number &one = at.weight[first], &other = at.weight[first + 1];
    valid = valid & (one <= other) & (other <= one);
  }
  for (const Number& mu : at.mu) valid = valid & (mu >= zero) & (mu <= Number(largest()));
  return valid;
}

/// ∂γ/∂y = G R.
template <RealScalar Scalar, int LaneCount>
CAROM_DEVICE auto BatchProjection<Scalar, LaneCount>::write_derivative(
    const Trial& at, const Index (&points)[LaneCount], int used) const noexcept -> Mask {
  LaneBlockMatrix<Number> g;
  Mask finite = everywhere<Number>(true);
  write_convex_curvature(at, g);
  for (int r = 0; r < rows_; ++r) {
    for (int c = 0; c < rows_; ++c) {
      const Number slope = g.entry[r][c] * at.weight[c];
      finite = finite & (abs(slope) <= Number(largest()));
      Scalar numbers[LaneCount];
      slope.store(numbers);
      for (int l = 0; l < used; ++l) {
        answers_.derivative.of(points[l])[r * rows_ + c] = numbers[l];
      }
    }
  }
  return finite;
}

template <RealScalar Scalar, int LaneCount>
CAROM_DEVICE ProjectionFault
BatchProjection<Scalar, LaneCount>::fault_of_row(Index point, int row) const noexcept {
  const Scalar y = view_.point.of(point)[row], weight = view_.weights.of(point)[row];
  const Scalar most = most_square();
  if (!(std::abs(y) <= most)) return ProjectionFault::point;
  if (!(weight > Scalar(0) && weight <= largest())) return ProjectionFault::weights;
  if (!(weight * std::abs(y) <= most)) return ProjectionFault::point;
  for (int b = 0; is_cone() && !shape_.ellipsoidal && b < shape_.group_count; ++b) {
    const auto& [first, size] = shape_.groups[b];
    const bool shared = row > first && row < first + size;
    if (shared && weight != view_.weights.of(point)[first]) return ProjectionFault::weights;
  }
  if (view_.bounds.data == nullptr)
    return is_cone() ? ProjectionFault::none : ProjectionFault::bounds;
  const Scalar low = view_.bounds.of(point)[row];
  const Scalar high = is_cone() ? low : view_.bounds.of(point)[rows_ + row];
  const bool fits =
      is_cone() ? std::isfinite(low) : low <= high && low <= largest() && high >= -largest();
  return fits ? ProjectionFault::none : ProjectionFault::bounds;
}

template <RealScalar Scalar, int LaneCount>
CAROM_DEVICE ProjectionDiagnosis
BatchProjection<Scalar, LaneCount>::diagnose(Index point) const noexcept {
  for (int r = 0; r < rows_; ++r) {
    const ProjectionFault fault = fault_of_row(point, r);
    if (fault != ProjectionFault::none) return {fault, r};
  }
  for (int i = 0; i < friction_count(view_.shape); ++i) {
    const Scalar mu = view_.friction.of(point)[i];
    if (!(mu >= Scalar(0) && mu <= largest())) return {ProjectionFault::friction, i};
  }
  for (int r = 0; r < rows_; ++r) {
    bool finite = std::isfinite(answers_.nearest.of(point)[r]);
    for (int c = 0; answers_.derivative.data != nullptr && c < rows_; ++c) {
      finite = finite && std::isfinite(answers_.derivative.of(point)[r * rows_ + c]);
    }
    if (!finite) return {ProjectionFault::point, r};
  }
  return {};
}

template <RealScalar Scalar, int LaneCount>
CAROM_DEVICE void BatchProjection<Scalar, LaneCount>::clear(Index point) const noexcept {
  constexpr Scalar nan = std::numeric_limits<Scalar>::quiet_NaN();
  for (int r = 0; r < rows_; ++r) answers_.nearest.of(point)[r] = nan;
  for (int i = 0; answers_.derivative.data != nullptr && i < rows_ * rows_; ++i) {
    answers_.derivative.of(point)[i] = nan;
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
