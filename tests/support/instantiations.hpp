// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/solvers/sap.hpp"
#include "carom/solvers/sap_derivative.hpp"
#include "carom/solvers/solve_contact.hpp"

/// @file
/// Templates that many tests use and that take seconds to compile: instantiated once for all test
/// programs, in instantiations_<scalar>.cpp.
namespace carom::inline CAROM_ABI {

// NOLINTBEGIN(cppcoreguidelines-macro-usage): the list is declared here and defined there.
#define CAROM_TEST_INSTANTIATE(prefix, Scalar)                                                   \
  prefix class ContactProblem<Scalar>;                                                           \
  prefix class ConstraintList<Scalar>;                                                           \
  prefix class BlockCholesky<Scalar>;                                                            \
  prefix class BlockIncompleteCholesky<Scalar>;                                                  \
  prefix class BlockSymmetric<Scalar>;                                                           \
  prefix class SapSolver<Scalar>;                                                                \
  prefix class SapDerivative<Scalar>;                                                            \
  prefix RowNumbers<Scalar> nearest_impulse<Scalar>(                                             \
      const ImpulseSet<Scalar>&, const RowNumbers<Scalar>&, const RowNumbers<Scalar>&) noexcept; \
  prefix SquareMatrix<Scalar, 6> impulse_curvature<Scalar>(                                      \
      const ImpulseSet<Scalar>&, const RowNumbers<Scalar>&, const RowNumbers<Scalar>&) noexcept; \
  prefix Certificate<Scalar> certify<Scalar>(const ContactProblem<Scalar>&,                      \
                                             const VectorX<Scalar>&, const VectorX<Scalar>&);    \
  prefix Certificate<Scalar> certify<Scalar>(const ContactProblem<Scalar>&, const VectorX<Scalar>&)
// NOLINTEND(cppcoreguidelines-macro-usage)

CAROM_TEST_INSTANTIATE(extern template, float);
CAROM_TEST_INSTANTIATE(extern template, double);

}  // namespace carom::inline CAROM_ABI
