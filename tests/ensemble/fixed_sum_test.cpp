// SPDX-License-Identifier: BSD-3-Clause
#include "ensemble/fixed_sum.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "support/catch.hpp"

#include "ensemble/philox.hpp"

namespace fixed_sum_test {

using carom::ensemble::FixedSum;

FixedSum sum_of(const std::vector<double>& numbers) {
  FixedSum sum;
  for (const double number : numbers) sum.add(number);
  return sum;
}

TEST_CASE("fixed_sum: sums that doubles hold are exact", "[ensemble][example]") {
  CHECK(sum_of({}).value() == 0);
  CHECK(sum_of({}).mean() == 0);
  CHECK(sum_of({1.5, 2.25, -0.75}).value() == 3);
  CHECK(sum_of({1.5, 2.25, -0.75}).mean() == 1);
  CHECK(sum_of({-0.5}).value() == -0.5);
  CHECK(sum_of({-3}).value() == -3);
  CHECK(sum_of({0x1p-64, -0x1p-63}).value() == -0x1p-64);
  CHECK(sum_of({0x1p31, -0x1p31, 0x1p-64}).value() == 0x1p-64);
  CHECK(sum_of({0.1, -0.1}).value() == 0);
  CHECK(sum_of({0x1p31, 0x1p31, 0x1p31}).value() == 3 * 0x1p31);
}

TEST_CASE("fixed_sum: what a double's sum loses is kept", "[ensemble][example]") {
  FixedSum sum;
  sum.add(0x1p30);
  for (int k = 0; k < 1 << 10; ++k) sum.add(0x1p-60);
  sum.add(-0x1p30);
  CHECK(sum.value() == 0x1p-50);
}

TEST_CASE("fixed_sum: a number is cut towards zero, by less than 2^-64", "[ensemble][law]") {
  CHECK(sum_of({0x1.8p-64}).value() == 0x1p-64);
  CHECK(sum_of({-0x1.8p-64}).value() == -0x1p-64);
  CHECK(sum_of({0x1p-65, -0x1p-65, 1e-300}).value() == 0);
}

TEST_CASE("fixed_sum: any order and any grouping has the same bits", "[ensemble][law]") {
  carom::ensemble::RandomStream random(5, 0);
  std::vector<double> numbers;
  for (int k = 0; k < 1000; ++k) {
    numbers.push_back(random.across_decades(1e-25, 1e9) * (random.chance(0.5) ? 1 : -1));
  }
  const FixedSum expected = sum_of(numbers);
  double plain = 0, size = 0;
  for (const double number : numbers) {
    plain += number;
    size += std::abs(number);
  }
  CHECK(std::abs(expected.value() - plain) <= 1000 * 0x1p-53 * size);
  for (int round = 0; round < 20; ++round) {
    FixedSum groups[3];
    for (std::size_t k = numbers.size(); k > 1; --k) {
      std::swap(numbers[k - 1], numbers[std::size_t(random.below(int(k)))]);
    }
    for (const double number : numbers) groups[random.below(3)].add(number);
    FixedSum sum;
    for (const int g : {2, 0, 1}) sum.add(groups[g]);
    CHECK(sum == expected);
  }
}

TEST_CASE("fixed_sum: numbers it has no room for are counted", "[ensemble][example]") {
  const double infinity = std::numeric_limits<double>::infinity();
  const FixedSum sum = sum_of({1, infinity, -infinity, std::nan(""), 0x1.1p31, -1e300, 2});
  CHECK(sum.value() == 3);
  CHECK(sum.count() == 2);
  CHECK(sum.left_out() == 5);
  CHECK(sum.mean() == 1.5);
}

}  // namespace fixed_sum_test
