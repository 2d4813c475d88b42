// SPDX-License-Identifier: BSD-3-Clause
// What must not matter to an answer: the units of mass, length and time, the coordinates of the
// velocities, the order of bodies and contacts, the directions of the tangents, and what else is in
// the problem. Units of powers of two change no digit, so that answers are equal to the last bit.
#include <algorithm>
#include <cmath>
#include <vector>

#include "carom/solvers/answer_error.hpp"
#include "carom/solvers/contact_solver.hpp"

#include "support/catch.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"

namespace invariance_test {

using carom::ContactSolver, carom::FrictionLaw, carom::Index, carom::judge_answer;
using carom::SolveReport;
using carom::testing::build, carom::testing::by_solver, carom::testing::draw_problem;
using carom::testing::make_rigid, carom::testing::RawContact, carom::testing::RawProblem;
using carom::testing::VectorSource;

namespace {

constexpr double tolerance = 1e-9;

struct Answer {
  SolveReport<double> report;
  Eigen::VectorXd velocity, impulse;
};
Answer solve(const RawProblem& raw, FrictionLaw law) {
  const auto problem = build<double>(raw);
  ContactSolver<double> solver({.law = law, .tolerance = tolerance});
  Answer answer;
  answer.velocity = problem.free_velocity();
  answer.report = solver.solve(problem, answer.velocity);
  answer.impulse = solver.impulse();
  return answer;
}

/// Bodies that have an answer: no bias, little friction.
RawProblem draw(VectorSource<double>& source, bool rigid) {
  RawProblem raw = draw_problem(source, {{6, 6, 3, 6}, 6, 3, 1});
  for (auto& contact : raw.contacts) {
    contact.law.friction = std::min(contact.law.friction, 0.3);
    contact.law.bias_velocity.setZero();
  }
  return rigid ? make_rigid(raw) : raw;
}

template <typename Visit>
void for_each_case(const Visit& visit) {
  for (const bool rigid : {false, true}) {
    for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
      VectorSource<double> source(977u);
      for (int round = 0; round < 8; ++round) {
        const RawProblem raw = draw(source, rigid);
        const Answer answer = solve(raw, law);
        CAPTURE(rigid, to_string(law), round, to_string(answer.report.status));
        REQUIRE(answer.report.converged());
        visit(raw, law, answer);
      }
    }
  }
}

}  // namespace

TEST_CASE("invariance: units of mass, length and time", "[scenes][law]") {
  for_each_case([](const RawProblem& raw, FrictionLaw law, const Answer& answer) {
    for (const int unit : {0, 1, 2}) {
      for (const double factor : {std::ldexp(1.0, 30), std::ldexp(1.0, -30)}) {
        const double mass = unit == 0 ? factor : 1;
        const double speed = unit == 1 ? factor : unit == 2 ? 1 / factor : 1;
        RawProblem other = raw;
        for (auto& body : other.bodies) {
          body.momentum *= mass;
          body.free_velocity *= speed;
        }
        for (auto& contact : other.contacts) {
          contact.law.regularization.tangent /= mass;
          contact.law.regularization.normal /= mass;
        }
        const Answer found = solve(other, law);
        CAPTURE(unit, factor);
        CHECK(found.report.iterations == answer.report.iterations);
        CHECK(found.report.residual == answer.report.residual);
        CHECK(found.velocity == speed * answer.velocity);
        CHECK(found.impulse == mass * speed * answer.impulse);
      }
    }
  });
}

TEST_CASE("invariance: coordinates of the velocities", "[scenes][law]") {
  for_each_case([](const RawProblem& raw, FrictionLaw law, const Answer& answer) {
    RawProblem other = raw;
    std::vector<Eigen::VectorXd> scales;
    for (auto& body : other.bodies) {  // v = S v'
      Eigen::VectorXd scale(body.momentum.rows());
      for (Index k = 0; k < scale.size(); ++k) scale(k) = std::ldexp(1.0, int(7 * k % 20) - 10);
      body.momentum = scale.asDiagonal() * body.momentum * scale.asDiagonal();
      body.free_velocity = body.free_velocity.cwiseQuotient(scale);
      scales.push_back(scale);
    }
    for (auto& contact : other.contacts) {
      const auto scaled = [&](Eigen::MatrixXd& jacobian, Index body) {
        jacobian = (jacobian * scales[std::size_t(body)].asDiagonal()).eval();
      };
      scaled(contact.first_jacobian, contact.first);
      if (contact.second >= 0) scaled(contact.second_jacobian, contact.second);
    }
    // R of contacts is given, and their inverse masses do not change.
    const Answer found = solve(other, law);
    CHECK(found.report.iterations == answer.report.iterations);
    CHECK(found.impulse == answer.impulse);
  });
}

TEST_CASE("invariance: a copy beside it, of any mass and speed", "[scenes][law]") {
  for_each_case([](const RawProblem& raw, FrictionLaw law, const Answer& answer) {
    for (const double factor : {1.0, std::ldexp(1.0, 40), std::ldexp(1.0, -40)}) {
      RawProblem both = raw;
      for (auto body : raw.bodies) {
        body.momentum *= factor;
        body.free_velocity *= factor;
        both.bodies.push_back(body);
      }
      for (auto contact : raw.contacts) {
        contact.first += Index(raw.bodies.size());
        if (contact.second >= 0) contact.second += Index(raw.bodies.size());
        contact.law.regularization.tangent /= factor;
        contact.law.regularization.normal /= factor;
        both.contacts.push_back(contact);
      }
      const Answer found = solve(both, law);
      CAPTURE(factor);
      REQUIRE(found.report.converged());
      const Index n = answer.velocity.size();
      const auto off = [&](const Eigen::VectorXd& v) {
        return (v - answer.velocity).norm() / answer.velocity.norm();
      };
      CHECK(off(found.velocity.head(n)) <= by_solver(1e4 * tolerance));
      CHECK(off(found.velocity.tail(n) / factor) <= by_solver(1e4 * tolerance));
    }
  });
}

TEST_CASE("invariance: order, and turned tangents", "[scenes][law]") {
  for_each_case([](const RawProblem& raw, FrictionLaw law, const Answer& answer) {
    RawProblem other = raw;
    std::reverse(other.bodies.begin(), other.bodies.end());
    std::reverse(other.contacts.begin(), other.contacts.end());
    const Index last = Index(raw.bodies.size()) - 1;
    Eigen::Matrix3d turn;
    turn << 0.6, 0.8, 0, -0.8, 0.6, 0, 0, 0, 1;
    for (RawContact& contact : other.contacts) {
      contact.first = last - contact.first;
      contact.first_jacobian = turn * contact.first_jacobian;
      if (contact.second < 0) continue;
      contact.second = last - contact.second;
      contact.second_jacobian = turn * contact.second_jacobian;
    }
    const Answer found = solve(other, law);
    REQUIRE(found.report.converged());
    Eigen::VectorXd velocity(found.velocity.size());
    Index from = 0, to = velocity.size();
    for (const auto& body : other.bodies) {
      const Index size = body.momentum.rows();
      to -= size;
      velocity.segment(to, size) = found.velocity.segment(from, size);
      from += size;
    }
    CHECK((velocity - answer.velocity).norm() <=
          by_solver(1e4 * tolerance) * answer.velocity.norm());
  });
}

}  // namespace invariance_test
