// SPDX-License-Identifier: BSD-3-Clause
#include "carom/core/detail/rollback.hpp"

#include <stdexcept>

#include "support/catch.hpp"

TEST_CASE("rollback: it undoes what was not kept, also after an exception", "[core][law]") {
  int undone = 0;
  const auto change = [&](bool fails, bool keeps) {
    carom::detail::Rollback rollback([&] { ++undone; });
    if (fails) throw std::runtime_error("half done");
    if (keeps) rollback.keep();
  };
  change(false, true);
  CHECK(undone == 0);
  change(false, false);
  CHECK(undone == 1);
  CHECK_THROWS(change(true, true));
  CHECK(undone == 2);
}
