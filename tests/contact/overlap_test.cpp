// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/overlap.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/contact/rigid_contact.hpp"

#include "support/catch.hpp"
#include "support/tolerance.hpp"

namespace overlap_test {

using carom::overlap_velocity, carom::Pressing;
using carom::testing::rounding;

namespace {

constexpr double gravity = 9.81;

/// A point that begins at a depth, at rest, pressed by gravity: how high it comes, and where and
/// how fast it is at the end.
struct Motion {
  double highest, position, speed;
};
Motion rise(double depth, double step, double duration, bool known, double scale) {
  const double g = scale * gravity;
  Motion now{-depth, -depth, 0};
  for (int k = 0; k < int(duration / step); ++k) {
    const double free = now.speed - g * step;
    double asked = 0;
    if (now.position < 0) {
      const Pressing<double> pressing{std::max(0.0, known ? g * step : -free), known};
      asked = overlap_velocity(-now.position, carom::usual_overlap_share, pressing, step).value;
    } else {
      asked = -now.position / step;
    }
    now.speed = std::max(free, asked);
    now.position += step * now.speed;
    now.highest = std::max(now.highest, now.position);
  }
  return now;
}

}  // namespace

TEST_CASE("overlap: it goes without speed, at any depth and step", "[contact][law]") {
  for (const bool known : {false, true}) {
    for (const double depth : {1e-6, 1e-3, 0.05, 1.0}) {
      for (const double step : {1e-4, 1e-3, 0.01, 0.05}) {
        for (const double scale : {1e-6, 1.0, 1e6}) {  // the unit of length
          const double fall = gravity * step * step;
          const Motion end = rise(scale * depth, step, 4 + 400 * step, known, scale);
          CAPTURE(known, depth, step, scale, end.highest, end.position, end.speed);
          CHECK(end.highest <= scale * rounding(1000, depth + fall));
          CHECK(std::abs(end.speed) <= scale * (fall / step) / 50);
          // What an approach may have made goes slowly.
          CHECK(end.position >= -scale * ((known ? 0 : fall) + rounding(1000, depth) + 1e-12));
        }
      }
    }
  }
}

TEST_CASE("overlap: an approach is stopped and does not bounce", "[contact][scene]") {
  const double step = 0.01, fast = 5;
  // It was outside one step before, so that the overlap is no deeper than its way.
  for (const double share : {0.1, 0.5, 1.0}) {
    const double depth = share * fast * step;
    const Pressing<double> unknown{fast, false}, known{gravity * step, true};
    CHECK(overlap_velocity(depth, 0.2, unknown, step).value <= fast / 100);
    const double v = overlap_velocity(depth, 0.2, known, step).value;
    CHECK(v * v / (2 * gravity) <= depth);
  }
}

TEST_CASE("overlap: nothing pressed, nothing overlapped, no share: no velocity",
          "[contact][example]") {
  CHECK(overlap_velocity(0.1, 0.2, Pressing<double>{}, 0.01).value == 0);
  CHECK(overlap_velocity(0.0, 0.2, Pressing<double>{1, true}, 0.01).value == 0);
  CHECK(overlap_velocity(0.1, 0.0, Pressing<double>{1, true}, 0.01).value == 0);
  // So little pressed that the count of steps is infinite: the share.
  CHECK(overlap_velocity(1.0, 0.5, Pressing<double>{1e-320, true}, 0.25).value == 2);
}

TEST_CASE("overlap: its slope is that of differences", "[contact][derivative]") {
  for (const bool known : {false, true}) {
    for (const double depth : {1e-5, 3e-4, 2e-3, 0.0321, 0.7}) {
      const Pressing<double> pressing{0.0981, known};
      const double h = 1e-9 * depth;
      const auto at = [&](double d) { return overlap_velocity(d, 0.2, pressing, 0.01).value; };
      const double slope = (at(depth + h) - at(depth - h)) / (2 * h);
      CAPTURE(known, depth, slope);
      const double found = overlap_velocity(depth, 0.2, pressing, 0.01).by_depth;
      CHECK(std::abs(found - slope) <= carom::testing::by_differences(1e-5) * (1 + slope));
      const auto pressed = [&](double p) {
        return overlap_velocity(depth, 0.2, Pressing<double>{p, known}, 0.01);
      };
      const double by = (pressed(0.0981 + 1e-9).value - pressed(0.0981 - 1e-9).value) / 2e-9;
      CHECK(std::abs(pressed(0.0981).by_pressing - by) <= carom::testing::by_differences(1e-5));
    }
  }
}

}  // namespace overlap_test
