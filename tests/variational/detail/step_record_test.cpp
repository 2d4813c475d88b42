// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/detail/step_record.hpp"

#include <vector>

#include "support/catch.hpp"

namespace step_record_test {

using carom::Index, carom::MechanicalState, carom::StepEvent, carom::StepEventKind;
using carom::StepRecord, carom::VectorX;

namespace {

/// A record of a system of two coordinates and three gaps, and what adds events to it.
struct Recorded {
  StepRecord<double> record;
  double time = 0;

  explicit Recorded(Index capacity) { record.prepare(2, 3, capacity); }
  void add(StepEventKind kind, const std::vector<Index>& contacts) {
    time += 1;
    record.add({.kind = kind, .time = time}, VectorX<double>::Constant(2, time),
               VectorX<double>::Constant(2, -time), contacts);
  }
  [[nodiscard]] std::size_t count() const { return record.events().size(); }
};

}  // namespace

TEST_CASE("step_record: events keep their contacts and their states", "[variational][example]") {
  Recorded recorded(4);
  recorded.add(StepEventKind::begin, {});
  recorded.add(StepEventKind::impact, {2, 0});
  recorded.add(StepEventKind::flight, {1});
  REQUIRE(recorded.count() == 3);
  const auto events = recorded.record.events();
  CHECK(recorded.record.contacts(events[0]).empty());
  CHECK(
      (recorded.record.contacts(events[1])[0] == 2 && recorded.record.contacts(events[1])[1] == 0));
  CHECK(recorded.record.contacts(events[2])[0] == 1);
  MechanicalState<double> state{0, VectorX<double>(2), VectorX<double>(2)};
  recorded.record.write_state(1, state);
  CHECK((state.time == 2 && state.q(1) == 2 && state.momentum(0) == -2));
  recorded.record.clear();
  CHECK(recorded.count() == 0);
}

TEST_CASE("step_record: a projection is recorded again only if its contacts differ",
          "[variational][example]") {
  Recorded recorded(9);
  recorded.add(StepEventKind::project, {0, 1});
  recorded.add(StepEventKind::project, {0, 1});
  CHECK(recorded.count() == 1);
  recorded.add(StepEventKind::project, {0});
  CHECK(recorded.count() == 2);
  recorded.add(StepEventKind::project, {2});
  CHECK(recorded.count() == 3);
  recorded.add(StepEventKind::flight, {2});
  recorded.add(StepEventKind::project, {2});
  CHECK(recorded.count() == 5);
  CHECK_FALSE(recorded.record.incomplete());
}

TEST_CASE("step_record: more events or contacts than there is room for make it incomplete",
          "[variational][example]") {
  Recorded events(2);
  for (int k = 0; k < 2; ++k) events.add(StepEventKind::flight, {});
  CHECK_FALSE(events.record.incomplete());
  events.add(StepEventKind::flight, {});
  CHECK(events.record.incomplete());
  CHECK(events.count() == 2);
  Recorded contacts(2);  // room for 2 · 4 + 3
  contacts.add(StepEventKind::impact, std::vector<Index>(11, 0));
  CHECK_FALSE(contacts.record.incomplete());
  contacts.add(StepEventKind::impact, {0});
  CHECK(contacts.record.incomplete());
  CHECK(contacts.count() == 1);
  contacts.add(StepEventKind::flight, {});  // and stays so
  CHECK(contacts.count() == 1);
  contacts.record.clear();
  CHECK_FALSE(contacts.record.incomplete());
}

}  // namespace step_record_test
