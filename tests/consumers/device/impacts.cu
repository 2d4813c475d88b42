// SPDX-License-Identifier: BSD-3-Clause
// The kernel of resolve_batch for one scalar, CAROM_DEVICE_SCALAR. Compiled only, by scripts/device.sh.
#include "carom/batch/device_impacts.hpp"

using Scalar = CAROM_DEVICE_SCALAR;

template __global__ void carom::detail::run_task(const CAROM_GRID_CONSTANT carom::DeviceImpactTask<Scalar>);
