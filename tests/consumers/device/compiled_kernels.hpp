// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/device.hpp"
#include "carom/batch/device_gradients.hpp"
#include "carom/batch/device_impacts.hpp"
#include "carom/batch/device_projections.hpp"

/// @file
/// Tells a program that the kernels are in objects of their own, which scripts/device.sh compiles
/// once and links to each program. A program of a user's needs no such thing.

#define CAROM_TEST_KERNEL(...) \
  extern template __global__ void carom::detail::run_task(const CAROM_GRID_CONSTANT __VA_ARGS__)
#define CAROM_TEST_KERNELS_OF_LAW(Law, Scalar)                                    \
  CAROM_TEST_KERNEL(carom::detail::DeviceSolve<carom::FrictionLaw::Law, Scalar>); \
  CAROM_TEST_KERNEL(carom::detail::DevicePullBack<carom::FrictionLaw::Law, Scalar>)
#define CAROM_TEST_KERNELS(Scalar)                    \
  CAROM_TEST_KERNELS_OF_LAW(convex, Scalar);          \
  CAROM_TEST_KERNELS_OF_LAW(coulomb, Scalar);         \
  CAROM_TEST_KERNEL(carom::DeviceImpactTask<Scalar>); \
  CAROM_TEST_KERNEL(carom::DeviceProjectionTask<Scalar>)

CAROM_TEST_KERNELS(float);
CAROM_TEST_KERNELS(double);

#undef CAROM_TEST_KERNELS
#undef CAROM_TEST_KERNELS_OF_LAW
#undef CAROM_TEST_KERNEL
