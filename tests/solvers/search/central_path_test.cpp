// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/search/central_path.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "support/catch.hpp"
#include "support/law_scenes.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace interval_path_test {

using carom::FrictionLaw, carom::ImpulseSet, carom::RowNumbers;
using carom::detail::BlockList, carom::detail::BlockRows, carom::detail::IntervalPath;
using carom::detail::PartMatrix, carom::detail::PartNumbers, carom::detail::PathTarget;
using carom::detail::ProductSum;
using carom::testing::rounding, carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

using Long = long double;
template <typename Scalar>
using Numbers = PartNumbers<Scalar, 2>;

constexpr auto law = FrictionLaw::coulomb;  // does not matter to intervals

/// A row as the test knows it. Velocities push from the lower bound, and pull from the upper.
template <typename Scalar>
struct Row {
  Scalar lower, upper, impulse, push = 0, pull = 0;

  [[nodiscard]] bool fixed() const { return lower == upper; }
  [[nodiscard]] bool has_lower() const { return std::isfinite(lower) && !fixed(); }
  [[nodiscard]] bool has_upper() const { return std::isfinite(upper) && !fixed(); }
  [[nodiscard]] Long above() const { return Long(impulse) - Long(lower); }
  [[nodiscard]] Long below() const { return Long(upper) - Long(impulse); }
};

/// One to six rows of all kinds, well inside of their bounds, and the path at that point.
template <typename Scalar>
struct Case {
  BlockList<Scalar> list;
  int rows = 0;
  Row<Scalar> row[6];
  IntervalPath<Scalar> path;

  explicit Case(VectorSource<Scalar>& source) {
    constexpr auto infinity = std::numeric_limits<Scalar>::infinity();
    rows = 1 + int(source.unit() * 6);
    ImpulseSet<Scalar> set = carom::free_impulses<Scalar>(rows);
    RowNumbers<Scalar> softness = RowNumbers<Scalar>::Zero();
    const Scalar least = Scalar(0.01);
    Numbers<Scalar> gamma, u;
    for (int i = 0; i < rows; ++i) {
      const int kind = int(source.unit() * 5);
      set.lower(i) = kind == 0 || kind == 2 ? -infinity : Scalar(4 * source.unit() - 2);
      set.upper(i) = kind == 0 || kind == 1 ? infinity : Scalar(2.1 + 4 * source.unit());
      if (kind == 3) set.upper(i) = set.lower(i);
      softness(i) = source.non_negative(4, 0.5);
      row[i] = {set.lower(i), set.upper(i), Scalar(0), Scalar(0), Scalar(0)};
    }
    list.add(set, softness, 0);
    list.change(0, [&](auto& block) { block.inverse_mass = source.positive(2); });
    for (int i = 0; i < rows; ++i) {
      gamma(i) = Scalar(8 * source.unit() - 4);
      u(i) = Scalar(2 * source.unit() - 1);
    }
    path.start(block(), gamma, u);
    const Scalar room = Scalar(source.unit()) + least, speed = Scalar(source.unit()) + least;
    path.raise(block(), law, room, speed);
    const Numbers<Scalar> raised = path.impulse(block());
    for (int i = 0; i < rows; ++i) {
      row[i].impulse = raised(i);
      if (row[i].has_lower()) row[i].push = std::max(u(i), Scalar(0)) + speed;
      if (row[i].has_upper()) row[i].pull = std::max(-u(i), Scalar(0)) + speed;
    }
  }
  [[nodiscard]] const BlockRows<Scalar, 2>& block() const {
    const BlockRows<Scalar, 2>* result = nullptr;
    list.visit(0, [&]<int Parts>(const BlockRows<Scalar, Parts>& own) {
      if constexpr (Parts == 2) result = &own;
    });
    return *result;
  }
  [[nodiscard]] Numbers<Scalar> draw(VectorSource<Scalar>& source, double size) const {
    Numbers<Scalar> result;
    for (int i = 0; i < rows; ++i) result(i) = Scalar(size * (2 * source.unit() - 1));
    return result;
  }
};

template <typename Scalar, typename Visit>
void for_each_case(std::uint32_t seed, const Visit& visit) {
  VectorSource<Scalar> source(seed);
  for (int round = 0; round < 400; ++round) {
    Case<Scalar> one(source);
    visit(one, source);
  }
}

/// What one step changes, by the equations: dz = (target − second)/room − z − z/room dγ.
template <typename Scalar>
struct Step {
  Numbers<Scalar> impulse, moved, change;
  Long push[6] = {}, pull[6] = {};
  Scalar inverse = 0;

  Step(Case<Scalar>& one, const PartMatrix<Scalar, 2>& gain, const PathTarget<Scalar>& target,
       const Numbers<Scalar>& gap, const Numbers<Scalar>& given, const Step* before = nullptr)
      : moved(given) {
    Numbers<Scalar> offset;
    one.path.write_offset(one.block(), law, target, gap, offset);
    impulse = offset - gain * moved;
    inverse = one.path.take_step(one.block(), law, impulse, moved, gap,
                                 -std::numeric_limits<Scalar>::infinity());
    change = moved + products(one.block().regularization, impulse) - gap;
    for (int i = 0; i < one.rows; ++i) {
      const Row<Scalar>& row = one.row[i];
      const Long d = impulse(i), product = target.product;
      if (row.has_lower()) {
        const Long second = before ? Long(before->impulse(i)) * before->push[i] : 0;
        push[i] = (product - second - Long(row.push) * d) / row.above() - Long(row.push);
      }
      if (row.has_upper()) {
        const Long second = before ? -Long(before->impulse(i)) * before->pull[i] : 0;
        pull[i] = (product - second + Long(row.pull) * d) / row.below() - Long(row.pull);
      }
    }
  }
};

template <typename Scalar>
void see_equations(const Case<Scalar>& one, const Step<Scalar>& step, WorstCase& law_of_rows,
                   WorstCase& still) {
  for (int i = 0; i < 6; ++i) {
    if (i >= one.rows || one.row[i].fixed()) {
      still.see_holds(step.impulse(i) == 0);
      continue;
    }
    // u = z − y, and u = 0 for rows without bounds: to the softness that such rows have.
    const Row<Scalar>& row = one.row[i];
    const Long du = step.change(i), own = step.push[i] - step.pull[i];
    const Long stiff = (row.has_lower() ? Long(row.push) / row.above() : 0) +
                       (row.has_upper() ? Long(row.pull) / row.below() : 0);
    const Long d = std::abs(Long(step.impulse(i)));
    const Long size = std::abs(du) + std::abs(step.push[i]) + std::abs(step.pull[i]) +
                      std::abs(Long(step.moved(i))) + Long(row.push) + Long(row.pull) +
                      (stiff + Long(one.block().regularization(i))) * d;
    law_of_rows.see(std::abs(du - own),
                    Long(rounding<Scalar>(64, 1)) * size +
                        Long(rounding<Scalar>(1100, 1)) * Long(one.block().inverse_mass) * d,
                    i, row.lower, row.upper, row.impulse, step.impulse, step.moved);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("interval_path: N and h solve the linearised equations of all kinds of rows",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  WorstCase rows("u = z − y"), still("fixed and absent rows"), diagonal("rows stand alone");
  for_each_case<Scalar>(1, [&](Case<Scalar>& one, auto& source) {
    PartMatrix<Scalar, 2> gain;
    REQUIRE(one.path.write_gain(one.block(), law, gain));
    for (int c = 0; c < 6; ++c) {
      for (int r = 0; r < 6; ++r) diagonal.see_holds(r == c ? gain(r, c) >= 0 : gain(r, c) == 0);
    }
    // The path's own velocity is out of step with that of the impulses.
    const Numbers<Scalar> u = one.draw(source, 1), gap = one.path.gap(one.block(), u);
    for (int i = 0; i < one.rows; ++i) {
      const Long apart = Long(one.row[i].push) - Long(one.row[i].pull) - Long(u(i));
      if (!one.row[i].fixed()) {
        rows.see(std::abs(Long(gap(i)) - apart), Long(rounding<Scalar>(8, 1)) * 4);
      }
    }
    const PathTarget<Scalar> target{Scalar(source.pick({0, 0.1, 1})), false};
    const Step<Scalar> step(one, gain, target, gap, one.draw(source, source.pick({0.1, 3})));
    see_equations(one, step, rows, still);
    const PathTarget<Scalar> corrected{target.product, true};
    const Step<Scalar> second(one, gain, corrected, gap, one.draw(source, 1), &step);
    see_equations(one, second, rows, still);
  });
  for (const WorstCase* check : {&rows, &still, &diagonal}) check->check(400);
}

TEMPLATE_TEST_CASE("interval_path: the longest step ends on a bound", "[solvers][oracle]", float,
                   double) {
  using Scalar = TestType;
  WorstCase length("the longest step"), moved("impulses"), velocities("velocities"),
      sums("products"), counted("count");
  for_each_case<Scalar>(2, [&](Case<Scalar>& one, auto& source) {
    PartMatrix<Scalar, 2> gain;
    REQUIRE(one.path.write_gain(one.block(), law, gain));
    const Numbers<Scalar> zero;
    const PathTarget<Scalar> target{Scalar(source.pick({0, 0.1})), false};
    const Step<Scalar> step(one, gain, target, zero, one.draw(source, source.pick({0.1, 10})));
    Long inverse = -std::numeric_limits<Long>::infinity(), size = 1;
    int count = 0;
    for (int i = 0; i < one.rows; ++i) {
      const Row<Scalar>& row = one.row[i];
      const Long d = step.impulse(i);
      if (row.has_lower()) {
        inverse = std::max({inverse, -d / row.above(), -step.push[i] / Long(row.push)});
        size += (1 + std::abs(d) / row.above()) * 4;
        ++count;
      }
      if (row.has_upper()) {
        inverse = std::max({inverse, d / row.below(), -step.pull[i] / Long(row.pull)});
        size += (1 + std::abs(d) / row.below()) * 4;
        ++count;
      }
    }
    const Long product = Long(target.product);
    if (count > 0) {
      length.see(std::abs(Long(step.inverse) - inverse),
                 Long(rounding<Scalar>(64, 1)) * size * (1 + product * 1e4L), inverse);
    } else {
      length.see_holds(step.inverse == -std::numeric_limits<Scalar>::infinity());
    }
    const Scalar least = std::max(Scalar(1), Scalar(step.inverse) + 1);
    Step<Scalar> again = step;
    again.inverse = one.path.take_step(one.block(), law, step.impulse, step.moved, zero, least);
    length.see_holds(again.inverse == least);

    const Scalar share = Scalar(source.unit()) / std::max(Scalar(1), step.inverse);
    ProductSum<Scalar> sum;
    one.path.add_products(one.block(), law, sum);
    one.path.advance(one.block(), share);
    const Numbers<Scalar> gamma = one.path.impulse(one.block());
    const Numbers<Scalar> u = one.path.gap(one.block(), zero);
    Long exact = 0, scale = 0;
    for (int i = 0; i < one.rows; ++i) {
      const Row<Scalar>& row = one.row[i];
      const Long to = Long(row.impulse) + Long(share) * Long(step.impulse(i));
      moved.see(std::abs(Long(gamma(i)) - to),
                Long(rounding<Scalar>(8, 1)) * 8 * (1 + std::abs(to)));
      const Long push = Long(row.push) + Long(share) * step.push[i];
      const Long pull = Long(row.pull) + Long(share) * step.pull[i];
      const Long pace =
          4 + std::abs(step.push[i]) + std::abs(step.pull[i]) +
          (row.has_lower() ? (product + 2) * (1 + std::abs(Long(step.impulse(i)))) / row.above()
                           : 0) +
          (row.has_upper() ? (product + 2) * (1 + std::abs(Long(step.impulse(i)))) / row.below()
                           : 0);
      if (!row.fixed()) {
        velocities.see(std::abs(Long(u(i)) - (push - pull)), Long(rounding<Scalar>(64, 1)) * pace);
      }
      if (row.has_lower()) exact += (to - Long(row.lower)) * push;
      if (row.has_upper()) exact += (Long(row.upper) - to) * pull;
      scale += pace * (8 + std::abs(to) + std::abs(Long(step.impulse(i))));
    }
    sums.see(std::abs(Long(sum.at(share)) - exact), Long(rounding<Scalar>(64, 1)) * scale);
    counted.see_holds(one.path.count(one.block(), law) == count);
  });
  for (const WorstCase* check : {&length, &moved, &velocities, &sums, &counted}) check->check(400);
}

TEST_CASE("interval_path: a start is raised between its bounds from anywhere", "[solvers][law]") {
  using Scalar = double;
  WorstCase inside("inside"), fixed("fixed rows have their impulse"), lacks("what lacks");
  for_each_case<Scalar>(3, [&](Case<Scalar>& one, auto& source) {
    const Numbers<Scalar> gamma = one.draw(source, 20), u = one.draw(source, 5);
    IntervalPath<Scalar> path;
    path.start(one.block(), gamma, u);
    Scalar impulse(0), velocity(0);
    path.find_missing(one.block(), impulse, velocity);
    Scalar most(0), fastest(0);
    for (int i = 0; i < one.rows; ++i) {
      const Row<Scalar>& row = one.row[i];
      if (row.has_lower() == row.has_upper()) continue;  // rows with one bound
      most = std::max(most, row.has_lower() ? row.lower - gamma(i) : gamma(i) - row.upper);
      fastest = std::max(fastest, row.has_lower() ? -u(i) : u(i));
    }
    lacks.see_holds(impulse == most && velocity == fastest);
    const Scalar room = Scalar(source.pick({0.01, 1, 100}));
    path.raise(one.block(), law, room, room);
    const Numbers<Scalar> raised = path.impulse(one.block());
    for (int i = 0; i < one.rows; ++i) {
      const Row<Scalar>& row = one.row[i];
      const Long allowed = Long(rounding<Scalar>(8, 1)) * (Long(room) + 8);
      if (row.fixed()) {
        fixed.see_holds(raised(i) == row.lower);
        continue;
      }
      const bool both = row.has_lower() && row.has_upper();
      const Long least =
          both ? std::min(Long(room), (Long(row.upper) - Long(row.lower)) / 4) : Long(room);
      if (row.has_lower()) inside.see(least, Long(raised(i)) - Long(row.lower) + allowed);
      if (row.has_upper()) inside.see(least, Long(row.upper) - Long(raised(i)) + allowed);
    }
    PartMatrix<Scalar, 2> gain;
    inside.see_holds(path.write_gain(one.block(), law, gain));
  });
  for (const WorstCase* check : {&inside, &lacks}) check->check(400);
  fixed.check(100);
}

TEST_CASE("interval_path: an impulse on a bound is not inside", "[solvers][example]") {
  using Scalar = double;
  BlockList<Scalar> list;
  list.add(carom::bounded_impulse(Scalar(-1), Scalar(2)), RowNumbers<Scalar>::Zero(), 0);
  list.change(0, [](auto& block) { block.inverse_mass = 1; });
  list.visit(0, [](const auto& block) {
    if constexpr (std::is_same_v<decltype(block), const BlockRows<Scalar, 2>&>) {
      const auto inside = [&](Scalar impulse, Scalar room) {
        IntervalPath<Scalar> path;
        path.start(block, Numbers<Scalar>::filled(impulse), {});
        path.raise(block, law, Scalar(0), room);
        PartMatrix<Scalar, 2> gain;
        return path.write_gain(block, law, gain);
      };
      CHECK(inside(Scalar(0), Scalar(1)));
      CHECK_FALSE(inside(Scalar(-1), Scalar(1)));
      CHECK_FALSE(inside(Scalar(2), Scalar(1)));
      CHECK_FALSE(inside(Scalar(0), Scalar(0)));
    }
  });
}

}  // namespace interval_path_test

namespace central_path_test {

using carom::testing::by_solver;

using carom::FrictionLaw, carom::Index;
using carom::detail::BodySystem, carom::detail::CentralPath;
using carom::testing::Incline, carom::testing::LawScene, carom::testing::rounding;
using carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

constexpr FrictionLaw laws[] = {FrictionLaw::coulomb, FrictionLaw::convex};

/// The result of following the path of one island.
struct Followed {
  bool started = false;
  int steps = 0, rises = 0;
  double error = 0, outside = 0, least_share = 1, largest_share = 0;
};

/// Follows the path of an island until the natural map error is small.
template <typename Scalar>
[[nodiscard]] Followed follow(LawScene<Scalar>& scene, Index island, double tolerance,
                              int limit = 60, double margin = 30) {
  CentralPath<BodySystem<Scalar>> path;
  path.lay_out(scene.system);
  Followed result;
  result.started = path.start(scene.system, island, scene.yardstick, Scalar(margin), scene.iterate,
                              scene.memory);
  result.error = double(scene.measure(island));
  result.outside = scene.outside(island);
  while (result.started && result.error > tolerance && result.steps < limit) {
    const auto share = double(
        path.advance(scene.system, island, scene.yardstick.law, scene.iterate, scene.memory));
    result.least_share = std::min(result.least_share, share);
    result.largest_share = std::max(result.largest_share, share);
    ++result.steps;
    if (!(share > 0)) break;
    const auto error = double(scene.measure(island));
    result.rises += error > result.error;
    result.error = error;
    result.outside = std::max(result.outside, scene.outside(island));
  }
  return result;
}

/// The error that a path is followed down to in tests.
template <typename Scalar>
constexpr double path_end = sizeof(Scalar) == 8 ? 1e-9 : 1e-4;

}  // namespace

TEST_CASE("central_path: stacks are solved under both laws from inside of the cones",
          "[solvers][law]") {
  using Scalar = double;
  WorstCase solved("error"), steps("in few steps"), inside("inside"), shares("shares");
  int scene_number = 0;
  for (const auto& raw : carom::testing::small_stacks()) {
    for (const FrictionLaw law : laws) {
      LawScene<Scalar> scene(raw, law);
      REQUIRE(scene.system.islands().size() == 1);
      const Followed end = follow(scene, 0, path_end<Scalar>);
      solved.see(end.error, path_end<Scalar>, scene_number, int(law == FrictionLaw::convex),
                 end.steps);
      steps.see(end.steps, 40, scene_number, int(law == FrictionLaw::convex));
      inside.see(end.outside, double(rounding<Scalar>(64, 1)), scene_number);
      shares.see_holds(end.started && end.least_share > 0 && end.largest_share <= 1 &&
                       end.largest_share > 0.9);
    }
    ++scene_number;
  }
  for (const WorstCase* law : {&solved, &steps, &inside, &shares}) law->check(16);
}

TEST_CASE("central_path: near its end, a smooth path falls faster than linearly",
          "[solvers][law]") {
  for (const FrictionLaw law : laws) {
    LawScene<double> scene(Incline{}.problem(), law);
    CentralPath<BodySystem<double>> path;
    path.lay_out(scene.system);
    REQUIRE(path.start(scene.system, 0, scene.yardstick, 30, scene.iterate, scene.memory));
    double error = scene.measure(0);
    int steps = 0;
    for (; error > 1e-4 && steps < 30; ++steps) {
      REQUIRE(path.advance(scene.system, 0, law, scene.iterate, scene.memory) > 0);
      error = scene.measure(0);
    }
    REQUIRE(error < by_solver(1e-4));
    REQUIRE(path.advance(scene.system, 0, law, scene.iterate, scene.memory) > 0.9);
    CHECK(scene.measure(0) < 0.02 * error);
  }
}

}  // namespace central_path_test
