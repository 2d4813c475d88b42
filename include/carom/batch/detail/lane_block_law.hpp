// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/detail/lane_ellipsoid.hpp"
#include "carom/batch/detail/lane_round_cone.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The point of the ball ‖(γ_i/μ_i)‖ ≤ γₙ that is nearest by R to a trial impulse, in every lane:
/// the same as WeightedBall. Rows without friction get zero.
template <typename Number>
class LaneBall {
 public:
  using Scalar = typename Number::scalar_type;
  using Mask = typename Number::Mask;

  /// @param radius  γₙ > 0 in the lanes wanted.
  CAROM_DEVICE LaneBall(const LaneRowsTrial<Number>& rows, const Number& radius,
                        const Mask& lanes) noexcept
      : rows_(rows) {
    const Number zero(0), one(1);
    Number squared = zero;
    for_each_tangent([&](int i) {
      const Number& mu = rows.mu_of(i);
      load[i] = select(mu > zero, rows.y[i] / mu, zero);
      stiffness[i] = select(mu > zero, rows.weight[i] * mu * mu, one);
      squared += load[i] * load[i];
    });
    inside = sqrt(squared) <= radius;
    multiplier = zero;
    Mask searching = lanes & (!inside);
    constexpr int most = 60, roundings = 4;  // as those of WeightedBall
    for (int k = 0; k < most && any(searching); ++k) {
      Number length = zero, slope = zero;
      for_each_tangent([&](int i) {
        const Number x = point(i);
        length += x * x;
        slope += x * x / (stiffness[i] + multiplier);
      });
      const Number over = sqrt(length) / radius - one;
      searching = searching & (over > Number(roundings * std::numeric_limits<Scalar>::epsilon()));
      multiplier = select(searching, multiplier + over * length / slope, multiplier);
    }
  }
  /// γ_i/μ_i
  [[nodiscard]] CAROM_DEVICE Number point(int i) const noexcept {
    return stiffness[i] * load[i] / (stiffness[i] + multiplier);
  }
  template <typename Visit>
  CAROM_DEVICE void for_each_tangent(const Visit& visit) const noexcept {
    for (int r = 0; r < rows_.rows; ++r) {
      if (r != rows_.shape.normal) visit(r);
    }
  }

  Number load[6], stiffness[6], multiplier;
  Mask inside;

 private:
  const LaneRowsTrial<Number>& rows_;
};

/// γ of the convex law: the nearest point of the set in the weights.
template <typename Number>
CAROM_DEVICE_CALL void write_convex_impulse(const LaneRowsTrial<Number>& rows,
                                            Number (&impulse)[6]) noexcept {
  if (rows.shape.normal >= 0) {
    if (rows.shape.ellipsoidal) return LaneEllipsoid<Number>(rows).write_impulse(impulse);
    return LaneRoundCone<Number>(rows).write_impulse(impulse);
  }
  for (int r = 0; r < rows.rows; ++r) {
    const Number& y = rows.y[r];
    impulse[r] =
        select(y < rows.lower[r], rows.lower[r], select(y > rows.upper[r], rows.upper[r], y));
  }
}

/// G = (∂γ/∂y) R⁻¹ of the same.
template <typename Number>
CAROM_DEVICE_CALL void write_convex_curvature(const LaneRowsTrial<Number>& rows,
                                              LaneBlockMatrix<Number>& g) noexcept {
  if (rows.shape.normal >= 0) {
    if (rows.shape.ellipsoidal) return LaneEllipsoid<Number>(rows).write_curvature(g);
    return LaneRoundCone<Number>(rows).write_curvature(g);
  }
  g.clear(rows.rows);
  for (int r = 0; r < rows.rows; ++r) {
    const Number& y = rows.y[r];
    const auto moves = (rows.lower[r] <= y) & (y <= rows.upper[r]);
    g.entry[r][r] = select(moves, Number(1) / rows.weight[r], Number(0));
  }
}

/// γ of Coulomb's law, as coulomb_impulse().
template <typename Number>
CAROM_DEVICE_CALL void write_coulomb_impulse(const LaneRowsTrial<Number>& rows,
                                             Number (&impulse)[6]) noexcept {
  const int n = rows.shape.normal;
  if (n < 0) return write_convex_impulse(rows, impulse);
  const Number zero(0), one(1);
  const Number normal = larger(rows.y[n], zero);
  const auto pushes = rows.y[n] > zero;
  if (rows.shape.ellipsoidal) {
    const LaneBall<Number> ball(rows, normal, pushes);
    ball.for_each_tangent([&](int i) {
      const Number& mu = rows.mu_of(i);
      const Number kept = select(ball.inside, ball.load[i], ball.point(i));
      impulse[i] = select(pushes, mu * kept, zero);
    });
  }
  for (int b = 0; b < rows.shape.group_count && !rows.shape.ellipsoidal; ++b) {
    const auto& [first, size] = rows.shape.groups[b];
    const Number r = LaneRoundCone<Number>::norm_of(rows.y, rows.shape.groups[b]);
    const Number most = rows.mu_of(first) * normal;
    const Number share = select(r <= most, one, most / r);
    for (int i = first; i < first + size; ++i) impulse[i] = select(pushes, share * rows.y[i], zero);
  }
  impulse[n] = normal;
}

/// G = (∂γ/∂y) R⁻¹ of the same, as coulomb_curvature(): not symmetric where a contact slides.
template <typename Number>
CAROM_DEVICE_CALL void write_coulomb_slope(const LaneRowsTrial<Number>& rows,
                                           LaneBlockMatrix<Number>& g) noexcept {
  const int n = rows.shape.normal;
  if (n < 0) return write_convex_curvature(rows, g);
  const Number zero(0), one(1), normal = rows.y[n];
  const auto pushes = normal > zero;
  const Number pressed = one / rows.weight[n];
  g.clear(rows.rows);
  if (rows.shape.ellipsoidal) {
    const LaneBall<Number> ball(rows, normal, pushes);
    Number along[6], bend = zero;
    ball.for_each_tangent([&](int i) {
      along[i] = ball.point(i) / (ball.stiffness[i] + ball.multiplier);
      bend += ball.point(i) * along[i];
    });
    const auto slides = (!ball.inside) & (bend > zero);
    const Number inverse = select(slides, one / bend, zero);
    ball.for_each_tangent([&](int i) {
      const Number& mu = rows.mu_of(i);
      g.entry[i][i] = mu * mu / (ball.stiffness[i] + ball.multiplier);
      g.entry[i][n] = mu * along[i] * inverse * normal * pressed;
      ball.for_each_tangent(
          [&](int j) { g.entry[i][j] -= mu * along[i] * along[j] * rows.mu_of(j) * inverse; });
    });
  }
  for (int b = 0; b < rows.shape.group_count && !rows.shape.ellipsoidal; ++b) {
    const auto& [first, size] = rows.shape.groups[b];
    const Number r = LaneRoundCone<Number>::norm_of(rows.y, rows.shape.groups[b]);
    const Number mu = rows.mu_of(first), held = one / rows.weight[first];
    const auto sticks = (r <= mu * normal) & (mu > zero);
    const Number inverse = select(sticks | (r <= zero), zero, one / r);
    const Number across = select(sticks, held, mu * normal * inverse * held);
    for (int i = first; i < first + size; ++i) {
      const Number t = rows.y[i] * inverse;
      g.entry[i][n] = mu * t * pressed;
      for (int j = first; j < first + size; ++j) {
        g.entry[i][j] = across * ((i == j ? one : zero) - t * (rows.y[j] * inverse));
      }
    }
  }
  g.entry[n][n] = pressed;
  for (int i = 0; i < rows.rows; ++i) {
    for (int j = 0; j < rows.rows; ++j) g.entry[i][j] = select(pushes, g.entry[i][j], zero);
  }
}

/// De Saxcé's lift Σ μ_b ‖u_b‖ of the rows' velocities.
template <typename Number>
[[nodiscard]] CAROM_DEVICE_CALL Number lift_of_lanes(const LaneRowsTrial<Number>& rows,
                                                     const Number (&velocity)[6]) noexcept {
  Number lift(0);
  if (rows.shape.ellipsoidal) {
    for (int r = 0; r < rows.rows; ++r) {
      if (r == rows.shape.normal) continue;
      const Number x = rows.mu_of(r) * velocity[r];
      lift += x * x;
    }
    return sqrt(lift);
  }
  for (int b = 0; b < rows.shape.group_count; ++b) {
    const LaneGroup& group = rows.shape.groups[b];
    lift += rows.mu_of(group.first) * LaneRoundCone<Number>::norm_of(velocity, group);
  }
  return lift;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
