// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "carom/solvers/detail/island_newton.hpp"
#include "carom/solvers/detail/iterative_hessian.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Newton directions by conjugate gradients, for islands whose factor would be too large.
/// @cite  dembo1982inexact for the accuracy asked of the directions.
template <RealScalar Scalar>
class IterativeDirections {
 public:
  using Newton = IslandNewton<Scalar>;
  using State = IslandState<Scalar>;
  using Memory = SolverMemory<Scalar>;

  using Tuning = IterativeDirectionsTuning;

  /// Takes on the pattern of the islands that are not direct.
  void lay_out(const PackedProblem<Scalar>& packed) { hessian_.lay_out(packed); }

  /// d ≈ −H⁻¹∇ℓ on an island; false where H cannot be factored.
  [[nodiscard]] bool find_direction(const Newton& newton, const State& state,
                                    Index island) noexcept {
    using std::sqrt;
    const auto add = [&](const PackedEdge& edge, const Columns<Scalar>(&targets)[3]) {
      static_cast<void>(newton.note_change(edge));
      newton.add_curvature(edge, targets);
    };
    if (!hessian_.factor(state.packed(), island, add)) return false;
    state.vector(Memory::spare1) = -state.vector(Memory::gradient);
    // A small share of the gradient is left, a smaller one near the end, but no less than the
    // target needs.
    const Scalar relative = state.residual / newton.scale();
    const auto loosest = Scalar(Tuning::loosest);
    const Scalar wanted = (std::min)(loosest, Scalar(sqrt(relative)));
    const Scalar enough = Scalar(Tuning::last_share) * newton.limits().tolerance / relative;
    const Scalar target = (std::max)(wanted, (std::min)(enough, loosest)) * state.residual;
    const auto report =
        hessian_.solve(state.packed(), island,
                       {state.vector(Memory::direction).data(), state.vector(Memory::spare1).data(),
                        state.vector(Memory::spare2).data(), state.vector(Memory::spare3).data(),
                        state.island().vector_size},
                       target, Tuning::product_limit);
    // Where round-off spoils the direction, −∇ℓ takes its place, which also descends.
    if (!report.usable) {
      state.vector(Memory::direction) = -state.vector(Memory::gradient);
    }
    return true;
  }

 private:
  IterativeHessian<Scalar> hessian_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
