// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/contact_problem.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <Eigen/Cholesky>

#include "carom/contact/hunt_crossley.hpp"
#include "carom/contact/rigid_contact.hpp"
#include "carom/solvers/sap.hpp"

#include "support/catch.hpp"
#include "support/dense_problem.hpp"
#include "support/random.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace contact_problem_test {

using carom::CompliantContact, carom::ContactProblem, carom::Fault, carom::Index;
using carom::WeightedContact;
using carom::testing::build, carom::testing::convert_vector, carom::testing::draw_problem,
    carom::testing::RawProblem;
using carom::testing::rounding, carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

const double nan_value = std::numeric_limits<double>::quiet_NaN();
const double infinity = std::numeric_limits<double>::infinity();

/// All numbers a problem holds, to tell whether it has changed.
template <typename Scalar>
std::vector<Scalar> contents(const ContactProblem<Scalar>& problem) {
  std::vector<Scalar> all{problem.time_step()};
  const auto take = [&](const auto& matrix) {
    for (Index c = 0; c < matrix.cols(); ++c) {
      for (Index r = 0; r < matrix.rows(); ++r) all.push_back(matrix(r, c));
    }
  };
  take(problem.free_velocity());
  take(problem.whitened_free_velocity());
  for (Index b = 0; b < problem.body_count(); ++b) {
    all.push_back(Scalar(problem.body(b).start));
    take(problem.momentum_matrix(b));
    take(problem.momentum_factor(b).template triangularView<Eigen::Lower>().toDenseMatrix());
  }
  for (Index i = 0; i < problem.block_count(); ++i) {
    all.push_back(problem.friction_contact_law(i).friction);
    all.push_back(problem.friction_contact_law(i).regularization.tangent);
    all.push_back(problem.friction_contact_law(i).regularization.normal);
    take(problem.friction_contact_law(i).bias_velocity);
    for (int side = 0; side < problem.side_count(i); ++side) {
      all.push_back(Scalar(problem.side_body(i, side)));
      take(problem.jacobian(i, side));
      take(problem.friction_contact(i).whitened_columns(side));
    }
  }
  return all;
}

/// A problem of two bodies and one contact, which every refusal must leave as it is.
class Refusals {
 public:
  Refusals() {
    problem.add_body(matrix, vector);
    problem.add_body(2 * matrix, vector);
    problem.add_contact(1, jacobian, law);
    before_ = contents(problem);
  }

  /// Checks that check and add say the same, that it holds the words, and that nothing changed.
  template <typename Add>
  void expect(const Fault& fault, const Add& add, const std::string& words) {
    CAPTURE(fault, words);
    CHECK(fault.find(words) != std::string::npos);
    std::string thrown = "nothing";
    try {
      add();
    } catch (const std::invalid_argument& error) {
      thrown = error.what();
    }
    CHECK(thrown == fault);
    CHECK(contents(problem) == before_);
  }
  template <typename VectorType>
  void body(const Eigen::MatrixXd& a, const VectorType& v, const std::string& words) {
    expect(
        problem.check_body(a, v), [&] { problem.add_body(a, v); }, words);
  }
  template <typename Law>
  void contact(Index body, const Eigen::MatrixXd& j, const Law& given, const std::string& words) {
    expect(
        problem.check_contact(body, j, given), [&] { problem.add_contact(body, j, given); }, words);
  }
  template <typename Law>
  void with_law(const Law& given, const std::string& words) {
    contact(0, jacobian, given, words);
    pair(0, jacobian, 1, jacobian, given, words);
  }
  template <typename Law>
  void pair(Index first, const Eigen::MatrixXd& j1, Index second, const Eigen::MatrixXd& j2,
            const Law& given, const std::string& words) {
    expect(
        problem.check_contact(first, j1, second, j2, given),
        [&] { problem.add_contact(first, j1, second, j2, given); }, words);
  }

  Eigen::MatrixXd matrix = 3 * Eigen::MatrixXd::Identity(3, 3);
  Eigen::VectorXd vector = Eigen::Vector3d(1, 2, -3);
  Eigen::MatrixXd jacobian = Eigen::MatrixXd::Identity(3, 3);
  CompliantContact<double> law{.gap = -0.01, .stiffness = 1e4, .friction = 0.5};
  WeightedContact<double> weighted{0.5, {1e-3, 1e-2}, Eigen::Vector3d::Zero()};
  ContactProblem<double> problem{0.01};

 private:
  std::vector<double> before_;
};

}  // namespace

TEMPLATE_TEST_CASE("contact_problem: it gives back what it was given", "[contact][law]", float,
                   double) {
  using Scalar = TestType;
  VectorSource<double> source(1u);
  WorstCase bodies("bodies"), sides("sides"), laws("laws"), counts("counts");
  for (int sample = 0; sample < 10; ++sample) {
    const RawProblem raw = draw_problem(source, {.sizes = {6, 1, 30, 3, 7, 2}});
    const ContactProblem<Scalar> problem = build<Scalar>(raw);
    Index start = 0;
    for (std::size_t b = 0; b < raw.bodies.size(); ++b) {
      const Index size = raw.bodies[b].momentum.rows(), body = Index(b);
      const carom::MatrixX<Scalar> matrix = raw.bodies[b].momentum.cast<Scalar>();
      const carom::VectorX<Scalar> velocity = raw.bodies[b].free_velocity.cast<Scalar>();
      bodies.see_holds(problem.body(body).start == start && problem.body(body).size == size &&
                           problem.momentum_matrix(body) == matrix &&
                           problem.free_velocity().segment(start, size) == velocity,
                       double(b));
      start += size;
    }
    counts.see_holds(
        problem.velocity_count() == start && problem.body_count() == Index(raw.bodies.size()) &&
        problem.block_count() == Index(raw.contacts.size()) && problem.time_step() == Scalar(0.01));
    for (Index i = 0; i < problem.block_count(); ++i) {
      const auto& contact = raw.contacts[std::size_t(i)];
      const auto has_side = [&](int side, Index body, const Eigen::MatrixXd& jacobian) {
        const carom::MatrixX<Scalar> kept = jacobian.cast<Scalar>();
        return problem.side_body(i, side) == body && problem.jacobian(i, side) == kept;
      };
      sides.see_holds(has_side(0, contact.first, contact.first_jacobian), double(i));
      sides.see_holds(contact.second < 0 ? problem.side_count(i) == 1
                                         : problem.side_count(i) == 2 &&
                                               has_side(1, contact.second, contact.second_jacobian),
                      double(i));
      const auto law = carom::testing::convert_law<Scalar>(contact.law);
      const auto [tangent, normal] = problem.friction_contact_law(i).regularization;
      laws.see_holds(problem.friction_contact_law(i).friction == law.friction &&
                     tangent == law.regularization.tangent && normal == law.regularization.normal &&
                     problem.friction_contact_law(i).bias_velocity == law.bias_velocity);
    }
  }
  for (const WorstCase* law : {&bodies, &sides, &laws, &counts}) law->check(10);
}

TEST_CASE("contact_problem: items are numbered as they come", "[contact][example]") {
  ContactProblem<double> problem(0.01);
  for (Index i = 0; i < 3; ++i) {
    REQUIRE(problem.add_body(Eigen::Matrix2d::Identity(), Eigen::Vector2d::Zero()) == i);
  }
  const CompliantContact<double> law{.gap = 0, .stiffness = 1e4};
  const Eigen::MatrixXd jacobian = Eigen::MatrixXd::Ones(3, 2);
  CHECK(problem.add_contact(2, jacobian, law) == 0);
  CHECK(problem.add_contact(2, jacobian, 0, jacobian, law) == 1);
  CHECK(problem.add_contact(1, jacobian, law) == 2);
}

TEMPLATE_TEST_CASE("contact_problem: in whitened velocities kinetic energy is the plain norm",
                   "[contact][law]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(2u);
  WorstCase energy("|L'v| = |v|_A"), back("unwhiten after whiten"), momentum("|L^-1 p|"),
      contact("J v = whitened J times whitened v"), free("whitened free velocity"),
      factor("A = LL'");
  for (int sample = 0; sample < 20; ++sample) {
    const RawProblem raw = draw_problem(source, {.sizes = {6, 1, 30, 3, 7, 2}});
    const auto problem = build<Scalar>(raw);
    const auto dense = carom::testing::assemble<long double>(carom::testing::read_back(problem));
    const auto v = convert_vector<Scalar>(carom::testing::draw_velocity(source, raw));
    const auto wide = convert_vector<long double>(v);
    const long double norm = dense.energy_norm(wide), unit = rounding(100, Scalar(1));
    carom::VectorX<Scalar> white = v;
    problem.whiten(carom::as_span(white));
    energy.see(std::abs(convert_vector<long double>(white).norm() - norm), unit * norm);
    carom::VectorX<Scalar> again = white;
    problem.unwhiten(carom::as_span(again));
    back.see(dense.energy_norm(convert_vector<long double>(again) - wide), unit * norm);

    auto pushed = convert_vector<Scalar>(carom::testing::multiply(dense.momentum, wide));
    problem.whiten_momentum(carom::as_span(pushed));
    momentum.see(std::abs(convert_vector<long double>(pushed).norm() - norm), unit * norm);

    carom::VectorX<Scalar> white_free = problem.free_velocity();
    problem.whiten(carom::as_span(white_free));
    free.see_holds(white_free == problem.whitened_free_velocity());

    const auto expected = carom::testing::multiply(dense.jacobian, wide);
    for (Index i = 0; i < 3 * problem.block_count(); ++i) {
      long double velocity = 0, scale = 0;
      for (int side = 0; side < problem.side_count(i / 3); ++side) {
        const auto [start, size] = problem.body(problem.side_body(i / 3, side));
        const auto column = problem.friction_contact(i / 3).whitened_columns(side).col(i % 3);
        for (Index k = 0; k < size; ++k) velocity += column(k) * white(start + k);
        scale += column.norm() * white.segment(start, size).norm();
      }
      contact.see(std::abs(velocity - expected(i)), unit * scale);
    }
    for (Index b = 0; b < problem.body_count(); ++b) {
      const auto lower = problem.momentum_factor(b), matrix = problem.momentum_matrix(b);
      for (Index i = 0; i < lower.rows(); ++i) {
        for (Index j = 0; j <= i; ++j) {
          long double sum = 0;
          for (Index k = 0; k <= j; ++k) {
            sum += static_cast<long double>(lower(i, k)) * lower(j, k);
          }
          factor.see(std::abs(sum - matrix(i, j)), unit * matrix.norm(), double(b));
        }
      }
    }
  }
  for (const WorstCase* law : {&energy, &back, &momentum, &contact, &free, &factor}) law->check(20);
}

TEST_CASE("contact_problem: a contact's inverse mass is |J A^-1 J'|_F / 3 over its bodies",
          "[contact][oracle]") {
  VectorSource<double> source(3u);
  WorstCase estimate("inverse mass, read off R_t");
  for (int sample = 0; sample < 200; ++sample) {
    const RawProblem raw = draw_problem(source, {.sizes = {6, 1, 2, 30}, .contact_count = 3});
    ContactProblem<double> problem(0.01);
    for (const auto& body : raw.bodies) problem.add_body(body.momentum, body.free_velocity);
    for (const auto& contact : raw.contacts) {
      const CompliantContact<double> law{.gap = 0, .stiffness = 1e30, .relative_slip = 0.25};
      Eigen::Matrix3d delassus = Eigen::Matrix3d::Zero();
      const auto add = [&](Index body, const Eigen::MatrixXd& j) {
        delassus += j * raw.bodies[std::size_t(body)].momentum.llt().solve(j.transpose());
      };
      add(contact.first, contact.first_jacobian);
      Index index;
      if (contact.second < 0) {
        index = problem.add_contact(contact.first, contact.first_jacobian, law);
      } else {
        add(contact.second, contact.second_jacobian);
        index = problem.add_contact(contact.first, contact.first_jacobian, contact.second,
                                    contact.second_jacobian, law);
      }
      const double expected = delassus.norm() / 3, pi = std::acos(-1.0);
      estimate.see(
          std::abs(problem.friction_contact_law(index).regularization.tangent - 0.25 * expected),
          rounding(50, expected));
      estimate.see(std::abs(problem.friction_contact_law(index).regularization.normal -
                            expected / (4 * pi * pi)),
                   rounding(50, expected));
    }
  }
  estimate.check(1000);
}

TEST_CASE("contact_problem: expressions, blocks and row-major matrices are read right",
          "[contact][example]") {
  Eigen::Matrix<double, 4, 4, Eigen::RowMajor> large;
  large << 2, 1, 0, 9,  //
      1, 3, 0, 9,       //
      0, 0, 4, 9,       //
      9, 9, 9, 9;
  Eigen::Matrix<double, 3, 4, Eigen::RowMajor> wide;
  wide << 1, 2, 3, 4,  //
      5, 6, 7, 8,      //
      9, 10, 11, 12;
  ContactProblem<double> problem(0.01);
  problem.add_body(large.topLeftCorner<3, 3>(), Eigen::Vector3d::Constant(2) * 0.5);
  problem.add_body(2 * Eigen::Matrix2d::Identity(), large.row(0).head<2>().transpose());
  problem.add_contact(0, wide.leftCols<3>(), 1, wide.rightCols<2>() * 2,
                      {.gap = 0, .stiffness = 1e5});
  problem.add_contact(1, wide.block<3, 2>(0, 1), {.gap = 0, .stiffness = 1e5});
  Eigen::Matrix3d matrix;
  matrix << 2, 1, 0, 1, 3, 0, 0, 0, 4;
  CHECK(problem.momentum_matrix(0) == matrix);
  CHECK(problem.free_velocity() == (Eigen::VectorXd(5) << 1, 1, 1, 2, 1).finished());
  CHECK(problem.jacobian(0, 0) == wide.leftCols<3>());
  CHECK(problem.jacobian(0, 1) == (wide.rightCols<2>() * 2));
  CHECK(problem.jacobian(1, 0) == wide.block<3, 2>(0, 1));
}

TEST_CASE("contact_problem: round-off in the symmetry of A is evened out", "[contact][example]") {
  Eigen::Matrix2d matrix;
  matrix << 2, 1 + 1e-9, 1 - 1e-9, 2;
  ContactProblem<double> problem(0.01);
  problem.add_body(matrix, Eigen::Vector2d::Zero());
  CHECK(problem.momentum_matrix(0)(0, 1) == problem.momentum_matrix(0)(1, 0));
  CHECK(problem.momentum_matrix(0)(0, 1) == Approx(1).epsilon(rounding(5, 1.0)));

  // Singular by its lower triangle alone, definite once evened out: check and add must agree.
  matrix << 1, 1 - 2e-9, 1, 1;
  CHECK(problem.check_body(matrix, Eigen::Vector2d::Zero()).empty());
  CHECK_NOTHROW(problem.add_body(matrix, Eigen::Vector2d::Zero()));
  matrix << 1, 1 + 2e-9, 1, 1;
  CHECK_FALSE(problem.check_body(matrix, Eigen::Vector2d::Zero()).empty());
  CHECK_THROWS_AS(problem.add_body(matrix, Eigen::Vector2d::Zero()), std::invalid_argument);
}

TEST_CASE("contact_problem: bad bodies are refused by name", "[contact][example]") {
  Refusals refuse;
  const Eigen::MatrixXd good = refuse.matrix;
  const Eigen::VectorXd vector = refuse.vector;
  for (const double bad : {nan_value, infinity, -infinity}) {
    Eigen::MatrixXd matrix = good;
    matrix(2, 0) = matrix(0, 2) = bad;
    refuse.body(matrix, vector, "body 2: momentum matrix entry (2, 0): expected a finite number");
    Eigen::VectorXd velocity = vector;
    velocity(1) = bad;
    refuse.body(good, velocity, "body 2: free velocity entry 1: expected a finite number");
    matrix = good;
    matrix(1, 1) = bad;
    refuse.body(matrix, vector, "body 2: momentum matrix entry (1, 1)");
  }
  Eigen::MatrixXd matrix = good;
  matrix(2, 1) = 1e-3;
  refuse.body(matrix, vector, "body 2: momentum matrix entry (2, 1): expected its mirror image");
  matrix = good;
  matrix(1, 1) = 0;
  refuse.body(matrix, vector, "body 2: momentum matrix entry (1, 1): expected a number > 0, got 0");
  matrix(1, 1) = -1.5;
  refuse.body(matrix, vector, "(1, 1): expected a number > 0, got -1.5");
  matrix(1, 1) = 1e-9 - 1e-8;
  refuse.body(matrix, vector, "got -9e-09");
  matrix = good;
  matrix(0, 1) = matrix(1, 0) = 5;
  refuse.body(matrix, vector, "body 2: momentum matrix: expected a positive definite one");
  matrix(0, 1) = matrix(1, 0) = 3;  // singular
  refuse.body(matrix, vector, "body 2: momentum matrix: expected a positive definite one");
  refuse.body(Eigen::MatrixXd(0, 0), Eigen::VectorXd(0), "body 2: momentum matrix rows");
  refuse.body(Eigen::MatrixXd::Ones(3, 2), vector, "body 2: momentum matrix columns");
  refuse.body(Eigen::MatrixXd::Ones(2, 3), vector, "body 2: momentum matrix columns");
  refuse.body(good, Eigen::VectorXd::Ones(2), "body 2: free velocity entries");
  refuse.body(good, Eigen::VectorXd::Ones(4), "body 2: free velocity entries");
  refuse.body(good, Eigen::MatrixXd::Ones(3, 2), "body 2: free velocity entries");
  refuse.body(good, Eigen::MatrixXd::Ones(1, 3), "body 2: free velocity entries");

  const auto now = [&](const auto& velocity_now, const std::string& words) {
    std::string thrown = "nothing";
    try {
      refuse.problem.add_body(good, vector, velocity_now);
    } catch (const std::invalid_argument& error) {
      thrown = error.what();
    }
    CHECK(thrown.find(words) == 0);
  };
  now(Eigen::MatrixXd::Ones(2, 1), "body 2: velocity entries: expected as many as");
  now(Eigen::MatrixXd::Ones(3, 2), "body 2: velocity entries: expected as many as");
  now(Eigen::Vector3d(0, infinity, 0), "body 2: velocity entry 1: expected a finite number");
}

TEST_CASE("contact_problem: a contact of bodies with many velocities is checked as any other",
          "[contact][example]") {
  ContactProblem<double> problem(0.01);
  for (int body = 0; body < 2; ++body) {
    problem.add_body(Eigen::MatrixXd::Identity(70, 70), Eigen::VectorXd::Zero(70));
  }
  Eigen::MatrixXd jacobian = Eigen::MatrixXd::Ones(3, 70);
  const CompliantContact<double> law{.gap = 0, .stiffness = 1};
  CHECK(problem.check_contact(0, jacobian, 1, jacobian, law).empty());
  jacobian(2, 69) = nan_value;
  CHECK(problem.check_contact(0, jacobian, 1, jacobian, law) ==
        "contact 0: Jacobian entry (2, 69): expected a finite number, got nan");
}

TEST_CASE("contact_problem: bad bodies and Jacobians of a contact are refused by name",
          "[contact][example]") {
  Refusals refuse;
  const Eigen::MatrixXd good = refuse.jacobian, zero = Eigen::MatrixXd::Zero(3, 3);
  const auto law = refuse.law;
  for (const Index body : {Index(-1), Index(2), Index(1000), std::numeric_limits<Index>::min()}) {
    const std::string words =
        "contact 1: body: expected an index in [0, 2), got " + std::to_string(body);
    refuse.contact(body, good, law, words);
    refuse.pair(body, good, 0, good, law, words);
    refuse.pair(0, good, body, good, law, words);
    refuse.pair(0, good, body, good, refuse.weighted, words);
  }
  refuse.pair(1, good, 1, good, law,
              "contact 1: second body: expected a body other than the first, got 1");
  CHECK(refuse.problem.check_contact(0, zero, law).empty());  // nothing moves it, which is no fault
  CHECK(refuse.problem.check_contact(0, zero, 1, zero, law).empty());
  refuse.contact(0, Eigen::MatrixXd::Ones(2, 3), law,
                 "contact 1: Jacobian rows: expected 3, got 2");
  refuse.contact(0, Eigen::MatrixXd::Ones(3, 6), law,
                 "contact 1: Jacobian columns: expected 3, got 6");
  refuse.pair(0, good, 1, Eigen::MatrixXd::Ones(3, 2), law,
              "contact 1: Jacobian columns: expected 3, got 2");
  for (const double bad : {nan_value, infinity, -infinity}) {
    Eigen::MatrixXd jacobian = good;
    jacobian(0, 2) = bad;
    const std::string words = "contact 1: Jacobian entry (0, 2): expected a finite number, got";
    refuse.contact(0, jacobian, law, words);
    refuse.pair(0, jacobian, 1, good, law, words);
    refuse.pair(0, good, 1, jacobian, law, words);
  }
}

TEST_CASE("contact_problem: bad material data is refused by name", "[contact][example]") {
  Refusals refuse;
  const auto with = [&](auto member, double value, const std::string& words) {
    CompliantContact<double> law = refuse.law;
    law.*member = value;
    refuse.with_law(law, "contact 1: " + words);
  };
  using Law = CompliantContact<double>;
  for (const double bad : {nan_value, infinity, -infinity}) {
    with(&Law::gap, bad, "gap: expected a finite number");
    with(&Law::dissipation_time, bad, "dissipation time: expected a finite number >= 0");
    with(&Law::friction, bad, "friction: expected a finite number >= 0");
    with(&Law::near_rigid, bad, "near-rigid factor: expected a finite number >= 0");
    with(&Law::relative_slip, bad, "relative slip: expected a finite number > 0");
  }
  for (const double bad : {nan_value, 0.0, -1.0, -infinity}) {
    with(&Law::stiffness, bad, "stiffness: expected a number > 0");
  }
  with(&Law::dissipation_time, -1e-3,
       "dissipation time: expected a finite number >= 0, got -0.001");
  with(&Law::friction, -0.5, "friction: expected a finite number >= 0, got -0.5");
  with(&Law::near_rigid, -1, "near-rigid factor");
  with(&Law::relative_slip, 0, "relative slip: expected a finite number > 0, got 0");
  with(&Law::relative_slip, -1, "relative slip");
  refuse.law.near_rigid = 0;
  with(&Law::stiffness, infinity, "near-rigid factor: expected its default");
}

TEST_CASE("contact_problem: bad weights are refused by name", "[contact][example]") {
  Refusals refuse;
  const WeightedContact<double> good = refuse.weighted;
  for (const double bad : {nan_value, infinity, -infinity, -1.0, 0.0}) {
    WeightedContact<double> law = good;
    law.regularization.tangent = bad;
    refuse.with_law(law, "contact 1: tangential regularization: expected a finite number > 0");
    law = good;
    law.regularization.normal = bad;
    refuse.with_law(law, "contact 1: normal regularization: expected a finite number > 0");
    if (bad == 0) continue;
    law = good;
    law.friction = bad;
    refuse.with_law(law, "contact 1: friction: expected a finite number >= 0");
    if (bad == -1) continue;
    law = good;
    law.bias_velocity(1) = bad;
    refuse.with_law(law, "contact 1: bias velocity entry 1: expected a finite number");
  }
}

TEST_CASE("contact_problem: data whose weights leave the range of numbers is refused",
          "[contact][regression]") {
  Refusals refuse;
  CompliantContact<double> law = refuse.law;
  refuse.contact(0, 1e-200 * refuse.jacobian, law, "contact 1: tangential regularization");
  refuse.contact(0, 1e200 * refuse.jacobian, law, "contact 1: tangential regularization");
  law.gap = 1e307;
  refuse.with_law(law, "contact 1: bias velocity entry 2");
  law = refuse.law;
  law.near_rigid = 0;
  law.stiffness = 1e308;
  law.dissipation_time = 1e10;
  refuse.with_law(law, "contact 1: normal regularization");
}

TEST_CASE("contact_problem: a bad time step is refused, on making and on reset",
          "[contact][example]") {
  Refusals refuse;
  for (const double bad : {0.0, -0.01, nan_value, infinity}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(ContactProblem<double>(bad), std::invalid_argument);
    const auto before = contents(refuse.problem);
    std::string thrown;
    try {
      refuse.problem.reset(bad);
    } catch (const std::invalid_argument& error) {
      thrown = error.what();
    }
    CHECK(thrown.find("time step: expected a finite number > 0, got") == 0);
    CHECK(contents(refuse.problem) == before);
  }
}

TEST_CASE("contact_problem: after refusals it still grows and solves", "[contact][example]") {
  Refusals refused, plain;
  refused.body(-refused.matrix, refused.vector, "expected a number > 0");
  Eigen::MatrixXd indefinite = refused.matrix;
  indefinite(0, 1) = indefinite(1, 0) = 7;
  refused.body(indefinite, refused.vector, "positive definite");
  refused.contact(9, refused.jacobian, refused.law, "index");
  Eigen::VectorXd answers[2];
  for (int k = 0; k < 2; ++k) {
    ContactProblem<double>& problem = k == 0 ? refused.problem : plain.problem;
    REQUIRE(problem.add_body(5 * refused.matrix, refused.vector) == 2);
    REQUIRE(problem.add_contact(2, refused.jacobian, 0, -refused.jacobian, refused.law) == 1);
    answers[k] = problem.free_velocity();
    carom::SapSolver<double> solver;
    REQUIRE(solver.solve(problem, answers[k]).converged());
  }
  CHECK(contents(refused.problem) == contents(plain.problem));
  CHECK(answers[0] == answers[1]);
}

TEST_CASE("contact_problem: the limits of what is sensible are accepted", "[contact][example]") {
  Refusals accept;
  const auto fault = [&](const CompliantContact<double>& law) {
    return accept.problem.check_contact(0, accept.jacobian, law);
  };
  const CompliantContact<double> law = accept.law;
  CompliantContact<double> edge = law;
  edge = {.gap = law.gap, .friction = law.friction};
  CHECK(fault(edge).empty());
  edge.compliance = carom::Compliance::step;
  CHECK(fault(edge).empty());
  edge = law;
  edge.near_rigid = 0;
  CHECK(fault(edge).empty());
  edge = law;
  edge.friction = 0;
  edge.dissipation_time = 0;
  CHECK(fault(edge).empty());
  const Eigen::MatrixXd zero = Eigen::MatrixXd::Zero(3, 3);
  CHECK(accept.problem.check_contact(0, zero, 1, accept.jacobian, law).empty());
  CHECK(accept.problem.check_contact(0, accept.jacobian, 1, zero, law).empty());
  CHECK(
      accept.problem.check_body(Eigen::MatrixXd::Identity(1, 1), Eigen::VectorXd::Zero(1)).empty());
}

TEST_CASE("contact_problem: reset forgets everything but the new time step", "[contact][example]") {
  Refusals old;
  old.problem.reset(0.5);
  CHECK(old.problem.time_step() == 0.5);
  CHECK(old.problem.body_count() == 0);
  CHECK(old.problem.block_count() == 0);
  CHECK(old.problem.velocity_count() == 0);
  ContactProblem<double> fresh(0.5);
  for (ContactProblem<double>* problem : {&old.problem, &fresh}) {
    problem->add_body(Eigen::Matrix2d::Identity(), Eigen::Vector2d(1, 2));
    problem->add_contact(0, Eigen::Matrix<double, 3, 2>::Ones(), old.law);
  }
  CHECK(contents(old.problem) == contents(fresh));
}

TEST_CASE("contact_problem: a copy is independent", "[contact][example]") {
  Refusals original;
  const auto before = contents(original.problem);
  ContactProblem<double> copy = original.problem;
  copy.add_body(original.matrix, original.vector);
  CHECK(contents(original.problem) == before);
  original.problem.reset(0.1);
  CHECK(copy.body_count() == 3);
  CHECK(copy.jacobian(0, 0) == original.jacobian);
}

TEST_CASE("contact_problem: a law set anew is the law it would have been added with",
          "[contact][law]") {
  VectorSource<double> source(61u);
  auto raw = draw_problem(source, {});
  ContactProblem<double> problem = build(raw);
  for (Index i : {Index(0), Index(3)}) {
    const WeightedContact<double> law{0.7, {0.3, 0.2}, Eigen::Vector3d(1, 2, double(i)), i == 3};
    raw.contacts[std::size_t(i)].law = law;
    problem.set_law(i, law);
  }
  const ContactProblem<double> expected = build(raw);
  CHECK(contents(problem) == contents(expected));
  for (Index i = 0; i < problem.block_count(); ++i) {
    CHECK(problem.friction_contact_law(i).friction == expected.friction_contact_law(i).friction);
    CHECK(problem.friction_contact_law(i).regularization.tangent ==
          expected.friction_contact_law(i).regularization.tangent);
    CHECK(problem.friction_contact_law(i).regularization.normal ==
          expected.friction_contact_law(i).regularization.normal);
    CHECK(problem.friction_contact_law(i).bias_velocity ==
          expected.friction_contact_law(i).bias_velocity);
    CHECK(problem.is_rigid(i) == expected.is_rigid(i));
  }
}

TEST_CASE("contact_problem: contacts are rigid or compliant as they were added", "[contact][law]") {
  const Eigen::Matrix3d unit = Eigen::Matrix3d::Identity();
  ContactProblem<double> problem(0.01);
  for (int round = 0; round < 2; ++round) {
    problem.reset(0.01);
    CHECK(problem.rigid_count() == 0);
    problem.add_body(unit, Eigen::Vector3d::Zero());
    const auto rigid = problem.add_contact(0, unit, carom::RigidContact<double>{.friction = 0.5});
    const auto soft = problem.add_contact(0, unit, {.gap = 0, .stiffness = 1e4});
    const auto hunt = problem.add_contact(
        0, unit, carom::HuntCrossleyContact<double>{.gap = 0, .stiffness = 1e4, .dissipation = 1});
    CHECK(problem.is_rigid(rigid));
    CHECK(!problem.is_rigid(soft));
    CHECK(!problem.is_rigid(hunt));
    CHECK(problem.rigid_count() == 1);
    CHECK(problem.friction_contact_law(rigid).regularization.normal > 0);
    auto law = problem.friction_contact_law(soft);
    law.rigid = true;
    for (int twice = 0; twice < 2; ++twice) problem.set_law(soft, law);
    CHECK(problem.rigid_count() == 2);
    law.rigid = false;
    problem.set_law(soft, law);
    CHECK(problem.rigid_count() == 1);
    problem.make_rigid();
    CHECK(problem.rigid_count() == 3);
    CHECK((problem.is_rigid(soft) && problem.is_rigid(hunt)));
    CHECK(problem.friction_contact_law(soft).regularization.normal == law.regularization.normal);
  }
}

}  // namespace contact_problem_test
