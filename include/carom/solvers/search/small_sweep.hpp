// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/cones/friction_cone.hpp"
#include "carom/solvers/search/small_state.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Sweeps over the contacts of a small problem from the impulses of the iterate last evaluated, and
/// leaves the velocity w = w* + Ĵᵀγ that they lead to as the iterate. Each contact in turn takes
/// the impulse that would be best if its own block of W were its largest diagonal entry times I.
/// @pre  the velocities fit one RowPacket.
template <RealScalar Scalar>
void sweep_small_contacts(const SmallState<Scalar>& state) noexcept {
  using std::abs;
  using Problem = SmallProblem<Scalar>;
  Problem& problem = state.problem();
  RowPacket<Scalar> whitened =
      state.in_vector(Problem::free, 0) + state.in_vector(Problem::momentum, 0);
  const Index stride = problem.padded(), count = problem.count();
  for (Index pass = 0; pass < SmallSweepTuning::pass_count * count; ++pass) {
    const Index k = pass % count;
    const auto at = [&](int name) { return problem.array(name)[k]; };
    const Scalar* const block = problem.columns() + 3 * k * row_lanes;
    const RowPacket<Scalar> columns[3] = {packet_at(block), packet_at(block + row_lanes),
                                          packet_at(block + 2 * row_lanes)};
    Scalar* const impulse = problem.array(Problem::impulse) + k;
    const Scalar own = (std::max)(
        {at(Problem::row_square), at(Problem::row_square + 1), at(Problem::row_square + 2)});
    const ContactWeights<Scalar> weights{at(Problem::tangent) + own, at(Problem::normal) + own};
    Vector3<Scalar> trial;
    Scalar size(0);
    for (int c = 0; c < 3; ++c) {
      trial(c) =
          (at(Problem::bias + c) - (columns[c] * whitened).sum() + own * impulse[c * stride]) /
          (c < 2 ? weights.tangent : weights.normal);
      size += abs(trial(c));
    }
    if (!(size <= (std::numeric_limits<Scalar>::max)())) break;
    const Vector3<Scalar> next =
        project(FrictionCone<Scalar>{at(Problem::friction)}, weights, trial).point;
    for (int c = 0; c < 3; ++c) {
      whitened += (next(c) - impulse[c * stride]) * columns[c];
      impulse[c * stride] = next(c);
    }
  }
  whitened.write_to(problem.vector(Problem::whitened));
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
