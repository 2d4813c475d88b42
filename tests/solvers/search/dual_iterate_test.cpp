// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/search/dual_iterate.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "support/catch.hpp"
#include "support/dual_problems.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace dual_iterate_test {

using carom::DelassusProblem, carom::FrictionLaw, carom::ImpulseSet, carom::ImpulseShape;
using carom::Index, carom::RowNumbers, carom::SolveStatus, carom::VectorX;
using carom::detail::DualIterate, carom::detail::gather_rows;
using carom::testing::assemble_dual, carom::testing::draw_dual, carom::testing::DualData;
using carom::testing::make_block, carom::testing::rounding, carom::testing::VectorSource;
using carom::testing::WorstCase;

namespace {

constexpr FrictionLaw laws[] = {FrictionLaw::coulomb, FrictionLaw::convex};

/// A problem with blocks of every shape, some of them pulled by adhesion.
[[nodiscard]] DualData draw_mixed(VectorSource<double>& source, int contacts) {
  DualData data = draw_dual(source, {contacts, 4, 0.5, true, 0.1});
  for (auto& set : data.sets) {
    if (set.shape != ImpulseShape::intervals && source.unit() < 0.3)
      set.shift(set.rows == 2 ? 1 : 2) = 0.2;
  }
  return data;
}
template <typename Scalar>
[[nodiscard]] VectorX<Scalar> draw_rows(VectorSource<double>& source,
                                        const DelassusProblem<Scalar>& problem) {
  VectorX<Scalar> rows(problem.row_count());
  for (Index r = 0; r < rows.size(); ++r) rows(r) = Scalar(2 * source.unit() - 1);
  return rows;
}
template <typename Scalar>
[[nodiscard]] VectorX<Scalar> parts_of(const DelassusProblem<Scalar>& problem,
                                       const VectorX<Scalar>& rows) {
  VectorX<Scalar> parts = VectorX<Scalar>::Zero(3 * problem.part_count());
  problem.write_parts(rows, parts);
  return parts;
}
template <typename Scalar>
[[nodiscard]] VectorX<Scalar> rows_of(const DelassusProblem<Scalar>& problem, const Scalar* parts) {
  VectorX<Scalar> copy = Eigen::Map<const VectorX<Scalar>>(parts, 3 * problem.part_count()), rows;
  problem.write_rows(copy, rows);
  return rows;
}

/// Σ μ_b ‖u_b‖ over the shapes without an ellipse, by hand.
[[nodiscard]] double lift_by_hand(const ImpulseSet<double>& set, const RowNumbers<double>& u) {
  const Eigen::Vector3d mu = set.friction;
  switch (set.shape) {
    case ImpulseShape::friction:
      return mu(0) * std::hypot(u(0), u(1));
    case ImpulseShape::planar:
      return mu(0) * std::abs(u(0));
    case ImpulseShape::elliptic:
      return std::hypot(mu(0) * u(0), mu(1) * u(1));
    case ImpulseShape::torsional:
      return mu(0) * std::hypot(u(0), u(1)) + mu(1) * std::abs(u(3));
    case ImpulseShape::spinless_rolling:
      return mu(0) * std::hypot(u(0), u(1)) + mu(1) * std::hypot(u(3), u(4));
    case ImpulseShape::rolling:
      return mu(0) * std::hypot(u(0), u(1)) + mu(1) * std::hypot(u(3), u(4)) +
             mu(2) * std::abs(u(5));
    default:
      return 0;
  }
}

}  // namespace

TEST_CASE("dual_iterate: impulses go to the nearest of each contact's set", "[solvers][oracle]") {
  VectorSource<double> source(1);
  WorstCase nearest("nearest impulse");
  for (int round = 0; round < 10; ++round) {
    const auto problem = assemble_dual(draw_mixed(source, 14));
    const VectorX<double> rows = draw_rows(source, problem);
    VectorX<double> parts = parts_of(problem, rows);
    carom::detail::project_all(problem, parts.data());
    const VectorX<double> moved = rows_of(problem, parts.data());
    for (Index i = 0; i < problem.count(); ++i) {
      const Index first = problem.first_row(i), count = problem.set(i).rows;
      RowNumbers<double> own = RowNumbers<double>::Zero();
      own.head(count) = rows.segment(first, count);
      const RowNumbers<double> ones = RowNumbers<double>::Ones();
      const RowNumbers<double> wanted = nearest_impulse(problem.set(i), ones, own);
      nearest.see((moved.segment(first, count) - wanted.head(count)).norm(), rounding(10, 1.0),
                  int(problem.set(i).shape));
    }
  }
  nearest.check(140);
}

TEST_CASE("dual_iterate: De Saxcé's term is the sum of μ times the slip of each disc",
          "[solvers][oracle]") {
  VectorSource<double> source(2);
  WorstCase lifts("the term"), normals("the place of the normal"), back("rows scattered");
  for (int round = 0; round < 10; ++round) {
    const auto problem = assemble_dual(draw_mixed(source, 14));
    VectorX<double> parts = parts_of(problem, draw_rows(source, problem));
    for (Index i = 0; i < problem.count(); ++i) {
      const ImpulseSet<double>& set = problem.set(i);
      const RowNumbers<double> u = gather_rows(problem, i, parts.data());
      lifts.see(
          std::abs(carom::detail::de_saxce_lift(problem, i, parts.data()) - lift_by_hand(set, u)),
          rounding(20, 1.0), int(set.shape));
      const int normal = set.shape == ImpulseShape::intervals ? 0
                         : set.shape == ImpulseShape::planar  ? 1
                                                              : 2;
      normals.see_holds(parts(normal_place(problem, i)) == u(normal), int(set.shape));
      RowNumbers<double> other = u;
      for (int r = 0; r < set.rows; ++r) other(r) = double(10 * i + r);
      scatter_rows(problem, i, other, parts.data());
      back.see_holds(gather_rows(problem, i, parts.data()) == other);
    }
  }
  lifts.check(140);
  normals.check(140);
  back.check(140);
}

TEMPLATE_TEST_CASE("dual_iterate: the map of a fixed term is that of the law it comes from",
                   "[solvers][law]", float, double) {
  // With De Saxcé's term of the velocity itself it is Coulomb's law, with none the convex one.
  using Scalar = TestType;
  VectorSource<double> source(3);
  WorstCase same("natural map");
  for (int round = 0; round < 10; ++round) {
    const auto problem = assemble_dual<Scalar>(draw_mixed(source, 14));
    DualIterate<Scalar> iterate;
    iterate.reserve(problem);
    REQUIRE(iterate.start(problem, draw_rows(source, problem)));
    for (const FrictionLaw law : laws) {
      const Scalar error = iterate.measure(problem, law);
      std::vector<Scalar> lift(std::size_t(problem.count()), Scalar(0));
      for (Index i = 0; i < problem.count() && law == FrictionLaw::coulomb; ++i) {
        lift[std::size_t(i)] = carom::detail::de_saxce_lift(problem, i, iterate.velocity());
      }
      const Scalar held =
          held_natural_map(problem, iterate.impulse(), iterate.velocity(), lift.data());
      same.see(std::abs(held - iterate.map_norm()), rounding<Scalar>(100, held), round);
      same.see_holds(error > Scalar(0) && error * problem.load_norm() <= held * Scalar(1.01));
    }
  }
  same.check(40);
}

TEST_CASE("dual_iterate: a contact's weight is the mean of its diagonal of W + R, with a floor",
          "[solvers][oracle]") {
  VectorSource<double> source(4);
  WorstCase means("weights"), floors("floor");
  for (int round = 0; round < 6; ++round) {
    DualData data = draw_mixed(source, 14);
    data.r.setZero();
    const Index weak = data.sets[0].rows;  // of the first contact W is nearly zero
    data.w.topRows(weak) *= 1e-6;
    data.w.leftCols(weak) *= 1e-6;
    if (round == 0) data.r.array() += 3;
    const auto problem = assemble_dual(data);
    const double mean = (data.w.diagonal() + data.r).mean();
    std::vector<double> weights(std::size_t(3 * problem.part_count()));
    write_contact_weights(problem, weights.data());
    for (Index i = 0; i < problem.count(); ++i) {
      const Index first = problem.first_row(i), count = problem.set(i).rows;
      const double own = (data.w.diagonal() + data.r).segment(first, count).mean();
      const double wanted = std::max(own, 1e-3 * mean);
      if (own < 1e-3 * mean) floors.see_holds(i == 0);
      for (int k = 0; k < 3 * problem.parts(i); ++k) {
        means.see(std::abs(weights[std::size_t(3 * problem.first_part(i) + k)] - wanted),
                  rounding(20, wanted));
      }
    }
  }
  means.check(250);
  floors.check(5);
}

TEMPLATE_TEST_CASE("dual_iterate: errors are those of the certificate, and the best impulse stays",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(5);
  for (const FrictionLaw law : laws) {
    const auto problem = assemble_dual<Scalar>(draw_mixed(source, 10));
    DualIterate<Scalar> iterate;
    iterate.reserve(problem);
    const VectorX<Scalar> guess = draw_rows(source, problem);
    REQUIRE(iterate.start(problem, guess));
    CHECK(rows_of(problem, iterate.best()) == guess);
    CHECK(iterate.best_error() == std::numeric_limits<Scalar>::infinity());
    VectorX<Scalar> best = VectorX<Scalar>::Zero(problem.row_count());
    Scalar least = std::numeric_limits<Scalar>::infinity();
    for (int k = 0; k < 8; ++k) {
      const VectorX<Scalar> rows = Scalar(k % 3 == 1 ? 0.1 : 2.0) * draw_rows(source, problem);
      const VectorX<Scalar> parts = parts_of(problem, rows);
      std::copy_n(parts.data(), parts.size(), iterate.impulse());
      const Scalar error = iterate.measure(problem, law);
      // The certificate is an upper bound by some roundings.
      const Scalar certified = certify(problem, rows, law).natural_map_error;
      CHECK(error <= certified);
      CHECK(certified - error <= rounding<Scalar>(2000, certified + Scalar(1)));
      if (error < least) {
        least = error;
        best = rows;
      }
      CHECK(iterate.best_error() == least);
      CHECK(rows_of(problem, iterate.best()) == best);
    }
    iterate.return_to_best();
    CHECK(rows_of<Scalar>(problem, iterate.impulse()) == best);
    // Its tolerance is met by an error just as large; other answers keep their status.
    VectorX<Scalar> answer = VectorX<Scalar>::Zero(problem.row_count());
    const auto met = iterate.finish(problem, SolveStatus::no_progress, 7, least, answer);
    CHECK(met.status == SolveStatus::converged);
    CHECK(met.iterations == 7);
    CHECK(met.residual == least);
    CHECK(met.residual_target == least);
    CHECK(met.error_bound == std::numeric_limits<Scalar>::infinity());
    CHECK(met.measure == carom::ResidualMeasure::natural_map);
    CHECK(answer == best);
    const Scalar less = std::nextafter(least, Scalar(0));
    CHECK(iterate.finish(problem, SolveStatus::deadline, 7, less, answer).status ==
          SolveStatus::deadline);
  }
}

TEST_CASE("dual_iterate: a guess outside of its sets is moved into them and measured there",
          "[solvers][example]") {
  // A block of 2 kg pushed down at 1 m/s: (3, 0, 0.5) N·s is outside of a cone of μ = 0.5, whose
  // nearest impulse has the normal (0.5 + 0.5 · 3)/1.25.
  const auto problem = assemble_dual(make_block(2, 0.5, {0, 0, -1}));
  DualIterate<double> iterate;
  iterate.reserve(problem);
  const Eigen::Vector3d nearest(0.8, 0, 1.6);
  REQUIRE(iterate.start(problem, Eigen::Vector3d(3, 0, 0.5)));
  static_cast<void>(iterate.measure(problem, FrictionLaw::coulomb));
  const double outside = iterate.best_error();
  iterate.confine_best(problem, FrictionLaw::coulomb);
  using Three = Eigen::Map<const Eigen::Vector3d>;
  CHECK((Three(iterate.impulse()) - nearest).norm() <= rounding(4, 1.6));
  CHECK(Three(iterate.best()) == Three(iterate.impulse()));
  CHECK((Three(iterate.velocity()) - Eigen::Vector3d(0.4, 0, -0.2)).norm() <= rounding(4, 1.0));
  const double certified = certify(problem, nearest, FrictionLaw::coulomb).natural_map_error;
  CHECK(std::abs(iterate.best_error() - certified) <= rounding(100, 1.0));
  CHECK(outside > 2 * certified);
  const double answer[] = {0, 0, 2};
  iterate.start_in_parts(answer);
  CHECK(iterate.best_error() == std::numeric_limits<double>::infinity());
  CHECK(iterate.best()[2] == 2);
  CHECK(iterate.measure(problem, FrictionLaw::coulomb) == 0);
  CHECK(iterate.map_norm() == 0);
}

TEST_CASE("dual_iterate: numbers that are not finite are no guess and no answer",
          "[solvers][example]") {
  const auto problem = assemble_dual(make_block(2, 0.5, {0, 0, -1}));
  DualIterate<double> iterate;
  iterate.reserve(problem);
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    REQUIRE(iterate.start(problem, Eigen::Vector3d(1, 2, 3)));
    CHECK_FALSE(iterate.start(problem, Eigen::Vector3d(0, bad, 0)));
    CHECK(Eigen::Map<const Eigen::Vector3d>(iterate.impulse()).isZero(0));
    VectorX<double> answer = Eigen::Vector3d(7, 8, 9);
    const auto report = iterate.finish(problem, SolveStatus::not_finite, 0, 1e-8, answer);
    CHECK(report.status == SolveStatus::not_finite);
    CHECK(answer == Eigen::Vector3d(7, 8, 9));
  }
  // Without a load the map is measured as it stands.
  const auto still = assemble_dual(make_block(2, 0.5, {0, 0, 0}));
  REQUIRE(iterate.start(still, Eigen::Vector3d(0, 0, 4)));
  static_cast<void>(iterate.measure(still, FrictionLaw::convex));
  CHECK(iterate.map_norm() > 0);
}

TEST_CASE("dual_iterate: a problem without contacts is solved by nothing", "[solvers][example]") {
  DelassusProblem<double> empty;
  empty.assemble();
  DualIterate<double> iterate;
  iterate.reserve(empty);
  VectorX<double> answer(0);
  REQUIRE(iterate.start(empty, answer));
  CHECK(iterate.measure(empty, FrictionLaw::coulomb) == 0);
  CHECK(iterate.finish(empty, SolveStatus::no_progress, 0, 1e-8, answer).converged());
}

}  // namespace dual_iterate_test
