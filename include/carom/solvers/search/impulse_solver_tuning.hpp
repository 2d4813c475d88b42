// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// @file
/// The constants that steer the solvers of problems in impulses, one block for each. Each is a pure
/// number [-]; ε_m is the epsilon of the scalar type.
///
/// They were measured on the files of examples/data/fclib under both laws, by benchmarks/ablation,
/// which changes one constant at a time; docs/performance.md has what each change costs there.

/// Constants of GaussSeidel.
struct GaussSeidelTuning {
  /// A contact that stays open sleeps for 2, 4, ... 2^most_doublings sweeps.
  static constexpr int most_doublings = 4;
  /// A measurement costs as much as a sweep: it comes after so many sweeps, and one more for each
  /// `sweeps_per_delay` sweeps that are done.
  static constexpr int sweeps_to_measure = 10, sweeps_per_delay = 8;
};

/// Constants of LocalRows, one contact of up to six rows solved with the others held.
struct LocalRowsTuning {
  /// Most steps. More are wasted, because the contacts around it move this one again.
  static constexpr int steps = 12;
  /// Shares of a Newton step that are tried, each half of the one before, and the share of its
  /// promise that it must keep to be taken.
  static constexpr int shares = 4;
  static constexpr double descent = 0.125;
  /// Error at which to stop, relative to the impulse [ε_m].
  static constexpr double rounding = 4;
};

/// De Saxcé's lift where a solver holds it for some steps.
struct HeldLiftTuning {
  /// The lift is updated when the problem with the last one has no more than this share of the
  /// error left. Much less solves held problems for nothing, much more lets the lift swing.
  static constexpr double held_error = 0.6;
};

/// Constants of ProjectedGradient.
struct ProjectedGradientTuning {
  /// Most steps tried for one that the curvature bounds.
  static constexpr int attempts = 60;
  /// The curvature grows by at least this many times at each attempt, and by at most so many.
  static constexpr double least_rise = 2, most_rise = 16;
  /// After each step the curvature falls to this share, so that steps may grow again. Smaller
  /// shares cost attempts, larger ones keep steps short.
  static constexpr double fall = 0.97;
  /// Steps between two measurements, which cost about as much as a step.
  static constexpr int interval = 5;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
