// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <type_traits>

#include "carom/contact/dual.hpp"

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
  [[nodiscard]] const Scalar& value() const noexcept { return value_; }
  [[nodiscard]] Index owner() const noexcept { return owner_; }

 private:
  Scalar value_;
  Index owner_ = -1;
};

/// The first block of which something is not finite, or −1.
/// @param finite  finite(block) says whether it is.
template <RealScalar Scalar, typename Finite>
[[nodiscard]] Index find_not_finite(const ContactProblem<Scalar>& problem,
                                    const Finite& finite) noexcept {
  for (Index i = 0; i < problem.block_count(); ++i) {
    if (!problem.visit(i, finite)) return i;
  }
  return -1;
}

/// ‖q‖², q = J v* − v̂, and the trace of W + R.
template <RealScalar Scalar>
struct DualSize {
  Scalar load_squared = 0, diagonal = 0;
};

template <RealScalar Scalar>
[[nodiscard]] DualSize<Scalar> dual_size(const ContactProblem<Scalar>& problem) noexcept {
  DualSize<Scalar> total;
  problem.for_each_block([&](const auto& block) {
    total.load_squared +=
        (block.velocity(problem.free_velocity()) - block.bias_velocity()).squaredNorm();
    const auto weights = block.regularization();
    for (int i = 0; i < block.rows(); ++i) total.diagonal += weights(i);
    for (int s = 0; s < block.side_count(); ++s) {
      total.diagonal += block.whitened_columns(s).squaredNorm();
    }
  });
  return total;
}

/// What impulses add up to, and what they would if none cancelled another.
template <RealScalar Scalar>
struct Momenta {
  VectorX<Scalar> sum;  ///< Jᵀγ
  Scalar gross_squared = 0;
};

/// ‖w − w* − Ĵᵀγ‖, how large that is relative to the momentum in play, and the worst body.
template <RealScalar Scalar>
struct MomentumBalance {
  Scalar norm, relative;
  Index body;
};

/// @param given  Jᵀγ; whitened in place.
template <RealScalar Scalar>
[[nodiscard]] MomentumBalance<Scalar> balance_of(const ContactProblem<Scalar>& problem,
                                                 const VectorX<Scalar>& whitened,
                                                 Momenta<Scalar>& given) noexcept {
  VectorX<Scalar>& pushed = given.sum;
  problem.whiten_momentum(as_span(pushed));
  const auto free = problem.whitened_free_velocity();
  Scalar squared = 0;
  LargestPart<Scalar> worst(Scalar(0));
  for (Index b = 0; b < problem.body_count(); ++b) {
    const auto [start, size] = problem.body(b);
    const Scalar part =
        (whitened.segment(start, size) - free.segment(start, size) - pushed.segment(start, size))
            .squaredNorm();
    squared += part;
    worst.see(part, b);
  }
  const Scalar norm = std::sqrt(squared);
  const Scalar scale =
      momentum_scale(free.squaredNorm(), pushed.squaredNorm(), given.gross_squared);
  return {norm, scale > Scalar(0) ? norm / scale : norm, worst.owner()};
}

/// One block's parts of the sums and of the largest values.
template <RealScalar Scalar>
struct ImpulseParts {
  Scalar gap;  ///< ½‖γ − P(y)‖²_R + (γ − P(y))ᵀR(P(y) − y), ≥ 0 for γ in its set
  Scalar violation;  ///< distance from the set
  Scalar work;       ///< |(γ − P(y))·u|, for cones |γ·u|
};

/// @param nearest  P(y).
template <typename Block, typename Rows>
[[nodiscard]] auto parts_of(const Block& block, const Rows& gamma, const Rows& y,
                            const Rows& nearest) noexcept {
  using Scalar = typename Rows::Scalar;
  const Rows weights = block.regularization(), change = gamma - nearest;
  const Rows& works = block.is_cone() ? gamma : change;  // P(y)ᵀR(P(y) − y) = 0 for a cone
  // u = J v − v̂ + R γ = R (γ − y).
  return ImpulseParts<Scalar>{
      change.cwiseAbs2().dot(weights) / 2 + works.cwiseProduct(weights).dot(nearest - y),
      (gamma - block.nearest_unweighted(gamma)).norm(),
      std::abs(works.cwiseProduct(weights).dot(gamma - y))};
}

/// The sum of the parts of the gap, and who has the largest part of each measure.
template <RealScalar Scalar>
struct PartsSeen {
  Scalar gap_sum = 0;
  LargestPart<Scalar> gap{Scalar(-1)}, violation{Scalar(0)}, work{Scalar(-1)};

  void see(const ImpulseParts<Scalar>& parts, Index owner) noexcept {
    gap_sum += parts.gap;
    gap.see(std::abs(parts.gap), owner);
    violation.see(parts.violation, owner);
    work.see(parts.work, owner);
  }
};

/// Looks at every block of an answer (v, γ).
/// @param given, own  Jᵀγ and JᵀP(y(v)) are added.
/// @return  The first block whose y(v) is not finite; −1 if there is none.
template <RealScalar Scalar>
[[nodiscard]] Index see_impulses(const ContactProblem<Scalar>& problem,
                                 const VectorX<Scalar>& velocity, const VectorX<Scalar>& impulse,
                                 Momenta<Scalar>& given, Momenta<Scalar>& own,
                                 PartsSeen<Scalar>& seen) noexcept {
  return find_not_finite(problem, [&](const auto& block) {
    using Rows = typename std::decay_t<decltype(block)>::Rows;
    const Rows gamma = block.read(impulse), y = block.trial(block.velocity(velocity));
    if (!y.allFinite()) return false;
    const Rows nearest = block.nearest(y);
    block.add_momentum(gamma, given.sum);
    block.add_momentum(nearest, own.sum);
    given.gross_squared += block.gross_squared(gamma);
    own.gross_squared += block.gross_squared(nearest);
    seen.see(parts_of(block, gamma, y, nearest), block.number());
    return true;
  });
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
