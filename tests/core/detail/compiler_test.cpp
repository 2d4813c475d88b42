// SPDX-License-Identifier: BSD-3-Clause
#include "carom/core/detail/compiler.hpp"

#include <string>

#include "support/catch.hpp"

namespace compiler_test {

#define CAROM_TEST_TEXT_OF(name) #name
#define CAROM_TEST_TEXT(name) CAROM_TEST_TEXT_OF(name)

CAROM_DEVICE constexpr int twice(int x) noexcept {
  return 2 * x;
}

TEST_CASE("compiler: the macro is nothing to a compiler of ordinary processors",
          "[core][example]") {
  CHECK(std::string(CAROM_TEST_TEXT(CAROM_DEVICE)).empty());
  CHECK(twice(3) == 6);
}

}  // namespace compiler_test
