// SPDX-License-Identifier: BSD-3-Clause
#include "carom/core/version.hpp"

#include <string>

#include "support/catch.hpp"

TEST_CASE("version: the text has the three numbers", "[core][law]") {
  const std::string expected = std::to_string(CAROM_VERSION_MAJOR) + "." +
                               std::to_string(CAROM_VERSION_MINOR) + "." +
                               std::to_string(CAROM_VERSION_PATCH);
  CHECK(std::string(CAROM_VERSION_STRING) == expected);
}

TEST_CASE("version: the number grows as versions do, and the preprocessor can compare it",
          "[core][law]") {
#if CAROM_VERSION < CAROM_MAKE_VERSION(0, 1, 0)
  FAIL("the first version is 0.1.0");
#endif
  CHECK(CAROM_VERSION ==
        CAROM_MAKE_VERSION(CAROM_VERSION_MAJOR, CAROM_VERSION_MINOR, CAROM_VERSION_PATCH));
  CHECK(CAROM_MAKE_VERSION(0, 1, 999) < CAROM_MAKE_VERSION(0, 2, 0));
  CHECK(CAROM_MAKE_VERSION(0, 999, 999) < CAROM_MAKE_VERSION(1, 0, 0));
  CHECK(CAROM_MAKE_VERSION(1, 2, 3) < CAROM_MAKE_VERSION(1, 2, 4));
}
