// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/contact/detail/natural_map.hpp"
#include "carom/contact/primal.hpp"
#include "carom/core/detail/plain_loops.hpp"
#include "carom/linalg/detail/cholesky.hpp"
#include "carom/solvers/search/judged_answer.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The largest of some numbers ≥ 0, and whose it is.
template <RealScalar Scalar>
class LargestPart {
 public:
  explicit LargestPart(const Scalar& least) noexcept : value_(least) {}
  void see(const Scalar& part, Index owner) noexcept {
    if (!(part > value_)) return;
    value_ = part;
    owner_ = owner;
  }
  /// Sees what another has seen, of owners that come later.
  LargestPart& operator+=(const LargestPart& later) noexcept {
    see(later.value_, later.owner_);
    return *this;
  }
  [[nodiscard]] const Scalar& value() const noexcept { return value_; }
  [[nodiscard]] Index owner() const noexcept { return owner_; }

 private:
  Scalar value_;
  Index owner_ = -1;
};

/// The first of some items that are seen in their order, or −1.
struct FirstSeen {
  Index number = -1;

  void see(Index other) noexcept {
    if (number < 0) number = other;
  }
  FirstSeen& operator+=(const FirstSeen& later) noexcept {
    see(later.number);
    return *this;
  }
};

/// Sums over bodies of what makes up ‖w − w* − Ĵᵀγ‖, how large that is relative to the momentum in
/// play, and the worst body.
template <RealScalar Scalar>
class MomentumBalance {
 public:
  /// @param whitened, free, pushed  w, w* and Ĵᵀγ of the body.
  void see(Index body, Index size, const Scalar* whitened, const Scalar* free,
           const Scalar* pushed) noexcept {
    Scalar part(0);
    for (Index k = 0; k < size; ++k) {
      const Scalar off = whitened[k] - free[k] - pushed[k];
      part += off * off;
    }
    off_squared_ += part;
    free_squared_ += dot(free, free, size);
    pushed_squared_ += dot(pushed, pushed, size);
    worst_.see(part, body);
  }
  MomentumBalance& operator+=(const MomentumBalance& other) noexcept {
    off_squared_ += other.off_squared_;
    free_squared_ += other.free_squared_;
    pushed_squared_ += other.pushed_squared_;
    worst_ += other.worst_;
    return *this;
  }

  [[nodiscard]] Scalar norm() const noexcept { return std::sqrt(off_squared_); }
  /// @param gross_squared  ‖Ĵᵀγ‖² if no impulse cancelled another.
  [[nodiscard]] Scalar relative(const Scalar& gross_squared) const noexcept {
    const Scalar scale = momentum_scale(free_squared_, pushed_squared_, gross_squared);
    return scale > Scalar(0) ? norm() / scale : norm();
  }
  [[nodiscard]] Index worst() const noexcept { return worst_.owner(); }

 private:
  Scalar off_squared_ = 0, free_squared_ = 0, pushed_squared_ = 0;
  LargestPart<Scalar> worst_{Scalar(0)};
};

/// One block's parts of the sums and of the largest values.
template <RealScalar Scalar>
struct ImpulseParts {
  Scalar gap;  ///< ½‖γ − P(y)‖²_R + (γ − P(y))ᵀR(P(y) − y), ≥ 0 for γ in its set
  Scalar violation;  ///< distance from the set
  Scalar work;       ///< |(γ − P(y))·u|, for cones |γ·u|
};

/// @param nearest  P(y).
template <RealScalar Scalar>
[[nodiscard]] ImpulseParts<Scalar> parts_of(const BlockView<Scalar>& block,
                                            const RowNumbers<Scalar>& gamma,
                                            const RowNumbers<Scalar>& y,
                                            const RowNumbers<Scalar>& nearest) noexcept {
  const RowNumbers<Scalar> weights = block.regularization();
  const RowNumbers<Scalar> inside = block.nearest_unweighted(gamma);
  const bool is_cone = block.is_cone();
  Scalar gap(0), outside(0), work(0);
  for (int i = 0; i < block.rows(); ++i) {
    const Scalar change = gamma(i) - nearest(i), miss = gamma(i) - inside(i);
    // P(y)ᵀR(P(y) − y) = 0 for a cone, and u = J v − v̂ + R γ = R (γ − y).
    const Scalar works = weights(i) * (is_cone ? gamma(i) : change);
    gap += change * change * weights(i) / 2 + works * (nearest(i) - y(i));
    outside += miss * miss;
    work += works * (gamma(i) - y(i));
  }
  return {gap, std::sqrt(outside), std::abs(work)};
}

/// What the blocks of an answer add up to, and who has the largest part of each measure.
template <RealScalar Scalar>
struct PartsSeen {
  Scalar gap_sum = 0;
  Scalar given_gross = 0, own_gross = 0;  ///< ‖Ĵᵀγ‖², ‖ĴᵀP(y)‖² if no impulse cancelled another
  LargestPart<Scalar> gap{Scalar(-1)}, violation{Scalar(0)}, work{Scalar(-1)};
  FirstSeen not_finite;  ///< the first block whose y(v) is not finite

  void see(const ImpulseParts<Scalar>& parts, Index owner) noexcept {
    gap_sum += parts.gap;
    gap.see(std::abs(parts.gap), owner);
    violation.see(parts.violation, owner);
    work.see(parts.work, owner);
  }
  PartsSeen& operator+=(const PartsSeen& later) noexcept {
    gap_sum += later.gap_sum;
    given_gross += later.given_gross;
    own_gross += later.own_gross;
    gap += later.gap;
    violation += later.violation;
    work += later.work;
    not_finite += later.not_finite;
    return *this;
  }
};

/// Looks at every block of an answer (v, γ).
/// @param own  P(y(v)), written in all blocks where y(v) is finite.
template <RealScalar Scalar>
[[nodiscard]] PartsSeen<Scalar> see_impulses(const JudgedAnswer<Scalar>& answer,
                                             VectorX<Scalar>& own) {
  own.resize(answer.impulse().size());
  using Block = typename JudgedAnswer<Scalar>::Block;
  const auto see = [&](const Block& block, PartsSeen<Scalar>& seen) {
    const RowNumbers<Scalar> gamma = block.read(answer.impulse());
    const RowNumbers<Scalar> y = block.trial(block.velocity(answer.velocity()));
    if (!all_finite(y.data(), y.size())) return seen.not_finite.see(block.number());
    const RowNumbers<Scalar> nearest = block.nearest(y);
    block.write(nearest, own);
    seen.given_gross += block.gross_squared(gamma);
    seen.own_gross += block.gross_squared(nearest);
    seen.see(parts_of(block, gamma, y, nearest), block.number());
  };
  return answer.sum_over_blocks(PartsSeen<Scalar>(), see);
}

/// The balances of momentum of a velocity with the impulses given and with its own, P(y(v)).
template <RealScalar Scalar>
struct BalancesSeen {
  MomentumBalance<Scalar> given, own;

  BalancesSeen& operator+=(const BalancesSeen& other) noexcept {
    given += other.given;
    own += other.own;
    return *this;
  }
};

/// @param own       P(y(v)).
/// @param velocity  written, v* + A⁻¹Jᵀγ.
template <RealScalar Scalar>
[[nodiscard]] BalancesSeen<Scalar> see_balances(const JudgedAnswer<Scalar>& answer,
                                                const VectorX<Scalar>& own,
                                                VectorX<Scalar>& velocity) {
  const ContactProblem<Scalar>& problem = answer.problem();
  VectorX<Scalar> whitened = answer.velocity(), own_sum = VectorX<Scalar>::Zero(whitened.size());
  velocity.setZero(whitened.size());
  const auto see = [&](Index b, BalancesSeen<Scalar>& seen) {
    answer.for_each_touch(b, [&](const typename JudgedAnswer<Scalar>::Block& block, int s) {
      block.add_momentum(s, block.read(answer.impulse()), velocity);
      block.add_momentum(s, block.read(own), own_sum);
    });
    const auto [start, size] = problem.body(b);
    const Scalar* const factor = problem.momentum_factor(b).data();
    Scalar* const v = velocity.data() + start;
    Scalar* const own_pushed = own_sum.data() + start;
    Scalar* const w = whitened.data() + start;
    solve_lower(factor, size, size, v);
    solve_lower(factor, size, size, own_pushed);
    multiply_lower_transposed(factor, size, size, w);
    const Scalar* const free = problem.whitened_free_velocity().data() + start;
    seen.given.see(b, size, w, free, v);
    seen.own.see(b, size, w, free, own_pushed);
    solve_lower_transposed(factor, size, size, v);
    add_multiple(Scalar(1), problem.free_velocity().data() + start, size, v);
  };
  return answer.ranges().sum(problem.body_count(), BalancesSeen<Scalar>(),
                             [&](Index begin, Index end, BalancesSeen<Scalar>& seen) {
                               for (Index b = begin; b < end; ++b) see(b, seen);
                             });
}

/// Squares of the norms of q, γ and u, and the trace of W + R.
template <RealScalar Scalar>
struct MapSize {
  Scalar load_squared = 0, impulse_squared = 0, velocity_squared = 0, diagonal = 0;

  MapSize& operator+=(const MapSize& other) noexcept {
    load_squared += other.load_squared;
    impulse_squared += other.impulse_squared;
    velocity_squared += other.velocity_squared;
    diagonal += other.diagonal;
    return *this;
  }
};

/// @param close  v* + A⁻¹Jᵀγ.
/// @param slope  written, u = J v − v̂ + R γ of that velocity.
template <RealScalar Scalar>
[[nodiscard]] MapSize<Scalar> see_slope(const JudgedAnswer<Scalar>& answer,
                                        const VectorX<Scalar>& close, VectorX<Scalar>& slope) {
  slope.resize(answer.impulse().size());
  const auto free = answer.problem().free_velocity();
  using Block = typename JudgedAnswer<Scalar>::Block;
  const auto see = [&](const Block& block, MapSize<Scalar>& size) {
    const RowNumbers<Scalar> gamma = block.read(answer.impulse());
    const RowNumbers<Scalar> u = block.slope(block.velocity(close), gamma);
    block.write(u, slope);
    const RowNumbers<Scalar> weights = block.regularization(), moved = block.velocity(free);
    for (int i = 0; i < block.rows(); ++i) {
      const Scalar load = moved(i) - block.bias_velocity()(i);
      size.load_squared += load * load;
      size.impulse_squared += gamma(i) * gamma(i);
      size.velocity_squared += u(i) * u(i);
      size.diagonal += weights(i);
    }
    for (int s = 0; s < block.side_count(); ++s) {
      const Scalar* const rows = block.side(s).whitened;
      size.diagonal += dot(rows, rows, block.rows() * block.side(s).range.size);
    }
  };
  return answer.sum_over_blocks(MapSize<Scalar>(), see);
}

/// ‖r − P(r − u)‖² over the blocks.
template <RealScalar Scalar>
struct MapSeen {
  Scalar squared = 0;
  LargestPart<Scalar> worst{Scalar(-1)};
  FirstSeen not_finite;

  MapSeen& operator+=(const MapSeen& later) noexcept {
    squared += later.squared;
    worst += later.worst;
    not_finite += later.not_finite;
    return *this;
  }
};

/// The natural map error of the dual problem and its worst block.
template <RealScalar Scalar>
struct NaturalMapSeen {
  Scalar error = 0;
  Index worst_block = -1;
};

/// @param close  v* + A⁻¹Jᵀγ.
/// @return  infinite where a number leaves the type's range, with the first block where one does.
template <RealScalar Scalar>
[[nodiscard]] NaturalMapSeen<Scalar> see_natural_map(const JudgedAnswer<Scalar>& answer,
                                                     const VectorX<Scalar>& close) {
  if (answer.impulse().size() == 0) return {};
  VectorX<Scalar> slope;
  const MapSize<Scalar> size = see_slope(answer, close, slope);
  // The measure does not change when all of it is multiplied by ‖q‖, which may be zero.
  const Scalar inverse_mass = size.diagonal / Scalar(answer.impulse().size());
  const auto see = [&](const typename JudgedAnswer<Scalar>::Block& block, MapSeen<Scalar>& seen) {
    const RowNumbers<Scalar> gamma = block.read(answer.impulse()), u = block.read(slope);
    const Scalar part =
        natural_map_squared(FrictionLaw::convex, block.set(), gamma, u, inverse_mass);
    if (!is_finite(part)) return seen.not_finite.see(block.number());
    seen.squared += part;
    seen.worst.see(part, block.number());
  };
  const MapSeen<Scalar> seen = answer.sum_over_blocks(MapSeen<Scalar>(), see);
  if (seen.not_finite.number >= 0) {
    return {std::numeric_limits<Scalar>::infinity(), seen.not_finite.number};
  }
  const Scalar scale =
      (std::max)({std::sqrt(size.load_squared), std::sqrt(size.impulse_squared) * inverse_mass,
                  std::sqrt(size.velocity_squared)});
  const Scalar error = scale > Scalar(0) ? std::sqrt(seen.squared) / scale : Scalar(0);
  return {error, seen.worst.owner()};
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
