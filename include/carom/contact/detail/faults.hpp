// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "carom/core/detail/plain_loops.hpp"
#include "carom/core/invalid_input.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The name of an item in the sentence of a fault, as in "contact 3", not yet composed.
struct ItemName {
  const char* kind;  ///< with a space after it
  Index number;

  [[nodiscard]] std::string text() const { return kind + std::to_string(number); }
};

/// The fault of a body's data except definiteness; empty if there is none.
template <RealScalar Scalar>
[[nodiscard]] Fault body_fault(const std::string& item,
                               const MatrixEntries<Scalar>& momentum_matrix,
                               const MatrixEntries<Scalar>& free_velocity) {
  if (Fault matrix = symmetric_fault(item, ": momentum matrix", momentum_matrix); !matrix.empty()) {
    return matrix;
  }
  if (free_velocity.rows != momentum_matrix.rows || free_velocity.columns != 1) {
    return fault(item + ": free velocity entries", "as many as momentum matrix rows",
                 free_velocity.rows * free_velocity.columns);
  }
  if (all_finite(free_velocity.data, free_velocity.rows)) return {};
  return finite_fault(item + ": free velocity", free_velocity);
}

/// The fault of a body's velocity before the step; empty if there is none.
template <RealScalar Scalar>
[[nodiscard]] Fault velocity_fault(const std::string& item,
                                   const MatrixEntries<Scalar>& free_velocity,
                                   const MatrixEntries<Scalar>& velocity_now) {
  if (velocity_now.rows != free_velocity.rows || velocity_now.columns != 1) {
    return fault(item + ": velocity entries", "as many as free velocity entries",
                 velocity_now.rows * velocity_now.columns);
  }
  if (all_finite(velocity_now.data, velocity_now.rows)) return {};
  return finite_fault(item + ": velocity", velocity_now);
}

[[nodiscard]] inline Fault indefinite_fault(const std::string& item) {
  return item + ": momentum matrix: expected a positive definite one, got an indefinite one";
}

/// The fault of the index of a body; empty if there is none.
[[nodiscard]] inline Fault body_index_fault(const ItemName& item, Index body, Index count) {
  if (body >= 0 && body < count) return {};
  const std::string range = "an index in [0, " + std::to_string(count) + ")";
  return fault(item.text() + ": body", range.c_str(), body);
}

[[nodiscard]] inline Fault zero_row_fault(const std::string& item, Index row) {
  return item + ": Jacobian row " + std::to_string(row) + ": expected a non-zero row, got zero";
}

/// The fault of the size of a Jacobian for a body of the given size; empty if there is none.
[[nodiscard]] inline Fault jacobian_size_fault(const ItemName& item, bool friction_contact,
                                               Index rows, Index columns, Index body_size) {
  if (friction_contact && rows != 3) return fault(item.text() + ": Jacobian rows", "3", rows);
  if (rows < 1 || rows > 6)
    return fault(item.text() + ": Jacobian rows", "a number in [1, 6]", rows);
  if (columns == body_size) return {};
  return fault(item.text() + ": Jacobian columns", std::to_string(body_size).c_str(), columns);
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
