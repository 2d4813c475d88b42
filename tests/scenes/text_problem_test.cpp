// SPDX-License-Identifier: BSD-3-Clause
#include "io/text_problem.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>

#include "support/catch.hpp"
#include "support/tolerance.hpp"
namespace text_problem_test {

using carom::testing::rounding;

namespace {

using carom::Index;
using carom::files::BadInput;
using carom::files::parse_number;
using carom::files::parse_text_problem;
using carom::files::TextProblem;

/// What parse_text_problem objects to, empty if nothing.
std::string fault_of(const std::string& text) {
  try {
    static_cast<void>(parse_text_problem(text));
  } catch (const BadInput& fault) {
    return fault.what();
  }
  return {};
}

const std::string small_problem =
    "carom-problem 1\ntime_step 0.5\nbodies 2\n"
    "body 1\n2\n3\n4\nbody 2\n1 0 0 5\n6 7\n8 9\n"
    "contacts 2\n"
    "contact weighted 2 1 0 0.5 0.25 0.125 1 2 3\n1 2 3 4 5 6 7 8 9\n"
    "contact compliant 1 0 -0.01 100 0.5 0.75 0 0.1\n0 3 4\n";

const std::string constrained_problem =
    "carom-problem 2" + small_problem.substr(std::string("carom-problem 1").size()) +
    "constraints 3\n"
    "constraint intervals 1 1 2\n-inf inf 0.5 3\n-1 2 0.25 -4\n1 2\n3 4\n"
    "constraint torsional 2 0 1 0.5 0.125\n0 2 1\n0 2 3\n0.75 4 5\n0 6 7\n"
    "1\n2\n3\n4\n5 6\n7 8\n9 10\n11 12\n"
    "constraint rolling 1 1 0.5 0.25 0.125\n"
    "0 1 0\n0 1 0\n0 2 0\n0 3 0\n0 3 0\n0 4 0\n"
    "1 0\n0 1\n1 1\n1 2\n1 3\n1 4\n";

}  // namespace

TEST_CASE("text_problem: every number lands where the format says", "[scenes][example]") {
  const TextProblem given = parse_text_problem(small_problem);
  const auto& p = given.problem;
  REQUIRE(p.time_step() == 0.5);
  REQUIRE(p.body_count() == 2);
  REQUIRE(p.velocity_count() == 3);
  REQUIRE(p.block_count() == 2);
  CHECK(p.momentum_matrix(0) == Eigen::MatrixXd::Constant(1, 1, 2));
  CHECK(p.momentum_matrix(1) == Eigen::MatrixXd(Eigen::Vector2d(1, 5).asDiagonal()));
  CHECK(p.free_velocity() == Eigen::Vector3d(3, 6, 7));
  CHECK(given.guess == Eigen::Vector3d(4, 8, 9));
  CHECK(p.side_count(0) == 2);
  CHECK(p.side_body(0, 0) == 1);
  CHECK(p.side_body(0, 1) == 0);
  CHECK(p.friction_contact_law(0).friction == 0.5);
  CHECK(p.friction_contact_law(0).regularization.tangent == 0.25);
  CHECK(p.friction_contact_law(0).regularization.normal == 0.125);
  CHECK(p.friction_contact_law(0).bias_velocity == Eigen::Vector3d(1, 2, 3));
  Eigen::Matrix<double, 3, 2> first;
  first << 1, 2, 3, 4, 5, 6;
  CHECK(p.jacobian(0, 0) == first);
  CHECK(p.jacobian(0, 1) == Eigen::Vector3d(7, 8, 9));
  // w = ‖J diag(A)⁻¹ Jᵀ‖_F/3 = (3² + 4²)/2/3, without the clamp Rₙ = 1/(δt k (δt + τ)).
  CHECK(p.friction_contact_law(1).friction == 0.75);
  CHECK(std::abs(p.friction_contact_law(1).regularization.tangent - 0.1 * 25.0 / 6) <
        rounding(5, 1.0));
  CHECK(std::abs(p.friction_contact_law(1).regularization.normal - 1 / (0.5 * 100 * 1.0)) <
        rounding(5, 1.0));
  CHECK(std::abs(p.friction_contact_law(1).bias_velocity.z() - 0.01) < rounding(5, 1.0));
}

TEST_CASE("text_problem: so does every number of a constraint", "[scenes][example]") {
  const TextProblem given = parse_text_problem(constrained_problem);
  const auto& list = given.problem;
  REQUIRE(list.block_count() == 5);  // two contacts come first
  const auto intervals = list.law(2);
  CHECK(list.side_count(2) == 1);
  CHECK(list.side_body(2, 0) == 1);
  CHECK(intervals.set.shape == carom::ImpulseShape::intervals);
  REQUIRE(intervals.set.rows == 2);
  CHECK(intervals.set.lower(0) == -std::numeric_limits<double>::infinity());
  CHECK(intervals.set.upper(0) == std::numeric_limits<double>::infinity());
  CHECK(intervals.set.lower(1) == -1);
  CHECK(intervals.set.upper(1) == 2);
  CHECK(intervals.regularization.head<2>() == Eigen::Vector2d(0.5, 0.25));
  CHECK(intervals.bias_velocity.head<2>() == Eigen::Vector2d(3, -4));
  CHECK(list.jacobian(2, 0) == (Eigen::Matrix2d() << 1, 2, 3, 4).finished());
  const auto torsional = list.law(3);
  CHECK(list.side_count(3) == 2);
  CHECK(list.side_body(3, 0) == 0);
  CHECK(list.side_body(3, 1) == 1);
  CHECK(torsional.set.shape == carom::ImpulseShape::torsional);
  CHECK(torsional.set.friction == Eigen::Vector3d(0.5, 0.125, 0));
  CHECK(torsional.set.shift.head<4>() == Eigen::Vector4d(0, 0, 0.75, 0));
  CHECK(torsional.regularization.head<4>() == Eigen::Vector4d(2, 2, 4, 6));
  CHECK(torsional.bias_velocity.head<4>() == Eigen::Vector4d(1, 3, 5, 7));
  CHECK(list.jacobian(3, 0) == Eigen::Vector4d(1, 2, 3, 4));
  CHECK(list.jacobian(3, 1).row(3) == Eigen::RowVector2d(11, 12));
  CHECK(list.law(4).set.friction == Eigen::Vector3d(0.5, 0.25, 0.125));
  CHECK(list.law(4).set.rows == 6);
}

TEST_CASE("text_problem: no prefix of a problem is a problem", "[scenes][law]") {
  for (const std::string& whole : {small_problem, constrained_problem}) {
    for (std::size_t length = 0; length + 2 < whole.size(); ++length) {
      CAPTURE(length);
      const std::string text = whole.substr(0, length);
      CHECK_FALSE(fault_of(text).empty());
      CHECK(fault_of(text).find('\n') == std::string::npos);
    }
  }
}

TEST_CASE("text_problem: a byte-order mark and lines that end in CR LF change nothing",
          "[scenes][example]") {
  std::string other = "\xEF\xBB\xBF" + constrained_problem;
  for (std::size_t at = 0; (at = other.find('\n', at)) != std::string::npos; at += 2) {
    other.insert(at, 1, '\r');
  }
  CHECK(carom::files::is_text_problem(other));
  const TextProblem plain = parse_text_problem(constrained_problem);
  const TextProblem marked = parse_text_problem(other);
  CHECK(marked.problem.block_count() == plain.problem.block_count());
  CHECK(marked.problem.free_velocity() == plain.problem.free_velocity());
  CHECK(marked.problem.jacobian(4, 0) == plain.problem.jacobian(4, 0));
  CHECK(marked.guess == plain.guess);
  // Only at the beginning, and lines are counted as before.
  CHECK(fault_of("carom-problem 1\ntime_step \xEF\xBB\xBF 1").find("line 2: time_step") == 0);
}

TEST_CASE("text_problem: a contact of infinite stiffness is rigid", "[scenes][example]") {
  std::string text = small_problem;
  text.replace(text.find("0 -0.01 100"), 11, "0 -0.01 inf");
  const TextProblem given = parse_text_problem(text);
  REQUIRE(given.problem.is_rigid(1));
  const auto& law = given.problem.friction_contact_law(1);
  CHECK(law.friction == 0.75);
  CHECK(law.bias_velocity == Eigen::Vector3d(0, 0, 0.01));  // -gap / (0.5 + 0.5)
  // The same velocity as of a finite stiffness.
  const TextProblem soft = parse_text_problem(small_problem);
  CHECK(soft.problem.friction_contact_law(1).bias_velocity == law.bias_velocity);
  CHECK_FALSE(soft.problem.is_rigid(1));
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
  CHECK(fault_of(with("problem 1", "problem 3")) ==
        "line 1: carom-problem version: expected '1' or '2', got '3'");
  CHECK(fault_of(with("problem 1", "problem 2")) ==
        "line 17: expected 'constraints', got the end of the file");
}

TEST_CASE("text_problem: faults of constraints do, too", "[scenes][example]") {
  const auto with = [](const std::string& old, const std::string& replacement) {
    std::string text = constrained_problem;
    return text.replace(text.find(old), old.size(), replacement);
  };
  CHECK(fault_of(with("intervals 1 1 2", "interval 1 1 2")) ==
        "line 18: constraint 0: expected 'intervals', 'friction', 'planar', 'elliptic', "
        "'torsional', 'rolling', 'ellipsoidal_torsional', 'ellipsoidal_rolling' or "
        "'spinless_rolling', got 'interval'");
  CHECK(fault_of(with("intervals 1 1 2", "intervals 1 1 7")) ==
        "line 18: constraint 0: rows: expected a number in [1, 6], got '7'");
  CHECK(fault_of(with("-inf inf", "inf inf")) ==
        "line 19: constraint 0: lower bound entry 0: expected a finite number or '-inf', got "
        "'inf'");
  CHECK(fault_of(with("-inf inf", "-inf -inf")) ==
        "line 19: constraint 0: upper bound entry 0: expected a finite number or 'inf', got "
        "'-inf'");
  CHECK(fault_of(with("-1 2 0.25", "3 2 0.25")) ==
        "line 18: constraint 0: upper bound entry 1: expected a number no less than the lower "
        "bound, got 2");
  CHECK(fault_of(with("0.5 0.125\n", "0.5 -0.125\n")) ==
        "line 23: constraint 1: friction entry 1: expected a finite number >= 0, got '-0.125'");
  CHECK(fault_of(with("0 2 3\n", "0 3 3\n")) ==
        "line 23: constraint 1: regularization entry 1: expected the same as the entry before, "
        "got 3");
  CHECK(fault_of(with("0.75 4 5", "0.75 -4 5")) ==
        "line 26: constraint 1: R entry 2: expected a finite number > 0, got '-4'");
  CHECK(fault_of(with("torsional 2 0 1", "torsional 2 0 0")).find("line 23: constraint 1: ") == 0);
  CHECK(fault_of(with("1 2\n3 4\n", "0 0\n3 4\n")) ==
        "line 18: constraint 0: Jacobian row 0: expected a non-zero row, got zero");
  CHECK(fault_of(constrained_problem + "x") ==
        "line 49: after the last constraint: expected the end of the file, got 'x'");
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
  CHECK_FALSE(carom::files::parse_count("-1"));
  CHECK_FALSE(carom::files::parse_count("1.0"));
  CHECK_FALSE(carom::files::parse_count("99999999999999999999"));
  CHECK(*carom::files::parse_count("99999999999") == 99999999999);
}

}  // namespace text_problem_test
