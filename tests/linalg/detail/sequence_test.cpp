// SPDX-License-Identifier: BSD-3-Clause
#include "carom/linalg/detail/sequence.hpp"

#include <cstdint>
#include <memory>
#include <new>
#include <utility>

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

TEST_CASE("sequence: an item may be given that moves", "[linalg][example]") {
  Sequence<int> numbers;
  numbers.push_back(3);
  for (int i = 0; i < 20; ++i) numbers.push_back(numbers[0]);
  CHECK((numbers.size() == 21 && numbers.back() == 3));
  numbers.assign(200, numbers.back());
  CHECK((numbers[0] == 3 && numbers[199] == 3));
}

TEST_CASE("sequence: what is moved from is empty", "[linalg][example]") {
  Sequence<int> a;
  a.assign(3, 1);
  Sequence<int> b = std::move(a);
  CHECK((b.size() == 3 && a.empty()));  // NOLINT(bugprone-use-after-move)
  a.assign(2, 5);
  b = std::move(a);
  CHECK((b.size() == 2 && b[1] == 5 && a.empty()));  // NOLINT(bugprone-use-after-move)
}

/// Counts itself.
struct Counted {
  static inline int alive = 0;
  std::shared_ptr<int> number = std::make_shared<int>(4);

  Counted() { ++alive; }
  Counted(const Counted& other) : number(other.number) { ++alive; }
  Counted(Counted&& other) noexcept : number(std::move(other.number)) { ++alive; }
  Counted& operator=(const Counted&) = default;
  Counted& operator=(Counted&&) = default;
  ~Counted() { --alive; }
};

TEST_CASE("sequence: items that own memory are made, copied, moved and ended", "[linalg][law]") {
  {
    Sequence<Counted> items;
    items.resize(3);
    CHECK((Counted::alive == 3 && *items[2].number == 4));
    const auto shared = std::make_shared<int>(9);
    Counted own;
    own.number = shared;
    for (int i = 0; i < 10; ++i) items.push_back(own);
    CHECK((Counted::alive == 14 && items[2].number.use_count() == 1));
    CHECK((items.back().number == shared && shared.use_count() == 12));
    Sequence<Counted> copy = items;
    CHECK((copy.size() == 13 && Counted::alive == 27 && shared.use_count() == 22));
    copy = std::move(items);
    CHECK((copy.size() == 13 && Counted::alive == 14));
    copy.resize(4);
    CHECK((Counted::alive == 5 && shared.use_count() == 3));
    copy.assign(2, copy[3]);
    CHECK((copy[0].number == shared && shared.use_count() == 4));
    copy.clear();
    CHECK(Counted::alive == 1);
  }
  CHECK(Counted::alive == 0);
}

TEST_CASE("sequence: it keeps its items where memory runs out", "[linalg][law]") {
  Sequence<double> numbers;
  numbers.assign(2, 0.5);
  const Index too_many = PTRDIFF_MAX / 8;
  CHECK_THROWS_AS(numbers.reserve(too_many), std::bad_alloc);
  CHECK_THROWS_AS(numbers.resize(too_many), std::bad_alloc);
  CHECK((numbers.size() == 2 && numbers[1] == 0.5));
}

TEST_CASE("sequence: an assignment to itself changes nothing", "[linalg][example]") {
  Sequence<int> numbers;
  numbers.assign(4, 6);
  Sequence<int>& same = numbers;
  numbers = same;
  CHECK((numbers.size() == 4 && numbers[3] == 6));
  numbers = std::move(same);
  CHECK((numbers.size() == 4 && numbers[3] == 6));
}

}  // namespace sequence_test
