// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/search/block_sweep.hpp"

#include <vector>

#include "support/catch.hpp"

namespace block_sweep_test {

using carom::Index, carom::detail::sweep_blocks, carom::detail::SweepBlock;

namespace {

/// Two equations, 4 x + y = 6 and 2 x + 8 y = 18, solved in turn.
struct Equations {
  double matrix[2][2] = {{4, 1}, {2, 8}};
  double load[2] = {6, 18};
  double x[2] = {0, 0};
  std::vector<Index> visited;
};

struct Equation {
  Equations& all;
  Index i;

  [[nodiscard]] double held() const noexcept {
    return all.load[i] - all.matrix[i][1 - i] * all.x[1 - i];
  }
  [[nodiscard]] double solve(double held) const noexcept { return held / all.matrix[i][i]; }
  void spread(double answer) const noexcept { all.x[i] = answer; }
};

struct NoBlock {};

}  // namespace

static_assert(SweepBlock<Equation> && !SweepBlock<NoBlock>);

TEST_CASE("block_sweep: each block sees what those before it changed", "[solvers][example]") {
  Equations all;
  const auto visit = [&](Index k, auto&& solve) {
    all.visited.push_back(k);
    solve(Equation{all, k});
  };
  sweep_blocks(2, false, visit);
  CHECK(all.x[0] == 1.5);         // 6/4
  CHECK(all.x[1] == 15.0 / 8.0);  // (18 - 2 x)/8 with the new x
  sweep_blocks(2, true, visit);   // y first: the same again, then x with it
  CHECK(all.x[1] == 15.0 / 8.0);
  CHECK(all.x[0] == (6.0 - 15.0 / 8.0) / 4.0);
  CHECK(all.visited == std::vector<Index>{0, 1, 1, 0});
  for (int k = 0; k < 60; ++k) sweep_blocks(2, false, visit);
  CHECK(all.x[0] == 1.0);
  CHECK(all.x[1] == 2.0);
}

TEST_CASE("block_sweep: a visit may solve no block, or several", "[solvers][example]") {
  Equations all;
  sweep_blocks(2, false, [&](Index k, auto&& solve) {
    if (k == 0) return;
    solve(Equation{all, 1});
    solve(Equation{all, 0});
  });
  CHECK(all.x[1] == 2.25);
  CHECK(all.x[0] == (6.0 - 2.25) / 4.0);
  sweep_blocks(0, false, [&](Index, auto&&) { CHECK(false); });
}

}  // namespace block_sweep_test
