// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "carom/contact/weighted_block.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Says what is wrong with a contact of a DelassusProblem; empty where nothing is.
/// @param load  as many numbers as the load was given with, or the first six.
template <RealScalar Scalar>
[[nodiscard]] Fault delassus_contact_fault(Index contact, const ImpulseSet<Scalar>& set,
                                           Index load_size, const RowNumbers<Scalar>& load,
                                           const RowNumbers<Scalar>& regularization) {
  const std::string item = "contact " + std::to_string(contact);
  if (Fault wrong = set_fault(item, set); !wrong.empty()) return wrong;
  if (load_size != set.rows) {
    return fault(item + ": load size", std::to_string(set.rows).c_str(), load_size);
  }
  for (int r = 0; r < set.rows; ++r) {
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
template <typename Problem>
[[nodiscard]] Fault delassus_block_fault(
    const Problem& problem, Index i, Index j,
    const MatrixEntries<typename Problem::scalar_type>& block) {
  const auto item = [&] {  // long names allocate
    return "block (" + std::to_string(i) + ", " + std::to_string(j) + ")";
  };
  for (const Index contact : {i, j}) {
    if (contact >= 0 && contact < problem.count()) continue;
    return fault(item(), "contacts that were added", contact);
  }
  const int rows = problem.set(i).rows, columns = problem.set(j).rows;
  if (block.rows != rows) {
    return fault(item() + ": rows", std::to_string(rows).c_str(), block.rows);
  }
  if (block.columns != columns) {
    return fault(item() + ": columns", std::to_string(columns).c_str(), block.columns);
  }
  for (Index c = 0; c < columns; ++c) {
    for (Index r = 0; r < rows; ++r) {
      if (!is_finite(block(r, c))) return finite_fault(item(), block);
    }
  }
  return {};
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
