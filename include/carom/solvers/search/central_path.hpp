// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <limits>

#include "carom/solvers/search/cone_path.hpp"
#include "carom/solvers/search/law_iterate.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Rows between bounds on the central path: (γ − lower) z = κ, (upper − γ) y = κ, u = z − y. Rows
/// without bounds have u = 0, those with equal bounds have a given impulse.
template <RealScalar Scalar>
class IntervalPath {
 public:
  using Block = BlockRows<Scalar, 2>;
  using Numbers = PartNumbers<Scalar, 2>;

  /// Stores impulse and velocity, which may be outside of their bounds.
  void start(const Block& block, const Numbers& impulse, const Numbers& velocity) noexcept {
    for (int i = 0; i < 6; ++i) {
      Row& row = rows_[i];
      row = {};
      row.kind = kind_of(block, i);
      row.impulse = row.kind == Kind::fixed ? block.lower(i) : impulse(i);
      row.push = velocity(i);
    }
  }
  /// The distance of one-sided rows to the inside: `impulse` and `velocity` become at least these
  /// distances.
  void find_missing(const Block& block, Scalar& impulse, Scalar& velocity) const noexcept {
    for (int i = 0; i < block.size(); ++i) {
      const Row& row = rows_[i];
      if (row.kind == Kind::below) {
        impulse = (std::max)(impulse, block.lower(i) - row.impulse);
        velocity = (std::max)(velocity, -row.push);
      } else if (row.kind == Kind::above) {
        impulse = (std::max)(impulse, row.impulse - block.upper(i));
        velocity = (std::max)(velocity, row.push);
      }
    }
  }
  /// Moves impulses away from bounds, and velocities away from zero, by `least`, or by a share of
  /// the distance between two bounds.
  void raise(const Block& block, FrictionLaw, const Scalar& least,
             const Scalar& least_velocity) noexcept {
    for (int i = 0; i < block.size(); ++i) {
      Row& row = rows_[i];
      const Scalar lower = block.lower(i), upper = block.upper(i), velocity = row.push;
      if (row.kind == Kind::between) {
        const Scalar inset =
            (std::min)(least, Scalar(CentralPathTuning::bound_inset) * (upper - lower));
        row.impulse = (std::min)((std::max)(row.impulse, lower + inset), upper - inset);
      } else if (row.kind == Kind::below) {
        row.impulse = (std::max)(row.impulse, lower) + least;
      } else if (row.kind == Kind::above) {
        row.impulse = (std::min)(row.impulse, upper) - least;
      }
      row.push = row.has_lower() ? (std::max)(velocity, Scalar(0)) + least_velocity : Scalar(0);
      row.pull = row.has_upper() ? (std::max)(-velocity, Scalar(0)) + least_velocity : Scalar(0);
    }
  }
  [[nodiscard]] Numbers impulse(const Block& block) const noexcept {
    Numbers result;
    for (int i = 0; i < block.size(); ++i) result(i) = rows_[i].impulse;
    return result;
  }
  /// p = u of the path minus u of the impulses.
  [[nodiscard]] Numbers gap(const Block& block, const Numbers& velocity) const noexcept {
    Numbers result;
    for (int i = 0; i < block.size(); ++i) {
      const Row& row = rows_[i];
      if (row.moves()) result(i) = row.push - row.pull - velocity(i);
    }
    return result;
  }
  [[nodiscard]] int count(const Block& block, FrictionLaw) const noexcept {
    int sum = 0;
    for (int i = 0; i < block.size(); ++i) {
      sum += rows_[i].has_lower() + rows_[i].has_upper();
    }
    return sum;
  }
  void add_products(const Block& block, FrictionLaw, ProductSum<Scalar>& sum) const noexcept {
    for (int i = 0; i < block.size(); ++i) {
      const Row& row = rows_[i];
      if (row.has_lower()) sum.add(row.above(block, i), row.push, row.step, row.push_step);
      if (row.has_upper()) sum.add(row.below(block, i), row.pull, -row.step, row.pull_step);
    }
  }
  /// Writes N. Returns false if the iterate is not inside.
  [[nodiscard]] bool write_gain(const Block& block, FrictionLaw,
                                PartMatrix<Scalar, 2>& gain) noexcept {
    gain = {};
    bool inside = true;
    for (int i = 0; i < block.size(); ++i) {
      Row& row = rows_[i];
      if (!row.moves()) continue;
      constexpr Scalar epsilon = std::numeric_limits<Scalar>::epsilon();
      const Scalar softness = Scalar(CentralPathTuning::free_softness) * epsilon;
      Scalar stiffness = block.regularization(i) + block.inverse_mass * softness;
      if (row.has_lower()) {
        inside = inside && row.above(block, i) > Scalar(0) && row.push > Scalar(0);
        stiffness += row.push / row.above(block, i);
      }
      if (row.has_upper()) {
        inside = inside && row.below(block, i) > Scalar(0) && row.pull > Scalar(0);
        stiffness += row.pull / row.below(block, i);
      }
      row.gain = gain(i, i) = Scalar(1) / stiffness;
    }
    return inside;
  }
  /// Writes h.
  void write_offset(const Block& block, FrictionLaw, const PathTarget<Scalar>& target,
                    const Numbers& gap, Numbers& offset) noexcept {
    offset = {};
    for (int i = 0; i < block.size(); ++i) {
      Row& row = rows_[i];
      if (!row.moves()) continue;
      const auto aim = [&](const Scalar& room, const Scalar& force, const Scalar& second) {
        return (target.product - (target.corrected ? second : Scalar(0))) / room - force;
      };
      row.push_aim = row.pull_aim = 0;
      if (row.has_lower()) {
        row.push_aim = aim(row.above(block, i), row.push, row.step * row.push_step);
      }
      if (row.has_upper()) {
        row.pull_aim = aim(row.below(block, i), row.pull, -row.step * row.pull_step);
      }
      offset(i) = row.gain * (gap(i) + row.push_aim - row.pull_aim);
    }
  }
  /// Stores a step of the impulses; see ConePath.
  [[nodiscard]] Scalar take_step(const Block& block, FrictionLaw, const Numbers& impulse,
                                 const Numbers&, const Numbers&, Scalar least) noexcept {
    for (int i = 0; i < block.size(); ++i) {
      Row& row = rows_[i];
      row.step = row.moves() ? impulse(i) : Scalar(0);
      if (row.has_lower()) {
        const Scalar room = row.above(block, i);
        row.push_step = row.push_aim - row.push / room * row.step;
        least = (std::max)({least, -row.step / room, -row.push_step / row.push});
      }
      if (row.has_upper()) {
        const Scalar room = row.below(block, i);
        row.pull_step = row.pull_aim + row.pull / room * row.step;
        least = (std::max)({least, row.step / room, -row.pull_step / row.pull});
      }
    }
    return least;
  }
  void advance(const Block& block, const Scalar& share) noexcept {
    for (int i = 0; i < block.size(); ++i) {
      Row& row = rows_[i];
      row.impulse += share * row.step;
      row.push += share * row.push_step;
      row.pull += share * row.pull_step;
    }
  }

 private:
  enum class Kind { absent, fixed, free, below, above, between };
  struct Row {
    Kind kind = Kind::absent;
    Scalar impulse = 0, push = 0, pull = 0;
    Scalar step = 0, push_step = 0, pull_step = 0;
    Scalar gain = 0, push_aim = 0, pull_aim = 0;

    [[nodiscard]] bool moves() const noexcept {
      return kind != Kind::absent && kind != Kind::fixed;
    }
    [[nodiscard]] bool has_lower() const noexcept {
      return kind == Kind::below || kind == Kind::between;
    }
    [[nodiscard]] bool has_upper() const noexcept {
      return kind == Kind::above || kind == Kind::between;
    }
    [[nodiscard]] Scalar above(const Block& block, int i) const noexcept {
      return impulse - block.lower(i);
    }
    [[nodiscard]] Scalar below(const Block& block, int i) const noexcept {
      return block.upper(i) - impulse;
    }
  };
  [[nodiscard]] static Kind kind_of(const Block& block, int i) noexcept {
    if (!block.present(i)) return Kind::absent;
    const bool lower = is_finite(block.lower(i)), upper = is_finite(block.upper(i));
    if (lower && upper) return block.upper(i) > block.lower(i) ? Kind::between : Kind::fixed;
    return lower ? Kind::below : upper ? Kind::above : Kind::free;
  }

  Row rows_[6];
};

/// The central path of a law, island by island, with predictor and corrector steps.
///
/// start() computes a point inside of all cones, and advance() computes one step. After each of
/// them, the iterate is the impulses of the path.
/// @cite  mehrotra1992implementation for predictor and corrector;
///        docs/derivations/interior_point.md.
template <typename System>
class CentralPath {
 public:
  using Scalar = typename System::scalar_type;

  void lay_out(const System& system) {
    triples_.resize(system.blocks().triple_count());
    cones_.resize(system.blocks().other_count());
    intervals_.resize(system.blocks().other_count());
    if (gap_.size() != 3 * system.part_count()) gap_.assign(3 * system.part_count(), Scalar(0));
  }

  /// Starts at the impulses of (W + R + w) γ = −q, moved into their cones by `margin` times the
  /// largest distance to the inside.
  [[nodiscard]] bool start(System& system, Index island, const Yardstick<Scalar>& yardstick,
                           const Scalar& margin, LawIterate<Scalar>& iterate,
                           StepMemory<Scalar>& memory);

  /// Computes one step: factors one system and solves it two or three times.
  /// @param iterate  impulses of the path, in and out; velocities are those of the impulses.
  /// @return  the share of the step, in [0, 1]; 0 if no step is possible.
  [[nodiscard]] Scalar advance(System& system, Index island, FrictionLaw law,
                               LawIterate<Scalar>& iterate, StepMemory<Scalar>& memory);

  /// One Newton step towards the point of the path at which all products are `product`; while they
  /// are much larger, towards a tenth of them.
  /// @return  as for advance().
  [[nodiscard]] Scalar centre(System& system, Index island, FrictionLaw law, const Scalar& product,
                              LawIterate<Scalar>& iterate, StepMemory<Scalar>& memory);

  /// Whether a share of a step is a short one.
  [[nodiscard]] static bool is_short(const Scalar& share) noexcept {
    return share < Scalar(Tuning::short_step);
  }

 private:
  using Tuning = CentralPathTuning;

  /// A computed step: the longest share that stays inside, and the products along it.
  struct Found {
    Scalar longest;
    ProductSum<Scalar> products;
    /// The share of the step.
    [[nodiscard]] Scalar share() const noexcept {
      return (std::min)(Scalar(1), Scalar(Tuning::to_boundary) * longest);
    }
  };

  template <typename Visit>
  void for_each(const System& system, Index island, Visit&& visit) noexcept {
    const BlockIsland& own = system.islands()[island];
    const BlockList<Scalar>& blocks = system.blocks();
    for (Index i = own.first_block; i < own.block_end; ++i) {
      const int number = blocks.number(i);
      if (blocks.is_triple(i)) {
        visit(i, blocks.triple(i), triples_[number]);
      } else if (blocks.other(i).is_cone()) {
        visit(i, blocks.other(i), cones_[number]);
      } else {
        visit(i, blocks.other(i), intervals_[number]);
      }
    }
  }
  void read_impulses(System& system, Index island, LawIterate<Scalar>& iterate) noexcept {
    for_each(system, island, [&](Index, const auto& block, const auto& path) {
      write_parts(block, path.impulse(block), iterate.impulse());
    });
  }
  /// Writes N and p of all blocks, and factors. Returns false if the iterate is not inside.
  /// @param count  written: count of products.
  [[nodiscard]] bool factor(System& system, Index island, FrictionLaw law,
                            const LawIterate<Scalar>& iterate, StepMemory<Scalar>& memory,
                            int& count);
  /// Solves for a step, which each block stores.
  [[nodiscard]] Found find_step(System& system, Index island, FrictionLaw law,
                                const PathTarget<Scalar>& target, StepMemory<Scalar>& memory) {
    for_each(system, island, [&](Index, const auto& block, auto& path) {
      auto offset = read_parts(block, memory.offset.data());
      path.write_offset(block, law, target, read_parts(block, gap_.data()), offset);
      write_parts(block, offset, memory.offset.data());
    });
    system.solve(island, memory.gains, memory.offset.data(), memory.step.data(),
                 memory.moved.data());
    auto inverse = Scalar(Tuning::to_boundary);
    ProductSum<Scalar> products;
    for_each(system, island, [&](Index i, const auto& block, auto& path) {
      inverse = path.take_step(block, law, read_parts(block, memory.step.data()),
                               read_parts(block, memory.moved.data()),
                               read_parts(block, gap_.data()), inverse);
      if (counts_block(system, i)) path.add_products(block, law, products);
    });
    return {Scalar(1) / largest_of(system, inverse), products.total(system)};
  }

  Sequence<ConePath<Scalar, 1>> triples_;
  Sequence<ConePath<Scalar, 2>> cones_;
  Sequence<IntervalPath<Scalar>> intervals_;
  Sequence<Scalar> gap_;
};

// --- implementation ---

template <typename System>
bool CentralPath<System>::start(System& system, Index island, const Yardstick<Scalar>& yardstick,
                                const Scalar& margin, LawIterate<Scalar>& iterate,
                                StepMemory<Scalar>& memory) {
  for_each(system, island, [&]<int Parts>(Index i, const BlockRows<Scalar, Parts>& block, auto&) {
    PartMatrix<Scalar, Parts> gain;
    for (int k = 0; k < block.size(); ++k) {
      if (block.present(k)) gain(k, k) = 1 / (block.regularization(k) + block.inverse_mass);
    }
    for (int b = 0; block.is_cone() && b < block.disc_count; ++b) {
      const auto& disc = block.friction_disc(b);
      for (int k = 0; k < disc.size; ++k) {  // in units of μ
        const int p = disc.places[k];
        const Scalar& mu = disc.friction[k];
        gain(p, p) = mu * mu / (mu * mu * block.regularization(p) + block.inverse_mass);
      }
    }
    memory.gains.write(i, block.parts, gain);
    PartNumbers<Scalar, Parts> offset = read_parts(block, system.load());
    for (int k = 0; k < offset.size(); ++k) offset(k) *= -gain(k, k);
    write_parts(block, offset, memory.offset.data());
  });
  if (!system.factor(island, memory.gains)) return false;
  system.solve(island, memory.gains, memory.offset.data(), memory.step.data(), memory.moved.data());
  Scalar impulse(0), velocity(0), sum(0), count(0);
  for_each(system, island, [&](Index i, const auto& block, auto& path) {
    const auto gamma = read_parts(block, memory.step.data());
    path.start(block, gamma, -block.inverse_mass * gamma);
    path.find_missing(block, impulse, velocity);
    if (!counts_block(system, i)) return;
    for (int k = 0; k < block.size(); ++k) sum += gamma(k) < Scalar(0) ? -gamma(k) : gamma(k);
    count += Scalar(block.size());
  });
  impulse = largest_of(system, impulse);
  velocity = largest_of(system, velocity);
  const auto sums = total_of(system, std::array<Scalar, 2>{sum, count});
  // If the largest distance is zero, a share of the mean impulse replaces it.
  const Scalar mean = sums[0] / (std::max)(sums[1], Scalar(1));
  const Scalar unit = mean > Scalar(0) ? mean : Scalar(1);
  const Scalar least = Scalar(Tuning::least_start) * unit;
  impulse = margin * (std::max)(impulse, least);
  velocity = margin * (std::max)(velocity, least * yardstick.inverse_mass);
  for_each(system, island, [&](Index, const auto& block, auto& path) {
    path.raise(block, yardstick.law, impulse, velocity);
  });
  read_impulses(system, island, iterate);
  return true;
}

template <typename System>
bool CentralPath<System>::factor(System& system, Index island, FrictionLaw law,
                                 const LawIterate<Scalar>& iterate, StepMemory<Scalar>& memory,
                                 int& count) {
  bool inside = true;
  count = 0;
  for_each(
      system, island, [&]<int Parts>(Index i, const BlockRows<Scalar, Parts>& block, auto& path) {
        PartMatrix<Scalar, Parts> gain;
        inside = path.write_gain(block, law, gain) && inside;
        memory.gains.write(i, block.parts, gain);
        write_parts(block, path.gap(block, read_parts(block, iterate.velocity())), gap_.data());
        if (counts_block(system, i)) count += path.count(block, law);
      });
  count = int(total_of(system, std::array<Scalar, 1>{Scalar(count)})[0]);
  return agreed(system, inside) && system.factor(island, memory.gains);
}

template <typename System>
typename System::scalar_type CentralPath<System>::advance(System& system, Index island,
                                                          FrictionLaw law,
                                                          LawIterate<Scalar>& iterate,
                                                          StepMemory<Scalar>& memory) {
  int count = 0;
  if (!factor(system, island, law, iterate, memory, count)) return Scalar(0);
  const Found predicted = find_step(system, island, law, {Scalar(0), false}, memory);
  const Scalar product = predicted.products.now / Scalar((std::max)(count, 1));  // κ
  Scalar centring(0);
  if (count > 0) {
    const Scalar left = predicted.products.at((std::min)(Scalar(1), predicted.longest));
    const Scalar ratio = (std::max)(Scalar(0), left / predicted.products.now);
    centring = (std::min)(Scalar(1), ratio * ratio * ratio);
  }
  Scalar share = find_step(system, island, law, {centring * product, true}, memory).share();
  if (is_short(share)) {
    const Scalar plain = (std::max)(centring, Scalar(Tuning::plain_centring));
    share = find_step(system, island, law, {plain * product, false}, memory).share();
  }
  if (!(share > Scalar(0))) return Scalar(0);
  for_each(system, island,
           [&](Index, const auto& block, auto& path) { path.advance(block, share); });
  read_impulses(system, island, iterate);
  return share;
}

template <typename System>
typename System::scalar_type CentralPath<System>::centre(System& system, Index island,
                                                         FrictionLaw law, const Scalar& product,
                                                         LawIterate<Scalar>& iterate,
                                                         StepMemory<Scalar>& memory) {
  int count = 0;
  if (!factor(system, island, law, iterate, memory, count)) return Scalar(0);
  ProductSum<Scalar> products;
  for_each(system, island, [&](Index i, const auto& block, const auto& path) {
    if (counts_block(system, i)) path.add_products(block, law, products);
  });
  const Scalar mean = products.total(system).now / Scalar((std::max)(count, 1));
  const Scalar target = (std::max)(product, Scalar(Tuning::centring_fall) * mean);
  const Scalar share = find_step(system, island, law, {target, false}, memory).share();
  if (!(share > Scalar(0))) return Scalar(0);
  for_each(system, island,
           [&](Index, const auto& block, auto& path) { path.advance(block, share); });
  read_impulses(system, island, iterate);
  return share;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
