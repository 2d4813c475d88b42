// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/order.hpp"

#include <algorithm>
#include <limits>

#include "support/catch.hpp"
#include "support/impact_scenes.hpp"
#include "support/random.hpp"
#include "support/worst_case.hpp"

namespace order_test {

using carom::ChosenOrder, carom::Index, carom::LeastInfeasibleFirst, carom::MostInfeasibleFirst;
using carom::SweepOrder;
using carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

/// The lowest index among those with the lowest (or highest) rate below the limit, or −1.
Index expected_pick(const std::vector<double>& rates, double limit, bool most) {
  Index winner = -1;
  for (std::size_t i = rates.size(); i-- > 0;) {
    if (!(rates[i] < limit)) continue;
    const bool wins = winner < 0 || (most ? rates[i] <= rates[std::size_t(winner)]
                                          : rates[i] >= rates[std::size_t(winner)]);
    if (wins) winner = Index(i);
  }
  return winner;
}

template <typename Order>
void check_extreme_order(Order order, bool most) {
  VectorSource<double> source(21u);
  WorstCase picks("the extreme contact, of equals the first");
  for (std::size_t size = 0; size <= 70; ++size) {
    order.prepare(Index(size));
    std::vector<double> rates(size);
    const auto draw = [&] { return double(int(9 * source.unit())) - 4; };  // many equals
    for (double& rate : rates) rate = draw();
    order.start(rates);
    for (int change = 0; change < 60; ++change) {
      const double limit = change % 3 == 0 ? -1.5 : 0;
      picks.see_holds(order.pick(rates, limit) == expected_pick(rates, limit, most), double(size),
                      double(change));
      if (size == 0) break;
      const auto at = std::min(size - 1, std::size_t(source.unit() * double(size)));
      rates[at] = change > 40 ? std::abs(draw()) : draw();
      order.update(Index(at), rates[at]);
    }
  }
  picks.check(4000);
}

}  // namespace

TEST_CASE("order: the most infeasible contact comes first, of equals the lowest index",
          "[impact][oracle]") {
  check_extreme_order(MostInfeasibleFirst<double>(), true);
}

TEST_CASE("order: the least infeasible contact comes first, of equals the lowest index",
          "[impact][oracle]") {
  check_extreme_order(LeastInfeasibleFirst<double>(), false);
}

TEST_CASE("order: memory for many contacts serves few, and again many", "[impact][law]") {
  MostInfeasibleFirst<float> order;
  for (const std::size_t size : {40u, 9u, 3u, 17u, 40u}) {
    order.prepare(Index(size));
    std::vector<float> rates(size, 1.0F);
    rates[size - 1] = -1;
    order.start(rates);
    CHECK(order.pick(rates, 0.0F) == Index(size) - 1);
    rates[size - 1] = 1;
    order.update(Index(size) - 1, 1.0F);
    CHECK(order.pick(rates, 0.0F) == -1);
  }
}

TEST_CASE("order: a sweep goes on after the last and starts over", "[impact][example]") {
  SweepOrder<double> sweep;
  sweep.prepare(4);
  const std::vector<double> rates{-1, 2, -3, -4};
  sweep.start(rates);
  for (const Index expected : {0, 2, 3, 0, 2}) CHECK(sweep.pick(rates, 0.0) == expected);
  CHECK(sweep.pick(rates, -3.5) == 3);
  CHECK(sweep.pick(rates, -5) == -1);
  for (int again = 0; again < 2; ++again) {  // from the first, wherever it stood
    sweep.start(rates);
    CHECK(sweep.pick(rates, 0.0) == 0);
  }
}

TEST_CASE("order: a given sequence is followed, feasible contacts skipped", "[impact][example]") {
  SweepOrder<double> sweep({3, 1, 2, 3, 0});
  sweep.prepare(4);
  const std::vector<double> rates{-1, 2, -3, -4};
  sweep.start(rates);
  for (const Index expected : {3, 2, 3, 0, 3, 2}) CHECK(sweep.pick(rates, 0.0) == expected);
}

TEST_CASE("order: a sweep prepared anew knows the new contacts", "[impact][regression]") {
  SweepOrder<double> sweep;
  for (const std::size_t size : {2u, 5u, 1u, 0u, 3u}) {
    sweep.prepare(Index(size));
    const std::vector<double> rates(size, -1.0);
    sweep.start(rates);
    for (std::size_t k = 0; k < 2 * size; ++k) CHECK(sweep.pick(rates, 0.0) == Index(k % size));
    if (size == 0) CHECK(sweep.pick(rates, 0.0) == -1);
  }
}

TEST_CASE("order: the user's choice is asked with all rates and the limit", "[impact][example]") {
  double limit_seen = 0;
  const auto last = [&](std::span<const double> rates, double limit) -> Index {
    limit_seen = limit;
    for (Index i = Index(rates.size()); i-- > 0;) {
      if (rates[std::size_t(i)] < limit) return i;
    }
    return -1;
  };
  ChosenOrder<double, decltype(last)> order{last};
  const std::vector<double> rates{-1, -2, 0};
  order.prepare(3);
  order.start(rates);
  CHECK(order.pick(rates, -0.5) == 1);
  CHECK(limit_seen == -0.5);
  CHECK(order.pick(rates, -5) == -1);
}

TEST_CASE("order: a sweep over what is no contact is refused", "[impact][example]") {
  const auto refused = [](std::vector<Index> sequence) {
    SweepOrder<double> sweep(std::move(sequence));
    return carom::testing::refusal_of([&] { sweep.prepare(3); });
  };
  CHECK(refused({2, 0, 1, 0}) == "accepted");
  CHECK(refused({0, 3}) == "order: expected the index of a contact, got 3");
  CHECK(refused({-1}) == "order: expected the index of a contact, got -1");
}

}  // namespace order_test
