// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "carom/contact/detail/body_touches.hpp"
#include "carom/contact/detail/checked_bodies.hpp"
#include "carom/contact/detail/natural_map.hpp"
#include "carom/contact/primal.hpp"
#include "carom/core/detail/plain_loops.hpp"
#include "carom/linalg/detail/cholesky.hpp"
#include "carom/linalg/detail/range_loop.hpp"
#include "carom/solvers/answer/map_rounding.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The largest of some numbers ≥ 0, and the index of its owner.
template <RealScalar Scalar>
class LargestPart {
 public:
  explicit LargestPart(const Scalar& least) noexcept : value_(least) {}
  void add(const Scalar& part, Index owner) noexcept {
    if (!(part > value_)) return;
    value_ = part;
    owner_ = owner;
  }
  /// Adds the numbers of another one, whose owners come later.
  LargestPart& operator+=(const LargestPart& later) noexcept {
    add(later.value_, later.owner_);
    return *this;
  }
  [[nodiscard]] const Scalar& value() const noexcept { return value_; }
  [[nodiscard]] Index owner() const noexcept { return owner_; }

 private:
  Scalar value_;
  Index owner_ = -1;
};

/// The first index of several that are added in order; −1 if there is none.
struct FirstIndex {
  Index number = -1;

  void add(Index other) noexcept {
    if (number < 0) number = other;
  }
  FirstIndex& operator+=(const FirstIndex& later) noexcept {
    add(later.number);
    return *this;
  }
};

/// Calls visit(block, part) for all blocks of a problem. @return the sum of the parts.
template <RealScalar Scalar, typename Part, typename Visit>
[[nodiscard]] Part sum_over_blocks(const ContactProblem<Scalar>& problem, const FixedRanges& ranges,
                                   const Part& empty, const Visit& visit) {
  return ranges.sum(problem.block_count(), empty, [&](Index begin, Index end, Part& part) {
    for (Index i = begin; i < end; ++i) {
      problem.visit(i, [&](const BlockView<Scalar>& block) { visit(block, part); });
    }
  });
}

/// An answer (v, γ) to a problem, with loops over it: blocks and bodies by ranges, and the blocks
/// of a body in their order.
template <RealScalar Scalar>
class JudgedAnswer {
 public:
  using Block = BlockView<Scalar>;

  /// @note  Allocates.
  JudgedAnswer(const ContactProblem<Scalar>& problem, const VectorX<Scalar>& velocity,
               const VectorX<Scalar>& impulse, const FixedRanges& ranges)
      : problem_(problem), velocity_(velocity), impulse_(impulse), ranges_(ranges) {
    touches_.gather(problem);
  }

  [[nodiscard]] const ContactProblem<Scalar>& problem() const noexcept { return problem_; }
  [[nodiscard]] const VectorX<Scalar>& velocity() const noexcept { return velocity_; }
  [[nodiscard]] const VectorX<Scalar>& impulse() const noexcept { return impulse_; }
  [[nodiscard]] const FixedRanges& ranges() const noexcept { return ranges_; }

  /// sum_over_blocks() of the problem.
  template <typename Part, typename Visit>
  [[nodiscard]] Part sum_over_blocks(const Part& empty, const Visit& visit) const {
    return detail::sum_over_blocks(problem_, ranges_, empty, visit);
  }
  /// Calls visit(block, side) for the blocks that act on a body, in their order.
  template <typename Visit>
  void for_each_touch(Index body, const Visit& visit) const {
    for (const BodyTouch& touch : touches_.of(body)) {
      problem_.visit(touch.block,
                     [&](const BlockView<Scalar>& block) { visit(block, touch.side); });
    }
  }

 private:
  const ContactProblem<Scalar>& problem_;
  const VectorX<Scalar>& velocity_;
  const VectorX<Scalar>& impulse_;
  const FixedRanges& ranges_;
  BodyTouches touches_;
};

/// Sums over bodies of the terms of ‖w − w* − Ĵᵀγ‖, its size relative to the momentum scale, and
/// the worst body.
template <RealScalar Scalar>
class MomentumBalance {
 public:
  /// @param whitened, free, pushed  w, w* and Ĵᵀγ of the body.
  void add(Index body, Index size, const Scalar* whitened, const Scalar* free,
           const Scalar* pushed) noexcept {
    Scalar part(0);
    for (Index k = 0; k < size; ++k) {
      const Scalar off = whitened[k] - free[k] - pushed[k];
      part += off * off;
    }
    off_squared_ += part;
    free_squared_ += dot(free, free, size);
    pushed_squared_ += dot(pushed, pushed, size);
    worst_.add(part, body);
  }
  MomentumBalance& operator+=(const MomentumBalance& other) noexcept {
    off_squared_ += other.off_squared_;
    free_squared_ += other.free_squared_;
    pushed_squared_ += other.pushed_squared_;
    worst_ += other.worst_;
    return *this;
  }

  [[nodiscard]] Scalar norm() const noexcept { return std::sqrt(off_squared_); }
  /// @param gross_squared  ‖Ĵᵀγ‖² without cancellation between impulses.
  [[nodiscard]] Scalar relative(const Scalar& gross_squared) const noexcept {
    const Scalar scale = momentum_scale(free_squared_, pushed_squared_, gross_squared);
    return scale > Scalar(0) ? norm() / scale : norm();
  }
  [[nodiscard]] Index worst() const noexcept { return worst_.owner(); }
  /// The largest part of off_squared, that of worst().
  [[nodiscard]] const Scalar& worst_part() const noexcept { return worst_.value(); }
  /// Replaces the sums by total(sums), the sums over all machines with a part of the bodies.
  template <typename Total>
  void add_up(const Total& total) {
    const std::array<Scalar, 3> all =
        total(std::array<Scalar, 3>{off_squared_, free_squared_, pushed_squared_});
    off_squared_ = all[0];
    free_squared_ = all[1];
    pushed_squared_ = all[2];
  }

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

/// Sums over the blocks of an answer, and the blocks with the largest part of each measure.
template <RealScalar Scalar>
struct PartSums {
  Scalar gap_sum = 0;
  /// ‖Ĵᵀγ‖², ‖ĴᵀP(y)‖² without cancellation between impulses
  Scalar given_gross = 0, own_gross = 0;
  LargestPart<Scalar> gap{Scalar(-1)}, violation{Scalar(0)}, work{Scalar(-1)};
  FirstIndex not_finite;  ///< the first block whose y(v) is not finite

  void add(const ImpulseParts<Scalar>& parts, Index owner) noexcept {
    gap_sum += parts.gap;
    gap.add(std::abs(parts.gap), owner);
    violation.add(parts.violation, owner);
    work.add(parts.work, owner);
  }
  PartSums& operator+=(const PartSums& later) noexcept {
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

/// Sums over all blocks of an answer (v, γ).
/// @param own  P(y(v)), written in all blocks where y(v) is finite.
template <RealScalar Scalar>
[[nodiscard]] PartSums<Scalar> sum_impulses(const JudgedAnswer<Scalar>& answer,
                                            VectorX<Scalar>& own) {
  own.resize(answer.impulse().size());
  using Block = typename JudgedAnswer<Scalar>::Block;
  const auto add = [&](const Block& block, PartSums<Scalar>& sums) {
    const RowNumbers<Scalar> gamma = block.read(answer.impulse());
    const RowNumbers<Scalar> y = block.trial(block.velocity(answer.velocity()));
    if (!all_finite(y.data(), y.size())) return sums.not_finite.add(block.number());
    const RowNumbers<Scalar> nearest = block.nearest(y);
    block.write(nearest, own);
    sums.given_gross += block.gross_squared(gamma);
    sums.own_gross += block.gross_squared(nearest);
    sums.add(parts_of(block, gamma, y, nearest), block.number());
  };
  return answer.sum_over_blocks(PartSums<Scalar>(), add);
}

/// The momentum balances of a velocity with the given impulses and with its own impulses, P(y(v)).
template <RealScalar Scalar>
struct Balances {
  MomentumBalance<Scalar> given, own;

  Balances& operator+=(const Balances& other) noexcept {
    given += other.given;
    own += other.own;
    return *this;
  }
};

/// @param own       P(y(v)).
/// @param velocity  written, v* + A⁻¹Jᵀγ.
template <RealScalar Scalar>
[[nodiscard]] Balances<Scalar> sum_balances(const JudgedAnswer<Scalar>& answer,
                                            const VectorX<Scalar>& own, VectorX<Scalar>& velocity) {
  const ContactProblem<Scalar>& problem = answer.problem();
  VectorX<Scalar> whitened = answer.velocity(), own_sum = VectorX<Scalar>::Zero(whitened.size());
  velocity.setZero(whitened.size());
  const auto add = [&](Index b, Balances<Scalar>& sums) {
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
    sums.given.add(b, size, w, free, v);
    sums.own.add(b, size, w, free, own_pushed);
    solve_lower_transposed(factor, size, size, v);
    add_multiple(Scalar(1), problem.free_velocity().data() + start, size, v);
  };
  return answer.ranges().sum(problem.body_count(), Balances<Scalar>(),
                             [&](Index begin, Index end, Balances<Scalar>& sums) {
                               for (Index b = begin; b < end; ++b) add(b, sums);
                             });
}

/// The sums of the natural map error over blocks, the block with the largest part, and the first
/// block whose part is not finite.
template <RealScalar Scalar>
struct NaturalMapSums {
  MapSums<Scalar> sums;
  LargestPart<Scalar> worst{Scalar(-1)};
  FirstIndex not_finite;

  NaturalMapSums& operator+=(const NaturalMapSums& later) noexcept {
    sums += later.sums;
    worst += later.worst;
    not_finite += later.not_finite;
    return *this;
  }
};

/// The natural map error of the dual problem and its worst block.
/// @param close  v* + A⁻¹Jᵀγ.
/// @return  infinite if a number leaves the range of the type, with the first such block.
template <RealScalar Scalar>
[[nodiscard]] std::pair<Scalar, Index> natural_map_error(const JudgedAnswer<Scalar>& answer,
                                                         const VectorX<Scalar>& close) {
  using Block = typename JudgedAnswer<Scalar>::Block;
  if (answer.impulse().size() == 0) return {Scalar(0), -1};
  const auto free = answer.problem().free_velocity();
  const auto add_size = [&](const Block& block, YardstickSums<Scalar>& sums) {
    static_cast<void>(sums.add(block, block.velocity(free), true));
  };
  const Yardstick<Scalar> yardstick =
      answer.sum_over_blocks(YardstickSums<Scalar>(), add_size).yardstick(FrictionLaw::convex);
  const auto add_map = [&](const Block& block, NaturalMapSums<Scalar>& map) {
    const RowNumbers<Scalar> gamma = block.read(answer.impulse());
    const RowNumbers<Scalar> u = block.slope(block.velocity(close), gamma);
    const Scalar part = map.sums.add(yardstick, block.set(), gamma, u);
    if (!is_finite(part)) return map.not_finite.add(block.number());
    map.worst.add(part, block.number());
  };
  const auto map = answer.sum_over_blocks(NaturalMapSums<Scalar>(), add_map);
  if (map.not_finite.number >= 0) {
    return {std::numeric_limits<Scalar>::infinity(), map.not_finite.number};
  }
  return {map.sums.error(yardstick), map.worst.owner()};
}

/// Upper bounds of measures of an answer (v, γ) that include all rounding.
template <std::floating_point Scalar>
struct CheckedMeasures {
  Scalar velocity_error_bound, duality_gap;
  /// For each body, the distance of a velocity from v* + A⁻¹Jᵀγ in the norm of A.
  VectorX<Scalar> off;
};

/// Impulses near P(y(v)) of all blocks with bounds of their errors, row by row, and the sum of the
/// blocks' parts of the gap.
template <std::floating_point Scalar>
struct CheckedImpulses {
  VectorX<Scalar> nearest, doubt;
  RoundedNumber<Scalar> gap;  ///< at least Σ ½‖γ − y‖²_R − ½‖P(y) − y‖²_R
};

template <std::floating_point Scalar>
[[nodiscard]] CheckedImpulses<Scalar> check_impulses(const JudgedAnswer<Scalar>& answer,
                                                     const CheckedBodies<Scalar>& bodies) {
  const Index rows = answer.impulse().size();
  CheckedImpulses<Scalar> all{VectorX<Scalar>(rows), VectorX<Scalar>(rows), {}};
  using Block = typename JudgedAnswer<Scalar>::Block;
  const auto check = [&](const Block& block, RoundedNumber<Scalar>& gap) {
    const RowNumbers<Scalar> weights = block.regularization();
    RoundedRows<Scalar> trial = bodies.velocity(block, answer.velocity());  // first J v, then y
    for (int i = 0; i < block.rows(); ++i) {
      RoundedNumber<Scalar>& y = trial[std::size_t(i)];
      y = (RoundedNumber<Scalar>(block.bias_velocity()(i)) - y) / weights(i);
    }
    const CheckedPoint<Scalar> point = nearest_point(block.set(), weights, trial);
    block.write(point.value, all.nearest);
    block.write(point.doubt, all.doubt);
    gap +=
        GapRounding<Scalar>(block.set(), weights, trial, point.value, block.read(answer.impulse()))
            .part();
  };
  all.gap = answer.sum_over_blocks(RoundedNumber<Scalar>(), check);
  return all;
}

/// Bounds ‖v − v_opt‖_A and the duality gap of (v, γ).
/// @param close  a velocity near v* + A⁻¹Jᵀγ, of which `off` of the result is an upper bound.
/// @note  Cold: allocates.
template <std::floating_point Scalar>
[[nodiscard]] CheckedMeasures<Scalar> check_answer(const JudgedAnswer<Scalar>& answer,
                                                   const CheckedBodies<Scalar>& bodies,
                                                   const VectorX<Scalar>& close) {
  const Index body_count = answer.problem().body_count();
  const CheckedImpulses<Scalar> own_impulses = check_impulses(answer, bodies);
  VectorX<Scalar> given(body_count), own(body_count), off(body_count);
  answer.ranges().run_cold(body_count, [&](Index begin, Index end) {
    CheckedMomentum<Scalar> of_pair, of_velocity, of_close;
    for (Index b = begin; b < end; ++b) {
      bodies.write_momentum(b, answer.velocity(), of_pair);
      of_velocity = of_pair;
      bodies.write_momentum(b, close, of_close);
      answer.for_each_touch(b, [&](const typename JudgedAnswer<Scalar>::Block& block, int s) {
        bodies.subtract(block, s, block.read(answer.impulse()), of_pair, of_close);
        bodies.subtract(block, s, block.read(own_impulses.nearest), of_velocity);
        bodies.add_doubt(block, s, block.read(own_impulses.doubt), of_velocity);
      });
      given(b) = bodies.norm(b, of_pair);
      own(b) = bodies.norm(b, of_velocity);
      off(b) = bodies.norm(b, of_close);
    }
  });
  const RoundedNumber<Scalar> balance(norm_of_bounds(given));
  const RoundedNumber<Scalar> gap = own_impulses.gap + balance * balance * Scalar(0.5);
  const Scalar slack = raised(std::abs(gap.value) * unit_rounding<Scalar> + gap.error, 4);
  return {norm_of_bounds(own), gap.error == Scalar(0) ? gap.value : Scalar(gap.value + slack), off};
}

/// ‖q‖² and the trace of W + R.
template <std::floating_point Scalar>
struct CheckedSize {
  RoundedNumber<Scalar> load_squared, diagonal;

  CheckedSize& operator+=(const CheckedSize& other) noexcept {
    load_squared += other.load_squared;
    diagonal += other.diagonal;
    return *this;
  }
};

/// @param off    for each body, the possible distance of a velocity from the exact one in the norm
///               of A.
/// @param slack  written: for each row, the corresponding possible error of J v.
template <std::floating_point Scalar>
[[nodiscard]] CheckedSize<Scalar> check_size(const JudgedAnswer<Scalar>& answer,
                                             const CheckedBodies<Scalar>& bodies,
                                             const VectorX<Scalar>& off, VectorX<Scalar>& slack) {
  const VectorX<Scalar> free = answer.problem().free_velocity();
  slack.resize(answer.impulse().size());
  const auto add = [&](const typename JudgedAnswer<Scalar>::Block& block,
                       CheckedSize<Scalar>& size) {
    const RoundedRows<Scalar> moved = bodies.velocity(block, free);
    for (int row = 0; row < block.rows(); ++row) {
      const RoundedNumber<Scalar> q = moved[std::size_t(row)] - block.bias_velocity()(row);
      size.load_squared += q * q;
      size.diagonal += block.regularization()(row);
      Scalar& sum = slack(block.first_row() + row) = Scalar(0);
      for (int s = 0; s < block.side_count(); ++s) {
        const RoundedNumber<Scalar> squared = bodies.row_squared(block, s, row);
        size.diagonal += squared;
        sum = add_bounds(sum, square_root(squared).most(), off(block.side(s).body));
      }
    }
  };
  return answer.sum_over_blocks(CheckedSize<Scalar>(), add);
}

/// An upper bound of the natural map error of impulses.
/// @param close, off  a velocity near v* + A⁻¹Jᵀγ, and its possible distance from it, body by body.
/// @note  Cold: allocates.
template <std::floating_point Scalar>
[[nodiscard]] Scalar check_natural_map(const JudgedAnswer<Scalar>& answer,
                                       const CheckedBodies<Scalar>& bodies,
                                       const VectorX<Scalar>& close, const VectorX<Scalar>& off) {
  using Number = RoundedNumber<Scalar>;
  VectorX<Scalar> slack;
  const CheckedSize<Scalar> size = check_size(answer, bodies, off, slack);
  const CheckedMap<Scalar> empty(size.diagonal / Number(Scalar(answer.impulse().size())),
                                 square_root(size.load_squared));
  const auto add = [&](const typename JudgedAnswer<Scalar>::Block& block, CheckedMap<Scalar>& map) {
    RoundedRows<Scalar> u = bodies.velocity(block, close);
    const RowNumbers<Scalar> gamma = block.read(answer.impulse());
    for (int i = 0; i < block.rows(); ++i) {
      const Number moved = u[std::size_t(i)] + Number(Scalar(0), slack(block.first_row() + i));
      u[std::size_t(i)] =
          moved - block.bias_velocity()(i) + Number(block.regularization()(i)) * gamma(i);
    }
    map.add(block.set(), gamma, u, u);
  };
  return answer.sum_over_blocks(empty, add).relative();
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
