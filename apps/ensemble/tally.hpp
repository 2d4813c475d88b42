// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "ensemble/fixed_sum.hpp"

namespace carom::ensemble {

/// The largest number, and its problem. Of equal numbers, it is the first problem's, so that the
/// result does not depend on the order. NaN is ignored.
struct Largest {
  double value = 0;  ///< not valid while `seen` is 0
  std::uint64_t problem = 0;
  std::uint64_t seen = 0;  ///< count of numbers

  void see(double number, std::uint64_t owner) noexcept {
    if (number != number) return;
    merge({number, owner, 1});
  }
  void merge(const Largest& other) noexcept {
    const std::uint64_t together = seen + other.seen;
    const bool greater = other.value > value || (other.value == value && other.problem < problem);
    if (other.seen > 0 && (seen == 0 || greater)) *this = other;
    seen = together;
  }
  friend bool operator==(const Largest&, const Largest&) = default;
};

/// A checksum over the bits of all results. The bits of each problem are mixed with its index into
/// 64 bits. These are added modulo 2⁶⁴ and combined by exclusive or, which does not depend on the
/// order.
struct Checksum {
  std::uint64_t sum = 0, parity = 0;

  /// A bijection of 64 bits: the finalizer of splitmix64.
  [[nodiscard]] static constexpr std::uint64_t mix(std::uint64_t z) noexcept {
    z += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31U);
  }
  void add(std::uint64_t digest) noexcept {
    sum += digest;
    parity ^= digest;
  }
  void merge(const Checksum& other) noexcept {
    sum += other.sum;
    parity ^= other.parity;
  }
  friend bool operator==(const Checksum&, const Checksum&) = default;
};

/// The bits of one problem's results, in the order of the calls.
class Digest {
 public:
  explicit Digest(std::uint64_t problem) noexcept : state_(Checksum::mix(problem)) {}
  void take(std::uint64_t word) noexcept { state_ = Checksum::mix(state_ ^ word); }
  void take(double number) noexcept { take(std::bit_cast<std::uint64_t>(number)); }
  template <typename Numbers>
  void take_all(const Numbers& numbers) noexcept {
    for (const auto& number : numbers) take(double(number));
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return state_; }

 private:
  std::uint64_t state_;
};

/// The name of a histogram and the names of its bins.
struct HistogramLayout {
  std::string name;
  std::vector<std::string> bins;
};

/// The names of all numbers that a type of ensemble counts.
struct TallyLayout {
  struct Counter {
    std::string name;
    int part_of;  ///< the counter of which it is a share, −1 for all problems
  };
  std::vector<Counter> counters;
  std::vector<HistogramLayout> histograms;
  std::vector<std::string> largest, sums;
};

/// The results of some problems: counts, histograms, largest values, sums, a checksum. Tallies of
/// different problems can be merged in any order; the bits of the result are equal.
struct Tally {
  std::uint64_t problems = 0;
  std::vector<std::uint64_t> counters;
  std::vector<std::vector<std::uint64_t>> histograms;
  std::vector<Largest> largest;
  std::vector<FixedSum> sums;
  Checksum checksum;

  Tally() = default;
  explicit Tally(const TallyLayout& layout)
      : counters(layout.counters.size()),
        histograms(layout.histograms.size()),
        largest(layout.largest.size()),
        sums(layout.sums.size()) {
    for (std::size_t h = 0; h < histograms.size(); ++h) {
      histograms[h].resize(layout.histograms[h].bins.size());
    }
  }

  /// Adds one to a bin of a histogram; numbers beyond the end are added to the last bin.
  void count_bin(std::size_t histogram, std::size_t bin) noexcept {
    std::vector<std::uint64_t>& bins = histograms[histogram];
    ++bins[std::min(bin, bins.size() - 1)];
  }
  void finish_problem(const Digest& digest) noexcept {
    ++problems;
    checksum.add(digest.value());
  }
  /// @pre  other has the same layout.
  void merge(const Tally& other) noexcept {
    problems += other.problems;
    for (std::size_t i = 0; i < counters.size(); ++i) counters[i] += other.counters[i];
    for (std::size_t h = 0; h < histograms.size(); ++h) {
      for (std::size_t b = 0; b < histograms[h].size(); ++b) {
        histograms[h][b] += other.histograms[h][b];
      }
    }
    for (std::size_t i = 0; i < largest.size(); ++i) largest[i].merge(other.largest[i]);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i].add(other.sums[i]);
    checksum.merge(other.checksum);
  }
  friend bool operator==(const Tally&, const Tally&) = default;

  /// All numbers as words of 64 bits, in one order: visit(word) reads or sets each word.
  template <typename Visit>
  void visit_words(const Visit& visit) {
    visit(problems);
    for (std::uint64_t& counter : counters) visit(counter);
    for (auto& bins : histograms) {
      for (std::uint64_t& bin : bins) visit(bin);
    }
    for (Largest& item : largest) {
      auto bits = std::bit_cast<std::uint64_t>(item.value);
      visit(bits);
      item.value = std::bit_cast<double>(bits);
      visit(item.problem);
      visit(item.seen);
    }
    for (FixedSum& sum : sums) sum.visit_words(visit);
    visit(checksum.sum);
    visit(checksum.parity);
  }
};

/// The words of a tally in hexadecimal, separated by spaces: exact to the last bit.
[[nodiscard]] inline std::string tally_text(Tally tally) {
  std::string text;
  tally.visit_words([&](std::uint64_t& word) {
    char digits[16];
    const auto end = std::to_chars(digits, digits + sizeof digits, word, 16).ptr;
    if (!text.empty()) text += ' ';
    text.append(digits, end);
  });
  return text;
}

/// Reads the output of tally_text(). Empty if there are too few or too many words, or words that
/// are not numbers.
[[nodiscard]] inline std::optional<Tally> parse_tally(const TallyLayout& layout,
                                                      std::string_view text) {
  Tally tally(layout);
  bool good = true, first = true;
  tally.visit_words([&](std::uint64_t& word) {
    if (!first) {
      good = good && text.starts_with(' ');
      text.remove_prefix(std::min<std::size_t>(1, text.size()));
    }
    first = false;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), word, 16);
    good = good && error == std::errc();
    text.remove_prefix(std::size_t(end - text.data()));
  });
  return good && text.empty() ? std::optional<Tally>(std::move(tally)) : std::nullopt;
}

/// Bin of a count in a histogram of doublings: 0, 1, 2, 3–4, 5–8, 9–16, …
[[nodiscard]] inline std::size_t doubling_bin(std::uint64_t count) noexcept {
  return count == 0 ? 0 : std::size_t(1 + std::bit_width(count - 1));
}
/// Names of doubling_bin()'s first bins, `count` ≥ 3 of them; the last one is open.
[[nodiscard]] inline std::vector<std::string> doubling_bins(std::size_t count) {
  std::vector<std::string> names{"0", "1"};
  for (std::uint64_t low = 1; names.size() < count; low *= 2) {
    const bool last = names.size() + 1 == count, single = low == 1;
    names.push_back(last     ? "> " + std::to_string(low)
                    : single ? "2"
                             : std::to_string(low + 1) + ".." + std::to_string(2 * low));
  }
  return names;
}

/// Bin of a number ≥ 0 in a histogram of decades from 10^low to 10^high: bin 0 is below the first
/// decade, the last but one is at and above the last decade, the last is for negative numbers and
/// NaN.
[[nodiscard]] inline std::size_t decade_bin(double number, int low, int high) noexcept {
  const auto decades = std::size_t(high - low);
  if (!(number >= 0)) return decades + 2;
  constexpr double powers[] = {1e-20, 1e-19, 1e-18, 1e-17, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12,
                               1e-11, 1e-10, 1e-9,  1e-8,  1e-7,  1e-6,  1e-5,  1e-4,  1e-3,
                               1e-2,  1e-1,  1e0,   1e1,   1e2,   1e3,   1e4,   1e5,   1e6};
  std::size_t bin = 0;
  while (bin <= decades && number >= powers[std::size_t(low + 20) + bin]) ++bin;
  return bin;
}
/// Names of decade_bin()'s bins, −20 ≤ low < high ≤ 6.
[[nodiscard]] inline std::vector<std::string> decade_bins(int low, int high) {
  const auto power = [](int k) { return "1e" + std::to_string(k); };
  std::vector<std::string> names{"< " + power(low)};
  for (int k = low; k < high; ++k) names.push_back(power(k) + " .. " + power(k + 1));
  names.push_back(">= " + power(high));
  names.emplace_back("no number");
  return names;
}

}  // namespace carom::ensemble
