// SPDX-License-Identifier: BSD-3-Clause
#include "carom/core/detail/packet.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/catch.hpp"
#include "support/tolerance.hpp"

namespace packet_test {

using carom::Index;
using carom::detail::packet_at, carom::detail::Packet;
using carom::testing::rounding;

/// Checks that each lane holds what `expected` says of its place.
template <typename Scalar, int Count, typename Expected>
void check_lanes(const Packet<Scalar, Count>& found, const Expected& expected) {
  Scalar numbers[Count];
  found.write_to(numbers);
  for (int i = 0; i < Count; ++i) CHECK(numbers[i] == expected(i));
}

template <typename Scalar, int Count>
void check_arithmetic() {
  CAPTURE(Count);
  Scalar a[Count], b[Count];
  for (int i = 0; i < Count; ++i) {
    a[i] = Scalar(i * i - 5);
    b[i] = Scalar(i + 1);
  }
  using Numbers = Packet<Scalar, Count>;
  const Numbers x = Numbers::at(a), y = Numbers::at(b);
  check_lanes(x + y, [&](int i) { return a[i] + b[i]; });
  check_lanes(x - y, [&](int i) { return a[i] - b[i]; });
  check_lanes(x * y, [&](int i) { return a[i] * b[i]; });
  check_lanes(x / y, [&](int i) { return a[i] / b[i]; });
  check_lanes(Scalar(3) * x, [&](int i) { return Scalar(3) * a[i]; });
  check_lanes(-x, [&](int i) { return -a[i]; });
  check_lanes(x.abs(), [&](int i) { return std::abs(a[i]); });
  check_lanes(x.square(), [&](int i) { return a[i] * a[i]; });
  Scalar roots[Count];
  y.sqrt().write_to(roots);  // Eigen may approximate and correct it
  for (int i = 0; i < Count; ++i) {
    CHECK(std::abs(roots[i] * roots[i] - b[i]) <= rounding<Scalar>(8, b[i]));
  }
  check_lanes(x.larger_of(y), [&](int i) { return std::max(a[i], b[i]); });
  check_lanes(x.smaller_of(y), [&](int i) { return std::min(a[i], b[i]); });
  check_lanes(Numbers::Zero(), [](int) { return Scalar(0); });
  check_lanes(x.template cast<float>(), [&](int i) { return float(a[i]); });
  CHECK(y.sum() == Scalar(Count * (Count + 1) / 2));
  CHECK(y.maxCoeff() == Scalar(Count));
}

TEMPLATE_TEST_CASE("packet: arithmetic is that of each lane", "[core][law]", float, double,
                   long double) {
  check_arithmetic<TestType, 1>();
  check_arithmetic<TestType, 4>();
  check_arithmetic<TestType, 6>();
  check_arithmetic<TestType, 8>();
}

TEMPLATE_TEST_CASE("packet: a place is read and written where it is", "[core]", float, double) {
  std::vector<TestType> numbers(18, TestType(1));
  packet_at(numbers.data() + 1) += Packet<TestType, 8>::Constant(TestType(2));
  packet_at(numbers.data() + 9) = packet_at(numbers.data() + 1);
  CHECK(numbers.front() == 1);
  for (std::size_t i = 1; i < 17; ++i) CHECK(numbers[i] == 3);
  CHECK(numbers.back() == 1);
}

TEMPLATE_TEST_CASE("packet: sums and passes cover every number once", "[core][law]", float,
                   double) {
  for (const Index count : {0, 1, 7, 8, 9, 16, 31}) {
    CAPTURE(count);
    std::vector<TestType> x(std::size_t(count) + 1, TestType(2)), y = x;
    CHECK(carom::detail::squared_norm(x.data(), count) == TestType(4 * count));
    CHECK(carom::detail::sum_of_sizes(x.data(), count) == TestType(2 * count));
    CHECK(carom::detail::sum_of_products(x.data(), y.data(), count) == TestType(4 * count));
    CHECK(carom::detail::weighted_square(x.data(), y.data(), count) == TestType(8 * count));
    carom::detail::write_sum(x.data(), TestType(3), y.data(), count, y.data());
    for (Index i = 0; i < count; ++i) CHECK(y[std::size_t(i)] == 8);
    carom::detail::write_negative(x.data(), count, y.data());
    for (Index i = 0; i < count; ++i) CHECK(y[std::size_t(i)] == -2);
    CHECK(y.back() == 2);
  }
}

}  // namespace packet_test
