// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include "carom/linalg/detail/sequence.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Sorts values by key(value) in [0, key_count). The sort is stable. Its time is proportional to
/// the sum of the counts of values and keys.
/// @param sorted, ends  scratch.
/// @note  Allocates only for sizes larger than all sizes before.
template <typename Value, typename Key>
void sort_by_key(Sequence<Value>& values, Index key_count, const Key& key, Sequence<Value>& sorted,
                 Sequence<int>& ends) {
  ends.assign(key_count + 1, 0);
  for (const Value& value : values) ++ends[key(value) + 1];
  for (Index k = 0; k < key_count; ++k) ends[k + 1] += ends[k];
  sorted.resize(values.size());
  for (const Value& value : values) sorted[ends[key(value)]++] = value;
  std::swap(values, sorted);
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
