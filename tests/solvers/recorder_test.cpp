// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/recorder.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "carom/solvers/contact_solver.hpp"
#include "carom/solvers/gauss_seidel.hpp"
#include "carom/solvers/interior_point.hpp"
#include "carom/solvers/projected_gradient.hpp"
#include "carom/solvers/proximal.hpp"
#include "carom/solvers/sap.hpp"
#include "carom/solvers/solver_on_bodies.hpp"

#include "support/catch.hpp"
#include "support/constrained_problem.hpp"
#include "support/every_block.hpp"
#include "support/problem_bits.hpp"
#include "support/recording_file.hpp"

namespace recorder_test {

using carom::ContactProblem;
using carom::ContactSolver;
using carom::Index;
using carom::Recorder;
using carom::SolveReport;
using carom::VectorX;
using carom::detail::GuessKind;
using carom::detail::RecordedSolverKind;
using carom::detail::RecordKind;
using carom::files::RecordedStep;
using carom::files::Recording;
using carom::testing::bits_of;
using carom::testing::overlap_bits;
using carom::testing::RecordingFile;

/// A solver of a user, with an answer as given, which no solver of carom has.
template <typename Scalar>
struct GivenAnswer {
  VectorX<Scalar> answer, impulses;
  std::function<void()> during = [] {};

  SolveReport<Scalar> solve(const ContactProblem<Scalar>& /*problem*/, VectorX<Scalar>& velocity) {
    during();
    velocity = answer;
    SolveReport<Scalar> report;
    report.status = carom::SolveStatus::iteration_limit;
    report.iterations = 7;
    return report;
  }
  [[nodiscard]] const VectorX<Scalar>& impulse() const { return impulses; }
};

namespace {

template <typename Scalar>
ContactProblem<Scalar> draw(std::uint32_t seed) {
  carom::testing::VectorSource<double> source(seed);
  auto problem = carom::testing::build<Scalar>(
      carom::testing::draw_constrained(source, {1, 3, 6, 2}, int(seed % 20)));
  for (Index i = 0; i < problem.block_count(); ++i) {
    auto law = problem.law(i);
    law.rigid = (seed + std::uint32_t(i)) % 3 == 0;
    if ((seed + std::uint32_t(i)) % 4 == 0) law.overlap = Scalar(0.01) * Scalar(i + 1);
    if ((seed + std::uint32_t(i)) % 5 == 0) law.overlap_velocity = Scalar(0.1);
    problem.set_law(i, law);
  }
  return problem;
}

template <typename Scalar>
void check_same(const ContactProblem<Scalar>& read, const ContactProblem<Scalar>& given) {
  CHECK(bits_of(read) == bits_of(given));
  CHECK(overlap_bits(read) == overlap_bits(given));
  CHECK(read.friction_contact_count() == given.friction_contact_count());
  CHECK(read.rigid_count() == given.rigid_count());
  CHECK(read.part_count() == given.part_count());
}

template <typename Scalar>
bool same_bits(const VectorX<Scalar>& a, const VectorX<Scalar>& b) {
  if (a.size() != b.size()) return false;
  for (Index i = 0; i < a.size(); ++i) {
    using Bits = std::conditional_t<sizeof(Scalar) == 8, std::uint64_t, std::uint32_t>;
    if (std::bit_cast<Bits>(a(i)) != std::bit_cast<Bits>(b(i))) return false;
  }
  return true;
}

std::string fault_of(const auto& action) {
  try {
    action();
  } catch (const std::invalid_argument& fault) {
    return fault.what();
  }
  return {};
}

}  // namespace

TEMPLATE_TEST_CASE("recorder: a recorded step has the bits of its problem, guess and answer",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  const RecordingFile file("recorder_bits");
  std::vector<ContactProblem<Scalar>> problems;
  std::vector<VectorX<Scalar>> guesses, velocities, impulses;
  std::vector<SolveReport<Scalar>> reports;
  Recorder recorder(file.path());
  ContactSolver<Scalar> solver({.tolerance = Scalar(1e-3)});
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    problems.push_back(draw<Scalar>(seed));
    const bool known = seed % 3 == 0;
    VectorX<Scalar> velocity = VectorX<Scalar>::Random(problems.back().velocity_count());
    const VectorX<Scalar> impulse = VectorX<Scalar>::Random(problems.back().impulse_count());
    guesses.push_back(known ? impulse : velocity);
    reports.push_back(known ? recorder.solve_from(solver, problems.back(), impulse, velocity)
                            : recorder.solve(solver, problems.back(), velocity));
    velocities.push_back(velocity);
    impulses.emplace_back(solver.impulse());
  }
  CHECK(recorder.step_count() == 40);
  CHECK(recorder.lost_count() == 0);
  CHECK(recorder.fault().empty());
  const Recording recording = file.read();
  CHECK(recording.damage().empty());
  CHECK(recording.unfinished_bytes() == 0);
  CHECK(recording.header_holds());
  REQUIRE(recording.steps().size() == 40);
  for (std::size_t i = 0; i < 40; ++i) {
    CAPTURE(i);
    CHECK(recording.steps()[i].scalar_size == int(sizeof(Scalar)));
    const RecordedStep<Scalar> step = recording.read<Scalar>(recording.steps()[i]);
    CHECK(step.number == i);
    CHECK(step.kind == RecordKind::step);
    CHECK(step.guess_kind == (i % 3 == 0 ? GuessKind::impulse : GuessKind::velocity));
    check_same(step.problem, problems[i]);
    CHECK(same_bits(step.guess, guesses[i]));
    CHECK(same_bits(step.velocity, velocities[i]));
    CHECK(same_bits(step.impulse, impulses[i]));
    CHECK(step.report.status == reports[i].status);
    CHECK(step.report.iterations == reports[i].iterations);
    CHECK(step.report.worst_block == reports[i].worst_block);
    CHECK(step.report.residual == reports[i].residual);
    CHECK(step.report.deepest_overlap == reports[i].deepest_overlap);
    CHECK(step.solver.kind == RecordedSolverKind::contact);
    CHECK(Scalar(step.solver.tolerance) == Scalar(1e-3));
  }
}

TEST_CASE("recorder: problems without bodies, without blocks, and with every block",
          "[solvers][example]") {
  const RecordingFile file("recorder_kinds");
  ContactProblem<double> empty(0.5), alone(0.25);
  const Eigen::Vector3d odd(-0.0, 5e-324, 1e308);
  Eigen::Matrix3d matrix = Eigen::Matrix3d::Identity() / 3;
  matrix(0, 1) = matrix(1, 0) = -0.0;  // the sign of a zero is a bit
  alone.add_body(matrix, odd);
  carom::testing::VectorSource<double> source(3);
  ContactProblem<double> every = carom::testing::draw_every_block(source);
  // A block that lost its adhesion stays among the others.
  ContactProblem<double> lost(0.01);
  lost.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d(0, 0, -1));
  carom::WeightedBlock<double> bond;
  bond.set = carom::friction_impulses(0.5);
  bond.set.shift(2) = 1;
  lost.add_constraint(0, Eigen::Matrix3d::Identity(), bond);
  bond.set.shift(2) = 0;
  lost.set_law(0, bond);
  REQUIRE(lost.friction_contact_count() == 0);
  Recorder recorder(file.path());
  ContactSolver<double> solver;
  Eigen::VectorXd velocity;
  for (const auto* problem : {&empty, &alone, &every, &lost}) {
    velocity = problem->free_velocity();
    static_cast<void>(recorder.solve(solver, *problem, velocity));
  }
  recorder.close();
  CHECK(!recorder.is_open());
  const Recording recording = file.read();
  REQUIRE(recording.steps().size() == 4);
  int i = 0;
  for (const auto* problem : {&empty, &alone, &every, &lost}) {
    CAPTURE(i);
    const auto step = recording.read<double>(recording.steps()[std::size_t(i++)]);
    check_same(step.problem, *problem);
    CHECK(std::signbit(step.problem.body_count() == 1 && step.problem.block_count() == 0
                           ? step.problem.momentum_matrix(0)(0, 1)
                           : -1.0));
  }
}

TEST_CASE("recorder: the file names each solver and its options", "[solvers][example]") {
  const RecordingFile file("recorder_solvers");
  const auto problem = draw<double>(4);
  carom::testing::VectorSource<double> source(1);
  Recorder recorder(file.path());
  Eigen::VectorXd velocity;
  const auto run = [&](auto& solver) {
    velocity = problem.free_velocity();
    static_cast<void>(recorder.solve(solver, problem, velocity));
  };
  ContactSolver<double> contact({.law = carom::FrictionLaw::convex,
                                 .method = carom::ContactMethod::interior_point,
                                 .tolerance = 1e-5,
                                 .iteration_limit = 77});
  const auto clock = [](void* /*context*/) noexcept { return 0.0; };
  contact.set_limits({.iteration_limit = 55, .now = clock, .deadline = 1, .least_sweeps = 3});
  run(contact);
  carom::SapSolver<double> sap({.tolerance = 1e-4,
                                .iteration_limit = 66,
                                .line_search_tolerance = 0.2,
                                .factor_work_limit = 3,
                                .small_contact_limit = 5});
  sap.set_tolerance(1e-3);
  sap.set_limits({.iteration_limit = 44});
  run(sap);
  carom::InteriorPointSolver<double> path({.tolerance = 1e-6, .sweeps = 11});
  path.set_limits({.iteration_limit = 43});
  run(path);
  carom::ProximalSolver<double> proximal({.tolerance = 1e-2});
  proximal.set_limits({.iteration_limit = 42});
  run(proximal);
  carom::SolverOnBodies<carom::GaussSeidel<double>> sweeps({.tolerance = 1e-2,
                                                            .iteration_limit = 9,
                                                            .relaxation = 0.75,
                                                            .order = carom::VisitOrder::outward,
                                                            .visits_to_sleep = 6});
  sweeps.set_limits({.iteration_limit = 41});
  run(sweeps);
  carom::SolverOnBodies<carom::ProjectedGradient<double>> gradient(
      {.tolerance = 1e-2, .iteration_limit = 8});
  run(gradient);
  GivenAnswer<double> given{velocity, gradient.impulse()};
  run(given);
  const Recording recording = file.read();
  REQUIRE(recording.steps().size() == 7);
  const auto solver = [&](std::size_t i) {
    return recording.read<double>(recording.steps()[i]).solver;
  };
  CHECK(solver(0).kind == RecordedSolverKind::contact);
  CHECK(solver(0).law == carom::FrictionLaw::convex);
  CHECK(solver(0).method == carom::ContactMethod::interior_point);
  CHECK(solver(0).tolerance == 1e-5);
  CHECK(solver(0).iteration_limit == 77);
  CHECK(solver(0).solve_limit == 55);
  CHECK(solver(0).least_sweeps == 3);
  CHECK(solver(0).has_deadline);
  CHECK(solver(1).kind == RecordedSolverKind::sap);
  CHECK(solver(1).tolerance == 1e-3);
  CHECK(solver(1).iteration_limit == 66);
  CHECK(solver(1).line_search_tolerance == 0.2);
  CHECK(solver(1).factor_work_limit == 3);
  CHECK(solver(1).small_contact_limit == 5);
  CHECK(solver(1).solve_limit == 44);
  CHECK(!solver(1).has_deadline);
  CHECK(solver(2).kind == RecordedSolverKind::interior_point);
  CHECK(solver(2).sweeps == 11);
  CHECK(solver(2).solve_limit == 43);
  CHECK(solver(3).kind == RecordedSolverKind::proximal);
  CHECK(solver(3).solve_limit == 42);
  CHECK(solver(4).kind == RecordedSolverKind::gauss_seidel);
  CHECK(solver(4).relaxation == 0.75);
  CHECK(solver(4).order == 2);
  CHECK(solver(4).visits_to_sleep == 6);
  CHECK(solver(4).solve_limit == 41);
  CHECK(solver(5).kind == RecordedSolverKind::projected_gradient);
  CHECK(solver(5).iteration_limit == 8);
  CHECK(solver(6) == carom::detail::RecordedSolver());
}

TEST_CASE("recorder: executors pass through, and do not change the file", "[solvers][law]") {
  const RecordingFile one("recorder_alone"), two("recorder_executor");
  const auto problem = draw<double>(11);
  const auto record = [&](const RecordingFile& file, auto&&... executor) {
    Recorder recorder(file.path());
    ContactSolver<double> solver;
    Eigen::VectorXd velocity = problem.free_velocity();
    static_cast<void>(recorder.solve(solver, problem, velocity, executor...));
    static_cast<void>(
        recorder.solve_from(solver, problem, solver.impulse(), velocity, executor...));
  };
  record(one);
  int calls = 0;
  record(two, [&](Index count, auto&& task) {
    ++calls;
    for (Index i = count; i-- > 0;) task(i);
  });
  CHECK(calls > 0);
  CHECK(one.bytes() == two.bytes());
}

TEST_CASE("recorder: a full file goes on at its beginning and keeps the newest steps",
          "[solvers][law]") {
  const RecordingFile file("recorder_ring");
  constexpr std::size_t capacity = 20000;
  Recorder recorder(file.path(), {.capacity = capacity});
  GivenAnswer<double> solver;
  Eigen::VectorXd velocity;
  std::uint64_t longest = 0;
  for (std::uint32_t step = 0; step < 300; ++step) {
    CAPTURE(step);
    // Steps of many lengths, so that records begin everywhere.
    const auto problem = draw<double>(step % 7);
    solver.answer.setConstant(problem.velocity_count(), step);
    solver.impulses.setConstant(problem.impulse_count(), step);
    static_cast<void>(recorder.solve(solver, problem, velocity));
    const Recording recording = file.read();
    CHECK(file.bytes().size() <= capacity);
    REQUIRE(!recording.steps().empty());
    CHECK(recording.damage().size() <= 1);
    CHECK(recording.steps().back().number == step);
    std::size_t bytes = 0;
    for (const auto& place : recording.steps()) {
      bytes += place.size;
      const auto read = recording.read<double>(place);
      CHECK(read.velocity == Eigen::VectorXd::Constant(read.velocity.size(), double(read.number)));
    }
    longest = std::max(longest, std::uint64_t(recording.steps().size()));
    // What is not in the file is less than the longest step, before and behind the seam.
    if (step >= 50) CHECK(bytes + 2 * 8000 > capacity);
  }
  CHECK(longest >= 3);
  CHECK(recorder.fault().empty());
}

TEST_CASE("recorder: a step that is larger than the file leaves its report", "[solvers][example]") {
  const RecordingFile file("recorder_large");
  Recorder recorder(file.path(), {.capacity = 4096, .before_solve = true});
  ContactSolver<double> solver;
  Eigen::VectorXd velocity;
  const auto large = draw<double>(19);
  ContactProblem<double> slight(0.01);
  slight.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d::Zero());
  static_cast<void>(recorder.solve(solver, slight, velocity));
  const auto report = recorder.solve(solver, large, velocity);
  static_cast<void>(recorder.solve(solver, slight, velocity));
  CHECK(recorder.left_out_count() == 1);
  CHECK(recorder.lost_count() == 0);
  CHECK(recorder.fault() ==
        "recording: 1 of 3 steps are missing: each is larger than the capacity of the file");
  const Recording recording = file.read();
  REQUIRE(recording.steps().size() == 3);
  CHECK(recording.steps()[1].kind == RecordKind::left_out);
  const auto step = recording.read<double>(recording.steps()[1]);
  CHECK(step.report.iterations == report.iterations);
  CHECK(step.report.status == report.status);
  CHECK(step.problem.body_count() == 0);
}

TEST_CASE("recorder: a problem is in the file during its solve, if that is wanted",
          "[solvers][example]") {
  const auto problem = draw<double>(6);
  for (const bool before : {false, true}) {
    const RecordingFile file("recorder_before");
    Recorder recorder(file.path(), {.capacity = 1 << 16, .before_solve = before});
    GivenAnswer<double> solver;
    solver.answer = problem.free_velocity();
    solver.impulses.setZero(problem.impulse_count());
    Eigen::VectorXd velocity = problem.free_velocity();
    static_cast<void>(recorder.solve(solver, problem, velocity));
    solver.during = [&] {
      const Recording recording = file.read();
      REQUIRE(recording.steps().size() == (before ? 2 : 1));
      if (!before) return;
      const auto step = recording.read<double>(recording.steps()[1]);
      CHECK(step.kind == RecordKind::begun);
      CHECK(step.velocity.size() == 0);
      check_same(step.problem, problem);
    };
    static_cast<void>(recorder.solve(solver, problem, velocity));
    solver.during = [] {};
    for (int i = 0; i < 40; ++i) static_cast<void>(recorder.solve(solver, problem, velocity));
    const Recording recording = file.read();
    CHECK(recording.damage().size() <= 1);
    for (const auto& place : recording.steps()) CHECK(place.kind == RecordKind::step);
  }
}

TEST_CASE("recorder: a file that cannot be made is refused by name", "[solvers][input]") {
  const std::string folder = std::filesystem::temp_directory_path().string();
  CHECK(fault_of([&] { Recorder recorder(folder); }) ==
        folder + ": expected a file that can be written, was refused it");
  const std::string nowhere = folder + "/carom_no_such_folder/file";
  CHECK(fault_of([&] { Recorder recorder(nowhere); }) ==
        nowhere + ": expected a file that can be written, was refused it");
  const RecordingFile file("recorder_options");
  CHECK(fault_of([&] { Recorder recorder(file.path(), {.capacity = 4095}); }) ==
        "recorder: capacity: expected a count of bytes in [4096, 2147483647], got 4095");
  CHECK(fault_of([&] { Recorder recorder(file.path(), {.capacity = std::size_t(1) << 31}); }) ==
        "recorder: capacity: expected a count of bytes in [4096, 2147483647], got 2147483648");
  CHECK(!std::filesystem::exists(file.path()));
  if (std::filesystem::exists("/dev/full")) {
    CHECK(fault_of([&] { Recorder recorder("/dev/full"); }) ==
          "/dev/full: expected a file that can be written, was refused it");
  }
}

TEST_CASE("recorder: memory holds what a file would hold, before it is full and after",
          "[solvers][law]") {
  const RecordingFile file("recorder_memory");
  std::vector<std::byte> memory(20004);  // a record begins and ends at a multiple of eight bytes
  Recorder to_file(file.path(), {.capacity = memory.size()}), to_memory(memory);
  REQUIRE(to_memory.is_open());
  GivenAnswer<double> solver;
  Eigen::VectorXd velocity;
  for (std::uint32_t step = 0; step < 30; ++step) {
    CAPTURE(step);
    const auto problem = draw<double>(step % 7);
    solver.answer.setConstant(problem.velocity_count(), step);
    solver.impulses.setConstant(problem.impulse_count(), step);
    for (Recorder* recorder : {&to_file, &to_memory}) {
      velocity.setConstant(problem.velocity_count(), 3);
      static_cast<void>(recorder->solve(solver, problem, velocity));
    }
    const std::string held(reinterpret_cast<const char*>(memory.data()), memory.size());
    const std::string expected = file.bytes();
    CHECK(held.substr(0, expected.size()) == expected);
    const Recording from_file = file.read(), from_memory{held};
    CHECK(from_memory.steps().size() == from_file.steps().size());
    CHECK(from_memory.damage().size() == from_file.damage().size());
    if (from_file.steps().size() == step + 1) CHECK(from_memory.unfinished_bytes() == 0);
  }
  CHECK(to_memory.fault().empty());
  std::vector<std::byte> few(4095);
  CHECK(fault_of([&] { Recorder recorder(few); }) ==
        "recorder: memory: expected a count of bytes in [4096, 2147483647], got 4095");
}

TEST_CASE("recorder: without options the newest 64 MiB are kept", "[solvers][example]") {
  CHECK(carom::RecorderOptions().capacity == std::size_t(64) * 1024 * 1024);
}

TEST_CASE("recorder: without a file it solves", "[solvers][example]") {
  const auto problem = draw<double>(2);
  ContactSolver<double> with, without;
  Eigen::VectorXd a = problem.free_velocity(), b = a;
  Recorder none;
  const auto report = none.solve(with, problem, a);
  CHECK(report.iterations == without.solve(problem, b).iterations);
  CHECK(same_bits(a, b));
  CHECK(none.step_count() == 0);
  CHECK(!none.is_open());
}

TEST_CASE("recorder: moving it moves the recording", "[solvers][example]") {
  const RecordingFile file("recorder_move");
  const auto problem = draw<double>(2);
  ContactSolver<double> solver;
  Eigen::VectorXd velocity = problem.free_velocity();
  Recorder first(file.path());
  static_cast<void>(first.solve(solver, problem, velocity));
  Recorder second = std::move(first);
  static_cast<void>(second.solve(solver, problem, velocity));
  CHECK(file.read().steps().size() == 2);
  CHECK(second.step_count() == 2);
}

TEST_CASE("recorder: end() without begin() writes nothing", "[solvers][example]") {
  const RecordingFile file("recorder_end");
  Recorder recorder(file.path());
  recorder.end(SolveReport<double>(), Eigen::VectorXd(), Eigen::VectorXd());
  CHECK(recorder.step_count() == 0);
  CHECK(file.read().steps().empty());
}

}  // namespace recorder_test
