// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#include "ensemble/checkpoint.hpp"

namespace carom::ensemble {

/// The tally of all problems. Throws EnsembleFault if chunks are missing.
[[nodiscard]] inline Tally total(const RunParameters& run, const ChunkRecords& records) {
  const TallyLayout& layout = find_kind(run.kind)->layout;
  Tally sum(layout);
  for (const auto& [chunk, text] : records) sum.merge(*parse_tally(layout, text));
  const std::uint64_t chunks = run.chunk_count();
  if (records.size() == chunks) return sum;
  std::uint64_t missing = 0;
  while (records.contains(missing)) ++missing;
  throw EnsembleFault("expected all " + std::to_string(chunks) + " chunks, got " +
                      std::to_string(records.size()) + "; the first missing is chunk " +
                      std::to_string(missing));
}

namespace detail {

[[nodiscard]] inline double percent(std::uint64_t part, std::uint64_t whole) noexcept {
  return whole > 0 ? 100 * double(part) / double(whole) : 0.0;
}

}  // namespace detail

/// Prints a complete tally. The text depends on the problems only.
inline void print_summary(const RunParameters& run, const Tally& tally) {
  const TallyLayout& layout = find_kind(run.kind)->layout;
  std::printf("%s: %" PRIu64 " problems, seed %" PRIu64 "\n", run.kind.c_str(), tally.problems,
              run.seed);
  for (std::size_t i = 0; i < tally.counters.size(); ++i) {
    const auto& [name, part_of] = layout.counters[i];
    const std::uint64_t whole = part_of < 0 ? tally.problems : tally.counters[std::size_t(part_of)];
    std::printf("  %-62s %12" PRIu64 " %9.4f %%\n", name.c_str(), tally.counters[i],
                detail::percent(tally.counters[i], whole));
  }
  for (std::size_t h = 0; h < tally.histograms.size(); ++h) {
    std::uint64_t whole = 0;
    for (const std::uint64_t bin : tally.histograms[h]) whole += bin;
    std::printf("%s\n", layout.histograms[h].name.c_str());
    for (std::size_t b = 0; b < tally.histograms[h].size(); ++b) {
      const std::uint64_t bin = tally.histograms[h][b];
      if (bin == 0) continue;
      std::printf("  %-62s %12" PRIu64 " %9.4f %%\n", layout.histograms[h].bins[b].c_str(), bin,
                  detail::percent(bin, whole));
    }
  }
  std::printf("largest, and whose\n");
  for (std::size_t i = 0; i < tally.largest.size(); ++i) {
    const Largest& item = tally.largest[i];
    if (item.seen == 0) continue;
    std::printf("  %-62s %12.6g  problem %" PRIu64 "\n", layout.largest[i].c_str(), item.value,
                item.problem);
  }
  std::printf("mean\n");
  for (std::size_t i = 0; i < tally.sums.size(); ++i) {
    const FixedSum& sum = tally.sums[i];
    std::printf("  %-62s %12.6g  of %" PRIu64, layout.sums[i].c_str(), sum.mean(), sum.count());
    if (sum.left_out() > 0) std::printf(", %" PRIu64 " left out", sum.left_out());
    std::printf("\n");
  }
  std::printf("checksum of all results' bits: sum %016" PRIx64 ", parity %016" PRIx64 "\n",
              tally.checksum.sum, tally.checksum.parity);
}

}  // namespace carom::ensemble
