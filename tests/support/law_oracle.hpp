// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "carom/contact/impulse_set.hpp"

#include "support/random.hpp"

/// @file
/// Coulomb's law and Signorini's for every shape of impulses, written out row by row from their
/// definitions, in long double: what the library says of a law is compared with this.
namespace carom::testing {

using Long = long double;

/// Rows that one friction bound holds together, with the semi-axis of each per unit of normal.
struct OracleBlock {
  std::vector<int> rows;
  std::vector<Long> friction;
};

/// Which row is the normal, and what it bounds.
struct OracleShape {
  int normal = -1;
  std::vector<OracleBlock> blocks;
};

template <typename Scalar>
[[nodiscard]] OracleShape shape_of(const ImpulseSet<Scalar>& set) {
  const Long a = set.friction(0), b = set.friction(1), c = set.friction(2);
  switch (set.shape) {
    case ImpulseShape::intervals:
      return {};
    case ImpulseShape::planar:
      return {1, {{{0}, {a}}}};
    case ImpulseShape::friction:
      return {2, {{{0, 1}, {a, a}}}};
    case ImpulseShape::elliptic:
      return {2, {{{0, 1}, {a, b}}}};
    case ImpulseShape::torsional:
      return {2, {{{0, 1}, {a, a}}, {{3}, {b}}}};
    case ImpulseShape::rolling:
      return {2, {{{0, 1}, {a, a}}, {{3, 4}, {b, b}}, {{5}, {c}}}};
    case ImpulseShape::ellipsoidal_torsional:
      return {2, {{{0, 1, 3}, {a, a, b}}}};
    case ImpulseShape::ellipsoidal_rolling:
      return {2, {{{0, 1, 3, 4, 5}, {a, a, b, b, c}}}};
    case ImpulseShape::spinless_rolling:
      return {2, {{{0, 1}, {a, a}}, {{3, 4}, {b, b}}}};
  }
  return {};
}

/// ‖μ ∘ u_b‖ of one block.
template <typename Rows>
[[nodiscard]] Long slip_of(const OracleBlock& block, const Rows& velocity) {
  Long squared = 0;
  for (std::size_t k = 0; k < block.rows.size(); ++k) {
    const Long x = block.friction[k] * Long(velocity(block.rows[k]));
    squared += x * x;
  }
  return std::sqrt(squared);
}

/// Σ_b ‖μ ∘ u_b‖.
template <typename Scalar, typename Rows>
[[nodiscard]] Long lift_of(const ImpulseSet<Scalar>& set, const Rows& velocity) {
  Long sum = 0;
  for (const OracleBlock& block : shape_of(set).blocks) sum += slip_of(block, velocity);
  return sum;
}

/// How far γ and u are from the law, each condition by itself; zero if they obey it. Impulses and
/// velocities are to be given in units in which both are about one.
template <typename Scalar, typename Rows>
[[nodiscard]] Long law_error(const ImpulseSet<Scalar>& set, const Rows& impulse,
                             const Rows& velocity) {
  Long error = 0;
  const auto see = [&](Long part) {
    error = std::max(error, std::isnan(part) ? Long(9e99) : part);
  };
  const OracleShape shape = shape_of(set);
  if (shape.normal < 0) {
    for (int i = 0; i < set.rows;
         ++i) {  // within bounds; u ≥ 0 below the upper, ≤ 0 above the lower
      const Long g = impulse(i), u = velocity(i), low = set.lower(i), high = set.upper(i);
      see(std::max({Long(0), low - g, g - high}));
      see(std::min(std::max(u, Long(0)), g - low));
      see(std::min(std::max(-u, Long(0)), high - g));
    }
    return error;
  }
  const auto held = [&](int row) { return Long(impulse(row)) + Long(set.shift(row)); };
  const Long push = held(shape.normal), leave = velocity(shape.normal);
  see(std::abs(std::min(push, leave)));
  for (const OracleBlock& block : shape.blocks) {
    const Long slip = slip_of(block, velocity);
    Long reach = 0, work = 0;  // ‖γ_b/μ‖, −γ_b·u_b
    for (std::size_t k = 0; k < block.rows.size(); ++k) {
      const Long g = held(block.rows[k]), mu = block.friction[k];
      if (mu == 0) {
        see(std::abs(g));
        continue;
      }
      reach += g / mu * (g / mu);
      work -= g * Long(velocity(block.rows[k]));
    }
    const Long radius = std::max(push, Long(0));
    reach = std::sqrt(reach);
    if (reach > radius) {  // how far out of the ellipse, at least
      for (std::size_t k = 0; k < block.rows.size(); ++k) {
        see(std::abs(held(block.rows[k])) * (1 - radius / reach));
      }
    }
    see(std::abs(radius * slip - work));  // the most that friction can take
  }
  return error;
}

/// Impulse and velocity that obey the law of a set.
struct LawPair {
  RowNumbers<double> impulse, velocity;
};

/// Draws a pair: open, stuck or sliding, block by block; boundaries now and then.
[[nodiscard]] inline LawPair draw_pair(VectorSource<double>& source,
                                       const ImpulseSet<double>& set) {
  LawPair pair{RowNumbers<double>::Zero(), RowNumbers<double>::Zero()};
  auto& [g, u] = pair;
  const OracleShape shape = shape_of(set);
  const auto sign = [&] { return 2 * source.unit() - 1; };
  if (shape.normal < 0) {
    for (int i = 0; i < set.rows; ++i) {
      const double low = set.lower(i), high = set.upper(i), where = source.unit();
      g(i) = std::clamp(3 * sign(), low, high);
      if (where < 0.4 && std::isfinite(low)) g(i) = low;
      if (where > 0.6 && std::isfinite(high)) g(i) = high;
      if (g(i) == low) u(i) = source.unit();
      if (g(i) == high) u(i) = low == high ? sign() : -source.unit();
    }
    return pair;
  }
  const bool open = source.unit() < 0.25;
  g(shape.normal) = open ? 0 : source.pick({0, 1, 1, 2}) * source.unit();
  u(shape.normal) = g(shape.normal) > 0 ? 0 : source.pick({0, 1}) * source.unit();
  for (const OracleBlock& block : shape.blocks) {
    const std::size_t size = block.rows.size();
    double x[5] = {};  // friction's direction, in units of μ
    double squared = 0;
    for (std::size_t k = 0; k < size; ++k) {
      x[k] = sign() * (block.friction[k] > 0 ? 1 : 0);
      squared += x[k] * x[k];
    }
    const double length = std::max(std::sqrt(squared), 1e-300);
    const bool slides = source.unit() < 0.5;
    const double reach = slides ? 1 : source.pick({0, 0.5, 1});
    for (std::size_t k = 0; k < size; ++k) {
      const int row = block.rows[k];
      const double mu = double(block.friction[k]);
      g(row) = mu * g(shape.normal) * reach * x[k] / length;
      if (mu == 0 || g(shape.normal) == 0) {
        u(row) = sign();
      } else if (slides) {
        u(row) = -x[k] / mu;
      }
    }
    if (slides) {
      const double speed = source.unit() * 2;
      for (const int row : block.rows) u(row) *= speed;
    }
  }
  g -= set.shift;
  return pair;
}

}  // namespace carom::testing
