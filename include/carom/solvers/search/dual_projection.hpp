// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "carom/solvers/impulse_certificate.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Writes numbers for the rows of a contact into parts.
template <RealScalar Scalar>
void scatter_rows(const DelassusProblem<Scalar>& problem, Index contact,
                  const RowNumbers<Scalar>& rows, Scalar* parts) noexcept {
  for (int r = 0; r < problem.set(contact).rows; ++r) {
    const auto [part, row] = problem.place_of(contact, r);
    parts[3 * part + row] = rows(r);
  }
}

/// Nearest impulses of all contacts in the metric of one weight per contact, in place.
template <RealScalar Scalar>
void project_all(const DelassusProblem<Scalar>& problem, Scalar* parts) noexcept {
  for (Index i = 0; i < problem.count(); ++i) {
    const ImpulseSet<Scalar>& set = problem.set(i);
    if (set.shape == ImpulseShape::friction) {
      Scalar* const y = parts + 3 * problem.first_part(i);
      const Vector3<Scalar> moved{y[0] + set.shift(0), y[1] + set.shift(1), y[2] + set.shift(2)};
      const auto nearest = project(FrictionCone<Scalar>{set.friction.x()}, moved).point;
      write_difference(nearest.data(), set.shift.data(), 3, y);
      continue;
    }
    const RowNumbers<Scalar> ones = RowNumbers<Scalar>::Ones();
    scatter_rows(problem, i, nearest_impulse(set, ones, gather_rows(problem, i, parts)), parts);
  }
}

/// De Saxcé's lift of a contact, from velocities in parts.
template <RealScalar Scalar>
[[nodiscard]] Scalar de_saxce_lift(const DelassusProblem<Scalar>& problem, Index contact,
                                   const Scalar* velocity) noexcept {
  const ImpulseSet<Scalar>& set = problem.set(contact);
  if (set.shape == ImpulseShape::friction) {
    const Scalar* const u = velocity + 3 * problem.first_part(contact);
    return carom::de_saxce_lift(FrictionCone<Scalar>{set.friction.x()},
                                Vector3<Scalar>(u[0], u[1], u[2]));
  }
  return carom::de_saxce_lift(set, gather_rows(problem, contact, velocity));
}

/// Where the normal row of a contact is in numbers in parts; of its first row between bounds.
template <RealScalar Scalar>
[[nodiscard]] Index normal_place(const DelassusProblem<Scalar>& problem, Index contact) noexcept {
  const bool bounds = problem.set(contact).shape == ImpulseShape::intervals;
  return 3 * problem.first_part(contact) + (bounds ? 0 : 2);
}

/// ‖r − P(r − u − lift n)‖ in impulses times w: the natural map of the convex problem that De
/// Saxcé's lift is held in.
template <RealScalar Scalar>
[[nodiscard]] Scalar held_natural_map(const DelassusProblem<Scalar>& problem, const Scalar* impulse,
                                      const Scalar* velocity, const Scalar* lift) noexcept {
  using std::sqrt;
  const Scalar w = problem.inverse_mass_scale();
  Scalar sum(0);
  for (Index i = 0; i < problem.count(); ++i) {
    RowNumbers<Scalar> u = gather_rows(problem, i, velocity);
    if (const int n = normal_row(problem.set(i).shape); n >= 0) u(n) += lift[i];
    sum += natural_map_squared(FrictionLaw::convex, problem.set(i),
                               gather_rows(problem, i, impulse), u, w);
  }
  return sqrt(sum);
}

/// Mean of W + R over the diagonal of every contact's rows, spread over its parts: the metric a
/// projection may have without more work. Positive everywhere.
template <RealScalar Scalar>
void write_contact_weights(const DelassusProblem<Scalar>& problem, Scalar* weights) noexcept {
  const Scalar mean = problem.inverse_mass_scale();
  // The lower bound, a share of the mean, keeps steps finite where a contact's own W + R is nearly
  // zero. Other shares were not measured.
  constexpr double least_share = 1e-3;
  const Scalar least = mean * Scalar(least_share);
  for (Index i = 0; i < problem.count(); ++i) {
    Scalar trace(0);
    const Index first = problem.first_part(i);
    for (int p = 0; p < problem.parts(i); ++p) {
      const auto& diagonal = problem.diagonal(first + p);
      for (int k = 0; k < 3; ++k) trace += diagonal(k, k);
    }
    const Scalar own = trace / Scalar(problem.set(i).rows);
    const Scalar weight = own > least ? own : least;
    for (int k = 0; k < 3 * problem.parts(i); ++k) weights[3 * first + k] = weight;
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
