// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/solvers/rows/block_rows.hpp"
#include "carom/solvers/rows/path_products.hpp"
#include "carom/solvers/search/cone_pair.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A cone on the central path of its law: a normal, and for every disc b the pair r_b = (γₙ,
/// γ_b/μ), z_b = (ζ_b, μ u_b) of second-order cones.
///
/// Every disc has r_b ∘ z_b = κ e. Coulomb's law has γₙ uₙ = κ too, and in the limit
/// ζ_b = ‖μ u_b‖; the convex law has uₙ = Σ ζ_b instead. A cone without discs is a half line under
/// both. docs/derivations/interior_point.md derives the answer N to velocities.
template <RealScalar Scalar, int Parts>
class ConePath {
 public:
  using Block = BlockRows<Scalar, Parts>;
  using Numbers = PartNumbers<Scalar, Parts>;
  static constexpr int rows = Block::disc_rows;
  using Pair = ConeVector<Scalar, rows>;

  /// Takes impulse and velocity, which may be outside of their cones.
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
  /// What the normals lack to be inside: raised to the largest of impulse and velocity.
  void find_missing(const Block& block, Scalar& impulse, Scalar& velocity) const noexcept {
    impulse = (std::max)(impulse, -normal_);
    velocity = (std::max)(velocity, -normal_velocity_);
    for (int b = 0; b < block.disc_count; ++b) {
      const auto& pair = discs_[b].pair;
      impulse = (std::max)(impulse, pair.r.tail.norm() - normal_);
      velocity = (std::max)(velocity, pair.z.tail.norm() - normal_velocity_);
    }
  }
  /// Raises the normals by so much.
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
  /// p = u as the path has it less u of the impulses.
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

  /// How many products there are.
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

  /// Scales and writes N. False when the iterate is not inside.
  [[nodiscard]] bool write_gain(const Block& block, FrictionLaw law,
                                PartMatrix<Scalar, Parts>& gain) noexcept;
  /// Writes h.
  /// @param gap  p.
  /// @pre  write_gain() for the same iterate.
  void write_offset(const Block& block, FrictionLaw law, const PathTarget<Scalar>& target,
                    const Numbers& gap, Numbers& offset) noexcept;

  /// Keeps a step of the impulses and the velocities du_w that W gives for it.
  /// @return  1/α of the longest step that stays inside, or `least` where that is larger.
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
