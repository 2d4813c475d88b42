// SPDX-License-Identifier: BSD-3-Clause
#include "carom/batch/device_projections.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "carom/batch/projection_batch.hpp"

#include "support/catch.hpp"
#include "support/device_stand_in.hpp"
#include "support/projection_points.hpp"
#include "support/worst_case.hpp"

/// @file
/// The processor stands in for the device, as in device_test.cpp.
namespace device_projections_test {

using namespace carom::testing;
using carom::Index, carom::ProjectionFault;

namespace {

template <typename Scalar>
void project_by_threads(Points<Scalar>& points, Index threads) {
  const carom::DeviceProjectionTask<Scalar> task{points.view(), points.answers(), threads};
  for_each_thread(threads, 34000u + unsigned(threads), [&](Index thread) { task.run(thread); });
}

template <typename Scalar>
void check_same(const Points<Scalar>& a, const Points<Scalar>& b) {
  CHECK(is_same(a, b));
  WorstCase law("the fault of a thread is that of a lane");
  for (std::size_t i = 0; i < a.faults.size(); ++i) {
    law.see_holds(a.faults[i].fault == b.faults[i].fault && a.faults[i].item == b.faults[i].item,
                  i);
  }
  law.check(long(a.faults.size()));
}

template <typename Scalar>
void check_threads(int shape) {
  CAPTURE(shape);
  Points<Scalar> by_lanes = draw_points<Scalar>(shape, 1000, nullptr), by_threads = by_lanes;
  project_batch(by_lanes.view(), by_lanes.answers());
  for (const Index threads : {Index(1), Index(64), Index(999), Index(1024)}) {
    by_threads.nearest.assign(by_threads.nearest.size(), Scalar(0));
    by_threads.derivative.assign(by_threads.derivative.size(), Scalar(0));
    project_by_threads(by_threads, threads);
    check_same(by_threads, by_lanes);
  }
  carom::project_batch<Scalar, 1>(by_lanes.view(), by_lanes.answers());
  check_same(by_threads, by_lanes);
}

}  // namespace

TEST_CASE("device_projections: threads have the bits of lanes on sets of every shape",
          "[device_projections]") {
  for (int shape = 0; shape < shape_count; ++shape) {
    check_threads<double>(shape);
    check_threads<float>(shape);
  }
}

TEST_CASE("device_projections: a user's own kernel projects one point in the thread that calls",
          "[device_projections]") {
  Points<double> by_lanes = draw_points<double>(3, 20, nullptr), by_threads = by_lanes;
  project_batch(by_lanes.view(), by_lanes.answers());
  auto answers = by_threads.answers();
  answers.derivative = {};  // not wanted
  for (Index i = 0; i < 20; ++i) carom::device::project(by_threads.view(), answers, i);
  CHECK(by_threads.nearest == by_lanes.nearest);
  CHECK(by_threads.derivative != by_lanes.derivative);
}

TEST_CASE("device_projections: a bad point is named and changes no other", "[device_projections]") {
  using P = Points<double>;
  struct Damage {
    std::vector<double> P::*numbers;
    int stride, item;
    double value;
    ProjectionFault fault;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  P good = draw_points<double>(4, 100, nullptr);  // rolling cones, 6 rows
  const P given = good;
  project_by_threads(good, 64);
  constexpr int bad = 71;
  for (const Damage& damage : {Damage{&P::point, 6, 2, nan, ProjectionFault::point},
                               Damage{&P::weights, 6, 5, 0, ProjectionFault::weights},
                               Damage{&P::friction, 3, 1, -0.1, ProjectionFault::friction},
                               Damage{&P::bounds, 6, 3, nan, ProjectionFault::bounds}}) {
    CAPTURE(to_string(damage.fault));
    P by_threads = given;
    (by_threads.*damage.numbers)[std::size_t(bad * damage.stride + damage.item)] = damage.value;
    P by_lanes = by_threads;
    project_by_threads(by_threads, 64);
    CHECK(project_batch(by_lanes.view(), by_lanes.answers()).first_bad == bad);
    check_same(by_threads, by_lanes);
    CHECK(by_threads.faults[bad].fault == damage.fault);
    for (P* points : {&by_threads, &good}) {
      std::fill_n(points->nearest.begin() + 6 * bad, 6, 0.0);
      std::fill_n(points->derivative.begin() + 36 * bad, 36, 0.0);
    }
    CHECK(is_same(by_threads, good));
  }
}

TEST_CASE("device_projections: no points at all", "[device_projections]") {
  Points<double> points = draw_points<double>(2, 3, nullptr);
  const Points<double> given = points;
  auto view = points.view();
  view.count = 0;
  const carom::DeviceProjectionTask<double> task{view, points.answers(), 32};
  for_each_thread(32, 34001u, [&](Index thread) { task.run(thread); });
  CHECK(is_same(points, given));
}

}  // namespace device_projections_test
