// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "carom/batch/detail/lane_block.hpp"
#include "carom/cones/detail/ellipsoid_section.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// An ellipsoidal cone in every lane under the convex law: the same point as project() of an
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

/// The same Newton steps as those of EllipsoidSection, in each lane until it has its root.
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

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
