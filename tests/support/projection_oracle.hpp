// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "support/dual.hpp"
#include "support/random.hpp"
#include "support/set_traits.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

/// @file
/// Nearest points by bisection on the optimality condition, in long double, with none of the
/// library's case distinctions (docs/derivations/cones.md, eq. 8 and 10).
namespace carom::testing {

template <typename Set>
using LongVector = Vector<long double, Set::dimension>;

/// Root of a function that is negative below it and not negative from it on, x > 0: bracket by
/// factors of two around `start`, then halve until nothing lies between.
template <typename Increasing>
[[nodiscard]] long double bisect(const Increasing& f, long double start) {
  long double low = start, high = start;
  for (int i = 0; i < 40000 && f(high) < 0; ++i) {
    low = high;
    high *= 2;
  }
  for (int i = 0; i < 40000 && low > 0 && f(low) >= 0; ++i) {
    high = low;
    low /= 2;
  }
  for (int i = 0; i < 200; ++i) {
    const long double middle = low + (high - low) / 2;
    if (!(low < middle && middle < high)) break;
    (f(middle) < 0 ? low : high) = middle;
  }
  return high;
}

/// One ball { ‖γ_b‖ ≤ μ γₙ } of a shared-normal cone.
struct OracleBall {
  int start, size;
  long double friction;
};

/// Minimises over γₙ the strictly convex function that is left when every block takes its nearest
/// point in a ball of radius μ_b γₙ; its derivative is Rₙ (γₙ − yₙ) − Σ μ_b R_b (‖y_b‖ − μ_b γₙ)₊.
template <typename Vector>
[[nodiscard]] Vector nearest_in_balls(const std::vector<OracleBall>& balls, int normal_index,
                                      const Vector& weights, const Vector& y) {
  const auto derivative = [&](long double normal) {
    long double sum = weights(normal_index) * (normal - y(normal_index));
    for (const OracleBall& ball : balls) {
      const long double excess = y.segment(ball.start, ball.size).norm() - ball.friction * normal;
      if (excess > 0) sum -= ball.friction * weights(ball.start) * excess;
    }
    return sum;
  };
  if (derivative(0) >= 0) return Vector::Zero();
  const long double normal = bisect(derivative, y.norm());
  Vector point = y;
  point(normal_index) = normal;
  for (const OracleBall& ball : balls) {
    const long double norm = y.segment(ball.start, ball.size).norm();
    const long double radius = ball.friction * normal;
    if (norm > radius) point.segment(ball.start, ball.size) *= radius / norm;
  }
  return point;
}

template <typename Scalar>
[[nodiscard]] Vector<long double, 3> nearest_by_oracle(const FrictionCone<Scalar>& cone,
                                                       const Vector<long double, 3>& weights,
                                                       const Vector<long double, 3>& y) {
  return nearest_in_balls({{0, 2, cone.friction}}, 2, weights, y);
}

template <SharedNormalCone Cone>
[[nodiscard]] LongVector<Cone> nearest_by_oracle(const Cone& cone, const LongVector<Cone>& weights,
                                                 const LongVector<Cone>& y) {
  std::vector<OracleBall> balls;
  for (std::size_t b = 0; b < Cone::blocks.size(); ++b) {
    balls.push_back({Cone::blocks[b].start, Cone::blocks[b].size, bounds(cone)[b]});
  }
  return nearest_in_balls(balls, Cone::normal_index, weights, y);
}

/// The point that a multiplier λ of the ellipsoid's surface gives:
/// γ_i = a_i y_i/(a_i + λ), a_i = μ_i² R_i, and γₙ = ‖γ_i/μ_i‖.
template <typename Number, int Dimension>
[[nodiscard]] Vector<Number, Dimension> ellipsoid_point(
    const Vector<long double, Dimension - 1>& friction,
    const Vector<long double, Dimension>& weights, const Vector<Number, Dimension>& y,
    const Number& multiplier) {
  using std::sqrt;
  Vector<Number, Dimension> point;
  Number reach_squared = 0;
  for (int i = 0; i < Dimension - 1; ++i) {
    const int entry = i < 2 ? i : i + 1;
    point(entry) = 0;
    if (friction(i) == 0) continue;
    const long double axis = friction(i) * friction(i) * weights(entry);
    point(entry) = axis * y(entry) / (axis + multiplier);
    reach_squared += point(entry) * point(entry) / (friction(i) * friction(i));
  }
  point(2) = sqrt(reach_squared);
  return point;
}

/// Stationarity in γₙ, (Rₙ − λ) γₙ = Rₙ yₙ, as a function of λ: left minus right side, falling.
template <typename Number, int Dimension>
[[nodiscard]] Number ellipsoid_residual(const Vector<long double, Dimension - 1>& friction,
                                        const Vector<long double, Dimension>& weights,
                                        const Vector<Number, Dimension>& y,
                                        const Number& multiplier) {
  return (weights(2) - multiplier) *
             ellipsoid_point<Number, Dimension>(friction, weights, y, multiplier)(2) -
         weights(2) * y(2);
}

/// λ of the nearest point, or 0 inside and infinity in the polar cone.
template <int Dimension>
[[nodiscard]] long double ellipsoid_multiplier(const Vector<long double, Dimension - 1>& friction,
                                               const Vector<long double, Dimension>& weights,
                                               const Vector<long double, Dimension>& y) {
  Vector<long double, Dimension - 1> reach, load;
  for (int i = 0; i < Dimension - 1; ++i) {
    const int entry = i < 2 ? i : i + 1;
    reach(i) = friction(i) == 0 ? 0 : y(entry) / friction(i);
    load(i) = friction(i) * weights(entry) * y(entry);
  }
  if (y(2) >= 0 && reach.norm() <= y(2)) return 0;
  if (load.norm() <= -weights(2) * y(2)) return std::numeric_limits<long double>::infinity();
  return bisect(
      [&](long double multiplier) {
        return -ellipsoid_residual<long double, Dimension>(friction, weights, y, multiplier);
      },
      weights(2));
}

template <typename Scalar, int Dimension>
[[nodiscard]] Vector<long double, Dimension> nearest_by_oracle(
    const EllipsoidalCone<Scalar, Dimension>& cone, const Vector<long double, Dimension>& weights,
    const Vector<long double, Dimension>& y) {
  const Vector<long double, Dimension - 1> friction = cone.friction.template cast<long double>();
  const long double multiplier = ellipsoid_multiplier<Dimension>(friction, weights, y);
  if (std::isinf(multiplier)) return Vector<long double, Dimension>::Zero();
  if (multiplier > 0)
    return ellipsoid_point<long double, Dimension>(friction, weights, y, multiplier);
  Vector<long double, Dimension> point = y;
  for (int i = 0; i < Dimension - 1; ++i) {
    if (friction(i) == 0) point(i < 2 ? i : i + 1) = 0;
  }
  return point;
}

/// Compares project() with the oracle in the metric, relative to |y|_R and to the spacing of
/// subnormal numbers. Points that the type cannot hold are passed over.
template <typename Set>
void compare_with_oracle(WorstCase& worst, const Set& set, const SetVector<Set>& weights,
                         const SetVector<Set>& y, int roundings = 8) {
  using Scalar = typename Set::scalar_type;
  const LongVector<Set> long_weights = weights.template cast<long double>();
  const LongVector<Set> expected =
      nearest_by_oracle(set, long_weights, y.template cast<long double>().eval());
  const long double limit = std::numeric_limits<Scalar>::max();
  if (!(expected.cwiseAbs().maxCoeff() < limit)) return;
  const auto [p, region] = project(set, weights, y);
  const LongVector<Set> spacing =
      LongVector<Set>::Constant(std::numeric_limits<Scalar>::denorm_min());
  const long double allowed = roundings *
                                  static_cast<long double>(std::numeric_limits<Scalar>::epsilon()) *
                                  norm_in(weights, y) +
                              4 * norm_in(weights, spacing);
  worst.see(distance_in(weights, p, expected), allowed, set, weights, y, region, p, expected);
}

/// Numbers that break careless arithmetic: zeros of both signs, one, the ends of the type's range,
/// subnormal numbers, and everything between.
template <typename Scalar>
[[nodiscard]] Scalar extreme_entry(VectorSource<Scalar>& source) {
  using Limits = std::numeric_limits<Scalar>;
  const double kind = source.unit();
  if (kind < 0.15) return source.unit() < 0.5 ? Scalar(0) : -Scalar(0);
  if (kind < 0.3) return source.pick_signed({1, 0.75, 3});
  if (kind < 0.4) return source.unit() < 0.5 ? Limits::max() / 8 : -Limits::max() / 8;
  if (kind < 0.5) return source.unit() < 0.5 ? Limits::denorm_min() : -Limits::min() / 4;
  return source.entry(2 * Limits::max_exponent10 - 2, 0);
}

template <int Size, typename Scalar>
[[nodiscard]] Vector<Scalar, Size> extreme_vector(VectorSource<Scalar>& source) {
  Vector<Scalar, Size> result;
  for (Index i = 0; i < Size; ++i) result(i) = extreme_entry(source);
  return result;
}

/// The oracle on twelve decades of everything, then on the full range of y.
template <typename Set, typename Draw>
void check_against_oracle(const Draw& draw_set, int count = 250, int roundings = 8) {
  WorstCase decades("nearest point, twelve decades"), extremes("nearest point, whole range of y");
  VectorSource<typename Set::scalar_type> source(41);
  for (int sample = 0; sample < count; ++sample) {
    const Set set = draw_set(source);
    const SetVector<Set> weights = draw_weights(set, source, 12);
    compare_with_oracle(decades, set, weights, source.template vector<Set::dimension>(12),
                        roundings);
    if constexpr (has_longer<typename Set::scalar_type>) {
      compare_with_oracle(extremes, set, weights, extreme_vector<Set::dimension>(source),
                          roundings);
    }
  }
  decades.check(count);
  if (has_longer<typename Set::scalar_type>) extremes.check(count / 4);
}

/// The oracle on sets with extreme parameters, and on metrics over `decades` decades.
template <typename Set, typename Draw>
void check_extreme_parameters(const Draw& draw_extreme, double decades, int count = 400,
                              int roundings = 8) {
  if (!has_longer<typename Set::scalar_type>) return;
  WorstCase ordinary("extreme parameters"), extremes("extreme parameters and points");
  VectorSource<typename Set::scalar_type> source(42);
  for (int sample = 0; sample < count; ++sample) {
    const Set set = draw_extreme(source);
    const SetVector<Set> weights = draw_weights(set, source, decades);
    compare_with_oracle(ordinary, set, weights, source.template vector<Set::dimension>(12),
                        roundings);
    compare_with_oracle(extremes, set, weights, extreme_vector<Set::dimension>(source), roundings);
  }
  ordinary.check(count / 8);
  extremes.check(count / 8);
}

/// Decades that frictions of an extreme test span: 1e-200 to 1e200 in double.
template <typename Scalar>
inline constexpr double extreme_friction_decades =
    1.3 * std::numeric_limits<Scalar>::max_exponent10;

}  // namespace carom::testing
