// SPDX-License-Identifier: BSD-3-Clause
#include "ensemble/philox.hpp"

#include <array>
#include <cmath>
#include <set>
#include <vector>

#include "support/catch.hpp"

namespace philox_test {

using carom::ensemble::philox4x32, carom::ensemble::RandomStream;
using Words = std::array<std::uint32_t, 4>;

TEST_CASE("philox: known answers of its authors", "[ensemble][oracle]") {
  // salmon2011parallel: tests/kat_vectors of Random123.
  CHECK(philox4x32({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
  CHECK(philox4x32({0, 0, 0, 0}, {0, 0}, 7) ==
        Words{0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48});
}

TEST_CASE("philox: a stream's draws are words of counters that name problem and draw",
          "[ensemble][example]") {
  const std::uint64_t seed = 0x299f31d0a4093822, problem = 0x85a308d3243f6a88;
  const std::uint64_t pair = 0x0370734413198a2e;
  const RandomStream stream(seed, problem);
  CHECK(stream.at(2 * pair) == 0x94fdccebd16cfe09);
  CHECK(stream.at(2 * pair + 1) == 0x24126ea15001e420);
}

TEST_CASE("philox: earlier draws and other streams do not matter", "[ensemble][law]") {
  RandomStream stream(7, 11);
  std::vector<std::uint64_t> drawn;
  for (int k = 0; k < 20; ++k) drawn.push_back(stream.next());
  CHECK(stream.draw_count() == 20);
  for (std::uint64_t k = 20; k-- > 0;) CHECK(RandomStream(7, 11).at(k) == drawn[k]);
}

TEST_CASE("philox: seeds, problems and draws have numbers of their own", "[ensemble][law]") {
  std::set<std::uint64_t> seen;
  const std::uint64_t far = 1ULL << 32U;
  for (const std::uint64_t seed : {std::uint64_t(0), std::uint64_t(1), far}) {
    for (const std::uint64_t problem : {std::uint64_t(0), std::uint64_t(1), far, far + 1}) {
      for (const std::uint64_t draw :
           {std::uint64_t(0), std::uint64_t(1), std::uint64_t(2), far, 2 * far}) {
        seen.insert(RandomStream(seed, problem).at(draw));
      }
    }
  }
  CHECK(seen.size() == 3 * 4 * 5);
}

TEST_CASE("philox: numbers are in their range and spread evenly", "[ensemble][law]") {
  constexpr int count = 20'000;
  constexpr double least = 1e-3, most = 1e3;
  double unit = 0, squared = 0, decades = 0;
  std::array<int, 7> faces{};
  int heads = 0;
  for (int problem = 0; problem < count; ++problem) {
    RandomStream stream(3, std::uint64_t(problem));
    const double u = stream.unit(), d = stream.across_decades(least, most);
    const double b = stream.between(-2, 5);
    const int face = stream.below(7);
    REQUIRE((u >= 0 && u < 1 && d >= least && d < most && b >= -2 && b < 5));
    REQUIRE((face >= 0 && face < 7));
    unit += u;
    squared += u * u;
    decades += std::log10(d);
    ++faces[std::size_t(face)];
    heads += stream.chance(0.25) ? 1 : 0;
  }
  // Five standard deviations.
  const double root = std::sqrt(double(count));
  CHECK(std::abs(unit / count - 0.5) < 5 * std::sqrt(1.0 / 12) / root);
  CHECK(std::abs(squared / count - 1.0 / 3) < 5 * std::sqrt(4.0 / 45) / root);
  CHECK(std::abs(decades / count) < 5 * 6 * std::sqrt(1.0 / 12) / root);
  for (const int face : faces) {
    CHECK(std::abs(face - count / 7.0) < 5 * std::sqrt(count * 6.0 / 49));
  }
  CHECK(std::abs(heads - count / 4.0) < 5 * std::sqrt(count * 3.0 / 16));
}

}  // namespace philox_test
