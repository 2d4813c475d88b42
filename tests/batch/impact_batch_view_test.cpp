// SPDX-License-Identifier: BSD-3-Clause
#include "carom/batch/impact_batch_view.hpp"

#include <string>

#include "support/catch.hpp"
#include "support/impact_scenes.hpp"

namespace impact_batch_view_test {

using carom::ImpactBatchView, carom::ImpactFault, carom::ImpactMass, carom::ImpactPattern;
using carom::testing::refusal_of;

TEST_CASE("impact_batch_view: a pattern tells how many numbers a mass has", "[impact_batch]") {
  CHECK(ImpactPattern(3, 2).mass_count() == 9);
  CHECK(ImpactPattern(3, 2, ImpactMass::diagonal).mass_count() == 3);
  CHECK(ImpactPattern(3, 2, ImpactMass::inverse_dense).mass_count() == 9);
  const ImpactPattern inverse(3, 2, ImpactMass::inverse_diagonal);
  CHECK((inverse.mass_count() == 3 && inverse.is_inverse() && inverse.is_diagonal()));
  CHECK((inverse.coordinate_count() == 3 && inverse.contact_count() == 2));
}

TEST_CASE("impact_batch_view: a pattern refuses negative counts by name", "[impact_batch]") {
  CHECK(refusal_of([] { ImpactPattern(-1, 2); }).find("coordinates") == 0);
  CHECK(refusal_of([] { ImpactPattern(1, -2); }).find("contacts") == 0);
  CHECK(refusal_of([] { ImpactPattern(0, 0); }) == "accepted");
}

TEST_CASE("impact_batch_view: sequences may have one length or one each", "[impact_batch]") {
  const int sequence[] = {0, 1, 0}, counts[] = {1, 0};
  ImpactBatchView<double> view;
  view.count = 2;
  CHECK(view.length_of_sequence(1) == 0);
  view.sequence_count = 3;
  CHECK(view.length_of_sequence(1) == 0);
  view.sequence = {sequence, 0};
  CHECK(view.length_of_sequence(1) == 3);
  view.sequence_counts = counts;
  CHECK((view.length_of_sequence(0) == 1 && view.length_of_sequence(1) == 0));
}

TEST_CASE("impact_batch_view: faults as words", "[impact_batch]") {
  CHECK(to_string(ImpactFault::none) == std::string("none"));
  CHECK(to_string(ImpactFault::restitution) == std::string("restitution"));
  CHECK(to_string(ImpactFault::sequence) == std::string("sequence"));
}

}  // namespace impact_batch_view_test
