// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <type_traits>

#include "carom/contact/detail/impulse_derivative.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/linalg/detail/lu.hpp"
#include "carom/solvers/search/active_block.hpp"
#include "carom/solvers/systems/body_system.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Coulomb's law of one block, linearised at impulses and velocities that obey it:
/// P dγ + Q du = B dθ, where du = J dv + R dγ + the change of u by the data.
///
/// Rows that are open or at a bound have dγ = 0, sticking rows have du = 0. A sliding disc has
/// γ = γₙ μ ∘ t, t = −μ ∘ u/‖μ ∘ u‖, so dγ − μ ∘ t dγₙ + χ μ ∘ (I − t tᵀ)(μ ∘ du + u ∘ dμ) = γₙ t ∘
/// dμ, χ = γₙ/‖μ ∘ u‖. All numbers are indexed by places in parts.
///
/// The convex law is Coulomb's law with uₙ − Σ ‖μ ∘ u‖ in place of uₙ. The normal of a block with
/// sliding discs therefore has duₙ + Σ (μ ∘ t)ᵀ du = −Σ (t ∘ u)ᵀ dμ.
/// @cite  alart1991mixed for the regions of the law; the derivation is the implicit function
///        theorem, region by region.
template <RealScalar Scalar, int Parts>
struct LawSlope {
  using Block = BlockRows<Scalar, Parts>;
  using Numbers = PartNumbers<Scalar, Parts>;
  using Matrix = PartMatrix<Scalar, Parts>;

  Matrix by_impulse;   ///< P + Q R [-], in sticking rows [1/kg]
  Matrix by_velocity;  ///< Q [kg], in sticking rows [-]
  Matrix inverse;      ///< C = (P + Q (R + s))⁻¹, s is the softness of sticking rows
  Matrix gain;         ///< N = C Q [kg]
  Matrix by_upper;     ///< B of upper bounds and of μ
  Numbers by_lower;    ///< B of lower bounds, a diagonal
  bool softened;       ///< whether s > 0 in a closed row: s = ε w if R < ε w, otherwise 0
  Scalar margin;       ///< distance of the trial impulse from the next region times w [m/s], ≥ 0
  RegionBoundary nearest;  ///< the boundary at that distance

  /// Linearises.
  /// @param slack  margin [m/s], ≥ 0, below which a block is on a boundary; it is then linearised
  ///               as closed, as sticking, or as between its bounds.
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

  /// Whether impulses depend on velocities.
  [[nodiscard]] bool closed() const noexcept { return !by_velocity.is_zero(); }
  /// Writes the derivative of an open block that is on no boundary.
  void clear() noexcept {
    by_impulse = inverse = Matrix::identity();
    by_velocity = gain = by_upper = {};
    by_lower = {};
    softened = false;
    margin = std::numeric_limits<Scalar>::infinity();
    nearest = RegionBoundary::none;
  }
  /// Adds Q R to P, then computes C and N.
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
  /// Makes a boundary the nearest if it is nearer than all before.
  void compare(RegionBoundary boundary, const Scalar& distance) noexcept {
    using std::abs;
    if (abs(distance) >= margin) return;
    margin = abs(distance);
    nearest = boundary;
  }
  /// du = 0.
  void stick(int place) noexcept {
    by_impulse(place, place) = 0;
    by_velocity(place, place) = 1;
  }

  /// A friction contact, whose inverse has a closed form.
  void write_triple(const Block& block, const Numbers& impulse, const Numbers& velocity,
                    const Scalar& slack) noexcept {
    using std::sqrt;
    const Scalar w = mass_of(block), soft = softness(block, 0);
    const Scalar& mu = block.disc.friction[0];
    const Scalar reach = impulse(2) + block.shift(2) - velocity(2) / w;
    compare(RegionBoundary::open_closed, reach * w);
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
    compare(RegionBoundary::stick_slide, over);
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
      by_upper(k, 0) = by_upper(k, 1) = normal * t[k] / 2;  // μ is a datum of both rows
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
      compare(RegionBoundary::bound, above);
      compare(RegionBoundary::bound, below);
      if (block.lower(p) < block.upper(p) && above >= -slack && below >= -slack) {
        stick(p);
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
    compare(RegionBoundary::open_closed, reach * w);
    if (!(reach * w >= -slack)) return;
    stick(n);
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
    compare(RegionBoundary::stick_slide, over);
    if (!(over > slack && slip > Scalar(0))) {
      for (int k = 0; k < disc.size; ++k) {
        if (disc.mu(k) > Scalar(0)) stick(place(k));
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

/// Couples the normal velocity of a closed block to the slip of its discs, as in the convex law.
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
        const Scalar along = -by_impulse(p, n);  // μ t; zero in rows that stick
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
  static_cast<void>(invert_corner<size>(matrix));  // regular in every region
  for (int c = 0; c < size; ++c) {
    for (int r = 0; r < size; ++r) inverse(r, c) = matrix[c][r];
  }
  gain = inverse * by_velocity;
}

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
  const auto soften = [&](int p, const Scalar& softness) {
    slope.by_impulse(p, p) = softness;
    slope.by_velocity(p, p) = 1;
  };
  if (block.is_cone()) {
    const int n = block.normal;
    const Scalar normal = impulse(n) + block.shift(n);
    soften(n, product / (normal * normal));
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
      soften(p, push + pull);
      slope.by_lower(p) = push;
      slope.by_upper(p, p) = pull;
    }
  }
  slope.invert(block);
}

/// J v of a block, and the size of its velocities at bodies' speeds r ≥ 0, in one pass.
template <typename Rows>
struct VelocityAndSpeed {
  Rows velocity;                ///< J v [m/s, rad/s]
  typename Rows::Scalar speed;  ///< ‖|J| r‖ + ‖v̂‖ [m/s, rad/s]
};
template <typename Block, typename Velocity>
[[nodiscard]] VelocityAndSpeed<typename Block::Rows> velocity_and_speed(
    const Block& block, const Velocity& velocity, const Velocity& reach) noexcept {
  using std::abs, std::sqrt;
  using Scalar = typename Block::Rows::Scalar;
  using Numbers = Eigen::Array<Scalar, 4, 1>;
  VelocityAndSpeed<typename Block::Rows> result{Block::Rows::Zero(), block.bias_velocity().norm()};
  for (int s = 0; s < block.side_count(); ++s) {
    const auto [start, size] = block.side(s).range;
    const Scalar* const v = velocity.data() + start;
    const Scalar* const r = reach.data() + start;
    const Scalar* j = block.side(s).jacobian;
    Scalar squared(0);
    for (int row = 0; row < block.rows(); ++row, j += size) {
      Numbers sums = Numbers::Zero(), sizes = Numbers::Zero();
      Index k = 0;
      for (; k + 4 <= size; k += 4) {
        const Eigen::Map<const Numbers> own(j + k);
        sums += own * Eigen::Map<const Numbers>(v + k);
        sizes += own.abs() * Eigen::Map<const Numbers>(r + k);
      }
      Scalar sum = sums.sum(), gross = sizes.sum();
      for (; k < size; ++k) {
        sum += j[k] * v[k];
        gross += abs(j[k]) * r[k];
      }
      result.velocity(row) += sum;
      squared += gross * gross;
    }
    result.speed += sqrt(squared);
  }
  return result;
}

/// The law to be linearised, and the point.
template <RealScalar Scalar>
struct LinearizedPoint {
  Scalar tolerance;   ///< of boundaries, as CoulombDerivativeOptions::boundary_tolerance
  Scalar product{0};  ///< κ at a point of the central path [J]; 0 for the law
  /// not used on the central path, which is that of Coulomb's law
  FrictionLaw law = FrictionLaw::coulomb;
};

/// The law of all blocks of a problem, linearised at a solution, in the order of a BodySystem.
/// @note  Real-time safe after take() for a problem of this size.
template <RealScalar Scalar>
class BlockSlopes {
 public:
  /// Allocates memory for a problem's size.
  /// @param system  of the problem.
  void take(const ContactProblem<Scalar>& problem, const BodySystem<Scalar>& system);

  /// Linearises all blocks.
  /// @return  the first block whose numbers are not finite, at which the work ends; −1 if there is
  ///          none.
  /// @pre  take() was called for the problem.
  template <typename Velocity, typename Impulse>
  [[nodiscard]] Index linearize(const ContactProblem<Scalar>& problem,
                                const BodySystem<Scalar>& system, const Velocity& velocity,
                                const Impulse& impulse,
                                const LinearizedPoint<Scalar>& point) noexcept;

  /// N of all blocks.
  [[nodiscard]] const BlockGains<Scalar>& gains() const noexcept { return gains_; }
  [[nodiscard]] RegionBoundary boundary(Index block) const noexcept { return nearest_[block]; }
  /// Blocks of the problem on a boundary, in their order.
  [[nodiscard]] std::span<const Index> one_sided() const noexcept {
    return {one_sided_.data(), std::size_t(one_sided_.size())};
  }
  /// The size of the solution at a block of the system [J]: (|J|(|v| + |v*|) + w ‖γ‖)²/w.
  [[nodiscard]] Scalar energy(Index i) const noexcept { return energies_[i]; }
  /// The index in the system of a block of the problem.
  [[nodiscard]] Index place(Index block) const noexcept { return block_at_[block]; }

  /// Calls visit(block, slope) of a block of the system.
  template <typename Visit>
  decltype(auto) visit(const BodySystem<Scalar>& system, Index i, Visit&& visit) const noexcept {
    return with_slope(*this, system, i, visit);
  }

 private:
  template <typename Self, typename Visit>
  static decltype(auto) with_slope(Self& self, const BodySystem<Scalar>& system, Index i,
                                   Visit&& visit) noexcept {
    const int number = system.blocks().number(i);
    return system.blocks().visit(i, [&]<int Parts>(const BlockRows<Scalar, Parts>& block) {
      if constexpr (Parts == 1) {
        return visit(block, self.triples_[number]);
      } else {
        return visit(block, self.others_[number]);
      }
    });
  }

  BlockGains<Scalar> gains_;
  Sequence<LawSlope<Scalar, 1>> triples_;
  Sequence<LawSlope<Scalar, 2>> others_;
  Sequence<int> block_at_;  ///< per block of the problem: its index in the system
  Sequence<int> block_of_row_;
  Sequence<Scalar> energies_;
  Sequence<RegionBoundary> nearest_;
  Sequence<Index> one_sided_;
  Growing<VectorX<Scalar>> reach_;  ///< |v| + |v*|
};

// --- implementation ---

template <RealScalar Scalar>
void BlockSlopes<Scalar>::take(const ContactProblem<Scalar>& problem,
                               const BodySystem<Scalar>& system) {
  gains_.lay_out(system.blocks());
  triples_.resize(system.blocks().triple_count());
  others_.resize(system.blocks().other_count());
  block_at_.resize(problem.block_count());
  nearest_.resize(problem.block_count());
  energies_.resize(system.blocks().size());
  one_sided_.reserve(problem.block_count());
  block_of_row_.resize(problem.impulse_count());
  for (Index b = 0; b < problem.block_count(); ++b) block_of_row_[problem.first_row(b)] = int(b);
  for (Index i = 0; i < system.blocks().size(); ++i) {
    block_at_[block_of_row_[system.rows().first_row(i)]] = int(i);
  }
  reach_.grow(problem.velocity_count());
}

template <RealScalar Scalar>
template <typename Velocity, typename Impulse>
Index BlockSlopes<Scalar>::linearize(const ContactProblem<Scalar>& problem,
                                     const BodySystem<Scalar>& system, const Velocity& velocity,
                                     const Impulse& impulse,
                                     const LinearizedPoint<Scalar>& point) noexcept {
  reach_ = velocity.cwiseAbs() + problem.free_velocity().cwiseAbs();
  one_sided_.clear();
  Index faulty = -1;
  problem.for_each_block([&](const auto& view) {
    using Rows = typename std::decay_t<decltype(view)>::Rows;
    const Rows gamma = view.read(impulse);
    const auto moved = velocity_and_speed(view, velocity, reach_);
    Rows u = moved.velocity - view.bias_velocity();
    if (!view.law().rigid) u += view.regularization().cwiseProduct(gamma);
    if (faulty < 0 && !(u.allFinite() && gamma.allFinite())) faulty = view.number();
    if (faulty >= 0) return;
    const Index i = block_at_[view.number()];
    with_slope(*this, system, i,
               [&]<int Parts>(const BlockRows<Scalar, Parts>& block, auto& slope) {
                 using std::sqrt;
                 PartNumbers<Scalar, Parts> own, speeds;
                 for (int r = 0; r < view.rows(); ++r) {
                   own(block.place(r)) = gamma(r);
                   speeds(block.place(r)) = u(r);
                 }
                 const Scalar scale = moved.speed + block.inverse_mass * sqrt(gamma.squaredNorm());
                 const Scalar slack = point.tolerance * scale;
                 const Scalar& w = block.inverse_mass;
                 energies_[i] = w > Scalar(0) ? Scalar(scale * scale / w) : Scalar(0);
                 if (point.product > Scalar(0)) {
                   write_path_slope(block, own, speeds, point.product, slope);
                 } else if (point.law == FrictionLaw::convex) {
                   slope.write_convex(block, own, speeds, slack);
                 } else {
                   slope.write(block, own, speeds, slack);
                 }
                 gains_.write(i, block.parts, slope.gain);
                 nearest_[view.number()] = slope.nearest;
                 if (slope.nearest != RegionBoundary::none) one_sided_.push_back(view.number());
               });
  });
  return faulty;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
