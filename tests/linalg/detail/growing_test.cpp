// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/growing.hpp"

#include <utility>

#include "support/catch.hpp"

namespace growing_test {

using carom::Growing, carom::MatrixX, carom::VectorX;

TEMPLATE_TEST_CASE("growing: memory stays while sizes change", "[linalg][law]", float, double) {
  Growing<VectorX<TestType>> x;
  CHECK(x.size() == 0);
  x.grow(7);
  const TestType* const memory = x.data();
  for (const carom::Index size : {3, 7, 0, 5}) {
    x.grow(size);
    CHECK(x.size() == size);
    CHECK(x.data() == memory);
  }
  Growing<MatrixX<TestType>> a;
  a.grow(3, 3);
  const TestType* const first = a.data();
  a.grow(2, 4);
  CHECK((a.rows() == 2 && a.cols() == 4));
  CHECK(a.data() == first);
}

TEST_CASE("growing: copies have memory of their own, moves take it along", "[linalg][law]") {
  Growing<VectorX<double>> x;
  x.grow(4);
  x.setConstant(2);
  x.grow(2);
  Growing<VectorX<double>> copy = x;
  copy(0) = 5;
  CHECK(x(0) == 2);
  CHECK(copy.size() == 2);
  const Growing<VectorX<double>> moved = std::move(copy);
  CHECK(moved(0) == 5);
  Growing<VectorX<double>> assigned;
  assigned = x;
  assigned(1) = 7;
  CHECK(x(1) == 2);
  x = 2 * assigned;
  CHECK(x(1) == 14);
  assigned = std::move(x);
  CHECK((assigned.size() == 2 && assigned(1) == 14));
}

TEST_CASE("growing: an assignment to itself changes nothing", "[linalg][example]") {
  Growing<VectorX<double>> x;
  x.grow(3);
  x.setConstant(4);
  const Growing<VectorX<double>>& same = x;
  x = same;
  CHECK((x.size() == 3 && x(0) == 4 && x(2) == 4));
}

}  // namespace growing_test
