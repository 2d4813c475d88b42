// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/problem_dump.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <string>

#include "carom/contact/bilateral.hpp"
#include "carom/contact/joint_constraints.hpp"
#include "carom/contact/rigid_contact.hpp"
#include "carom/contact/wrench_contact.hpp"

#include "support/catch.hpp"
#include "support/constrained_problem.hpp"
#include "support/problem_bits.hpp"

#include "io/text_problem.hpp"

namespace problem_dump_test {

namespace {

using carom::ContactProblem;
using carom::Index;
using carom::problem_text;
using carom::VectorX;
using carom::WeightedBlock;
using carom::files::parse_text_problem;
using carom::files::TextProblem;
using carom::testing::bits_of;

ContactProblem<double> draw(std::uint32_t seed, int constraint_count) {
  carom::testing::VectorSource<double> source(seed);
  return carom::testing::build(
      carom::testing::draw_constrained(source, {1, 3, 6, 2}, constraint_count));
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

TEST_CASE("problem_dump: a problem read back is the same, bit for bit", "[contact][law]") {
  std::set<std::string> versions;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    auto problem = draw(seed, int(seed % 20));
    for (Index i = 0; i < problem.block_count(); ++i) {
      auto law = problem.law(i);
      law.rigid = (seed + std::uint32_t(i)) % 3 == 0;
      problem.set_law(i, law);
    }
    const VectorX<double> guess = VectorX<double>::Random(problem.velocity_count());
    const std::string text = problem_text(problem, guess);
    const bool alone = problem.friction_contact_count() == problem.block_count();
    const std::string version = alone ? "1" : "2";
    CHECK(text.find("carom-problem " + version + "\n") == 0);
    const bool mixed = text.find("constraint friction") != text.npos;
    versions.insert(mixed ? "mixed" : version);
    const TextProblem again = parse_text_problem(text);
    CHECK(again.guess == guess);
    CHECK(bits_of(again.problem) == bits_of(problem));
    CHECK(problem_text(again.problem, again.guess) == text);
  }
  CHECK(versions.size() == 3);
}

TEST_CASE("problem_dump: a problem of floats reads back to its numbers", "[contact][law]") {
  carom::testing::VectorSource<double> source(5);
  const auto raw = carom::testing::draw_constrained(source, {2, 6, 1}, 12);
  const auto problem = carom::testing::build<float>(raw);
  // The inverse masses are sums of products, so no test of the law's own numbers: the kept ones.
  CHECK(bits_of(parse_text_problem(problem_text(problem)).problem) == bits_of(problem));
}

TEST_CASE("problem_dump: every kind of constraint survives", "[contact][example]") {
  ContactProblem<double> problem(0.01);
  const Eigen::Matrix3d third = Eigen::Matrix3d::Identity() / 3;
  const auto first = problem.add_body(third, Eigen::Vector3d(-0.0, 5e-324, 1e308));
  const auto second = problem.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d(1, 2, 3));
  const auto free = problem.add_body(2 * carom::SquareMatrix<double, 6>::Identity(),
                                     carom::Vector<double, 6>::Ones());
  const Eigen::RowVector3d row(0.1, 0.2, 0.3);
  problem.add_contact(first, Eigen::Matrix3d::Identity(),
                      carom::CompliantContact<double>{.gap = -0.1, .stiffness = 1e5});
  problem.add_constraint(first, row, carom::JointLimit<double>{.gap = 0.1, .stiffness = 1e4});
  problem.add_constraint(first, row, carom::DryFriction<double>{.effort_limit = 3});
  problem.add_constraint(
      first, row, second, row,
      carom::Motor<double>{.wanted_velocity = 1, .velocity_gain = 7, .effort_limit = 2});
  problem.add_constraint(second, row, first, row, carom::Motor<double>{.velocity_gain = 7});
  problem.add_constraint(first, row, carom::Tendon<double>{.stretch = 0.1, .tension_limit = 4});
  carom::Bilateral<double> weld{.rows = 6};
  weld.error << 1, 2, 3, 4, 5, 6;
  problem.add_constraint(free, carom::SquareMatrix<double, 6>::Identity(), weld);
  const carom::CompliantContact<double> contact{.gap = -0.1, .stiffness = 1e5, .friction = 0.3};
  using carom::ImpulseShape;
  for (const auto& [shape, rows] :
       {std::pair(ImpulseShape::friction, 3), std::pair(ImpulseShape::elliptic, 3),
        std::pair(ImpulseShape::torsional, 4), std::pair(ImpulseShape::rolling, 6),
        std::pair(ImpulseShape::ellipsoidal_torsional, 4),
        std::pair(ImpulseShape::ellipsoidal_rolling, 6),
        std::pair(ImpulseShape::spinless_rolling, 5)}) {
    carom::WrenchContact<double> law{.contact = contact, .shape = shape, .bond = 5};
    if (rows >= 5) law.rolling_friction = 0.1;
    if (rows == 4 || rows == 6) law.torsional_friction = 0.2;
    if (shape == ImpulseShape::elliptic) law.second_friction = 0.4;
    const Eigen::MatrixXd jacobian = Eigen::MatrixXd::Identity(6, 6).topRows(rows);
    problem.add_constraint(free, jacobian, law);
  }
  carom::WeightedBlock<double> planar;
  planar.set = carom::cone_impulses<double>(ImpulseShape::planar, {0.7, 0, 0});
  problem.add_constraint(free, Eigen::MatrixXd::Identity(2, 6), planar);
  const TextProblem again = parse_text_problem(problem_text(problem));
  CHECK(again.problem.block_count() == problem.block_count());
  CHECK(bits_of(again.problem) == bits_of(problem));
  CHECK(again.guess == problem.free_velocity());
}

TEST_CASE("problem_dump: a contact whose normal nothing moves reads back behind another block",
          "[contact][regression]") {
  ContactProblem<double> problem(0.01);
  problem.add_body(Eigen::Matrix3d(Eigen::Matrix3d::Identity()), Eigen::Vector3d(1, 0, 0));
  problem.add_constraint(0, Eigen::RowVector3d(0, 1, 0), carom::JointLimit<double>{.gap = 0.1});
  Eigen::Matrix3d slides = Eigen::Matrix3d::Identity();
  slides(2, 2) = 0;
  problem.add_contact(0, slides, carom::RigidContact<double>{.friction = 0.5});
  const std::string text = problem_text(problem);
  const TextProblem read = parse_text_problem(text);
  CHECK(bits_of(read.problem) == bits_of(problem));
  CHECK(problem_text(read.problem) == text);
  // No other constraint may have such a row.
  const std::string planar =
      "carom-problem 2\ntime_step 0.01\nbodies 1\nbody 1\n1\n0\n0\ncontacts 0\nconstraints 1\n"
      "constraint planar 1 0 0.5 0 1e-3 0 0 1e-3 0\n1\n0\n";
  CHECK_THROWS_AS(parse_text_problem(planar), carom::files::BadInput);
}

TEST_CASE("problem_dump: the bundled problem with constraints is written back, byte for byte",
          "[contact][law]") {
  const std::string path = CAROM_SOURCE_DIR "/examples/data/constraints/arm_and_boxes.txt";
  const TextProblem given = carom::files::read_text_problem(path);
  CHECK(given.problem.friction_contact_count() == 5);
  CHECK(given.problem.block_count() == 14);
  CHECK(problem_text(given.problem, given.guess) == carom::files::read_file(path));
}

TEST_CASE("problem_dump: no bodies, no contacts, constraints alone", "[contact][example]") {
  ContactProblem<double> problem(0.5);
  CHECK(problem_text(problem) == "carom-problem 1\ntime_step 0.5\nbodies 0\ncontacts 0\n");
  problem.add_body(Eigen::Matrix<double, 1, 1>(2), Eigen::Matrix<double, 1, 1>(-3));
  problem.add_constraint(0, Eigen::Matrix<double, 1, 1>(1),
                         WeightedBlock<double>{.set = carom::pushing_impulse<double>()});
  CHECK(problem_text(problem) ==
        "carom-problem 2\ntime_step 0.5\nbodies 1\nbody 1\n2\n-3\n-3\ncontacts 0\n"
        "constraints 1\nconstraint intervals 1 0 1\n0 inf 1 0\n1\n");
}

TEST_CASE("problem_dump: one call writes a file that reads back", "[contact][example]") {
  const auto folder = std::filesystem::temp_directory_path() / "carom_problem_dump_test";
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "problem.txt").string();
  const auto problem = draw(7, 5);
  carom::write_problem(draw(8, 9), path);
  carom::write_problem(problem, path);  // replaces what was there
  const TextProblem again = carom::files::read_text_problem(path);
  CHECK(bits_of(again.problem) == bits_of(problem));
  CHECK(again.guess == problem.free_velocity());
  const VectorX<double> guess = VectorX<double>::Constant(problem.velocity_count(), 0.1);
  carom::write_problem(problem, path, guess);
  CHECK(carom::files::read_text_problem(path).guess == guess);
  CHECK(fault_of([&] { carom::write_problem(problem, folder.string()); }) ==
        folder.string() + ": expected a file that can be written, was refused it");
  const VectorX<double> unfit = VectorX<double>::Zero(guess.size() + 1);
  CHECK(!fault_of([&] { carom::write_problem(problem, path, unfit); }).empty());
  CHECK(carom::files::read_text_problem(path).guess == guess);  // the file is as it was
  std::filesystem::remove_all(folder);
}

TEST_CASE("problem_dump: a long file, which is written in pieces, is the text as a whole",
          "[contact][example]") {
  const auto problem = draw(200, 6000);
  const auto path = std::filesystem::temp_directory_path() / "carom_problem_dump_long.txt";
  const std::string text = problem_text(problem);
  REQUIRE(text.size() > std::size_t(5) << 18);  // more than one piece
  carom::write_problem(problem, path.string());
  CHECK(carom::files::read_file(path.string()) == text);
  CHECK(bits_of(carom::files::parse_text_problem(text).problem) == bits_of(problem));
  std::filesystem::remove(path);
}

TEST_CASE("problem_dump: a guess that does not fit is refused by name", "[contact][input]") {
  const auto problem = draw(1, 1);
  CHECK(fault_of([&] {
          static_cast<void>(problem_text(problem, VectorX<double>::Zero(3).eval()));
        }) == "guess entries: expected 12, got 3");
  VectorX<double> guess = VectorX<double>::Zero(12);
  guess(4) = std::numeric_limits<double>::infinity();
  CHECK(fault_of([&] { static_cast<void>(problem_text(problem, guess)); }) ==
        "guess entry 4: expected a finite number, got inf");
}

}  // namespace problem_dump_test
