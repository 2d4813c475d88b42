// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "carom/batch/detail/lane_map.hpp"
#include "carom/cones/detail/ellipsoid_section.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The rows of a block in each lane: its set, weights and a trial impulse.
template <typename Number>
struct LaneRowsTrial {
  int rows;
  LaneShape shape;
  Number weight[6];           ///< R
  Number y[6];                ///< trial impulse, moved by the set's shift
  Number mu[3];               ///< of a cone, as in ImpulseSet
  Number lower[6], upper[6];  ///< of intervals

  [[nodiscard]] CAROM_DEVICE const Number& mu_of(int row) const noexcept {
    return mu[shape.friction_of_row[row]];
  }
};

/// A small square matrix in each lane.
template <typename Number>
struct LaneBlockMatrix {
  Number entry[6][6];

  CAROM_DEVICE void clear(int rows) noexcept {
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < rows; ++j) entry[i][j] = Number(0);
    }
  }
};

/// A cone in each lane whose groups of rows are each bounded by a multiple of the normal, under the
/// convex law. The point is that of project() for a SharedNormalCone.
template <typename Number>
class LaneRoundCone {
 public:
  using Mask = typename Number::Mask;

  /// The condition on γₙ is a sum of hinge functions, decreasing and convex. Newton's method from
  /// the side on which all groups slide increases to its root and passes at least one hinge in each
  /// step.
  CAROM_DEVICE explicit LaneRoundCone(const LaneRowsTrial<Number>& rows) noexcept : rows_(rows) {
    const Number zero(0);
    const int n = rows.shape.normal;
    for (int b = 0; b < rows.shape.group_count; ++b) {
      norm_[b] = norm_of(rows.y, rows.shape.groups[b]);
      slides_[b] = norm_[b] > zero;
    }
    for (int step = 0; step <= rows.shape.group_count; ++step) {
      resistance_ = rows.weight[n];
      Number drive = rows.weight[n] * rows.y[n];
      for (int b = 0; b < rows.shape.group_count; ++b) {
        const Number mu = mu_of(b), pull = mu * rows.weight[rows.shape.groups[b].first];
        resistance_ += select(slides_[b], mu * pull, zero);
        drive += select(slides_[b], pull * norm_[b], zero);
      }
      normal_ = drive / resistance_;
      for (int b = 0; b < rows.shape.group_count; ++b) {
        slides_[b] = slides_[b] & (norm_[b] > mu_of(b) * normal_);
      }
    }
    // The apex is the result if the normal force there is not positive.
    Mask pulled = everywhere<Number>(false);
    for (int b = 0; b < rows.shape.group_count; ++b) pulled = pulled | slides_[b];
    open_ = (normal_ < zero) | ((normal_ <= zero) & pulled);
  }

  /// γ
  CAROM_DEVICE void write_impulse(Number (&impulse)[6]) const noexcept {
    const Number zero(0), one(1);
    impulse[rows_.shape.normal] = select(open_, zero, normal_);
    for (int b = 0; b < rows_.shape.group_count; ++b) {
      const Number share = select(slides_[b], mu_of(b) * normal_ / norm_[b], one);
      for_each_row(b, [&](int r) { impulse[r] = select(open_, zero, share * rows_.y[r]); });
    }
  }

  /// G = (∂γ/∂y) R⁻¹, symmetric.
  CAROM_DEVICE void write_curvature(LaneBlockMatrix<Number>& g) const noexcept {
    const Number zero(0), one(1);
    const int n = rows_.shape.normal;
    Number along[6];  // ∂γₙ/∂z multiplied by the resistance
    along[n] = one;
    g.clear(rows_.rows);
    for (int b = 0; b < rows_.shape.group_count; ++b) {
      const Number inverse = select(slides_[b], one / norm_[b], zero), mu = mu_of(b);
      const Number held = one / rows_.weight[rows_.shape.groups[b].first];
      const Number across = select(slides_[b], mu * normal_ * inverse * held, held);
      for_each_row(b, [&](int r) {
        const Number t = rows_.y[r] * inverse;
        along[r] = mu * t;
        for_each_row(b, [&](int c) {
          const Number u = rows_.y[c] * inverse;
          g.entry[r][c] = across * ((r == c ? one : zero) - t * u);
        });
      });
    }
    const Number inverse = one / resistance_;
    for (int r = 0; r < rows_.rows; ++r) {
      for (int c = 0; c < rows_.rows; ++c) {
        g.entry[r][c] = select(open_, zero, g.entry[r][c] + along[r] * along[c] * inverse);
      }
    }
  }

  /// ‖x_b‖ of a group.
  [[nodiscard]] CAROM_DEVICE static Number norm_of(const Number (&x)[6],
                                                   const LaneGroup& group) noexcept {
    Number squared = x[group.first] * x[group.first];
    if (group.size > 1) squared += x[group.first + 1] * x[group.first + 1];
    return sqrt(squared);
  }

 private:
  [[nodiscard]] CAROM_DEVICE const Number& mu_of(int group) const noexcept {
    return rows_.mu_of(rows_.shape.groups[group].first);
  }
  template <typename Visit>
  CAROM_DEVICE void for_each_row(int group, const Visit& visit) const noexcept {
    const auto& [first, size] = rows_.shape.groups[group];
    for (int r = first; r < first + size; ++r) visit(r);
  }

  const LaneRowsTrial<Number>& rows_;
  Number norm_[3], normal_, resistance_;
  Mask slides_[3], open_;
};

/// An ellipsoidal cone in each lane under the convex law. The point is that of project() for an
/// EllipsoidalCone, in the notation of EllipsoidSection.
template <typename Number>
class LaneEllipsoid {
 public:
  using Scalar = typename Number::scalar_type;
  using Mask = typename Number::Mask;

  CAROM_DEVICE explicit LaneEllipsoid(const LaneRowsTrial<Number>& rows) noexcept
      : rows_(rows), normal_(rows.shape.normal) {
    const Number zero(0);
    Number reach = zero, pull = zero;
    for_each_tangent([&](int i) {
      const Number& mu = rows_.mu_of(i);
      axis_[i] = mu * mu * rows_.weight[i];
      load_[i] = mu * rows_.weight[i] * rows_.y[i];
      const Number share = select(mu > zero, rows_.y[i] / mu, zero);
      reach += share * share;
      pull += load_[i] * load_[i];
    });
    const Number y = rows_.y[normal_], drive = rows_.weight[normal_] * y;
    inside_ = (sqrt(reach) <= y) & (zero <= y);
    open_ = (!inside_) & (sqrt(pull) + drive <= zero);
    find_multiplier(drive);
  }

  /// γ
  CAROM_DEVICE void write_impulse(Number (&impulse)[6]) const noexcept {
    const Number zero(0);
    Number squared = zero;
    for_each_tangent([&](int i) {
      const Number x = quotient(load_[i], axis_[i] + multiplier_);
      squared += x * x;
      const Number held = select(rows_.mu_of(i) > zero, rows_.y[i], zero);
      impulse[i] = select(inside_, held, select(open_, zero, rows_.mu_of(i) * x));
    });
    impulse[normal_] = select(inside_, rows_.y[normal_], select(open_, zero, sqrt(squared)));
  }

  /// G = (∂γ/∂y) R⁻¹, symmetric.
  CAROM_DEVICE void write_curvature(LaneBlockMatrix<Number>& g) const noexcept {
    const Number zero(0), one(1);
    Number compliance[6], softened[6], squared = zero;
    for_each_tangent([&](int i) {
      compliance[i] = quotient(one, axis_[i] + multiplier_);
      softened[i] = load_[i] * compliance[i];
      squared += softened[i] * softened[i];
    });
    const Number inverse = quotient(one, sqrt(squared));
    Number stiffness = zero, yielding = zero;
    for_each_tangent([&](int i) {
      const Number direction = softened[i] * inverse;
      stiffness += direction * direction * (axis_[i] + rows_.weight[normal_]) * compliance[i];
      softened[i] = direction * compliance[i];
      yielding += direction * softened[i];
    });
    const auto choose = [&](const Number& in, const Number& out) {
      return select(inside_, in, select(open_, zero, out));
    };
    const Number relief = one / stiffness;
    for_each_tangent([&](int i) {
      const Number& mu = rows_.mu_of(i);
      for_each_tangent([&](int j) {
        const Number rise = softened[j] * rows_.mu_of(j) * relief;
        Number dx = zero - softened[i] * (margin_ * rise);
        if (i == j) dx += compliance[i] * mu;
        const Number held = select(mu > zero, one / rows_.weight[i], zero);
        g.entry[i][j] = choose(i == j ? held : zero, mu * dx);
      });
      const Number coupling = choose(zero, mu * softened[i] * relief);
      g.entry[i][normal_] = coupling;
      g.entry[normal_][i] = coupling;
    });
    g.entry[normal_][normal_] = choose(one / rows_.weight[normal_], yielding * relief);
  }

 private:
  template <typename Visit>
  CAROM_DEVICE void for_each_tangent(const Visit& visit) const noexcept {
    for (int r = 0; r < rows_.rows; ++r) {
      if (r != normal_) visit(r);
    }
  }
  /// a/b; 0 where b is 0, in a direction without friction.
  [[nodiscard]] CAROM_DEVICE static Number quotient(const Number& a, const Number& b) noexcept {
    return select((b > Number(0)) | (b < Number(0)), a / b, Number(0));
  }
  CAROM_DEVICE void find_multiplier(const Number& drive) noexcept;
  [[nodiscard]] CAROM_DEVICE Number find_root(const Number (&fixed)[6], const Number (&growing)[6],
                                              const Number& target) const noexcept;

  const LaneRowsTrial<Number>& rows_;
  int normal_;
  Number axis_[6], load_[6], multiplier_, margin_;
  Mask inside_, open_;
};

// --- implementation ---

template <typename Number>
CAROM_DEVICE void LaneEllipsoid<Number>::find_multiplier(const Number& drive) noexcept {
  const Number zero(0), one(1), weight = rows_.weight[normal_];
  const Mask pressed = drive > zero;
  Number level = zero, fixed[6], growing[6];
  for_each_tangent([&](int i) {
    const Number x = quotient(load_[i], axis_[i] + weight);
    level += x * x;
    fixed[i] = select(pressed, axis_[i] / weight, one);
    growing[i] = select(pressed, axis_[i] / weight + one, axis_[i] + weight);
  });
  level = sqrt(level);
  constexpr Scalar epsilon = std::numeric_limits<Scalar>::epsilon();
  const Mask small_drive = abs(drive) <= Number(epsilon * epsilon) * (weight * level);
  const Number z = find_root(fixed, growing, abs(drive));
  const Number pressed_margin = weight / (one + z);
  const Number pulled_margin = zero - one / z;
  margin_ =
      select(small_drive, quotient(drive, level), select(pressed, pressed_margin, pulled_margin));
  multiplier_ = select(pressed & (!small_drive), z * pressed_margin, weight - margin_);
  open_ = open_ | ((!inside_) & (!small_drive) & (!pressed) & (z <= zero));
}

/// The Newton steps of EllipsoidSection, in each lane until it has its root.
template <typename Number>
CAROM_DEVICE Number LaneEllipsoid<Number>::find_root(const Number (&fixed)[6],
                                                     const Number (&growing)[6],
                                                     const Number& target) const noexcept {
  const Number zero(0);
  Number limit[6], squared = zero, lag = zero;
  for_each_tangent([&](int i) {
    limit[i] = load_[i] / growing[i];
    squared += limit[i] * limit[i];
  });
  const Number norm = sqrt(squared);
  for_each_tangent([&](int i) {
    const Number share = quotient(limit[i], norm);
    lag += share * share * (fixed[i] / growing[i]);
  });
  Number z = larger(norm / target - lag, zero);
  Mask searching = (!inside_) & (!open_);
  for (int step = 0; step < ellipsoid_step_limit && any(searching); ++step) {
    Number length = zero, bend = zero;
    for_each_tangent([&](int i) {
      const Number x = quotient(load_[i], fixed[i] + growing[i] * z);
      length += x * x;
      bend += x * x * quotient(growing[i], fixed[i] + growing[i] * z);
    });
    const Number size = sqrt(length);
    const Number move = (size - target) / target * (length / bend);
    if (step > 0) searching = searching & (move > zero);
    const Number next = larger(z + move, zero);
    const Mask moving = searching;
    searching = searching & (abs(move) > Number(4 * std::numeric_limits<Scalar>::epsilon()) * next);
    z = select(moving, next, z);
  }
  return z;
}

/// The point of the ball ‖(γ_i/μ_i)‖ ≤ γₙ that is nearest to a trial impulse in the metric R, in
/// each lane: the same as WeightedBall. Rows without friction become zero.
template <typename Number>
class LaneBall {
 public:
  using Scalar = typename Number::scalar_type;
  using Mask = typename Number::Mask;

  /// @param radius  γₙ > 0 in the selected lanes.
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
    constexpr int most = 60, roundings = 4;  // the values of WeightedBall
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

/// γ of the convex law: the nearest point of the set in the metric of the weights.
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

/// De Saxcé's term Σ μ_b ‖u_b‖ of the velocities of the rows.
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
