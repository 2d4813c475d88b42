// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "support/dual.hpp"
#include "support/set_laws.hpp"

/// @file
/// The laws of projection_derivative. They are read in the metric's own coordinates, where the
/// derivative is M = R^{1/2} (dP/dy) R^{-1/2}: symmetric with eigenvalues in [0, 1].
namespace carom::testing {

using LongMatrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic, 0, 8, 8>;

/// M = R^{1/2} D R^{-1/2}.
template <typename Vector, typename Matrix>
[[nodiscard]] LongMatrix in_metric_coordinates(const Vector& weights, const Matrix& slope) {
  LongMatrix result(slope.rows(), slope.cols());
  for (Index i = 0; i < slope.rows(); ++i) {
    for (Index j = 0; j < slope.cols(); ++j) {
      result(i, j) = std::sqrt(static_cast<long double>(weights(i)) / weights(j)) *
                     static_cast<long double>(slope(i, j));
    }
  }
  return result;
}

/// Eigenvalues of a symmetric matrix by Jacobi's rotations.
[[nodiscard]] inline Eigen::Matrix<long double, Eigen::Dynamic, 1, 0, 8, 1> eigenvalues_of(
    LongMatrix a) {
  const Index n = a.rows();
  for (int sweep = 0; sweep < 12; ++sweep) {
    for (Index p = 0; p < n; ++p) {
      for (Index q = p + 1; q < n; ++q) {
        if (a(p, q) == 0) continue;
        const long double theta = (a(q, q) - a(p, p)) / (2 * a(p, q));
        const long double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::hypot(1.0L, theta));
        const long double c = 1 / std::hypot(1.0L, t), s = t * c;
        for (Index k = 0; k < n; ++k) {
          const long double a_kp = a(k, p), a_kq = a(k, q);
          a(k, p) = c * a_kp - s * a_kq;
          a(k, q) = s * a_kp + c * a_kq;
        }
        for (Index k = 0; k < n; ++k) {
          const long double a_pk = a(p, k), a_qk = a(q, k);
          a(p, k) = c * a_pk - s * a_qk;
          a(q, k) = s * a_pk + c * a_qk;
        }
      }
    }
  }
  return a.diagonal();
}

template <typename Matrix>
[[nodiscard]] long double largest_entry(const Matrix& matrix) {
  long double largest = 0;
  for (Index i = 0; i < matrix.rows(); ++i) {
    for (Index j = 0; j < matrix.cols(); ++j) {
      const long double entry = std::abs(static_cast<long double>(matrix(i, j)));
      if (!(entry <= largest)) largest = entry;  // keeps NaN
      if (std::isnan(entry)) return entry;
    }
  }
  return largest;
}

/// dP/dy by automatic differentiation of project() in long double.
template <ConvexSetLike Set>
[[nodiscard]] LongMatrix derivative_by_duals(const Set& set, const SetVector<Set>& weights,
                                             const SetVector<Set>& y) {
  using Number = Dual<long double, std::size_t(Set::dimension)>;
  const auto dual_set = convert<Number>(set);
  using DualSet = std::remove_cvref_t<decltype(dual_set)>;
  SetVector<DualSet> dual_weights, dual_y;
  for (Index i = 0; i < Set::dimension; ++i) {
    dual_weights(i) = Number(weights(i));
    dual_y(i) = Number::variable(y(i), std::size_t(i));
  }
  const SetVector<DualSet> p = project(dual_set, dual_weights, dual_y).point;
  LongMatrix slope(y.size(), y.size());
  for (Index i = 0; i < y.size(); ++i) {
    for (Index j = 0; j < y.size(); ++j) slope(i, j) = p(i).slope[std::size_t(j)];
  }
  return slope;
}

/// dP/dy by central differences of project() in long double, steps of `step` |y|_R in the metric.
template <ConvexSetLike Set>
[[nodiscard]] LongMatrix derivative_by_differences(const Set& set, const SetVector<Set>& weights,
                                                   const SetVector<Set>& y, long double step) {
  const auto long_set = convert<long double>(set);
  const auto long_weights = weights.template cast<long double>().eval();
  const auto long_y = y.template cast<long double>().eval();
  LongMatrix slope(y.size(), y.size());
  for (Index j = 0; j < y.size(); ++j) {
    const long double h = step * norm_in(weights, y) / std::sqrt(long_weights(j));
    auto ahead = long_y, behind = long_y;
    ahead(j) += h;
    behind(j) -= h;
    slope.col(j) = (project(long_set, long_weights, ahead).point -
                    project(long_set, long_weights, behind).point) /
                   (ahead(j) - behind(j));
  }
  return slope;
}

/// What the derivative is for: a symmetric contraction that reproduces P for cones (Euler).
template <ConvexSetLike Set, typename Draw>
void check_derivative_shape(const Draw& draw_set, int count) {
  WorstCase symmetric("R dP is symmetric"), semidefinite("R dP >= 0"), bounded("R dP <= R");
  WorstCase euler("dP y = P for a cone");
  for_each_sample<Set>(
      draw_set, count, 31, 12, [&](const Set& set, const auto& weights, const auto& y, auto&) {
        using Scalar = typename Set::scalar_type;
        const long double allowance = rounding(16, Scalar(1));
        const SetMatrix<Set> slope = projection_derivative(set, weights, y);
        const LongMatrix m = in_metric_coordinates(weights, slope);
        const auto region = project(set, weights, y).region;
        symmetric.see(largest_entry(m - m.transpose()), allowance, set, weights, y, region, slope);
        const auto eigenvalues = eigenvalues_of((m + m.transpose()) / 2);
        semidefinite.see(std::max(-eigenvalues.minCoeff(), 0.0L), allowance, set, weights, y,
                         region);
        bounded.see(std::max(eigenvalues.maxCoeff() - 1, 0.0L), allowance, set, weights, y, region);
        if constexpr (ConvexConeLike<Set>) {
          const SetVector<decltype(convert<long double>(set))> image =
              slope.template cast<long double>() * y.template cast<long double>();
          euler.see(distance_in(weights, image, project(set, weights, y).point),
                    2 * projection_allowance(weights, y), set, weights, y, region, slope);
        }
      });
  for (const WorstCase* law : {&symmetric, &semidefinite, &bounded}) law->check(count);
  euler.check(0);
}

/// @param dual_allowance  error granted to the derivative by duals itself, 0 for closed forms.
template <ConvexSetLike Set, typename Draw>
void check_derivative_values(const Draw& draw_set, int count, long double dual_allowance) {
  if (!has_longer<typename Set::scalar_type>) return;
  WorstCase duals("equals automatic differentiation"), differences("equals central differences");
  for_each_sample<Set>(
      draw_set, count, 32, 12, [&](const Set& set, const auto& weights, const auto&, auto& source) {
        using Scalar = typename Set::scalar_type;
        const SetVector<Set> y = source.template vector<Set::dimension>();  // not on the surface
        const auto long_y = y.template cast<long double>().eval();
        const auto region = project(set, weights, y).region;
        if (project(convert<long double>(set), weights.template cast<long double>().eval(), long_y)
                .region != region) {
          return;  // a rounding away from the boundary, where both derivatives are valid
        }
        const LongMatrix error =
            in_metric_coordinates(weights, derivative_by_duals(set, weights, y)) -
            in_metric_coordinates(weights, projection_derivative(set, weights, y));
        duals.see(largest_entry(error), rounding(16, Scalar(1)) + dual_allowance, set, weights, y,
                  region);
      });
  const long double step = 1e-7L;
  for_each_sample<Set>(
      draw_set, count, 33, 2, [&](const Set& set, const auto& weights, const auto& y, auto&) {
        using Scalar = typename Set::scalar_type;
        if (y.isZero(0)) return;
        const SetMatrix<Set> slope = projection_derivative(set, weights, y);
        for (Index j = 0; j < y.size(); ++j) {  // away from kinks, the slope varies slowly
          const Scalar h = Scalar(1e-3L * norm_in(weights, y) / std::sqrt(weights(j)));
          for (const Scalar move : {h, -h}) {
            SetVector<Set> near = y;
            near(j) += move;
            if (largest_entry(in_metric_coordinates(
                    weights, SetMatrix<Set>(projection_derivative(set, weights, near) - slope))) >
                0.1L) {
              return;
            }
          }
        }
        const LongMatrix error =
            in_metric_coordinates(weights, derivative_by_differences(set, weights, y, step)) -
            in_metric_coordinates(weights, slope);
        // Third derivatives are at most (slope change per relative move)² ~ 1e4 here.
        differences.see(largest_entry(error), rounding(16, Scalar(1)) + 1e5L * step * step, set,
                        weights, y);
      });
  duals.check(count / 2);
  differences.check(count / 4);
}

/// All laws of the derivative, for sets drawn by draw_set(source).
template <ConvexSetLike Set, typename Draw>
void check_derivative_laws(const Draw& draw_set, int count = 300, long double dual_allowance = 0) {
  check_derivative_shape<Set>(draw_set, count);
  check_derivative_values<Set>(draw_set, count, dual_allowance);
}

}  // namespace carom::testing
