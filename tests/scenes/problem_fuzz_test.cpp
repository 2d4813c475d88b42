// SPDX-License-Identifier: BSD-3-Clause
// A fixed set of spoiled problems through the function that the fuzz target runs.
#include "support/problem_fuzz.hpp"

#include <array>
#include <cstdint>
#include <string>

#include "support/catch.hpp"
#include "support/sweep.hpp"

#include "io/file_text.hpp"

namespace problem_fuzz_test {

using carom::testing::check_problem_text, carom::testing::FuzzOutcome;
using carom::testing::mutate_problem_text, carom::testing::sweep;

namespace {

std::string bundled(const std::string& name) {
  return carom::files::read_file(CAROM_SOURCE_DIR "/examples/data/" + name + ".txt");
}

using Counts = std::array<int, 4>;

/// Mutants of a problem, each mutated once to five times.
Counts check_mutants(const std::string& name, int count) {
  const std::string original = bundled(name);
  CHECK(check_problem_text(original) == FuzzOutcome::converged);
  Counts counts{};
  for (int k = 0; k < count; ++k) {
    std::string text = original;
    for (int depth = 0; depth <= k % 5; ++depth) {
      text = mutate_problem_text(text, std::uint32_t(1000 * k + depth + 1));
    }
    ++counts[std::size_t(check_problem_text(text))];
  }
  return counts;
}

}  // namespace

TEST_CASE("fuzz: spoiled problems are refused with a reason, or solved, or the status says why not",
          "[scenes][law]") {
  const Counts one = check_mutants("pile_n1_s30", sweep(500, 1500)),
               ten = check_mutants("pile_n10_s60", sweep(30, 60));
  CHECK(one[std::size_t(FuzzOutcome::refused)] > 100);
  CHECK(one[std::size_t(FuzzOutcome::converged)] > 100);
  CHECK(one[std::size_t(FuzzOutcome::stopped)] > 0);
  CHECK(ten[std::size_t(FuzzOutcome::converged)] > 10);
  const Counts constrained = check_mutants("constraints/arm_and_boxes", sweep(100, 300));
  CHECK(constrained[std::size_t(FuzzOutcome::refused)] > sweep(10, 30));
  CHECK(constrained[std::size_t(FuzzOutcome::converged)] > sweep(10, 30));
}

TEST_CASE("fuzz: many more spoiled problems", "[.][slow][scenes][law]") {
  for (const char* name : {"pile_n1_s30", "pile_n10_s60", "wall_n10", "mujoco_sphere_10",
                           "constraints/arm_and_boxes"}) {
    const Counts counts = check_mutants(name, 3000);
    CHECK(counts[std::size_t(FuzzOutcome::converged)] > 300);
  }
}

TEST_CASE("fuzz: text that is no problem at all is refused", "[scenes][example]") {
  for (const char* text : {"", "\n", "carom-problem", "carom-problem 1", "\xff\xfe", "0 0 0",
                           "carom-problem 1\ntime_step 0.01\nbodies 99999999999"}) {
    CHECK(check_problem_text(text) == FuzzOutcome::refused);
  }
}

}  // namespace problem_fuzz_test
