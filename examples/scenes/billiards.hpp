// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <optional>
#include <vector>

#include "carom/variational/concepts.hpp"

#include "scenes/free_masses.hpp"

namespace carom::examples {

/// A rectangle between cushions, from the origin [m].
struct BilliardTable {
  double width = 2.54;   ///< along x
  double height = 1.27;  ///< along y
};

/// Smooth balls in the plane that hit each other and, with a table, its cushions; rolling slows
/// them down. Coordinates are (x, y) of each ball.
///
/// Gaps: pairs (i, j), i < j, in order; then left, right, lower and upper cushion of each ball.
struct Billiards {
  using scalar_type = double;

  std::vector<double> masses;  ///< [kg], > 0
  std::vector<double> radii;   ///< [m], > 0, as many
  std::optional<BilliardTable> table = {};
  /// Deceleration of a rolling ball [m/s²], ≥ 0.
  double rolling = 0;
  /// Speed s below which that fades [m/s], > 0: the force is m a v/√(v² + s²), which is smooth.
  double soft_speed = 0.01;

  [[nodiscard]] Index ball_count() const noexcept { return Index(masses.size()); }
  [[nodiscard]] Index size() const noexcept { return 2 * ball_count(); }
  [[nodiscard]] Index gap_count() const noexcept {
    const Index n = ball_count();
    return n * (n - 1) / 2 + (table ? 4 * n : 0);
  }

  void write_lagrangian(const VectorX<double>&, const VectorX<double>& v, const double&,
                        LagrangianDerivatives<double>& out) const noexcept {
    write_free_lagrangian([this](Index k) { return mass_of(k); }, v, out);
  }
  void write_lagrangian_curvature(const VectorX<double>&, const VectorX<double>& v, const double&,
                                  LagrangianDerivatives<double>& out) const noexcept {
    write_free_lagrangian_curvature([this](Index k) { return mass_of(k); }, v, out);
  }

  void write_force(const VectorX<double>&, const VectorX<double>& v, const double&,
                   VectorX<double>& value, MatrixX<double>& by_q,
                   MatrixX<double>& by_v) const noexcept {
    by_q.setZero();
    by_v.setZero();
    for (Index k = 0; k < size(); k += 2) {
      const double x = v(k), y = v(k + 1);
      const double speed = std::sqrt(x * x + y * y + soft_speed * soft_speed);
      const double push = -rolling * mass_of(k) / speed;
      value(k) = push * x;
      value(k + 1) = push * y;
      by_v(k, k) = push * (1 - x * x / (speed * speed));
      by_v(k + 1, k + 1) = push * (1 - y * y / (speed * speed));
      by_v(k, k + 1) = by_v(k + 1, k) = -push * x * y / (speed * speed);
    }
  }

  void write_gaps(const VectorX<double>& q, VectorX<double>& out) const noexcept {
    const Index n = ball_count();
    Index row = 0;
    for (Index i = 0; i < n; ++i) {
      for (Index j = i + 1; j < n; ++j) {
        out(row++) = distance(q, i, j) - radii[std::size_t(i)] - radii[std::size_t(j)];
      }
    }
    for (Index i = 0; table && i < n; ++i) {
      const double radius = radii[std::size_t(i)];
      out(row++) = q(2 * i) - radius;
      out(row++) = table->width - q(2 * i) - radius;
      out(row++) = q(2 * i + 1) - radius;
      out(row++) = table->height - q(2 * i + 1) - radius;
    }
  }
  void write_gap_gradients(const VectorX<double>& q, MatrixX<double>& out) const noexcept {
    const Index n = ball_count();
    out.setZero();
    Index row = 0;
    for (Index i = 0; i < n; ++i) {
      for (Index j = i + 1; j < n; ++j, ++row) {
        const double length = distance(q, i, j);
        for (Index axis = 0; axis < 2; ++axis) {
          const double along = (q(2 * j + axis) - q(2 * i + axis)) / length;
          out(row, 2 * j + axis) = along;
          out(row, 2 * i + axis) = -along;
        }
      }
    }
    for (Index i = 0; table && i < n; ++i) {
      out(row++, 2 * i) = 1;
      out(row++, 2 * i) = -1;
      out(row++, 2 * i + 1) = 1;
      out(row++, 2 * i + 1) = -1;
    }
  }

 private:
  [[nodiscard]] double mass_of(Index coordinate) const noexcept {
    return masses[std::size_t(coordinate / 2)];
  }
  [[nodiscard]] static double distance(const VectorX<double>& q, Index i, Index j) noexcept {
    const double x = q(2 * j) - q(2 * i), y = q(2 * j + 1) - q(2 * i + 1);
    return std::sqrt(x * x + y * y);
  }
};

/// A system with the places and velocities it starts from.
struct BilliardsStart {
  Billiards balls;
  VectorX<double> q;         ///< [m]
  VectorX<double> velocity;  ///< [m/s]

  [[nodiscard]] VectorX<double> momentum() const {
    VectorX<double> p = velocity;
    for (Index k = 0; k < p.size(); ++k) p(k) *= balls.masses[std::size_t(k / 2)];
    return p;
  }
};

struct BreakShotOptions {
  double speed = 8;      ///< of the cue ball [m/s]
  double aim = 0.002;    ///< How far beside the rack's apex it is aimed [m]; 0 leaves ties.
  double rolling = 0.1;  ///< [m/s²]: cloth, about a hundredth of gravity.
  bool cushions = true;
};

/// The break of pool: a cue ball, ball 0, comes at a triangle of 15 balls that touch, apex first,
/// on a nine-foot table.
[[nodiscard]] inline BilliardsStart make_break_shot(const BreakShotOptions& options = {}) {
  constexpr double radius = 0.028575, mass = 0.17;
  constexpr int rows = 5;
  const BilliardTable table;
  BilliardsStart start;
  std::vector<double> places{table.width / 4, table.height / 2 + options.aim};
  for (int row = 0; row < rows; ++row) {
    for (int k = 0; k <= row; ++k) {
      places.push_back(0.75 * table.width + row * std::sqrt(3.0) * radius);
      places.push_back(table.height / 2 + (2 * k - row) * radius);
    }
  }
  start.q = Eigen::Map<const VectorX<double>>(places.data(), Index(places.size()));
  start.velocity.setZero(start.q.size());
  start.velocity(0) = options.speed;
  start.balls.masses.assign(places.size() / 2, mass);
  start.balls.radii.assign(places.size() / 2, radius);
  start.balls.rolling = options.rolling;
  if (options.cushions) start.balls.table = table;
  return start;
}

}  // namespace carom::examples
