// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "carom/core/detail/small_vector.hpp"
#include "carom/core/invalid_input.hpp"
#include "carom/solvers/rows/block_rows.hpp"
#include "carom/solvers/systems/system_totals.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The target of a step along the central path.
template <RealScalar Scalar>
struct PathTarget {
  Scalar product;  ///< σκ, the target of each product of impulse and velocity [J]
  bool corrected;  ///< whether the products of the step stored by take_step() are included
};

/// The sum of products of impulses and velocities after a share α of a step: a + b α + c α² [J].
template <RealScalar Scalar>
struct ProductSum {
  Scalar now = 0, slope = 0, curvature = 0;

  void add(const Scalar& x, const Scalar& y, const Scalar& dx, const Scalar& dy) noexcept {
    now += x * y;
    slope += x * dy + dx * y;
    curvature += dx * dy;
  }
  /// The sum over all machines of a system.
  template <typename System>
  [[nodiscard]] ProductSum total(System& system) const noexcept {
    const auto sums = detail::total_of(system, std::array<Scalar, 3>{now, slope, curvature});
    return {sums[0], sums[1], sums[2]};
  }
  [[nodiscard]] Scalar at(const Scalar& share) const noexcept {
    return now + share * (slope + share * curvature);
  }
};

/// Constants of CentralPath and of the shapes on it, ConePath and IntervalPath.
struct CentralPathTuning {
  /// Largest share of the distance to the boundary of the cones in a step. Nearer to 1 the iterate
  /// stays close to the boundary and the next steps become short; 0.99 needs 9 % more systems on
  /// rigid files.
  static constexpr double to_boundary = 0.995;
  /// A step with a smaller share is short: it is computed again with plain centring, and counts
  /// against the path in IslandLaw. With 0.2 paths are given up too early: 13 % more systems on
  /// rigid files, and one of them unsolved.
  static constexpr double short_step = 0.1;
  /// Target of a step towards a given point of the path, as a share of the current products if they
  /// are larger: with less, steps are short; with more, there are more of them.
  static constexpr double centring_fall = 0.1;
  /// Least centring σ of the step that replaces a short one.
  static constexpr double plain_centring = 0.5;
  /// If the first point is already inside, it is moved further inside by this share of the mean
  /// impulse, because a point on the boundary has no path.
  static constexpr double least_start = 0.3;
  /// Distance of the first point from each of two bounds, as a share of their distance, at most
  /// 1/2.
  static constexpr double bound_inset = 0.25;
  /// Softness of rows without bounds, relative to w [ε_m]: they have no barrier, and their own R
  /// may be zero. Refinement of the systems restores the accuracy. With zero, a system is singular.
  static constexpr double free_softness = 1024;
};

/// A vector (x₀, x) of ℝ^{1+Size}, as second-order cones have it: inside where ‖x‖ < x₀.
template <RealScalar Scalar, int Size>
struct ConeVector {
  Scalar head = 0;
  SmallVector<Scalar, Size> tail;

  [[nodiscard]] Scalar dot(const ConeVector& other) const noexcept {
    return head * other.head + tail.dot(other.tail);
  }
  /// x₀² − ‖x‖², > 0 inside.
  [[nodiscard]] Scalar determinant() const noexcept {
    const Scalar length = tail.norm();
    return (head - length) * (head + length);
  }
  [[nodiscard]] ConeVector plus(const ConeVector& step, const Scalar& share) const noexcept {
    return {head + share * step.head, tail + share * step.tail};
  }
};

/// Jordan's product x ∘ y = (x·y, x₀ y + y₀ x).
template <RealScalar Scalar, int Size>
[[nodiscard]] ConeVector<Scalar, Size> jordan_product(const ConeVector<Scalar, Size>& x,
                                                      const ConeVector<Scalar, Size>& y) noexcept {
  return {x.dot(y), x.head * y.tail + y.head * x.tail};
}

/// Impulse r and velocity z of one second-order cone on their way to r ∘ z = 0, with the scaling of
/// Nesterov and Todd: the symmetric F with F z = F⁻¹ r = λ.
///
/// Notation: η² F̄ F̄ = F², F̄ of determinant one; w its point, F̄² = 2 w wᵀ − J.
/// @cite  nesterov1997self, vandenberghe2010cvxopt, (5) and section 4.
template <RealScalar Scalar, int Size>
struct ConePair {
  using Pair = ConeVector<Scalar, Size>;

  Pair r, z;
  Pair w, lambda;
  Scalar eta_squared = 1;
  Scalar root_r = 1, root_z = 1;  ///< roots of the determinants

  /// Computes the scaling. Returns false if r or z is not inside.
  [[nodiscard]] bool scale() noexcept {
    using std::sqrt;
    const Scalar det_r = r.determinant(), det_z = z.determinant();
    if (!(det_r > Scalar(0)) || !(det_z > Scalar(0))) return false;
    root_r = sqrt(det_r);
    root_z = sqrt(det_z);
    const Pair a{r.head / root_r, r.tail / root_r}, b{z.head / root_z, z.tail / root_z};
    const Scalar twice = sqrt(2 * (Scalar(1) + a.dot(b)));  // 2γ
    w = {(a.head + b.head) / twice, (a.tail - b.tail) / twice};
    eta_squared = root_r / root_z;
    const Scalar size = sqrt(root_r * root_z), gamma = twice / 2;
    const Scalar share = size / (a.head + b.head + twice);
    lambda = {size * gamma, share * ((gamma + b.head) * a.tail + (gamma + a.head) * b.tail)};
    return is_finite(eta_squared) && is_finite(lambda.head);
  }

  /// F x.
  [[nodiscard]] Pair times(const Pair& x) const noexcept {
    using std::sqrt;
    const Scalar eta = sqrt(eta_squared), along = w.tail.dot(x.tail);
    return {eta * (w.head * x.head + along),
            eta * (x.tail + (x.head + along / (1 + w.head)) * w.tail)};
  }
  /// F⁻¹ x.
  [[nodiscard]] Pair divide(const Pair& x) const noexcept {
    using std::sqrt;
    const Scalar eta = sqrt(eta_squared), along = w.tail.dot(x.tail);
    return {(w.head * x.head - along) / eta,
            (x.tail + (along / (1 + w.head) - x.head) * w.tail) / eta};
  }
  /// λ \ d, the x with λ ∘ x = d.
  [[nodiscard]] Pair quotient(const Pair& d) const noexcept {
    const Scalar head = (lambda.head * d.head - lambda.tail.dot(d.tail)) / (root_r * root_z);
    return {head, (d.tail - head * lambda.tail) / lambda.head};
  }

  /// dz₀ of dz = aim − G dr for a given rest of dz: from the row (1, ω), ω = w/‖w‖, in which G is
  /// least and no cancellation occurs.
  [[nodiscard]] Scalar head_of(const Pair& aim, const Pair& dr, const Pair& dz) const noexcept {
    const Scalar length = w.tail.norm();
    const Scalar reach = w.head + length;
    if (!(length > Scalar(0))) return aim.head - dr.head / eta_squared;
    const SmallVector<Scalar, Size> along = w.tail / length;
    return aim.head + along.dot(aim.tail - dz.tail) -
           (dr.head + along.dot(dr.tail)) / (eta_squared * reach * reach);
  }

  /// F⁻² x = G x.
  [[nodiscard]] Pair curvature_times(const Pair& x) const noexcept {
    const Scalar along = 2 * (w.head * x.head - w.tail.dot(x.tail));
    return {(along * w.head - x.head) / eta_squared, (x.tail - along * w.tail) / eta_squared};
  }

  /// 1/α of the longest step for which r and z stay inside, or `least` if it is larger.
  /// @pre  scale() for the same r and z.
  [[nodiscard]] Scalar inverse_step(const Pair& dr, const Pair& dz, Scalar least) const noexcept {
    least = inverse_step(r, root_r, dr, least);
    return inverse_step(z, root_z, dz, least);
  }

  /// The change of z towards r ∘ z = target e: −z + F⁻¹ (λ \ (target e − second)), second = (F⁻¹
  /// dr) ∘ (F dz) of the predictor step.
  [[nodiscard]] Pair aim(const Scalar& target, const Pair& dr, const Pair& dz) const noexcept {
    const Pair second = jordan_product(divide(dr), times(dz));
    const Pair wanted = divide(quotient({target - second.head, -second.tail}));
    return {wanted.head - z.head, wanted.tail - z.tail};
  }

 private:
  [[nodiscard]] static Scalar inverse_step(const Pair& x, const Scalar& root, const Pair& d,
                                           const Scalar& least) noexcept {
    const Scalar inverse = Scalar(1) / root;
    const Scalar along = (x.head * d.head - x.tail.dot(d.tail)) * inverse;
    const Scalar share = (along + d.head) / (x.head + root);
    const Scalar rest = (d.tail - share * x.tail).norm();
    return (std::max)(least, (rest - along) * inverse);
  }
};

/// A cone on the central path of its law: a normal, and for every disc b the pair r_b = (γₙ,
/// γ_b/μ), z_b = (ζ_b, μ u_b) of second-order cones.
///
/// Each disc satisfies r_b ∘ z_b = κ e. Coulomb's law also has γₙ uₙ = κ, and in the limit ζ_b = ‖μ
/// u_b‖; the convex law has uₙ = Σ ζ_b instead. A cone without discs is a half line under both
/// laws. docs/derivations/interior_point.md derives N, the response to velocities.
template <RealScalar Scalar, int Parts>
class ConePath {
 public:
  using Block = BlockRows<Scalar, Parts>;
  using Numbers = PartNumbers<Scalar, Parts>;
  static constexpr int rows = Block::disc_rows;
  using Pair = ConeVector<Scalar, rows>;

  /// Stores impulse and velocity, which may be outside of their cones.
  void start(const Block& block, const Numbers& impulse, const Numbers& velocity) noexcept {
    normal_ = impulse(block.normal) + block.shift(block.normal);
    normal_velocity_ = velocity(block.normal);
    for (int b = 0; b < block.disc_count; ++b) {
      Disc& disc = discs_[b];
      disc = {};
      for_each_row(block, b, [&](int k, int place, const Scalar& mu) {
        disc.pair.r.tail(k) = (impulse(place) + block.shift(place)) / mu;
        disc.pair.z.tail(k) = velocity(place) * mu;
      });
    }
  }
  /// The distance of the normals to the inside: `impulse` and `velocity` become at least these
  /// distances.
  void find_missing(const Block& block, Scalar& impulse, Scalar& velocity) const noexcept {
    impulse = (std::max)(impulse, -normal_);
    velocity = (std::max)(velocity, -normal_velocity_);
    for (int b = 0; b < block.disc_count; ++b) {
      const auto& pair = discs_[b].pair;
      impulse = (std::max)(impulse, pair.r.tail.norm() - normal_);
      velocity = (std::max)(velocity, pair.z.tail.norm() - normal_velocity_);
    }
  }
  /// Increases the normals by these amounts.
  void raise(const Block& block, FrictionLaw law, const Scalar& impulse,
             const Scalar& velocity) noexcept {
    normal_ += impulse;
    normal_velocity_ += velocity;
    for (int b = 0; b < block.disc_count; ++b) {
      discs_[b].pair.r.head = normal_;
      discs_[b].pair.z.head = normal_velocity_;
    }
    if (!follows_signorini(block, law)) normal_velocity_ *= Scalar(block.disc_count);
  }

  [[nodiscard]] Numbers impulse(const Block& block) const noexcept {
    Numbers result = -block.shift;
    result(block.normal) += normal_;
    for (int b = 0; b < block.disc_count; ++b) {
      for_each_row(block, b, [&](int k, int place, const Scalar& mu) {
        result(place) += mu * discs_[b].pair.r.tail(k);
      });
    }
    return result;
  }
  /// p = u of the path minus u of the impulses.
  [[nodiscard]] Numbers gap(const Block& block, const Numbers& velocity) const noexcept {
    Numbers result;
    result(block.normal) = normal_velocity_ - velocity(block.normal);
    for (int b = 0; b < block.disc_count; ++b) {
      for_each_row(block, b, [&](int k, int place, const Scalar& mu) {
        result(place) = discs_[b].pair.z.tail(k) / mu - velocity(place);
      });
    }
    return result;
  }

  /// Count of products.
  [[nodiscard]] int count(const Block& block, FrictionLaw law) const noexcept {
    return block.disc_count + (follows_signorini(block, law) ? 1 : 0);
  }
  void add_products(const Block& block, FrictionLaw law, ProductSum<Scalar>& sum) const noexcept {
    if (follows_signorini(block, law)) {
      sum.add(normal_, normal_velocity_, normal_step_, normal_velocity_step_);
    }
    for (int b = 0; b < block.disc_count; ++b) {
      const Disc& disc = discs_[b];
      const auto& pair = disc.pair;
      sum.add(pair.r.head, pair.z.head, disc.r_step.head, disc.z_step.head);
      for (int k = 0; k < rows; ++k) {
        sum.add(pair.r.tail(k), pair.z.tail(k), disc.r_step.tail(k), disc.z_step.tail(k));
      }
    }
  }

  /// Computes the scaling and writes N. Returns false if the iterate is not inside.
  [[nodiscard]] bool write_gain(const Block& block, FrictionLaw law,
                                PartMatrix<Scalar, Parts>& gain) noexcept;
  /// Writes h.
  /// @param gap  p.
  /// @pre  write_gain() for the same iterate.
  void write_offset(const Block& block, FrictionLaw law, const PathTarget<Scalar>& target,
                    const Numbers& gap, Numbers& offset) noexcept;

  /// Stores a step of the impulses and the velocities du_w from W for it.
  /// @return  1/α of the longest step that stays inside, or `least` if it is larger.
  [[nodiscard]] Scalar take_step(const Block& block, FrictionLaw law, const Numbers& impulse,
                                 const Numbers& velocity, const Numbers& gap,
                                 Scalar least) noexcept;
  void advance(const Block& block, const Scalar& share) noexcept {
    normal_ += share * normal_step_;
    normal_velocity_ += share * normal_velocity_step_;
    for (int b = 0; b < block.disc_count; ++b) {
      Disc& disc = discs_[b];
      disc.pair.r = disc.pair.r.plus(disc.r_step, share);
      disc.pair.z = disc.pair.z.plus(disc.z_step, share);
      disc.pair.r.head = normal_;
    }
  }

 private:
  /// One disc, its step, and what it contributes to N in units of μ.
  struct Disc {
    ConePair<Scalar, rows> pair;
    Pair r_step, z_step, aim;
    /// d, d ∘ w, K
    SmallVector<Scalar, rows> across, along, follow;
    Scalar rank_one = 0, complement = 0;  ///< 2/η² by the denominator; C
  };
  [[nodiscard]] static bool follows_signorini(const Block& block, FrictionLaw law) noexcept {
    return law == FrictionLaw::coulomb || block.disc_count == 0;
  }
  template <typename Visit>
  static void for_each_row(const Block& block, int b, const Visit& visit) noexcept {
    const auto& disc = block.friction_disc(b);
    const int size = rows == 2 ? 2 : disc.size;
    for (int k = 0; k < size; ++k) {
      visit(k, disc.places[k], disc.friction[k]);
    }
  }
  void soften(const Block& block, int b, Disc& disc) const noexcept;

  Scalar normal_ = 1, normal_velocity_ = 1;  ///< γₙ + shift, uₙ
  Scalar normal_step_ = 0, normal_velocity_step_ = 0, inverse_normal_ = 0;
  Disc discs_[Block::most_discs];
};

// --- implementation ---

/// (G_tt + R)⁻¹ = diag(d) − rank_one (d ∘ w)(d ∘ w)ᵀ, K = (G_tt + R)⁻¹ G_tn and C = G_nn − G_nt K,
/// each without cancellation.
template <RealScalar Scalar, int Parts>
void ConePath<Scalar, Parts>::soften(const Block& block, int b, Disc& disc) const noexcept {
  const auto& pair = disc.pair;
  const Scalar& eta = pair.eta_squared;
  Scalar sum(0), soft(0);
  disc.across = disc.across.filled(eta);
  for_each_row(block, b, [&](int k, int place, const Scalar& mu) {
    const Scalar share = eta * mu * mu * block.regularization(place);
    disc.across(k) = eta / (1 + share);
    const Scalar squared = pair.w.tail(k) * pair.w.tail(k);
    sum += squared * disc.across(k);
    soft += squared * share / (1 + share);
  });
  disc.along = products(disc.across, pair.w.tail);
  const Scalar inverse = 1 / (eta + 2 * sum);
  disc.rank_one = 2 * inverse;
  disc.follow = (-2 * pair.w.head * inverse) * disc.along;
  disc.complement = (1 + 2 * soft) * inverse;
}

template <RealScalar Scalar, int Parts>
bool ConePath<Scalar, Parts>::write_gain(const Block& block, FrictionLaw law,
                                         PartMatrix<Scalar, Parts>& gain) noexcept {
  gain = {};
  bool inside = normal_ > Scalar(0) && normal_velocity_ > Scalar(0);
  const int n = block.normal;
  const bool symmetric = !follows_signorini(block, law);
  Scalar stiffness = block.regularization(n);
  if (!symmetric) stiffness += normal_velocity_ / normal_;
  for (int b = 0; b < block.disc_count; ++b) {
    Disc& disc = discs_[b];
    inside = disc.pair.scale() && inside;
    soften(block, b, disc);
    if (symmetric) stiffness += disc.complement;
  }
  inverse_normal_ = Scalar(1) / stiffness;
  gain(n, n) = inverse_normal_;
  for (int b = 0; b < block.disc_count; ++b) {
    const Disc& own = discs_[b];
    for_each_row(block, b, [&](int k, int place, const Scalar& mu) {
      gain(place, n) = -mu * own.follow(k) * inverse_normal_;
      if (symmetric) gain(n, place) = gain(place, n);
      for_each_row(block, b, [&](int l, int other, const Scalar& nu) {
        Scalar entry = -own.rank_one * own.along(k) * own.along(l);
        if (k == l) entry += own.across(k);
        gain(place, other) = mu * nu * entry;
      });
    });
  }
  for (int b = 0; symmetric && b < block.disc_count; ++b) {
    for (int c = 0; c < block.disc_count; ++c) {
      const Disc &one = discs_[b], &two = discs_[c];
      for_each_row(block, b, [&](int k, int place, const Scalar& mu) {
        for_each_row(block, c, [&](int l, int other, const Scalar& nu) {
          gain(place, other) += mu * nu * one.follow(k) * two.follow(l) * inverse_normal_;
        });
      });
    }
  }
  return inside;
}

template <RealScalar Scalar, int Parts>
void ConePath<Scalar, Parts>::write_offset(const Block& block, FrictionLaw law,
                                           const PathTarget<Scalar>& target, const Numbers& gap,
                                           Numbers& offset) noexcept {
  const int n = block.normal;
  offset = {};
  Scalar wanted = gap(n);
  const bool alone = follows_signorini(block, law);
  if (alone) {
    const Scalar second = target.corrected ? normal_step_ * normal_velocity_step_ : Scalar(0);
    wanted += (target.product - second) / normal_ - normal_velocity_;
  }
  SmallVector<Scalar, rows> pulled[Block::most_discs];
  for (int b = 0; b < block.disc_count; ++b) {
    Disc& disc = discs_[b];
    if (target.corrected) {
      disc.aim = disc.pair.aim(target.product, disc.r_step, disc.z_step);
    } else if (target.product > Scalar(0)) {
      disc.aim = disc.pair.aim(target.product, Pair{}, Pair{});
    } else {
      disc.aim = {-disc.pair.z.head, -disc.pair.z.tail};
    }
    auto& pull = pulled[b];
    pull = disc.aim.tail;
    for_each_row(block, b, [&](int k, int place, const Scalar& mu) { pull(k) += mu * gap(place); });
    if (!alone) wanted += disc.aim.head - disc.follow.dot(pull);
  }
  offset(n) = inverse_normal_ * wanted;
  for (int b = 0; b < block.disc_count; ++b) {
    const Disc& own = discs_[b];
    const auto& pull = pulled[b];
    const Scalar along = own.rank_one * own.along.dot(pull);
    for_each_row(block, b, [&](int k, int place, const Scalar& mu) {
      offset(place) =
          mu * (own.across(k) * pull(k) - along * own.along(k) - own.follow(k) * offset(n));
    });
  }
}

template <RealScalar Scalar, int Parts>
Scalar ConePath<Scalar, Parts>::take_step(const Block& block, FrictionLaw law,
                                          const Numbers& impulse, const Numbers& velocity,
                                          const Numbers& gap, Scalar least) noexcept {
  normal_step_ = impulse(block.normal);
  const auto change = [&](int place) {
    return velocity(place) + block.regularization(place) * impulse(place) - gap(place);
  };
  normal_velocity_step_ = change(block.normal);
  Scalar missing = normal_velocity_step_;
  for (int b = 0; b < block.disc_count; ++b) {
    Disc& disc = discs_[b];
    disc.r_step.head = normal_step_;
    for_each_row(block, b, [&](int k, int place, const Scalar& mu) {
      disc.r_step.tail(k) = impulse(place) / mu;
      disc.z_step.tail(k) = mu * change(place);
    });
    disc.z_step.head = disc.pair.head_of(disc.aim, disc.r_step, disc.z_step);
    missing -= disc.z_step.head;
  }
  least = (std::max)({least, -normal_step_ / normal_, -normal_velocity_step_ / normal_velocity_});
  for (int b = 0; b < block.disc_count; ++b) {
    Disc& disc = discs_[b];
    if (!follows_signorini(block, law)) disc.z_step.head += missing / Scalar(block.disc_count);
    least = disc.pair.inverse_step(disc.r_step, disc.z_step, least);
  }
  return least;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
