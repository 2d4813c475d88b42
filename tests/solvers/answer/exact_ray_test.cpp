// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/answer/exact_ray.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <Eigen/QR>

#include "carom/contact/contact_problem.hpp"
#include "carom/contact/delassus_form.hpp"

#include "support/body_problems.hpp"
#include "support/catch.hpp"
#include "support/dual_problems.hpp"
#include "support/feasible_problems.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

#include "scenes/infeasible.hpp"

namespace exact_ray_test {

using carom::ContactProblem, carom::DelassusProblem, carom::FrictionLaw, carom::Index;
using carom::MatrixX, carom::RowNumbers, carom::Vector, carom::Vector3, carom::VectorX;
using carom::detail::BalancedForm, carom::detail::body_momenta, carom::detail::BodyRayMeasures;
using carom::detail::ExactRay, carom::detail::nearest_ray, carom::detail::ray_in_cone;
using carom::detail::RayColumns, carom::detail::RayPolish, carom::detail::RayTerm;
using carom::detail::refine_island_ray, carom::detail::shortest_solution;
using carom::testing::assemble_dual, carom::testing::by_conditioning, carom::testing::by_solver;
using carom::testing::clearly, carom::testing::DualData, carom::testing::rounding;
using carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

constexpr FrictionLaw laws[] = {FrictionLaw::convex, FrictionLaw::coulomb};

/// A matrix with orthogonal columns.
Eigen::MatrixXd draw_basis(VectorSource<double>& source, Index rows, Index columns) {
  const Eigen::HouseholderQR<Eigen::MatrixXd> factors(
      carom::testing::draw_matrix(source, rows, columns));
  return factors.householderQ() * Eigen::MatrixXd::Identity(rows, columns);
}

}  // namespace

TEMPLATE_TEST_CASE("exact_ray: the shortest solution is that of the pseudo-inverse",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(7101u);
  WorstCase law("x = A⁺ b");
  const int count = carom::testing::sweep(30, 200);
  for (int sample = 0; sample < count; ++sample) {
    const Index rows = 1 + Index(8 * source.unit()), columns = 1 + Index(8 * source.unit());
    const Index rank = Index(double(std::min(rows, columns) + 1) * source.unit());
    const Eigen::MatrixXd left = draw_basis(source, rows, rank);
    const Eigen::MatrixXd right = draw_basis(source, columns, rank);
    Eigen::VectorXd sizes(rank);
    for (double& s : sizes) s = 1 + 2 * source.unit();
    const double unit = source.positive(8);
    const Eigen::MatrixXd a = unit * left * sizes.asDiagonal() * right.transpose();
    Eigen::VectorXd b = source.positive(8) * carom::testing::draw_matrix(source, rows, 1);
    if (sample % 10 == 0) b.setZero();
    if (sample % 10 == 1) b -= left * (left.transpose() * b);  // nothing but rounding to solve for
    const Eigen::VectorXd exact =
        right * sizes.cwiseInverse().asDiagonal() * left.transpose() * b / unit;
    const VectorX<Scalar> x =
        shortest_solution(MatrixX<Scalar>(a.cast<Scalar>()), VectorX<Scalar>(b.cast<Scalar>()));
    REQUIRE(x.size() == columns);
    const double scale = rank > 0 ? b.norm() / unit : 0;
    law.see((x.template cast<double>() - exact).norm(),
            by_conditioning(rounding(200, Scalar(scale))), sample, int(rows), int(columns),
            int(rank));
  }
  law.check(count);
  CHECK(
      shortest_solution(MatrixX<Scalar>(3, 0), VectorX<Scalar>(VectorX<Scalar>::Ones(3))).size() ==
      0);
}

namespace {

/// g·r/√(rᵀ(W + R)r), by the numbers of the test.
double quotient(const DualData& data, const Eigen::VectorXd& ray) {
  const double squared = ray.dot(data.w * ray) + ray.dot(data.r.cwiseProduct(ray));
  return squared > 0 ? -data.q.dot(ray) / std::sqrt(squared) : 0;
}

/// The largest quotient of a ray: that of the least ½ rᵀ(W + R)r − g·r over the cone, by
/// accelerated projected gradients.
double best_quotient(const DualData& data, FrictionLaw law) {
  if (data.sets.empty()) return 0;
  const auto problem = assemble_dual(data);
  Eigen::MatrixXd matrix = data.w;
  matrix.diagonal() += data.r;
  const double largest =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(matrix).eigenvalues().maxCoeff();
  Eigen::VectorXd ray = Eigen::VectorXd::Zero(data.q.size()), ahead = ray;
  double pace = 1;
  for (int k = 0; k < 3000; ++k) {
    const Eigen::VectorXd trial = ahead - (matrix * ahead + data.q) / largest;
    const Eigen::VectorXd next = ray_in_cone(problem, law, trial), change = next - ray;
    if ((ahead - next).dot(change) > 0) pace = 1;  // restart
    const double faster = (1 + std::sqrt(1 + 4 * pace * pace)) / 2;
    ahead = next + (pace - 1) / faster * change;
    pace = faster;
    ray = next;
  }
  return quotient(data, ray);
}

}  // namespace

TEMPLATE_TEST_CASE("exact_ray: no other ray drives more for its momentum", "[solvers][oracle]",
                   float, double) {
  using Scalar = TestType;
  VectorSource<double> source(7102u);
  WorstCase best("quotient of the ray"), cone("in the cone"), sum("sum of its terms");
  const int count = carom::testing::sweep(6, 40);
  int rays = 0;
  for (int sample = 0; sample < count; ++sample) {
    const int contacts = sample % 5;
    DualData data = carom::testing::draw_dual(source, {contacts, 2, 0.8, sample % 2 == 0, 0.1});
    const double unit = source.positive(6), speed = source.positive(6);
    data.w *= unit;
    data.r *= unit;
    data.q *= speed;
    const auto problem = assemble_dual<Scalar>(data);
    for (const FrictionLaw law : laws) {
      VectorX<Scalar> guess = VectorX<Scalar>::Zero(data.q.size());
      if (sample % 3 == 0)
        guess = carom::testing::draw_matrix(source, guess.size(), 1).template cast<Scalar>();
      RayColumns<Scalar> columns(problem, law);
      CAPTURE(sample, contacts, int(law));
      const double exact = best_quotient(data, law) * std::sqrt(unit) / speed;
      if (!fit_island_ray(problem, law, guess, columns)) {
        CHECK(exact <= by_solver(1e-6));
        CHECK(refine_island_ray(problem, law, guess).isZero(0));
        continue;
      }
      const VectorX<Scalar>& ray = columns.ray();
      const double own = quotient(data, ray.template cast<double>()) * std::sqrt(unit) / speed;
      best.see(std::abs(own - exact), by_solver(sizeof(Scalar) == 4 ? 1e-4 : 1e-5) * exact, sample,
               int(law), own, exact);
      cone.see((ray_in_cone(problem, law, ray) - ray).norm(), rounding(16, ray.norm()), sample);
      VectorX<Scalar> terms = VectorX<Scalar>::Zero(ray.size());
      columns.for_each_used([&](Index contact, const auto& direction, const Scalar& amount) {
        const int rows = problem.set(contact).rows;
        terms.segment(problem.first_row(contact), rows) += amount * direction.head(rows);
      });
      sum.see((terms - ray).norm(), rounding(16, ray.norm()), sample);
      CHECK(refine_island_ray(problem, law, guess) == ray);
      ++rays;
    }
  }
  best.check(rays);
  cone.check(rays);
  sum.check(rays);
  CHECK(2 * rays >= count);
}

TEMPLATE_TEST_CASE("exact_ray: where each contact pushes back by itself there is no ray",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(7103u);
  for (int sample = 0; sample < 20; ++sample) {
    DualData data = carom::testing::draw_dual(source, {sample % 6, 2, 0.8, false, 0});
    for (std::size_t i = 0; i < data.sets.size(); ++i) {
      auto own = data.q.segment<3>(3 * Index(i));
      own(2) = 1.01 * data.sets[i].friction(0) * own.head<2>().norm();  // in the dual cone
    }
    const auto problem = assemble_dual<Scalar>(data);
    RayColumns<Scalar> columns(problem, FrictionLaw::convex);
    CHECK(!columns.weigh());
    const VectorX<Scalar> guess = VectorX<Scalar>::Ones(data.q.size());
    CHECK(refine_island_ray(problem, FrictionLaw::convex, guess).isZero(0));
  }
}

TEMPLATE_TEST_CASE("exact_ray: terms of a ray are changed least until it has no momentum",
                   "[solvers][example]", float, double) {
  using Scalar = TestType;
  using Body = Eigen::Matrix<Scalar, 3, 3>;
  // Two walls press a block with a and b; the least change relative to a and b makes both
  // ab (a + b)/(a² + b²).
  for (const double decade : {1e-9, 1.0, 1e9}) {
    ContactProblem<Scalar> problem(Scalar(0.01));
    const Scalar mass = Scalar(1 / decade), a = Scalar(2 * decade), b = Scalar(3 * decade);
    problem.add_body(Body(mass * Body::Identity()), Vector3<Scalar>(0, 0, 1));
    for (const Scalar side : {Scalar(1), Scalar(-1)}) {
      problem.add_contact(0, Body(side * Body::Identity()),
                          carom::RigidContact<Scalar>{.friction = Scalar(0.5)});
    }
    RowNumbers<Scalar> normal = RowNumbers<Scalar>::Zero();
    normal(2) = 1;
    std::vector<RayTerm<Scalar>> terms{{0, normal, a}, {1, normal, b}};
    RayPolish<Scalar> polish(problem);
    polish.improve(terms);
    const Scalar expected = a * b * (a + b) / (a * a + b * b);
    CAPTURE(decade, terms[0].amount, terms[1].amount, expected);
    CHECK(std::abs(terms[0].amount - expected) <= rounding(16, expected));
    CHECK(std::abs(terms[1].amount - expected) <= rounding(16, expected));
    const VectorX<Scalar> ray = polish.ray_of(terms);
    CHECK(ray(2) == terms[0].amount);
    CHECK(ray(5) == terms[1].amount);
    CHECK(std::abs(polish.gross()(0) - 2 * expected / std::sqrt(mass)) <=
          rounding(32, 2 * expected / std::sqrt(mass)));
    std::vector<RayTerm<Scalar>> none;
    polish.improve(none);
    CHECK(polish.ray_of(none).isZero(0));
    CHECK(polish.gross().isZero(0));
  }
}

TEMPLATE_TEST_CASE("exact_ray: a polished ray has no momentum at any body, heavy or light",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(7104u);
  WorstCase momentum("momentum of a body / its gross one");
  for (int sample = 0; sample < 40; ++sample) {
    carom::examples::NarrowWell<Scalar> well{.count = 1 + sample % 7};
    well.mass_ratio = Scalar(source.pick({0.1, 1, 30}));
    well.along = Vector3<Scalar>(source.vector<3>(1, 0).cast<Scalar>()).normalized();
    ContactProblem<Scalar> problem = carom::examples::make_narrow_well(well);
    // One contact that no other one is against, so that its term must go; the smaller it is beside
    // the others, the more digits that takes.
    using Draws = carom::testing::FeasibleProblems<Scalar>;
    const Index odd =
        Draws::add_wall(problem, sample % well.count, Vector3<Scalar>(well.along.unitOrthogonal()),
                        Vector3<Scalar>(Vector3<Scalar>::Zero()), Scalar(0.5));
    const Scalar unit = Scalar(source.positive(8));
    std::vector<RayTerm<Scalar>> terms;
    RowNumbers<Scalar> normal = RowNumbers<Scalar>::Zero();
    normal(2) = 1;
    for (Index i = 0; i <= odd; ++i) {
      terms.push_back({i, normal, unit * Scalar(1 + 0.01 * source.unit())});
    }
    terms.back().amount *= Scalar(sizeof(Scalar) == 4 ? 0.1 : 1e-3);
    RayPolish<Scalar> polish(problem);
    polish.improve(terms);
    CAPTURE(sample, well.count, well.mass_ratio);
    CHECK(terms.back().amount == Scalar(0));
    for (Index i = 0; i < odd; ++i) {
      CHECK(std::abs(terms[std::size_t(i)].amount / unit - Scalar(1.005)) <= clearly(Scalar(0.01)));
    }
    const VectorX<Scalar> ray = polish.ray_of(terms);
    const auto momenta = body_momenta(problem, ray);
    for (Index b = 0; b < problem.body_count(); ++b) {
      const auto [start, size] = problem.body(b);
      momentum.see(momenta.sum.segment(start, size).norm(), rounding(16, momenta.gross(b)), sample);
    }
    CHECK(momenta.gross == polish.gross());
  }
  momentum.check(40);
}

TEMPLATE_TEST_CASE("exact_ray: the balanced form is J Jᵀ in units of each body, without masses",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(7105u);
  WorstCase matrix("W"), units_are("units"), load("q"), weights("R"), masses("other masses");
  const int count = carom::testing::sweep(4, 20);
  for (int sample = 0; sample < count; ++sample) {
    auto raw = carom::testing::draw_body_problem(source, {6, 3, 1, 2, 6});
    const auto problem = carom::testing::build<Scalar>(raw);
    const carom::testing::DenseDual dense(raw);
    const BalancedForm<Scalar> form(problem);
    const VectorX<Scalar> units = form.row_units();
    REQUIRE(units.size() == problem.body_count());
    VectorX<Scalar> noise(problem.impulse_count());
    for (Scalar& x : noise) x = Scalar(source.pick({0, 1e-3, 0.3}));
    DelassusProblem<Scalar> dual;
    form.write(noise, units, dual);

    Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(dense.bias.size(), dense.bias.size());
    Index start = 0;
    for (std::size_t b = 0; b < raw.contacts.bodies.size(); ++b) {
      const Eigen::MatrixXd& own = raw.contacts.bodies[b].momentum;
      const Eigen::MatrixXd rows = dense.jacobian.middleCols(start, own.rows());
      const Eigen::MatrixXd product = rows * own.llt().solve(rows.transpose());
      const double largest = product.diagonal().maxCoeff();
      units_are.see(std::abs(units(Index(b)) - (largest > 0 ? std::sqrt(largest) : 1)),
                    rounding(200, units(Index(b))), sample, int(b));
      if (largest > 0) expected += product / largest;
      start += own.rows();
    }
    for (Index k = 0; k < expected.rows(); ++k) {
      VectorX<Scalar> one = VectorX<Scalar>::Zero(expected.rows());
      one(k) = 1;
      Index block = 0;  // of the row
      while (std::size_t(block) + 1 < dense.starts.size() &&
             dense.starts[std::size_t(block) + 1] <= k) {
        ++block;
      }
      const int at = int(k - dense.starts[std::size_t(block)]);
      const bool rigid = problem.law(block).rigid;
      Eigen::VectorXd column = expected.col(k);
      if (!rigid) column(k) += 1;
      const VectorX<Scalar> own = row_products(dual, one);
      matrix.see((own.template cast<double>() - column).norm(), rounding(200, Scalar(4)), sample,
                 int(k));
      const auto place = dual.place_of(block, at);
      weights.see_holds(dual.regularization(place.part)(place.row) == Scalar(rigid ? 0 : 1));
      const Scalar bias = Scalar(dense.bias(k)), q = dual.load(place.part)(place.row);
      const bool is_normal = at == carom::detail::normal_row(dense.sets[std::size_t(block)].shape);
      const Scalar cut = std::max(std::abs(bias) - noise(k), Scalar(0));
      const Scalar asked = is_normal ? Scalar(bias - noise(k)) : std::copysign(cut, bias);
      load.see_holds(q == (rigid ? Scalar(-asked) : Scalar(0)), sample, q, asked, int(k));
    }
    // Other masses change nothing, as units and norms of A change alike; v* does not count either.
    for (std::size_t b = 0; b < raw.contacts.bodies.size(); ++b) {
      raw.contacts.bodies[b].momentum *= std::pow(4.0, double(b) - 2);
      raw.contacts.bodies[b].free_velocity *= 3;
    }
    const auto other = carom::testing::build<Scalar>(raw);
    const BalancedForm<Scalar> same_form(other);
    DelassusProblem<Scalar> same;
    same_form.write(noise, same_form.row_units(), same);
    const VectorX<Scalar> ray =
        carom::testing::draw_matrix(source, noise.size(), 1).template cast<Scalar>();
    masses.see_holds(row_products(same, ray) == row_products(dual, ray), sample);
    masses.see_holds(load_rows(same) == load_rows(dual), sample);
  }
  for (const WorstCase* law : {&matrix, &units_are, &load, &weights, &masses}) law->check(count);
}

namespace {

/// What finds rays of a problem, and what tells whether they prove anything.
template <typename Scalar>
struct Search {
  const ContactProblem<Scalar>& problem;
  FrictionLaw law;
  carom::DelassusForm<Scalar> form{};
  DelassusProblem<Scalar> dual{};

  Search(const ContactProblem<Scalar>& given, FrictionLaw wanted) : problem(given), law(wanted) {
    form.write_matrix_free(problem, dual);
  }
  [[nodiscard]] VectorX<Scalar> find(const VectorX<Scalar>& guess) const {
    return ExactRay<Scalar>(problem, dual, law).find(guess);
  }
  [[nodiscard]] VectorX<Scalar> find() const {
    return find(VectorX<Scalar>::Zero(problem.impulse_count()));
  }
  /// Whether a ray is in the cone, cancels, and has a demand.
  [[nodiscard]] bool proves(const VectorX<Scalar>& ray) const {
    if (ray.size() != problem.impulse_count()) return false;
    const BodyRayMeasures<Scalar> measures(problem, dual);
    return (ray_in_cone(dual, law, ray) - ray).norm() <= rounding(16, ray.norm()) &&
           measures.net(ray) == Scalar(0) && measures.load(ray, true).drive() > Scalar(0);
  }
};

/// How far a ray points away from another one.
template <typename Scalar>
Scalar angle(const VectorX<Scalar>& a, const VectorX<Scalar>& b) {
  return (a.normalized() - b.normalized()).norm();
}

}  // namespace

TEMPLATE_TEST_CASE("exact_ray: a ray is found where the scenes have no answer, and only there",
                   "[solvers][scene]", float, double) {
  using Scalar = TestType;
  using namespace carom::examples;
  VectorSource<double> source(7106u);
  for (int sample = 0; sample < 24; ++sample) {
    const FrictionLaw law = laws[sample % 2];
    const auto along = Vector3<Scalar>(source.vector<3>(1, 0).cast<Scalar>()).normalized();
    const auto search = [&](const ContactProblem<Scalar>& problem) {
      return Search<Scalar>(problem, law);
    };
    const auto guess = [&](const ContactProblem<Scalar>& problem) {
      return VectorX<Scalar>(
          carom::testing::draw_matrix(source, problem.impulse_count(), 1).template cast<Scalar>());
    };
    CAPTURE(sample);
    ClosingSlot<Scalar> slot{.friction = Scalar(0.3)};
    slot.mass = Scalar(source.positive(8));
    slot.across = along;
    slot.gap = Scalar(0.01);
    slot.closing = closing_limit(slot) * Scalar(1.01);
    const auto closed = make_closing_slot(slot);
    CHECK(search(closed).proves(search(closed).find()));
    CHECK(search(closed).proves(search(closed).find(guess(closed))));
    slot.closing = closing_limit(slot) * Scalar(0.99);
    const auto open = make_closing_slot(slot);
    CHECK(search(open).find().size() == 0);
    CHECK(search(open).find(guess(open)).size() == 0);

    NarrowWell<Scalar> well{.count = 1 + sample % 6};
    well.mass_ratio = Scalar(source.pick({1e-2, 1, 1e3}));
    well.along = along;
    well.friction = 0;
    const auto narrow = make_narrow_well(well);
    const VectorX<Scalar> ray = search(narrow).find();
    CHECK(search(narrow).proves(ray));
    if (ray.size() > 0) CHECK(angle(ray, narrow_well_ray(well)) <= rounding(32, Scalar(1)));
    CHECK(search(narrow).proves(search(narrow).find(guess(narrow))));
    well.missing = Scalar(-1e-3);
    CHECK(search(make_narrow_well(well)).find().size() == 0);

    RunningChannel<Scalar> channel;
    channel.mass = Scalar(source.positive(8));
    const auto running = make_running_channel(channel);
    const VectorX<Scalar> slides = search(running).find();
    if (law == FrictionLaw::coulomb) {
      CHECK(slides.size() == 0);
      continue;
    }
    CHECK(search(running).proves(slides));
    if (slides.size() > 0) {
      CHECK(angle(slides, running_channel_ray(channel)) <= by_solver(Scalar(1e-3)));
    }
  }
}

TEMPLATE_TEST_CASE("exact_ray: it is found among feasible bodies of all masses, and not without it",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  carom::testing::FeasibleProblems<Scalar> draws(7107u, sizeof(Scalar) == 4 ? 4 : 12);
  const int count = carom::testing::sweep(20, 120);
  int found = 0;
  for (int sample = 0; sample < count; ++sample) {
    auto answered = draws.draw(sample);
    CAPTURE(sample);
    const VectorX<Scalar> impulse = answered.impulse;
    {
      const Search<Scalar> search(answered.problem, FrictionLaw::coulomb);
      CHECK(search.find(impulse).size() == 0);
      CHECK(search.find().size() == 0);
    }
    const auto what = carom::testing::Contradiction(sample % 4);
    const VectorX<Scalar> exact =
        carom::testing::contradict(answered.problem, what, draws, draws.speed() / 10);
    const Search<Scalar> search(answered.problem, laws[sample / 4 % 2]);
    CHECK(search.proves(exact));
    const VectorX<Scalar> ray = search.find();
    if (ray.size() == 0) continue;
    CHECK(search.proves(ray));
    ++found;
  }
  CHECK(100 * found >= 95 * count);
}

TEST_CASE("exact_ray: compliant walls and no contacts at all have no exact ray",
          "[solvers][example]") {
  using Body = Eigen::Matrix3d;
  ContactProblem<double> problem(0.01);
  problem.add_body(Body(Body::Identity()), Vector3<double>(0, 0, 0));
  CHECK(Search<double>(problem, FrictionLaw::coulomb).find().size() == 0);
  for (const bool rigid : {false, true}) {
    ContactProblem<double> walls = problem;
    for (const double side : {1.0, -1.0}) {
      walls.add_contact(
          0, Body(side * Body::Identity()),
          carom::WeightedContact<double>{0.5, {0.1, 0.1}, Vector3<double>(0, 0, 1), rigid});
    }
    const Search<double> search(walls, FrictionLaw::coulomb);
    CHECK(search.find().size() == (rigid ? 6 : 0));
  }
}

}  // namespace exact_ray_test
