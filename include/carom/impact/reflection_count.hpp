// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "carom/core/elementary.hpp"
#include "carom/impact/uniqueness.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Largest count of reflections of two contacts: ⌈π/(2γ)⌉ with c = −cos 2γ if both are infeasible,
/// one less (but at least one) if one is infeasible.
/// @cite seghete2014propagative, theorem 1, whose bound is a factor of two too large; here it is
///       halved.
template <RealScalar Scalar>
[[nodiscard]] Index pair_reflection_bound(const Scalar& product, bool both_infeasible) noexcept {
  const Scalar full = elementary::acos(std::clamp(-product, Scalar(-1), Scalar(1)));  // 2γ
  if (!(full > Scalar(0))) return (std::numeric_limits<Index>::max)();
  const Scalar count = std::numbers::pi_v<Scalar> / full;
  // A rounding of c changes the angle by the rounding divided by sin 2γ. Up to some 20000
  // reflections the count is accurate enough to distinguish integers. Beyond, the bound is never
  // too small.
  constexpr Scalar rounding = std::numeric_limits<Scalar>::epsilon();
  const Scalar slope = full * (std::max)(elementary::sin(full), std::sqrt(rounding));
  // Two roundings of c, and the roundings of the arc cosine, π and the quotient.
  constexpr int product_roundings = 2, count_roundings = 16;
  constexpr double known_count = 1e-3;  // reflections
  const Scalar slack = rounding * count * (count_roundings + product_roundings / slope);
  const Scalar least = slack < Scalar(known_count) ? count - slack : count + slack;
  const Index bound = (std::max)(Index(1), Index(std::ceil(least)));
  return both_infeasible ? bound : (std::max)(Index(1), bound - 1);
}

namespace detail {

/// The Gram matrix with each product near −cos(π/m) replaced by it. Roots of pairs with a large m
/// need many steps, in which an error of the products grows.
template <RealScalar Scalar>
[[nodiscard]] MatrixX<Scalar> exact_products(MatrixX<Scalar> gram) {
  const Scalar tolerance = std::sqrt(std::numeric_limits<Scalar>::epsilon()) / 16;
  for (Index i = 0; i < gram.rows(); ++i) {
    for (Index j = 0; j < gram.cols(); ++j) {
      const int label = i == j ? 0 : coxeter_label(gram(i, j), tolerance);
      if (label > 1) {
        gram(i, j) =
            label == 2 ? Scalar(0) : -elementary::cos(std::numbers::pi_v<Scalar> / Scalar(label));
      }
    }
  }
  return gram;
}

/// Entries of a root, and its products, are equal if their difference is below this [-]. It is less
/// than the difference π/(2m) of different roots, up to the largest label of coxeter_label(), 1e6.
inline constexpr double root_noise = 1e-6;

/// Largest difference between the entries of equal roots. Entries of different roots of a pair with
/// label m differ by π/(2m), while the entries grow to m/π.
template <RealScalar Scalar>
[[nodiscard]] Scalar same_root(const VectorX<Scalar>& root) noexcept {
  return Scalar(root_noise) +
         32 * std::numeric_limits<Scalar>::epsilon() * root.cwiseAbs().maxCoeff();
}

}  // namespace detail

/// Count of reflections of each admissible order when the outcome is certified unique: the count of
/// positive roots a with ⟨p, a⟩ < 0.
///
/// Positive roots are generated from the normals by reflections that increase their depth.
/// @param momentum    p⁻.
/// @param root_limit  largest count of generated roots; beyond it the result is −1.
/// @pre   classify(problem).unique().
/// @note  Cold: allocates; roots × contacts numbers.
/// @cite  mozes1990reflection, numbers game
template <RealScalar Scalar>
[[nodiscard]] Index predicted_reflections(const ImpactProblem<Scalar>& problem,
                                          const VectorX<Scalar>& momentum,
                                          Index root_limit = 100'000) {
  const Index count = problem.contact_count();
  const MatrixX<Scalar> gram = detail::exact_products<Scalar>(problem.gram());
  VectorX<Scalar> rates(count);
  for (Index i = 0; i < count; ++i) rates(i) = problem.rate(i, momentum);
  const Scalar zero = 64 * std::numeric_limits<Scalar>::epsilon() * problem.rate_scale(momentum);
  std::vector<VectorX<Scalar>> roots;
  for (Index i = 0; i < count; ++i) {
    if (problem.merged_into(i) < 0) roots.push_back(VectorX<Scalar>::Unit(count, i));
  }
  Index infeasible = 0;
  // start of the roots with a depth one larger than that of the k-th
  std::size_t deeper = roots.size();
  for (std::size_t k = 0; k < roots.size(); ++k) {
    if (Index(roots.size()) > root_limit) return -1;
    if (k == deeper) deeper = roots.size();
    const VectorX<Scalar> root = roots[k];
    if (root.dot(rates) < -zero) ++infeasible;
    const VectorX<Scalar> products = gram * root;
    for (Index i = 0; i < count; ++i) {
      if (problem.merged_into(i) >= 0 || !(products(i) < Scalar(-detail::root_noise))) continue;
      VectorX<Scalar> raised = root;
      raised(i) -= 2 * products(i);
      // A root after an increase has a depth larger by one, so an equal root is among those.
      const bool known =
          std::any_of(roots.begin() + std::ptrdiff_t(deeper), roots.end(), [&](const auto& other) {
            return (other - raised).cwiseAbs().maxCoeff() < detail::same_root(raised);
          });
      if (!known) roots.push_back(raised);
    }
  }
  return infeasible;
}

}  // namespace CAROM_ABI
}  // namespace carom
