// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "support/set_laws.hpp"

/// @file
/// The laws of ConvexConeLike on top of those of a convex set (docs/derivations/cones.md, eq. 2).
namespace carom::testing {

/// R x, computed where products cannot leave the type's range.
template <typename Vector>
[[nodiscard]] Vector weighted(const Vector& weights, const Vector& x) {
  return weights.cwiseProduct(x);
}

template <ConvexConeLike Cone, typename Draw>
void check_moreau_laws(const Draw& draw_cone, int count) {
  WorstCase dual("-R (y - P) lies in the dual cone"), orthogonal("P' R (y - P) = 0");
  WorstCase homogeneous("positively homogeneous"), apex("P(0) = 0");
  for_each_sample<Cone>(
      draw_cone, count, 21, 12,
      [&](const Cone& cone, const auto& weights, const auto& y, auto& source) {
        using Scalar = typename Cone::scalar_type;
        const SetVector<Cone> p = project(cone, weights, y).point;
        const long double allowance = projection_allowance(weights, y);
        const SetVector<Cone> rest = y - p;
        const SetVector<Cone> u = -weighted(weights, rest);
        const Scalar slack = static_cast<Scalar>(allowance * slice_norm(cone, weights));
        dual.see_holds(in_dual(cone, u, slack), cone, weights, y, p);
        orthogonal.see(std::abs(inner_in(weights, p, rest)), allowance * norm_in(weights, y), cone,
                       weights, y, p);

        const Scalar stretch = source.positive(6);
        const SetVector<Cone> stretched = stretch * y;
        const SetVector<Cone> p_stretched = stretch * p;
        homogeneous.see(distance_in(weights, project(cone, weights, stretched).point, p_stretched),
                        projection_allowance(weights, stretched), cone, weights, y, stretch);
        const SetVector<Cone> zero = SetVector<Cone>::Zero();
        apex.see_holds(project(cone, weights, zero).point == zero, cone, weights);
      });
  for (const WorstCase* law : {&dual, &orthogonal, &homogeneous, &apex}) law->check(count);
}

template <ConvexConeLike Cone, typename Draw>
void check_dual_laws(const Draw& draw_cone, int count) {
  WorstCase pairs("members and dual members pair to >= 0");
  WorstCase witness("a vector outside the dual has a member against it");
  WorstCase mirror("the polar is the mirrored dual"), cone_law("members scale");
  for_each_sample<Cone>(
      draw_cone, count, 22, 12, [&](const Cone& cone, const auto&, const auto& u, auto& source) {
        using Scalar = typename Cone::scalar_type;
        const SetVector<Cone> ones = SetVector<Cone>::Ones();
        const SetVector<Cone> z = draw_member(cone, source);
        const SetVector<Cone> mirrored = -u;
        const SetVector<Cone> against = project(cone, mirrored).point;
        const long double allowance = projection_allowance(ones, u);
        if (in_dual(cone, u)) {
          const long double pairing = inner_in(ones, u, z);
          pairs.see(std::max(-pairing, 0.0L), allowance * norm_in(ones, z), cone, u, z);
          witness.see(norm_in(ones, against), allowance, cone, u, against);
        } else {
          const Scalar slack = static_cast<Scalar>(allowance * slice_norm(cone, ones));
          witness.see_holds(in_dual(cone, u, slack) || inner_in(ones, u, against) < 0, cone, u,
                            against);
        }
        mirror.see_holds(in_polar(cone, u) == in_dual(cone, mirrored), cone, u);
        const SetVector<Cone> longer = Scalar(4) * z;
        const Scalar slack = rounding(8, longer.norm());
        cone_law.see_holds(!contains(cone, z) || contains(cone, longer, slack), cone, z);
      });
  pairs.check(0);
  for (const WorstCase* law : {&witness, &mirror, &cone_law}) law->check(count);
}

template <ConvexConeLike Cone, typename Draw>
void check_separate_region_law(const Draw& draw_cone, int count) {
  WorstCase separate("separate is the polar cone"), slide("slide ends off the apex");
  for_each_sample<Cone>(
      draw_cone, count, 23, 12, [&](const Cone& cone, const auto& weights, const auto& y, auto&) {
        using Scalar = typename Cone::scalar_type;
        const auto [p, region] = project(cone, weights, y);
        const SetVector<Cone> q = weighted(weights, y);
        const Scalar slack =
            static_cast<Scalar>(projection_allowance(weights, y) * slice_norm(cone, weights));
        const bool polar = q.norm() > Scalar(0) &&
                           deep_inside(q, slack, [&](const auto& x) { return in_polar(cone, x); });
        const SetVector<Cone> zero = SetVector<Cone>::Zero();
        if (region == ConeRegion::separate) {
          separate.see_holds(p == zero && in_polar(cone, q, slack), cone, weights, y, p);
        } else {
          separate.see_holds(!polar, cone, weights, y, p, region);
        }
        if (region == ConeRegion::slide)
          slide.see_holds(p != zero || in_polar(cone, q, slack), cone, weights, y, p);
      });
  separate.check(count);
  slide.check(0);
}

/// All laws of a convex cone, for cones drawn by draw_cone(source).
template <ConvexConeLike Cone, typename Draw>
void check_cone_laws(const Draw& draw_cone, int count = 600) {
  check_set_laws<Cone>(draw_cone, count);
  check_moreau_laws<Cone>(draw_cone, count);
  check_dual_laws<Cone>(draw_cone, count);
  check_separate_region_law<Cone>(draw_cone, count);
}

/// x with every tangent pair turned by the same angle about the normal: force t₁, t₂ and, in six
/// dimensions, moment t₁, t₂.
template <typename Vector>
[[nodiscard]] Vector turned(const Vector& x, double angle) {
  using Scalar = typename Vector::Scalar;
  const Scalar c = Scalar(std::cos(angle)), s = Scalar(std::sin(angle));
  Vector result = x;
  for (Index start = 0; start + 2 < x.size(); start += 3) {
    result(start) = c * x(start) - s * x(start + 1);
    result(start + 1) = s * x(start) + c * x(start + 1);
  }
  return result;
}

/// P turns with its argument, for cones that are isotropic in the tangent plane.
template <ConvexConeLike Cone, typename Draw>
void check_rotation_law(const Draw& draw_cone, int count = 400) {
  WorstCase turns("equivariant under rotation about n");
  VectorSource<typename Cone::scalar_type> angles(24);
  for_each_sample<Cone>(
      draw_cone, count, 25, 12, [&](const Cone& cone, const auto& drawn, const auto& y, auto&) {
        SetVector<Cone> weights = drawn;
        for (Index start = 0; start + 2 < y.size(); start += 3) weights(start + 1) = weights(start);
        const double angle = 6.2 * angles.unit();
        const SetVector<Cone> first_turned = turned(y, angle);
        turns.see(distance_in(weights, project(cone, weights, first_turned).point,
                              turned(SetVector<Cone>(project(cone, weights, y).point), angle)),
                  projection_allowance(weights, y), cone, weights, y, angle);
      });
  turns.check(count);
}

}  // namespace carom::testing
