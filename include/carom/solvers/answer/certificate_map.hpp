// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/solvers/answer/certificate_parts.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

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
    RowNumbers<Scalar> trial;
    for (int i = 0; i < trial.size(); ++i) trial(i) = gamma(i) - u(i) / inverse_mass;
    if (!all_finite(trial.data(), trial.size())) return seen.not_finite.see(block.number());
    const RowNumbers<Scalar> nearest = block.nearest_unweighted(trial);
    Scalar part(0);
    for (int i = 0; i < block.rows(); ++i) {
      const Scalar miss = (gamma(i) - nearest(i)) * inverse_mass;
      part += miss * miss;
    }
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
