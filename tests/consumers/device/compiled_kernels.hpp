// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/device.hpp"
#include "carom/batch/device_gradients.hpp"
#include "carom/batch/device_impacts.hpp"
#include "carom/batch/device_projections.hpp"

/// @file
/// Tells a program that the kernels are in objects of their own, which scripts/device.sh compiles
/// once and links to each program. A program of a user's needs no such thing.

#define CAROM_TEST_KERNELS_OF_LAW(Law, Scalar)                            \
  extern template __global__ void                                         \
  carom::detail::solve_batch_kernel<carom::FrictionLaw::Law, Scalar>(     \
      const CAROM_GRID_CONSTANT carom::DeviceTask<Scalar>);               \
  extern template __global__ void                                         \
  carom::detail::pull_back_batch_kernel<carom::FrictionLaw::Law, Scalar>( \
      const CAROM_GRID_CONSTANT carom::DeviceGradientTask<Scalar>)
#define CAROM_TEST_KERNELS(Scalar)                                             \
  CAROM_TEST_KERNELS_OF_LAW(convex, Scalar);                                   \
  CAROM_TEST_KERNELS_OF_LAW(coulomb, Scalar);                                  \
  extern template __global__ void carom::detail::resolve_batch_kernel<Scalar>( \
      const CAROM_GRID_CONSTANT carom::DeviceImpactTask<Scalar>);              \
  extern template __global__ void carom::detail::project_batch_kernel<Scalar>( \
      const CAROM_GRID_CONSTANT carom::DeviceProjectionTask<Scalar>)

CAROM_TEST_KERNELS(float);
CAROM_TEST_KERNELS(double);

#undef CAROM_TEST_KERNELS
#undef CAROM_TEST_KERNELS_OF_LAW
