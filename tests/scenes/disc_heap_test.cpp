// SPDX-License-Identifier: BSD-3-Clause
#include "scenes/disc_heap.hpp"

#include <cmath>

#include "support/catch.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"

namespace disc_heap_test {

using carom::testing::by_settling, carom::testing::by_solver, carom::testing::by_step,
    carom::testing::clearly;

using carom::examples::Disc;
using carom::examples::DiscHeap;
using carom::examples::Ground;

namespace {

/// What slides floats by δt μ v above it; with dissipation it would by more.
Ground hard_ground(double friction) {
  Ground ground;
  ground.friction = friction;
  ground.stiffness = 1e7;
  ground.dissipation_time = 0;
  return ground;
}

}  // namespace

TEST_CASE("disc_heap: a disc thrown flat slides, then rolls at two thirds of its speed",
          "[scenes][example]") {
  DiscHeap heap({{0.1, 2, 0, 0.1}}, hard_ground(0.2), 0.001);
  Disc& disc = heap.discs[0];
  disc.velocity(1) = 1.5;
  // It slides until v − μ g t = 2 μ g t, its rim as fast as the ground: v₀/(3 μ g) = 0.255 s.
  for (int i = 0; i < 200; ++i) REQUIRE(heap.step());
  CHECK(std::abs(disc.velocity(1) - (1.5 - 0.2 * 9.81 * 0.2)) < by_step(2e-3));
  for (int i = 0; i < 300; ++i) REQUIRE(heap.step());
  CHECK(std::abs(disc.velocity(1) - 1) < by_step(2e-3));
  CHECK(std::abs(0.1 * disc.velocity(0) - 1) < by_step(2e-3));  // spin about y rolls along +x
}

TEST_CASE("disc_heap: discs that meet without friction exchange momentum along the line between",
          "[scenes][law]") {
  Ground ground;
  ground.friction = 0;
  ground.gravity.setZero();
  DiscHeap heap({{0.1, 1, -0.2, 1.0, 0, {5, 1, 0}}, {0.1, 3, 0.05, 1.08, 0, {0, 0, 0}}}, ground,
                0.001);
  for (int i = 0; i < 400; ++i) REQUIRE(heap.step());
  const Disc &a = heap.discs[0], &b = heap.discs[1];
  CHECK(std::abs(a.velocity(1) + 3 * b.velocity(1) - 1) < by_solver(1e-9));
  CHECK(std::abs(a.velocity(2) + 3 * b.velocity(2)) < by_solver(1e-9));
  CHECK(a.velocity(0) == 5);
  CHECK(b.velocity(0) == 0);
  CHECK(b.velocity(2) > 0.05);
}

TEST_CASE("disc_heap: friction between discs turns both the same way and keeps angular momentum",
          "[scenes][law]") {
  Ground ground = hard_ground(0.5);
  ground.gravity.setZero();
  // The second falls onto the first, whose spin rubs.
  DiscHeap heap({{0.1, 1, 0, 1.0, 0, {20, 0, 0}}, {0.1, 1, 0.05, 1.2, 0, {0, 0, -1}}}, ground,
                2e-4);
  const auto angular = [&] {
    double sum = 0;  // about y, from the origin: I ω + m (z v_x − x v_z)
    for (const Disc& disc : heap.discs) {
      sum += disc.mass * disc.radius * disc.radius / 2 * disc.velocity(0) +
             disc.mass * (disc.z * disc.velocity(1) - disc.x * disc.velocity(2));
    }
    return sum;
  };
  const double before = angular();
  for (int i = 0; i < 400; ++i) REQUIRE(heap.step());
  CHECK(std::abs(angular() - before) < by_step(1e-3) * std::abs(before));
  CHECK(heap.discs[0].velocity(0) < 19.9);
  CHECK(heap.discs[1].velocity(0) < -0.1);
}

TEST_CASE("disc_heap: a column between walls comes to rest, and all of its weight is carried",
          "[scenes][example]") {
  DiscHeap heap = carom::examples::make_disc_column(carom::testing::sweep(2, 4), 0.31);
  for (int i = 0; i < 250; ++i) REQUIRE(heap.step());
  CHECK(heap.fastest() < by_settling(1e-3));
  CHECK(std::abs(heap.carried() / heap.weight() - 1) < by_settling(1e-3));
  for (const Disc& disc : heap.discs) {
    CHECK(disc.z > 0.95 * disc.radius);
    CHECK(std::abs(disc.x) < heap.half_width - 0.95 * disc.radius);
  }
}

TEST_CASE("disc_heap: three discs stand from a friction of 2 - sqrt 3 on", "[scenes][example]") {
  for (const double beside : {-1e-3, 1e-3}) {
    DiscHeap heap = carom::examples::make_three_discs(2 - std::sqrt(3.0) + beside);
    const double before = heap.discs[2].z;
    for (int i = 0; i < 250; ++i) REQUIRE(heap.step());
    CHECK((before - heap.discs[2].z > clearly(1e-4)) == (beside < 0));
  }
}

}  // namespace disc_heap_test
