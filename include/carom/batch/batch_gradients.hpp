// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/batch/detail/batch_pull_back.hpp"
#include "carom/batch/solve_batch.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Writes the gradient of a scalar by the data of each problem from its gradient by the solution.
/// It is for scalars whose gradients are computed from the answers of solve_batch().
///
/// The derivatives are those of CoulombDerivative under the law of the options. On the boundary of
/// two regions a block counts as closed, as sticking, or as between its bounds. The bits of a
/// gradient do not depend on the other problems in the batch.
/// ```
/// solve_batch(view, answers, options, workspace);
/// // ... fill gradients.by_velocity ...
/// const auto count = pull_back_batch(view, answers, gradients, options, workspace);
/// ```
/// @param answers    velocities v [m/s, rad/s] with the accuracy that the derivatives require,
///                   impulses if a block is rigid, and reports. Gradients of a problem that has not
///                   converged are zeros. Null reports: all problems have converged.
/// @param workspace  the same as for solve_batch().
/// @return  count of problems with a gradient; −1 if the workspace was not prepared for the batch,
///          and nothing was written.
/// @note  Real-time safe: no allocation, no exception, one factorisation for each problem.
template <RealScalar Scalar, int LaneCount, typename Executor>
Index pull_back_batch(const BatchView<Scalar>& view, const BatchAnswers<Scalar>& answers,
                      const BatchGradients<Scalar>& gradients, const SapOptions<Scalar>& options,
                      BatchWorkspace<Scalar, LaneCount>& workspace, Executor&& executor) noexcept {
  if (!workspace.is_prepared_for(view)) return -1;
  detail::for_each_chunk(view, workspace, executor, [&](Scalar* memory, auto& problems, int count) {
    detail::BatchPullBack<Scalar>(view, answers, gradients, memory)
        .template run<LaneCount>(options.law, problems, count);
  });
  return Index(
      std::count(gradients.statuses, gradients.statuses + view.count, SolveStatus::converged));
}
/// The same on the calling thread.
template <RealScalar Scalar, int LaneCount>
Index pull_back_batch(const BatchView<Scalar>& view, const BatchAnswers<Scalar>& answers,
                      const BatchGradients<Scalar>& gradients, const SapOptions<Scalar>& options,
                      BatchWorkspace<Scalar, LaneCount>& workspace) noexcept {
  return pull_back_batch(view, answers, gradients, options, workspace, detail::RunInOrder());
}

/// Solves all problems of a batch and differentiates each directly after its solve. The bits are
/// those of solve_batch() and pull_back_batch() one after the other. It is for gradients that are
/// known before the solve.
/// @note  As solve_batch().
template <RealScalar Scalar, int LaneCount, typename Executor>
BatchReport solve_batch(const BatchView<Scalar>& view, const BatchAnswers<Scalar>& answers,
                        const BatchGradients<Scalar>& gradients, const SapOptions<Scalar>& options,
                        BatchWorkspace<Scalar, LaneCount>& workspace,
                        Executor&& executor) noexcept {
  if (!workspace.is_prepared_for(view)) return detail::not_prepared(view);
  detail::for_each_chunk(view, workspace, executor, [&](Scalar* memory, auto& problems, int count) {
    detail::BatchChunk<Scalar, LaneCount>(view, answers, options, memory).solve(problems, count);
    detail::BatchPullBack<Scalar>(view, answers, gradients, memory)
        .template run<LaneCount>(options.law, problems, count);
  });
  return detail::summarize(view, answers);
}
/// The same on the calling thread.
template <RealScalar Scalar, int LaneCount>
BatchReport solve_batch(const BatchView<Scalar>& view, const BatchAnswers<Scalar>& answers,
                        const BatchGradients<Scalar>& gradients, const SapOptions<Scalar>& options,
                        BatchWorkspace<Scalar, LaneCount>& workspace) noexcept {
  return solve_batch(view, answers, gradients, options, workspace, detail::RunInOrder());
}

}  // namespace CAROM_ABI
}  // namespace carom
