// SPDX-License-Identifier: BSD-3-Clause
#include "carom/adapters/mujoco_outcome.hpp"

#include <set>
#include <string>

#include "support/catch.hpp"

namespace mujoco_outcome_test {

using carom::MujocoVerdict;

TEST_CASE("mujoco_outcome: each verdict has words of its own, and two of them are answers",
          "[adapters][law]") {
  std::set<std::string> words;
  for (const MujocoVerdict verdict :
       {MujocoVerdict::solved, MujocoVerdict::best_effort, MujocoVerdict::not_finite,
        MujocoVerdict::singular_mass, MujocoVerdict::unsupported_integrator,
        MujocoVerdict::unsupported_contact}) {
    CHECK(words.insert(to_string(verdict)).second);
    const bool answered = carom::MujocoOutcome{verdict, {}}.answered();
    CHECK(answered == (verdict == MujocoVerdict::solved || verdict == MujocoVerdict::best_effort));
  }
  CHECK(words.count("unknown") == 0);
  CHECK_FALSE(carom::MujocoOutcome{}.answered());
}

}  // namespace mujoco_outcome_test
