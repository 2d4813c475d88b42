// SPDX-License-Identifier: BSD-3-Clause
#include "carom/core/detail/kept_items.hpp"

#include <string>
#include <utility>

#include "support/catch.hpp"

namespace kept_items_test {

TEST_CASE("kept_items: items keep what they hold when more are made, and when they move",
          "[core]") {
  carom::detail::KeptItems<std::string> items;
  CHECK(items.size() == 0);
  items.grow(2);
  items[1] = "kept";
  items.grow(1);
  CHECK(items.size() == 2);
  items.grow(5);
  CHECK(items.size() == 5);
  CHECK(items[1] == "kept");
  carom::detail::KeptItems<std::string> other = std::move(items);
  CHECK(other[1] == "kept");
  items = std::move(other);
  CHECK(items[1] == "kept");
}

}  // namespace kept_items_test
