// SPDX-License-Identifier: BSD-3-Clause
// The kernel of solve_batch for one law and one scalar, CAROM_DEVICE_LAW and CAROM_DEVICE_SCALAR, and a kernel of a
// user's that solves a problem of its own in each thread. Compiled only, by scripts/device.sh.
#include "carom/batch/device.hpp"

using Scalar = CAROM_DEVICE_SCALAR;
constexpr carom::FrictionLaw law = carom::FrictionLaw::CAROM_DEVICE_LAW;

#if !defined(CAROM_DEVICE_USER)
template __global__ void carom::detail::solve_batch_kernel<law, Scalar>(const CAROM_GRID_CONSTANT carom::DeviceTask<Scalar>);
#else
/// Moves each problem's free velocity, solves it and counts its iterations.
__global__ void step_worlds(const carom::DeviceTask<Scalar> task, Scalar* free_velocity, int* iterations) {
  const auto i = carom::Index(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= task.batch.view.count) return;
  free_velocity[i] -= Scalar(0.0981);
  carom::device::solve<law>(task.batch, task.answers, task.options, task.memory_of(i), i);
  iterations[i] += task.answers.reports[i].iterations;
}
#endif
