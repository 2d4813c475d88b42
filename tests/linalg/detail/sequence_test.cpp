// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/sequence.hpp"

#include <cstdint>

#include "support/catch.hpp"

namespace sequence_test {

using carom::Index, carom::Sequence;

TEST_CASE("sequence: items stay when it grows, memory stays when it shrinks", "[linalg][law]") {
  Sequence<int> numbers;
  CHECK(numbers.empty());
  numbers.assign(3, 7);
  numbers.resize(5);
  numbers[4] = 9;
  CHECK(numbers.size() == 5);
  CHECK((numbers[0] == 7 && numbers[2] == 7 && numbers[3] == 0 && numbers.back() == 9));
  const int* const memory = numbers.data();
  numbers.resize(1);
  numbers.resize(5);
  numbers.clear();
  for (int i = 0; i < 5; ++i) numbers.push_back(i);
  CHECK(numbers.data() == memory);
  int sum = 0;
  for (const int n : numbers) sum += n;
  CHECK(sum == 10);
}

TEST_CASE("sequence: it reserves half as much again", "[linalg][example]") {
  Sequence<double> numbers;
  numbers.resize(100);
  const double* const memory = numbers.data();
  numbers.resize(150);
  CHECK(numbers.data() == memory);
}

TEST_CASE("sequence: it is aligned as Eigen's own memory", "[linalg][example]") {
  Sequence<double> numbers;
  numbers.resize(9);
  constexpr auto align = std::uintptr_t(EIGEN_MAX_ALIGN_BYTES == 0 ? 1 : EIGEN_MAX_ALIGN_BYTES);
  CHECK(reinterpret_cast<std::uintptr_t>(numbers.data()) % align == 0);
}

TEST_CASE("sequence: equal means the same items", "[linalg][example]") {
  Sequence<int> a, b;
  a.assign(3, 1);
  b.assign(3, 1);
  CHECK(a == b);
  b[2] = 2;
  CHECK_FALSE(a == b);
  b.assign(2, 1);
  CHECK_FALSE(a == b);
}

}  // namespace sequence_test
