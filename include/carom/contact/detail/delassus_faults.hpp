// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "carom/contact/weighted_block.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Says what is wrong with a contact of a DelassusProblem; empty where nothing is.
template <RealScalar Scalar, typename LoadType>
[[nodiscard]] Fault delassus_contact_fault(Index contact, const ImpulseSet<Scalar>& set,
                                           const Eigen::MatrixBase<LoadType>& load,
                                           const RowNumbers<Scalar>& regularization) {
  const std::string item = "contact " + std::to_string(contact);
  if (Fault wrong = set_fault(item, set); !wrong.empty()) return wrong;
  if (load.size() != set.rows) {
    return fault(item + ": load size", std::to_string(set.rows).c_str(), load.size());
  }
  for (int r = 0; r < int(load.size()); ++r) {
    if (!is_finite(load(r))) {
      return fault(entry(item + ": load", r), "a finite number", load(r));
    }
    if (!is_nonnegative(regularization(r))) {
      return fault(entry(item + ": regularization", r), "a finite number >= 0", regularization(r));
    }
  }
  return {};
}

/// Says what is wrong with a block W_ij of a DelassusProblem; empty where nothing is.
template <typename Problem, typename MatrixType>
[[nodiscard]] Fault delassus_block_fault(const Problem& problem, Index i, Index j,
                                         const Eigen::MatrixBase<MatrixType>& block) {
  const auto item = [&] {  // long names allocate
    return "block (" + std::to_string(i) + ", " + std::to_string(j) + ")";
  };
  for (const Index contact : {i, j}) {
    if (contact >= 0 && contact < problem.count()) continue;
    return fault(item(), "contacts that were added", contact);
  }
  const int rows = problem.set(i).rows, columns = problem.set(j).rows;
  if (block.rows() != rows) {
    return fault(item() + ": rows", std::to_string(rows).c_str(), block.rows());
  }
  if (block.cols() != columns) {
    return fault(item() + ": columns", std::to_string(columns).c_str(), block.cols());
  }
  return block.allFinite() ? Fault{} : finite_fault(item(), block);
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
