// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include <Eigen/QR>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The distance of a point from the convex hull of others, by Wolfe's algorithm.
///
/// It holds a set of points whose nearest point x to the target has positive weights. It adds the
/// point that lies farthest towards the target, goes to the nearest point of the larger set, and
/// drops points whose weights become zero on the way. Differences from the target are solved by
/// Householder reflections with pivots, so that distances of a rounding are seen.
/// @cite wolfe1976nearest
template <RealScalar Scalar>
class HullDistance {
 public:
  /// Largest dimension: four planar contacts have eight rows.
  static constexpr int largest_dimension = 8;

  /// @param points  one per column, r×n with r ≤ largest_dimension.
  /// @param enough  the search ends at a point of the hull at most so far from the target, ≥ 0.
  /// @return  the distance; a hull without points is infinitely far away. The number is the
  ///          distance of a point of the hull, so that rounding never makes it too small by more
  ///          than itself.
  template <typename Points, typename Target>
  Scalar find(const Points& points, const Target& target, const Scalar& enough = Scalar(0)) {
    if (points.cols() == 0) return std::numeric_limits<Scalar>::infinity();
    offsets_ = points.colwise() - target;
    const Scalar size = offsets_.colwise().squaredNorm().maxCoeff();
    Index first = 0;
    offsets_.colwise().squaredNorm().minCoeff(&first);
    set_.assign(1, first);
    weights_.assign(1, Scalar(1));
    nearest_ = offsets_.col(first);
    // Each round but the last makes the distance less; the count only ends a tie of roundings.
    for (Index round = 0; round < 4 * points.cols() + 16; ++round) {
      const Scalar squared = nearest_.squaredNorm();
      if (squared <= enough * enough) break;
      Index next = 0;
      const Scalar least = (nearest_.transpose() * offsets_).minCoeff(&next);
      if (!(squared - least > std::numeric_limits<Scalar>::epsilon() * size)) break;
      if (std::find(set_.begin(), set_.end(), next) != set_.end()) break;
      if (Index(set_.size()) > offsets_.rows()) break;
      set_.push_back(next);
      weights_.push_back(Scalar(0));
      move_to_nearest();
      if (!(nearest_.squaredNorm() < squared)) break;
    }
    return nearest_.norm();
  }

 private:
  using Point = Eigen::Matrix<Scalar, Eigen::Dynamic, 1, 0, largest_dimension, 1>;
  using Differences = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, 0, largest_dimension,
                                    largest_dimension>;

  /// Goes to the nearest point of the set's hull, and drops the points that it does not need.
  void move_to_nearest() {
    while (set_.size() > 1) {
      const Index count = Index(set_.size()) - 1;
      const auto base = offsets_.col(set_[0]);
      Differences edges(offsets_.rows(), count);
      for (Index k = 0; k < count; ++k) {
        edges.col(k) = offsets_.col(set_[std::size_t(k) + 1]) - base;
      }
      const Point shares = edges.colPivHouseholderQr().solve(Point(-base));
      Scalar step = 1;
      std::size_t blocking = 0;
      const auto candidate = [&](std::size_t k) {
        return k == 0 ? Scalar(Scalar(1) - shares.sum()) : shares(Index(k) - 1);
      };
      for (std::size_t k = 0; k < set_.size(); ++k) {
        if (candidate(k) > Scalar(0)) continue;
        const Scalar allowed = weights_[k] / (weights_[k] - candidate(k));
        if (!(allowed < step)) continue;
        step = allowed;
        blocking = k;
      }
      for (std::size_t k = 0; k < set_.size(); ++k) {
        weights_[k] += step * (candidate(k) - weights_[k]);
      }
      if (step == Scalar(1)) break;
      set_.erase(set_.begin() + std::ptrdiff_t(blocking));
      weights_.erase(weights_.begin() + std::ptrdiff_t(blocking));
    }
    if (set_.size() == 1) weights_[0] = Scalar(1);
    nearest_.setZero(offsets_.rows());
    for (std::size_t k = 0; k < set_.size(); ++k) nearest_ += weights_[k] * offsets_.col(set_[k]);
  }

  Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, 0, largest_dimension, Eigen::Dynamic>
      offsets_;  ///< points − target
  Point nearest_;
  std::vector<Index> set_;
  std::vector<Scalar> weights_;  ///< of the set, with the sum 1
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
