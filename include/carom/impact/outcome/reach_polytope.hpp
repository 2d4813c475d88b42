// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "carom/impact/outcome/hull_distance.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A convex polyhedron by its corners and rays, { Σ w_k c_k + Σ t_j r_j : w, t ≥ 0, Σ w = 1 },
/// which is cut by half-spaces.
///
/// Each column has the coordinates on top and below them numbers that follow linearly, such as the
/// impulses that led to a corner: a mixture of corners has the same mixture of them.
template <RealScalar Scalar>
class ReachPolytope {
 public:
  /// @param dimension  count of coordinates, the first rows of each column.
  /// @param corners, rays  one per column, with equal counts of rows.
  /// @param merging  points of the hull of others within this distance are left out, ≥ 0.
  ReachPolytope(Index dimension, MatrixX<Scalar> corners, MatrixX<Scalar> rays,
                const Scalar& merging)
      : dimension_(dimension),
        merging_(merging),
        corners_(std::move(corners)),
        rays_(std::move(rays)) {}

  [[nodiscard]] const MatrixX<Scalar>& corners() const noexcept { return corners_; }
  [[nodiscard]] const MatrixX<Scalar>& rays() const noexcept { return rays_; }
  [[nodiscard]] bool is_empty() const noexcept { return corners_.cols() == 0; }
  [[nodiscard]] auto places() const noexcept { return corners_.topRows(dimension_); }

  /// Keeps the part h·x ≥ least.
  /// @param direction  h, of length one.
  void cut(const VectorX<Scalar>& direction, const Scalar& least) {
    VectorX<Scalar> heights = (direction.transpose() * places()).transpose().array() - least;
    VectorX<Scalar> slopes = (direction.transpose() * rays_.topRows(dimension_)).transpose();
    snap(heights, merging_);
    snap(slopes, slope_rounding);
    if (!(heights.size() > 0 && heights.minCoeff() < Scalar(0)) &&
        !(slopes.size() > 0 && slopes.minCoeff() < Scalar(0))) {
      return;
    }
    std::vector<VectorX<Scalar>> corners, rays;
    for (Index i = 0; i < heights.size(); ++i) {
      if (heights(i) >= Scalar(0)) corners.push_back(corners_.col(i));
      for (Index j = 0; heights(i) > Scalar(0) && j < heights.size(); ++j) {
        if (!(heights(j) < Scalar(0))) continue;
        const Scalar share = heights(i) / (heights(i) - heights(j));
        corners.push_back(corners_.col(i) + share * (corners_.col(j) - corners_.col(i)));
      }
      for (Index j = 0; j < slopes.size(); ++j) {
        if (!(heights(i) * slopes(j) < Scalar(0))) continue;
        corners.push_back(corners_.col(i) - heights(i) / slopes(j) * rays_.col(j));
      }
    }
    for (Index i = 0; i < slopes.size(); ++i) {
      if (slopes(i) >= Scalar(0)) rays.push_back(rays_.col(i));
      for (Index j = 0; slopes(i) > Scalar(0) && j < slopes.size(); ++j) {
        if (!(slopes(j) < Scalar(0))) continue;
        rays.push_back(slopes(i) * rays_.col(j) - slopes(j) * rays_.col(i));
      }
    }
    assign(corners_, corners);
    assign(rays_, rays);
    reduce();
  }

  /// Leaves out corners and rays that mixtures of the others replace.
  void reduce() {
    std::vector<Index> kept = all_of(corners_);
    const auto distance = [&](Index from, const std::vector<Index>& others, const Scalar& enough) {
      gather(others, [&](Index k) { return corners_.col(k).head(dimension_); });
      return hull_.find(gathered_, corners_.col(from).head(dimension_), enough);
    };
    drop(kept, [&](Index candidate, const std::vector<Index>& others) {
      return distance(candidate, others, merging_) <= merging_;
    });
    Scalar largest = 0;
    for (Index i = 0, next = 0; i < corners_.cols(); ++i) {
      if (next < Index(kept.size()) && kept[std::size_t(next)] == i) {
        ++next;
      } else {
        largest = (std::max)(largest, distance(i, kept, merging_ / 64));
      }
    }
    loss_ += largest;
    corners_ = MatrixX<Scalar>(corners_(Eigen::all, kept));
    reduce_rays();
  }
  /// The largest distance of a point from this set that exact cuts would have, as far as corners
  /// that were left out decide it.
  [[nodiscard]] const Scalar& loss() const noexcept { return loss_; }

  /// The largest distance of a corner of the other from the hull of the corners of this one.
  /// @param enough  a distance at most this large need not be exact.
  [[nodiscard]] Scalar distance_of(const ReachPolytope& other, const Scalar& enough) {
    Scalar largest = 0;
    for (Index i = 0; i < other.corners_.cols(); ++i) {
      const Scalar distance = hull_.find(places(), other.corners_.col(i).head(dimension_), enough);
      if (distance > largest) largest = distance;
    }
    return largest;
  }

 private:
  /// Slopes of rays of length one below this are zero to rounding [-].
  static constexpr Scalar slope_rounding = 64 * std::numeric_limits<Scalar>::epsilon();

  static void snap(VectorX<Scalar>& numbers, const Scalar& zero) {
    for (Scalar& number : numbers) {
      if (std::abs(number) <= zero) number = Scalar(0);
    }
  }
  static std::vector<Index> all_of(const MatrixX<Scalar>& columns) {
    std::vector<Index> all;
    for (Index i = 0; i < columns.cols(); ++i) all.push_back(i);
    return all;
  }
  void assign(MatrixX<Scalar>& columns, const std::vector<VectorX<Scalar>>& found) const {
    columns.resize(corners_.rows(), Index(found.size()));
    for (std::size_t k = 0; k < found.size(); ++k) columns.col(Index(k)) = found[k];
  }
  template <typename Column>
  void gather(const std::vector<Index>& which, const Column& column) {
    gathered_.resize(dimension_, Index(which.size()));
    for (std::size_t k = 0; k < which.size(); ++k) gathered_.col(Index(k)) = column(which[k]);
  }
  /// Drops each index that is_spare(index, the other kept ones) names; the last one stays.
  template <typename IsSpare>
  static void drop(std::vector<Index>& kept, const IsSpare& is_spare) {
    for (std::size_t k = kept.size(); k-- > 0 && kept.size() > 1;) {
      std::vector<Index> others = kept;
      others.erase(others.begin() + std::ptrdiff_t(k));
      if (is_spare(kept[k], others)) kept = std::move(others);
    }
  }
  /// A ray is spare if it is zero, or in the cone of the others.
  void reduce_rays() {
    std::vector<Index> kept;
    for (Index i = 0; i < rays_.cols(); ++i) {
      const Scalar length = rays_.col(i).head(dimension_).norm();
      if (!(length > slope_rounding)) continue;
      rays_.col(i) /= length;
      kept.push_back(i);
    }
    drop(kept, [&](Index candidate, const std::vector<Index>& others) {
      return is_in_cone(rays_.col(candidate).head(dimension_), others);
    });
    rays_ = MatrixX<Scalar>(rays_(Eigen::all, kept));
  }
  /// Whether a ray of length one is Σ t_j r_j of others with t ≥ 0: whether it is in the hull of 0
  /// and of long multiples of the others.
  [[nodiscard]] bool is_in_cone(const VectorX<Scalar>& ray, const std::vector<Index>& others) {
    gather(others, [&](Index k) { return cone_reach * rays_.col(k).head(dimension_); });
    gathered_.conservativeResize(Eigen::NoChange, gathered_.cols() + 1);
    gathered_.col(gathered_.cols() - 1).setZero();
    const Scalar zero = cone_reach * slope_rounding;
    return hull_.find(gathered_, ray, zero) <= zero;
  }
  /// Multiples up to this of rays of length one are tried [-]: a mixture with a larger one is of
  /// rays that nearly cancel, and is kept.
  static constexpr Scalar cone_reach = 1024;

  Index dimension_;
  Scalar merging_;
  Scalar loss_ = 0;
  MatrixX<Scalar> corners_, rays_, gathered_;
  HullDistance<Scalar> hull_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
