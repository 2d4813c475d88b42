// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "carom/contact/detail/impulse_derivative.hpp"
#include "carom/linalg/detail/lu.hpp"
#include "carom/solvers/search/active_block.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Coulomb's law of one block, linearised at impulses and velocities that obey it:
/// P dγ + Q du = B dθ, du = J dv + R dγ + what data add to u.
///
/// What is open or at a bound has dγ = 0, what is held has du = 0. A disc that slides has
/// γ = γₙ μ ∘ t, t = −μ ∘ u/‖μ ∘ u‖, so dγ − μ ∘ t dγₙ + χ μ ∘ (I − t tᵀ)(μ ∘ du + u ∘ dμ) =
/// γₙ t ∘ dμ, χ = γₙ/‖μ ∘ u‖. All numbers are by places in parts.
///
/// The convex law is Coulomb's with uₙ − Σ ‖μ ∘ u‖ in place of uₙ, so that the normal of what
/// slides has duₙ + Σ (μ ∘ t)ᵀ du = −Σ (t ∘ u)ᵀ dμ.
/// @cite  alart1991mixed for the regions of the law; the derivation is the implicit function
///        theorem, region by region.
template <RealScalar Scalar, int Parts>
struct LawSlope {
  using Block = BlockRows<Scalar, Parts>;
  using Numbers = PartNumbers<Scalar, Parts>;
  using Matrix = PartMatrix<Scalar, Parts>;

  Matrix by_impulse;   ///< P + Q R [-] and [1/kg] in rows that are held
  Matrix by_velocity;  ///< Q [kg], [-] in rows that are held
  Matrix inverse;      ///< C = (P + Q (R + s))⁻¹, s the softness of what is held
  Matrix gain;         ///< N = C Q [kg]
  Matrix by_upper;     ///< B of upper bounds and of μ
  Numbers by_lower;    ///< B of lower bounds, a diagonal
  bool softened;       ///< whether s matters: s = ε w in rows of R < ε w, 0 in all others
  Scalar margin;       ///< distance of the trial impulse from the next region times w [m/s], ≥ 0
  RegionBoundary nearest;  ///< the boundary at that distance

  /// Linearises.
  /// @param slack  margin [m/s], ≥ 0, below which a block is on a boundary; it is then taken as
  ///               closed, as stuck, as between its bounds.
  void write(const Block& block, const Numbers& impulse, const Numbers& velocity,
             const Scalar& slack) noexcept {
    clear();
    if constexpr (Parts == 1) {
      write_triple(block, impulse, velocity, slack);
    } else {
      if (block.is_cone()) {
        write_cone(block, impulse, velocity, slack);
      } else {
        write_intervals(block, impulse, velocity, slack);
      }
      invert(block);
    }
    if (margin > slack) nearest = RegionBoundary::none;
  }

  /// Linearises the convex law.
  void write_convex(const Block& block, const Numbers& impulse, const Numbers& velocity,
                    const Scalar& slack) noexcept {
    if (!block.is_cone()) return write(block, impulse, velocity, slack);
    Numbers lowered = velocity;
    lowered(block.normal) -= de_saxce_lift(block.impulse_set(), rows_of_parts(block, velocity));
    write(block, impulse, lowered, slack);
    if (by_velocity(block.normal, block.normal) == Scalar(0)) return;  // open
    lift(block, velocity, slack);
  }

  /// Whether impulses answer to velocities at all.
  [[nodiscard]] bool closed() const noexcept { return !by_velocity.is_zero(); }
  /// A block that is open, on no boundary.
  void clear() noexcept {
    by_impulse = inverse = Matrix::identity();
    by_velocity = gain = by_upper = {};
    by_lower = {};
    softened = false;
    margin = std::numeric_limits<Scalar>::infinity();
    nearest = RegionBoundary::none;
  }
  /// C and N, and P + Q R of P.
  void invert(const Block& block) noexcept {
    for (int c = 0; c < 3 * Parts; ++c) {
      for (int r = 0; r < 3 * Parts; ++r) {
        by_impulse(r, c) += by_velocity(r, c) * block.regularization(c);
      }
    }
    invert_softened(block);
  }

 private:
  void invert_softened(const Block& block) noexcept;
  void lift(const Block& block, const Numbers& velocity, const Scalar& slack) noexcept;
  [[nodiscard]] static Scalar mass_of(const Block& block) noexcept {
    return block.inverse_mass > Scalar(0) ? block.inverse_mass : Scalar(1);
  }
  /// s of a place of the block.
  [[nodiscard]] static Scalar softness(const Block& block, int place) noexcept {
    const Scalar soft = held_softness<Scalar>() * mass_of(block);
    return block.regularization(place) < soft ? soft : Scalar(0);
  }
  void see(RegionBoundary boundary, const Scalar& distance) noexcept {
    using std::abs;
    if (abs(distance) >= margin) return;
    margin = abs(distance);
    nearest = boundary;
  }
  void hold(int place) noexcept {
    by_impulse(place, place) = 0;
    by_velocity(place, place) = 1;
  }

  /// A friction contact, whose inverse is known.
  void write_triple(const Block& block, const Numbers& impulse, const Numbers& velocity,
                    const Scalar& slack) noexcept {
    using std::sqrt;
    const Scalar w = mass_of(block), soft = softness(block, 0);
    const Scalar& mu = block.disc.friction[0];
    const Scalar reach = impulse(2) + block.shift(2) - velocity(2) / w;
    see(RegionBoundary::open_closed, reach * w);
    if (!(reach * w >= -slack)) return;
    const Scalar normal = reach > Scalar(0) ? reach : Scalar(0);
    by_velocity(2, 2) = 1;
    by_impulse(2, 2) = block.regularization(2);
    const Scalar held = 1 / (block.regularization(2) + softness(block, 2));
    softened = soft > Scalar(0) || softness(block, 2) > Scalar(0);
    inverse(2, 2) = gain(2, 2) = held;
    const Scalar y[2] = {impulse(0) + block.shift(0) - velocity(0) / w,
                         impulse(1) + block.shift(1) - velocity(1) / w};
    const Scalar length = sqrt(y[0] * y[0] + y[1] * y[1]);
    const Scalar slip = sqrt(velocity(0) * velocity(0) + velocity(1) * velocity(1));
    const Scalar over = (length - mu * normal) * w;
    see(RegionBoundary::stick_slide, over);
    const Scalar& r = block.regularization(0);
    if (!(over > slack && slip > Scalar(0))) {
      for (int k = 0; k < 2; ++k) {
        by_velocity(k, k) = 1;
        by_impulse(k, k) = r;
        inverse(k, k) = gain(k, k) = 1 / (r + soft);
      }
      return;
    }
    const Scalar t[2] = {y[0] / length, y[1] / length};
    const Scalar turn = mu * normal / slip, share = 1 / (1 + turn * (r + soft));
    for (int k = 0; k < 2; ++k) {
      by_impulse(k, 2) = -mu * t[k];
      inverse(k, 2) = gain(k, 2) = mu * t[k] * held;
      by_upper(k, 0) = by_upper(k, 1) = normal * t[k] / 2;  // μ stands in both rows
      for (int l = 0; l < 2; ++l) {
        const Scalar across = (k == l ? Scalar(1) : Scalar(0)) - t[k] * t[l];
        by_velocity(k, l) = turn * across;
        by_impulse(k, l) += turn * r * across;
        inverse(k, l) += (share - 1) * across;
        gain(k, l) = share * turn * across;
      }
    }
  }

  void write_intervals(const Block& block, const Numbers& impulse, const Numbers& velocity,
                       const Scalar& slack) noexcept {
    const Scalar w = mass_of(block);
    for (int p = 0; p < block.size(); ++p) {
      if (!block.present(p)) continue;
      const Scalar y = impulse(p) - velocity(p) / w;
      const Scalar above = (y - block.lower(p)) * w, below = (block.upper(p) - y) * w;
      see(RegionBoundary::bound, above);
      see(RegionBoundary::bound, below);
      if (block.lower(p) < block.upper(p) && above >= -slack && below >= -slack) {
        hold(p);
      } else if (below < above) {
        by_upper(p, p) = 1;
      } else {
        by_lower(p) = 1;
      }
    }
  }

  void write_cone(const Block& block, const Numbers& impulse, const Numbers& velocity,
                  const Scalar& slack) noexcept {
    const Scalar w = mass_of(block);
    const int n = block.normal;
    const Scalar reach = impulse(n) + block.shift(n) - velocity(n) / w;
    see(RegionBoundary::open_closed, reach * w);
    if (!(reach * w >= -slack)) return;
    hold(n);
    const Scalar normal = reach > Scalar(0) ? reach : Scalar(0);
    visit_friction_blocks(block.set, [&](const auto& disc) {
      write_disc(block, disc, impulse, velocity, normal, slack);
    });
  }
  template <typename Disc>
  void write_disc(const Block& block, const Disc& disc, const Numbers& impulse,
                  const Numbers& velocity, const Scalar& normal, const Scalar& slack) noexcept {
    using std::sqrt;
    const Scalar w = mass_of(block);
    Scalar largest(0), trial(0), slip(0), speed(0);
    Numbers direction;  // y in units of μ
    const auto place = [&](int k) { return block.place(disc.row(k)); };
    for (int k = 0; k < disc.size; ++k) largest = (std::max)(largest, disc.mu(k));
    for (int k = 0; k < disc.size; ++k) {
      const int p = place(k);
      const Scalar& mu = disc.mu(k);
      speed += velocity(p) * velocity(p);
      slip += mu * mu * velocity(p) * velocity(p);
      if (!(mu > Scalar(0))) continue;
      direction(p) =
          (impulse(p) + block.shift(p)) / mu - mu * velocity(p) / (largest * largest * w);
      trial += direction(p) * direction(p);
    }
    trial = sqrt(trial), slip = sqrt(slip), speed = sqrt(speed);
    if (!(largest > Scalar(0))) {  // the derivative towards μ > 0
      for (int k = 0; k < disc.size && speed > slack; ++k) {
        by_upper(place(k), place(k)) = -normal * velocity(place(k)) / speed;
      }
      return;
    }
    const Scalar over = (trial - normal) * w * largest;
    see(RegionBoundary::stick_slide, over);
    if (!(over > slack && slip > Scalar(0))) {
      for (int k = 0; k < disc.size; ++k) {
        if (disc.mu(k) > Scalar(0)) hold(place(k));
      }
      return;
    }
    const Scalar turn = normal / slip;  // χ
    for (int k = 0; k < disc.size; ++k) {
      const int p = place(k);
      const Scalar t = direction(p) / trial;
      by_impulse(p, block.normal) = -disc.mu(k) * t;
      by_upper(p, p) += normal * t;
      for (int l = 0; l < disc.size; ++l) {
        const int q = place(l);
        const Scalar across =
            turn * disc.mu(k) * ((k == l ? Scalar(1) : Scalar(0)) - t * direction(q) / trial);
        by_velocity(p, q) = across * disc.mu(l);
        by_upper(p, q) -= across * velocity(q);
      }
    }
  }
};

// --- implementation ---

/// Couples the normal velocity of a closed block to the slip of its discs, as the convex law does.
template <RealScalar Scalar, int Parts>
void LawSlope<Scalar, Parts>::lift(const Block& block, const Numbers& velocity,
                                   const Scalar& slack) noexcept {
  using std::sqrt;
  const int n = block.normal;
  visit_friction_blocks(block.impulse_set(), [&](const auto& disc) {
    Scalar largest(0), speed(0);
    for (int k = 0; k < disc.size; ++k) {
      const Scalar& u = velocity(block.place(disc.row(k)));
      largest = (std::max)(largest, disc.mu(k));
      speed += u * u;
    }
    speed = sqrt(speed);
    for (int k = 0; k < disc.size; ++k) {
      const int p = block.place(disc.row(k));
      if (disc.mu(k) > Scalar(0)) {
        const Scalar along = -by_impulse(p, n);  // μ t; zero of what is held
        by_velocity(n, p) = along;
        by_impulse(n, p) = along * block.regularization(p);
        by_upper(n, p) = -along / disc.mu(k) * velocity(p);
      } else if (!(largest > Scalar(0)) && speed > slack) {  // towards μ > 0
        by_upper(n, p) = velocity(p) * velocity(p) / speed;
      }
    }
  });
  invert_softened(block);
}

/// C and N of P + Q R.
template <RealScalar Scalar, int Parts>
void LawSlope<Scalar, Parts>::invert_softened(const Block& block) noexcept {
  constexpr int size = 3 * Parts;
  Scalar matrix[std::size_t(size)][std::size_t(size)];  // [column][row]
  for (int c = 0; c < size; ++c) {
    const Scalar soft = softness(block, c);
    softened = softened || (soft > Scalar(0) && !by_velocity.columns[c].is_zero());
    for (int r = 0; r < size; ++r) matrix[c][r] = by_impulse(r, c) + by_velocity(r, c) * soft;
  }
  static_cast<void>(invert_corner<size>(matrix));  // regular: what is open, slides or is held is
  for (int c = 0; c < size; ++c) {
    for (int r = 0; r < size; ++r) inverse(r, c) = matrix[c][r];
  }
  gain = inverse * by_velocity;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
