// SPDX-License-Identifier: BSD-3-Clause
#include "carom/cones/friction_cone_batch.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace friction_cone_batch_test {

using carom::ContactWeights, carom::FrictionCone, carom::FrictionConeBatch, carom::Index;
using carom::PerContact, carom::TripleArrays, carom::Vector3;
using namespace carom::testing;

namespace {

/// How a batch is laid out in memory.
struct Layout {
  Index count;
  bool shared_friction, shared_weights, in_place;
  int offset;  ///< of the first number from the start of its allocation
};

constexpr int guard_count = 20;  ///< more numbers than one register holds

/// Arrays of a batch between guards. Inputs that must not matter are NaN; outputs that must not be
/// written hold a value that no projection gives.
template <typename Scalar>
struct Problem {
  using Numbers = std::vector<Scalar>;
  static constexpr Scalar nan = std::numeric_limits<Scalar>::quiet_NaN();
  static constexpr Scalar guard = Scalar(-12345);

  Layout layout;
  Numbers y[3], out[3], friction, tangent_weight, normal_weight;
  Scalar softness = 0;

  explicit Problem(const Layout& given) : layout(given) {
    const std::size_t size = std::size_t(given.count + given.offset + guard_count);
    for (Numbers* inputs : {&y[0], &y[1], &y[2], &friction, &tangent_weight, &normal_weight}) {
      inputs->assign(size, nan);
    }
    // A shared number read once too often: NaN would send the register to the one-by-one path,
    // which is right, so every other batch holds a plain wrong number there.
    if (given.count % 2 == 1) {
      if (given.shared_friction) friction.assign(size, Scalar(7));
      if (given.shared_weights) {
        tangent_weight.assign(size, Scalar(7));
        normal_weight.assign(size, Scalar(11));
      }
    }
    for (Numbers& outputs : out) outputs.assign(size, guard);
  }

  [[nodiscard]] std::size_t at(Index i) const { return std::size_t(i + layout.offset); }

  void set(Index i, Scalar mu, const ContactWeights<Scalar>& weights, const Vector3<Scalar>& x) {
    for (int k = 0; k < 3; ++k) y[k][at(i)] = x(k);
    if (i == 0 || !layout.shared_friction) friction[at(i)] = mu;
    if (i == 0 || !layout.shared_weights) {
      tangent_weight[at(i)] = weights.tangent;
      normal_weight[at(i)] = weights.normal;
    }
  }

  [[nodiscard]] FrictionCone<Scalar> cone(Index i) const {
    return {friction[at(layout.shared_friction ? 0 : i)], softness};
  }
  [[nodiscard]] ContactWeights<Scalar> weights(Index i) const {
    const std::size_t k = at(layout.shared_weights ? 0 : i);
    return {tangent_weight[k], normal_weight[k]};
  }
  [[nodiscard]] Vector3<Scalar> trial(Index i) const {
    return {y[0][at(i)], y[1][at(i)], y[2][at(i)]};
  }

  /// Projects into out, or over a copy of the trial impulses when in place.
  void run() {
    if (layout.in_place) {
      for (int k = 0; k < 3; ++k) out[k] = y[k];
    }
    const Numbers* source = layout.in_place ? out : y;
    const auto offset = layout.offset;
    const FrictionConeBatch<Scalar> batch{
        layout.count,
        {source[0].data() + offset, source[1].data() + offset, source[2].data() + offset},
        {friction.data() + offset, layout.shared_friction},
        {tangent_weight.data() + offset, layout.shared_weights},
        {normal_weight.data() + offset, layout.shared_weights},
        softness};
    const TripleArrays<Scalar> point{out[0].data() + offset, out[1].data() + offset,
                                     out[2].data() + offset};
    project(batch, point);
  }

  /// Whether everything outside [0, count) is as it was.
  [[nodiscard]] bool untouched_outside() const {
    for (const Numbers& outputs : out) {
      for (std::size_t k = 0; k < outputs.size(); ++k) {
        if (k >= at(0) && k < at(layout.count)) continue;
        if (layout.in_place ? !std::isnan(outputs[k]) : outputs[k] != guard) return false;
      }
    }
    return true;
  }

  /// Compares every contact with the scalar projection, in the metric.
  void compare(WorstCase& worst, const char* kind) const {
    for (Index i = 0; i < layout.count; ++i) {
      const Vector3<Scalar> p(out[0][at(i)], out[1][at(i)], out[2][at(i)]);
      const auto expected = project(cone(i), weights(i), trial(i));
      const auto [tangent, normal] = weights(i);
      const Vector3<Scalar> diagonal(tangent, tangent, normal);
      const Vector3<Scalar> y_soft(trial(i).x(), std::hypot(trial(i).y(), softness), trial(i).z());
      const long double epsilon = std::numeric_limits<Scalar>::epsilon();
      worst.see(distance_in(diagonal, p, expected.point), 8 * epsilon * norm_in(diagonal, y_soft),
                kind, layout.count, i, layout.shared_friction, layout.shared_weights,
                layout.in_place, cone(i).friction, diagonal, trial(i), expected.region, p,
                expected.point);
    }
  }
};

/// A trial impulse of every sort: each region, on the axis, at the apex, on both surfaces, level,
/// and near both ends of the type's range.
template <typename Scalar>
Vector3<Scalar> draw_trial(VectorSource<Scalar>& source, double extreme_share) {
  using Limits = std::numeric_limits<Scalar>;
  Vector3<Scalar> y = source.template vector<3>(4, 0.1);
  const double kind = source.unit();
  if (kind < 0.05) y.template head<2>().setZero();
  if (kind > 0.05 && kind < 0.08) y.setZero();
  if (kind > 0.08 && kind < 0.11) y = Vector3<Scalar>(3, 0, 4) * source.positive(4);
  if (kind > 0.11 && kind < 0.14) y = Vector3<Scalar>(-3, -4, 0);
  if (source.unit() < extreme_share) {
    const Scalar ends[] = {std::sqrt(Limits::max()), Limits::max() / 1024, Limits::min(),
                           Limits::denorm_min(), std::sqrt(Limits::min())};
    y *= ends[std::size_t(5 * source.unit())] / y.cwiseAbs().maxCoeff();
    if (!y.allFinite()) y.setZero();
  }
  return y;
}

template <typename Scalar>
void fill(Problem<Scalar>& problem, VectorSource<Scalar>& source, double extreme_share) {
  for (Index i = 0; i < problem.layout.count; ++i) {
    const Scalar mu = source.unit() < 0.2 ? Scalar(0.75) : source.non_negative(2);
    const ContactWeights<Scalar> weights{source.positive(2), source.positive(2)};
    problem.set(i, mu, weights, draw_trial(source, extreme_share));
  }
}

/// Every count up to 70, with and without sharing, in place or not, aligned and not.
template <typename Visit>
void for_each_layout(const Visit& visit) {
  for (Index count = 0; count <= 70; ++count) {
    for (int bits = 0; bits < 8; ++bits) {
      visit(
          Layout{count, (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, int(count + bits) % 3});
    }
  }
}

template <typename Scalar>
void check_every_layout(const char* kind, double extreme_share, double soft_share) {
  WorstCase same("equals the scalar projection"), outside("writes nothing else");
  VectorSource<Scalar> source(101);
  for_each_layout([&](const Layout& layout) {
    Problem<Scalar> problem(layout);
    fill(problem, source, extreme_share);
    if (source.unit() < soft_share) problem.softness = Scalar(1e-4);
    problem.run();
    problem.compare(same, kind);
    outside.see_holds(problem.untouched_outside(), kind, layout.count, layout.offset);
  });
  same.check(10000);
  outside.check(71 * 8);
}

}  // namespace

TEMPLATE_TEST_CASE("friction_cone_batch: equals the scalar projection in every layout",
                   "[cones][law]", float, double) {
  check_every_layout<TestType>("ordinary numbers", 0.0, 0.0);
}

TEMPLATE_TEST_CASE("friction_cone_batch: lanes beyond the safe range keep their neighbours right",
                   "[cones][law]", float, double) {
  check_every_layout<TestType>("some lanes extreme", 0.05, 0.0);
  check_every_layout<TestType>("half of the lanes extreme", 0.5, 0.0);
}

TEMPLATE_TEST_CASE("friction_cone_batch: a soft norm is the scalar one", "[cones][law]", float,
                   double) {
  check_every_layout<TestType>("soft norm", 0.02, 1.0);
}

TEMPLATE_TEST_CASE("friction_cone_batch: weights and friction over twelve decades", "[cones][law]",
                   float, double) {
  WorstCase same("twelve decades of everything");
  VectorSource<TestType> source(102);
  for (int repeat = 0; repeat < 40; ++repeat) {
    Problem<TestType> problem({64, repeat % 2 == 1, repeat % 4 > 1, false, 1});
    for (Index i = 0; i < 64; ++i) {
      problem.set(i, source.non_negative(12), {source.positive(12), source.positive(12)},
                  source.template vector<3>(12));
    }
    problem.run();
    problem.compare(same, "decades");
  }
  same.check(2560);
}

TEMPLATE_TEST_CASE("friction_cone_batch: all contacts in one region", "[cones][example]", float,
                   double) {
  // Stick, slide, separate: whole registers of one kind, exact where the scalar one is.
  const TestType mu = TestType(0.75);
  const Vector3<TestType> stick(1, 1, 8), slide(5, 0, 0), separate(1, 2, -8);
  for (const Vector3<TestType>& y : {stick, slide, separate}) {
    for (const Index count : {Index(1), Index(16), Index(37)}) {
      Problem<TestType> problem({count, true, true, false, 0});
      for (Index i = 0; i < count; ++i) problem.set(i, mu, {1, 1}, y);
      problem.run();
      CAPTURE(count, y.transpose());
      for (Index i = 0; i < count; ++i) {
        const Vector3<TestType> p(problem.out[0][problem.at(i)], problem.out[1][problem.at(i)],
                                  problem.out[2][problem.at(i)]);
        if (y == stick) CHECK(p == y);
        if (y == separate) CHECK(p == Vector3<TestType>::Zero());
        if (y == slide) {
          CHECK((p - Vector3<TestType>(TestType(1.8), 0, TestType(2.4))).norm() <=
                rounding(4, TestType(5)));
        }
      }
    }
  }
}

TEMPLATE_TEST_CASE("friction_cone_batch: without friction a huge normal over a tiny tangent stays",
                   "[cones][regression]", float, double) {
  // Both numbers are in the safe range; their quotient is not.
  using Limits = std::numeric_limits<TestType>;
  const TestType tiny = std::sqrt(carom::detail::safe_low<TestType>) * 2;
  const TestType huge = Limits::max() * Limits::epsilon() / 64;
  Problem<TestType> problem({33, false, true, false, 0});
  for (Index i = 0; i < 33; ++i) problem.set(i, TestType(0), {1, 1}, {tiny, 0, huge});
  problem.run();
  WorstCase worst("P(y) = (0, 0, yn)");
  for (Index i = 0; i < 33; ++i) {
    worst.see_holds(problem.out[0][problem.at(i)] == 0 && problem.out[2][problem.at(i)] == huge, i,
                    problem.out[0][problem.at(i)], problem.out[2][problem.at(i)]);
  }
  worst.check(33);
}

TEMPLATE_TEST_CASE("friction_cone_batch: overflow on the way is noticed in every product",
                   "[cones][regression]", float, double) {
  // Each case drives one intermediate number out of range while the answer stays in it.
  const TestType big = std::sqrt(std::numeric_limits<TestType>::max());
  const struct {
    TestType mu;
    ContactWeights<TestType> weights;
    Vector3<TestType> y;
  } cases[] = {
      {1, {1, 1}, {4 * big, big, -big}},                 // squares of the tangents
      {4 * big, {1, 1}, {1, 2, -1}},                     // mu^2
      {1, {4 * big, 4 * big}, {4, 3, big / 8}},          // weight times impulse
      {1, {4 * big, 4 * big}, {big / 8, 3, -1}},         // pull times tangent
      {1, {4 * big, 4 * big}, {big / 8, 0, -big / 16}},  // both, of opposite sign
      {1, {1, 1}, {1 / (4 * big), 1 / (8 * big), 0}},    // squares underflow
      {1 / (4 * big), {1, 1 / (4 * big)}, {1, 0, 1}},    // small numbers, ordinary answer
  };
  WorstCase same("equals the scalar projection");
  for (const auto& each : cases) {
    for (const Index lane : {Index(0), Index(1), Index(7), Index(15)}) {
      Problem<TestType> problem({32, false, false, false, 1});
      for (Index i = 0; i < 32; ++i) problem.set(i, 1, {1, 1}, {3, 4, 1});
      problem.set(lane, each.mu, each.weights, each.y);
      problem.run();
      problem.compare(same, "one product out of range");
    }
  }
  same.check(7 * 4 * 32);
}

}  // namespace friction_cone_batch_test
