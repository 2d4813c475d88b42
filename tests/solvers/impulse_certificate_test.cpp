// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/impulse_certificate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "carom/contact/delassus_form.hpp"
#include "carom/solvers/contact_certificate.hpp"

#include "support/catch.hpp"
#include "support/constrained_problem.hpp"
#include "support/law_oracle.hpp"
#include "support/random.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace impulse_certificate_test {

using carom::certify, carom::ImpulseCertificate, carom::DelassusProblem, carom::FrictionLaw;
using carom::ImpulseSet, carom::ImpulseShape, carom::Index, carom::MatrixX, carom::RowNumbers;
using carom::VectorX;
using carom::testing::by_conditioning;
using carom::testing::by_solver;
using carom::testing::convert_law, carom::testing::DenseDual, carom::testing::draw_constrained;
using carom::testing::draw_law, carom::testing::draw_matrix, carom::testing::draw_pair;
using carom::testing::lift_of, carom::testing::Long, carom::testing::OracleBlock;
using carom::testing::rounding, carom::testing::shape_of, carom::testing::slip_of;
using carom::testing::VectorSource, carom::testing::WorstCase;
using LongRows = RowNumbers<Long>;

namespace {

/// Contacts of all shapes with dense W + R and q, and impulses.
struct Case {
  std::vector<ImpulseSet<double>> sets;
  std::vector<Index> starts;
  Eigen::MatrixXd matrix;
  Eigen::VectorXd load, impulse;

  [[nodiscard]] Index count() const { return Index(sets.size()); }
  [[nodiscard]] auto rows_of(Index i, const auto& all) const {
    RowNumbers<typename std::remove_cvref_t<decltype(all)>::Scalar> rows;
    rows.setZero();
    const ImpulseSet<double>& set = sets[std::size_t(i)];
    rows.head(set.rows) = all.segment(starts[std::size_t(i)], set.rows);
    return rows;
  }
  [[nodiscard]] Eigen::VectorXd velocity() const { return matrix * impulse + load; }

  template <typename Scalar>
  [[nodiscard]] DelassusProblem<Scalar> build() const {
    DelassusProblem<Scalar> problem;
    for (std::size_t i = 0; i < sets.size(); ++i) {
      carom::WeightedBlock<double> law;
      law.set = sets[i];
      problem.add_contact(convert_law<Scalar>(law).set,
                          load.segment(starts[i], sets[i].rows).template cast<Scalar>().eval());
      for (std::size_t j = 0; j <= i; ++j) {
        problem.add_coupling(Index(i), Index(j),
                             matrix.block(starts[i], starts[j], sets[i].rows, sets[j].rows)
                                 .template cast<Scalar>()
                                 .eval());
      }
    }
    problem.assemble();
    return problem;
  }
};

enum class Start { anywhere, solved };

/// @param coupled  false: W is block diagonal.
Case draw_case(VectorSource<double>& source, FrictionLaw law, Start start, bool coupled) {
  Case drawn;
  Index rows = 0;
  for (int i = 0; i < 1 + int(source.unit() * 7); ++i) {
    drawn.sets.push_back(draw_law(source, int(source.unit() * 10)).set);
    drawn.starts.push_back(rows);
    rows += drawn.sets.back().rows;
  }
  const Eigen::MatrixXd jacobian = draw_matrix(source, rows, 1 + Index(source.unit() * 20));
  drawn.matrix = jacobian * jacobian.transpose();
  if (!coupled) {
    const Eigen::MatrixXd full = drawn.matrix;
    drawn.matrix.setZero();
    for (std::size_t i = 0; i < drawn.sets.size(); ++i) {
      const Index s = drawn.starts[i], n = drawn.sets[i].rows;
      drawn.matrix.block(s, s, n, n) = full.block(s, s, n, n) + Eigen::MatrixXd::Identity(n, n);
    }
  }
  drawn.impulse = draw_matrix(source, rows, 1);
  drawn.load = draw_matrix(source, rows, 1);
  if (start == Start::anywhere) return drawn;
  Eigen::VectorXd velocity(rows);
  for (Index i = 0; i < drawn.count(); ++i) {
    const auto& set = drawn.sets[std::size_t(i)];
    auto [gamma, u] = draw_pair(source, set);
    if (law == FrictionLaw::convex) {
      const RowNumbers<double> ones = RowNumbers<double>::Ones();
      const RowNumbers<double> y = 2 * draw_matrix(source, 6, 1);
      gamma = nearest_impulse(set, ones, y);
      u = gamma - y;
    }
    drawn.impulse.segment(drawn.starts[std::size_t(i)], set.rows) = gamma.head(set.rows);
    velocity.segment(drawn.starts[std::size_t(i)], set.rows) = u.head(set.rows);
  }
  drawn.load = velocity - drawn.matrix * drawn.impulse;
  return drawn;
}

/// The measures by their definitions, all in long double and nondimensional first.
struct Expected {
  Long relative = 0, absolute = 0, scale = 0, signorini = 0, violation = 0, power = 0;
  std::vector<Long> parts;  ///< of the natural map, per contact
};

Expected expect(const Case& drawn, FrictionLaw law) {
  Expected expected;
  const Index rows = drawn.load.size();
  const Long w = Long(drawn.matrix.trace()) / Long(rows), q = drawn.load.cast<Long>().norm();
  const VectorX<Long> gamma = drawn.impulse.cast<Long>();
  const VectorX<Long> u = drawn.matrix.cast<Long>() * gamma + drawn.load.cast<Long>();
  const VectorX<Long> r_hat = gamma * (w / q), u_hat = u / q;
  const LongRows ones = LongRows::Ones();
  Long squared = 0;
  for (Index i = 0; i < drawn.count(); ++i) {
    carom::WeightedBlock<double> scaled;
    scaled.set = drawn.sets[std::size_t(i)];
    ImpulseSet<Long> set = convert_law<Long>(scaled).set, plain = set;
    set.lower *= w / q;  // bounds and shifts scale as the impulses
    set.upper *= w / q;
    set.shift *= w / q;
    const int n = shape_of(set).normal;
    LongRows lifted = drawn.rows_of(i, u_hat);
    const bool lifts = n >= 0 && law == FrictionLaw::coulomb;
    if (lifts) lifted(n) += lift_of(set, lifted);
    const LongRows r = drawn.rows_of(i, r_hat),
                   near = nearest_impulse(set, ones, LongRows(r - lifted));
    squared += (r - near).squaredNorm();
    expected.parts.push_back((r - near).norm());
    const LongRows g = drawn.rows_of(i, gamma), v = drawn.rows_of(i, u);
    expected.violation = std::max(expected.violation, (g - nearest_impulse(plain, ones, g)).norm());
    if (n < 0) continue;
    const Long lift = lift_of(set, v), out = law == FrictionLaw::coulomb ? v(n) : v(n) - lift;
    expected.signorini =
        std::max(expected.signorini, std::abs(std::min((g(n) + plain.shift(n)) * w, out)));
    LongRows tilde = v;
    if (lifts) tilde(n) += lift;
    expected.power = std::max(expected.power, std::abs((g + plain.shift).dot(tilde)));
  }
  expected.absolute = std::sqrt(squared);
  expected.scale = q * std::max({Long(1), r_hat.norm(), u_hat.norm()});
  expected.relative = expected.absolute * q / expected.scale;
  return expected;
}

/// Largest angle between −γ_b/μ and μ ∘ u_b of blocks that are faster than a limit.
Long angle_of(const Case& drawn, Long at_rest) {
  Long angle = 0;
  const VectorX<double> u = drawn.velocity();
  for (Index i = 0; i < drawn.count(); ++i) {
    const auto& set = drawn.sets[std::size_t(i)];
    const RowNumbers<double> g = drawn.rows_of(i, drawn.impulse) + set.shift;
    const RowNumbers<double> v = drawn.rows_of(i, u);
    for (const OracleBlock& block : shape_of(set).blocks) {
      Long work = 0, reach = 0, widest = 0;
      for (std::size_t k = 0; k < block.rows.size(); ++k) {
        const Long mu = block.friction[k];
        widest = std::max(widest, mu);
        if (mu == 0) continue;
        work -= Long(g(block.rows[k])) * v(block.rows[k]);
        reach += g(block.rows[k]) / mu * (g(block.rows[k]) / mu);
      }
      const Long slip = slip_of(block, v);
      if (!(slip > at_rest * widest) || reach == 0) continue;
      angle = std::max(angle, std::acos(std::clamp(work / (slip * std::sqrt(reach)), -1.0L, 1.0L)));
    }
  }
  return angle;
}

}  // namespace

TEMPLATE_TEST_CASE("impulse_certificate: its measures are what they are defined as",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(71u);
  WorstCase relative("err"), absolute("err_abh"), signorini("Signorini"), violation("cone"),
      power("complementarity"), angle("dissipation angle"), worst("worst contact");
  for (int sample = 0; sample < 200; ++sample) {
    const FrictionLaw law = sample % 2 == 0 ? FrictionLaw::coulomb : FrictionLaw::convex;
    const Case drawn = draw_case(source, law, Start::anywhere, true);
    const auto problem = drawn.build<Scalar>();
    const VectorX<Scalar> impulse = drawn.impulse.cast<Scalar>();
    const ImpulseCertificate<Scalar> c = certify(problem, impulse, law);
    const Expected e = expect(drawn, law);
    const Long unit = rounding(2000, Scalar(1));
    const Long size = 1 + e.absolute / std::max(e.relative, 1e-30L);  // ‖u‖/‖q‖ and the like
    relative.see(std::abs(c.natural_map_error - e.relative), unit);
    absolute.see(std::abs(c.absolute_error - e.absolute), unit * size);
    const Long speed = Long(drawn.load.norm()) * size, reach = Long(drawn.impulse.norm()) + 2;
    signorini.see(std::abs(c.signorini - e.signorini), 4 * unit * speed);
    violation.see(std::abs(c.cone_violation - e.violation), unit * reach);
    power.see(std::abs(c.complementarity - e.power), 4 * unit * speed * reach);
    worst.see_holds(e.parts[std::size_t(c.worst_block)] >=
                    *std::max_element(e.parts.begin(), e.parts.end()) - unit * size);
    if constexpr (std::is_same_v<Scalar, double>) {
      const Long rest = e.relative * e.scale;
      angle.see(std::abs(c.dissipation_angle - angle_of(drawn, rest)), by_conditioning(1e-7L));
    }
  }
  for (const WorstCase* law : {&relative, &absolute, &signorini, &violation, &power, &worst}) {
    law->check(200);
  }
  if constexpr (std::is_same_v<Scalar, double>) angle.check(200);
}

TEMPLATE_TEST_CASE("impulse_certificate: at solutions every measure is zero", "[solvers][law]",
                   float, double) {
  using Scalar = TestType;
  VectorSource<double> source(72u);
  WorstCase zero("err"), others("the other measures"), angles("angle");
  for (int sample = 0; sample < 200; ++sample) {
    const FrictionLaw law = sample % 2 == 0 ? FrictionLaw::coulomb : FrictionLaw::convex;
    const Case drawn = draw_case(source, law, Start::solved, true);
    const auto problem = drawn.build<Scalar>();
    const VectorX<Scalar> impulse = drawn.impulse.cast<Scalar>();
    const ImpulseCertificate<Scalar> c = certify(problem, impulse, law);
    if (drawn.load.isZero(0)) continue;
    const Long unit = rounding(300, Scalar(1));
    const Long size = drawn.matrix.norm() * drawn.impulse.norm() + drawn.load.norm();
    const Long mean = drawn.matrix.trace() / Long(drawn.load.size());
    const Long stiff = drawn.load.norm() + mean * drawn.impulse.norm() + drawn.velocity().norm();
    zero.see(c.natural_map_error, 8 * unit * size / stiff, drawn.impulse);
    others.see(c.signorini, 8 * unit * size);
    others.see(c.cone_violation, unit * (1 + drawn.impulse.norm()));
    others.see(c.complementarity, 8 * unit * size * (3 + drawn.impulse.norm()));
    angles.see(c.dissipation_angle, by_conditioning(std::is_same_v<Scalar, double> ? 1e-6L : 0.2L),
               drawn.impulse);
  }
  zero.check(180);
  others.check(500);
  angles.check(180);
}

TEST_CASE("impulse_certificate: a contact that slides, in closed form", "[solvers][example]") {
  // W = I/2: γ = (−1.2, −1.6, 4), u = (2.4, 3.2, 0).
  DelassusProblem<double> problem;
  problem.add_contact(carom::friction_impulses(0.5), Eigen::Vector3d(3, 4, -2));
  problem.add_coupling(0, 0, Eigen::Matrix3d::Identity() / 2);
  problem.assemble();
  VectorX<double> impulse = Eigen::Vector3d(-1.2, -1.6, 4);
  auto c = certify(problem, impulse, FrictionLaw::coulomb);
  CHECK(c.natural_map_error <= rounding(64, 1.0));
  CHECK(c.absolute_error <= rounding(64, 1.0));
  CHECK(c.signorini <= rounding(8, 1.0));
  CHECK(c.cone_violation <= rounding(8, 1.0));
  CHECK(c.complementarity <= rounding(32, 1.0));
  CHECK(c.dissipation_angle <= rounding(8, 1.0));  // to the last digit: no arc cosine
  // The convex law has the contact separate with μ ‖uₜ‖: not with these impulses.
  c = certify(problem, impulse, FrictionLaw::convex);
  CHECK(c.signorini == Approx(2.0));  // μ ‖u_t‖
  CHECK(c.complementarity == Approx(8.0));
  CHECK(c.natural_map_error > 0.1);
  // Its own answer: P in the metric W of −W⁻¹ q = (−6, −8, 4), γₙ = (4 + 10 μ)/(1 + μ²).
  const double normal = 9 / 1.25;
  impulse = Eigen::Vector3d(-0.6 * normal / 2, -0.8 * normal / 2, normal);
  c = certify(problem, impulse, FrictionLaw::convex);
  CHECK(c.natural_map_error <= rounding(64, 1.0));
  CHECK(c.signorini <= rounding(8, 1.0));
  CHECK(c.complementarity <= rounding(32, 1.0));
  // Friction that drives, and friction across.
  impulse = Eigen::Vector3d(1.2, 1.6, 4);
  CHECK(certify(problem, impulse, FrictionLaw::coulomb).dissipation_angle > 3.1);
}

TEST_CASE(
    "impulse_certificate: an elliptic block without friction in one direction may slide there",
    "[solvers][example]") {
  DelassusProblem<double> problem;
  problem.add_contact(carom::cone_impulses<double>(ImpulseShape::elliptic, {0, 0.5, 0}),
                      Eigen::Vector3d(7, 3, -2));
  problem.add_coupling(0, 0, Eigen::Matrix3d::Identity() / 2);
  problem.assemble();
  const VectorX<double> impulse = Eigen::Vector3d(0, -2, 4);  // u = (7, 2, 0)
  const auto c = certify(problem, impulse, FrictionLaw::coulomb);
  CHECK(c.natural_map_error <= rounding(64, 1.0));
  CHECK(c.dissipation_angle <= rounding(8, 1.0));
  CHECK(c.signorini <= rounding(8, 1.0));
  const VectorX<double> driving = Eigen::Vector3d(0, 2, 4);  // u = (7, 4, 0)
  CHECK(certify(problem, driving, FrictionLaw::coulomb).dissipation_angle > 3.1);
}

TEST_CASE("impulse_certificate: it grows as the error does, and names the contact that is off",
          "[solvers][law]") {
  VectorSource<double> source(73u);
  WorstCase linear("doubles"), named("worst contact"), bounded("at most a multiple of the error");
  long kinks = 0;
  for (int sample = 0; sample < 200; ++sample) {
    const FrictionLaw law = sample % 2 == 0 ? FrictionLaw::coulomb : FrictionLaw::convex;
    const Case drawn = draw_case(source, law, Start::solved, false);
    const auto problem = drawn.build<double>();
    const Index off = Index(source.unit() * double(drawn.count()));
    const auto& set = drawn.sets[std::size_t(off)];
    Eigen::VectorXd change = Eigen::VectorXd::Zero(drawn.load.size());
    change.segment(drawn.starts[std::size_t(off)], set.rows) = draw_matrix(source, set.rows, 1);
    const double load = std::max(drawn.load.norm(), 1e-3);
    Long errors[3];
    for (int k = 0; k < 3; ++k) {
      const VectorX<double> impulse = drawn.impulse + std::ldexp(1e-6, k) * change;
      const auto c = certify(problem, impulse, law);
      errors[k] = c.natural_map_error;
      if (errors[k] > 1e-9L) named.see_holds(c.worst_block == off, drawn.impulse, change);
      bounded.see(errors[k], 20 * std::ldexp(1e-6, k) * change.norm() * (1 + drawn.matrix.norm()) *
                                 (1 + set.friction.norm()) / load);
    }
    if (errors[0] < 1e-9L) continue;
    const Long off_line = std::abs(errors[2] - 2 * errors[1]) / errors[1];
    kinks += off_line > 1e-3L ? 1 : 0;
    linear.see_holds(errors[2] > errors[0]);
  }
  CHECK(kinks <= 8);
  named.check(200);
  linear.check(100);
  bounded.check(600);
}

TEST_CASE("impulse_certificate: on the convex problem it agrees with the one of (v, impulse) pairs",
          "[solvers][law]") {
  VectorSource<double> source(74u);
  WorstCase agree("natural map"), worst("worst contact"), solved("solved");
  carom::DelassusForm<double> form;
  DelassusProblem<double> dual;
  const int solutions = carom::testing::sweep(3, 10), samples = 6 * solutions;
  for (int sample = 0; sample < samples; ++sample) {
    const auto raw = draw_constrained(source, {6, 1, 3}, 3);
    const auto problem = carom::testing::build(raw);
    const DenseDual dense(raw);
    form.write(problem, dual);
    Eigen::VectorXd impulse = draw_matrix(source, problem.impulse_count(), 1);
    const bool solve = sample < solutions;
    if (solve) impulse = dense.solve(8000);
    const VectorX<double> velocity = dense.velocity(impulse);
    const auto pair = certify(problem, velocity, impulse);
    const auto alone = certify(dual, VectorX<double>(impulse), FrictionLaw::convex);
    agree.see(std::abs(pair.natural_map_error - alone.natural_map_error),
              rounding(1000, 1.0) * (1 + pair.natural_map_error));
    if (!solve) worst.see_holds(pair.worst_block == alone.worst_block);
    if (solve) solved.see(alone.natural_map_error, by_solver(1e-8L));
  }
  agree.check(samples);
  worst.check(samples - solutions);
  solved.check(solutions);
}

TEST_CASE(
    "impulse_certificate: numbers that are not finite make it infinite, and the contact is named",
    "[solvers][input]") {
  VectorSource<double> source(75u);
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity}) {
    for (int sample = 0; sample < 40; ++sample) {
      Case drawn = draw_case(source, FrictionLaw::coulomb, Start::solved, true);
      const auto problem = drawn.build<double>();
      const Index off = Index(source.unit() * double(drawn.count()));
      drawn.impulse(drawn.starts[std::size_t(off)]) = bad;
      const auto law = sample % 2 == 0 ? FrictionLaw::coulomb : FrictionLaw::convex;
      const auto c = certify(problem, VectorX<double>(drawn.impulse), law);
      for (const double measure : {c.natural_map_error, c.absolute_error, c.signorini,
                                   c.cone_violation, c.complementarity, c.dissipation_angle}) {
        CHECK(measure == infinity);
      }
      for (const Index owner : {c.worst_block, c.signorini_block, c.cone_violation_block,
                                c.complementarity_block, c.dissipation_block}) {
        CHECK(owner == off);
      }
    }
  }
  // Finite impulses whose velocities are not.
  DelassusProblem<double> problem;
  problem.add_contact(carom::friction_impulses(0.5), Eigen::Vector3d(0, 0, 0));
  problem.add_coupling(0, 0, 1e200 * Eigen::Matrix3d::Identity());
  problem.assemble();
  const VectorX<double> impulse = Eigen::Vector3d(0, 0, 1e200);
  const auto c = certify(problem, impulse, FrictionLaw::coulomb);
  CHECK(c.natural_map_error == infinity);
  CHECK(c.worst_block == 0);
}

TEST_CASE("impulse_certificate: an empty problem and a problem at rest", "[solvers][example]") {
  DelassusProblem<double> problem;
  problem.assemble();
  auto c = certify(problem, VectorX<double>(0), FrictionLaw::coulomb);
  CHECK(c.natural_map_error == 0);
  CHECK(c.worst_block == -1);
  // At rest without load zero is the answer, and no contact is named.
  problem.add_contact(carom::friction_impulses(0.5), Eigen::Vector3d(0, 0, 0));
  problem.assemble();
  c = certify(problem, VectorX<double>(Eigen::Vector3d(0, 0, 0)), FrictionLaw::coulomb);
  CHECK(c.natural_map_error == 0);
  for (const Index owner : {c.worst_block, c.signorini_block, c.cone_violation_block,
                            c.complementarity_block, c.dissipation_block}) {
    CHECK(owner == -1);
  }
}

}  // namespace impulse_certificate_test
