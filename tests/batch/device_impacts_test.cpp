// SPDX-License-Identifier: BSD-3-Clause
#include "carom/batch/device_impacts.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "carom/batch/impact_batch.hpp"

#include "support/catch.hpp"
#include "support/device_stand_in.hpp"
#include "support/impact_batches.hpp"
#include "support/worst_case.hpp"

/// @file
/// The processor stands in for the device, as in device_test.cpp.
namespace device_impacts_test {

using namespace carom::testing;
using carom::DeviceImpactWorkspace, carom::ImpactBatchLaw, carom::ImpactBatchOptions;
using carom::ImpactFault, carom::ImpactMass, carom::ImpactOrder, carom::ImpactStatus, carom::Index;

namespace {

template <typename Scalar>
void resolve_by_threads(ImpactBatch<Scalar>& batch, const ImpactBatchOptions<Scalar>& options,
                        int warps) {
  using Workspace = DeviceImpactWorkspace<Scalar>;
  const std::size_t size = Workspace::bytes(batch.view(), warps);
  StandIn memory(size);
  Workspace workspace;
  REQUIRE(workspace.prepare(batch.view(), warps, memory.data(), size, copy_bytes));
  const auto task = workspace.task(batch.view(), batch.answers(), options);
  CHECK(task.batch.view.patterns == nullptr);  // an address of the processor's
  for_each_thread(task.thread_count, 33000u + unsigned(warps),
                  [&](Index thread) { task.run(thread); });
  CHECK(memory.margin_is_intact());
}

template <typename Scalar>
void check_same(const ImpactBatch<Scalar>& a, const ImpactBatch<Scalar>& b) {
  WorstCase law("a thread has the bits of a lane");
  for (std::size_t i = 0; i < a.reports.size(); ++i) {
    law.see_holds(same_answer(a, i, b, i) && a.reports[i].item == b.reports[i].item, i);
  }
  law.check(long(a.reports.size()));
}

/// Impacts of many sizes, wedged ones and billiards of thousands of reflections among them.
template <typename Scalar>
void check_threads(const ImpactBatchOptions<Scalar>& options, ImpactMass form = ImpactMass::dense,
                   bool by_velocity = false) {
  std::vector<Impact> impacts = draw_impacts(75, 33001u, true);
  if (form == ImpactMass::diagonal || form == ImpactMass::inverse_diagonal) {
    for (Impact& one : impacts) one.mass = one.mass.diagonal().asDiagonal().toDenseMatrix();
  }
  ImpactBatch<Scalar> by_lanes(impacts, form, by_velocity), by_threads = by_lanes;
  by_lanes.resolve(options);
  // 75 impacts are fewer than three warps have threads, and more than one has.
  for (const int warps : {1, 2, 3, 5}) {
    resolve_by_threads(by_threads, options, warps);
    check_same(by_threads, by_lanes);
  }
  by_lanes.template resolve<1>(options);
  check_same(by_threads, by_lanes);
  by_lanes.template resolve<8>(options);
  check_same(by_threads, by_lanes);
}

}  // namespace

TEST_CASE("device_impacts: threads have the bits of lanes, in every order and law",
          "[device_impacts]") {
  for (const ImpactOrder order :
       {ImpactOrder::most_infeasible, ImpactOrder::least_infeasible, ImpactOrder::sweep}) {
    check_threads<double>({.order = order});
    check_threads<float>({.order = order});
  }
  for (const ImpactBatchLaw law : {ImpactBatchLaw::plastic, ImpactBatchLaw::restitution}) {
    check_threads<double>({.law = law});
    check_threads<float>({.law = law, .order = ImpactOrder::sweep});
  }
  check_threads<double>({.resolver = {.reflection_limit = 2}});
  check_threads<float>({.resolver = {.tolerance = 0.1F}});
}

TEST_CASE("device_impacts: threads have the bits of lanes for masses in every form",
          "[device_impacts]") {
  for (const bool by_velocity : {false, true}) {
    for (const ImpactMass form : {ImpactMass::dense, ImpactMass::diagonal,
                                  ImpactMass::inverse_dense, ImpactMass::inverse_diagonal}) {
      check_threads<double>({}, form, by_velocity);
    }
  }
}

TEST_CASE("device_impacts: a user's own kernel resolves one impact in the thread that calls",
          "[device_impacts]") {
  ImpactBatch<double> by_lanes(draw_impacts(30, 33002u, true)), by_threads = by_lanes;
  const ImpactBatchOptions<double> options{.law = ImpactBatchLaw::restitution};
  by_lanes.resolve(options);
  using Workspace = DeviceImpactWorkspace<double>;
  const std::size_t size = Workspace::bytes(by_threads.view(), 1);
  const std::size_t numbers = Workspace::numbers_of_warp(by_threads.view());
  StandIn patterns(size), cells(numbers * sizeof(double));
  Workspace workspace;
  REQUIRE(workspace.prepare(by_threads.view(), 1, patterns.data(), size, copy_bytes));
  const auto task = workspace.task(by_threads.view(), by_threads.answers(), options);
  constexpr std::size_t lane = 17;
  for (Index i = 0; i < Index(by_threads.reports.size()); ++i) {
    carom::device::resolve(task.batch, task.answers, task.options, cells.numbers() + lane, i);
  }
  check_same(by_threads, by_lanes);
  CHECK((cells.margin_is_intact() && patterns.margin_is_intact()));
  cells.check_written_by(lane);  // to its own numbers only
}

TEST_CASE("device_impacts: an impact with bad numbers is named and changes no other",
          "[device_impacts]") {
  Impact impact = line_impact({1, 2, 3}, vector_of({3, 0, -1}));
  impact.sequence = {0, 1};
  const std::vector<Impact> impacts(40, impact);
  const ImpactBatchOptions<double> options{.law = ImpactBatchLaw::restitution,
                                           .order = ImpactOrder::sweep};
  ImpactBatch<double> good(impacts);
  resolve_by_threads(good, options, 2);
  constexpr std::size_t hurt = 33;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto check = [&](ImpactFault fault, int item, const auto& damage) {
    CAPTURE(to_string(fault), item);
    ImpactBatch<double> by_threads(impacts);
    damage(by_threads);
    ImpactBatch<double> by_lanes = by_threads;
    resolve_by_threads(by_threads, options, 2);
    CHECK(by_lanes.resolve(options).first_bad == Index(hurt));
    by_threads.pattern_numbers = by_lanes.pattern_numbers = good.pattern_numbers;
    check_same(by_threads, by_lanes);
    CHECK(by_threads.reports[hurt].status == ImpactStatus::not_finite);
    CHECK(by_threads.reports[hurt].fault == fault);
    CHECK(by_threads.reports[hurt].item == item);
    int others = 0;
    for (std::size_t i = 0; i < impacts.size(); ++i) {
      others += int(i != hurt && !same_answer(by_threads, i, good, i));
    }
    CHECK(others == 0);
  };
  const auto set = [](auto ImpactBatch<double>::*field, std::size_t place, auto to) {
    return [=](ImpactBatch<double>& batch) {
      (batch.*field)[(batch.*field).size() / batch.reports.size() * hurt + place] = to;
    };
  };
  using Batch = ImpactBatch<double>;
  check(ImpactFault::mass, 1, set(&Batch::mass, 4, -1.0));
  check(ImpactFault::normal, 1, set(&Batch::normals, 5, nan));
  check(ImpactFault::momentum, 2, set(&Batch::before, 2, nan));
  check(ImpactFault::restitution, 0, set(&Batch::restitution, 0, 1.5));
  check(ImpactFault::sequence, 1, set(&Batch::sequence, 1, 2));
  check(ImpactFault::pattern, -1, set(&Batch::pattern_numbers, 0, 1));
  check(ImpactFault::pattern, -1, set(&Batch::pattern_numbers, 0, -7));
}

TEST_CASE("device_impacts: no impacts, little memory, a copy that fails", "[device_impacts]") {
  using Workspace = DeviceImpactWorkspace<double>;
  ImpactBatch<double> none(std::vector<Impact>{});
  resolve_by_threads(none, {}, 1);
  CHECK(Workspace::bytes(none.view(), 7) == 0);

  ImpactBatch<double> batch(draw_impacts(40, 33003u));
  check_workspace<Workspace>(batch.view(), batch.answers(), ImpactBatchOptions<double>{});
}

}  // namespace device_impacts_test
