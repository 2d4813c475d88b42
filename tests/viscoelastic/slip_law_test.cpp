// SPDX-License-Identifier: BSD-3-Clause
#include "carom/viscoelastic/slip_law.hpp"

#include <set>
#include <string>

#include "support/catch.hpp"

namespace slip_law_test {

using carom::SlipLaw, carom::to_string;

TEST_CASE("slip_law: every law has a name of its own", "[viscoelastic][example]") {
  std::set<std::string> names;
  for (const SlipLaw law : {SlipLaw::coulomb, SlipLaw::convex, SlipLaw::radial, SlipLaw::stick}) {
    names.insert(to_string(law));
  }
  CHECK(names == std::set<std::string>{"coulomb", "convex", "radial", "stick"});
  CHECK(std::string(to_string(SlipLaw(99))) == "unknown");
}

}  // namespace slip_law_test
