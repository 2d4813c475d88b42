// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/systems/system_totals.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "support/catch.hpp"

namespace system_totals_test {

using carom::Index;
using carom::detail::agreed, carom::detail::counts_block, carom::detail::is_distributed;
using carom::detail::largest_of, carom::detail::total_of;

namespace {

/// A system whose blocks are all here.
struct OneMachine {};

/// One of several machines. What the others give is known beforehand; the block at each border is
/// on two machines, and the one with the lower number counts it.
struct Machine {
  Index first_block, block_end;
  std::vector<std::array<double, 2>> others;
  std::vector<bool> others_good;

  [[nodiscard]] bool counts(Index block) const noexcept {
    return block >= first_block && block < block_end;
  }
  template <std::size_t Count>
  [[nodiscard]] std::array<double, Count> total(std::array<double, Count> sums) const noexcept {
    for (const auto& other : others) {
      for (std::size_t k = 0; k < Count; ++k) sums[k] += other[k];
    }
    return sums;
  }
  [[nodiscard]] double largest(double number) const noexcept {
    for (const auto& other : others) number = std::max(number, other[0]);
    return number;
  }
  [[nodiscard]] bool agreed(bool good) const noexcept {
    return good &&
           std::all_of(others_good.begin(), others_good.end(), [](bool own) { return own; });
  }
};

}  // namespace

static_assert(is_distributed<Machine> && !is_distributed<OneMachine>);

TEST_CASE("system_totals: on one machine totals are the numbers themselves", "[solvers][law]") {
  OneMachine here;
  for (const Index block : {Index(0), Index(7), Index(1000)}) CHECK(counts_block(here, block));
  CHECK(total_of(here, std::array<double, 2>{-3, 1e300}) == std::array<double, 2>{-3, 1e300});
  CHECK(total_of(here, std::array<float, 1>{0.25F}) == std::array<float, 1>{0.25F});
  CHECK(total_of(here, std::array<double, 0>{}) == std::array<double, 0>{});
  CHECK(largest_of(here, -2.5) == -2.5);
  CHECK(agreed(here, true));
  CHECK_FALSE(agreed(here, false));
}

TEST_CASE("system_totals: each block of several machines counts once", "[solvers][law]") {
  // Blocks 0 to 2 are on the first machine, 2 to 5 on the second; the sums are those of 0 to 5.
  const std::array<double, 2> own = {0.0 + 1 + 2, 3}, other = {3.0 + 4 + 5, 3};
  Machine machines[2] = {{0, 3, {other}, {true}}, {3, 6, {own}, {true}}};
  const std::array<Index, 2> first = {0, 2}, end = {3, 6};
  for (std::size_t m = 0; m < 2; ++m) {
    std::array<double, 2> sums{};
    for (Index block = first[m]; block < end[m]; ++block) {
      if (!counts_block(machines[m], block)) continue;
      sums[0] += double(block);
      sums[1] += 1;
    }
    CHECK(total_of(machines[m], sums) == std::array<double, 2>{15, 6});
  }
}

TEST_CASE("system_totals: all machines get the largest number, and agree", "[solvers][law]") {
  Machine one{0, 3, {{2.0, 0}, {-7.0, 0}}, {true, true}};
  CHECK(largest_of(one, 1.0) == 2.0);
  CHECK(largest_of(one, 3.0) == 3.0);
  CHECK(agreed(one, true));
  CHECK_FALSE(agreed(one, false));
  one.others_good[1] = false;
  CHECK_FALSE(agreed(one, true));
}

}  // namespace system_totals_test
