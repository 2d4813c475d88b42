// SPDX-License-Identifier: BSD-3-Clause
// The kernel of solve_batch for one law and one scalar, CAROM_DEVICE_LAW and CAROM_DEVICE_SCALAR. Compiled only, by
// scripts/device.sh.
#include "carom/batch/device.hpp"

using Scalar = CAROM_DEVICE_SCALAR;

template __global__ void carom::detail::run_task(
    const CAROM_GRID_CONSTANT carom::detail::DeviceSolve<carom::FrictionLaw::CAROM_DEVICE_LAW, Scalar>);
