// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <type_traits>

#include "carom/contact/delassus_form.hpp"
#include "carom/contact/detail/delassus_islands.hpp"
#include "carom/solvers/answer/exact_ray.hpp"
#include "carom/solvers/infeasibility.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// @file
/// Finds rays that certify_infeasible() accepts. If no impulses obey the law, those of a solver
/// grow without end, and their direction is a good first guess of a ray.

/// Finds the ray of the largest −q·r/√(rᵀ(W + R)r). If the problem has no answer, this ray is a
/// proof; it is nonzero in one island only. If the problem has an answer, the quotient is the
/// distance ‖v − v*‖_A from v* to the answer of the convex law.
/// @param impulse  γ, row_count(), a guess of the ray's direction: contacts with small impulses in
///                 it are omitted at first. It is ignored if it is empty, zero or not finite.
/// @return  r, row_count(), scaled such that its rows without cancellation would move the bodies by
///          1 √J; zero if v* satisfies the gaps.
/// @note  Cold: allocates; the work grows with the cube of the count of contacts in the ray.
/// @cite  lawson1974solving, chapter 23, the distance problem: with columns that are added when
///        they are needed.
template <RealScalar Scalar>
[[nodiscard]] VectorX<Scalar> refine_ray(const DelassusProblem<Scalar>& problem, FrictionLaw law,
                                         const std::type_identity_t<VectorX<Scalar>>& impulse = {});

/// The same for a problem given by bodies. First, a ray that cancels to the last digit is searched.
/// If there is none, the best ray is returned.
/// @param impulse  γ, impulse_count().
template <RealScalar Scalar>
[[nodiscard]] VectorX<Scalar> refine_ray(const ContactProblem<Scalar>& problem, FrictionLaw law,
                                         const std::type_identity_t<VectorX<Scalar>>& impulse = {});

/// Finds the multipliers of a slide, as the ray of a problem in which the contact cannot slide
/// along t: the normals, and a row that requires t·uₜ ≤ 0.
/// @param direction  t, of uₜ, not zero; for planar contacts its first entry.
/// @return  multipliers; certify_infeasible() states whether they prove the slide.
/// @note  Cold: allocates.
template <RealScalar Scalar>
[[nodiscard]] KnownSlide<Scalar> find_slide(const DelassusProblem<Scalar>& problem, Index contact,
                                            const Vector<Scalar, 2>& direction);

/// The same for a problem given by bodies.
template <RealScalar Scalar>
[[nodiscard]] KnownSlide<Scalar> find_slide(const ContactProblem<Scalar>& problem, Index contact,
                                            const Vector<Scalar, 2>& direction) {
  DelassusForm<Scalar> form;
  DelassusProblem<Scalar> dual;
  form.write(problem, dual);
  return find_slide(dual, contact, direction);
}

// --- implementation ---

namespace detail {

/// Scales a ray to the size used by certify_infeasible().
template <RealScalar Scalar>
void scale_ray(const DelassusProblem<Scalar>& problem, VectorX<Scalar>& ray) {
  const Scalar gross = gross_norm(problem, ray);
  if (gross > Scalar(0)) ray /= gross;
}

}  // namespace detail

template <RealScalar Scalar>
VectorX<Scalar> refine_ray(const DelassusProblem<Scalar>& problem, FrictionLaw law,
                           const std::type_identity_t<VectorX<Scalar>>& impulse) {
  CAROM_EXPECTS(impulse.size() == 0 || impulse.size() == problem.row_count());
  const bool known = impulse.size() == problem.row_count() && impulse.allFinite();
  const VectorX<Scalar> guess = known ? impulse : VectorX<Scalar>::Zero(problem.row_count());
  VectorX<Scalar> ray = VectorX<Scalar>::Zero(problem.row_count());
  if (!problem.is_finite()) return ray;
  if (problem.matrix_free()) {
    ray = detail::refine_island_ray(problem, law, guess);
    detail::scale_ray(problem, ray);
    return ray;
  }
  DelassusIslands<Scalar> islands;
  islands.find(problem);
  DelassusProblem<Scalar> part;
  Scalar best(0);  // drive of an exact ray, which replaces all others
  for (Index island = 0; island < islands.count(); ++island) {
    islands.write(problem, island, part);
    VectorX<Scalar> own(part.row_count());
    detail::for_each_island_row(problem, islands.contacts(island),
                                [&](Index row, Index place) { own(place) = guess(row); });
    own = detail::refine_island_ray(part, law, own);
    detail::scale_ray(part, own);
    const detail::DualRayMeasures<Scalar> measures(part);
    const Scalar net = measures.net(own);
    const bool exact = !(net > Scalar(0));
    const Scalar drive = measures.load(own, exact).drive();
    if (!(drive > Scalar(0)) || (exact ? drive <= best : best > Scalar(0))) continue;
    if (exact) ray.setZero();
    if (exact) best = drive;
    // Of rays that move bodies the sum counts by its quotients squared, weighted like this.
    const Scalar weight = exact ? Scalar(1) : drive / (net * net);
    detail::for_each_island_row(problem, islands.contacts(island),
                                [&](Index row, Index place) { ray(row) = weight * own(place); });
  }
  detail::scale_ray(problem, ray);
  return ray;
}

template <RealScalar Scalar>
VectorX<Scalar> refine_ray(const ContactProblem<Scalar>& problem, FrictionLaw law,
                           const std::type_identity_t<VectorX<Scalar>>& impulse) {
  CAROM_EXPECTS(impulse.size() == 0 || impulse.size() == problem.impulse_count());
  const bool known = impulse.size() == problem.impulse_count() && impulse.allFinite();
  const VectorX<Scalar> guess = known ? impulse : VectorX<Scalar>::Zero(problem.impulse_count());
  DelassusForm<Scalar> form;
  DelassusProblem<Scalar> dual;
  form.write_matrix_free(problem, dual);
  if (!dual.is_finite()) return VectorX<Scalar>::Zero(problem.impulse_count());
  VectorX<Scalar> exact = detail::ExactRay<Scalar>(problem, dual, law).find(guess);
  if (exact.size() > 0) {
    detail::scale_ray(dual, exact);
    return exact;
  }
  form.write(problem, dual);
  return refine_ray(dual, law, guess);
}

template <RealScalar Scalar>
KnownSlide<Scalar> find_slide(const DelassusProblem<Scalar>& problem, Index contact,
                              const Vector<Scalar, 2>& direction) {
  CAROM_EXPECTS(contact >= 0 && contact < problem.count());
  KnownSlide<Scalar> slide{contact, direction, {}};
  const int tangents = detail::plain_tangents(problem.set(contact));
  if (tangents == 0 || !(direction.head(tangents).norm() > Scalar(0)) || !problem.is_finite()) {
    return slide;
  }
  const Vector<Scalar, 2> t = direction / direction.head(tangents).norm();
  RowNumbers<Scalar> against = RowNumbers<Scalar>::Zero();
  against.head(tangents) = -t.head(tangents);
  detail::RayColumns<Scalar> columns(problem, FrictionLaw::coulomb);
  columns.add(contact, against, true);
  if (!columns.weigh()) return slide;
  columns.solve(detail::InfeasibilityTuning::column_rounds);
  VectorX<Scalar> ray = columns.ray();
  auto own = ray.segment(problem.first_row(contact), tangents);
  const Scalar share = -own.dot(t.head(tangents));
  if (!(share > Scalar(0))) return slide;
  own.setZero();
  slide.multipliers = ray / share;
  return slide;
}

}  // namespace CAROM_ABI
}  // namespace carom
