// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>
#include <string>

#include "carom/contact/compliance.hpp"
#include "carom/core/invalid_input.hpp"

namespace carom::inline CAROM_ABI {
namespace detail {

template <RealScalar Scalar>
[[nodiscard]] bool is_finite(const Scalar& x) noexcept {
  return x - x == Scalar(0);
}

/// "body 3: free velocity entry 2: expected a finite number, got nan".
template <RealScalar Scalar>
[[nodiscard]] Fault fault(const std::string& item, const char* expected, const Scalar& got) {
  return item + ": expected " + expected + ", got " + std::to_string(static_cast<double>(got));
}

[[nodiscard]] inline Fault fault(const std::string& item, const char* expected, Index got) {
  return item + ": expected " + expected + ", got " + std::to_string(got);
}

[[nodiscard]] inline std::string entry(const std::string& item, Index row, Index column) {
  return item + " entry (" + std::to_string(row) + ", " + std::to_string(column) + ")";
}

/// First entry of a matrix that is not finite, or nothing.
template <typename Derived>
[[nodiscard]] Fault finite_fault(const std::string& item,
                                 const Eigen::MatrixBase<Derived>& matrix) {
  for (Index c = 0; c < matrix.cols(); ++c) {
    for (Index r = 0; r < matrix.rows(); ++r) {
      if (!is_finite(matrix(r, c)))
        return fault(entry(item, r, c), "a finite number", matrix(r, c));
    }
  }
  return {};
}

template <RealScalar Scalar>
[[nodiscard]] bool is_nonnegative(const Scalar& x) noexcept {
  return is_finite(x) && x >= Scalar(0);
}

template <RealScalar Scalar>
[[nodiscard]] bool is_positive(const Scalar& x) noexcept {
  return is_finite(x) && x > Scalar(0);
}

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
  return finite_fault(item + ": bias velocity", contact.bias_velocity);
}

/// What is wrong with a body's data short of definiteness, or nothing.
template <typename MatrixType, typename VectorType>
[[nodiscard]] Fault body_fault(const std::string& item,
                               const Eigen::MatrixBase<MatrixType>& momentum_matrix,
                               const Eigen::MatrixBase<VectorType>& free_velocity) {
  using std::abs, std::sqrt;
  using Scalar = typename MatrixType::Scalar;
  const Index size = momentum_matrix.rows();
  if (size < 1) return fault(item + ": momentum matrix rows", "at least 1", size);
  if (momentum_matrix.cols() != size) {
    return fault(item + ": momentum matrix columns", "as many as rows", momentum_matrix.cols());
  }
  if (free_velocity.rows() != size || free_velocity.cols() != 1) {
    return fault(item + ": free velocity entries", "as many as momentum matrix rows",
                 free_velocity.size());
  }
  if (!momentum_matrix.allFinite()) {
    return finite_fault(item + ": momentum matrix", momentum_matrix);
  }
  if (!free_velocity.allFinite()) {
    return finite_fault(item + ": free velocity", free_velocity);
  }
  const Scalar allowance =
      sqrt(std::numeric_limits<Scalar>::epsilon()) * momentum_matrix.cwiseAbs().maxCoeff();
  for (Index c = 0; c < size; ++c) {
    if (!(momentum_matrix(c, c) > Scalar(0))) {
      return fault(entry(item + ": momentum matrix", c, c), "a number > 0", momentum_matrix(c, c));
    }
    for (Index r = c + 1; r < size; ++r) {
      if (abs(momentum_matrix(r, c) - momentum_matrix(c, r)) > allowance) {
        return fault(entry(item + ": momentum matrix", r, c),
                     "its mirror image (a symmetric matrix)", momentum_matrix(r, c));
      }
    }
  }
  return {};
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
