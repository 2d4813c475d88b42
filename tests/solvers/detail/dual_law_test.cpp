// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/detail/dual_law.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <Eigen/LU>

#include "support/catch.hpp"
#include "support/dual_problems.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace dual_law_test {

using carom::DelassusProblem, carom::FrictionLaw, carom::ImpulseShape, carom::Index;
using carom::RowNumbers;
using carom::detail::ContactEquation, carom::detail::DualLaw, carom::detail::PartBlocks;
using carom::testing::assemble_dual, carom::testing::draw_dual, carom::testing::DualData;
using carom::testing::rounding, carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

using Six = Eigen::Matrix<double, 6, 6>;
using Numbers = Eigen::Matrix<double, 6, 1>;

constexpr FrictionLaw laws[] = {FrictionLaw::coulomb, FrictionLaw::convex};

template <typename Scalar>
[[nodiscard]] Six joined(const PartBlocks<Scalar>& blocks, int parts) {
  Six result = Six::Zero();
  for (int a = 0; a < parts; ++a) {
    for (int b = 0; b < parts; ++b) {
      result.block<3, 3>(3 * a, 3 * b) = blocks.block[a][b].template cast<double>();
    }
  }
  return result;
}

/// Contacts of all shapes and their law, whose own W are of unlike size.
template <typename Scalar>
struct Case {
  DelassusProblem<Scalar> problem;
  DualLaw<Scalar> law;
  FrictionLaw kind;

  Case(const DualData& data, FrictionLaw given)
      : problem(assemble_dual<Scalar>(data)), kind(given) {
    law.prepare(problem, kind);
  }
  [[nodiscard]] int size(Index i) const { return 3 * problem.parts(i); }
  /// a of the contact's numbers: what a unit of velocity moves y by.
  [[nodiscard]] Numbers mobility(Index i) const {
    Numbers a = Numbers::Zero();
    const std::vector<Scalar> zeros(std::size_t(3 * problem.part_count()), Scalar(0));
    const std::vector<Scalar> ones(zeros.size(), Scalar(-1));
    Scalar y[6];
    law.write_trial(problem, i, zeros.data(), ones.data(), Scalar(1), y);
    for (int k = 0; k < size(i); ++k) a(k) = double(y[k]);
    return a;
  }
  [[nodiscard]] Numbers weights(Index i) const {
    Numbers w = Numbers::Zero();
    for (int k = 0; k < size(i); ++k)
      w(k) = double(law.inverse_mass(3 * problem.first_part(i) + k));
    return w;
  }
  [[nodiscard]] Numbers respond(Index i, const Numbers& y) const {
    Scalar given[6], answer[6];
    for (int k = 0; k < 6; ++k) given[k] = Scalar(y(k));
    law.respond(problem, i, given, answer);
    Numbers result = Numbers::Zero();
    for (int k = 0; k < size(i); ++k) result(k) = double(answer[k]);
    return result;
  }
  /// The law row by row, as carom states it for the certificate.
  [[nodiscard]] Numbers expected(Index i, const Numbers& y) const {
    const auto& set = problem.set(i);
    RowNumbers<Scalar> rows = RowNumbers<Scalar>::Zero(), metric = RowNumbers<Scalar>::Ones();
    const Numbers w = weights(i);
    const auto place = [&](int r) {
      const auto at = problem.place_of(i, r);
      return 3 * (at.part - problem.first_part(i)) + at.row;
    };
    for (int r = 0; r < set.rows; ++r) {
      rows(r) = Scalar(y(place(r)));
      metric(r) = Scalar(w(place(r)));
    }
    const RowNumbers<Scalar> answer = kind == FrictionLaw::coulomb
                                          ? coulomb_impulse(set, rows)
                                          : nearest_impulse(set, metric, rows);
    Numbers result = Numbers::Zero();
    for (int r = 0; r < set.rows; ++r) result(place(r)) = double(answer(r));
    return result;
  }
  /// D by central differences.
  [[nodiscard]] Six difference(Index i, const Numbers& y, double step) const {
    Six d = Six::Zero();
    for (int k = 0; k < size(i); ++k) {
      Numbers ahead = y, behind = y;
      ahead(k) += step;
      behind(k) -= step;
      d.col(k) = (respond(i, ahead) - respond(i, behind)) / (2 * step);
    }
    return d;
  }
  /// Whether the law is smooth within a distance, as far as second differences can tell.
  [[nodiscard]] bool smooth(Index i, const Numbers& y, double step) const {
    const Six coarse = difference(i, y, step), fine = difference(i, y, step / 16);
    const Six one_sided = [&] {
      Six d = Six::Zero();
      for (int k = 0; k < size(i); ++k) {
        Numbers ahead = y;
        ahead(k) += step;
        d.col(k) = (respond(i, ahead) - respond(i, y)) / step;
      }
      return d;
    }();
    return (coarse - fine).norm() < 1e-4 && (one_sided - fine).norm() < 1e-2;
  }
  [[nodiscard]] ContactEquation<Scalar> proximal(Index i, const Numbers& y, double rho,
                                                 bool coupled = true) const {
    Scalar given[6];
    for (int k = 0; k < 6; ++k) given[k] = Scalar(y(k));
    ContactEquation<Scalar> equation;
    law.write_proximal(problem, i, given, Scalar(rho), coupled, equation);
    return equation;
  }
  [[nodiscard]] ContactEquation<Scalar> direct(Index i, const Numbers& y, double epsilon) const {
    Scalar given[6];
    for (int k = 0; k < 6; ++k) given[k] = Scalar(y(k));
    ContactEquation<Scalar> equation;
    law.write_direct(problem, i, given, Scalar(epsilon), equation);
    return equation;
  }
};

/// Cones of all shapes, pushed and pulled; every number of y is drawn, absent rows are zero.
template <typename Scalar, typename Visit>
void for_each_trial(std::uint32_t seed, int rounds, const Visit& visit) {
  VectorSource<double> source(seed);
  for (int round = 0; round < rounds; ++round) {
    DualData data = draw_dual(source, {14, 4, 1.0, true, round % 2 == 0 ? 0.0 : 0.1});
    if (round % 3 == 0) {  // impulses that pull at no price
      for (auto& set : data.sets) {
        if (set.shape != ImpulseShape::intervals) set.shift(set.rows == 2 ? 1 : 2) = 0.3;
      }
    }
    for (const FrictionLaw kind : laws) {
      const Case<Scalar> given(data, kind);
      for (Index i = 0; i < given.problem.count(); ++i) {
        Numbers y = Numbers::Zero();
        for (int r = 0; r < given.problem.set(i).rows; ++r) {
          const auto at = given.problem.place_of(i, r);
          const double entry = 2 * source.unit() - (at.row == 2 ? 0.6 : 1.0);
          y(3 * (at.part - given.problem.first_part(i)) + at.row) = entry;
        }
        visit(given, i, y);
      }
    }
  }
}

[[nodiscard]] double scale_of(const Six& matrix) {
  return 1 + matrix.cwiseAbs().maxCoeff();
}

}  // namespace

TEMPLATE_TEST_CASE("dual_law: the response is the law's, in parts", "[solvers][law]", float,
                   double) {
  WorstCase same("response"), still("absent rows");
  for_each_trial<TestType>(51u, 30, [&](const Case<TestType>& given, Index i, const Numbers& y) {
    const Numbers response = given.respond(i, y);
    same.see((response - given.expected(i, y)).norm(),
             rounding<double>(4, std::numeric_limits<TestType>::epsilon() /
                                     std::numeric_limits<double>::epsilon()),
             y, int(given.problem.set(i).shape));
    for (Index p = 0; p < given.problem.parts(i); ++p) {
      for (int r = 0; r < 3; ++r) {
        if (given.problem.present(given.problem.first_part(i) + p, r)) continue;
        still.see_holds(response(3 * p + r) == 0);
      }
    }
  });
  same.check(800);
  still.check(100);
}

TEST_CASE(
    "dual_law: a is 1/w of the part, in proportion to the square of friction where that "
    "differs",
    "[solvers][law]") {
  WorstCase weights("w"), steps("a");
  for_each_trial<double>(52u, 10, [&](const Case<double>& given, Index i, const Numbers&) {
    const auto& problem = given.problem;
    const Numbers w = given.weights(i), a = given.mobility(i);
    for (int k = 0; k < given.size(i); ++k) {
      const Index part = problem.first_part(i) + k / 3;
      int present = 0;
      for (int r = 0; r < 3; ++r) present += problem.present(part, r);
      const double own = problem.diagonal(part).trace() / present;
      weights.see(std::abs(w(k) - own), rounding(4, own));
      double share = 1;
      const auto& set = problem.set(i);
      if (given.kind == FrictionLaw::coulomb && set.shape == ImpulseShape::elliptic && k < 2) {
        const double largest = std::max(set.friction(0), set.friction(1));
        if (largest > 0) share = std::pow(set.friction(k) / largest, 2);
      }
      steps.see(std::abs(a(k) * w(k) - share), rounding(4, 1.0));
    }
  });
  weights.check(500);
  steps.check(500);
}

TEST_CASE("dual_law: fixed points are the solutions of the certificate", "[solvers][oracle]") {
  // γ = 𝒞(γ − a ∘ u) exactly where the natural map vanishes: take γ = 𝒞(y), u = (γ − y)/a.
  WorstCase zero("natural map");
  for_each_trial<double>(53u, 30, [&](const Case<double>& given, Index i, const Numbers& y) {
    const auto& set = given.problem.set(i);
    const Numbers gamma = given.respond(i, y), a = given.mobility(i);
    Numbers u = Numbers::Zero();
    for (int k = 0; k < given.size(i); ++k) {
      if (a(k) > 0) u(k) = (gamma(k) - y(k)) / a(k);
    }
    RowNumbers<double> impulse = RowNumbers<double>::Zero(), velocity = impulse;
    for (int r = 0; r < set.rows; ++r) {
      const auto at = given.problem.place_of(i, r);
      const Index k = 3 * (at.part - given.problem.first_part(i)) + at.row;
      impulse(r) = gamma(k);
      velocity(r) = u(k);
    }
    const double map =
        carom::detail::natural_map_squared(given.kind, set, impulse, velocity, given.weights(i)(0));
    zero.see(std::sqrt(map), 1e-13 * (1 + u.norm() + given.weights(i).maxCoeff()), int(set.shape),
             y, to_string(given.kind));
  });
  zero.check(800);
}

TEMPLATE_TEST_CASE("dual_law: P and Q of a proximal step against dense inverses",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  const double unit = double(std::numeric_limits<Scalar>::epsilon());
  WorstCase p("P"), q("Q"), idle("inactive");
  for_each_trial<Scalar>(54u, 30, [&](const Case<Scalar>& given, Index i, const Numbers& y) {
    // D is read off the direct equation, Q = w (I − D) with ε = 0.
    const int size = given.size(i), parts = given.problem.parts(i);
    const Numbers w = given.weights(i), a = given.mobility(i);
    const auto direct = given.direct(i, y, 0);
    Six d = Six::Zero();
    d.topLeftCorner(size, size) = Eigen::MatrixXd::Identity(size, size);
    for (int r = 0; r < size; ++r) d.row(r) -= joined(direct.q, parts).row(r) / w(r);
    for (const double rho : {1.0, 1e-2, 1e-5}) {
      const auto equation = given.proximal(i, y, rho);
      const Six given_p = joined(equation.p, parts), given_q = joined(equation.q, parts);
      Six n = rho * Six::Identity() + d * (a.cwiseProduct(w)).asDiagonal();
      n = n.inverse().eval();
      Six expected_p = w.asDiagonal() * n * d * a.asDiagonal();
      Six expected_q = rho * (w.asDiagonal() * n);
      if (!equation.active) {
        idle.see_holds(joined(equation.p, parts).isZero(0) && d.isZero(100 * unit));
      }
      expected_p.bottomRightCorner(6 - size, 6 - size).setZero();
      expected_q.bottomRightCorner(6 - size, 6 - size).setZero();
      const double loss = 100 * unit * scale_of(d) * scale_of(n * rho) / rho;
      p.see((given_p - expected_p).norm(), loss * scale_of(expected_p), y, rho,
            int(given.problem.set(i).shape), to_string(given.kind));
      q.see((given_q - expected_q).norm(), loss * scale_of(expected_q) * w.maxCoeff(), y, rho,
            int(given.problem.set(i).shape), to_string(given.kind));
    }
  });
  p.check(2000);
  q.check(2000);
  idle.check(100);
}

TEST_CASE("dual_law: P and Q from differences of the response alone", "[solvers][derivative]") {
  WorstCase proximal_p("proximal P"), proximal_q("proximal Q"), direct_p("direct P"),
      direct_q("direct Q");
  long seen[7] = {};  // the last are rolling cones without spin
  for_each_trial<double>(55u, 30, [&](const Case<double>& given, Index i, const Numbers& y) {
    if (!given.smooth(i, y, 1e-3)) return;
    ++seen[std::min(int(given.problem.set(i).shape), 6)];
    const int size = given.size(i), parts = given.problem.parts(i);
    const Numbers w = given.weights(i), a = given.mobility(i);
    const Six d = given.difference(i, y, 1e-5);
    const double epsilon = 0.01;
    const auto equation = given.direct(i, y, epsilon);
    Six identity = Six::Zero();
    identity.topLeftCorner(size, size).setIdentity();
    const Six expected = w.asDiagonal() * d * a.asDiagonal();
    direct_p.see((joined(equation.p, parts) - expected).norm(), 1e-6 * scale_of(expected), y,
                 int(given.problem.set(i).shape), to_string(given.kind));
    const Six rest = w.asDiagonal() * (identity - d + epsilon * d);
    direct_q.see((joined(equation.q, parts) - rest).norm(), 1e-6 * scale_of(rest), y);
    const double rho = 0.1;
    const auto step = given.proximal(i, y, rho);
    const Six n = (rho * Six::Identity() + d * (a.cwiseProduct(w)).asDiagonal()).inverse();
    const Six given_p = w.asDiagonal() * n * d * a.asDiagonal();
    const Six given_q = rho * (w.asDiagonal() * n * identity);
    proximal_p.see((joined(step.p, parts) - given_p).norm(), 1e-4 * scale_of(given_p), y,
                   int(given.problem.set(i).shape), to_string(given.kind));
    proximal_q.see((joined(step.q, parts) - given_q).norm(), 1e-4 * scale_of(given_q), y,
                   int(given.problem.set(i).shape), to_string(given.kind));
  });
  for (const WorstCase* law : {&proximal_p, &proximal_q, &direct_p, &direct_q}) law->check(400);
  for (int shape = 0; shape < 6; ++shape) CHECK(seen[shape] > 20);
}

TEST_CASE("dual_law: the solution of P W x + Q x = h is Newton's step of the proximal map",
          "[solvers][oracle]") {
  // γ + x − 𝒞(y) − D (−a ∘ (W x)/ρ) = 0 to first order: x + D a W x/ρ = −gap.
  WorstCase near("step");
  VectorSource<double> source(56u);
  for_each_trial<double>(57u, 10, [&](const Case<double>& given, Index i, const Numbers& y) {
    if (!given.smooth(i, y, 1e-3)) return;
    const int size = given.size(i), parts = given.problem.parts(i);
    const double rho = 0.3;
    Six root = Six::Zero();
    for (int c = 0; c < size; ++c) {
      for (int r = 0; r < size; ++r) root(r, c) = source.unit() - 0.5;
    }
    const Six inverse_mass = root * root.transpose();
    Numbers gap = Numbers::Zero();
    for (int r = 0; r < size; ++r) gap(r) = source.unit() - 0.5;
    const auto step = given.proximal(i, y, rho);
    const Six q = joined(step.q, parts), p = joined(step.p, parts);
    const Numbers h = -q * gap;
    const Six system = p * inverse_mass + q;
    const Numbers x = [&] {
      Numbers result = Numbers::Zero();
      result.head(size) = system.topLeftCorner(size, size).partialPivLu().solve(h.head(size));
      return result;
    }();
    const Numbers a = given.mobility(i);
    const Six d = given.difference(i, y, 1e-5);
    const Numbers rest = x + d * (a.cwiseProduct(inverse_mass * x)) / rho + gap;
    near.see(rest.norm(), 1e-4 * (1 + x.norm()), y, int(given.problem.set(i).shape));
  });
  near.check(100);
}

TEST_CASE("dual_law: the quick path of a triple is the general one of an elliptic cone",
          "[solvers][law]") {
  WorstCase response("response"), p("P"), q("Q"), same("active");
  VectorSource<double> source(58u);
  int kinks = 0;
  for (int round = 0; round < 400; ++round) {
    DualData data = draw_dual(source, {1, 1, 1.0, false, 0.1});
    const double mu = source.pick({0, 0.1, 0.7, 5});
    data.sets[0] = carom::friction_impulses(mu);
    DualData other = data;
    other.sets[0] = carom::cone_impulses<double>(ImpulseShape::elliptic, {mu, mu, 0});
    const Case<double> quick(data, FrictionLaw::coulomb), general(other, FrictionLaw::coulomb);
    Numbers y = Numbers::Zero();
    for (int k = 0; k < 3; ++k) y(k) = source.unit() < 0.15 ? 0 : 2 * source.unit() - 0.7;
    kinks += y.head<2>().isZero(0);
    response.see((quick.respond(0, y) - general.respond(0, y)).norm(), 1e-15, y, mu);
    for (const double rho : {1.0, 0.01, 1e-4}) {
      for (const bool coupled : {true, false}) {
        const auto a = quick.proximal(0, y, rho, coupled), b = general.proximal(0, y, rho, coupled);
        const double w = quick.weights(0)(0), loss = 4e-14 * (1 + mu) / rho;
        same.see_holds(a.active == b.active, y, mu);
        p.see((joined(a.p, 1) - joined(b.p, 1)).norm(), loss, y, mu, rho, int(coupled));
        q.see((joined(a.q, 1) - joined(b.q, 1)).norm(), loss * w, y, mu, rho, int(coupled));
      }
    }
  }
  CHECK(kinks > 3);
  for (const WorstCase* law : {&response, &p, &q, &same}) law->check(400);
}

TEST_CASE("dual_law: uncoupled, friction does not follow the normal", "[solvers][law]") {
  WorstCase held("P from the normal to friction"), kept("P otherwise");
  for_each_trial<double>(59u, 20, [&](const Case<double>& given, Index i, const Numbers& y) {
    const auto& set = given.problem.set(i);
    if (given.kind != FrictionLaw::coulomb || set.shape == ImpulseShape::intervals) return;
    const int parts = given.problem.parts(i);
    const Six p = joined(given.proximal(i, y, 0.1, false).p, parts);
    const Six full = joined(given.proximal(i, y, 0.1, true).p, parts);
    for (int r = 0; r < given.size(i); ++r) {
      if (r != 2) held.see_holds(p(r, 2) == 0, y, int(set.shape));
      for (int c = 0; c < given.size(i); ++c) {
        if (c != 2) kept.see(std::abs(p(r, c) - full(r, c)), 1e-12 * scale_of(full), y);
      }
    }
  });
  held.check(300);
  kept.check(300);
}

TEST_CASE("dual_law: contacts without inverse mass take the mean's", "[solvers][law]") {
  DualData data = carom::testing::make_block(1, 0.5, {1, 0, -1});
  data.sets.push_back(carom::friction_impulses(0.5));
  data.w.conservativeResizeLike(Eigen::MatrixXd::Zero(6, 6));
  data.q.conservativeResizeLike(Eigen::VectorXd::Zero(6));
  data.r.setZero(6);
  const Case<double> given(data, FrictionLaw::coulomb);
  CHECK(given.weights(1).head<3>() == Eigen::Vector3d::Constant(0.5));
  data.w.setZero();
  const Case<double> none(data, FrictionLaw::convex);
  CHECK(none.weights(0).head<3>() == Eigen::Vector3d::Ones());
  CHECK(none.mobility(0).head<3>() == Eigen::Vector3d::Ones());
}

TEST_CASE("dual_law: ellipsoidal cones over two parts share one w, and fixed points solve",
          "[solvers][oracle]") {
  VectorSource<double> source(60u);
  WorstCase weights("w"), response("response"), zero("natural map");
  for (int round = 0; round < 60; ++round) {
    DualData data = draw_dual(source, {10, 4, 1.0, true, 0.1});
    for (auto& set : data.sets) {
      if (set.shape == ImpulseShape::torsional) set.shape = ImpulseShape::ellipsoidal_torsional;
      if (set.shape == ImpulseShape::rolling) set.shape = ImpulseShape::ellipsoidal_rolling;
    }
    for (const FrictionLaw kind : laws) {
      const Case<double> given(data, kind);
      for (Index i = 0; i < given.problem.count(); ++i) {
        const auto& set = given.problem.set(i);
        if (set.shape != ImpulseShape::ellipsoidal_torsional &&
            set.shape != ImpulseShape::ellipsoidal_rolling) {
          continue;
        }
        const Index part = given.problem.first_part(i);
        const double own =
            (given.problem.diagonal(part).trace() + given.problem.diagonal(part + 1).trace()) /
            set.rows;
        const Numbers w = given.weights(i), a = given.mobility(i);
        weights.see((w - Numbers::Constant(own)).norm(), rounding(8, own));
        Numbers y = Numbers::Zero();
        RowNumbers<double> impulse = RowNumbers<double>::Zero(), velocity = impulse;
        const auto place = [&](int r) {
          const auto at = given.problem.place_of(i, r);
          return Index(3 * (at.part - part) + at.row);
        };
        for (int r = 0; r < set.rows; ++r) y(place(r)) = 2 * source.unit() - (r == 2 ? 0.6 : 1.0);
        const Numbers gamma = given.respond(i, y);
        response.see((gamma - given.expected(i, y)).norm(), 1e-14);
        for (int r = 0; r < set.rows; ++r) {
          const Index k = place(r);
          impulse(r) = gamma(k);
          if (a(k) > 0) velocity(r) = (gamma(k) - y(k)) / a(k);
        }
        const double map = carom::detail::natural_map_squared(kind, set, impulse, velocity, own);
        zero.see(std::sqrt(map), 1e-13 * (1 + velocity.norm() + own), int(set.shape), y,
                 to_string(kind));
      }
    }
  }
  weights.check(100);
  response.check(100);
  zero.check(100);
}

}  // namespace dual_law_test
