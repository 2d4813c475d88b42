// SPDX-License-Identifier: BSD-3-Clause
#include "ensemble/tally.hpp"

#include <array>
#include <cmath>
#include <vector>

#include "support/catch.hpp"

#include "ensemble/philox.hpp"

namespace tally_test {

using namespace carom::ensemble;

TallyLayout small_layout() {
  return {{{"even", -1}, {"odd", -1}}, {{"size", doubling_bins(5)}}, {"largest"}, {"a", "b"}};
}

/// A problem's numbers, made up.
void run(std::uint64_t index, Tally& tally) {
  RandomStream random(1, index);
  const std::uint64_t drawn = random.next();
  ++tally.counters[drawn % 2];
  tally.count_bin(0, doubling_bin(drawn % 12));
  tally.largest[0].see(double(drawn % 97), index);  // with many ties
  tally.sums[0].add(random.unit());
  tally.sums[1].add(-random.across_decades(1e-20, 1e5));
  Digest digest(index);
  digest.take(random.unit());
  tally.finish_problem(digest);
}

Tally tally_of(const std::vector<std::uint64_t>& problems) {
  Tally tally(small_layout());
  for (const std::uint64_t index : problems) run(index, tally);
  return tally;
}

TEST_CASE("tally: parts in any order merge to the same bits", "[ensemble][law]") {
  std::vector<std::uint64_t> all;
  for (std::uint64_t index = 0; index < 500; ++index) all.push_back(index);
  const Tally expected = tally_of(all);
  CHECK(expected.problems == 500);
  CHECK(expected.counters[0] + expected.counters[1] == 500);
  RandomStream random(2, 0);
  for (int round = 0; round < 20; ++round) {
    std::array<std::vector<std::uint64_t>, 4> parts;
    for (const std::uint64_t index : all) parts[std::size_t(random.below(4))].push_back(index);
    Tally sum(small_layout());
    for (const std::size_t p : {3U, 1U, 0U, 2U}) sum.merge(tally_of(parts[p]));
    CHECK(sum == expected);
    CHECK(tally_text(sum) == tally_text(expected));
  }
}

TEST_CASE("tally: a problem left out, doubled or with another bit changes the checksum",
          "[ensemble][law]") {
  const Checksum expected = tally_of({0, 1, 2, 3}).checksum;
  CHECK_FALSE(tally_of({0, 1, 2}).checksum == expected);
  CHECK_FALSE(tally_of({0, 1, 2, 3, 3}).checksum == expected);
  CHECK_FALSE(tally_of({0, 1, 2, 4}).checksum == expected);
  const auto digest_of = [](std::uint64_t problem, std::vector<double> numbers) {
    Digest digest(problem);
    digest.take_all(numbers);
    return digest.value();
  };
  CHECK(digest_of(3, {1, 2}) == digest_of(3, {1, 2}));
  CHECK(digest_of(3, {1, 2}) != digest_of(4, {1, 2}));
  CHECK(digest_of(3, {1, 2}) != digest_of(3, {2, 1}));
  CHECK(digest_of(3, {1, 2}) != digest_of(3, {1, std::nextafter(2.0, 3.0)}));
  CHECK(digest_of(3, {0.0}) != digest_of(3, {-0.0}));
}

TEST_CASE("tally: its text reads back to the last bit, and nothing else does", "[ensemble][law]") {
  const TallyLayout layout = small_layout();
  const Tally tally = tally_of({5, 6, 7});
  const std::string text = tally_text(tally);
  REQUIRE(parse_tally(layout, text));
  CHECK(*parse_tally(layout, text) == tally);
  CHECK_FALSE(parse_tally(layout, ""));
  CHECK_FALSE(parse_tally(layout, text + " 0"));
  CHECK_FALSE(parse_tally(layout, text + " "));
  CHECK_FALSE(parse_tally(layout, text.substr(0, text.rfind(' '))));
  CHECK_FALSE(parse_tally(layout, "x" + text));
  std::string joined = text;
  joined[joined.find(' ')] = '-';
  CHECK_FALSE(parse_tally(layout, joined));
}

TEST_CASE("tally: the largest value names the first problem that has it", "[ensemble][example]") {
  Largest forwards, backwards, none;
  for (const std::uint64_t problem : {1U, 2U, 3U, 4U}) {
    forwards.see(problem == 1 ? -1.0 : 5.0, problem);
    backwards.see(problem == 4 ? -1.0 : 5.0, 5 - problem);
  }
  CHECK(forwards == Largest{5, 2, 4});
  CHECK(backwards == Largest{5, 2, 4});
  forwards.see(std::nan(""), 0);
  forwards.merge(none);
  CHECK(forwards == Largest{5, 2, 4});
  none.merge(forwards);
  CHECK(none == forwards);
  Largest negative;
  negative.see(-3, 9);
  CHECK(negative == Largest{-3, 9, 1});
}

TEST_CASE("tally: doublings have bins by their names", "[ensemble][example]") {
  const std::vector<std::string> names = doubling_bins(7);
  CHECK(names == std::vector<std::string>{"0", "1", "2", "3..4", "5..8", "9..16", "> 16"});
  const std::size_t bins[] = {0, 1, 2, 3, 3, 4, 4, 4, 4, 5};
  for (std::uint64_t k = 0; k < 10; ++k) CHECK(doubling_bin(k) == bins[k]);
  CHECK(doubling_bin(16) == 5);
  CHECK(doubling_bin(17) == 6);
  Tally tally({{}, {{"", doubling_bins(3)}}, {}, {}});
  tally.count_bin(0, doubling_bin(1'000'000));
  CHECK(tally.histograms[0] == std::vector<std::uint64_t>{0, 0, 1});
}

TEST_CASE("tally: decades have bins by their names", "[ensemble][example]") {
  const std::vector<std::string> names = decade_bins(-2, 1);
  CHECK(names == std::vector<std::string>{"< 1e-2", "1e-2 .. 1e-1", "1e-1 .. 1e0", "1e0 .. 1e1",
                                          ">= 1e1", "no number"});
  const auto bin_of = [&](double number) { return names[decade_bin(number, -2, 1)]; };
  CHECK(bin_of(0) == "< 1e-2");
  CHECK(bin_of(std::nextafter(0.01, 0)) == "< 1e-2");
  CHECK(bin_of(0.01) == "1e-2 .. 1e-1");
  CHECK(bin_of(0.5) == "1e-1 .. 1e0");
  CHECK(bin_of(1) == "1e0 .. 1e1");
  CHECK(bin_of(10) == ">= 1e1");
  CHECK(bin_of(INFINITY) == ">= 1e1");
  CHECK(bin_of(std::nan("")) == "no number");
  CHECK(bin_of(-1) == "no number");
  CHECK(decade_bins(-17, 0).size() == 20);
}

}  // namespace tally_test
