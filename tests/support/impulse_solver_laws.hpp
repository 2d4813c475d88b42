// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "carom/contact/concepts.hpp"
#include "carom/contact/delassus_form.hpp"
#include "carom/solvers/gauss_seidel.hpp"
#include "carom/solvers/impulse_certificate.hpp"
#include "carom/solvers/sap.hpp"

#include "support/catch.hpp"
#include "support/deadline_laws.hpp"
#include "support/dual_problems.hpp"
#include "support/raw_problem.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"

/// @file
/// The laws of ImpulseSolverFor. `make(law, tolerance, limit)` returns a solver;
/// check_impulse_laws() checks all of it.
namespace carom::testing {

/// The report says what the certificate finds, and the answer is no worse than asked.
template <typename Scalar>
void check_answer(const DelassusProblem<Scalar>& problem, const VectorX<Scalar>& impulse,
                  const SolveReport<Scalar>& report, FrictionLaw law) {
  const auto certificate = certify(problem, impulse, law);
  CAPTURE(to_string(law), to_string(report.status), report.iterations, report.residual,
          certificate.natural_map_error, certificate.worst_block);
  CHECK(report.measure == ResidualMeasure::natural_map);
  // Friction lifts velocities by μ times their tangent part, and their rounding with it. The
  // certificate is an upper bound, with what rounding can have done in every sum.
  Scalar largest = 1;
  for (Index i = 0; i < problem.count(); ++i) {
    largest = std::max(largest, problem.set(i).friction.cwiseAbs().maxCoeff());
  }
  CHECK(std::abs(report.residual - certificate.natural_map_error) <=
        rounding(1000, largest * (Scalar(1) + report.residual)));
  CHECK(report.converged() == (report.residual <= report.residual_target));
}

template <typename Scalar, typename Make>
void check_random_problems(const Make& make, int rounds, const DualShape& shape, Scalar tolerance,
                           int limit) {
  VectorSource<double> source(31u);
  for (int round = 0; round < rounds; ++round) {
    DualShape drawn = shape;
    drawn.contacts = 1 + int(source.unit() * shape.contacts);
    const auto problem = assemble_dual<Scalar>(draw_dual(source, drawn));
    for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
      auto solver = make(law, tolerance, limit);
      VectorX<Scalar> impulse = VectorX<Scalar>::Zero(problem.row_count());
      const auto report = solver.solve(problem, impulse);
      CAPTURE(round, drawn.contacts);
      check_answer(problem, impulse, report, law);
      CHECK(report.converged());
      const VectorX<Scalar> again = impulse;
      const auto warm = solver.solve(problem, impulse);
      CHECK(warm.iterations == 0);
      CHECK(warm.converged());
      CHECK(impulse == again);
    }
  }
}

/// Options are kept, and the caller's limit of iterations holds beside them.
template <typename Make>
void check_limits(const Make& make) {
  VectorSource<double> source(11u);
  const auto problem = assemble_dual(draw_dual(source, {6, 3, 0.3, false, 0.1}));
  for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
    auto solver = make(law, 1e-14, 700);
    CHECK(solver.options().law == law);
    CHECK(solver.options().tolerance == 1e-14);
    CHECK(solver.options().iteration_limit == 700);
    solver.set_limits({.iteration_limit = 3});
    VectorX<double> impulse = VectorX<double>::Zero(problem.row_count());
    const auto report = solver.solve(problem, impulse);
    CHECK(report.iterations <= 3);
    CHECK((report.converged() || report.status == SolveStatus::iteration_limit));
    check_answer(problem, impulse, report, law);
    check_dual_deadlines(make(law, 1e-8, 20000), problem);
  }
}

/// A tolerance below round-off ends when nothing changes, at an answer up to `reached`.
/// @return  in how many of 20 rounds; `draw(round)` makes the problem.
template <typename Make, typename Draw>
[[nodiscard]] int count_ended_at_rest(const Make& make, FrictionLaw law, int limit, double reached,
                                      const Draw& draw) {
  int ended = 0;
  for (int round = 0; round < 20; ++round) {
    const DelassusProblem<double> problem = draw(round);
    VectorX<double> impulse = VectorX<double>::Zero(problem.row_count());
    const auto report = make(law, 1e-30, limit).solve(problem, impulse);
    CAPTURE(round, report.residual, report.iterations);
    CHECK(report.residual <= reached);
    ended += report.status == SolveStatus::no_progress;
  }
  return ended;
}

/// Many contacts or few, none, one; a guess that is not finite; a limit that ends it early.
template <typename Make>
void check_boundaries(const Make& make) {
  for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
    auto solver = make(law, 1e-10, 20000);
    VectorX<double> impulse;
    DelassusProblem<double> none;
    none.assemble();
    CHECK(solver.solve(none, impulse).converged());
    // All open.
    const auto open = assemble_dual(make_block(2, 0.5, {0.1, 0.2, 1}));
    impulse = VectorX<double>::Ones(3);
    CHECK(solver.solve(open, impulse).converged());
    CHECK(impulse.norm() <= by_solver(1e-9));
    // A guess that is not a number stays.
    impulse(1) = std::numeric_limits<double>::quiet_NaN();
    const auto refused = solver.solve(open, impulse);
    CHECK(refused.status == SolveStatus::not_finite);
    CHECK(refused.residual == std::numeric_limits<double>::infinity());
    CHECK(std::isnan(impulse(1)));
    CHECK(std::abs(impulse(0)) <= by_solver(1e-9));
    // No iterations: the guess comes back with its own error.
    const auto slope = assemble_dual(make_block(2, 0.1, {1, 0, -1}));
    impulse = Eigen::Vector3d(0.3, 0, 1);
    auto idle = make(law, 1e-10, 0);
    const auto report = idle.solve(slope, impulse);
    CHECK(report.status == SolveStatus::iteration_limit);
    CHECK(report.iterations == 0);
    CHECK(impulse == Eigen::Vector3d(0.3, 0, 1));
    check_answer(slope, impulse, report, law);
  }
}

/// The best iterate comes back, however early the end.
template <typename Make>
void check_best_iterate(const Make& make) {
  VectorSource<double> source(32u);
  DualShape shape{20, 3, 1.0, true, 0.0};
  for (int round = 0; round < 2; ++round) {
    const auto problem = assemble_dual(draw_dual(source, shape));
    for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
      double before = std::numeric_limits<double>::infinity();
      for (const int limit : {0, 1, 3, 10, 200}) {
        VectorX<double> impulse = VectorX<double>::Zero(problem.row_count());
        auto solver = make(law, 1e-12, limit);
        const auto report = solver.solve(problem, impulse);
        CAPTURE(round, limit);
        check_answer(problem, impulse, report, law);
        CHECK(report.iterations <= limit);
        CHECK(report.residual <=
              certify(problem, VectorX<double>(VectorX<double>::Zero(problem.row_count())), law)
                  .natural_map_error);
        CHECK(report.residual <= 1.5 * before);
        before = report.residual;
      }
    }
  }
}

/// Friction of zero and of a thousand; blocks over twelve decades of scale.
template <typename Make>
void check_scales(const Make& make) {
  for (const double friction : {0.0, 1e-3, 0.5, 1e3}) {
    for (const double mass : {1e-6, 1.0, 1e6}) {
      for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
        const auto problem = assemble_dual(make_block(mass, friction, {1, -0.3, -2}));
        VectorX<double> impulse = VectorX<double>::Zero(3);
        auto solver = make(law, 1e-10, 100000);
        const auto report = solver.solve(problem, impulse);
        CAPTURE(friction, mass, to_string(law));
        CHECK(report.converged());
        check_answer(problem, impulse, report, law);
      }
    }
  }
}

/// A block that slides stays on the plane under Coulomb's law, v = v₀ − μ g δt, and separates with
/// μ ‖uₜ‖ under the convex one; on a slope it sticks up to tan a = μ, and beyond accelerates by
/// g (sin a − μ cos a).
template <typename Make>
void check_closed_forms(const Make& make) {
  const double fall = 0.0981, mass = 3;
  for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
    auto solver = make(law, 1e-13, 100000);
    const double mu = 0.5, speed = 2;
    const auto block = assemble_dual(make_block(mass, mu, {speed, 0, -fall}));
    VectorX<double> impulse = VectorX<double>::Zero(3);
    CHECK(solver.solve(block, impulse).converged());
    if (law == FrictionLaw::coulomb) {
      CHECK(std::abs(impulse(2) - mass * fall) <= by_solver(1e-11));
      CHECK(std::abs(impulse(0) + mu * mass * fall) <= by_solver(1e-11));
    } else {
      const Eigen::Vector3d u = impulse / mass + Eigen::Vector3d(speed, 0, -fall);
      CHECK(std::abs(u(2) - mu * u(0)) <= by_solver(1e-11));
    }
    for (const double angle : {0.2, 0.4, 0.46, 0.47, 0.8}) {
      const auto slope =
          assemble_dual(make_block(mass, mu, {fall * std::sin(angle), 0, -fall * std::cos(angle)}));
      impulse.setZero();
      CHECK(solver.solve(slope, impulse).converged());
      const double v = impulse(0) / mass + fall * std::sin(angle);
      const double along = std::max(0.0, fall * (std::sin(angle) - mu * std::cos(angle)));
      CAPTURE(angle, v, along);
      if (law == FrictionLaw::coulomb) CHECK(std::abs(v - along) <= by_solver(1e-11));
      if (std::tan(angle) < mu) CHECK(std::abs(v) <= by_solver(1e-11));
    }
  }
}

/// W of less rank than rows, and as indefinite as rounding makes it, rigid.
template <typename Make>
void check_singular(const Make& make, double tolerance, int limit) {
  VectorSource<double> source(33u);
  for (int round = 0; round < 4; ++round) {
    DualData data = draw_dual(source, {8, 2, 0.5, false, 0.0});
    for (Index i = 0; i < data.w.rows(); ++i) {
      for (Index j = 0; j < i; ++j) {
        const double noise = 1e-15 * data.w.trace() * source.unit();
        data.w(i, j) -= noise;
        data.w(j, i) -= noise;
      }
      data.w(i, i) -= 1e-15 * data.w.trace();
    }
    const auto problem = assemble_dual(data);
    for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
      VectorX<double> impulse = VectorX<double>::Zero(problem.row_count());
      auto solver = make(law, tolerance, limit);
      const auto report = solver.solve(problem, impulse);
      CAPTURE(round);
      check_answer(problem, impulse, report, law);
      CHECK(report.converged());
    }
  }
  // Own blocks of rank one and zero.
  for (const double keep : {0.0, 1.0}) {
    DualData data = make_block(1, 0.5, {0.1, 0, -1});
    data.w.topLeftCorner<2, 2>().setZero();
    data.w(2, 2) = keep;
    data.q(0) = 0;
    if (keep == 0) data.q(2) = 0.5;
    const auto problem = assemble_dual(data);
    VectorX<double> impulse = VectorX<double>::Zero(3);
    auto solver = make(FrictionLaw::coulomb, 1e-8, limit);
    CHECK(solver.solve(problem, impulse).converged());
    CHECK(std::abs(impulse(2) - keep) <= by_solver(1e-7));
  }
}

/// A unique solution does not depend on the order in which contacts come.
template <typename Make>
void check_order(const Make& make) {
  VectorSource<double> source(34u);
  for (int round = 0; round < 2; ++round) {
    const DualData data = draw_dual(source, {7, 3, 0.2, true, 0.3});
    std::vector<Index> order(data.sets.size());
    std::iota(order.begin(), order.end(), Index(0));
    std::reverse(order.begin(), order.end());
    const auto problem = assemble_dual(data), turned = assemble_dual(data, order);
    for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
      auto solver = make(law, 1e-12, 100000);
      VectorX<double> impulse = VectorX<double>::Zero(problem.row_count()), other = impulse;
      CHECK(solver.solve(problem, impulse).converged());
      CHECK(solver.solve(turned, other).converged());
      for (Index i = 0; i < problem.count(); ++i) {
        const Index mirrored = problem.count() - 1 - i, rows = problem.set(i).rows;
        CHECK((impulse.segment(problem.first_row(i), rows) -
               other.segment(turned.first_row(mirrored), rows))
                  .norm() <= by_solver(1e-9) * (1 + impulse.norm()));
      }
    }
  }
}

/// Where the answer is unique it is that of Gauss-Seidel.
template <typename Make>
void check_agreement(const Make& make) {
  VectorSource<double> source(36u);
  for (int round = 0; round < 2; ++round) {
    const auto problem = assemble_dual(draw_dual(source, {sweep(8, 14), 4, 0.2, true, 0.2}));
    for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
      VectorX<double> impulse = VectorX<double>::Zero(problem.row_count()), other = impulse;
      auto solver = make(law, 1e-12, 100000);
      GaussSeidel<double> second({.law = law, .tolerance = 1e-12, .iteration_limit = 100000});
      CHECK(solver.solve(problem, impulse).converged());
      CHECK(second.solve(problem, other).converged());
      CAPTURE(round, to_string(law));
      CHECK((impulse - other).norm() <= by_solver(1e-9) * (1 + impulse.norm()));
    }
  }
}

/// The compliant convex problem has the answer that Newton's method on the bodies gives.
template <typename Make>
void check_against_sap(const Make& make) {
  VectorSource<double> source(35u);
  for (int round = 0; round < 2; ++round) {
    const RawProblem raw = draw_problem(source, {{6, 6, 3}, 6, 1, 1});
    const ContactProblem<double> bodies = build(raw);
    SapSolver<double> sap({.tolerance = 1e-13});
    VectorX<double> velocity = bodies.free_velocity();
    CHECK(sap.solve(bodies, velocity).residual <= by_solver(1e-11));
    DelassusProblem<double> problem;
    DelassusForm<double>().write(bodies, problem);
    VectorX<double> impulse = VectorX<double>::Zero(problem.row_count());
    auto solver = make(FrictionLaw::convex, 1e-12, 200000);
    const auto report = solver.solve(problem, impulse);
    CAPTURE(round, report.residual);
    CHECK(report.converged());
    CHECK((impulse - sap.impulse()).norm() <= by_solver(1e-7) * (1e-6 + impulse.norm()));
  }
}

/// How far a solver's laws can be asked for.
struct ImpulseLawCase {
  double singular_tolerance = 1e-6;  ///< that it reaches where W is singular
  int singular_limit = 200000;       ///< iterations that it may take for that
};

/// All laws of ImpulseSolverFor.
template <typename Make>
void check_impulse_laws(const Make& make, const ImpulseLawCase& asked = {}) {
  static_assert(
      ImpulseSolverFor<decltype(make(FrictionLaw::coulomb, 1e-6, 1)), DelassusProblem<double>>);
  static_assert(
      ImpulseSolverFor<decltype(make(FrictionLaw::coulomb, 1e-3f, 1)), DelassusProblem<float>>);
  check_random_problems<double>(make, 20, DualShape{8, 3, 0.3, true, 0.1}, 1e-10, 100000);
  check_random_problems<float>(make, 10, DualShape{8, 3, 0.3, true, 0.1}, 1e-4f, 20000);
  check_boundaries(make);
  check_limits(make);
  check_best_iterate(make);
  check_scales(make);
  check_closed_forms(make);
  check_singular(make, asked.singular_tolerance, asked.singular_limit);
  check_order(make);
  check_agreement(make);
  check_against_sap(make);
}

}  // namespace carom::testing
