// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/impact_derivative.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>
#include <span>
#include <type_traits>
#include <vector>

#include <Eigen/Dense>

#include "carom/impact/simultaneous.hpp"

#include "support/catch.hpp"
#include "support/impact_scenes.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace impact_derivative_test {

using namespace carom::testing;
using carom::ImpactBoundary, carom::ImpactDerivative, carom::ImpactDifferential;
using carom::ImpactLinearization, carom::ImpactMotion, carom::ImpactProblem, carom::ImpactResolver;
using carom::Index, carom::MassMatrix, carom::MatrixX, carom::NewtonImpact, carom::PlasticImpact;
using carom::PlasticLaw, carom::RestitutionImpact, carom::SweepOrder, carom::VectorX;

namespace {

/// All that an impact depends on.
template <typename Scalar>
struct Data {
  MatrixX<Scalar> mass, normals;
  VectorX<Scalar> motion;  ///< p⁻ or v⁻
  VectorX<Scalar> restitution;

  [[nodiscard]] Data moved(const ImpactDifferential<Scalar>& by, Scalar step) const {
    Data result = *this;
    result.mass += step / 2 * (by.mass + by.mass.transpose());
    result.normals += step * by.normals;
    result.motion += step * by.motion;
    result.restitution += step * by.restitution;
    return result;
  }
};

enum class Kind {
  elastic,
  first,
  simultaneous,
  by_energy_simultaneous,
  least,
  sweep,
  by_energy,
  by_energy_bilateral,
  newton,
  plastic,
  bilateral
};
constexpr Kind kinds[] = {Kind::elastic,
                          Kind::first,
                          Kind::simultaneous,
                          Kind::least,
                          Kind::sweep,
                          Kind::by_energy,
                          Kind::by_energy_simultaneous,
                          Kind::by_energy_bilateral,
                          Kind::newton,
                          Kind::plastic,
                          Kind::bilateral};
constexpr int kind_count = int(std::size(kinds));

Index restitution_count(Kind kind, Index contacts) {
  if (kind == Kind::newton) return contacts;
  const bool by_energy = kind == Kind::by_energy || kind == Kind::by_energy_bilateral ||
                         kind == Kind::by_energy_simultaneous;
  return by_energy ? 1 : 0;
}

/// Prepares a law for the data, and calls visit(mass, problem, law).
template <typename Scalar, typename Visit>
void with_law(Kind kind, const Data<Scalar>& data, const Visit& visit) {
  const auto mass = MassMatrix<Scalar>::make_dense(data.mass);
  ImpactProblem<Scalar> problem(mass.size());
  for (Index i = 0; i < data.normals.cols(); ++i) {
    problem.add_contact(mass, VectorX<Scalar>(data.normals.col(i)));
  }
  problem.prepare();
  const auto run = [&](auto law) {
    if constexpr (std::is_same_v<decltype(law), NewtonImpact<Scalar>>) {
      law.prepare(problem, data.restitution, 5000);
    } else if constexpr (std::is_same_v<decltype(law), PlasticImpact<Scalar>>) {
      law.prepare(problem);
    } else {
      law.prepare(problem, 20'000);
    }
    visit(mass, problem, law);
  };
  switch (kind) {
    case Kind::elastic:
      return run(ImpactResolver<Scalar>());
    case Kind::first:
      return run(ImpactResolver<Scalar, carom::MostInfeasibleFirst<Scalar>>());
    case Kind::simultaneous:
      return run(carom::GeneralizedReflections<Scalar>());
    case Kind::by_energy_simultaneous:
      return run(carom::SimultaneousImpact<Scalar>(data.restitution(0)));
    case Kind::least:
      return run(ImpactResolver<Scalar, carom::LeastInfeasibleFirst<Scalar>>());
    case Kind::sweep:
      return run(ImpactResolver<Scalar, SweepOrder<Scalar>>());
    case Kind::by_energy:
      return run(RestitutionImpact<Scalar>(data.restitution(0)));
    case Kind::by_energy_bilateral:
      return run(RestitutionImpact<Scalar>(data.restitution(0), PlasticLaw::bilateral));
    case Kind::newton:
      return run(NewtonImpact<Scalar>());
    case Kind::plastic:
      return run(PlasticImpact<Scalar>());
    case Kind::bilateral:
      return run(PlasticImpact<Scalar>(PlasticLaw::bilateral));
  }
}

template <typename Scalar>
struct Outcome {
  VectorX<Scalar> motion;
  std::vector<Index> sequence;
  std::vector<bool> pushed;  ///< which contacts had an impulse
};

template <typename Scalar>
VectorX<Scalar> momentum_of(const Data<Scalar>& data, ImpactMotion of) {
  return of == ImpactMotion::momentum ? data.motion : VectorX<Scalar>(data.mass * data.motion);
}

template <typename Scalar>
Outcome<Scalar> resolve(Kind kind, const Data<Scalar>& data, ImpactMotion of) {
  Outcome<Scalar> result;
  with_law(kind, data, [&](const auto& mass, const auto& problem, auto& law) {
    result.motion = momentum_of(data, of);
    static_cast<void>(law.resolve(problem, result.motion));
    if (of == ImpactMotion::velocity) mass.apply_inverse(result.motion);
    if constexpr (requires { law.sequence(); }) {
      result.sequence.assign(law.sequence().begin(), law.sequence().end());
    }
    for (Index i = 0; i < problem.contact_count(); ++i) {
      result.pushed.push_back(*(law.impulses().data() + i) != Scalar(0));
    }
  });
  return result;
}

/// A derivative, its mass, and what pushes forward or pulls back motions of one kind.
template <typename Scalar>
struct Linearized {
  ImpactDerivative<Scalar> derivative;
  MassMatrix<Scalar> mass;
  ImpactMotion of;
  ImpactLinearization status = ImpactLinearization::not_finite;

  Linearized(Kind kind, const Data<Scalar>& data, ImpactMotion motion) : of(motion) {
    with_law(kind, data, [&](const auto& given, const auto& problem, auto& law) {
      const VectorX<Scalar> before = momentum_of(data, of);
      VectorX<Scalar> after = before;
      static_cast<void>(law.resolve(problem, after));
      mass = given;
      status = derivative.linearize(problem, mass, data.normals, before, law);
    });
  }
  [[nodiscard]] VectorX<Scalar> push(const ImpactDifferential<Scalar>& change) {
    VectorX<Scalar> result;
    if (of == ImpactMotion::momentum) {
      derivative.push_forward(change, result);
    } else {
      derivative.push_forward_velocity(mass, change, result);
    }
    return result;
  }
  [[nodiscard]] ImpactDifferential<Scalar> pull(const VectorX<Scalar>& by_motion) {
    ImpactDifferential<Scalar> gradient;
    derivative.set_zero(gradient);
    if (of == ImpactMotion::momentum) {
      derivative.pull_back(by_motion, gradient);
    } else {
      derivative.pull_back_velocity(mass, by_motion, gradient);
    }
    return gradient;
  }
  [[nodiscard]] ImpactDifferential<Scalar> zero() const {
    ImpactDifferential<Scalar> change;
    derivative.set_zero(change);
    return change;
  }
  /// d motion⁺/d motion⁻.
  [[nodiscard]] MatrixX<Scalar> by_motion() {
    ImpactDifferential<Scalar> change = zero();
    MatrixX<Scalar> result(change.motion.size(), change.motion.size());
    for (Index i = 0; i < result.cols(); ++i) {
      change.motion = VectorX<Scalar>::Unit(result.rows(), i);
      result.col(i) = push(change);
    }
    return result;
  }
};

template <typename Scalar>
ImpactDifferential<Scalar> draw_change(VectorSource<double>& source,
                                       ImpactDifferential<Scalar> zero) {
  const auto draw = [&](auto& numbers) {
    for (Index i = 0; i < numbers.size(); ++i) {
      numbers.data()[i] = Scalar(2 * source.unit() - 1);
    }
  };
  draw(zero.motion), draw(zero.normals), draw(zero.mass), draw(zero.restitution);
  return zero;
}

/// Contacts that some motion opens at once, or, wedged, any.
template <typename Scalar>
Data<Scalar> draw_data(VectorSource<double>& source, Kind kind, Index size, Index contacts,
                       bool wedged = false) {
  MatrixX<double> normals(size, contacts);
  const VectorX<double> opening = draw_vector(source, size);
  for (Index i = 0; i < contacts; ++i) {
    VectorX<double> normal = draw_vector(source, size);
    const double opens = normal.dot(opening);
    if (!wedged && opens < 0) normal = -normal;
    normals.col(i) = (0.5 + source.unit()) * normal;
  }
  const MatrixX<double> mass = draw_definite(source, size);
  VectorX<double> motion = draw_vector(source, size);
  if (!wedged) motion -= opening;
  VectorX<double> restitution(restitution_count(kind, contacts));
  for (double& e : restitution) e = 0.05 + 0.9 * source.unit();
  return {mass.cast<Scalar>(), normals.cast<Scalar>(), motion.cast<Scalar>(),
          restitution.cast<Scalar>()};
}

template <typename Scalar>
Scalar size_of(const ImpactDifferential<Scalar>& d) {
  return d.motion.norm() + d.normals.norm() + d.mass.norm() + d.restitution.norm();
}

/// Balls in line of given masses, one contact between neighbours.
template <typename Scalar>
Data<Scalar> line_of_balls(const VectorX<Scalar>& masses, const VectorX<Scalar>& velocity) {
  const Index n = masses.size();
  MatrixX<Scalar> normals = MatrixX<Scalar>::Zero(n, n - 1);
  for (Index i = 0; i + 1 < n; ++i) {
    normals(i, i) = -1;
    normals(i + 1, i) = 1;
  }
  return {masses.asDiagonal(), normals, velocity, VectorX<Scalar>()};
}

std::vector<Index> numbers_of(std::span<const Index> numbers) {
  return {numbers.begin(), numbers.end()};
}

}  // namespace

TEMPLATE_TEST_CASE("impact_derivative: the two products are each other's transposes",
                   "[impact][law]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(91u);
  WorstCase transposed("<y, push x> = <pull y, x>"), symmetric("M's gradient is symmetric");
  int usable = 0, count = 0;
  for (int round = 0; round < 40 * kind_count; ++round) {
    const Kind kind = kinds[round % kind_count];
    // Where the bilateral law leaves nothing, its blend with another nothing is rounding.
    const bool wedged = round % 5 == 4 && kind != Kind::by_energy_bilateral;
    const Index size = 1 + (round / kind_count) % 6;
    const Index contacts = wedged ? size + 2 : 1 + (round / 3) % size;
    const auto data = draw_data<Scalar>(source, kind, size, contacts, wedged);
    for (const auto of : {ImpactMotion::momentum, ImpactMotion::velocity}) {
      Linearized<Scalar> linearized(kind, data, of);
      ++count;
      if (linearized.status != ImpactLinearization::usable) continue;
      ++usable;
      const auto x = draw_change(source, linearized.zero());
      const VectorX<Scalar> y = draw_vector(source, size).template cast<Scalar>();
      const VectorX<Scalar> pushed = linearized.push(x);
      const auto pulled = linearized.pull(y);
      const Scalar scale = (y.norm() + size_of(pulled)) * (pushed.norm() + size_of(x));
      transposed.see(std::abs(y.dot(pushed) - pulled.dot(x)), rounding(4000, scale), data.mass,
                     data.normals, data.motion, int(kind), wedged);
      symmetric.see_holds(pulled.mass == pulled.mass.transpose(), data.mass);
    }
  }
  CHECK(usable == count);
  transposed.check(usable);
  symmetric.check(usable);
}

TEST_CASE("impact_derivative: data without the mass are those of a mass that stays as it is",
          "[impact][law]") {
  VectorSource<double> source(97u);
  for (const Kind kind : kinds) {
    const auto data = draw_data<double>(source, kind, 4, 3);
    for (const auto of : {ImpactMotion::momentum, ImpactMotion::velocity}) {
      Linearized<double> linearized(kind, data, of);
      CAPTURE(int(kind), int(of));
      REQUIRE(linearized.status == ImpactLinearization::usable);
      auto change = draw_change(source, linearized.zero());
      change.mass.setZero();
      auto without = change;
      without.mass.grow(0, 0);
      CHECK(linearized.push(without) == linearized.push(change));

      const VectorX<double> y = draw_vector(source, 4);
      const auto whole = linearized.pull(y);
      ImpactDifferential<double> gradient;
      linearized.derivative.set_zero(gradient, false);
      if (of == ImpactMotion::momentum) {
        linearized.derivative.pull_back(y, gradient);
      } else {
        linearized.derivative.pull_back_velocity(linearized.mass, y, gradient);
      }
      CHECK(gradient.mass.size() == 0);
      CHECK(gradient.motion == whole.motion);
      CHECK(gradient.normals == whole.normals);
      CHECK(gradient.restitution == whole.restitution);
      // A product is over what both contain.
      const auto other = draw_change(source, linearized.zero());
      const double both = gradient.dot(other), in_turn = other.dot(gradient);
      CHECK(both == in_turn);
      CHECK(std::abs(both + whole.mass.cwiseProduct(other.mass).sum() - whole.dot(other)) <=
            rounding(100, size_of(whole) * size_of(other)));
    }
  }
}

TEST_CASE("impact_derivative: it is what differences of the resolver say", "[impact][derivative]") {
  VectorSource<double> source(92u);
  WorstCase agrees("push = (outcome at +h - outcome at -h)/2h");
  int followed[kind_count] = {}, wedges = 0;
  for (int round = 0; round < 100 * kind_count; ++round) {
    const Kind kind = kinds[round % kind_count];
    const bool wedged = round % 5 == 4;
    const Index size = 1 + (round / kind_count) % 5;
    const Index contacts = wedged ? size + 2 : 1 + (round / 3) % size;
    // The bilateral law of dependent normals jumps: see below.
    if (wedged && (kind == Kind::bilateral || kind == Kind::by_energy_bilateral)) continue;
    const auto data = draw_data<double>(source, kind, size, contacts, wedged);
    for (const auto of : {ImpactMotion::momentum, ImpactMotion::velocity}) {
      Linearized<double> linearized(kind, data, of);
      CAPTURE(int(kind), wedged, round, data.mass, data.normals, data.motion, data.restitution);
      REQUIRE(linearized.status == ImpactLinearization::usable);
      const auto change = draw_change(source, linearized.zero());
      const double h = 1e-6;
      const auto at = resolve(kind, data, of);
      const auto ahead = resolve(kind, data.moved(change, h), of);
      const auto behind = resolve(kind, data.moved(change, -h), of);
      const bool same = ahead.sequence == at.sequence && behind.sequence == at.sequence &&
                        ahead.pushed == at.pushed && behind.pushed == at.pushed;
      if (!same || !linearized.derivative.one_sided().empty()) continue;
      ++followed[int(kind)];
      wedges += wedged;
      const VectorX<double> slope = (ahead.motion - behind.motion) / (2 * h);
      const VectorX<double> wide = (resolve(kind, data.moved(change, 2 * h), of).motion -
                                    resolve(kind, data.moved(change, -2 * h), of).motion) /
                                   (4 * h);
      // Both differences tell how far the slope itself changes over the step.
      const double allowed = by_differences(1e-7) * (1 + slope.norm()) + 2 * (wide - slope).norm();
      agrees.see((linearized.push(change) - slope).norm(), allowed, data.mass, data.normals,
                 data.motion, data.restitution, int(kind), wedged);
    }
  }
  agrees.check(1000);
  for (const int count : followed) CHECK(count > 100);
  CHECK(wedges > 100);
}

TEMPLATE_TEST_CASE("impact_derivative: two balls, in closed form", "[impact][example]", float,
                   double) {
  using Scalar = TestType;
  using Vector2 = Eigen::Matrix<Scalar, 2, 1>;
  const Scalar allowed = rounding(8, Scalar(1));
  MatrixX<Scalar> swap(2, 2);
  swap << 0, 1, 1, 0;
  for (const auto of : {ImpactMotion::momentum, ImpactMotion::velocity}) {
    Linearized<Scalar> equal(Kind::elastic,
                             line_of_balls<Scalar>(Vector2(1, 1), Vector2(1, Scalar(-0.3))), of);
    REQUIRE(equal.status == ImpactLinearization::usable);
    CHECK((equal.by_motion() - swap).norm() <= allowed);
    CHECK(equal.derivative.one_sided().empty());
  }
  // v1+ = ((m1 − e m2) v1 + (1 + e) m2 v2)/(m1 + m2), and by energy R is e.
  const Scalar m1 = 2, m2 = 3, v1 = 1, v2 = Scalar(-0.5), sum = m1 + m2;
  for (const Scalar e : {Scalar(0.4), Scalar(0)}) {
    for (const Kind kind : {Kind::newton, Kind::by_energy, Kind::by_energy_bilateral}) {
      auto data = line_of_balls<Scalar>(Vector2(m1, m2), Vector2(v1, v2));
      data.restitution = VectorX<Scalar>::Constant(1, e);
      Linearized<Scalar> linearized(kind, data, ImpactMotion::velocity);
      REQUIRE(linearized.status == ImpactLinearization::usable);
      const auto gradient = linearized.pull(Vector2(1, 0));
      CAPTURE(e, int(kind), gradient.motion, gradient.mass, gradient.restitution);
      CHECK(std::abs(gradient.motion(0) - (m1 - e * m2) / sum) <= allowed);
      CHECK(std::abs(gradient.motion(1) - (1 + e) * m2 / sum) <= allowed);
      CHECK(std::abs(gradient.restitution(0) - m2 * (v2 - v1) / sum) <= allowed);
      const Scalar by_m1 = (1 + e) * m2 * (v1 - v2) / (sum * sum);
      CHECK(std::abs(gradient.mass(0, 0) - by_m1) <= allowed);
      CHECK(std::abs(gradient.mass(1, 1) + by_m1 * m1 / m2) <= allowed);
    }
  }
}

TEST_CASE("impact_derivative: equal balls in line pass changes on as they sort velocities",
          "[impact][example]") {
  VectorSource<double> source(94u);
  for (Index n = 2; n <= 8; ++n) {
    VectorX<double> velocity = draw_vector(source, n);
    auto data = line_of_balls<double>(VectorX<double>::Ones(n), velocity);
    Linearized<double> linearized(Kind::elastic, data, ImpactMotion::velocity);
    REQUIRE(linearized.status == ImpactLinearization::usable);
    MatrixX<double> expected = MatrixX<double>::Zero(n, n);
    for (Index i = 0; i < n; ++i) expected((velocity.array() < velocity(i)).count(), i) = 1;
    CAPTURE(n, velocity);
    CHECK((linearized.by_motion() - expected).norm() <= rounding(40 * int(n), 1.0));
  }
  // Two balls at rest that touch: struck once more or not, the derivative has two sides.
  Linearized<double> cradle(Kind::elastic,
                            line_of_balls<double>(VectorX<double>::Ones(3), vector_of({1, 0, 0})),
                            ImpactMotion::velocity);
  CHECK(numbers_of(cradle.derivative.one_sided()) == std::vector<Index>{0});
  CHECK(cradle.derivative.boundary(0) == ImpactBoundary::rest);
  CHECK(cradle.derivative.boundary(1) == ImpactBoundary::inside);
}

TEST_CASE("impact_derivative: symmetric impacts are named where their order matters",
          "[impact][example]") {
  using std::numbers::pi;
  const auto boundaries = [](const ImpactScene& scene, const VectorX<double>& velocity) {
    Data<double> data{MatrixX<double>::Identity(scene.problem.size(), scene.problem.size()),
                      MatrixX<double>(scene.problem.size(), scene.problem.contact_count()),
                      velocity,
                      {}};
    for (Index i = 0; i < scene.problem.contact_count(); ++i) {
      data.normals.col(i) = scene.normal(i);
    }
    return data;
  };
  // A ball between two, under 100 degrees: either may be struck first, and it matters.
  auto data = boundaries(billiards(100 * pi / 180), vector_of({1, 0, 0, 0, 0, 0}));
  Linearized<double> order(Kind::elastic, data, ImpactMotion::velocity);
  CHECK(numbers_of(order.derivative.one_sided()) == std::vector<Index>{0, 1});
  CHECK(order.derivative.boundary(0) == ImpactBoundary::order);
  auto aside = data;
  aside.motion(1) = 0.01;
  const MatrixX<double> one = Linearized<double>(Kind::elastic, aside, order.of).by_motion();
  aside.motion(1) = -0.01;
  const MatrixX<double> other = Linearized<double>(Kind::elastic, aside, order.of).by_motion();
  CHECK((one - other).norm() > clearly(0.1));  // two sides
  // Between them both are struck together, so that both rates change sign whatever they are.
  const ImpactScene scene = billiards(100 * pi / 180);
  MatrixX<double> rates(2, 6);
  for (Index i = 0; i < 2; ++i) rates.row(i) = scene.normal(i);  // the masses are 1
  CHECK((rates * order.by_motion() + rates).norm() <= rounding(50, 1.0));
  CHECK((order.by_motion() * order.by_motion() - MatrixX<double>::Identity(6, 6)).norm() <=
        rounding(100, 1.0));
  // With the most infeasible first it is that of one of the sides.
  const Linearized<double> first(Kind::first, data, order.of);
  CHECK(numbers_of(first.derivative.one_sided()) == std::vector<Index>{0, 1});
  const MatrixX<double> taken = Linearized<double>(Kind::first, data, order.of).by_motion();
  CHECK(std::min((one - taken).norm(), (other - taken).norm()) <= rounding(50, 1.0));
  // The simultaneous law has no order to choose, and its derivative is the only one.
  const Linearized<double> all(Kind::simultaneous, data, order.of);
  CHECK(all.derivative.one_sided().empty());
  CHECK((Linearized<double>(Kind::simultaneous, data, order.of).by_motion() - order.by_motion())
            .norm() <= rounding(50, 1.0));
  // A sweep does not choose by rates.
  CHECK(Linearized<double>(Kind::sweep, data, order.of).derivative.one_sided().empty());
  CHECK(!Linearized<double>(Kind::least, data, order.of).derivative.one_sided().empty());

  // Two pairs of balls apart from each other: either is struck first, and neither feels it.
  for (const double speed : {1 - 1e-12, 1 + 1e-12}) {
    MatrixX<double> normals = MatrixX<double>::Zero(4, 2);
    normals.col(0) = vector_of({-1, 1, 0, 0});
    normals.col(1) = vector_of({0, 0, -1, 1});
    const Data<double> pairs{
        MatrixX<double>::Identity(4, 4), normals, vector_of({1, 0, speed, 0}), {}};
    const Linearized<double> apart(Kind::first, pairs, ImpactMotion::velocity);
    for (const Index i : {0, 1}) CHECK(apart.derivative.boundary(i) == ImpactBoundary::inside);
  }

  // Under a right angle both orders end alike, unless the angle itself changes.
  data = boundaries(billiards(pi / 2), vector_of({1, 0, 0, 0, 0, 0}));
  Linearized<double> orthogonal(Kind::elastic, data, ImpactMotion::velocity);
  CHECK(orthogonal.derivative.one_sided().empty());
  CHECK(orthogonal.derivative.boundary(0) == ImpactBoundary::shape);
  CHECK(orthogonal.derivative.boundary(1) == ImpactBoundary::shape);

  // Two pairs of balls strike at once, apart from each other.
  Data<double> apart{
      MatrixX<double>::Identity(4, 4), MatrixX<double>(4, 2), vector_of({1, 0, 1, 0}), {}};
  apart.normals << -1, 0, 1, 0, 0, -1, 0, 1;
  Linearized<double> separate(Kind::elastic, apart, ImpactMotion::velocity);
  CHECK(separate.derivative.boundary(0) == ImpactBoundary::inside);
  CHECK(separate.derivative.boundary(1) == ImpactBoundary::inside);

  // A contact that repeats another.
  Data<double> twice{
      MatrixX<double>::Identity(2, 2), MatrixX<double>(2, 2), vector_of({-1, 0.5}), {}};
  twice.normals << 1, 2, 0, 0;
  Linearized<double> repeated(Kind::elastic, twice, ImpactMotion::velocity);
  CHECK(repeated.derivative.one_sided().empty());
  CHECK(repeated.derivative.boundary(1) == ImpactBoundary::shape);
}

TEST_CASE("impact_derivative: contacts at rest are named where they decide", "[impact][example]") {
  // A disc slides along a floor and strikes a wall; another falls on the floor and touches the
  // wall.
  Data<double> corner{
      MatrixX<double>::Identity(2, 2), MatrixX<double>::Identity(2, 2), vector_of({-1, 0}), {}};
  for (const Kind kind : {Kind::elastic, Kind::least, Kind::sweep, Kind::plastic}) {
    corner.motion = vector_of({-1, 0});
    Linearized<double> sliding(kind, corner, ImpactMotion::velocity);
    CAPTURE(int(kind));
    CHECK(numbers_of(sliding.derivative.one_sided()) == std::vector<Index>{1});
    corner.motion = vector_of({-1, -0.1});
    CHECK(Linearized<double>(kind, corner, sliding.of).derivative.one_sided().empty());
    corner.motion = vector_of({-1, 0.1});
    CHECK(Linearized<double>(kind, corner, sliding.of).derivative.one_sided().empty());
  }
  // A rate of zero on the way: the second contact is at rest until the first strikes.
  const auto cradle = line_of_balls<double>(vector_of({2, 1, 1}), vector_of({1, 0, 0}));
  CHECK(Linearized<double>(Kind::elastic, cradle, ImpactMotion::velocity)
            .derivative.one_sided()
            .empty());
  CHECK(numbers_of(Linearized<double>(Kind::least, cradle, ImpactMotion::velocity)
                       .derivative.one_sided()) == std::vector<Index>{1});
}

TEST_CASE("impact_derivative: dependent normals, of changes that keep them dependent",
          "[impact][derivative]") {
  VectorSource<double> source(95u);
  WorstCase agrees("push = differences");
  for (int round = 0; round < 50; ++round) {  // four contacts in a space of three
    MatrixX<double> space(5, 3), mix(3, 4), space_change(5, 3), mix_change(3, 4);
    for (MatrixX<double>* m : {&space, &mix, &space_change, &mix_change}) {
      for (double& x : m->reshaped()) x = 2 * source.unit() - 1;
    }
    const Data<double> data{draw_definite(source, 5), space * mix, draw_vector(source, 5), {}};
    Linearized<double> linearized(Kind::bilateral, data, ImpactMotion::momentum);
    REQUIRE(linearized.status == ImpactLinearization::usable);
    CHECK(linearized.derivative.boundary(0) == ImpactBoundary::shape);
    auto change = draw_change(source, linearized.zero());
    change.normals = space_change * mix + space * mix_change;
    const double h = 1e-5;
    const auto at = [&](double step) {
      auto moved = data.moved(change, step);
      moved.normals = (space + step * space_change) * (mix + step * mix_change);
      return resolve(Kind::bilateral, moved, ImpactMotion::momentum).motion;
    };
    const VectorX<double> slope = (at(h) - at(-h)) / (2 * h);
    const VectorX<double> wide = (at(2 * h) - at(-2 * h)) / (4 * h);
    agrees.see((linearized.push(change) - slope).norm(),
               by_differences(1e-5) * (1 + slope.norm()) + 2 * (wide - slope).norm(), data.mass,
               data.normals, data.motion);
  }
  agrees.check(50);
}

TEST_CASE("impact_derivative: an impact that collapses is followed to its plastic end",
          "[impact][derivative]") {
  auto data = line_of_balls<double>(vector_of({1, 1.1, 0.9, 1}), vector_of({4, 3, 2, 1}));
  data.restitution = vector_of({0.02, 0.03, 0.02});
  Linearized<double> linearized(Kind::newton, data, ImpactMotion::velocity);
  REQUIRE(linearized.status == ImpactLinearization::usable);
  VectorSource<double> source(96u);
  auto change = draw_change(source, linearized.zero());
  const double h = 1e-7;
  const auto ahead = resolve(Kind::newton, data.moved(change, h), ImpactMotion::velocity);
  const auto behind = resolve(Kind::newton, data.moved(change, -h), ImpactMotion::velocity);
  REQUIRE(ahead.sequence == behind.sequence);
  const VectorX<double> slope = (ahead.motion - behind.motion) / (2 * h);
  CHECK((linearized.push(change) - slope).norm() <= by_differences(1e-6) * slope.norm());
}

TEST_CASE("impact_derivative: it refuses what it cannot know", "[impact][example]") {
  const ImpactScene scene = ball_line({1, 1, 1});
  MatrixX<double> gradients(3, 2);
  gradients << -1, 0, 1, -1, 0, 1;
  const VectorX<double> before = vector_of({3, 2, 1});
  ImpactResolver<double> resolver;
  resolver.prepare(scene.problem, 1);  // three reflections, one recorded
  VectorX<double> after = before;
  CHECK(resolver.resolve(scene.problem, after).reflections == 3);
  ImpactDerivative<double> derivative;
  CHECK(derivative.linearize(scene.problem, scene.mass, gradients, before, resolver) ==
        ImpactLinearization::unrecorded);
  resolver.prepare(scene.problem, 3);
  after = before;
  CHECK(resolver.resolve(scene.problem, after).reflections == 3);
  CHECK(derivative.linearize(scene.problem, scene.mass, gradients, before, resolver) ==
        ImpactLinearization::usable);
  const VectorX<double> elsewhere = vector_of({3, 2, 0});
  CHECK(derivative.linearize(scene.problem, scene.mass, gradients, elsewhere, resolver) ==
        ImpactLinearization::unrecorded);
  // The law has resolved an impact of fewer contacts since.
  ImpactProblem<double> fewer(3);
  fewer.add_contact(scene.mass, gradients.col(0));
  fewer.prepare();
  resolver.prepare(fewer, 3);
  VectorX<double> other = before;
  CHECK(resolver.resolve(fewer, other).reflections == 1);
  CHECK(derivative.linearize(scene.problem, scene.mass, gradients, before, resolver) ==
        ImpactLinearization::unrecorded);
  resolver.prepare(scene.problem, 3);
  after = before;
  CHECK(resolver.resolve(scene.problem, after).reflections == 3);
  const VectorX<double> broken = vector_of({3, std::numeric_limits<double>::quiet_NaN(), 1});
  CHECK(derivative.linearize(scene.problem, scene.mass, gradients, broken, resolver) ==
        ImpactLinearization::not_finite);

  // Nothing touches: the motion is what it was.
  const Data<double> open{
      MatrixX<double>::Identity(2, 2), MatrixX<double>(2, 0), vector_of({1, 2}), {}};
  for (const Kind kind : {Kind::elastic, Kind::plastic, Kind::by_energy}) {
    auto data = open;
    data.restitution = VectorX<double>::Constant(restitution_count(kind, 0), 0.5);
    Linearized<double> linearized(kind, data, ImpactMotion::momentum);
    REQUIRE(linearized.status == ImpactLinearization::usable);
    CHECK(linearized.by_motion() == MatrixX<double>::Identity(2, 2));
  }
}

}  // namespace impact_derivative_test
