// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "carom/variational/concepts.hpp"

#include "scenes/free_masses.hpp"

namespace carom::examples {

/// Balls on a line without forces; neighbours touch, walls optional. Coordinates are the centres.
///
/// Gaps: between balls i and i + 1, then the left wall's, then the right wall's.
struct LineOfBalls {
  using scalar_type = double;

  std::vector<double> masses;       ///< [kg], > 0, from left to right.
  double radius = 0;                ///< of all balls [m], ≥ 0.
  std::optional<double> left = {};  ///< Place of a wall [m].
  std::optional<double> right = {};

  [[nodiscard]] Index size() const noexcept { return Index(masses.size()); }
  [[nodiscard]] Index gap_count() const noexcept {
    return size() - 1 + (left ? 1 : 0) + (right ? 1 : 0);
  }

  void write_lagrangian(const VectorX<double>&, const VectorX<double>& v, const double&,
                        LagrangianDerivatives<double>& out) const noexcept {
    write_free_lagrangian([this](Index k) { return masses[std::size_t(k)]; }, v, out);
  }
  void write_lagrangian_curvature(const VectorX<double>&, const VectorX<double>& v, const double&,
                                  LagrangianDerivatives<double>& out) const noexcept {
    write_free_lagrangian_curvature([this](Index k) { return masses[std::size_t(k)]; }, v, out);
  }

  void write_gaps(const VectorX<double>& q, VectorX<double>& out) const noexcept {
    const Index n = size();
    for (Index i = 0; i + 1 < n; ++i) out(i) = q(i + 1) - q(i) - 2 * radius;
    Index row = n - 1;
    if (left) out(row++) = q(0) - radius - *left;
    if (right) out(row) = *right - q(n - 1) - radius;
  }
  void write_gap_gradients(const VectorX<double>&, MatrixX<double>& out) const noexcept {
    const Index n = size();
    out.setZero();
    for (Index i = 0; i + 1 < n; ++i) {
      out(i, i) = -1;
      out(i, i + 1) = 1;
    }
    Index row = n - 1;
    if (left) out(row++, 0) = 1;
    if (right) out(row, n - 1) = -1;
  }
};

/// A system with the place and the velocity it starts from.
struct LineStart {
  LineOfBalls balls;
  VectorX<double> q;         ///< [m]
  VectorX<double> velocity;  ///< [m/s]

  [[nodiscard]] VectorX<double> momentum() const {
    VectorX<double> p = velocity;
    for (Index i = 0; i < p.size(); ++i) p(i) *= balls.masses[std::size_t(i)];
    return p;
  }
};

/// Newton's cradle seen as balls on a line.
/// @param gaps  between neighbours [m], ≥ 0, one fewer than masses.
[[nodiscard]] inline LineStart make_cradle(const std::vector<double>& masses, double radius,
                                           const std::vector<double>& gaps,
                                           const std::vector<double>& velocities) {
  CAROM_EXPECTS(!masses.empty() && gaps.size() + 1 == masses.size());
  CAROM_EXPECTS(velocities.size() == masses.size());
  LineStart start{{masses, radius}, {}, {}};
  start.q.setZero(Index(masses.size()));
  start.velocity.setZero(start.q.size());
  for (Index i = 0; i < start.q.size(); ++i) {
    if (i > 0) start.q(i) = start.q(i - 1) + 2 * radius + gaps[std::size_t(i - 1)];
    start.velocity(i) = velocities[std::size_t(i)];
  }
  return start;
}

/// Galperin's billiard: a wall at x = 0, a ball of mass 1 kg at x = 1 m at rest, a ball of mass
/// 100^k at x = 2 m that comes in at 1 m/s. The reflections count the digits of π: 3, 31, 314, …
/// @param exponent  k, ≥ 0.
[[nodiscard]] inline LineStart make_galperin(int exponent) {
  CAROM_EXPECTS(exponent >= 0);
  LineStart start{{{1, std::pow(100.0, exponent)}, 0, 0.0}, {}, {}};
  start.q.setZero(2);
  start.velocity.setZero(2);
  start.q << 1, 2;
  start.velocity << 0, -1;
  return start;
}

/// Centres of equal balls without walls at a time [m]: without the room that the balls take up they
/// move as if they went through each other.
[[nodiscard]] inline VectorX<double> equal_balls_at(const LineStart& start, double time) {
  const double width = 2 * start.balls.radius;
  VectorX<double> x(start.q.size());
  for (Index i = 0; i < x.size(); ++i) {
    x(i) = start.q(i) - width * double(i) + start.velocity(i) * time;
  }
  std::sort(x.data(), x.data() + x.size());
  for (Index i = 0; i < x.size(); ++i) x(i) += width * double(i);
  return x;
}

}  // namespace carom::examples
