// SPDX-License-Identifier: BSD-3-Clause
#include "io/text_problem.hpp"

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "carom/solvers/sap.hpp"

#include "support/catch.hpp"

#include "io/text_problem_writer.hpp"

namespace text_problem_test {

namespace {

using carom::Index;
using carom::examples::BadInput;
using carom::examples::parse_number;
using carom::examples::parse_text_problem;
using carom::examples::TextProblem;

/// What parse_text_problem objects to, empty if nothing.
std::string fault_of(const std::string& text) {
  try {
    static_cast<void>(parse_text_problem(text));
  } catch (const BadInput& fault) {
    return fault.what();
  }
  return {};
}

const std::vector<std::string> bundled{"pile_n1_s30", "pile_n10_s60",     "robot_30x16",
                                       "wall_n10",    "mujoco_sphere_10", "mujoco_box_10"};

TextProblem read_bundled(const std::string& name) {
  return carom::examples::read_text_problem(CAROM_SOURCE_DIR "/examples/data/" + name + ".txt");
}

const std::string small_problem =
    "carom-problem 1\ntime_step 0.5\nbodies 2\n"
    "body 1\n2\n3\n4\nbody 2\n1 0 0 5\n6 7\n8 9\n"
    "contacts 2\n"
    "contact weighted 2 1 0 0.5 0.25 0.125 1 2 3\n1 2 3 4 5 6 7 8 9\n"
    "contact compliant 1 0 -0.01 100 0.5 0.75 0 0.1\n0 3 4\n";

}  // namespace

TEST_CASE("text_problem: every number lands where the format says", "[scenes][example]") {
  const TextProblem given = parse_text_problem(small_problem);
  const auto& p = given.problem;
  REQUIRE(p.time_step() == 0.5);
  REQUIRE(p.body_count() == 2);
  REQUIRE(p.velocity_count() == 3);
  REQUIRE(p.contact_count() == 2);
  CHECK(p.momentum_matrix(0) == Eigen::MatrixXd::Constant(1, 1, 2));
  CHECK(p.momentum_matrix(1) == Eigen::MatrixXd(Eigen::Vector2d(1, 5).asDiagonal()));
  CHECK(p.free_velocity() == Eigen::Vector3d(3, 6, 7));
  CHECK(given.guess == Eigen::Vector3d(4, 8, 9));
  CHECK(p.side_count(0) == 2);
  CHECK(p.side_body(0, 0) == 1);
  CHECK(p.side_body(0, 1) == 0);
  CHECK(p.cone(0).friction == 0.5);
  CHECK(p.regularization(0).tangent == 0.25);
  CHECK(p.regularization(0).normal == 0.125);
  CHECK(p.bias_velocity(0) == Eigen::Vector3d(1, 2, 3));
  Eigen::Matrix<double, 3, 2> first;
  first << 1, 2, 3, 4, 5, 6;
  CHECK(p.jacobian(0, 0).transpose() == first);
  CHECK(p.jacobian(0, 1).transpose() == Eigen::Vector3d(7, 8, 9));
  // w = ‖J diag(A)⁻¹ Jᵀ‖_F/3 = (3² + 4²)/2/3, without the clamp Rₙ = 1/(δt k (δt + τ)).
  CHECK(p.cone(1).friction == 0.75);
  CHECK(std::abs(p.regularization(1).tangent - 0.1 * 25.0 / 6) < 1e-15);
  CHECK(std::abs(p.regularization(1).normal - 1 / (0.5 * 100 * 1.0)) < 1e-15);
  CHECK(std::abs(p.bias_velocity(1).z() - 0.01) < 1e-15);
}

TEST_CASE("text_problem: what is written reads back to the last digit", "[scenes][law]") {
  for (const std::string& name : bundled) {
    CAPTURE(name);
    const TextProblem given = read_bundled(name);
    const std::string text = carom::examples::write_text_problem(given.problem, given.guess);
    const TextProblem again = parse_text_problem(text);
    CHECK(carom::examples::write_text_problem(again.problem, again.guess) == text);
    CHECK(again.guess == given.guess);
    Eigen::VectorXd first = given.guess, second = again.guess;
    carom::SapSolver<double> solver;
    const auto first_report = solver.solve(given.problem, first);
    const auto second_report = solver.solve(again.problem, second);
    CHECK(first_report.converged());
    CHECK(first_report.iterations == second_report.iterations);
    CHECK(first == second);
  }
}

TEST_CASE("text_problem: no prefix of a problem is a problem", "[scenes][law]") {
  for (std::size_t length = 0; length + 2 < small_problem.size(); ++length) {
    CAPTURE(length);
    const std::string text = small_problem.substr(0, length);
    CHECK_FALSE(fault_of(text).empty());
    CHECK(fault_of(text).find('\n') == std::string::npos);
  }
}

TEST_CASE("text_problem: faults name line, item, field and what was expected",
          "[scenes][example]") {
  const auto with = [](const std::string& old, const std::string& replacement) {
    std::string text = small_problem;
    return text.replace(text.find(old), old.size(), replacement);
  };
  CHECK(fault_of(with("0.75", "-1")) ==
        "line 15: contact 1: friction: expected a finite number >= 0, got '-1'");
  CHECK(fault_of(with("8 9\n", "8 inf\n")) ==
        "line 11: body 1: initial guess entry 1: expected a finite number, got 'inf'");
  CHECK(fault_of(with("2 1 0 0.5", "2 1 2 0.5")) ==
        "line 13: contact 0: body: expected an index in [0, 2), got '2'");
  CHECK(fault_of(with("body 2", "body 3000000000")).find("line 8: body 1: size") == 0);
  CHECK(fault_of(small_problem + " 1") ==
        "line 17: after the last contact: expected the end of the file, got '1'");
}

TEST_CASE("number_text: numbers are finite words, whatever follows", "[scenes][example]") {
  CHECK(*parse_number("-1.5e-3") == -1.5e-3);
  CHECK(*parse_number("5e-324") == 5e-324);
  CHECK(*parse_number("1e-400") == 0);
  CHECK(*parse_number("-0.0") == 0);
  for (const char* word : {"", "nan", "-nan", "inf", "infinity", "1e999", "-1e999", "1,5", "1.5x",
                           "0x10", "1e", "--1", " 1", "1 ", "1e5000", "true"}) {
    CAPTURE(word);
    CHECK_FALSE(parse_number(word));
  }
  CHECK_FALSE(carom::examples::parse_count("-1"));
  CHECK_FALSE(carom::examples::parse_count("1.0"));
  CHECK_FALSE(carom::examples::parse_count("99999999999999999999"));
  CHECK(*carom::examples::parse_count("99999999999") == 99999999999);
}

}  // namespace text_problem_test
