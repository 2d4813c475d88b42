// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "carom/contact/coulomb_law.hpp"
#include "carom/contact/delassus_problem.hpp"
#include "carom/contact/dual.hpp"
#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Constants of certify_infeasible() and refine_ray(). Each is a pure number [-]; ε is the rounding
/// unit of the scalar type.
///
/// Half and twice of each were measured on the problems of examples/scenes/infeasible.hpp, just
/// before and just beyond the threshold where their answer ends: docs/performance.md.
struct InfeasibilityTuning {
  /// A demand v̂·r is one where it is more than ε to this power times the speeds at its contacts:
  /// 3.7e-11 of them in double and 2.4e-5 in float. Gaps are differences of positions, whose
  /// rounding over the step is no small number of ε of a speed: 1 m, 1 ms and the 1 cm/s that
  /// gravity gives in it make 1e5 ε. A larger power takes such roundings for overlaps that no
  /// velocity can undo, and so calls bodies that fit their place exactly a contradiction; a smaller
  /// one leaves contradictions unproven that a contact would see at its tolerance.
  static constexpr double demand_power = 2.0 / 3.0;
  /// A contact belongs to the first guess of a ray where its impulse is more than the largest one
  /// divided by this. The others are added as they are needed.
  static constexpr double guess_range = 1000;
  /// Most rounds of a ray; each adds every column along which the slope still falls.
  static constexpr int column_rounds = 100;
  /// A ray is looked at more closely where its own rows leave less than this share of what they
  /// would move. Exact rays leave √ε of it before they are refined, 3e-4 in float.
  static constexpr double near_exact = 0.01;
  /// Steps by which a near ray is made exact, and how often it is looked for anew in units in which
  /// its momenta are alike. Two of each are enough where bodies are alike.
  static constexpr int polish_steps = 4, exact_rounds = 3;
  /// A direction becomes a column where the cost falls along it by more than so many ε times its
  /// own norm: rounding of the sums over the contacts would add columns without end.
  static constexpr int slope_roundings = 64;
  /// Roundings [ε of the sum of the absolute terms] that products of W or momenta, and sums of the
  /// load, may be off by. Roundings grow as the root of the number of terms: these cover some 250
  /// terms and some 60. Many more products would take a small momentum for none, many fewer load
  /// roundings a drive that is rounding for one: both prove too much. The other ways lose proofs.
  static constexpr int product_roundings = 16, load_roundings = 8;
};

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

/// The largest inverse mass of a contact's rows; 1 where none of its bodies moves.
template <RealScalar Scalar>
[[nodiscard]] Scalar largest_inverse_mass(const DelassusProblem<Scalar>& problem,
                                          Index contact) noexcept {
  Scalar largest(0);
  for (int r = 0; r < problem.set(contact).rows; ++r) {
    largest = (std::max)(largest, row_inverse_mass(problem, contact, r));
  }
  return largest > Scalar(0) ? largest : Scalar(1);
}

/// The inverse mass of the normal row; the largest one of a contact without a normal.
template <RealScalar Scalar>
[[nodiscard]] Scalar normal_inverse_mass(const DelassusProblem<Scalar>& problem,
                                         Index contact) noexcept {
  const int n = normal_row(problem.set(contact).shape);
  const Scalar own = n >= 0 ? row_inverse_mass(problem, contact, n) : Scalar(0);
  return own > Scalar(0) ? own : largest_inverse_mass(problem, contact);
}

/// √(Σ ‖J_kᵀ‖² r_k²), what a ray moves if its rows do not cancel.
template <RealScalar Scalar>
[[nodiscard]] Scalar gross_norm(const DelassusProblem<Scalar>& problem,
                                const VectorX<Scalar>& ray) {
  using std::sqrt;
  Scalar squared(0);
  problem.for_each_row([&](Index row, const auto& place) {
    squared += problem.diagonal(place.part)(place.row, place.row) * ray(row) * ray(row);
  });
  return sqrt(squared);
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
