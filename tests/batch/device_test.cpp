// SPDX-License-Identifier: BSD-3-Clause
#include "carom/batch/device.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "carom/batch/batch_storage.hpp"
#include "carom/batch/solve_batch.hpp"

#include "support/catch.hpp"
#include "support/device_stand_in.hpp"
#include "support/every_block.hpp"
#include "support/raw_problem.hpp"
#include "support/worst_case.hpp"

#include "io/text_problem.hpp"

/// @file
/// The processor stands in for the device: it runs what a thread of a kernel does, one thread after
/// the other, in memory that takes the place of the device's.
namespace device_test {

using carom::BatchFault, carom::BatchStorage, carom::ContactProblem, carom::DeviceTask;
using carom::DeviceWorkspace, carom::FrictionLaw, carom::Index;
using carom::SapOptions, carom::SolveStatus, carom::VectorX;
using carom::testing::build, carom::testing::draw_matrix, carom::testing::draw_problem;
using carom::testing::copy_bytes, carom::testing::draw_velocity, carom::testing::for_each_thread;
using carom::testing::RawProblem, carom::testing::StandIn, carom::testing::VectorSource;
using carom::testing::WorstCase;

namespace {

/// Runs all threads of so many warps in an order that a seed gives.
template <typename Scalar>
void run_threads(const DeviceTask<Scalar>& task, unsigned seed) {
  for_each_thread(task.thread_count, seed, [&](Index thread) {
    if (task.options.law == FrictionLaw::coulomb) {
      task.template run<FrictionLaw::coulomb>(thread);
    } else {
      task.template run<FrictionLaw::convex>(thread);
    }
  });
}

template <typename Scalar>
void solve_by_threads(BatchStorage<Scalar>& batch, const SapOptions<Scalar>& options, int warps) {
  using Workspace = DeviceWorkspace<Scalar>;
  const std::size_t size = Workspace::bytes(batch.view(), warps);
  StandIn memory(size);
  Workspace workspace;
  REQUIRE(workspace.prepare(batch.view(), warps, memory.data(), size, copy_bytes));
  const auto task = workspace.task(batch.view(), batch.answers(), options);
  CHECK(task.batch.view.patterns == nullptr);  // an address of the processor's
  run_threads(task, 27000u + unsigned(warps));
  CHECK(memory.margin_is_intact());
}

template <int LaneCount, typename Scalar>
void solve_by_lanes(BatchStorage<Scalar>& batch, const SapOptions<Scalar>& options) {
  carom::BatchWorkspace<Scalar, LaneCount> workspace;
  workspace.prepare(batch.view(), 1);
  solve_batch(batch.view(), batch.answers(), options, workspace);
}

template <typename Scalar>
bool same_bits(const BatchStorage<Scalar>& a, const BatchStorage<Scalar>& b, Index i) {
  const auto same = [](const auto& x, const auto& y) {
    return x.size() == y.size() &&
           (x.size() == 0 ||
            std::memcmp(x.data(), y.data(), sizeof(Scalar) * std::size_t(x.size())) == 0);
  };
  const auto &r = a.report(i), &s = b.report(i);
  return same(a.velocity(i), b.velocity(i)) && same(a.impulse(i), b.impulse(i)) &&
         r.status == s.status && r.iterations == s.iterations && r.residual == s.residual &&
         r.error_bound == s.error_bound && r.fault == s.fault && r.item == s.item;
}

template <typename Scalar>
void check_same(const BatchStorage<Scalar>& a, const BatchStorage<Scalar>& b) {
  WorstCase law("a thread has the bits of a lane");
  for (Index i = 0; i < a.count(); ++i) law.see_holds(same_bits(a, b, i), i);
  law.check(a.count());
}

/// Steps of very different sizes, some with the pattern of an earlier one, some without contact.
template <typename Scalar>
BatchStorage<Scalar> draw_steps(int count, unsigned seed) {
  VectorSource<double> source(seed);
  const std::vector<std::vector<int>> sizes = {{6, 1, 2}, {20}, {6, 1, 3, 6}, {6, 6, 6}};
  std::vector<RawProblem> raws;
  BatchStorage<Scalar> batch;
  for (int i = 0; i < count; ++i) {
    const bool again = i % 3 == 0 && i >= 9;
    RawProblem raw = again ? raws[std::size_t(source.unit() * double(raws.size()))]
                           : draw_problem(source, {sizes[std::size_t(i % 4)], i % 7});
    for (auto& body : raw.bodies) {
      body.free_velocity += 0.3 * draw_matrix(source, body.free_velocity.size(), 1);
    }
    raws.push_back(raw);
    batch.add(build<Scalar>(raw), draw_velocity(source, raw).cast<Scalar>().eval());
  }
  return batch;
}

template <typename Scalar>
void check_steps(const SapOptions<Scalar>& options) {
  BatchStorage<Scalar> by_lanes = draw_steps<Scalar>(75, 27001u), by_threads = by_lanes;
  solve_by_lanes<carom::batch_lane_count<Scalar>>(by_lanes, options);
  // 75 problems are fewer than three warps have threads, and more than one has.
  for (const int warps : {1, 2, 3, 5}) {
    solve_by_threads(by_threads, options, warps);
    check_same(by_threads, by_lanes);
  }
  solve_by_lanes<1>(by_lanes, options);
  check_same(by_threads, by_lanes);
  solve_by_lanes<8>(by_lanes, options);
  check_same(by_threads, by_lanes);
}

void check_files(const std::vector<std::string>& names) {
  BatchStorage<double> by_lanes;
  for (const std::string& name : names) {
    const auto given =
        carom::files::read_text_problem(CAROM_SOURCE_DIR "/examples/data/" + name + ".txt");
    by_lanes.add(given.problem, given.guess);
  }
  BatchStorage<double> by_threads = by_lanes;
  for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
    const SapOptions<double> options{.law = law, .tolerance = 1e-8};
    solve_by_lanes<4>(by_lanes, options);
    solve_by_threads(by_threads, options, 1);
    check_same(by_threads, by_lanes);
    Index converged = 0;
    for (Index i = 0; i < by_threads.count(); ++i) {
      converged += Index(by_threads.report(i).status == SolveStatus::converged);
    }
    CHECK(converged >= by_threads.count() - 1);
  }
}

}  // namespace

TEST_CASE("device: threads have the bits of lanes on problems of many sizes", "[device]") {
  check_steps<double>({.tolerance = 1e-8});
  check_steps<double>({.law = FrictionLaw::coulomb, .tolerance = 1e-9});
  check_steps<float>({.tolerance = 1e-3F});
  check_steps<float>({.law = FrictionLaw::coulomb, .tolerance = 1e-3F});
  check_steps<double>({.tolerance = 1e-30});
  check_steps<double>({.iteration_limit = 0});
}

TEST_CASE("device: threads have the bits of lanes on the bundled problems", "[device]") {
  check_files({"robot_30x16", "pile_n1_s30", "pile_n10_s60", "wall_n10", "mujoco_box_10",
               "mujoco_sphere_10", "constraints/arm_and_boxes"});
}

TEST_CASE("device: threads have the bits of lanes on large bundled problems", "[device][slow][.]") {
  check_files({"pile_n100_s60", "pile_n100_s199", "dt1ms_n100_s600", "wall_n100", "mujoco_box_100",
               "mujoco_sphere_100", "rigid_n100_s60"});
}

TEST_CASE("device: threads have the bits of lanes on blocks of every kind", "[device]") {
  VectorSource<double> source(27002u);
  BatchStorage<double> by_lanes;
  for (int i = 0; i < 12; ++i) {
    ContactProblem<double> problem = carom::testing::draw_every_block(source);
    for (Index k = 0; k < problem.block_count() && i % 2 == 1; k += 2) {
      carom::WeightedBlock<double> law = problem.law(k);
      law.rigid = true;
      problem.set_law(k, law);
    }
    by_lanes.add(problem);
  }
  BatchStorage<double> by_threads = by_lanes;
  int converged = 0, rigid = 0;
  for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
    const SapOptions<double> options{.law = law, .tolerance = 1e-8};
    solve_by_lanes<2>(by_lanes, options);
    solve_by_threads(by_threads, options, 2);
    check_same(by_threads, by_lanes);
    for (Index i = 0; i < by_threads.count(); ++i) {
      converged += int(by_threads.report(i).status == SolveStatus::converged);
      rigid += int(by_threads.pattern(i).is_rigid());
    }
  }
  CHECK(converged >= 20);
  CHECK(rigid == 12);
}

TEST_CASE("device: a user's own kernel solves one problem in the thread that calls", "[device]") {
  BatchStorage<double> by_lanes = draw_steps<double>(20, 27003u), by_threads = by_lanes;
  for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
    const SapOptions<double> options{.law = law};
    solve_by_lanes<4>(by_lanes, options);
    const std::size_t numbers = DeviceWorkspace<double>::numbers_of_warp(by_threads.view());
    StandIn patterns(DeviceWorkspace<double>::bytes(by_threads.view(), 1));
    StandIn memory(numbers * sizeof(double));
    DeviceWorkspace<double> workspace;
    REQUIRE(workspace.prepare(by_threads.view(), 1, patterns.data(),
                              DeviceWorkspace<double>::bytes(by_threads.view(), 1), copy_bytes));
    const auto task = workspace.task(by_threads.view(), by_threads.answers(), options);
    for (Index i = 0; i < by_threads.count(); ++i) {
      carom::device::solve(task.batch, task.answers, task.options, memory.numbers() + 31 - i, i);
    }
    check_same(by_threads, by_lanes);
    CHECK(memory.margin_is_intact());
    CHECK(patterns.margin_is_intact());
  }
}

TEST_CASE("device: a problem with bad numbers is named and changes no other", "[device]") {
  VectorSource<double> source(27004u);
  const RawProblem raw = draw_problem(source, {{6, 1, 2, 3}, 6});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  using View = carom::BatchView<double>;
  struct Damage {
    carom::BatchArray<const double> View::*field;
    double number;
    BatchFault fault;
  };
  BatchStorage<double> good;
  for (int i = 0; i < 40; ++i) good.add(build(raw));
  BatchStorage<double> unhurt = good;
  solve_by_threads(unhurt, SapOptions<double>{}, 2);
  for (const Damage& damage :
       {Damage{&View::mass, -1, BatchFault::mass},
        Damage{&View::free_velocity, nan, BatchFault::free_velocity},
        Damage{&View::jacobian, nan, BatchFault::jacobian},
        Damage{&View::friction, -0.5, BatchFault::friction},
        Damage{&View::regularization, 0, BatchFault::regularization},
        Damage{&View::bias, nan, BatchFault::bias}, Damage{&View::guess, nan, BatchFault::guess}}) {
    CAPTURE(to_string(damage.fault));
    BatchStorage<double> by_threads = good;
    const View view = by_threads.view();
    constexpr Index bad = 33;
    const_cast<double*>((view.*damage.field).of(bad))[0] = damage.number;
    BatchStorage<double> by_lanes = by_threads;
    solve_by_threads(by_threads, SapOptions<double>{}, 2);
    solve_by_lanes<8>(by_lanes, SapOptions<double>{});
    CHECK(by_threads.report(bad).status == SolveStatus::not_finite);
    CHECK(by_threads.report(bad).fault == damage.fault);
    CHECK(by_threads.report(bad).item == by_lanes.report(bad).item);
    int others = 0;
    for (Index i = 0; i < good.count(); ++i) {
      others += int(i != bad && !same_bits(by_threads, unhurt, i));
    }
    CHECK(others == 0);
  }
}

TEST_CASE("device: a problem whose pattern number names none is refused and changes no other",
          "[device]") {
  BatchStorage<double> good = draw_steps<double>(40, 27008u), batch = good;
  solve_by_threads(good, SapOptions<double>{}, 2);
  constexpr Index bad = 33;
  for (const int number : {-1, batch.view().pattern_count, std::numeric_limits<int>::max()}) {
    auto view = batch.view();
    std::vector<int> numbers;
    for (Index i = 0; i < batch.count(); ++i) numbers.push_back(view.pattern_number(i));
    numbers[bad] = number;
    view.pattern_numbers = numbers.data();
    const std::size_t size = DeviceWorkspace<double>::bytes(view, 2);
    StandIn memory(size);
    DeviceWorkspace<double> workspace;
    REQUIRE(workspace.prepare(view, 2, memory.data(), size, copy_bytes));
    run_threads(workspace.task(view, batch.answers(), SapOptions<double>{}), 27009u);
    CHECK(memory.margin_is_intact());
    CHECK(batch.report(bad).status == SolveStatus::not_finite);
    CHECK((batch.report(bad).fault == BatchFault::pattern && batch.report(bad).item == -1));
    CHECK(batch.velocity(bad).isZero(0));  // nothing is written
    int others = 0;
    for (Index i = 0; i < good.count(); ++i) {
      others += int(i != bad && !same_bits(batch, good, i));
    }
    CHECK(others == 0);
  }
}

TEST_CASE("device: a thread writes to its own numbers only", "[device]") {
  BatchStorage<double> batch = draw_steps<double>(12, 27006u);
  const auto view = batch.view();
  for (const Index bad : {2, 5}) const_cast<double*>(view.mass.of(bad))[0] = -1;
  const std::size_t size = DeviceWorkspace<double>::bytes(view, 1);
  const std::size_t numbers = DeviceWorkspace<double>::numbers_of_warp(view);
  for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
    StandIn memory(size), cells(numbers * sizeof(double));
    DeviceWorkspace<double> workspace;
    REQUIRE(workspace.prepare(view, 1, memory.data(), size, copy_bytes));
    const auto task = workspace.task(view, batch.answers(), SapOptions<double>{.law = law});
    constexpr std::size_t lane = 17;
    for (Index i = 0; i < batch.count(); ++i) {
      carom::device::solve(task.batch, task.answers, task.options, cells.numbers() + lane, i);
    }
    cells.check_written_by(lane);
  }
}

TEST_CASE("device: no problems, little memory, a copy that fails", "[device]") {
  BatchStorage<double> none;
  solve_by_threads(none, SapOptions<double>{}, 1);
  CHECK(DeviceWorkspace<double>::bytes(none.view(), 7) == 0);

  BatchStorage<double> batch = draw_steps<double>(40, 27005u);
  carom::testing::check_workspace<DeviceWorkspace<double>>(batch.view(), batch.answers(),
                                                           SapOptions<double>{});
}

}  // namespace device_test
