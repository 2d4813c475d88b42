// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "carom/contact/coulomb_law.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The scales of the errors of a block's rows, row by row.
template <RealScalar Scalar, int Rows>
struct RowScales {
  Vector<Scalar, Rows> velocity;      ///< V: velocity scale of the row's bodies [m/s, rad/s]
  Vector<Scalar, Rows> inverse_mass;  ///< w: the row's diagonal entry of W + R [1/kg, 1/(kg·m²)]
};

/// The largest of several errors, and the sum of their squares.
template <RealScalar Scalar>
struct ErrorSum {
  Scalar largest = 0, squared = 0;

  /// Adds an error. An error that is not finite counts as infinite.
  /// @param scale  V, the divisor of the error. If V is zero, any error counts as infinite.
  void add(const Scalar& error, const Scalar& scale) noexcept {
    const Scalar share = share_of(error, scale);
    largest = (std::max)(largest, share);
    squared += share * share;
  }
  /// Adds an error to the largest error only.
  void add_largest(const Scalar& error, const Scalar& scale) noexcept {
    largest = (std::max)(largest, share_of(error, scale));
  }
  /// Adds an error to the sum of squares only.
  void add_squared(const Scalar& error, const Scalar& scale) noexcept {
    const Scalar share = share_of(error, scale);
    squared += share * share;
  }

 private:
  [[nodiscard]] static Scalar share_of(const Scalar& error, const Scalar& scale) noexcept {
    using std::abs;
    Scalar share = abs(error);
    if (!(share == Scalar(0))) {
      share = scale > Scalar(0) ? Scalar(share / scale) : std::numeric_limits<Scalar>::infinity();
    }
    return is_finite(share) ? share : std::numeric_limits<Scalar>::infinity();
  }
};

/// Adds the error of a normal: |min(w γₙ, sₙ)|/V, Signorini's condition.
template <RealScalar Scalar>
void add_normal_error(const Scalar& impulse, const Scalar& velocity, const Scalar& scale,
                      const Scalar& inverse_mass, ErrorSum<Scalar>& sum) noexcept {
  const Scalar pushed = inverse_mass * impulse;
  if (!is_finite(Scalar(pushed + velocity))) {
    return sum.add(std::numeric_limits<Scalar>::infinity(), scale);
  }
  sum.add((std::min)(velocity, pushed), scale);
}

/// The error of x and z in the law of a disc of radius γₙ: ‖m x − P(m x − z)‖, where P is the
/// projection onto the disc of radius m γₙ. It is zero exactly if x is in the disc and, where z is
/// not zero, x is on the edge and opposite to z.
/// @param x, z  impulses divided by μ, and velocities multiplied by μ; `size` of each.
/// @param mobility  m.
template <RealScalar Scalar, std::size_t Most>
[[nodiscard]] Scalar disc_distance(int size, const std::array<Scalar, Most>& x,
                                   const std::array<Scalar, Most>& z, const Scalar& radius,
                                   const Scalar& mobility) noexcept {
  using std::sqrt;
  const Scalar bound = radius > Scalar(0) ? Scalar(mobility * radius) : Scalar(0);
  Scalar trial(0), slip(0);
  for (std::size_t k = 0; k < std::size_t(size); ++k) {
    const Scalar y = mobility * x[k] - z[k];
    trial += y * y;
    slip += z[k] * z[k];
  }
  const Scalar length = sqrt(trial);
  if (length <= bound) return sqrt(slip);  // the contact sticks
  Scalar off(0);
  for (std::size_t k = 0; k < std::size_t(size); ++k) {
    const Scalar miss = mobility * x[k] - bound / length * (mobility * x[k] - z[k]);
    off += miss * miss;
  }
  return sqrt(off);
}

/// The least reference impulse of a row: the impulse that changes its velocity by its scale V, V/w.
/// It is 0 if no velocity moves the row [N·s].
template <RealScalar Scalar>
[[nodiscard]] Scalar least_load(const Scalar& scale, const Scalar& inverse_mass) noexcept {
  return inverse_mass > Scalar(0) ? Scalar(scale / inverse_mass) : Scalar(0);
}

/// Adds the error of a disc, disc_distance()/V. A friction error as large as the load counts as V.
/// In the sum of squares the error counts by the velocity that it causes, and not more. A decrease
/// of the sum then decreases the error of the momentum.
/// @param load  The least reference impulse of the normal [N·s]. The reference impulse of friction
///              is the smaller one of it and of the disc's own, or γₙ if that is larger.
/// @param inverse_mass  m if there is no load.
template <RealScalar Scalar, std::size_t Most>
void add_disc_error(int size, const std::array<Scalar, Most>& x, const std::array<Scalar, Most>& z,
                    const Scalar& radius, const Scalar& load, const Scalar& scale,
                    const Scalar& inverse_mass, ErrorSum<Scalar>& sum) noexcept {
  const bool pressed = radius > Scalar(0);
  const Scalar own = least_load(scale, inverse_mass);
  const Scalar least = own > Scalar(0) ? (std::min)(load, own) : load;
  const Scalar whole = pressed ? (std::max)(least, radius) : least;
  const Scalar by_load = whole > Scalar(0) ? Scalar(scale / whole) : inverse_mass;
  const Scalar by_mass = pressed ? (std::min)(inverse_mass, Scalar(scale / radius)) : inverse_mass;
  sum.add_largest(disc_distance(size, x, z, radius, by_load), scale);
  sum.add_squared(disc_distance(size, x, z, radius, by_mass), scale);
}

/// Adds the error of a row between bounds, |m γ − P(m γ − u)|/V. m is the inverse mass of the row,
/// but limited such that the whole impulse counts at most as V.
template <RealScalar Scalar>
void add_interval_error(const Scalar& impulse, const Scalar& velocity, const Scalar& lower,
                        const Scalar& upper, const Scalar& scale, const Scalar& inverse_mass,
                        ErrorSum<Scalar>& sum) noexcept {
  using std::abs;
  const Scalar size = abs(impulse);
  Scalar mobility = inverse_mass;
  if (size > Scalar(0)) mobility = (std::min)(mobility, Scalar(scale / size));
  if (!(mobility > Scalar(0))) {  // no velocity moves the row, and a bound permits its velocity
    const bool excused = velocity < Scalar(0) ? !(impulse < upper) : !(impulse > lower);
    return sum.add(excused ? Scalar(0 * velocity) : velocity, scale);
  }
  const Scalar trial = impulse - velocity / mobility;
  if (trial < lower) return sum.add(mobility * (impulse - lower), scale);
  if (trial > upper) return sum.add(mobility * (impulse - upper), scale);
  sum.add(velocity, scale);
}

/// The error of one block under a law, relative to the scales of its bodies [-]. It is 0 exactly if
/// γ and u obey the law. The convex law is Coulomb's law with Σ ‖μ_b ∘ u_b‖ subtracted from the
/// normal velocity. One formula therefore serves both laws.
/// @cite  alart1991mixed for the map of Coulomb's law in two steps, normal and friction;
///        docs/derivations/measure.md.
template <RealScalar Scalar>
[[nodiscard]] ErrorSum<Scalar> block_error(FrictionLaw law, const ImpulseSet<Scalar>& set,
                                           const RowNumbers<Scalar>& impulse,
                                           const RowNumbers<Scalar>& velocity,
                                           const RowScales<Scalar, 6>& scales) noexcept {
  ErrorSum<Scalar> sum;
  const int n = normal_row(set.shape);
  if (n < 0) {
    for (int r = 0; r < set.rows; ++r) {
      add_interval_error(impulse(r), velocity(r), set.lower(r), set.upper(r), scales.velocity(r),
                         scales.inverse_mass(r), sum);
    }
    return sum;
  }
  const Scalar pressed = impulse(n) + set.shift(n);
  Scalar lift(0);
  if (law == FrictionLaw::convex) lift = de_saxce_lift(set, velocity);
  const Scalar load = least_load(scales.velocity(n), scales.inverse_mass(n));
  add_normal_error(pressed, Scalar(velocity(n) - lift), scales.velocity(n), scales.inverse_mass(n),
                   sum);
  for (const FrictionBlock<Scalar>& disc : FrictionBlocks<Scalar>(set)) {
    std::array<Scalar, 5> x{}, z{};
    Scalar scale(0), inverse_mass(0);
    int size = 0;
    for (int k = 0; k < disc.size; ++k) {
      const int row = disc.row(k);
      const Scalar& mu = disc.mu(k);
      if (!(mu > Scalar(0))) {  // no friction in this row
        sum.add(scales.inverse_mass(row) * (impulse(row) + set.shift(row)), scales.velocity(n));
        continue;
      }
      x[std::size_t(size)] = (impulse(row) + set.shift(row)) / mu;
      z[std::size_t(size)] = mu * velocity(row);
      scale = (std::max)(scale, Scalar(mu * scales.velocity(row)));
      inverse_mass += mu * mu * scales.inverse_mass(row);
      ++size;
    }
    if (size > 0) {
      add_disc_error(size, x, z, pressed, load, scale, Scalar(inverse_mass / Scalar(size)), sum);
    }
  }
  return sum;
}
/// The same for the three rows of a friction cone with μ > 0.
template <RealScalar Scalar>
[[nodiscard]] ErrorSum<Scalar> block_error(FrictionLaw law, const Scalar& friction,
                                           const Vector3<Scalar>& impulse,
                                           const Vector3<Scalar>& velocity,
                                           const RowScales<Scalar, 3>& scales) noexcept {
  using std::sqrt;
  ErrorSum<Scalar> sum;
  const std::array<Scalar, 2> x{impulse(0) / friction, impulse(1) / friction};
  const std::array<Scalar, 2> z{friction * velocity(0), friction * velocity(1)};
  Scalar lift(0);
  if (law == FrictionLaw::convex) lift = sqrt(z[0] * z[0] + z[1] * z[1]);
  add_normal_error(impulse(2), Scalar(velocity(2) - lift), scales.velocity(2),
                   scales.inverse_mass(2), sum);
  const Scalar mass = (scales.inverse_mass(0) + scales.inverse_mass(1)) / 2;
  add_disc_error(2, x, z, impulse(2), least_load(scales.velocity(2), scales.inverse_mass(2)),
                 Scalar(friction * scales.velocity(0)), Scalar(friction * friction * mass), sum);
  return sum;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
