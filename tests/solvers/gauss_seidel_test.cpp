// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/gauss_seidel.hpp"

#include <cmath>

#include "support/catch.hpp"
#include "support/dual_problems.hpp"
#include "support/impulse_solver_laws.hpp"
#include "support/tolerance.hpp"

namespace gauss_seidel_test {

using carom::testing::by_solver, carom::testing::rounding;

using carom::FrictionLaw, carom::GaussSeidel, carom::GaussSeidelOptions, carom::VisitOrder,
    carom::VectorX;
using carom::testing::assemble_dual, carom::testing::draw_dual, carom::testing::DualShape,
    carom::testing::VectorSource;

namespace {

const auto make = [](FrictionLaw law, auto tolerance, int limit) {
  using Scalar = decltype(tolerance);
  return GaussSeidel<Scalar>({.law = law, .tolerance = tolerance, .iteration_limit = limit});
};

}  // namespace

TEST_CASE("gauss_seidel: obeys the laws of every solver in impulses", "[solvers][law]") {
  carom::testing::check_impulse_laws(make);
}

TEST_CASE("gauss_seidel: little regularization and much friction take more sweeps",
          "[solvers][law]") {
  carom::testing::check_random_problems<double>(make, 20, DualShape{8, 3, 0.3, true, 0.1}, 1e-10,
                                                100000);
  carom::testing::check_random_problems<double>(make, 20, DualShape{8, 3, 0.5, false, 0.01}, 1e-10,
                                                200000);
}

TEST_CASE("gauss_seidel: one contact is solved in one sweep, exactly", "[solvers][law]") {
  VectorSource<double> source(5u);
  for (int round = 0; round < 50; ++round) {
    const auto problem = assemble_dual(draw_dual(source, {1, 1, 2.0, false, 0.05}));
    for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
      VectorX<double> impulse = VectorX<double>::Zero(3);
      const auto report = make(law, 1e-13, 3).solve(problem, impulse);
      CHECK(report.converged());
      CHECK(report.iterations <= 1);
    }
  }
}

TEST_CASE("gauss_seidel: order, relaxation and sleep change the way, not the answer",
          "[solvers][law]") {
  VectorSource<double> source(6u);
  for (int round = 0; round < 2; ++round) {
    const auto problem = assemble_dual(draw_dual(source, {16, 6, 0.2, true, 0.2}));
    for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
      VectorX<double> expected = VectorX<double>::Zero(problem.row_count());
      CHECK(make(law, 1e-11, 100000).solve(problem, expected).converged());
      for (const VisitOrder order :
           {VisitOrder::forward, VisitOrder::alternating, VisitOrder::outward}) {
        for (const double relaxation : {0.7, 1.2}) {
          for (const int visits : {1, 1000000}) {
            GaussSeidel<double> solver({.law = law,
                                        .tolerance = 1e-11,
                                        .iteration_limit = 100000,
                                        .relaxation = relaxation,
                                        .order = order,
                                        .visits_to_sleep = visits});
            VectorX<double> impulse = VectorX<double>::Zero(problem.row_count());
            CAPTURE(round, to_string(law), int(order), relaxation, visits);
            CHECK(solver.solve(problem, impulse).converged());
            CHECK((impulse - expected).norm() <= by_solver(1e-8) * (1 + expected.norm()));
          }
        }
      }
    }
  }
}

TEST_CASE("gauss_seidel: sweeps alone are those of solve", "[solvers][law]") {
  VectorSource<double> source(7u);
  const auto problem = assemble_dual(draw_dual(source, {12, 4, 0.3, true, 0.1}));
  GaussSeidel<double> solver({.tolerance = 1e-10, .iteration_limit = 1000});
  solver.prepare(problem);
  VectorX<double> parts = VectorX<double>::Zero(3 * problem.part_count()), rows;
  double change = 1;
  for (int k = 0; k < 40; ++k) change = solver.sweep(problem, carom::as_span(parts), 10);
  problem.write_rows(parts, rows);
  CHECK(change <= by_solver(1e-10));
  CHECK(certify(problem, rows, FrictionLaw::coulomb).natural_map_error <= by_solver(1e-10));
}

TEST_CASE("gauss_seidel: elliptic friction with one coefficient of zero is planar",
          "[solvers][law]") {
  VectorSource<double> source(8u);
  for (int round = 0; round < 20; ++round) {
    auto data = draw_dual(source, {1, 1, 0.5, false, 0.05});
    for (const int axis : {0, 1}) {
      carom::Vector3<double> mu(0, 0, 0);
      mu(axis) = 0.4;
      data.sets[0] = carom::cone_impulses<double>(carom::ImpulseShape::elliptic, mu);
      VectorX<double> impulse = VectorX<double>::Zero(3);
      CHECK(make(FrictionLaw::coulomb, 1e-12, 10).solve(assemble_dual(data), impulse).converged());
      CHECK(impulse(1 - axis) == 0);
      auto planar = data;
      planar.sets[0] = carom::cone_impulses<double>(carom::ImpulseShape::planar, {0.4, 0, 0});
      const Eigen::Vector2i rows(axis, 2);
      planar.w = data.w(rows, rows).eval();
      planar.q = data.q(rows).eval();
      planar.r = data.r(rows).eval();
      VectorX<double> flat = VectorX<double>::Zero(2);
      CHECK(make(FrictionLaw::coulomb, 1e-12, 10).solve(assemble_dual(planar), flat).converged());
      CHECK((flat - impulse(rows)).norm() <= rounding(5000, 1.0) * (1 + flat.norm()));
    }
  }
}

TEST_CASE("gauss_seidel: contacts with adhesion", "[solvers][law]") {
  // A shifted cone: γ + s ∈ ℱ. The problem in γ + s has the load q − W s.
  VectorSource<double> source(9u);
  for (int round = 0; round < 20; ++round) {
    auto data = draw_dual(source, {1, 1, 0.5, false, 0.0});
    auto shifted = data;
    const Eigen::Vector3d shift(0.1, -0.2, 0.4);
    shifted.sets[0].shift.head<3>() = shift;
    data.q -= data.w * shift;
    VectorX<double> plain = VectorX<double>::Zero(3), moved = plain;
    for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
      CHECK(make(law, 1e-12, 50).solve(assemble_dual(data), plain).converged());
      CHECK(make(law, 1e-12, 50).solve(assemble_dual(shifted), moved).converged());
      CHECK((moved + shift - plain).norm() <= by_solver(1e-10) * (1 + plain.norm()));
    }
  }
}

TEST_CASE("gauss_seidel: a tolerance below round-off ends when nothing changes", "[solvers][law]") {
  VectorSource<double> source(10u);
  const int ended =
      carom::testing::count_ended_at_rest(make, FrictionLaw::coulomb, 100000, 1e-13, [&](int) {
        return assemble_dual(draw_dual(source, {6, 3, 0.3, false, 0.1}));
      });
  CHECK(ended > 10);
}

TEST_CASE("gauss_seidel: nothing to do, in any order", "[solvers][law]") {
  const carom::DelassusProblem<double> empty;
  for (const VisitOrder order :
       {VisitOrder::forward, VisitOrder::alternating, VisitOrder::outward}) {
    GaussSeidel<double> solver({.order = order});
    VectorX<double> impulse;
    CHECK(solver.solve(empty, impulse).converged());
    CHECK(impulse.size() == 0);
  }
}

TEST_CASE("gauss_seidel: rows with a coefficient of zero have no impulse, the others as without",
          "[solvers][law]") {
  VectorSource<double> source(11u);
  for (int round = 0; round < 10; ++round) {
    const Eigen::MatrixXd factor = source.vector<16>(1, 0).reshaped(4, 4);
    carom::testing::DualData spun, plain;
    spun.w = factor * factor.transpose() + 0.1 * Eigen::Matrix4d::Identity();
    spun.q = source.vector<4>(1, 0);
    spun.q(2) = -std::abs(spun.q(2));
    spun.r = Eigen::Vector4d::Zero();
    plain.w = spun.w.topLeftCorner<3, 3>();
    plain.q = spun.q.head<3>();
    plain.r = Eigen::Vector3d::Zero();
    spun.sets = {
        carom::cone_impulses<double>(carom::ImpulseShape::ellipsoidal_torsional, {0.4, 0, 0})};
    plain.sets = {carom::cone_impulses<double>(carom::ImpulseShape::friction, {0.4, 0, 0})};
    auto smooth = plain;
    smooth.sets = {carom::cone_impulses<double>(carom::ImpulseShape::elliptic, {0, 0, 0})};
    for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
      VectorX<double> expected = VectorX<double>::Zero(3), impulse = VectorX<double>::Zero(4);
      CHECK(make(law, 1e-12, 1000).solve(assemble_dual(plain), expected).converged());
      CHECK(make(law, 1e-12, 1000).solve(assemble_dual(spun), impulse).converged());
      CHECK(impulse(3) == 0);
      CHECK((impulse.head<3>() - expected).norm() <= by_solver(1e-9) * (1 + expected.norm()));
      expected.setZero();
      CHECK(make(law, 1e-12, 10).solve(assemble_dual(smooth), expected).converged());
      CHECK(expected.head<2>().isZero(0));
      CHECK(expected(2) == Approx(std::max(0.0, -plain.q(2) / plain.w(2, 2))));
    }
  }
}

TEST_CASE("gauss_seidel: rows that depend on each other are solved in proximal steps",
          "[solvers][law]") {
  for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
    auto data = carom::testing::make_block(1, 0.5, Eigen::Vector3d(-0.1, -0.1, -1));
    data.w(0, 1) = data.w(1, 0) = 1;  // both tangents along one direction, in which it sticks
    VectorX<double> impulse = VectorX<double>::Zero(3);
    CHECK(make(law, 1e-8, 100).solve(assemble_dual(data), impulse).converged());
    CHECK(impulse(0) + impulse(1) == Approx(0.1).epsilon(by_solver(1e-6)));
    CHECK(impulse(2) == Approx(1).epsilon(by_solver(1e-6)));

    data = carom::testing::make_block(1, 0.5, Eigen::Vector3d(-0.1, 0.2, 0.3));
    data.w(2, 2) = 0;  // a normal that nothing moves, of a contact that opens
    impulse.setConstant(1);
    CHECK(make(law, 1e-8, 100000).solve(assemble_dual(data), impulse).converged());
    CHECK(impulse.norm() <= by_solver(1e-6));
  }
}

TEST_CASE("gauss_seidel: what is beyond the range of the type is reported", "[solvers][input]") {
  for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
    const auto problem =
        assemble_dual(carom::testing::make_block(1, 0.5, Eigen::Vector3d(1e200, 0, -1e200)));
    VectorX<double> impulse = VectorX<double>::Zero(3);
    const auto report = make(law, 1e-8, 100).solve(problem, impulse);
    CHECK(report.status == carom::SolveStatus::not_finite);
    CHECK(report.iterations == 0);
    CHECK(impulse.isZero(0));
  }
}

TEST_CASE("gauss_seidel: an over-relaxed visit of a contact that opens ends at rest",
          "[solvers][law]") {
  const auto problem =
      assemble_dual(carom::testing::make_block(1, 0.5, Eigen::Vector3d(0.1, 0, 1)));
  for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
    GaussSeidel<double> solver({.law = law, .tolerance = 1e-12, .relaxation = 1.5});
    VectorX<double> impulse(3);
    impulse << 0.1, 0, 1;
    CHECK(solver.solve(problem, impulse).converged());
    CHECK(impulse.isZero(0));
  }
}

TEST_CASE("gauss_seidel: contacts of equal loads are visited outwards as they were added",
          "[solvers][law]") {
  auto data = carom::testing::make_block(1, 0.5, Eigen::Vector3d(0.1, 0, -1));
  const auto one = assemble_dual(data);
  data.sets.push_back(data.sets[0]);
  data.w = Eigen::MatrixXd::Identity(6, 6);
  data.q = data.q.replicate(2, 1).eval();
  data.r = Eigen::VectorXd::Zero(6);
  GaussSeidel<double> solver({.tolerance = 1e-12, .order = VisitOrder::outward});
  VectorX<double> single = VectorX<double>::Zero(3), both = VectorX<double>::Zero(6);
  CHECK(solver.solve(one, single).converged());
  CHECK(solver.solve(assemble_dual(data), both).converged());
  CHECK((both.head<3>() == single && both.tail<3>() == single));
}

}  // namespace gauss_seidel_test
