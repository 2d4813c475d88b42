// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/counting_sort.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/random.hpp"

namespace counting_sort_test {

using carom::Index, carom::Sequence;

using Value = std::pair<int, int>;  // a key, and where it stood

TEST_CASE("counting_sort: it gives what a stable sort by the key gives, for any keys and sizes",
          "[linalg][oracle]") {
  carom::testing::VectorSource<double> source(7u);
  Sequence<Value> sorted;
  Sequence<int> ends;
  for (const int count : {0, 1, 2, 17, 400}) {
    for (const Index keys : {1, 3, 50, 1000}) {
      Sequence<Value> values;
      std::vector<Value> expected;
      for (int i = 0; i < count; ++i) {
        const int key = std::min(int(double(keys) * source.unit()), int(keys) - 1);
        values.push_back({std::max(key, 0), i});
        expected.push_back(values.back());
      }
      std::stable_sort(expected.begin(), expected.end(),
                       [](const Value& a, const Value& b) { return a.first < b.first; });
      carom::detail::sort_by_key(
          values, keys, [](const Value& value) { return Index(value.first); }, sorted, ends);
      CAPTURE(count, keys);
      CHECK(values.size() == count);
      CHECK(std::equal(values.begin(), values.end(), expected.begin(), expected.end()));
    }
  }
}

}  // namespace counting_sort_test
