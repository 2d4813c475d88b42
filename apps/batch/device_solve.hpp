// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/batch_view.hpp"
#include "carom/solvers/sap_options.hpp"

namespace carom::batch {

/// Solves a batch of problems with one pattern on a graphics processor by CUDA. It copies the
/// arrays to the device, and the answers back.
/// @param view     pointers to host memory, a stride or one number list for all, no offsets.
/// @param answers  pointers to host memory, velocities and impulses one after the other.
/// @param seconds  written: the time of the solve without the copies [s].
/// @return  count of converged problems.
/// @throws  std::runtime_error with the message of CUDA, for example if there is no graphics
///          processor.
Index solve_on_device(const BatchView<double>& view, const BatchAnswers<double>& answers,
                      const SapOptions<double>& options, double& seconds);

}  // namespace carom::batch
