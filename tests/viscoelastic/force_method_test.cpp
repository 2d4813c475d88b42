// SPDX-License-Identifier: BSD-3-Clause
#include "carom/viscoelastic/force_method.hpp"

#include <set>
#include <string>

#include "support/catch.hpp"

namespace force_method_test {

using carom::ForceMethod, carom::to_string;

TEST_CASE("force_method: every method has a name of its own", "[viscoelastic][example]") {
  std::set<std::string> names;
  for (const ForceMethod method : {ForceMethod::contact_modes, ForceMethod::coordinate_modes,
                                   ForceMethod::taylor, ForceMethod::exponential}) {
    names.insert(to_string(method));
  }
  CHECK(names.size() == 4);
  CHECK(names.count("unknown") == 0);
  CHECK(std::string(to_string(ForceMethod(99))) == "unknown");
}

}  // namespace force_method_test
