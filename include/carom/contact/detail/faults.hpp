// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "carom/contact/compliance.hpp"
#include "carom/core/invalid_input.hpp"

namespace carom::inline CAROM_ABI {
namespace detail {

/// What is wrong with a contact's physical data, or nothing.
template <RealScalar Scalar>
[[nodiscard]] Fault law_fault(const std::string& item, const CompliantContact<Scalar>& contact) {
  constexpr const char* nonnegative = "a finite number >= 0";
  if (!is_finite(contact.gap)) return fault(item + ": gap", "a finite number", contact.gap);
  if (!(contact.stiffness > Scalar(0))) {
    return fault(item + ": stiffness", "a number > 0", contact.stiffness);
  }
  if (!is_nonnegative(contact.dissipation_time)) {
    return fault(item + ": dissipation time", nonnegative, contact.dissipation_time);
  }
  if (!is_nonnegative(contact.friction)) {
    return fault(item + ": friction", nonnegative, contact.friction);
  }
  if (!is_nonnegative(contact.near_rigid)) {
    return fault(item + ": near-rigid factor", nonnegative, contact.near_rigid);
  }
  if (!is_finite(contact.stiffness) && contact.near_rigid == Scalar(0)) {
    return fault(item + ": near-rigid factor", "a number > 0 when the stiffness is infinite",
                 contact.near_rigid);
  }
  if (!is_positive(contact.relative_slip)) {
    return fault(item + ": relative slip", "a finite number > 0", contact.relative_slip);
  }
  return {};
}

/// What is wrong with a contact's weights, or nothing.
template <RealScalar Scalar>
[[nodiscard]] Fault law_fault(const std::string& item, const WeightedContact<Scalar>& contact) {
  if (!is_nonnegative(contact.friction)) {
    return fault(item + ": friction", "a finite number >= 0", contact.friction);
  }
  if (!is_positive(contact.regularization.tangent)) {
    return fault(item + ": tangential regularization", "a finite number > 0",
                 contact.regularization.tangent);
  }
  if (!is_positive(contact.regularization.normal)) {
    return fault(item + ": normal regularization", "a finite number > 0",
                 contact.regularization.normal);
  }
  if (contact.bias_velocity.allFinite()) return {};
  return finite_fault(item + ": bias velocity", contact.bias_velocity);
}

/// What is wrong with a body's data short of definiteness, or nothing.
template <typename MatrixType, typename VectorType>
[[nodiscard]] Fault body_fault(const std::string& item,
                               const Eigen::MatrixBase<MatrixType>& momentum_matrix,
                               const Eigen::MatrixBase<VectorType>& free_velocity) {
  if (Fault matrix = symmetric_fault(item, ": momentum matrix", momentum_matrix); !matrix.empty()) {
    return matrix;
  }
  if (free_velocity.rows() != momentum_matrix.rows() || free_velocity.cols() != 1) {
    return fault(item + ": free velocity entries", "as many as momentum matrix rows",
                 free_velocity.size());
  }
  if (free_velocity.allFinite()) return {};
  return finite_fault(item + ": free velocity", free_velocity);
}

[[nodiscard]] inline Fault indefinite_fault(const std::string& item) {
  return item + ": momentum matrix: expected a positive definite one, got an indefinite one";
}

[[nodiscard]] inline Fault zero_jacobian_fault(const std::string& item) {
  return item + ": Jacobian: expected a non-zero matrix, got zero";
}

/// What is wrong with the index of a body, or nothing.
[[nodiscard]] inline Fault body_index_fault(const std::string& item, Index body, Index count) {
  if (body >= 0 && body < count) return {};
  const std::string range = "an index in [0, " + std::to_string(count) + ")";
  return fault(item + ": body", range.c_str(), body);
}

/// What is wrong with a Jacobian for a body of the given size, or nothing.
template <typename MatrixType>
[[nodiscard]] Fault jacobian_fault(const std::string& item, Index body_size,
                                   const Eigen::MatrixBase<MatrixType>& jacobian) {
  if (jacobian.rows() != 3) return fault(item + ": Jacobian rows", "3", jacobian.rows());
  if (jacobian.cols() != body_size) {
    return fault(item + ": Jacobian columns", std::to_string(body_size).c_str(), jacobian.cols());
  }
  if (jacobian.allFinite()) return {};
  return finite_fault(item + ": Jacobian", jacobian);
}

}  // namespace detail
}  // namespace carom::inline CAROM_ABI
