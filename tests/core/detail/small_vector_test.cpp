// SPDX-License-Identifier: BSD-3-Clause
#include "carom/core/detail/small_vector.hpp"

#include "support/catch.hpp"

namespace small_vector_test {

using Vector = carom::detail::SmallVector<double, 4>;

TEST_CASE("small_vector: numbers are read from an address and written to another",
          "[core][example]") {
  const double numbers[] = {1, 2, 3, 4, 5};
  const Vector vector = Vector::at(numbers);
  double written[] = {0, 0, 0, 0, 9};
  vector.write_to(written);
  for (int i = 0; i < 4; ++i) {
    CHECK(vector(i) == numbers[i]);
    CHECK(written[i] == numbers[i]);
    CHECK(Vector::filled(7)(i) == 7);
  }
  CHECK(written[4] == 9);
}

TEST_CASE("small_vector: it is zero if each of its numbers is", "[core][example]") {
  CHECK(Vector().is_zero());
  CHECK(Vector{{0, -0.0, 0, 0}}.is_zero());
  for (int i = 0; i < 4; ++i) {
    Vector one;
    one(i) = 1e-300;
    CHECK_FALSE(one.is_zero());
  }
}

TEST_CASE("small_vector: sums, products and quotients are taken entry by entry",
          "[core][example]") {
  const Vector a{{8, 6, -4, 2}}, b{{2, 3, 4, -1}};
  const Vector sum = a + b, difference = a - b, opposite = -a, twice = 2.0 * a, half = a / 2.0;
  const Vector product = products(a, b), quotient = quotients(a, b);
  for (int i = 0; i < 4; ++i) {
    CHECK(sum(i) == a(i) + b(i));
    CHECK(difference(i) == a(i) - b(i));
    CHECK(opposite(i) == -a(i));
    CHECK(twice(i) == 2 * a(i));
    CHECK(half(i) == a(i) / 2);
    CHECK(product(i) == a(i) * b(i));
    CHECK(quotient(i) == a(i) / b(i));
  }
  CHECK(a.dot(b) == 16);
  CHECK(a.sum() == 12);
  CHECK(b.squared_norm() == 30);
  CHECK(Vector{{2, 2, 2, 2}}.norm() == 4);
}

}  // namespace small_vector_test
