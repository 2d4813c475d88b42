// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

/// @file
/// Batches of problems in plain arrays, for modules of compiled code beside carom._core: carom._jax
/// reaches these functions through the capsule carom._core._batch_interface.
namespace carom::python {

/// The arrays that may replace those of a pattern, in the order of Batch.like(). From `mass` on
/// there is one matrix per body or contact.
enum class BatchField : std::int32_t {
  free_velocity,
  friction,
  gap,
  stiffness,
  dissipation_time,
  regularization,
  bias,
  mass,
  jacobian,
  other_jacobian
};

/// The axes of an array, the axes of the batch first.
struct BatchAxes {
  const std::int64_t* sizes = nullptr;
  std::int64_t count = 0;
};

/// An array in C order.
struct BatchOperand {
  BatchField field = BatchField::free_velocity;
  std::int64_t item = -1;  ///< Number of the body or contact; −1: of all, an axis of its own.
  /// Those of the batch, each of size 1 where all problems share the numbers, then its own.
  BatchAxes axes;
  const double* numbers = nullptr;
};

/// A gradient by an operand, for every problem of the batch.
struct BatchResult {
  BatchField field = BatchField::free_velocity;
  std::int64_t item = -1;
  double* numbers = nullptr;
};

/// What is to be solved. Pointers stay valid for the length of a call.
struct BatchCall {
  const void* pattern = nullptr;  ///< As BatchInterface::hold gives it.
  bool coulomb = false, rigid = false;
  double tolerance = 1e-12;  ///< [-], > 0
  std::int64_t threads = 0;  ///< 0: as many as the processor has.
  BatchAxes batch;           ///< The axes of the batch; none: one problem.
  const BatchOperand* operands = nullptr;
  std::int64_t operand_count = 0;
};

/// Where the answers go; to be differentiated they are read again.
struct BatchAnswers {
  double* velocity = nullptr;  ///< n_v per problem [m/s, rad/s]
  double* impulse = nullptr;   ///< Per problem, stacked block by block [N·s]
  double* report = nullptr;    ///< 3 per problem: number of the status, residual [-], iterations.
};

/// What went wrong, a text that ends with a zero.
struct BatchMessage {
  char* text = nullptr;
  std::int64_t capacity = 0;
};

/// The functions. None throws; those that return bool write a message where it is false.
struct BatchInterface {
  /// A pattern by its handle, held until it is released; null where there is none of this handle.
  const void* (*hold)(std::int64_t handle) noexcept;
  void (*release)(const void* pattern) noexcept;
  bool (*solve)(const BatchCall& call, const BatchAnswers& answers, BatchMessage message) noexcept;
  /// Gradients at answers that `solve` gave for the same call; a problem without gets NaN.
  /// @param velocity_bar, impulse_bar  as many numbers per problem as velocity and impulse have.
  bool (*pull_back)(const BatchCall& call, const BatchAnswers& answers, const double* velocity_bar,
                    const double* impulse_bar, const BatchResult* results,
                    BatchMessage message) noexcept;
};

}  // namespace carom::python
