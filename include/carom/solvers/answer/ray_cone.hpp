// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "carom/contact/coulomb_law.hpp"
#include "carom/contact/delassus_problem.hpp"
#include "carom/contact/dual.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The nearest direction in which the impulses of a set are unbounded. Under Coulomb's law a cone
/// has only its normal.
template <RealScalar Scalar>
[[nodiscard]] RowNumbers<Scalar> nearest_ray(const ImpulseSet<Scalar>& set, FrictionLaw law,
                                             const RowNumbers<Scalar>& given) noexcept {
  RowNumbers<Scalar> nearest = RowNumbers<Scalar>::Zero();
  const int n = normal_row(set.shape);
  if (n < 0) {
    for (int r = 0; r < set.rows; ++r) {
      const bool free = given(r) > Scalar(0) ? !is_finite(set.upper(r)) : !is_finite(set.lower(r));
      if (free) nearest(r) = given(r);
    }
    return nearest;
  }
  if (law == FrictionLaw::coulomb) {
    nearest(n) = (std::max)(given(n), Scalar(0));
    return nearest;
  }
  ImpulseSet<Scalar> cone = set;
  cone.shift.setZero();
  return nearest_impulse(cone, RowNumbers<Scalar>(RowNumbers<Scalar>::Ones()), given);
}

/// The rows of one contact, out of numbers for all rows.
template <RealScalar Scalar>
[[nodiscard]] RowNumbers<Scalar> contact_rows(const DelassusProblem<Scalar>& problem, Index contact,
                                              const VectorX<Scalar>& all) noexcept {
  RowNumbers<Scalar> rows = RowNumbers<Scalar>::Zero();
  const int count = problem.set(contact).rows;
  rows.head(count) = all.segment(problem.first_row(contact), count);
  return rows;
}

template <RealScalar Scalar>
[[nodiscard]] VectorX<Scalar> ray_in_cone(const DelassusProblem<Scalar>& problem, FrictionLaw law,
                                          const VectorX<Scalar>& given) {
  VectorX<Scalar> ray(problem.row_count());
  for (Index i = 0; i < problem.count(); ++i) {
    const int count = problem.set(i).rows;
    ray.segment(problem.first_row(i), count) =
        nearest_ray(problem.set(i), law, contact_rows(problem, i, given)).head(count);
  }
  return ray;
}

/// q by rows.
template <RealScalar Scalar>
[[nodiscard]] VectorX<Scalar> load_rows(const DelassusProblem<Scalar>& problem) {
  VectorX<Scalar> load(problem.row_count());
  problem.for_each_row(
      [&](Index row, const auto& place) { load(row) = problem.load(place.part)(place.row); });
  return load;
}

/// (W + R) r in parts: without q, so that what cancels leaves nothing but rounding.
template <RealScalar Scalar>
void write_products(const DelassusProblem<Scalar>& problem, const VectorX<Scalar>& parts,
                    VectorX<Scalar>& product) {
  product.resize(parts.size());
  if (problem.matrix_free()) {
    problem.product().multiply(problem.product().context, as_span(parts), as_span(product));
  }
  for (Index p = 0; p < problem.part_count(); ++p) {
    auto sum = product.template segment<3>(3 * p);
    if (!problem.matrix_free()) sum = problem.part_product(p, as_span(parts));
    sum += problem.regularization(p).cwiseProduct(parts.template segment<3>(3 * p));
  }
}

/// The same by rows.
template <RealScalar Scalar>
[[nodiscard]] VectorX<Scalar> row_products(const DelassusProblem<Scalar>& problem,
                                           const VectorX<Scalar>& ray) {
  VectorX<Scalar> parts, product, rows;
  problem.write_parts(ray, parts);
  write_products(problem, parts, product);
  problem.write_rows(product, rows);
  return rows;
}

/// Diagonal entry of W + R.
template <RealScalar Scalar>
[[nodiscard]] Scalar row_inverse_mass(const DelassusProblem<Scalar>& problem, Index contact,
                                      int row) noexcept {
  const auto [part, place] = problem.place_of(contact, row);
  return problem.diagonal(part)(place, place);
}

/// How many tangents share one μ that bounds nothing else: 1, 2, or 0 for shapes in which the
/// direction of uₜ alone does not determine that of the impulse.
template <RealScalar Scalar>
[[nodiscard]] int plain_tangents(const ImpulseSet<Scalar>& set) noexcept {
  switch (set.shape) {
    case ImpulseShape::planar:
      return 1;
    case ImpulseShape::friction:
    case ImpulseShape::torsional:
    case ImpulseShape::rolling:
      return 2;
    default:
      return 0;
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
