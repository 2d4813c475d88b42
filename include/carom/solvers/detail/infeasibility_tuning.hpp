// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Constants of certify_infeasible() and refine_ray(). Each is a pure number [-].
///
/// They were measured on the problems of examples/scenes/infeasible.hpp just before and just beyond
/// the threshold where their answer ends, by benchmarks/ablation; docs/performance.md has the
/// table.
struct InfeasibilityTuning {
  /// The default velocity bound is the ray's velocity scale times ε to minus this power: 1.8e6
  /// times in double and 6e2 times in float. A larger power asks for more digits than products of W
  /// have, a smaller one calls a nearly closed slot closed.
  static constexpr double bound_power = 0.4;
  /// A contact belongs to the first guess of a ray where its impulse is more than the largest one
  /// divided by this. The others are added as they are needed.
  static constexpr double guess_range = 1000;
  /// Most rounds of a ray; each adds every column along which the slope still falls.
  static constexpr int column_rounds = 100;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
