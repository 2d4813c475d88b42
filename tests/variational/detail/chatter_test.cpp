// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/detail/chatter.hpp"

#include "support/catch.hpp"

namespace chatter_test {

using carom::ChatterWatch;

namespace {

/// Impact at which a geometric series of intervals is called chatter, or −1.
int called_at(double first, double ratio, double step, bool lost = true) {
  ChatterWatch<double> watch;
  watch.prepare(2);
  double time = 10, interval = first;
  for (int k = 0; k < 60; ++k) {
    if (watch.see(1, time, lost, step)) return k;
    time += interval;
    interval *= ratio;
  }
  return -1;
}

}  // namespace

TEST_CASE("chatter: a series that ends within a step is called", "[variational][law]") {
  // What is left after an interval T is T r/(1 − r), to be less than the step.
  CHECK(called_at(1e-3, 0.5, 1) == 4);  // three shrinking intervals at least
  CHECK(called_at(1, 0.5, 0.1) == 5);   // after the interval 1/16
  CHECK(called_at(1, 0.5, 0.01) == 8);  // after 1/128
  CHECK(called_at(1e-3, 0.99, 0.1) == 4);
  CHECK(called_at(1e-2, 0.99, 0.1) == -1);  // 0.99 left over: slow to end
}

TEST_CASE("chatter: lossless and even sequences are not", "[variational][law]") {
  CHECK(called_at(1e-3, 0.5, 1, false) == -1);
  CHECK(called_at(1e-3, 1.0, 1) == -1);
  CHECK(called_at(1e-3, 1.1, 1) == -1);
}

TEST_CASE("chatter: contacts are told apart and forgotten", "[variational][example]") {
  ChatterWatch<double> watch;
  watch.prepare(2);
  for (int k = 0; k < 20; ++k) CHECK_FALSE(watch.see(k % 2, 1 + 0.01 * k, true, 0.001));
  watch.forget_all();
  const auto series = [&](int from, int to) {
    bool called = false;
    for (int k = from; k < to; ++k) called = watch.see(0, 100 - 1 / double(1 << k), true, 1.0);
    return called;
  };
  CHECK_FALSE(series(0, 4));
  watch.forget(0);
  CHECK_FALSE(series(4, 8));
  CHECK(series(8, 9));
  watch.forget_all();
  CHECK_FALSE(series(9, 13));
}

}  // namespace chatter_test
