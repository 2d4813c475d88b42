// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/batch_view.hpp"
#include "carom/solvers/sap_options.hpp"

namespace carom::batch {

/// Solves a batch of problems that have one pattern on a graphics processor by CUDA: copies its
/// arrays there, and the answers back.
/// @param view     pointers of the processor, a stride or one number list for all, no offsets.
/// @param answers  pointers of the processor, velocities and impulses one after the other.
/// @param seconds  written: the time of the solve without the copies [s].
/// @return  problems that converged.
/// @throws  std::runtime_error with the words of CUDA, as where no graphics processor is found.
Index solve_on_device(const BatchView<double>& view, const BatchAnswers<double>& answers,
                      const SapOptions<double>& options, double& seconds);

}  // namespace carom::batch
