// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "carom/solvers/search/law_slope.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Rows of a disc of a cone on the central path: ζ = k/2 + √(k²/4 + ‖μ ∘ u‖²), k = κ/γₙ, and
/// γ = −γₙ μ² ∘ u/ζ, differentiated at a given κ.
/// @cite  docs/derivations/interior_point.md, (3).
template <RealScalar Scalar, int Parts, typename Disc>
void write_path_disc(const BlockRows<Scalar, Parts>& block, const Disc& disc,
                     const PartNumbers<Scalar, Parts>& velocity, const Scalar& normal,
                     const Scalar& product, LawSlope<Scalar, Parts>& slope) noexcept {
  using std::sqrt;
  const auto place = [&](int k) { return disc.places[k]; };
  const Scalar half = product / (2 * normal);  // k/2
  Scalar squared(0);
  for (int k = 0; k < disc.size; ++k) {
    const Scalar x = disc.friction[k] * velocity(place(k));
    squared += x * x;
  }
  const Scalar root = sqrt(half * half + squared), zeta = half + root;
  for (int k = 0; k < disc.size; ++k) {
    const int p = place(k);
    const Scalar& mu = disc.friction[k];
    const Scalar slip = mu * mu * velocity(p) / zeta;
    slope.by_impulse(p, block.normal) = slip * (1 + half / root);
    slope.by_velocity(p, p) += normal * mu * mu / zeta;
    slope.by_upper(p, p) -= 2 * normal * mu * velocity(p) / zeta;
    for (int l = 0; l < disc.size; ++l) {
      const int q = place(l);
      const Scalar& nu = disc.friction[l];
      const Scalar turn = normal * slip / (zeta * root);
      slope.by_velocity(p, q) -= turn * nu * nu * velocity(q);
      slope.by_upper(p, q) += turn * nu * velocity(q) * velocity(q);
    }
  }
}

/// A block linearised at a point of Coulomb's central path, where γₙ uₙ = κ, in place of the law.
/// @param product  κ [J], > 0.
template <RealScalar Scalar, int Parts>
void write_path_slope(const BlockRows<Scalar, Parts>& block,
                      const PartNumbers<Scalar, Parts>& impulse,
                      const PartNumbers<Scalar, Parts>& velocity, const Scalar& product,
                      LawSlope<Scalar, Parts>& slope) noexcept {
  slope.clear();
  const auto hold = [&](int p, const Scalar& softness) {
    slope.by_impulse(p, p) = softness;
    slope.by_velocity(p, p) = 1;
  };
  if (block.is_cone()) {
    const int n = block.normal;
    const Scalar normal = impulse(n) + block.shift(n);
    hold(n, product / (normal * normal));
    for (int b = 0; b < block.disc_count; ++b) {
      write_path_disc(block, block.friction_disc(b), velocity, normal, product, slope);
    }
  } else if constexpr (Parts == 2) {
    for (int p = 0; p < block.size(); ++p) {
      if (!block.present(p)) continue;
      if (!(block.lower(p) < block.upper(p))) {
        slope.by_lower(p) = 1;
        continue;
      }
      const Scalar above = impulse(p) - block.lower(p), below = block.upper(p) - impulse(p);
      const Scalar push = product / (above * above), pull = product / (below * below);
      hold(p, push + pull);
      slope.by_lower(p) = push;
      slope.by_upper(p, p) = pull;
    }
  }
  slope.invert(block);
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
