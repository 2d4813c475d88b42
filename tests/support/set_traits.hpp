// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <tuple>

#include "carom/cones/box.hpp"
#include "carom/cones/ellipsoidal_cone.hpp"
#include "carom/cones/friction_cone.hpp"
#include "carom/cones/friction_pyramid.hpp"
#include "carom/cones/planar_cone.hpp"
#include "carom/cones/product_set.hpp"
#include "carom/cones/wrench_cone.hpp"

#include "support/random.hpp"
#include "support/worst_case.hpp"

/// @file
/// What the law suites must know of a set beyond its concept. A new set needs one overload of
/// convert, of write_input and, if it is a cone, of slice_norm; one of draw_weights if its metric
/// is not free.
namespace carom::testing {

// --- convert<To>(set): the same set over another scalar ---

template <typename To, typename From>
FrictionCone<To> convert(const FrictionCone<From>& cone) {
  return {To(cone.friction), To(cone.softness)};
}
template <typename To, typename From>
PlanarCone<To> convert(const PlanarCone<From>& cone) {
  return {To(cone.friction)};
}
template <typename To, typename From>
FrictionPyramid<To> convert(const FrictionPyramid<From>& cone) {
  return {To(cone.half_width)};
}
template <typename To, typename From>
TorsionalCone<To> convert(const TorsionalCone<From>& cone) {
  return {To(cone.friction), To(cone.torsional_friction)};
}
template <typename To, typename From>
RollingCone<To> convert(const RollingCone<From>& cone) {
  return {To(cone.friction), To(cone.rolling_friction), To(cone.torsional_friction)};
}
template <typename To, typename From>
SpinlessRollingCone<To> convert(const SpinlessRollingCone<From>& cone) {
  return {To(cone.friction), To(cone.rolling_friction)};
}
template <typename To, typename From, int Dimension>
EllipsoidalCone<To, Dimension> convert(const EllipsoidalCone<From, Dimension>& cone) {
  return {cone.friction.template cast<To>()};
}
template <typename To, typename From, int Dimension>
Box<To, Dimension> convert(const Box<From, Dimension>& box) {
  return {box.lower.template cast<To>(), box.upper.template cast<To>()};
}
template <typename To, typename... Sets>
auto convert(const ProductSet<Sets...>& product) {
  return std::apply(
      [](const auto&... factor) {
        return ProductSet<decltype(convert<To>(factor))...>{{convert<To>(factor)...}};
      },
      product.factors);
}

// --- write_input(out, set): its parameters ---

template <typename Scalar>
void write_input(InputText& out, const FrictionCone<Scalar>& cone) {
  out << cone.friction << ' ' << cone.softness;
}
template <SharedNormalCone Cone>
void write_input(InputText& out, const Cone& cone) {
  write_input(out, bounds(cone));
}
template <typename Scalar, int Dimension>
void write_input(InputText& out, const EllipsoidalCone<Scalar, Dimension>& cone) {
  write_input(out, cone.friction);
}
template <typename Scalar, int Dimension>
void write_input(InputText& out, const Box<Scalar, Dimension>& box) {
  write_input(out, box.lower);
  out << ".. ";
  write_input(out, box.upper);
}
template <typename... Sets>
void write_input(InputText& out, const ProductSet<Sets...>& product) {
  std::apply([&](const auto&... factor) { ((write_input(out, factor), out << " x "), ...); },
             product.factors);
}

// --- draw_weights(set, source, decades): a metric the set allows ---

template <typename Set, typename Scalar>
SetVector<Set> draw_weights(const Set&, VectorSource<Scalar>& source, double decades) {
  SetVector<Set> weights;
  for (Index i = 0; i < weights.size(); ++i) weights(i) = source.positive(decades);
  return weights;
}
template <typename Scalar>
Vector3<Scalar> draw_weights(const FrictionCone<Scalar>&, VectorSource<Scalar>& source,
                             double decades) {
  const Scalar tangent = source.positive(decades);
  return {tangent, tangent, source.positive(decades)};
}
template <SharedNormalCone Cone, typename Scalar>
SetVector<Cone> draw_weights(const Cone&, VectorSource<Scalar>& source, double decades) {
  SetVector<Cone> weights;
  weights(Cone::normal_index) = source.positive(decades);
  for (const auto& block : Cone::blocks) {
    weights.segment(block.start, block.size).setConstant(source.positive(decades));
  }
  return weights;
}
template <typename... Sets, typename Scalar>
SetVector<ProductSet<Sets...>> draw_weights(const ProductSet<Sets...>& product,
                                            VectorSource<Scalar>& source, double decades) {
  SetVector<ProductSet<Sets...>> weights;
  int start = 0;
  const auto fill = [&](const auto& factor) {
    const auto part = draw_weights(factor, source, decades);
    weights.segment(start, part.size()) = part;
    start += int(part.size());
  };
  std::apply([&](const auto&... factor) { (fill(factor), ...); }, product.factors);
  return weights;
}

// --- slice_norm(cone, weights): largest |γ|_R of a member whose normal entry is one. A point off
//     by δ in the metric leaves the dual inequality by at most δ times this. ---

template <typename Scalar>
long double slice_norm(const FrictionCone<Scalar>& cone, const Vector3<Scalar>& weights) {
  const long double mu = cone.friction;
  return std::sqrt(weights(2) + mu * mu * weights(0));
}
template <SharedNormalCone Cone>
long double slice_norm(const Cone& cone, const SetVector<Cone>& weights) {
  long double sum = weights(Cone::normal_index);
  for (std::size_t b = 0; b < Cone::blocks.size(); ++b) {
    const long double mu = bounds(cone)[b];
    sum += mu * mu * weights(Cone::blocks[b].start);
  }
  return std::sqrt(sum);
}
template <typename Scalar, int Dimension>
long double slice_norm(const EllipsoidalCone<Scalar, Dimension>& cone,
                       const Vector<Scalar, Dimension>& weights) {
  long double largest = 0;
  for (int i = 0; i < Dimension - 1; ++i) {
    const long double mu = cone.friction(i);
    largest = std::max(largest, mu * mu * weights(i < 2 ? i : i + 1));
  }
  return std::sqrt(weights(2) + largest);
}
template <typename... Sets>
long double slice_norm(const ProductSet<Sets...>& product,
                       const SetVector<ProductSet<Sets...>>& weights) {
  long double sum = 0;
  int start = 0;
  const auto add = [&]<typename Factor>(const Factor& factor) {
    const SetVector<Factor> part = weights.template segment<Factor::dimension>(start);
    sum += slice_norm(factor, part);
    start += Factor::dimension;
  };
  std::apply([&](const auto&... factor) { (add(factor), ...); }, product.factors);
  return sum;
}

}  // namespace carom::testing
