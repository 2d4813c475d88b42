// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/answer/ray_measures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <Eigen/QR>

#include "carom/contact/contact_problem.hpp"
#include "carom/contact/delassus_form.hpp"

#include "support/body_problems.hpp"
#include "support/catch.hpp"
#include "support/dual_problems.hpp"
#include "support/rounded_draws.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

#include "scenes/infeasible.hpp"

namespace ray_measures_test {

using carom::ContactProblem, carom::DelassusProblem, carom::FrictionLaw, carom::ImpulseSet;
using carom::ImpulseShape, carom::Index, carom::MatrixX, carom::RowNumbers, carom::Vector;
using carom::Vector3, carom::VectorX;
using carom::detail::BodyRayMeasures, carom::detail::DemandRounding;
using carom::detail::DualRayMeasures, carom::detail::nearest_ray, carom::detail::normal_row;
using carom::detail::RayLoad, carom::detail::RayProducts, carom::detail::Support;
using carom::testing::assemble_dual, carom::testing::convert_set, carom::testing::DualData;
using carom::testing::by_digits, carom::testing::rounding, carom::testing::VectorSource,
    carom::testing::WorstCase;

using Long = long double;
using LongVector = VectorX<Long>;

namespace {

constexpr FrictionLaw laws[] = {FrictionLaw::convex, FrictionLaw::coulomb};
constexpr int set_kinds = carom::testing::law_kinds + 2;

/// A set of any shape. Of the last two kinds, one has bounds of every sort, and one adhesion.
template <typename Scalar>
ImpulseSet<Scalar> draw_any_set(VectorSource<double>& source, int kind) {
  if (kind < carom::testing::law_kinds) {
    return convert_set<Scalar>(carom::testing::draw_law(source, kind).set);
  }
  if (kind == carom::testing::law_kinds) {
    ImpulseSet<double> set = carom::free_impulses<double>(5);
    set.lower(0) = source.entry(1);
    set.upper(1) = source.entry(1);
    set.lower(2) = source.entry(1);
    set.upper(2) = set.lower(2) + source.positive(1);
    set.lower(3) = 0;
    return convert_set<Scalar>(set);
  }
  ImpulseSet<double> set = carom::testing::draw_law(source, 4 + int(6 * source.unit())).set;
  for (int r = 0; r < set.rows; ++r) set.shift(r) = source.entry(1);
  return convert_set<Scalar>(set);
}

template <typename Scalar>
RowNumbers<Scalar> draw_rows(VectorSource<double>& source, int rows, double decades) {
  RowNumbers<Scalar> result = RowNumbers<Scalar>::Zero();
  for (int r = 0; r < rows; ++r) result(r) = Scalar(source.entry(decades));
  return result;
}

/// A direction in which a set is unbounded.
template <typename Scalar>
RowNumbers<Scalar> draw_direction(VectorSource<double>& source, ImpulseSet<Scalar> set,
                                  FrictionLaw law) {
  RowNumbers<Scalar> y = draw_rows<Scalar>(source, set.rows, 4);
  if (const int n = normal_row(set.shape); n >= 0) {
    set.shift.setZero();
    if (law == FrictionLaw::convex) return nearest_impulse_unweighted(set, y);
    RowNumbers<Scalar> normal = RowNumbers<Scalar>::Zero();
    normal(n) = std::abs(y(n));
    return normal;
  }
  for (int r = 0; r < set.rows; ++r) {
    if (std::isfinite(set.upper(r))) y(r) = std::min(y(r), Scalar(0));
    if (std::isfinite(set.lower(r))) y(r) = std::max(y(r), Scalar(0));
  }
  return y;
}

/// The numbers of a problem in impulses as the type holds them, dense and in long double.
struct Dense {
  MatrixX<Long> matrix;  ///< W + R
  LongVector weights, load, roots;

  template <typename Scalar>
  static Dense of(const DualData& data) {
    const VectorX<Scalar> r = data.r.cast<Scalar>(), q = data.q.cast<Scalar>();
    Dense dense{data.w.cast<Scalar>().template cast<Long>(), r.template cast<Long>(),
                q.template cast<Long>(), LongVector()};
    dense.matrix.diagonal() += dense.weights;
    dense.roots = dense.matrix.diagonal().cwiseSqrt();
    return dense;
  }
  /// Σ_j √(W_kk W_jj) |r_j|, over all rows j.
  [[nodiscard]] LongVector sizes(const LongVector& ray) const {
    return roots.dot(ray.cwiseAbs()) * roots;
  }
};

/// Contacts with units that differ by decades, some of them compliant.
DualData draw_scaled(VectorSource<double>& source, const carom::testing::DualShape& shape) {
  DualData data = carom::testing::draw_dual(source, shape);
  Index row = 0;
  for (const auto& set : data.sets) {
    const double unit = std::exp2(std::floor(10 * source.unit() - 5));
    data.w.middleRows(row, set.rows) *= unit;
    data.w.middleCols(row, set.rows) *= unit;
    data.q.segment(row, set.rows) *= unit;
    data.r.segment(row, set.rows) *= source.unit() < 0.5 ? 0 : unit * unit;
    row += set.rows;
  }
  return data;
}

template <typename Scalar>
VectorX<Scalar> draw_ray(VectorSource<double>& source, Index rows, double decades) {
  VectorX<Scalar> ray(rows);
  for (Index k = 0; k < rows; ++k) ray(k) = Scalar(source.entry(decades));
  return ray;
}

/// A problem on bodies whose numbers are the same in float.
carom::testing::ConstrainedProblem draw_rounded_bodies(VectorSource<double>& source) {
  auto raw = carom::testing::draw_body_problem(source, {6, 3, 1, 6, 2, 7, 3});
  const auto round = [](auto& x) { x = x.template cast<float>().template cast<double>().eval(); };
  for (auto& body : raw.contacts.bodies) {
    round(body.momentum);
    round(body.free_velocity);
  }
  for (auto& contact : raw.contacts.contacts) {
    round(contact.first_jacobian);
    round(contact.second_jacobian);
    round(contact.law.bias_velocity);
  }
  for (auto& constraint : raw.constraints) {
    round(constraint.first_jacobian);
    round(constraint.second_jacobian);
    round(constraint.law.regularization);
    round(constraint.law.bias_velocity);
  }
  return raw;
}

/// A problem on bodies with its dual form.
template <typename Scalar>
struct BodyCase {
  ContactProblem<Scalar> problem;
  carom::DelassusForm<Scalar> form{};
  DelassusProblem<Scalar> dual{}, stored{};

  explicit BodyCase(ContactProblem<Scalar> given) : problem(std::move(given)) {
    carom::DelassusForm<Scalar>().write(problem, stored);
    form.write_matrix_free(problem, dual);
  }
  [[nodiscard]] BodyRayMeasures<Scalar> measures() const {
    return BodyRayMeasures<Scalar>(problem, dual);
  }
};

}  // namespace

TEMPLATE_TEST_CASE("ray_measures: the nearest ray splits a vector as Moreau says", "[solvers][law]",
                   float, double) {
  using Scalar = TestType;
  VectorSource<double> source(7001u);
  WorstCase again("the ray of a ray is itself"), inside("the ray leads nowhere out of the set");
  WorstCase right("ray · rest = 0"), polar("rest · any direction <= 0");
  const int count = carom::testing::sweep(30, 300);
  for (int sample = 0; sample < count * set_kinds; ++sample) {
    const auto set = draw_any_set<Scalar>(source, sample % set_kinds);
    for (const FrictionLaw law : laws) {
      const RowNumbers<Scalar> given = draw_rows<Scalar>(source, set.rows, 6);
      const RowNumbers<Scalar> ray = nearest_ray(set, law, given), rest = given - ray;
      const Scalar size = given.norm(), roundoff = rounding(16, size);
      const int shape = int(set.shape);
      again.see((nearest_ray(set, law, ray) - ray).norm(), roundoff, shape, given);
      right.see(std::abs(ray.dot(rest)), rounding(32, size * size), shape, given);
      const RowNumbers<Scalar> direction = draw_direction(source, set, law);
      polar.see(std::max(rest.dot(direction), Scalar(0)), rounding(32, size * direction.norm()),
                shape, given, direction);
      const RowNumbers<Scalar> start =
          nearest_impulse_unweighted(set, draw_rows<Scalar>(source, set.rows, 1));
      const RowNumbers<Scalar> end = start + Scalar(source.positive(6)) * ray;
      inside.see((nearest_impulse_unweighted(set, end) - end).norm(),
                 rounding(32, end.norm() + set.shift.norm()), shape, given, start);
    }
  }
  for (const WorstCase* law : {&again, &inside, &right, &polar}) law->check(count);
}

TEMPLATE_TEST_CASE("ray_measures: a ray of a problem is that of each of its contacts",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(7002u);
  for (int sample = 0; sample < 40; ++sample) {
    const DualData data = carom::testing::draw_dual(source, {sample % 15, 3, 0.5, true, 0});
    const auto problem = assemble_dual<Scalar>(data);
    const VectorX<Scalar> given = draw_ray<Scalar>(source, data.q.size(), 4);
    for (const FrictionLaw law : laws) {
      const VectorX<Scalar> ray = carom::detail::ray_in_cone(problem, law, given);
      REQUIRE(ray.size() == given.size());
      Index row = 0;
      for (const auto& drawn : data.sets) {
        RowNumbers<Scalar> own = RowNumbers<Scalar>::Zero();
        own.head(drawn.rows) = given.segment(row, drawn.rows);
        own = nearest_ray(convert_set<Scalar>(drawn), law, own);
        CAPTURE(sample, row, int(drawn.shape));
        CHECK(ray.segment(row, drawn.rows) == own.head(drawn.rows));
        row += drawn.rows;
      }
    }
  }
}

TEST_CASE("ray_measures: plain tangents are those that slip alone turns", "[solvers][example]") {
  const auto count = [](ImpulseShape shape) {
    ImpulseSet<double> set;
    set.shape = shape;
    return carom::detail::plain_tangents(set);
  };
  CHECK(count(ImpulseShape::intervals) == 0);
  CHECK(count(ImpulseShape::planar) == 1);
  CHECK(count(ImpulseShape::friction) == 2);
  CHECK(count(ImpulseShape::torsional) == 2);
  CHECK(count(ImpulseShape::rolling) == 2);
  CHECK(count(ImpulseShape::elliptic) == 0);
  CHECK(count(ImpulseShape::ellipsoidal_torsional) == 0);
  CHECK(count(ImpulseShape::ellipsoidal_rolling) == 0);
}

TEMPLATE_TEST_CASE("ray_measures: sums over a ray in impulses are those of the dense matrices",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(7003u);
  WorstCase product("(W + R) r"), gross("gross norm"), above("net <= exact, or its floor");
  WorstCase below("net >= exact"), value("-q·r"), errors("errors of z"), modest("errors <= noise");
  long moved = 0;
  const int count = carom::testing::sweep(40, 300);
  for (int sample = 0; sample < count; ++sample) {
    const int contacts = sample % 13;
    const DualData data =
        draw_scaled(source, {contacts, 3, 0.5, sample % 2 == 0, source.pick({0, 1e-4, 0.1})});
    const auto problem = assemble_dual<Scalar>(data);
    const Dense dense = Dense::of<Scalar>(data);
    const VectorX<Scalar> ray = draw_ray<Scalar>(source, data.q.size(), 3);
    const LongVector r = ray.template cast<Long>(), exact = dense.matrix * r;
    const LongVector sizes = dense.sizes(r);
    const int terms = int(ray.size()) + 8;
    const Long unit = rounding(1, Scalar(1)), all = sizes.dot(r.cwiseAbs());

    const VectorX<Scalar> rows = row_products(problem, ray);
    const DualRayMeasures<Scalar> measures(problem);
    const auto z = measures.products(ray);
    for (Index k = 0; k < rows.size(); ++k) {
      product.see(std::abs(Long(rows(k)) - exact(k)), terms * unit * sizes(k), sample, k);
      modest.see(z.errors(k), 17 * unit * sizes(k), sample, k);
      if (z.errors(k) == Scalar(0)) continue;
      errors.see(std::abs(Long(z.rows(k)) - exact(k)), z.errors(k), sample, k);
      ++moved;
    }
    const Long each = std::sqrt(dense.roots.cwiseProduct(r).squaredNorm());
    gross.see(std::abs(Long(gross_norm(problem, ray)) - each), terms * unit * each, sample);
    const Long squared = Long(measures.net(ray)) * Long(measures.net(ray)), true_one = r.dot(exact);
    const Long doubt = 4 * terms * unit * all;
    above.see(squared, std::max(true_one, 16 * unit * all) + doubt, sample);
    below.see(std::max(true_one - squared, Long(0)), doubt, sample);
    for (const bool is_exact : {false, true}) {
      const RayLoad<Scalar> load = measures.load(ray, is_exact);
      value.see(std::abs(Long(load.value) + dense.load.dot(r)), load.rounding, sample);
      const Long size = dense.load.cwiseAbs().dot(r.cwiseAbs());
      value.see(load.rounding, 9 * unit * size, sample);
      const Scalar demand = DemandRounding<Scalar>(problem).rows().dot(ray.cwiseAbs());
      value.see(std::abs(load.unsure - (is_exact ? demand : load.rounding)),
                rounding(terms, load.unsure), sample);
    }
  }
  for (const WorstCase* law : {&product, &gross, &above, &below, &value}) law->check(count);
  errors.check(count);
  modest.check(count);
  CHECK(2 * moved > product.count());
}

TEMPLATE_TEST_CASE("ray_measures: momenta that cancel but for rounding count as zero",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(7004u);
  for (int sample = 0; sample < 40; ++sample) {
    // W has more rows than one body can tell apart.
    DualData data = carom::testing::draw_dual(source, {5 + sample % 8, 1, 0.5, false, 0});
    const Eigen::MatrixXd w = data.w;
    Eigen::VectorXd null = draw_ray<double>(source, w.rows(), 1);
    const Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> factors(w);
    for (int k = 0; k < 2; ++k) null -= factors.solve(Eigen::VectorXd(w * null));
    const double unit = std::exp2(std::floor(30 * source.unit() - 15));
    data.w *= unit;
    VectorX<Scalar> ray = null.cast<Scalar>();
    CAPTURE(sample, unit);
    {
      const auto problem = assemble_dual<Scalar>(data);
      const DualRayMeasures<Scalar> measures(problem);
      CHECK(measures.net(ray) == Scalar(0));
      CHECK(measures.products(ray).rows.isZero(0));
      CHECK(measures.products(ray).errors.isZero(0));
      VectorX<Scalar> other = ray;
      other(sample % ray.size()) += ray.norm() / 100;
      CHECK(measures.net(other) > std::sqrt(Scalar(unit)) * ray.norm() / 1000);
    }
    // A compliant row of the ray is no rounding, however stiff; one that the ray does not use is
    // nothing.
    data.r(4) = unit * std::numeric_limits<Scalar>::epsilon() / 1024;
    {
      const auto problem = assemble_dual<Scalar>(data);
      CHECK(DualRayMeasures<Scalar>(problem).net(ray) > Scalar(0));
    }
    data.r(4) = 0;
    data.sets.push_back(carom::friction_impulses(0.5));
    const Index rows = ray.size();
    data.w.conservativeResizeLike(Eigen::MatrixXd::Zero(rows + 3, rows + 3));
    data.w.bottomRightCorner<3, 3>().diagonal().setOnes();
    data.q.conservativeResizeLike(Eigen::VectorXd::Zero(rows + 3));
    data.r.conservativeResizeLike(Eigen::VectorXd::Ones(rows + 3));
    ray.conservativeResizeLike(VectorX<Scalar>::Zero(rows + 3));
    const auto problem = assemble_dual<Scalar>(data);
    CHECK(DualRayMeasures<Scalar>(problem).net(ray) == Scalar(0));
  }
}

TEMPLATE_TEST_CASE("ray_measures: the net momentum has a floor where its rounding begins",
                   "[solvers][example]", float, double) {
  using Scalar = TestType;
  const Scalar unit = rounding(1, Scalar(1));
  for (const double inverse_mass : {std::exp2(-30.0), 1.0, std::exp2(20.0)}) {
    // Two contacts press on a body from two sides, (1 + d) and 1: z = ±d/m; its noise is
    // 16 ε (2 + d)/m.
    DualData data = carom::testing::make_block(1 / inverse_mass, 0.5, Eigen::Vector3d::Zero());
    data.sets.push_back(data.sets.front());
    const Eigen::Matrix3d own = data.w;
    data.w.resize(6, 6);
    data.w << own, -own, -own, own;
    data.q.setZero(6);
    data.r.setZero(6);
    const auto problem = assemble_dual<Scalar>(data);
    const DualRayMeasures<Scalar> measures(problem);
    VectorX<Scalar> ray = VectorX<Scalar>::Zero(6);
    ray(2) = 1;
    const auto net = [&](const Scalar& first) {
      ray(5) = first;
      return measures.net(ray) / std::sqrt(Scalar(inverse_mass));
    };
    CAPTURE(inverse_mass);
    CHECK(net(1) == Scalar(0));
    CHECK(net(Scalar(1) + 30 * unit) == Scalar(0));
    CHECK(std::abs(net(Scalar(1) + 40 * unit) - 8 * std::sqrt(unit)) <= 100 * unit);
    CHECK(std::abs(net(2) - 1) <= rounding(10, Scalar(1)));
  }
}

TEMPLATE_TEST_CASE("ray_measures: sums over a ray of bodies are those of the dense matrices",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(7005u);
  WorstCase product("(W + R) r"), above("net <= exact, or its floor"), below("net >= exact");
  WorstCase value("-q·r, v̂·r"), modest("errors <= noise"), stored("without a matrix");
  const Scalar unit = rounding(1, Scalar(1));
  const int count = carom::testing::sweep(10, 60);
  for (int sample = 0; sample < count; ++sample) {
    auto raw = draw_rounded_bodies(source);
    const BodyCase<Scalar> test(carom::testing::build<Scalar>(raw));
    carom::testing::BodyMatrices dense(raw);
    dense.regularization = dense.regularization.template cast<Scalar>().template cast<double>();
    const VectorX<Scalar> ray = draw_ray<Scalar>(source, dense.load.size(), 2);
    const Eigen::VectorXd r = ray.template cast<double>();
    const Eigen::VectorXd exact = dense.delassus * r + dense.regularization.cwiseProduct(r);
    const Eigen::VectorXd roots = dense.delassus.diagonal().cwiseSqrt();
    const double all = roots.dot(r.cwiseAbs());
    const double oracle = carom::testing::by_conditioning(rounding(500, 1.0));

    const auto measures = test.measures();
    const auto z = measures.products(ray);
    const VectorX<Scalar> rows = row_products(test.dual, ray);
    const VectorX<Scalar> same = row_products(test.stored, ray);
    for (Index k = 0; k < r.size(); ++k) {
      const double own = dense.regularization(k) * std::abs(r(k));
      const double size = roots(k) * all + own;
      stored.see(std::abs(rows(k) - same(k)), 100 * unit * size, sample, k);
      stored.see(std::abs(rows(k) - exact(k)), 100 * unit * size, sample, k);
      product.see(std::abs(z.rows(k) - exact(k)), z.errors(k) + oracle * size + unit * own, sample,
                  k);
      modest.see(z.errors(k), 2 * 17 * unit * roots(k) * all, sample, k);
    }
    const double net = double(measures.net(ray)), whole = r.dot(exact);
    above.see(net * net, whole + 1000 * unit * all * all, sample);
    below.see(std::max(whole - net * net, 0.0), 1000 * unit * whole, sample);
    const Eigen::VectorXd moved = dense.dual.jacobian * dense.dual.free_velocity;
    for (const bool is_exact : {false, true}) {
      const RayLoad<Scalar> load = measures.load(ray, is_exact);
      const double right = is_exact ? dense.dual.bias.dot(r) : -dense.load.dot(r);
      double size = dense.dual.bias.cwiseAbs().dot(r.cwiseAbs());
      if (!is_exact) size += moved.cwiseAbs().dot(r.cwiseAbs());
      value.see(std::abs(double(load.value) - right), double(load.rounding) + oracle * size);
      value.see(8 * double(unit) * size, load.rounding * 1.01, sample, is_exact ? 1 : 0);
      const Scalar demand = DemandRounding<Scalar>(test.problem).rows().dot(ray.cwiseAbs());
      value.see(std::abs(load.unsure - (is_exact ? demand : load.rounding)),
                rounding(200, load.unsure), sample);
    }
  }
  for (const WorstCase* law : {&product, &above, &below, &value, &modest, &stored}) {
    law->check(count);
  }
}

TEMPLATE_TEST_CASE(
    "ray_measures: a body's momentum counts as its rounding where another sum is more",
    "[solvers][example]", float, double) {
  using Scalar = TestType;
  using Body = Eigen::Matrix<Scalar, 3, 3>;
  const Scalar unit = rounding(1, Scalar(1));
  for (const double mass : {std::exp2(-20.0), 1.0, std::exp2(30.0)}) {
    // Two walls press a body with 1 + d and 1; a third contact moves nothing and yields a little.
    ContactProblem<Scalar> problem(Scalar(0.01));
    problem.add_body(Body(Scalar(mass) * Body::Identity()), Vector3<Scalar>(0, 0, 1));
    const Scalar soft = unit * unit / Scalar(1e6 * mass);
    for (const Scalar side : {Scalar(1), Scalar(-1), Scalar(0)}) {
      problem.add_contact(0, Body(side * Body::Identity()),
                          carom::WeightedContact<Scalar>{
                              Scalar(0.5), {soft, soft}, Vector3<Scalar>::Zero(), side != 0});
    }
    const BodyCase<Scalar> test(problem);
    const auto net = [&](const Scalar& d, const Scalar& third) {
      VectorX<Scalar> ray = VectorX<Scalar>::Zero(9);
      ray(2) = Scalar(1) + d;
      ray(5) = 1;
      ray(8) = third;
      return test.measures().net(ray) * std::sqrt(Scalar(mass));
    };
    CAPTURE(mass);
    CHECK(net(0, 0) == Scalar(0));
    CHECK(net(30 * unit, 0) == Scalar(0));
    CHECK(std::abs(net(40 * unit, 0) - 40 * unit) <= rounding(8, 40 * unit));
    CHECK(std::abs(net(1, 0) - 1) <= rounding(8, Scalar(1)));
    CHECK(std::abs(net(0, 1) - 32 * unit) <= by_digits(Scalar(0.001)) * 32 * unit);
    CHECK(std::abs(net(0, Scalar(1e6)) - 1000 * unit) <= by_digits(Scalar(0.001)) * 1000 * unit);
  }
}

TEMPLATE_TEST_CASE("ray_measures: rays that prove a contradiction of bodies have no momentum",
                   "[solvers][scene]", float, double) {
  using Scalar = TestType;
  using namespace carom::examples;
  VectorSource<double> source(7006u);
  WorstCase moved("a ray that is a little off has a net momentum");
  const auto check = [&](const ContactProblem<Scalar>& problem, VectorX<Scalar> ray) {
    const BodyCase<Scalar> test(problem);
    ray *= Scalar(source.positive(6));
    CHECK(test.measures().net(ray) == Scalar(0));
    CHECK(test.measures().products(ray).rows.isZero(0));
    CHECK(test.measures().products(ray).errors.isZero(0));
    CHECK(test.measures().load(ray, true).drive() > Scalar(0));
    const DualRayMeasures<Scalar> dual(test.stored);
    CHECK(dual.net(ray) == Scalar(0));
    const Index last = ray.size() - 1;
    const Scalar off = ray(last) / 1000;
    ray(last) += off;
    const Scalar own = off * std::sqrt(test.stored.diagonal(test.stored.part_count() - 1)(2, 2));
    moved.see_holds(test.measures().net(ray) > own * Scalar(0.99), ray);
    moved.see_holds(dual.net(ray) > own * Scalar(0.99), ray);
  };
  for (int sample = 0; sample < 12; ++sample) {
    const Vector3<Scalar> along = Vector3<Scalar>(source.vector<3>(1, 0).cast<Scalar>());
    CAPTURE(sample);
    ClosingSlot<Scalar> slot{.friction = Scalar(0.3)};
    slot.mass = Scalar(source.positive(8));
    slot.across = along.normalized();
    check(make_closing_slot(slot), closing_slot_ray<Scalar>());
    NarrowWell<Scalar> well{.count = 1 + sample % 6};
    well.mass_ratio = Scalar(source.pick({1e-2, 1, 1e3}));
    well.along = along.normalized();
    check(make_narrow_well(well), narrow_well_ray(well));
    RunningChannel<Scalar> channel;
    channel.mass = Scalar(source.positive(8));
    const auto problem = make_running_channel(channel);
    const BodyCase<Scalar> test(problem);
    const VectorX<Scalar> ray = running_channel_ray(channel);
    CHECK(test.measures().net(ray) == Scalar(0));
    CHECK(DualRayMeasures<Scalar>(test.stored).net(ray) == Scalar(0));
    CHECK(std::abs(test.measures().load(ray, true).value - 1) <= rounding(4, Scalar(1)));
  }
  moved.check(24);
}

TEMPLATE_TEST_CASE("ray_measures: a load drives by what neither rounding nor gaps explain",
                   "[solvers][example]", float, double) {
  using Scalar = TestType;
  const Scalar unit = rounding(1, Scalar(1));
  for (const double decade : {1e-12, 1.0, 1e12}) {
    const Scalar one = Scalar(decade), noise = 8 * unit * one;
    const auto drive = [&](double value, bool exact, double demand) {
      const RayLoad<Scalar> load(Scalar(value) * one, one, exact, Scalar(demand) * one);
      CHECK(load.rounding == noise);
      return load.drive();
    };
    CHECK(drive(1, true, 0.5) == one - noise);
    CHECK(drive(1, true, 2) == -one);
    CHECK(drive(-1, true, 2) == -3 * one);
    CHECK(drive(0.5, true, 0.5) == Scalar(0));
    CHECK(drive(1, false, 2) == one - noise);
    CHECK(drive(-1, false, 0) == -one - noise);
    CHECK(drive(4 * double(unit), false, 0) < Scalar(0));
    CHECK(drive(8 * double(unit), false, 0) <= Scalar(0));
    CHECK(drive(4 * double(unit), true, 0) <= Scalar(0));
    CHECK(drive(16 * double(unit), false, 0) == noise);
  }
}

TEMPLATE_TEST_CASE("ray_measures: a demand in impulses is rounded by the speed of its point",
                   "[solvers][example]", float, double) {
  using Scalar = TestType;
  const Scalar share = std::cbrt(rounding(1, Scalar(1)) * rounding(1, Scalar(1)));
  const Scalar noise = rounding(16, Scalar(1));
  for (const double unit : {std::exp2(-20.0), 1.0, std::exp2(30.0)}) {
    DualData data;
    data.sets = {carom::friction_impulses(0.5),
                 carom::cone_impulses<double>(ImpulseShape::torsional, {0.5, 0.1, 0}),
                 carom::free_impulses<double>(2), carom::friction_impulses(0.5),
                 carom::free_impulses<double>(1)};
    data.q.resize(13);
    data.q << 3, -4, 0.5, 1, 1, -2, 5, 0.25, -7, 0, 0, 1, 0.5;
    data.q *= unit;
    data.r.setZero(13);
    data.w = Eigen::MatrixXd::Identity(13, 13);
    data.w.bottomRightCorner<4, 4>().setZero();  // a contact and a row that nothing moves
    const auto problem = assemble_dual<Scalar>(data);
    VectorX<Scalar> expected(13);
    expected << 4, 4, 4, 2, 2, 2, 5, 0.25, 7, 4, 4, 4, 7;
    expected *= share;
    for (const Index row : {0, 1, 2, 3, 4, 5, 9, 10, 11}) expected(row) += 4 * noise;
    for (const Index row : {6, 7, 8, 12}) expected(row) += 7 * noise;
    const VectorX<Scalar> rows = DemandRounding<Scalar>(problem).rows() / Scalar(unit);
    CAPTURE(unit, rows.transpose(), expected.transpose());
    CHECK((rows - expected).cwiseQuotient(expected).cwiseAbs().maxCoeff() <=
          rounding(8, Scalar(1)));
  }
}

TEMPLATE_TEST_CASE("ray_measures: a demand of bodies is rounded by the speed of their motion",
                   "[solvers][example]", float, double) {
  using Scalar = TestType;
  using Body = Eigen::Matrix<Scalar, 3, 3>;
  const Scalar share = std::cbrt(rounding(1, Scalar(1)) * rounding(1, Scalar(1)));
  const Scalar noise = rounding(16, Scalar(1));
  const auto compare = [](const ContactProblem<Scalar>& problem, const VectorX<Scalar>& expected) {
    const VectorX<Scalar> rows = DemandRounding<Scalar>(problem).rows();
    CAPTURE(rows.transpose(), expected.transpose());
    REQUIRE(rows.size() == expected.size());
    for (Index k = 0; k < rows.size(); ++k) {
      CHECK(std::abs(rows(k) - expected(k)) <= rounding(16, expected(k)));
    }
  };
  for (const double mass : {1e-8, 1.0, 1e9}) {
    // One body at 5 m/s and one at 2 m/s; v̂ = (0, −2, 1) m/s, of which an overlap asks 1 m/s more.
    const auto bodies = [&](bool moves) {
      ContactProblem<Scalar> problem(Scalar(0.01));
      problem.add_body(Body(Scalar(mass) * Body::Identity()), Vector3<Scalar>(3, 4, 0));
      problem.add_body(Body(Scalar(1000 * mass) * Body::Identity()), Vector3<Scalar>(0, 0, 2));
      const carom::WeightedContact<Scalar> law{
          Scalar(0.5), {1, 1}, Vector3<Scalar>(0, -2, 1), true};
      const Body rows = moves ? Body(Body::Identity()) : Body(Body::Zero());
      problem.add_contact(0, rows, 1, Body(-rows), law);
      problem.add_contact(1, rows, law);
      return problem;
    };
    CAPTURE(mass);
    VectorX<Scalar> expected(6);
    expected << 7, 9, 8, 2, 4, 3;
    compare(bodies(true), VectorX<Scalar>((share * expected).array() + 2 * noise));
    // Nothing moves the contacts: they have the largest entry of v*.
    expected << 4, 4, 4, 4, 4, 4;
    compare(bodies(false), VectorX<Scalar>((share * expected).array() + 2 * noise));
  }
  // Heavy and light parts in one A: ‖J‖_{A⁻¹}‖v*‖_A = 1e4, but no row has more than 1 m/s.
  ContactProblem<Scalar> problem(Scalar(0.01));
  problem.add_body(Body(Vector3<Scalar>(Scalar(1e-4), Scalar(1e4), 1).asDiagonal()),
                   Vector3<Scalar>(0, 1, 0));
  problem.add_contact(
      0, Body(Body::Identity()),
      carom::WeightedContact<Scalar>{Scalar(0.5), {1, 1}, Vector3<Scalar>::Zero(), true});
  compare(problem, VectorX<Scalar>(VectorX<Scalar>::Constant(3, share)));
  compare(ContactProblem<Scalar>(Scalar(0.01)), VectorX<Scalar>());
}

namespace {

/// Impulses of a set whose size in its unbounded direction is at most x.
template <typename Scalar>
RowNumbers<Scalar> draw_sized(VectorSource<double>& source, const ImpulseSet<Scalar>& set,
                              const Scalar& x) {
  const int n = normal_row(set.shape);
  if (n >= 0) {
    RowNumbers<Scalar> ray = draw_direction(source, set, FrictionLaw::convex);
    if (ray(n) > 0) ray *= Scalar(source.pick({0.5, 1})) * x / ray(n);
    return ray - set.shift;
  }
  RowNumbers<Scalar> gamma = RowNumbers<Scalar>::Zero();
  for (int r = 0; r < set.rows; ++r) {
    const Scalar low = std::isfinite(set.lower(r)) ? set.lower(r) : -x;
    const Scalar high = std::isfinite(set.upper(r)) ? set.upper(r) : x;
    gamma(r) = low + Scalar(source.pick({0, 0.5, 1})) * (high - low);
  }
  return gamma;
}

/// The impulse of draw_sized() with the largest z·γ.
template <typename Scalar>
RowNumbers<Scalar> best_sized(const ImpulseSet<Scalar>& set, const RowNumbers<Scalar>& z,
                              const Scalar& x) {
  RowNumbers<Scalar> gamma = RowNumbers<Scalar>::Zero();
  const int n = normal_row(set.shape);
  for (int r = 0; n < 0 && r < set.rows; ++r) {
    const Scalar low = std::isfinite(set.lower(r)) ? set.lower(r) : -x;
    const Scalar high = std::isfinite(set.upper(r)) ? set.upper(r) : x;
    gamma(r) = z(r) > 0 ? high : low;
  }
  if (n < 0) return gamma;
  gamma(n) = x;
  carom::detail::visit_friction_blocks(set, [&](const auto& block) {
    Scalar squared = 0;
    for (int k = 0; k < block.size; ++k) {
      squared += block.mu(k) * block.mu(k) * z(block.row(k)) * z(block.row(k));
    }
    if (!(squared > 0)) return;
    for (int k = 0; k < block.size; ++k) {
      gamma(block.row(k)) = x * block.mu(k) * block.mu(k) * z(block.row(k)) / std::sqrt(squared);
    }
  });
  if (!(z.dot(gamma) > 0)) gamma.setZero();
  return gamma - set.shift;
}

/// The largest of z'·γ over the z' within the errors.
template <typename Scalar>
Scalar worst_product(const RayProducts<RowNumbers<Scalar>>& z, const RowNumbers<Scalar>& gamma) {
  return z.rows.dot(gamma) + z.errors.dot(gamma.cwiseAbs());
}

template <typename Scalar>
RayProducts<RowNumbers<Scalar>> draw_products(VectorSource<double>& source, int rows) {
  RayProducts<RowNumbers<Scalar>> z{draw_rows<Scalar>(source, rows, 2), RowNumbers<Scalar>::Zero()};
  const double share = source.pick({0, 1e-3, 0.3, 3});
  for (int r = 0; r < rows; ++r) z.errors(r) = Scalar(share * source.positive(1));
  return z;
}

}  // namespace

TEMPLATE_TEST_CASE("ray_measures: the support is the largest product with impulses of a set",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(7007u);
  WorstCase holds("z·γ <= constant + slope x"), reached("z·γ = constant + slope x");
  const int count = carom::testing::sweep(40, 400);
  for (int sample = 0; sample < count * set_kinds; ++sample) {
    auto set = draw_any_set<Scalar>(source, sample % set_kinds);
    // Without any impulse in the unbounded directions, only impulses of the other sign remain.
    const Scalar x = Scalar(source.pick({0, 1}) * 10 * source.positive(1));
    if (x == 0 && sample % set_kinds == carom::testing::law_kinds) {
      set.lower(0) = -std::abs(set.lower(0));
      set.upper(1) = std::abs(set.upper(1));
    }
    const auto z = draw_products<Scalar>(source, set.rows);
    const Support<Scalar> support = support_of(set, z);
    const Scalar most = support.constant + support.slope * x;
    const auto noise = [&](const RowNumbers<Scalar>& gamma) {
      const Scalar all = (z.rows.cwiseAbs() + z.errors).sum();
      return rounding(16, all * (set.shift.norm() + x + gamma.norm()));
    };
    const int shape = int(set.shape);
    for (int k = 0; k < 8; ++k) {
      const RowNumbers<Scalar> gamma = draw_sized(source, set, x);
      holds.see(std::max(worst_product(z, gamma) - most, Scalar(0)), noise(gamma), shape, x, z.rows,
                z.errors, set.lower, set.upper, gamma);
    }
    const bool tight = z.errors.isZero(0) || (normal_row(set.shape) >= 0 && set.shift.isZero(0));
    if (!tight) continue;
    RowNumbers<Scalar> worst = z.rows;
    for (int r = 0; r < set.rows; ++r) {
      const bool is_normal = r == normal_row(set.shape);
      worst(r) += is_normal || z.rows(r) > 0 ? z.errors(r) : Scalar(-z.errors(r));
    }
    const RowNumbers<Scalar> best = best_sized(set, worst, x);
    reached.see(std::abs(worst.dot(best) - most), noise(best), shape, x, z.rows, z.errors, best);
  }
  holds.check(count);
  reached.check(count);
}

TEMPLATE_TEST_CASE("ray_measures: the support of a slide is the largest product along it",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(7008u);
  WorstCase holds("z·γ <= constant + slope x"), reached("z·γ = constant + slope x");
  const int count = carom::testing::sweep(40, 400);
  for (int sample = 0; sample < 4 * count; ++sample) {
    constexpr int kinds[] = {4, 6, 7, 9};  // of draw_law(): with plain tangents
    auto set = draw_any_set<Scalar>(source, kinds[sample % 4]);
    if (source.unit() < 0.5) set.shift = draw_rows<Scalar>(source, set.rows, 1);
    const auto z = draw_products<Scalar>(source, set.rows);
    const int tangents = carom::detail::plain_tangents(set), n = normal_row(set.shape);
    const double turn = 7 * source.unit();
    Vector<Scalar, 2> t(Scalar(std::cos(turn)), Scalar(std::sin(turn)));
    if (tangents == 1) t << (t(0) > 0 ? Scalar(1) : Scalar(-1)), 0;
    const Scalar deviation = tangents == 1 ? Scalar(0) : Scalar(source.pick({0, 1e-2, 0.5, 3}));
    const Support<Scalar> support = support_of_slide(set, z, t, deviation);
    const Scalar x = Scalar(source.positive(1)), most = support.constant + support.slope * x;
    const Scalar size = (z.rows.cwiseAbs() + z.errors).dot(RowNumbers<Scalar>::Ones()) *
                        (set.shift.norm() + x * (1 + set.friction.norm()));
    for (int k = 0; k < 8; ++k) {
      const Scalar a = deviation * Scalar(source.pick_signed({0, 0.5, 1}));
      const Vector<Scalar, 2> slip = (t + a * Vector<Scalar, 2>(-t(1), t(0))) / std::hypot(1, a);
      RowNumbers<Scalar> gamma = draw_sized(source, set, x) + set.shift;
      gamma.head(tangents) = -set.friction(0) * gamma(n) * slip.head(tangents);
      gamma -= set.shift;
      holds.see(std::max(worst_product(z, gamma) - most, Scalar(0)), rounding(16, size),
                int(set.shape), a, z.rows, z.errors, gamma);
    }
    if (deviation > 0 || !z.errors.isZero(0)) continue;
    RowNumbers<Scalar> rest = z.rows;
    rest.head(tangents).setZero();
    rest(n) -= set.friction(0) * z.rows.head(tangents).dot(t.head(tangents));
    RowNumbers<Scalar> best = best_sized(set, rest, x) + set.shift;
    best.head(tangents) = -set.friction(0) * best(n) * t.head(tangents);
    best -= set.shift;
    reached.see(std::abs(z.rows.dot(best) - most), rounding(16, size), int(set.shape), z.rows,
                best);
  }
  holds.check(count);
  reached.check(count / 4);
}

}  // namespace ray_measures_test
