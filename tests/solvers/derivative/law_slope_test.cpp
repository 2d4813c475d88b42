// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/derivative/law_slope.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "support/body_problems.hpp"
#include "support/catch.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace law_slope_test {

using carom::FrictionLaw, carom::Index, carom::RegionBoundary, carom::RowNumbers, carom::VectorX;
using carom::detail::BlockList, carom::detail::BlockRows, carom::detail::BlockSlopes;
using carom::detail::BodySystem, carom::detail::held_softness, carom::detail::LawSlope;
using carom::detail::LinearizedPoint, carom::detail::PartNumbers;
using carom::testing::build, carom::testing::by_conditioning, carom::testing::by_differences;
using carom::testing::convert_law;
using carom::testing::DenseDual, carom::testing::draw_body_problem, carom::testing::draw_law;
using carom::testing::draw_matrix, carom::testing::rounding, carom::testing::VectorSource;
using carom::testing::WorstCase;

using Long = long double;
using Six = std::array<Long, 6>;

/// Numbers of a block on a path along which its law holds, by places.
struct PathPoint {
  Six impulse{}, velocity{}, friction{}, lower{}, upper{};
};

/// How a block is at the points of a path.
enum class Mode { open, sticking, sliding, mixed, central };

namespace {

constexpr Mode modes[] = {Mode::open, Mode::sticking, Mode::sliding, Mode::mixed};

/// A smooth path of impulses, velocities and data of a block that obey its law at each point, in
/// one region of it, by the definition of the law.
template <typename Scalar, int Parts>
struct Path {
  const BlockRows<Scalar, Parts>& block;
  Mode mode;
  FrictionLaw law;
  Long product;  ///< κ of the central path
  Six impulse, impulse_rate, velocity, velocity_rate, friction_rate, bound_rate;
  std::array<int, 6> choice;

  Path(const BlockRows<Scalar, Parts>& given, Mode how, FrictionLaw which, Long kappa,
       VectorSource<double>& source, double impulse_size, double velocity_size)
      : block(given), mode(how), law(which), product(kappa) {
    for (std::size_t k = 0; k < 6; ++k) {
      impulse[k] = impulse_size * (0.5 + source.unit());
      impulse_rate[k] = impulse_size * (2 * source.unit() - 1);
      velocity[k] = velocity_size * (2 * source.unit() - 1);
      velocity_rate[k] = velocity_size * (2 * source.unit() - 1);
      friction_rate[k] = 2 * source.unit() - 1;
      bound_rate[k] = impulse_size * (2 * source.unit() - 1);
      choice[k] = int(source.unit() * 3);
    }
  }
  [[nodiscard]] bool sticks(int disc) const {
    return mode == Mode::sticking || (mode == Mode::mixed && disc == 0);
  }
  [[nodiscard]] PathPoint at(Long s) const {
    PathPoint point;
    for (int p = 0; p < block.size(); ++p) {
      const auto k = std::size_t(p);
      if (!block.present(p)) continue;
      point.velocity[k] = velocity[k] + s * velocity_rate[k];
      point.impulse[k] = -Long(block.shift(p));
    }
    if (block.is_cone()) {
      set_cone(s, point);
    } else if constexpr (Parts == 2) {
      for (int p = 0; p < block.size(); ++p) {
        if (block.present(p)) set_row(s, p, point);
      }
    }
    return point;
  }

 private:
  void set_cone(Long s, PathPoint& point) const {
    const auto n = std::size_t(block.normal);
    const Long normal = impulse[n] + s * impulse_rate[n] / 3;
    const bool open = mode == Mode::open;
    if (open) {
      point.velocity[n] = std::abs(velocity[n]) + s * velocity_rate[n];
    } else {
      point.velocity[n] = mode == Mode::central ? product / normal : 0;
      point.impulse[n] = normal - Long(block.shift(block.normal));
    }
    for (int d = 0; d < block.disc_count; ++d) {
      const auto& disc = block.friction_disc(d);
      Long squared = 0;
      for (int k = 0; k < disc.size; ++k) {
        const auto p = std::size_t(disc.places[k]);
        // The coefficient of a friction contact is one number for both of its rows.
        const Long rate = friction_rate[Parts == 1 ? 0 : p] / 3;
        point.friction[p] = Long(disc.friction[k]) * (1 + s * rate);
        const Long slip = point.friction[p] * point.velocity[p];
        squared += slip * slip;
      }
      if (law == FrictionLaw::convex && (open || !sticks(d))) {
        point.velocity[n] += std::sqrt(squared);
      }
      for (int k = 0; k < disc.size && !open; ++k) {
        const auto p = std::size_t(disc.places[k]);
        const Long mu = point.friction[p];
        if (mode == Mode::central) {
          const Long half = product / normal / 2;
          point.impulse[p] =
              -normal * mu * mu * point.velocity[p] / (half + std::sqrt(half * half + squared));
        } else if (sticks(d)) {
          const Long inside = 0.6L / std::sqrt(Long(disc.size));
          point.impulse[p] = normal * mu * inside * std::sin(Long(k) + s * impulse_rate[p]);
          point.velocity[p] = 0;
        } else {
          point.impulse[p] = -normal * mu * mu * point.velocity[p] / std::sqrt(squared);
        }
      }
    }
  }
  void set_row(Long s, int place, PathPoint& point) const {
    const auto k = std::size_t(place);
    const Long low = block.lower(place), high = block.upper(place);
    const Long move = s * bound_rate[k], other = low < high ? -s * bound_rate[k] / 2 : move;
    point.lower[k] = low + move, point.upper[k] = high + other;
    const Long speed = std::abs(velocity[k]) + s * velocity_rate[k];
    const bool from_below = std::isfinite(low), from_above = std::isfinite(high);
    if (!(low < high)) {
      point.impulse[k] = low + move;
      point.velocity[k] = mode == Mode::central ? point.velocity[k] : speed;
      return;
    }
    if (mode == Mode::central || mode == Mode::sticking || !from_below || !from_above ||
        choice[k] == 2) {
      // Inside, by shares of the width where there are both bounds.
      const Long share = 0.3L + s * impulse_rate[k] / (std::abs(impulse_rate[k]) + 1);
      Long inside = impulse[k] + s * impulse_rate[k];
      if (from_below && from_above) {
        inside = point.lower[k] + share * (point.upper[k] - point.lower[k]);
      } else if (from_below) {
        inside += low;
      } else if (from_above) {
        inside = high - inside;
      }
      point.impulse[k] = inside;
      point.velocity[k] = 0;
      if (mode != Mode::central) return;
      if (from_below) point.velocity[k] += product / (inside - point.lower[k]);
      if (from_above) point.velocity[k] -= product / (point.upper[k] - inside);
    } else if (choice[k] == 0) {
      point.impulse[k] = point.lower[k];
      point.velocity[k] = speed;
    } else {
      point.impulse[k] = point.upper[k];
      point.velocity[k] = -speed;
    }
  }
};

template <int Parts, typename Scalar>
[[nodiscard]] PartNumbers<Scalar, Parts> numbers_of(const Six& numbers) {
  PartNumbers<Scalar, Parts> result;
  for (int k = 0; k < 3 * Parts; ++k) result(k) = Scalar(numbers[std::size_t(k)]);
  return result;
}
/// The rate of a number along a path, by differences of third order.
template <typename Member, typename SomePath>
[[nodiscard]] Six rate_of(const SomePath& path, const Member& member) {
  const Long h = 1e-5L;
  const PathPoint ahead = path.at(h), behind = path.at(-h), further = path.at(2 * h),
                  before = path.at(-2 * h);
  Six rate;
  for (std::size_t k = 0; k < 6; ++k) {
    const Long inner = (ahead.*member)[k] - (behind.*member)[k];
    const Long outer = (further.*member)[k] - (before.*member)[k];
    rate[k] = std::isfinite(inner) ? (8 * inner - outer) / (12 * h) : 0;
  }
  return rate;
}

/// Blocks of all twelve kinds with some R of zero and others over decades of w, one at a time.
template <typename Scalar, typename Visit>
void for_each_block(std::uint32_t seed, int rounds, const Visit& visit) {
  VectorSource<double> source(seed);
  for (int k = 0; k < 12 * rounds; ++k) {
    auto law = convert_law<Scalar>(draw_law(source, k % 12));
    const double mass_scale = source.positive(4);
    law.regularization *= Scalar(source.pick({0, 1e-9, 1e-2, 1}) * mass_scale);
    BlockList<Scalar> list;
    list.clear();
    list.reserve(1);
    list.add(law.set, law.regularization, 0);
    list.change(0, [&](auto& block) { block.inverse_mass = Scalar(mass_scale); });
    list.visit(0, [&](const auto& block) { visit(block, source, k); });
  }
}

/// What the slope leaves of P dγ + Q du = B dθ along a path, relative to the sizes of its terms.
template <typename Scalar, int Parts>
[[nodiscard]] Long left_of(const LawSlope<Scalar, Parts>& slope, const Path<Scalar, Parts>& path) {
  const Six gamma = rate_of(path, &PathPoint::impulse), u = rate_of(path, &PathPoint::velocity),
            mu = rate_of(path, &PathPoint::friction), low = rate_of(path, &PathPoint::lower),
            high = rate_of(path, &PathPoint::upper);
  Long worst = 0;
  for (int r = 0; r < path.block.size(); ++r) {
    if (!path.block.present(r)) continue;
    Long left = 0, size = 0;
    const auto add = [&](Long term) {
      left += term;
      size += std::abs(term);
    };
    for (int c = 0; c < path.block.size(); ++c) {
      const auto k = std::size_t(c);
      const Long softness = Long(slope.by_velocity(r, c)) * path.block.regularization(c);
      add(slope.by_impulse(r, c) * gamma[k]);
      add(-softness * gamma[k]);
      add(slope.by_velocity(r, c) * u[k]);
      add(-slope.by_upper(r, c) * (path.block.is_cone() ? mu[k] : high[k]));
      if (r == c) add(-slope.by_lower(r) * low[k]);
    }
    if (left != 0) worst = std::max(worst, std::abs(left) / size);
  }
  return worst;
}

/// How far C (P + Q (R + s)) is from the identity and N from C Q, relative to the sizes of what is
/// summed; and whether s > 0 in a closed row.
struct Inverses {
  Long inverse = 0, gain = 0;
  bool softened = false;
};
template <typename Scalar, int Parts>
[[nodiscard]] Inverses inverses_of(const LawSlope<Scalar, Parts>& slope,
                                   const BlockRows<Scalar, Parts>& block) {
  Inverses result;
  Six soft{};
  for (int c = 0; c < block.size(); ++c) {
    const Long least = Long(held_softness<Scalar>()) * block.inverse_mass;
    soft[std::size_t(c)] = block.regularization(c) < Scalar(least) ? least : 0;
    bool closed = false;
    for (int r = 0; r < block.size(); ++r) closed = closed || slope.by_velocity(r, c) != Scalar(0);
    result.softened = result.softened || (closed && soft[std::size_t(c)] > 0);
  }
  for (int r = 0; r < block.size(); ++r) {
    for (int c = 0; c < block.size(); ++c) {
      Long entry = r == c ? -1 : 0, size = 1, product = -slope.gain(r, c),
           terms = std::abs(product);
      for (int k = 0; k < block.size(); ++k) {
        const Long m =
            slope.by_impulse(k, c) + Long(slope.by_velocity(k, c)) * soft[std::size_t(c)];
        entry += slope.inverse(r, k) * m;
        size += std::abs(slope.inverse(r, k) * m);
        product += Long(slope.inverse(r, k)) * slope.by_velocity(k, c);
        terms += std::abs(Long(slope.inverse(r, k)) * slope.by_velocity(k, c));
      }
      result.inverse = std::max(result.inverse, std::abs(entry) / size);
      if (product != 0) result.gain = std::max(result.gain, std::abs(product) / terms);
    }
  }
  return result;
}

}  // namespace

TEMPLATE_TEST_CASE("law_slope: along every path on which the law holds, the linearised law holds",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  WorstCase coulomb("Coulomb's law"), convex("the convex law"), inverses("C (P + Q (R + s)) = I"),
      gains("N = C Q"), softened("softened rows"), inside("on no boundary");
  const double decades = sizeof(Scalar) == 4 ? 1 : 5;
  for_each_block<Scalar>(
      1u, 20, [&]<int Parts>(const BlockRows<Scalar, Parts>& block, auto& source, int number) {
        for (const Mode mode : modes) {
          for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
            const double size = source.positive(decades);
            const Path<Scalar, Parts> path(
                block, mode, law, 0, source, size,
                size * double(block.inverse_mass) * source.positive(decades));
            const PathPoint here = path.at(0);
            const auto impulse = numbers_of<Parts, Scalar>(here.impulse),
                       velocity = numbers_of<Parts, Scalar>(here.velocity);
            LawSlope<Scalar, Parts> slope;
            if (law == FrictionLaw::convex) {
              slope.write_convex(block, impulse, velocity, Scalar(0));
            } else {
              slope.write(block, impulse, velocity, Scalar(0));
            }
            (law == FrictionLaw::convex ? convex : coulomb)
                .see(left_of(slope, path),
                     rounding<Scalar>(5000, 1) + Scalar(by_differences(1e-11)), number, int(mode));
            const Inverses found = inverses_of(slope, block);
            inverses.see(found.inverse, rounding<Scalar>(1000, 1), number, int(mode));
            gains.see(found.gain, rounding<Scalar>(200, 1), number, int(mode));
            softened.see_holds(found.softened == slope.softened, number, int(mode));
            inside.see_holds(slope.nearest == RegionBoundary::none && slope.margin > Scalar(0),
                             number, int(mode));
            bool closed = false;
            for (int r = 0; r < block.size(); ++r) {
              for (int c = 0; c < block.size(); ++c) {
                closed = closed || slope.by_velocity(r, c) != Scalar(0);
              }
            }
            inside.see_holds(slope.closed() == closed);
            if (block.is_cone()) inside.see_holds(closed == (mode != Mode::open));
          }
        }
      });
  for (const WorstCase* law : {&coulomb, &convex}) law->check(900);
  for (const WorstCase* law : {&inverses, &gains, &softened, &inside}) law->check(1800);
}

TEMPLATE_TEST_CASE("law_slope: at a point of the central path it is the slope of the path's rules",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  WorstCase held("along paths of one κ"), inverses("C and N");
  const double decades = sizeof(Scalar) == 4 ? 1 : 4;
  for_each_block<Scalar>(
      2u, 30, [&]<int Parts>(const BlockRows<Scalar, Parts>& block, auto& source, int number) {
        const double size = source.positive(decades), speed = size * double(block.inverse_mass);
        const auto kappa = Scalar(size * speed * source.positive(2 * decades));
        const Path<Scalar, Parts> path(block, Mode::central, FrictionLaw::coulomb, kappa, source,
                                       size, speed);
        const PathPoint here = path.at(0);
        LawSlope<Scalar, Parts> slope;
        write_path_slope(block, numbers_of<Parts, Scalar>(here.impulse),
                         numbers_of<Parts, Scalar>(here.velocity), kappa, slope);
        // γₙ and the distances from bounds are differences of what was rounded.
        held.see(left_of(slope, path), rounding<Scalar>(20000, 1) + Scalar(by_conditioning(1e-10)),
                 number);
        const Inverses found = inverses_of(slope, block);
        inverses.see(found.inverse, rounding<Scalar>(500, 1), number);
        inverses.see(found.gain, rounding<Scalar>(500, 1), number);
        CHECK(slope.nearest == RegionBoundary::none);
      });
  held.check(300);
  inverses.check(600);
}

TEMPLATE_TEST_CASE("law_slope: the margin is the distance to the next region times w",
                   "[solvers][example]", float, double) {
  using Scalar = TestType;
  BlockList<Scalar> list;
  list.clear();
  list.reserve(3);
  const RowNumbers<Scalar> hard = RowNumbers<Scalar>::Zero();
  list.add(carom::friction_impulses(Scalar(0.5)), hard, 0);
  list.add(carom::cone_impulses<Scalar>(carom::ImpulseShape::elliptic,
                                        {Scalar(0.5), Scalar(0.25), Scalar(0)}),
           hard, 1);
  list.add(carom::bounded_impulse(Scalar(-1), Scalar(3)), hard, 2);
  const Scalar w = 4;
  for (Index i = 0; i < 3; ++i) list.change(i, [&](auto& block) { block.inverse_mass = w; });
  struct Case {
    Index block;
    std::array<double, 3> impulse, velocity;
    double margin;
    RegionBoundary boundary;
    bool closed;
  };
  const auto open_closed = RegionBoundary::open_closed, stick_slide = RegionBoundary::stick_slide,
             bound = RegionBoundary::bound;
  const std::vector<Case> cases = {
      {0, {0, 0, 0}, {9, 9, 0.75}, 0.75, open_closed, false},
      {0, {0.3, 0.4, 2}, {0, 0, 0}, 4 * 0.5, stick_slide, true},     // 0.5 of 1 m/s inside
      {0, {0, 0, 0.125}, {0, 0, 0}, 4 * 0.0625, stick_slide, true},  // μγₙ is less than γₙ
      {0, {-0.6, 0.8, 2}, {0.3, -0.4, 0}, 0.5, stick_slide, true},   // it slides at 0.5 m/s
      {1, {0, 0, 0}, {9, 9, 0.75}, 0.75, open_closed, false},
      {1, {0.25, 0, 2}, {0, 0, 0}, 4 * 0.75, stick_slide, true},  // in units of the larger μ
      {1, {0, 0.25, 2}, {0, 0, 0}, 4 * 0.5, stick_slide, true},
      {2, {0, 0, 0}, {0, 0, 0}, 4 * 1, bound, true},
      {2, {2.75, 0, 0}, {0, 0, 0}, 4 * 0.25, bound, true},
      {2, {-1, 0, 0}, {0.5, 0, 0}, 0.5, bound, false},
      {2, {3, 0, 0}, {-0.5, 0, 0}, 0.5, bound, false},
  };
  for (const Case& given : cases) {
    CAPTURE(given.block, given.impulse[0], given.velocity[0]);
    list.visit(given.block, [&]<int Parts>(const BlockRows<Scalar, Parts>& block) {
      PartNumbers<Scalar, Parts> impulse, velocity;
      for (int r = 0; r < (given.block == 2 ? 1 : 3); ++r) {
        impulse(block.place(r)) = Scalar(given.impulse[std::size_t(r)]);
        velocity(block.place(r)) = Scalar(given.velocity[std::size_t(r)]);
      }
      LawSlope<Scalar, Parts> slope;
      const auto margin = Scalar(given.margin);
      slope.write(block, impulse, velocity, Scalar(0));
      CHECK(std::abs(slope.margin - margin) <= rounding<Scalar>(10, margin));
      CHECK(slope.nearest == RegionBoundary::none);
      CHECK(slope.closed() == given.closed);
      // With a slack below it nothing changes; above it, the block is on that boundary and is
      // linearised as closed, as sticking, as between its bounds.
      slope.write(block, impulse, velocity, margin * Scalar(0.99));
      CHECK(slope.nearest == RegionBoundary::none);
      CHECK(slope.closed() == given.closed);
      slope.write(block, impulse, velocity, margin * Scalar(1.01));
      CHECK(slope.nearest == given.boundary);
      const int first = block.place(0);
      const int held = given.boundary == open_closed ? block.normal : first;
      CHECK(slope.by_velocity(held, held) == Scalar(1));
      CHECK(slope.by_impulse(held, held) == Scalar(0));
      // The convex law has the same regions where nothing slips; open, its normal is lowered.
      slope.write_convex(block, impulse, velocity, Scalar(0));
      if (given.closed && given.velocity[0] == 0) CHECK(slope.margin == margin);
    });
  }
}

TEMPLATE_TEST_CASE("law_slope: the first friction of a block without any opposes its slip",
                   "[solvers][example]", float, double) {
  using Scalar = TestType;
  BlockList<Scalar> list;
  list.clear();
  list.reserve(1);
  list.add(carom::friction_impulses(Scalar(0)), RowNumbers<Scalar>::Constant(Scalar(0.5)), 0);
  list.change(0, [](auto& block) { block.inverse_mass = Scalar(1); });
  list.visit(0, [&]<int Parts>(const BlockRows<Scalar, Parts>& block) {
    PartNumbers<Scalar, Parts> impulse, velocity;
    impulse(block.normal) = 2;
    velocity(block.place(0)) = 3, velocity(block.place(1)) = -4;
    LawSlope<Scalar, Parts> slope;
    slope.write(block, impulse, velocity, Scalar(0));
    // dγ = −γₙ u/‖u‖ dμ; each row has half of it by its own μ, or all by the one of its disc.
    CHECK(std::abs(slope.by_upper(block.place(0), block.place(0)) + Scalar(1.2)) <=
          rounding<Scalar>(4, 1));
    CHECK(std::abs(slope.by_upper(block.place(1), block.place(1)) - Scalar(1.6)) <=
          rounding<Scalar>(4, 1));
    CHECK(slope.by_impulse(block.place(0), block.place(0)) == Scalar(1));
    CHECK(slope.by_velocity(block.place(0), block.place(0)) == Scalar(0));
    slope.write_convex(block, impulse, velocity, Scalar(0));
    // duₙ of the lowered normal: + ‖u‖ dμ in two shares.
    CHECK(std::abs(slope.by_upper(block.normal, block.place(0)) - Scalar(9.0 / 5)) <=
          rounding<Scalar>(4, 2));
    CHECK(std::abs(slope.by_upper(block.normal, block.place(1)) - Scalar(16.0 / 5)) <=
          rounding<Scalar>(4, 4));
  });
}

TEMPLATE_TEST_CASE("law_slope: velocities and speeds of a block are those of its dense rows",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(3);
  WorstCase velocities("J v"), speeds("‖|J| r‖ + ‖v̂‖");
  for (const std::vector<int>& sizes :
       {std::vector<int>{6, 6, 3, 6}, {1, 2, 3, 4, 5, 7, 9, 12, 6}}) {
    const auto raw = draw_body_problem(source, sizes);
    const auto problem = build<Scalar>(raw);
    const DenseDual dense(raw);
    VectorX<Scalar> v(problem.velocity_count()), reach(v.size());
    for (Index i = 0; i < v.size(); ++i) {
      v(i) = Scalar(source.entry(6)), reach(i) = Scalar(source.non_negative(6));
    }
    problem.for_each_block([&](const auto& view) {
      const auto found = carom::detail::velocity_and_speed(view, v, reach);
      Long speed = 0;
      const Index first = problem.first_row(view.number());
      Long bias = 0;
      for (int s = 0; s < view.side_count(); ++s) {
        const auto [start, size] = view.side(s).range;
        Long squared = 0;
        for (int r = 0; r < view.rows(); ++r) {
          Long gross = 0;
          for (Index k = start; k < start + size; ++k) {
            gross += std::abs(Long(dense.jacobian(first + r, k))) * reach(k);
          }
          squared += gross * gross;
        }
        speed += std::sqrt(squared);
      }
      for (int r = 0; r < view.rows(); ++r) {
        bias += Long(dense.bias(first + r)) * dense.bias(first + r);
        Long moved = 0, gross = 0;
        for (Index k = 0; k < v.size(); ++k) {
          moved += Long(dense.jacobian(first + r, k)) * v(k);
          gross += std::abs(Long(dense.jacobian(first + r, k)) * v(k));
        }
        velocities.see(std::abs(found.velocity(r) - moved), rounding<Scalar>(40, Scalar(gross)));
      }
      speed += std::sqrt(bias);
      speeds.see(std::abs(found.speed - speed), rounding<Scalar>(40, Scalar(speed)));
    });
  }
  velocities.check(100);
  speeds.check(40);
}

TEMPLATE_TEST_CASE("law_slope: the slopes of a problem are those of its blocks, one by one",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(4);
  BlockSlopes<Scalar> slopes;  // one for all problems
  WorstCase places("places"), same("slopes of the blocks themselves"), gains("gains"),
      energies("energies");
  int on_boundary = 0;
  for (int round = 0; round < 12; ++round) {
    const auto raw = draw_body_problem(
        source, round % 2 == 0 ? std::vector<int>{6, 6, 3, 6} : std::vector<int>{3, 6, 2, 6, 1, 6});
    const auto problem = build<Scalar>(raw);
    const DenseDual dense(raw);
    BodySystem<Scalar> system;
    system.take(problem, false, false);
    slopes.take(problem, system);
    carom::Growing<VectorX<Scalar>> velocity;
    velocity.grow(problem.velocity_count());
    velocity = draw_matrix(source, problem.velocity_count(), 1).template cast<Scalar>();
    VectorX<Scalar> impulse =
        draw_matrix(source, problem.impulse_count(), 1).template cast<Scalar>();
    if (round % 4 == 3) impulse.setZero();
    // Without a slack no drawn block is on a boundary; with a large one all are.
    LinearizedPoint<Scalar> point{Scalar(round % 3 == 2 ? 10 : 1e-6)};
    if (round % 3 == 1) point.law = FrictionLaw::convex;
    REQUIRE(slopes.linearize(problem, system, velocity, impulse, point) == -1);
    std::vector<Index> wanted;
    problem.for_each_block([&](const auto& view) {
      const Index i = slopes.place(view.number());
      places.see_holds(system.block_number(i) == view.number());
      const Index first = problem.first_row(view.number());
      slopes.visit(
          system, i,
          [&]<int Parts>(const BlockRows<Scalar, Parts>& block,
                         const LawSlope<Scalar, Parts>& slope) {
            PartNumbers<Scalar, Parts> own, u;
            Long size = 0;
            for (int r = 0; r < view.rows(); ++r) {
              const double moved =
                  dense.jacobian.row(first + r).dot(velocity.template cast<double>());
              const double soft = view.law().rigid ? 0 : double(view.regularization()(r));
              own(block.place(r)) = impulse(first + r);
              u(block.place(r)) =
                  Scalar(moved - dense.bias(first + r) + soft * double(impulse(first + r)));
              size += Long(impulse(first + r)) * impulse(first + r);
            }
            const VectorX<Scalar> v = velocity,
                                  reach = v.cwiseAbs() + problem.free_velocity().cwiseAbs();
            const Long scale = carom::detail::velocity_and_speed(view, v, reach).speed +
                               block.inverse_mass * std::sqrt(size);
            LawSlope<Scalar, Parts> alone;
            const auto slack = Scalar(point.tolerance * scale);
            if (point.law == FrictionLaw::convex) {
              alone.write_convex(block, own, u, slack);
            } else {
              alone.write(block, own, u, slack);
            }
            Long error = 0, terms = 0;
            for (int r = 0; r < block.size(); ++r) {
              for (int c = 0; c < block.size(); ++c) {
                error += std::abs(slope.gain(r, c) - alone.gain(r, c));
                terms += std::abs(alone.gain(r, c));
                const Scalar* const gain = slopes.gains().at(i, r / 3, c / 3, block.parts);
                gains.see_holds(gain[c % 3 * 3 + r % 3] == slope.gain(r, c));
              }
            }
            // Near a boundary or without much slip a slope varies fast.
            const Long near_by = Long(alone.margin) / scale;
            same.see(error, rounding<Scalar>(3000, 1) * terms / std::min(Long(1), near_by + 1e-3L),
                     round, int(view.number()));
            energies.see(std::abs(slopes.energy(i) - scale * scale / block.inverse_mass),
                         rounding<Scalar>(60, Scalar(scale * scale / block.inverse_mass)));
            same.see_holds(slopes.boundary(view.number()) == slope.nearest);
            if (slope.nearest != RegionBoundary::none) wanted.push_back(view.number());
          });
    });
    const auto found = slopes.one_sided();
    CHECK(std::vector<Index>(found.begin(), found.end()) == wanted);
    on_boundary += int(wanted.size());
  }
  CHECK(on_boundary >= 20);
  places.check(100);
  same.check(200);
  gains.check(1000);
  energies.check(100);
}

TEST_CASE("law_slope: the first block whose numbers are not finite is named",
          "[solvers][example]") {
  VectorSource<double> source(5);
  const auto problem = build<double>(draw_body_problem(source, {6, 6, 3, 6}));
  BodySystem<double> system;
  system.take(problem, false, false);
  BlockSlopes<double> slopes;
  slopes.take(problem, system);
  carom::Growing<VectorX<double>> velocity;
  velocity.grow(problem.velocity_count());
  velocity = draw_matrix(source, problem.velocity_count(), 1);
  const VectorX<double> impulse = draw_matrix(source, problem.impulse_count(), 1);
  const LinearizedPoint<double> point{1e-9};
  CHECK(slopes.linearize(problem, system, velocity, impulse, point) == -1);
  for (Index b = 0; b < problem.block_count(); ++b) {
    VectorX<double> bad = impulse;
    bad(problem.first_row(b)) = std::numeric_limits<double>::quiet_NaN();
    bad(problem.impulse_count() - 1) = std::numeric_limits<double>::infinity();  // a later one
    CHECK(slopes.linearize(problem, system, velocity, bad, point) == b);
  }
  const double kept = velocity(0);
  velocity(0) = std::numeric_limits<double>::infinity();
  Index first = 0;
  while (problem.side_body(first, 0) != 0 && problem.side_body(first, 1) != 0) ++first;
  CHECK(slopes.linearize(problem, system, velocity, impulse, point) == first);
  velocity(0) = kept;
  CHECK(slopes.linearize(problem, system, velocity, impulse, point) == -1);
}

}  // namespace law_slope_test
