// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "carom/solvers/search/interior_point_tuning.hpp"
#include "carom/solvers/search/interval_path.hpp"
#include "carom/solvers/search/law_iterate.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The central path of a law, which is followed by predictor and corrector, one island at a time.
///
/// start() finds a point inside of all cones, and advance() takes one step. After each of them the
/// iterate holds the impulses of the path.
/// @cite  mehrotra1992implementation for predictor and corrector;
/// docs/derivations/interior_point.md.
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

  /// Begins at the impulses of (W + R + w) γ = −q, moved inside of their cones by `margin` times
  /// what the worst of them lacks.
  [[nodiscard]] bool start(System& system, Index island, const Yardstick<Scalar>& yardstick,
                           const Scalar& margin, LawIterate<Scalar>& iterate,
                           StepMemory<Scalar>& memory);

  /// Takes one step: factors one system and solves it two or three times.
  /// @param iterate  impulses of the path, in and out; velocities are those of the impulses.
  /// @return  the share of the step that was taken, in [0, 1]; 0 where no step can be taken.
  [[nodiscard]] Scalar advance(System& system, Index island, FrictionLaw law,
                               LawIterate<Scalar>& iterate, StepMemory<Scalar>& memory);

  /// One step of Newton's method towards the point of the path that has `product` as all of its
  /// products; while they are large, towards a tenth of them.
  /// @return  as advance().
  [[nodiscard]] Scalar centre(System& system, Index island, FrictionLaw law, const Scalar& product,
                              LawIterate<Scalar>& iterate, StepMemory<Scalar>& memory);

  /// Whether a share of a step is a short one.
  [[nodiscard]] static bool is_short(const Scalar& share) noexcept {
    return share < Scalar(Tuning::short_step);
  }

 private:
  using Tuning = CentralPathTuning;

  /// A step that was solved for: the longest share that stays inside, and the products along it.
  struct Found {
    Scalar longest;
    ProductSum<Scalar> products;
    /// The share to take.
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
  /// Writes N and p of all blocks, and factors. False where the iterate is not inside.
  /// @param count  out: how many products there are.
  [[nodiscard]] bool factor(System& system, Index island, FrictionLaw law,
                            const LawIterate<Scalar>& iterate, StepMemory<Scalar>& memory,
                            int& count);
  /// Solves for a step, which every block keeps.
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
  // Where the worst block lacks nothing, a share of the mean impulse takes its place.
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
