// SPDX-License-Identifier: BSD-3-Clause
// Every allocation of cold code fails once: what was built before stays as it was, and the same
// objects, filled again, give the same bits as new ones.
#include <array>
#include <optional>
#include <vector>

#include "carom/carom.hpp"

#include "support/allocation_guard.hpp"
#include "support/catch.hpp"
#include "support/constrained_problem.hpp"

namespace out_of_memory_test {

using carom::ContactProblem, carom::Index, carom::VectorX;
using carom::testing::fail_each_allocation;

namespace {

using Jacobian = Eigen::Matrix<double, 3, 6>;

Jacobian drawn(carom::testing::VectorSource<double>& source) {
  Jacobian jacobian;
  for (double& entry : jacobian.reshaped()) entry = source.entry(0.5, 0);
  return jacobian;
}

/// Bodies in a row, each with a contact on the ground and one with its neighbour, one by one.
class Row {
 public:
  static constexpr int bodies = 5;

  Row() {
    carom::testing::VectorSource<double> source(5u);
    for (int i = 0; i < 2 * bodies; ++i) jacobians_.push_back(drawn(source));
  }
  /// Adds what is missing to a problem that an addition may have left by an exception.
  void complete(ContactProblem<double>& problem) const {
    const auto law = carom::RigidContact<double>{.gap = 0, .friction = 0.4};
    while (problem.body_count() < bodies) {
      problem.add_body(mass_, carom::Vector<double, 6>(0.3, -0.1, -0.2, 0.1, 0.2, -1));
    }
    while (problem.block_count() < 2 * bodies - 1) {
      const Index i = problem.block_count();
      if (i < bodies) {
        problem.add_contact(i, jacobians_[std::size_t(i)], law);
      } else {
        problem.add_contact(i - bodies, jacobians_[std::size_t(i)], i - bodies + 1,
                            Jacobian(-jacobians_[std::size_t(i)]), law);
      }
    }
  }

 private:
  Eigen::Matrix<double, 6, 6> mass_ = Eigen::Matrix<double, 6, 6>::Identity();
  std::vector<Jacobian> jacobians_;
};

template <typename Solver>
VectorX<double> solved(Solver& solver, const ContactProblem<double>& problem) {
  VectorX<double> velocity = problem.free_velocity();
  CHECK(solver.solve(problem, velocity).converged());
  return velocity;
}

template <typename Solver>
void check_solver() {
  const Row row;
  ContactProblem<double> whole(0.01);
  row.complete(whole);
  Solver first;
  const VectorX<double> expected = solved(first, whole);
  std::optional<ContactProblem<double>> problem;
  std::optional<Solver> solver;
  const auto failures = fail_each_allocation(
      [&] {
        problem.emplace(0.01);
        solver.emplace();
      },
      [&] {
        row.complete(*problem);
        solver->prepare(*problem);
      },
      [&](bool) {
        row.complete(*problem);  // goes on where it failed
        CHECK(solved(*solver, *problem) == expected);
        problem->reset(0.01);
        row.complete(*problem);
        CHECK(solved(*solver, *problem) == expected);
      });
  CHECK(failures > 10);
}

}  // namespace

TEST_CASE("out of memory: problems and solvers stay usable", "[real_time][law]") {
  check_solver<carom::ContactSolver<double>>();
  check_solver<carom::SapSolver<double>>();
  check_solver<carom::InteriorPointSolver<double>>();
  check_solver<carom::ProximalSolver<double>>();
}

TEST_CASE("out of memory: cold calls throw and change nothing", "[real_time][law]") {
  const Row row;
  ContactProblem<double> problem(0.01);
  row.complete(problem);
  carom::ContactSolver<double> solver;
  const VectorX<double> velocity = solved(solver, problem), impulse = solver.impulse();
  const auto expected = certify(problem, velocity, impulse);
  fail_each_allocation([] {}, [&] { static_cast<void>(certify(problem, velocity, impulse)); },
                       [&](bool) { CHECK(certify(problem, velocity, impulse) == expected); });
}

TEST_CASE("out of memory: problems of impacts stay usable", "[real_time][law]") {
  constexpr Index balls = 4;
  const auto mass =
      carom::MassMatrix<double>::make_diagonal(VectorX<double>::LinSpaced(balls, 1, 2));
  const VectorX<double> momentum = mass.momentum(VectorX<double>::LinSpaced(balls, 1, -1));
  const auto complete = [&](carom::ImpactProblem<double>& problem) {
    while (problem.contact_count() < balls - 1) {
      VectorX<double> gradient = VectorX<double>::Zero(balls);
      gradient(problem.contact_count()) = -1;
      gradient(problem.contact_count() + 1) = 1;
      problem.add_contact(mass, gradient);
    }
    problem.prepare();
  };
  carom::ImpactProblem<double> whole(balls);
  complete(whole);
  const VectorX<double> expected = resolve_impact(whole, mass, momentum).velocity;
  const auto outcomes = enumerate_outcomes(whole, mass, momentum).outcomes.size();
  std::optional<carom::ImpactProblem<double>> problem;
  fail_each_allocation(
      [&] { problem.emplace(balls); },
      [&] {
        complete(*problem);
        static_cast<void>(resolve_impact(*problem, mass, momentum));
        static_cast<void>(enumerate_outcomes(*problem, mass, momentum));
      },
      [&](bool) {
        complete(*problem);
        CHECK(resolve_impact(*problem, mass, momentum).velocity == expected);
        CHECK(enumerate_outcomes(*problem, mass, momentum).outcomes.size() == outcomes);
      });
}

}  // namespace out_of_memory_test
