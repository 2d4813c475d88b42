// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/solvers/detail/block_rows.hpp"
#include "carom/solvers/detail/cone_pair.hpp"
#include <cstdio>

namespace carom::inline CAROM_ABI::detail {

/// How a step along the central path answers to velocities, of one block in parts: dγ = h − N du_w,
/// du_w what W gives.
template <RealScalar Scalar>
struct BlockResponse {
  SquareMatrix<Scalar, 6> gain;  ///< N
  PartNumbers<Scalar> offset;    ///< h
};

/// What a step is to aim at.
template <RealScalar Scalar>
struct PathTarget {
  Scalar product;  ///< σκ, what every product of an impulse and its velocity is to become
  bool corrected;  ///< whether the products of the predicted step are taken into account
};

/// A block with a cone on the central path of its law: a normal, and for every disc b the pair
/// r_b = (γₙ, γ_b/μ), z_b = (ζ_b, μ u_b) of second-order cones.
///
/// Every disc has r_b ∘ z_b = κ e. Coulomb's law has γₙ uₙ = κ too; in the limit ζ_b = ‖μ u_b‖. The
/// convex law has uₙ = Σ ζ_b instead. A cone without discs is a half line under both.
/// @tparam Size  most rows of a disc; rows that are not there are zero.
/// @tparam Most  most discs.
template <RealScalar Scalar, int Size, int Most>
class ConePath {
 public:
  using Block = BlockRows<Scalar>;
  using Numbers = PartNumbers<Scalar>;
  using Pair = ConeVector<Scalar, Size>;

  /// Takes impulse and velocity, which may be outside of their cones.
  void start(const Block& block, const Numbers& impulse, const Numbers& velocity) noexcept {
    normal_ = impulse(block.normal) + block.shift(block.normal);
    normal_velocity_ = velocity(block.normal);
    for (int b = 0; b < block.disc_count; ++b) {
      auto& pair = discs_[std::size_t(b)];
      pair = {};
      for_each_row(block, b, [&](int k, int place, const Scalar& mu) {
        pair.r.tail(k) = (impulse(place) + block.shift(place)) / mu;
        pair.z.tail(k) = velocity(place) * mu;
      });
    }
  }
  /// What normals lack for impulse and velocity to be on the boundary.
  void find_missing(const Block&, Scalar& impulse, Scalar& velocity) const noexcept {
    impulse = -normal_;
    velocity = -normal_velocity_;
    for (const auto& pair : discs_) {
      impulse = (std::max)(impulse, pair.r.tail.norm() - normal_);
      velocity = (std::max)(velocity, pair.z.tail.norm() - normal_velocity_);
    }
  }
  void raise(const Block& block, FrictionLaw law, const Scalar& impulse,
             const Scalar& velocity) noexcept {
    normal_ += impulse;
    Scalar lift(0);
    for (int b = 0; b < block.disc_count; ++b) {
      auto& pair = discs_[std::size_t(b)];
      pair.r.head = normal_;
      pair.z.head = normal_velocity_ + velocity;
      lift += pair.z.head;
    }
    normal_velocity_ += velocity;
    if (!signorini(block, law)) normal_velocity_ = lift;
  }

  [[nodiscard]] Numbers impulse(const Block& block) const noexcept {
    Numbers result = -block.shift;
    result(block.normal) += normal_;
    for (int b = 0; b < block.disc_count; ++b) {
      for_each_row(block, b, [&](int k, int place, const Scalar& mu) {
        result(place) += mu * discs_[std::size_t(b)].r.tail(k);
      });
    }
    return result;
  }
  /// u as the path has it, which is that of the impulses only at the end of full steps.
  /// @param exact  what to say of rows without friction, whose velocity is any.
  [[nodiscard]] Numbers velocity(const Block& block, const Numbers& exact) const noexcept {
    Numbers result = exact;
    result(block.normal) = normal_velocity_;
    for (int b = 0; b < block.disc_count; ++b) {
      for_each_row(block, b, [&](int k, int place, const Scalar& mu) {
        result(place) = discs_[std::size_t(b)].z.tail(k) / mu;
      });
    }
    return result;
  }

  /// Terms of complementarity, and their sum.
  [[nodiscard]] int count(const Block& block, FrictionLaw law) const noexcept {
    return block.disc_count + (signorini(block, law) ? 1 : 0);
  }
  [[nodiscard]] Scalar product(const Block& block, FrictionLaw law,
                               const Scalar& share) const noexcept {
    Scalar sum(0);
    if (signorini(block, law)) {
      sum += (normal_ + share * normal_step_) * (normal_velocity_ + share * normal_velocity_step_);
    }
    for (int b = 0; b < block.disc_count; ++b) {
      const auto& pair = discs_[std::size_t(b)];
      const auto& step = steps_[std::size_t(b)];
      sum += pair.r.plus(step.r, share).dot(pair.z.plus(step.z, share));
    }
    return sum;
  }

  [[nodiscard]] bool scale(const Block& block) noexcept {
    bool inside = normal_ > Scalar(0) && normal_velocity_ > Scalar(0);
    for (int b = 0; b < block.disc_count; ++b) {
      inside = discs_[std::size_t(b)].scale() && inside;
    }
    return inside;
  }

  template <typename A> static void none(A) {}
  void spread(const Block& block, Scalar& low, Scalar& high, FrictionLaw law) const noexcept {
    if (signorini(block, law)) { low = std::min(low, normal_*normal_velocity_); high = std::max(high, normal_*normal_velocity_);}
    for (int b = 0; b < block.disc_count; ++b) {
      const auto& pair = discs_[std::size_t(b)];
      Scalar t = std::sqrt(pair.lambda.tail.squaredNorm());
      Scalar a = pair.lambda_determinant / (pair.lambda.head + t); a *= a;
      low = std::min(low, a); high = std::max(high, (pair.lambda.head + t) * (pair.lambda.head + t));
    }
  }
  /// Writes N.
  void write_gain(const Block& block, FrictionLaw law, SquareMatrix<Scalar, 6>& gain) noexcept {
    gain.setZero();
    const int n = block.normal;
    Scalar stiffness = block.regularization(n);
    if (signorini(block, law)) stiffness += normal_velocity_ / normal_;
    for (int b = 0; b < block.disc_count; ++b) {
      write_disc(block, b);
      if (!signorini(block, law)) stiffness += locals_[std::size_t(b)].complement;
    }
    inverse_normal_ = Scalar(1) / stiffness;
    gain(n, n) = inverse_normal_;
    const bool symmetric = !signorini(block, law);
    for (int b = 0; b < block.disc_count; ++b) {
      const Local& own = locals_[std::size_t(b)];
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
    if (!symmetric) return;
    for (int b = 0; b < block.disc_count; ++b) {
      for (int c = 0; c < block.disc_count; ++c) {
        for_each_row(block, b, [&](int k, int place, const Scalar& mu) {
          for_each_row(block, c, [&](int l, int other, const Scalar& nu) {
            gain(place, other) += mu * nu * locals_[std::size_t(b)].follow(k) *
                                  locals_[std::size_t(c)].follow(l) * inverse_normal_;
          });
        });
      }
    }
  }

  /// Writes h.
  /// @param gap  p = u of the path less u of the impulses.
  /// @pre  write_gain() for the same iterate.
  void write_offset(const Block& block, FrictionLaw law, const PathTarget<Scalar>& target,
                    const Numbers& gap, Numbers& offset) noexcept {
    const int n = block.normal;
    offset.setZero();
    Scalar wanted = gap(n);
    const bool alone = signorini(block, law);
    if (alone) {
      const Scalar second =
          target.corrected ? normal_step_ * normal_velocity_step_ : Scalar(0);
      wanted += (target.product - second) / normal_ - normal_velocity_;
    }
    Vector<Scalar, Size> pulled[std::size_t(Most)];
    for (int b = 0; b < block.disc_count; ++b) {
      auto& pair = discs_[std::size_t(b)];
      const auto& step = steps_[std::size_t(b)];
      Pair& aim = aims_[std::size_t(b)];
      if (target.corrected) {
        aim = pair.aim(target.product, step.r, step.z);
      } else {
        aim = pair.aim(target.product, Pair{}, Pair{});
      }
      Vector<Scalar, Size>& pull = pulled[std::size_t(b)];
      pull = aim.tail;
      for_each_row(block, b,
                   [&](int k, int place, const Scalar& mu) { pull(k) += mu * gap(place); });
      if (!alone) wanted += aim.head - locals_[std::size_t(b)].follow.dot(pull);
    }
    offset(n) = inverse_normal_ * wanted;
    for (int b = 0; b < block.disc_count; ++b) {
      const Local& own = locals_[std::size_t(b)];
      const Vector<Scalar, Size>& pull = pulled[std::size_t(b)];
      const Scalar along = own.rank_one * own.along.dot(pull);
      for_each_row(block, b, [&](int k, int place, const Scalar& mu) {
        offset(place) =
            mu * (own.across(k) * pull(k) - along * own.along(k) - own.follow(k) * offset(n));
      });
    }
  }

  /// Takes note of a step of the impulses and of the velocities du_w that W gives for it.
  void take_step(const Block& block, FrictionLaw law, const Numbers& impulse,
                 const Numbers& velocity, const Numbers& gap) noexcept {
    const int n = block.normal;
    normal_step_ = impulse(n);
    const auto change = [&](int place) {
      return velocity(place) + block.regularization(place) * impulse(place) - gap(place);
    };
    Scalar lift(0);
    for (int b = 0; b < block.disc_count; ++b) {
      auto& step = steps_[std::size_t(b)];
      step = {};
      step.r.head = normal_step_;
      for_each_row(block, b, [&](int k, int place, const Scalar& mu) {
        step.r.tail(k) = impulse(place) / mu;
        step.z.tail(k) = mu * change(place);
      });
      step.z.head = discs_[std::size_t(b)].head_of(aims_[std::size_t(b)], step.r, step.z);
      lift += step.z.head;
    }
    normal_velocity_step_ = change(n);
    if (signorini(block, law)) return;
    const Scalar missing = (change(n) - lift) / Scalar(block.disc_count);
    for (int b = 0; b < block.disc_count; ++b) steps_[std::size_t(b)].z.head += missing;
  }

  void dump(Index i) const {
    const auto& pair = discs_[0]; const auto& step = steps_[0];
    const Scalar lr = detail::inverse_step(pair.r, step.r, Scalar(0)), lz = detail::inverse_step(pair.z, step.z, Scalar(0));
    if constexpr (sizeof(Scalar) == 8) printf("\n   %ld inv %.2e %.2e | r %.3e %.3e %.3e det %.3e | z %.3e %.3e %.3e det %.3e un %.3e\n      dr %.3e %.3e %.3e dz %.3e %.3e %.3e dun %.3e", long(i), lr, lz, pair.r.head, pair.r.tail(0), pair.r.tail(1), pair.r.determinant(), pair.z.head, pair.z.tail(0), pair.z.tail(1), pair.z.determinant(), normal_velocity_,
      step.r.head, step.r.tail(0), step.r.tail(1), step.z.head, step.z.tail(0), step.z.tail(1), normal_velocity_step_);
  }
  void check(const Block& block, FrictionLaw law, const Numbers& moved, const Numbers& gap) const {
    const auto& pair = discs_[0]; const auto& step = steps_[0];
    const Pair c = pair.curvature_times(step.r);
    printf("law %d tail %g %g head %g normal %g\n", int(law), step.z.tail(0) + c.tail(0) - aims_[0].tail(0), step.z.tail(1) + c.tail(1) - aims_[0].tail(1), step.z.head + c.head - aims_[0].head,
      normal_velocity_step_ - (moved(2) + block.regularization(2) * normal_step_ - gap(2)));
    const Pair x = pair.divide(pair.times(pair.z)); const Pair y = pair.times(pair.z), w = pair.divide(pair.r);
    printf("   %g %g lam %g %g\n", x.head - pair.z.head, (x.tail-pair.z.tail).norm(), y.head-pair.lambda.head, (w.tail-pair.lambda.tail).norm()+ (y.tail-pair.lambda.tail).norm());
  }
  /// 1/α of the largest step that stays inside, `least` at the least.
  [[nodiscard]] Scalar inverse_step(const Block& block, Scalar least) const noexcept {
    least = (std::max)({least, -normal_step_ / normal_, -normal_velocity_step_ / normal_velocity_});
    for (int b = 0; b < block.disc_count; ++b) {
      const auto& pair = discs_[std::size_t(b)];
      const auto& step = steps_[std::size_t(b)];
      least = detail::inverse_step(pair.r, step.r, least);
      least = detail::inverse_step(pair.z, step.z, least);
    }
    return least;
  }
  void advance(const Block& block, const Scalar& share) noexcept {
    normal_ += share * normal_step_;
    normal_velocity_ += share * normal_velocity_step_;
    for (int b = 0; b < block.disc_count; ++b) {
      auto& pair = discs_[std::size_t(b)];
      const auto& step = steps_[std::size_t(b)];
      pair.r = pair.r.plus(step.r, share);
      pair.z = pair.z.plus(step.z, share);
      pair.r.head = normal_;
    }
  }

 private:
  struct Step {
    Pair r, z;
  };
  /// What one disc contributes to N, in units of μ.
  struct Local {
    Vector<Scalar, Size> across, along, follow;  ///< d, d ∘ w, K
    Scalar rank_one, complement;                 ///< 2/η² by the denominator; C
  };
  [[nodiscard]] static bool signorini(const Block& block, FrictionLaw law) noexcept {
    return law == FrictionLaw::coulomb || block.disc_count == 0;
  }
  template <typename Visit>
  static void for_each_row(const Block& block, int b, const Visit& visit) noexcept {
    const auto& disc = block.discs[std::size_t(b)];
    const int size = Size == 2 ? 2 : disc.size;
    for (int k = 0; k < size; ++k) {
      visit(k, disc.places[std::size_t(k)], disc.friction[std::size_t(k)]);
    }
  }
  /// (G_tt + R)⁻¹ = diag(d) − rank_one (d ∘ w)(d ∘ w)ᵀ, K = (G_tt + R)⁻¹ G_tn and the complement
  /// C = G_nn − G_nt K, each without cancellation.
  void write_disc(const Block& block, int b) noexcept {
    const auto& pair = discs_[std::size_t(b)];
    Local& own = locals_[std::size_t(b)];
    const Scalar& eta = pair.eta_squared;
    Scalar s(0), softened(0);
    own.across.setConstant(eta);
    for_each_row(block, b, [&](int k, int place, const Scalar& mu) {
      const Scalar soft = eta * mu * mu * block.regularization(place);
      own.across(k) = eta / (1 + soft);
      const Scalar squared = pair.w.tail(k) * pair.w.tail(k);
      s += squared * own.across(k);
      softened += squared * soft / (1 + soft);
    });
    own.along = own.across.cwiseProduct(pair.w.tail);
    const Scalar denominator = 1 + 2 * s / eta;
    own.rank_one = 2 / (eta * denominator);
    own.follow = (-2 * pair.w.head / (eta * denominator)) * own.along;
    own.complement = (1 + 2 * softened) / (eta * denominator);
  }

  Scalar normal_ = 1, normal_velocity_ = 1;  ///< γₙ + shift, uₙ
  Scalar normal_step_ = 0, normal_velocity_step_ = 0, inverse_normal_ = 0;
  std::array<ConePair<Scalar, Size>, std::size_t(Most)> discs_;
  std::array<Step, std::size_t(Most)> steps_;
  std::array<Pair, std::size_t(Most)> aims_;
  std::array<Local, std::size_t(Most)> locals_;
};

/// Rows between bounds on the central path: (γ − lower) z = κ, (upper − γ) y = κ, u = z − y.
template <RealScalar Scalar>
class IntervalPath {
 public:
  using Block = BlockRows<Scalar>;
  using Numbers = PartNumbers<Scalar>;

  void start(const Block& block, const Numbers& impulse, const Numbers& velocity) noexcept {
    for (int i = 0; i < block.size(); ++i) {
      Row& row = rows_[std::size_t(i)];
      row = {};
      row.kind = kind_of(block, i);
      row.impulse = row.kind == Kind::fixed ? block.lower(i)
                    : row.kind == Kind::absent ? Scalar(0)
                                               : impulse(i);
      row.push = velocity(i);
    }
  }
  void find_missing(const Block& block, Scalar& impulse, Scalar& velocity) const noexcept {
    impulse = velocity = -std::numeric_limits<Scalar>::infinity();
    for (int i = 0; i < block.size(); ++i) {
      const Row& row = rows_[std::size_t(i)];
      if (row.kind == Kind::below) impulse = (std::max)(impulse, block.lower(i) - row.impulse);
      if (row.kind == Kind::above) impulse = (std::max)(impulse, row.impulse - block.upper(i));
      if (row.kind == Kind::below) velocity = (std::max)(velocity, -row.push);
      if (row.kind == Kind::above) velocity = (std::max)(velocity, row.push);
    }
  }
  void raise(const Block& block, FrictionLaw, const Scalar& least,
             const Scalar& least_velocity) noexcept {
    for (int i = 0; i < block.size(); ++i) {
      Row& row = rows_[std::size_t(i)];
      const Scalar lower = block.lower(i), upper = block.upper(i), velocity = row.push;
      if (row.has_lower() && row.has_upper()) {
        const Scalar width = upper - lower, inset = (std::min)(least, width / 4);
        row.impulse = (std::min)((std::max)(row.impulse, lower + inset), upper - inset);
      } else if (row.has_lower()) {
        row.impulse = (std::max)(row.impulse, lower) + least;
      } else if (row.has_upper()) {
        row.impulse = (std::min)(row.impulse, upper) - least;
      }
      row.push = (std::max)(velocity, Scalar(0)) + least_velocity;
      row.pull = (std::max)(-velocity, Scalar(0)) + least_velocity;
    }
  }
  [[nodiscard]] Numbers impulse(const Block& block) const noexcept {
    Numbers result = Numbers::Zero();
    for (int i = 0; i < block.size(); ++i) result(i) = rows_[std::size_t(i)].impulse;
    return result;
  }
  [[nodiscard]] Numbers velocity(const Block& block, const Numbers& exact) const noexcept {
    Numbers result = exact;
    for (int i = 0; i < block.size(); ++i) {
      const Row& row = rows_[std::size_t(i)];
      if (row.kind == Kind::fixed || row.kind == Kind::absent) continue;
      result(i) = row.velocity();
    }
    return result;
  }
  [[nodiscard]] int count(const Block& block, FrictionLaw) const noexcept {
    int sum = 0;
    for (int i = 0; i < block.size(); ++i) {
      sum += rows_[std::size_t(i)].has_lower() + rows_[std::size_t(i)].has_upper();
    }
    return sum;
  }
  [[nodiscard]] Scalar product(const Block& block, FrictionLaw,
                               const Scalar& share) const noexcept {
    Scalar sum(0);
    for (int i = 0; i < block.size(); ++i) {
      const Row& row = rows_[std::size_t(i)];
      const Scalar x = row.impulse + share * row.impulse_step;
      if (row.has_lower()) sum += (x - block.lower(i)) * (row.push + share * row.push_step);
      if (row.has_upper()) sum += (block.upper(i) - x) * (row.pull + share * row.pull_step);
    }
    return sum;
  }
  [[nodiscard]] bool scale(const Block& block) noexcept {
    bool inside = true;
    for (int i = 0; i < block.size(); ++i) {
      const Row& row = rows_[std::size_t(i)];
      if (row.has_lower()) inside = inside && row.impulse > block.lower(i) && row.push > Scalar(0);
      if (row.has_upper()) inside = inside && row.impulse < block.upper(i) && row.pull > Scalar(0);
    }
    return inside;
  }
  void dump(Index) const {}
  void spread(const Block&, Scalar&, Scalar&, FrictionLaw) const noexcept {}
  void write_gain(const Block& block, FrictionLaw, SquareMatrix<Scalar, 6>& gain) noexcept {
    gain.setZero();
    for (int i = 0; i < block.size(); ++i) {
      Row& row = rows_[std::size_t(i)];
      if (row.kind == Kind::fixed || row.kind == Kind::absent) continue;
      Scalar stiffness = block.regularization(i) + block.inverse_mass * held_softness;
      if (row.has_lower()) stiffness += row.push / (row.impulse - block.lower(i));
      if (row.has_upper()) stiffness += row.pull / (block.upper(i) - row.impulse);
      row.gain = gain(i, i) = Scalar(1) / stiffness;
    }
  }
  void write_offset(const Block& block, FrictionLaw, const PathTarget<Scalar>& target,
                    const Numbers& gap, Numbers& offset) noexcept {
    offset.setZero();
    for (int i = 0; i < block.size(); ++i) {
      Row& row = rows_[std::size_t(i)];
      if (row.kind == Kind::fixed || row.kind == Kind::absent) continue;
      row.push_aim = row.pull_aim = 0;
      if (row.has_lower()) {
        const Scalar second = target.corrected ? row.impulse_step * row.push_step : Scalar(0);
        row.push_aim = (target.product - second) / (row.impulse - block.lower(i)) - row.push;
      }
      if (row.has_upper()) {
        const Scalar second = target.corrected ? -row.impulse_step * row.pull_step : Scalar(0);
        row.pull_aim = (target.product - second) / (block.upper(i) - row.impulse) - row.pull;
      }
      offset(i) = row.gain * (gap(i) + row.push_aim - row.pull_aim - row.free_velocity());
    }
  }
  void take_step(const Block& block, FrictionLaw, const Numbers& impulse, const Numbers&,
                 const Numbers&) noexcept {
    for (int i = 0; i < block.size(); ++i) {
      Row& row = rows_[std::size_t(i)];
      row.impulse_step = impulse(i);
      row.push_step = row.pull_step = 0;
      if (row.has_lower()) {
        row.push_step = row.push_aim - row.push / (row.impulse - block.lower(i)) * impulse(i);
      }
      if (row.has_upper()) {
        row.pull_step = row.pull_aim + row.pull / (block.upper(i) - row.impulse) * impulse(i);
      }
    }
  }
  [[nodiscard]] Scalar inverse_step(const Block& block, Scalar least) const noexcept {
    for (int i = 0; i < block.size(); ++i) {
      const Row& row = rows_[std::size_t(i)];
      if (row.has_lower()) {
        least = (std::max)({least, -row.impulse_step / (row.impulse - block.lower(i)),
                            -row.push_step / row.push});
      }
      if (row.has_upper()) {
        least = (std::max)({least, row.impulse_step / (block.upper(i) - row.impulse),
                            -row.pull_step / row.pull});
      }
    }
    return least;
  }
  void advance(const Block& block, const Scalar& share) noexcept {
    for (int i = 0; i < block.size(); ++i) {
      Row& row = rows_[std::size_t(i)];
      row.impulse += share * row.impulse_step;
      row.push += share * row.push_step;
      row.pull += share * row.pull_step;
    }
  }

 private:
  /// Softness of rows that are always held, relative to w: they have no barrier of their own.
  static constexpr Scalar held_softness =
      Scalar(16) * std::numeric_limits<Scalar>::epsilon();
  enum class Kind { absent, fixed, free, below, above, between };
  struct Row {
    Kind kind = Kind::absent;
    Scalar impulse = 0, push = 0, pull = 0;
    Scalar impulse_step = 0, push_step = 0, pull_step = 0;
    Scalar gain = 0, push_aim = 0, pull_aim = 0;

    [[nodiscard]] bool has_lower() const noexcept {
      return kind == Kind::below || kind == Kind::between;
    }
    [[nodiscard]] bool has_upper() const noexcept {
      return kind == Kind::above || kind == Kind::between;
    }
    [[nodiscard]] Scalar velocity() const noexcept {
      return (has_lower() ? push : Scalar(0)) - (has_upper() ? pull : Scalar(0));
    }
    [[nodiscard]] static Scalar free_velocity() noexcept { return Scalar(0); }
  };
  [[nodiscard]] static Kind kind_of(const Block& block, int i) noexcept {
    if (!block.present[std::size_t(i)]) return Kind::absent;
    const bool lower = is_finite(block.lower(i)), upper = is_finite(block.upper(i));
    if (lower && upper) {
      return block.upper(i) > block.lower(i) ? Kind::between : Kind::fixed;
    }
    return lower ? Kind::below : upper ? Kind::above : Kind::free;
  }

  std::array<Row, 6> rows_;
};

}  // namespace carom::inline CAROM_ABI::detail
