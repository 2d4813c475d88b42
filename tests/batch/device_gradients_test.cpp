// SPDX-License-Identifier: BSD-3-Clause
#include "carom/batch/device_gradients.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "carom/batch/batch_gradients.hpp"
#include "carom/batch/batch_storage.hpp"

#include "support/catch.hpp"
#include "support/device_stand_in.hpp"
#include "support/gradient_arrays.hpp"
#include "support/raw_problem.hpp"
#include "support/worst_case.hpp"

/// @file
/// The processor stands in for the device, as in device_test.cpp.
namespace device_gradients_test {

using namespace carom::testing;
using carom::BatchStorage, carom::ContactProblem, carom::DeviceWorkspace, carom::FrictionLaw;
using carom::Index, carom::SapOptions, carom::SolveStatus;

namespace {

constexpr Index longest = 1000;

template <typename Scalar>
carom::DeviceGradientTask<Scalar> prepare(DeviceWorkspace<Scalar>& workspace, StandIn& memory,
                                          BatchStorage<Scalar>& batch,
                                          GradientArrays<Scalar>& gradients,
                                          const SapOptions<Scalar>& options, int warps) {
  const std::size_t size = DeviceWorkspace<Scalar>::bytes(batch.view(), warps);
  REQUIRE(workspace.prepare(batch.view(), warps, memory.data(), size, copy_bytes));
  return gradient_task(workspace, batch.view(), batch.answers(), gradients.view(), options);
}

/// What the launches of solve_batch() and pull_back_batch() do, a thread after the other.
template <typename Scalar>
void solve_by_threads(BatchStorage<Scalar>& batch, GradientArrays<Scalar>& gradients,
                      const SapOptions<Scalar>& options, int warps) {
  StandIn memory(DeviceWorkspace<Scalar>::bytes(batch.view(), warps));
  DeviceWorkspace<Scalar> workspace;
  const auto task = prepare(workspace, memory, batch, gradients, options, warps);
  const auto run = [&](auto law) {
    constexpr FrictionLaw own = decltype(law)::value;
    for_each_thread(task.thread_count, 35000u, [&](Index i) { task.template run<own>(i); });
    for_each_thread(task.thread_count, 35001u, [&](Index i) { task.template pull_back<own>(i); });
  };
  if (options.law == FrictionLaw::coulomb) {
    run(std::integral_constant<FrictionLaw, FrictionLaw::coulomb>());
  } else {
    run(std::integral_constant<FrictionLaw, FrictionLaw::convex>());
  }
  CHECK(memory.margin_is_intact());
}

template <int LaneCount, typename Scalar>
void solve_by_lanes(BatchStorage<Scalar>& batch, GradientArrays<Scalar>& gradients,
                    const SapOptions<Scalar>& options) {
  carom::BatchWorkspace<Scalar, LaneCount> workspace;
  workspace.prepare(batch.view(), 1);
  solve_batch(batch.view(), batch.answers(), gradients.view(), options, workspace);
}

/// Steps of many sizes, blocks of every kind, rigid ones among them, and bodies that rest on the
/// boundary of touching.
template <typename Scalar>
BatchStorage<Scalar> draw_steps(int count, unsigned seed) {
  VectorSource<double> source(seed);
  BatchStorage<Scalar> batch;
  for (int i = 0; i < count; ++i) {
    if (i % 5 == 4) {
      if constexpr (std::is_same_v<Scalar, double>) batch.add(draw_blocks(source));
    } else if (i % 5 == 3) {
      ContactProblem<Scalar> touching(Scalar(0.01));
      touching.add_body(carom::SquareMatrix<Scalar, 3>::Identity(),
                        carom::Vector3<Scalar>(1, 0, 0));
      touching.add_contact(
          0, carom::SquareMatrix<Scalar, 3>::Identity(),
          carom::WeightedContact<Scalar>{.friction = Scalar(0),
                                         .regularization = {Scalar(0.01), Scalar(0.01)},
                                         .bias_velocity = carom::Vector3<Scalar>::Zero()});
      batch.add(touching);
    } else {
      RawProblem raw = draw_problem(source, {{6, 3, 2}, i % 7});
      batch.add(build<Scalar>(i % 5 == 2 ? make_rigid(raw) : raw));
    }
  }
  return batch;
}

template <typename Scalar>
void check_steps(const SapOptions<Scalar>& options) {
  BatchStorage<Scalar> by_lanes = draw_steps<Scalar>(75, 35002u), by_threads = by_lanes;
  GradientArrays<Scalar> wanted(by_lanes, longest, 35003u), found = wanted;
  std::vector<int> wanted_counts(std::size_t(by_lanes.count()), -1), counts = wanted_counts;
  wanted.boundary_counts = wanted_counts.data();
  found.boundary_counts = counts.data();
  solve_by_lanes<4>(by_lanes, wanted, options);
  for (const int warps : {1, 2, 5}) {
    solve_by_threads(by_threads, found, options, warps);
    CHECK(is_same(found, wanted));
    CHECK(counts == wanted_counts);
  }
  solve_by_lanes<1>(by_lanes, wanted, options);
  CHECK(is_same(found, wanted));
  Index differentiated = 0, on_boundaries = 0;
  for (Index i = 0; i < by_lanes.count(); ++i) {
    differentiated += Index(found.statuses[std::size_t(i)] == SolveStatus::converged);
    on_boundaries += counts[std::size_t(i)];
  }
  CHECK(differentiated >= by_lanes.count() / 2);
  CHECK(on_boundaries >= by_lanes.count() / 10);
}

}  // namespace

TEST_CASE("device_gradients: threads have the bits of lanes", "[device_gradients]") {
  check_steps<double>({.tolerance = 1e-10});
  check_steps<double>({.law = FrictionLaw::coulomb, .tolerance = 1e-10});
  check_steps<float>({.tolerance = 1e-3F});
  check_steps<float>({.law = FrictionLaw::coulomb, .tolerance = 1e-3F});
}

TEST_CASE("device_gradients: a user's own kernel solves and differentiates in one thread",
          "[device_gradients]") {
  BatchStorage<double> by_lanes = draw_steps<double>(20, 35004u), by_threads = by_lanes;
  GradientArrays<double> wanted(by_lanes, longest, 35005u), found = wanted;
  const SapOptions<double> options{.law = FrictionLaw::coulomb};
  solve_by_lanes<4>(by_lanes, wanted, options);
  const std::size_t numbers = DeviceWorkspace<double>::numbers_of_warp(by_threads.view());
  StandIn patterns(DeviceWorkspace<double>::bytes(by_threads.view(), 1));
  StandIn cells(numbers * sizeof(double));
  DeviceWorkspace<double> workspace;
  const auto task = prepare(workspace, patterns, by_threads, found, options, 1);
  for (Index i = 0; i < by_threads.count(); ++i) {
    double* const memory = cells.numbers() + 31 - i;
    carom::device::solve<FrictionLaw::coulomb>(task.batch, task.answers, task.options, memory, i);
    carom::device::pull_back<FrictionLaw::coulomb>(task.batch, task.answers, task.gradients, memory,
                                                   i);
  }
  CHECK(is_same(found, wanted));
  CHECK((cells.margin_is_intact() && patterns.margin_is_intact()));
}

TEST_CASE("device_gradients: bad numbers, slopes that are not finite, a solve that failed",
          "[device_gradients]") {
  const BatchStorage<double> given = draw_steps<double>(40, 35006u);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const SapOptions<double> options;
  BatchStorage<double> unhurt = given;
  const GradientArrays<double> slopes(given, longest, 35007u);
  GradientArrays<double> good = slopes;
  solve_by_threads(unhurt, good, options, 2);
  constexpr Index bad = 31;  // six, three and two velocities, three contacts
  const auto check = [&](const auto& damage) {
    BatchStorage<double> by_threads = given;
    GradientArrays<double> found = slopes;
    damage(by_threads, found);
    BatchStorage<double> by_lanes = by_threads;
    GradientArrays<double> wanted = found;
    solve_by_threads(by_threads, found, options, 2);
    solve_by_lanes<4>(by_lanes, wanted, options);
    CHECK(is_same(found, wanted));
    CHECK(found.statuses[bad] == SolveStatus::not_finite);
    CHECK(found.of(gradient_parts::free_velocity, bad, 11).isZero(0));
    for (auto& part : found.parts) {
      for (Index k = 0; k < longest; ++k) part[std::size_t(bad * longest + k)] = 0;
    }
    GradientArrays<double> others = good;
    for (auto& part : others.parts) {
      for (Index k = 0; k < longest; ++k) part[std::size_t(bad * longest + k)] = 0;
    }
    others.statuses[bad] = found.statuses[bad];
    CHECK(is_same(found, others));
  };
  check([&](BatchStorage<double>& batch, GradientArrays<double>&) {
    const_cast<double*>(batch.view().mass.of(bad))[0] = -1;
  });
  check([&](BatchStorage<double>& batch, GradientArrays<double>&) {
    const_cast<double*>(batch.view().free_velocity.of(bad))[1] = nan;
  });
  check([&](BatchStorage<double>&, GradientArrays<double>& gradients) {
    gradients.by_velocity[std::size_t(bad * longest)] = nan;
  });
}

TEST_CASE("device_gradients: a problem without a pattern, no reports, no problems",
          "[device_gradients]") {
  BatchStorage<double> batch = draw_steps<double>(35, 35008u);
  const GradientArrays<double> slopes(batch, longest, 35009u);
  GradientArrays<double> good = slopes, found = slopes;
  solve_by_threads(batch, good, {}, 2);
  constexpr Index bad = 21;
  std::vector<int> numbers;
  for (Index i = 0; i < batch.count(); ++i) numbers.push_back(batch.view().pattern_number(i));
  numbers[bad] = batch.view().pattern_count;
  auto view = batch.view();
  view.pattern_numbers = numbers.data();
  auto answers = batch.answers();
  answers.reports = nullptr;
  const std::size_t size = DeviceWorkspace<double>::bytes(view, 2);
  StandIn memory(size);
  DeviceWorkspace<double> workspace;
  REQUIRE(workspace.prepare(view, 2, memory.data(), size, copy_bytes));
  const auto task = gradient_task(workspace, view, answers, found.view(), {});
  for_each_thread(task.thread_count, 35010u,
                  [&](Index i) { task.template pull_back<FrictionLaw::convex>(i); });
  CHECK(memory.margin_is_intact());
  CHECK(found.statuses[bad] == SolveStatus::not_finite);
  WorstCase law("the gradient with the reports, but of the problem that has no pattern");
  for (Index i = 0; i < batch.count(); ++i) {
    if (i != bad && good.statuses[std::size_t(i)] != SolveStatus::converged) continue;
    const auto first = std::size_t(i * longest);
    for (int p = 0; p < gradient_parts::part_count; ++p) {
      const double* const entries = found.parts[p].data() + first;
      const bool untouched =
          std::all_of(entries, entries + longest, [](double x) { return std::isnan(x); });
      const bool same =
          std::memcmp(entries, good.parts[p].data() + first, longest * sizeof(double)) == 0;
      law.see_holds(i == bad ? untouched : same, i);
    }
  }
  law.check(30 * gradient_parts::part_count);

  BatchStorage<double> none;
  GradientArrays<double> empty(none, longest, 35011u);
  solve_by_threads(none, empty, {}, 1);
  CHECK(empty.statuses.empty());
}

}  // namespace device_gradients_test
