// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/contact_newton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "carom/solvers/gauss_seidel.hpp"

#include "support/catch.hpp"
#include "support/deadline_laws.hpp"
#include "support/dual_problems.hpp"
#include "support/dual_solver_laws.hpp"
#include "support/friction_files.hpp"
#include "support/planted_duals.hpp"
#include "support/sweep.hpp"
#include "support/worst_case.hpp"

namespace contact_newton_test {

using carom::ContactNewton, carom::DelassusProblem, carom::FrictionLaw, carom::ImpulseShape;
using carom::Index, carom::SolveStatus, carom::VectorX;
using carom::testing::assemble_dual, carom::testing::draw_dual, carom::testing::DualData;
using carom::testing::DualShape, carom::testing::sweep, carom::testing::VectorSource,
    carom::testing::WorstCase;

namespace {

constexpr FrictionLaw laws[] = {FrictionLaw::coulomb, FrictionLaw::convex};

/// Sweeps count as iterations here: without iterations there are none.
const auto make = [](FrictionLaw law, auto tolerance, int limit) {
  using Scalar = decltype(tolerance);
  return ContactNewton<Scalar>({.law = law,
                                .tolerance = tolerance,
                                .iteration_limit = limit,
                                .sweeps = std::min(limit, 30)});
};

/// Newton's method alone: no sweeps to lean on.
const auto make_bare = [](FrictionLaw law, auto tolerance, int limit) {
  using Scalar = decltype(tolerance);
  return ContactNewton<Scalar>(
      {.law = law, .tolerance = tolerance, .iteration_limit = limit, .sweeps = 0});
};

/// Problems side by side that do not touch, contacts of one after those of the other.
[[nodiscard]] DualData put_together(const std::vector<DualData>& parts) {
  DualData whole;
  Index rows = 0;
  for (const DualData& part : parts) rows += part.q.size();
  whole.w.setZero(rows, rows);
  whole.q.resize(rows);
  whole.r.resize(rows);
  Index at = 0;
  for (const DualData& part : parts) {
    const Index size = part.q.size();
    whole.sets.insert(whole.sets.end(), part.sets.begin(), part.sets.end());
    whole.w.block(at, at, size, size) = part.w;
    whole.q.segment(at, size) = part.q;
    whole.r.segment(at, size) = part.r;
    at += size;
  }
  return whole;
}

/// Impulses of contacts added in an order, back in the order of the data.
[[nodiscard]] VectorX<double> in_data_order(const DelassusProblem<double>& problem,
                                            const std::vector<Index>& order,
                                            const VectorX<double>& impulse, const DualData& data) {
  std::vector<Index> first(data.sets.size() + 1, 0);
  for (std::size_t i = 0; i < data.sets.size(); ++i) first[i + 1] = first[i] + data.sets[i].rows;
  VectorX<double> result(impulse.size());
  for (Index i = 0; i < problem.count(); ++i) {
    const auto own = std::size_t(order[std::size_t(i)]);
    result.segment(first[own], data.sets[own].rows) =
        impulse.segment(problem.first_row(i), data.sets[own].rows);
  }
  return result;
}

}  // namespace

TEST_CASE("contact_newton: solves problems of all shapes", "[solvers][law]") {
  for (const double regularization : {0.1, 0.01, 0.0}) {
    carom::testing::check_random_problems<double>(
        make, sweep(5, 20), DualShape{8, 3, 0.5, true, regularization}, 1e-10, 8000);
  }
  carom::testing::check_random_problems<float>(make, sweep(5, 20), DualShape{8, 3, 0.3, true, 0.1},
                                               1e-4f, 8000);
}

TEST_CASE("contact_newton: what every solver in impulses promises", "[solvers][law]") {
  carom::testing::check_boundaries(make);
  carom::testing::check_best_iterate(make);
  carom::testing::check_scales(make);
  carom::testing::check_closed_forms(make);
  carom::testing::check_singular(make, 1e-10, 8000);
  carom::testing::check_order(make);
  carom::testing::check_against_sap(make);
}

TEST_CASE("contact_newton: the same from systems alone, without sweeps", "[solvers][law]") {
  carom::testing::check_random_problems<double>(make_bare, sweep(8, 30),
                                                DualShape{6, 3, 0.5, true, 0.1}, 1e-10, 8000);
  carom::testing::check_random_problems<double>(make_bare, sweep(6, 20),
                                                DualShape{6, 3, 0.5, false, 0.0}, 1e-10, 8000);
  carom::testing::check_boundaries(make_bare);
  carom::testing::check_scales(make_bare);
  carom::testing::check_closed_forms(make_bare);
  carom::testing::check_against_sap(make_bare);
}

TEST_CASE("contact_newton: agrees with Gauss-Seidel where the solution is unique",
          "[solvers][law]") {
  const auto other = [](FrictionLaw law, double tolerance, int limit) {
    return carom::GaussSeidel<double>(
        {.law = law, .tolerance = tolerance, .iteration_limit = limit});
  };
  carom::testing::check_agreement(make, other);
  carom::testing::check_agreement(make_bare, other);
}

TEMPLATE_TEST_CASE("contact_newton: rigid and hyperstatic, to every tolerance", "[solvers][law]",
                   float, double) {
  using Scalar = TestType;
  VectorSource<double> source(41u);
  const bool fine = std::is_same_v<Scalar, double>;
  for (int round = 0; round < sweep(4, 8); ++round) {
    const DualShape shape{sweep(8, 12) + round, 2, round % 2 == 0 ? 0.3 : 1.0, round % 4 < 2, 0.0};
    const auto problem = assemble_dual<Scalar>(draw_dual(source, shape));
    for (const FrictionLaw law : laws) {
      for (const double tolerance : {1e-4, 1e-8, 1e-12}) {
        if (!fine && tolerance < 1e-6) continue;
        VectorX<Scalar> impulse = VectorX<Scalar>::Zero(problem.row_count());
        const auto report = make(law, Scalar(tolerance), 8000).solve(problem, impulse);
        CAPTURE(round, tolerance, report.iterations);
        CHECK(report.converged());
        CHECK(report.residual_target == Scalar(tolerance));
        carom::testing::check_answer(problem, impulse, report, law);
        CHECK(certify(problem, impulse, law).natural_map_error <=
              Scalar(tolerance) + carom::testing::rounding(4, Scalar(1)));
      }
    }
  }
}

TEST_CASE("contact_newton: no friction, and friction that never gives way", "[solvers][law]") {
  VectorSource<double> source(42u);
  // The natural map of no impulse at all is about 1/μ: far larger coefficients make zero pass.
  for (const double mu : {0.0, 10.0, 1e4}) {
    for (int round = 0; round < 5; ++round) {
      DualData data = draw_dual(source, {6, 3, 1.0, false, round % 2 == 0 ? 0.0 : 0.05});
      for (auto& set : data.sets) set.friction(0) = mu;
      const auto problem = assemble_dual(data);
      for (const FrictionLaw law : laws) {
        for (const int sweeps : {0, 30}) {
          VectorX<double> impulse = VectorX<double>::Zero(problem.row_count());
          ContactNewton<double> solver({.law = law, .tolerance = 1e-9, .sweeps = sweeps});
          const auto report = solver.solve(problem, impulse);
          CAPTURE(mu, round, sweeps, to_string(law), report.residual);
          CHECK(report.converged());
          carom::testing::check_answer(problem, impulse, report, law);
          for (Index i = 0; mu == 0 && i < problem.count(); ++i) {
            CHECK(impulse.segment<2>(3 * i).norm() == 0);
          }
        }
      }
    }
  }
}

TEST_CASE("contact_newton: contacts that nothing moves change nothing for the others",
          "[solvers][law]") {
  VectorSource<double> source(43u);
  for (int round = 0; round < 6; ++round) {
    const DualData data = draw_dual(source, {6, 2, 0.4, true, 0.1});
    // W = 0, R = 0: whatever opens or rests solves.
    DualData idle = carom::testing::make_block(1, 0.5, {0, 0, round % 2 == 0 ? 0.0 : 0.2});
    idle.w.setZero();
    const DualData both = put_together({idle, data, idle});
    const auto problem = assemble_dual(data), extended = assemble_dual(both);
    for (const FrictionLaw law : laws) {
      VectorX<double> impulse = VectorX<double>::Zero(problem.row_count());
      VectorX<double> longer = VectorX<double>::Zero(extended.row_count());
      CHECK(make(law, 1e-12, 8000).solve(problem, impulse).converged());
      const auto report = make(law, 1e-12, 8000).solve(extended, longer);
      CAPTURE(round, report.residual, carom::to_string(report.status));
      CHECK(report.converged());
      carom::testing::check_answer(extended, longer, report, law);
      CHECK((longer.segment(3, impulse.size()) - impulse).norm() <= 1e-9 * (1 + impulse.norm()));
    }
  }
}

TEST_CASE("contact_newton: islands come in any order, and mixed", "[solvers][law]") {
  VectorSource<double> source(44u);
  std::mt19937 engine(7);
  for (int round = 0; round < 4; ++round) {
    std::vector<DualData> parts;
    for (int k = 0; k < 4; ++k) parts.push_back(draw_dual(source, {2 + k, 2, 0.4, true, 0.2}));
    const DualData data = put_together(parts);
    std::vector<Index> order(data.sets.size());
    std::iota(order.begin(), order.end(), Index(0));
    for (const FrictionLaw law : laws) {
      const auto problem = assemble_dual(data);
      VectorX<double> expected = VectorX<double>::Zero(problem.row_count());
      CHECK(make(law, 1e-13, 8000).solve(problem, expected).converged());
      Index at = 0;
      for (const DualData& part : parts) {  // each alone
        VectorX<double> own = VectorX<double>::Zero(part.q.size());
        CHECK(make(law, 1e-13, 8000).solve(assemble_dual(part), own).converged());
        CHECK((own - expected.segment(at, own.size())).norm() <= 1e-9 * (1 + own.norm()));
        at += own.size();
      }
      for (int k = 0; k < 4; ++k) {
        std::shuffle(order.begin(), order.end(), engine);
        const auto mixed = assemble_dual(data, order);
        VectorX<double> impulse = VectorX<double>::Zero(mixed.row_count());
        const auto report = make(law, 1e-13, 8000).solve(mixed, impulse);
        CHECK(report.converged());
        carom::testing::check_answer(mixed, impulse, report, law);
        CHECK((in_data_order(mixed, order, impulse, data) - expected).norm() <=
              1e-9 * (1 + expected.norm()));
      }
    }
  }
}

TEST_CASE("contact_newton: islands together keep the limit and the tolerance", "[solvers][law]") {
  VectorSource<double> source(45u);
  std::vector<DualData> parts;
  for (int k = 0; k < 9; ++k) parts.push_back(draw_dual(source, {5, 1, 0.8, false, 0.0}));
  const auto problem = assemble_dual(put_together(parts));
  for (const FrictionLaw law : laws) {
    for (const int limit : {0, 1, 7, 8000}) {
      for (const double tolerance : {1e-3, 1e-6, 1e-11}) {
        VectorX<double> impulse = VectorX<double>::Zero(problem.row_count());
        const auto report = make_bare(law, tolerance, limit).solve(problem, impulse);
        CAPTURE(limit, tolerance, report.iterations);
        CHECK(report.iterations <= limit);
        carom::testing::check_answer(problem, impulse, report, law);
        if (limit == 8000) CHECK(report.converged());
        if (!report.converged()) CHECK(report.status == SolveStatus::iteration_limit);
        if (limit == 0) CHECK(impulse.isZero(0));
      }
    }
  }
}

TEST_CASE("contact_newton: what was solved before leaves no trace", "[solvers][law]") {
  VectorSource<double> source(46u);
  std::vector<DelassusProblem<double>> problems;
  for (int k = 0; k < 6; ++k) {
    problems.push_back(assemble_dual(draw_dual(source, {3 + 5 * (k % 3), 3, 0.5, true, 0.01})));
  }
  for (const FrictionLaw law : laws) {
    ContactNewton<double> kept({.law = law, .tolerance = 1e-11, .sweeps = 10});
    for (const auto& problem : problems) {
      VectorX<double> impulse = VectorX<double>::Zero(problem.row_count()), fresh = impulse;
      ContactNewton<double> made({.law = law, .tolerance = 1e-11, .sweeps = 10});
      const auto report = kept.solve(problem, impulse), expected = made.solve(problem, fresh);
      CHECK(impulse == fresh);
      CHECK(report.iterations == expected.iterations);
      CHECK(report.residual == expected.residual);
    }
  }
}

TEST_CASE("contact_newton: numbers that are none", "[solvers][law]") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {nan, infinity, -infinity}) {
    DelassusProblem<double> refusing;
    CHECK_THROWS_AS(refusing.add_contact(carom::friction_impulses(0.5), Eigen::Vector3d(0, bad, 0)),
                    std::invalid_argument);
    const auto problem = assemble_dual(carom::testing::make_block(2, 0.3, {1, 0, -1}));
    for (int row = 0; row < 3; ++row) {
      VectorX<double> impulse = VectorX<double>::Zero(3);
      impulse(row) = bad;
      ContactNewton<double> solver;
      const auto report = solver.solve(problem, impulse);
      CHECK(report.status == SolveStatus::not_finite);
      CHECK_FALSE(report.converged());
      CHECK(report.residual == infinity);
      impulse.setZero();  // the solver is none the worse for it
      CHECK(solver.solve(problem, impulse).converged());
    }
  }
}

TEST_CASE("contact_newton: elliptic friction of unlike coefficients under both laws",
          "[solvers][law]") {
  VectorSource<double> source(47u);
  for (int round = 0; round < 12; ++round) {
    DualData data = draw_dual(source, {5, 2, 0.5, false, round % 2 == 0 ? 0.0 : 0.05});
    for (auto& set : data.sets) {
      set = carom::cone_impulses<double>(ImpulseShape::elliptic,
                                         {0.8 * source.unit(), 0.05 * source.unit(), 0});
    }
    const auto problem = assemble_dual(data);
    for (const FrictionLaw law : laws) {
      VectorX<double> impulse = VectorX<double>::Zero(problem.row_count());
      const auto report = make_bare(law, 1e-11, 8000).solve(problem, impulse);
      CAPTURE(round, to_string(law), report.iterations);
      CHECK(report.converged());
      carom::testing::check_answer(problem, impulse, report, law);
    }
  }
}

TEST_CASE("contact_newton: islands with planted solutions", "[solvers][oracle]") {
  VectorSource<double> source(48u);
  for (int round = 0; round < sweep(2, 5); ++round) {
    for (const FrictionLaw law : laws) {
      std::vector<DualData> parts;
      VectorX<double> planted;
      for (int k = 0; k < sweep(3, 5); ++k) {
        const auto part = carom::testing::plant_dual(source, {1 + 3 * k, 2, 0.3, true, 0.3}, law);
        parts.push_back(part.data);
        planted.conservativeResize(planted.size() + part.impulse.size());
        planted.tail(part.impulse.size()) = part.impulse;
      }
      const auto problem = assemble_dual(put_together(parts));
      for (const int sweeps : {0, 30}) {
        ContactNewton<double> solver({.law = law, .tolerance = 1e-12, .sweeps = sweeps});
        VectorX<double> impulse = VectorX<double>::Zero(problem.row_count());
        CHECK(solver.solve(problem, impulse).converged());
        CHECK((impulse - planted).norm() <= 1e-9 * (1 + planted.norm()));
        impulse = planted;
        CHECK(solver.solve(problem, impulse).iterations == 0);
        CHECK(impulse == planted);
        // From near it, a system or two per island.
        for (Index k = 0; k < impulse.size(); ++k) impulse(k) += 1e-7 * (source.unit() - 0.5);
        const auto warm = solver.solve(problem, impulse);
        CHECK(warm.converged());
        CHECK(warm.iterations <= 10);
      }
    }
  }
}

TEST_CASE("contact_newton: bundled problems to twelve digits", "[solvers][golden]") {
  for (const auto& file : carom::testing::friction_files()) {
    const auto problem = carom::testing::read_friction_dual(file);
    CHECK(problem.check() == "");
    if (problem.count() > sweep(30, 1000)) continue;
    for (const double tolerance : {1e-8, 1e-12}) {
      VectorX<double> impulse = VectorX<double>::Zero(problem.row_count());
      const auto report = make(FrictionLaw::coulomb, tolerance, 8000).solve(problem, impulse);
      CAPTURE(file, tolerance, report.iterations, problem.count());
      CHECK(report.converged());
      carom::testing::check_answer(problem, impulse, report, FrictionLaw::coulomb);
    }
  }
}

TEST_CASE("contact_newton: options are kept as given", "[solvers][example]") {
  carom::testing::check_options_kept<ContactNewton<double>>();
}

TEST_CASE("contact_newton: at a deadline it returns the best so far, in its cones",
          "[solvers][law]") {
  VectorSource<double> source(29u);
  for (int round = 0; round < 3; ++round) {
    const auto problem = assemble_dual(draw_dual(source, {6 + 3 * round, 3, 0.3, false, 0.1}));
    for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
      CAPTURE(round, to_string(law));
      carom::testing::check_dual_deadlines(ContactNewton<double>({.law = law, .tolerance = 1e-11}),
                                           problem);
    }
  }
}

}  // namespace contact_newton_test
