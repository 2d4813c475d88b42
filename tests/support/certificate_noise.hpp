// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "carom/contact/contact_problem.hpp"
#include "carom/contact/coulomb_law.hpp"
#include "carom/contact/delassus_problem.hpp"

#include "support/residual_noise.hpp"
#include "support/tolerance.hpp"

/// @file
/// By how much a certificate, which is an upper bound with all rounding, may exceed the exact
/// measure: the sizes of the numbers that are added, times a unit of rounding for each that is.
namespace carom::testing {

/// What rounding can do to the natural map error of impulses [-], as it is and relative to ‖q‖.
template <typename Scalar>
struct NaturalMapNoise {
  Scalar relative, absolute;
};

/// A row's sum u = (W + R) γ + q is off by a rounding for each term, of the sum of their sizes.
/// Ten more come with the trial point and its projection. De Saxcé's lift adds those of the
/// tangents times μ to the normal's. Rows of a block share what is open of their projection, which
/// is up to twice the error of the trial point: with six rows, 2 √6 < 5.
template <typename Scalar>
[[nodiscard]] NaturalMapNoise<Scalar> natural_map_noise(const DelassusProblem<Scalar>& problem,
                                                        FrictionLaw law,
                                                        const VectorX<Scalar>& impulse) {
  VectorX<Scalar> gamma(3 * problem.part_count()), velocity(gamma.size());
  problem.write_parts(impulse, gamma);
  problem.write_velocities(as_span(gamma), as_span(velocity));
  const Scalar w = problem.inverse_mass_scale();
  Scalar squared = 0;
  for (Index i = 0; i < problem.count(); ++i) {
    const ImpulseSet<Scalar>& set = problem.set(i);
    RowNumbers<Scalar> off = RowNumbers<Scalar>::Zero();
    for (int r = 0; r < set.rows; ++r) {
      const auto [part, row] = problem.place_of(i, r);
      const Scalar own = std::abs(gamma(3 * part + row));
      Scalar size = problem.regularization(part)(row) * own + std::abs(problem.load(part)(row));
      int terms = 2;
      for (const auto* n = problem.begin(part); n != problem.end(part); ++n) {
        for (int c = 0; c < 3; ++c, ++terms) {
          size += std::abs(n->matrix(row, c) * gamma(3 * Index(n->part) + c));
        }
      }
      off(r) = rounding(terms + 10, size + w * (own + std::abs(set.shift(r))));
    }
    if (law == FrictionLaw::coulomb) off = de_saxce_velocity(set, off);
    squared += 25 * off.squaredNorm();
  }
  const Scalar load = problem.load_norm();
  const Scalar scale = std::max({load, Scalar(w * gamma.norm()), velocity.norm()});
  const Scalar noise = std::sqrt(squared);
  return {scale > 0 ? noise / scale : noise, load > 0 ? noise / load : noise};
}

/// The same of a bound of ‖v − v_opt‖_A, or of the momentum balance of (v, γ) [√J].
template <typename Scalar>
[[nodiscard]] Scalar velocity_bound_noise(const ContactProblem<Scalar>& problem,
                                          const VectorX<Scalar>& velocity,
                                          const VectorX<Scalar>& impulse) {
  return 4 * momentum_noise(problem, velocity, impulse);
}

}  // namespace carom::testing
