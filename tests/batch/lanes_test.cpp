// SPDX-License-Identifier: BSD-3-Clause
#include "carom/batch/lanes.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "support/catch.hpp"
#include "support/random.hpp"

namespace lanes_test {

using carom::Lanes;

namespace {

/// Awkward numbers: many decades, zeros of both signs, the ends of the range, NaN.
template <typename Scalar>
std::vector<Scalar> numbers() {
  carom::testing::VectorSource<double> source(21000u);
  using Limits = std::numeric_limits<Scalar>;
  std::vector<Scalar> list = {Scalar(0),           Scalar(-0.0),         Scalar(1),
                              Scalar(-1),          Limits::max(),        Limits::lowest(),
                              Limits::min(),       Limits::denorm_min(), Limits::infinity(),
                              -Limits::infinity(), Limits::quiet_NaN()};
  while (list.size() < 48) list.push_back(Scalar(source.entry()));
  return list;
}

template <typename Scalar>
bool same_bits(Scalar a, Scalar b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b));
}

/// A product and a sum, each rounded: `volatile` keeps the compiler from joining them.
template <typename Scalar>
Scalar rounded_twice(Scalar a, Scalar b, Scalar c) {
  volatile Scalar product = a * b;
  return product + c;
}

/// Compares an operation on lanes with the same one on plain numbers, for all pairs.
template <typename Scalar, int Count, typename OnLanes, typename OnNumbers>
void compare(const OnLanes& on_lanes, const OnNumbers& on_numbers) {
  const std::vector<Scalar> list = numbers<Scalar>();
  int faults = 0;
  for (std::size_t first = 0; first < list.size(); ++first) {
    std::array<Scalar, std::size_t(Count)> a{}, b{}, result{};
    for (std::size_t second = 0; second < list.size(); second += std::size_t(Count)) {
      for (std::size_t l = 0; l < a.size(); ++l) {
        a[l] = list[(first + l) % list.size()];
        b[l] = list[(second + l) % list.size()];
      }
      using Number = Lanes<Scalar, Count>;
      on_lanes(Number::load(a.data()), Number::load(b.data())).store(result.data());
      for (std::size_t l = 0; l < a.size(); ++l) {
        faults += int(!same_bits(result[l], Scalar(on_numbers(a[l], b[l]))));
      }
    }
  }
  CAPTURE(Count, sizeof(Scalar));
  CHECK(faults == 0);
}

template <typename Scalar, int Count>
void compare_all() {
  const auto run = [](const auto& on_lanes, const auto& on_numbers) {
    compare<Scalar, Count>(on_lanes, on_numbers);
  };
  using Number = Lanes<Scalar, Count>;
  run([](Number a, Number b) { return a + b; }, [](Scalar a, Scalar b) { return a + b; });
  run([](Number a, Number b) { return a - b; }, [](Scalar a, Scalar b) { return a - b; });
  run([](Number a, Number b) { return a * b; }, [](Scalar a, Scalar b) { return a * b; });
  run([](Number a, Number b) { return a / b; }, [](Scalar a, Scalar b) { return a / b; });
  run([](Number a, Number) { return -a; }, [](Scalar a, Scalar) { return -a; });
  run([](Number a, Number) { return sqrt(abs(a)); },
      [](Scalar a, Scalar) { return std::sqrt(a > -a ? a : -a); });
  run([](Number a, Number b) { return smaller(a, b); },
      [](Scalar a, Scalar b) { return a < b ? a : b; });
  run([](Number a, Number b) { return larger(a, b); },
      [](Scalar a, Scalar b) { return a > b ? a : b; });
  run([](Number a, Number b) { return as_numbers((a < b) | (!(a <= b))); },
      [](Scalar a, Scalar b) { return a < b || !(a <= b) ? 1 : 0; });
  run([](Number a, Number b) { return as_numbers((a >= b) & (b > a)); },
      [](Scalar a, Scalar b) { return a >= b && b > a ? 1 : 0; });
  run([](Number a, Number b) { return select(a < b, a, Number(Scalar(3))); },
      [](Scalar a, Scalar b) { return a < b ? a : 3; });
  run([](Number a, Number b) { return a * b + a; },
      [](Scalar a, Scalar b) { return rounded_twice(a, b, a); });
  run([](Number a, Number b) { return a - a * b; },
      [](Scalar a, Scalar b) { return rounded_twice(Scalar(-a), b, a); });
}

template <typename Scalar>
void compare_every_count() {
  compare_all<Scalar, 1>();
  compare_all<Scalar, 2>();
  compare_all<Scalar, 4>();
  compare_all<Scalar, 8>();
  compare_all<Scalar, 16>();
}

}  // namespace

TEST_CASE("lanes: every operation is that of plain numbers, each rounded once", "[lanes]") {
  compare_every_count<double>();
  compare_every_count<float>();
}

TEST_CASE("lanes: a mask is seen from every lane", "[lanes]") {
  const auto see = [](auto count) {
    using Number = Lanes<double, decltype(count)::value>;
    CHECK_FALSE(any(Number(1.0) < Number(1.0)));
    CHECK(any(Number(1.0) <= Number(1.0)));
    CHECK(any(carom::everywhere<Number>(true)));
    CHECK_FALSE(any(carom::everywhere<Number>(false)));
    for (int lane = 0; lane < Number::count; ++lane) {
      std::array<double, std::size_t(Number::count)> numbers{};
      numbers[std::size_t(lane)] = 1;
      CHECK(any(Number::load(numbers.data()) > Number(0.0)));
      CHECK_FALSE(any(Number::load(numbers.data()) > Number(1.0)));
    }
  };
  see(std::integral_constant<int, 1>());
  see(std::integral_constant<int, 2>());
  see(std::integral_constant<int, 4>());
  see(std::integral_constant<int, 8>());
  see(std::integral_constant<int, 16>());
}

}  // namespace lanes_test
