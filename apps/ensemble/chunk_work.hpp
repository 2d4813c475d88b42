// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ensemble/communicator.hpp"
#include "ensemble/options.hpp"

namespace carom::ensemble {

/// Runs the problems of a chunk.
/// @param pause  called at times: after a problem, or a step of one.
template <typename Pause>
[[nodiscard]] std::string run_chunk(const RunParameters& run, std::uint64_t chunk,
                                    const Pause& pause) {
  const Kind& kind = *find_kind(run.kind);
  // Each chunk starts with new solvers: no other chunk can affect its results.
  const Worker worker = kind.make_worker(run.seed);
  Tally tally(kind.layout);
  const std::uint64_t first = chunk * run.chunk, end = std::min(run.count, first + run.chunk);
  worker(first, end, tally, pause);
  return tally_text(tally);
}

/// The record of rank 0: the remaining chunks, the finished chunks, and the checkpoint.
class Ledger {
 public:
  explicit Ledger(const Options& options)
      : run_(options.run), every_(std::chrono::seconds(options.checkpoint_every)) {
    if (!options.checkpoint.empty()) {
      file_.emplace(options.checkpoint);
      if (file_->exists()) records_ = file_->read(run_);
      file_->write(run_, records_);  // fails early if it cannot write
    }
    restored_ = records_.size();
    for (std::uint64_t c = options.part; c < run_.chunk_count(); c += options.parts) {
      if (!records_.contains(c)) to_do_.push_back(c);
    }
  }

  /// The next chunk, if there is one.
  [[nodiscard]] std::optional<std::uint64_t> take() {
    if (next_ == to_do_.size()) return std::nullopt;
    return to_do_[next_++];
  }
  void finish(std::uint64_t chunk, std::string tally) {
    records_.emplace(chunk, std::move(tally));
    const auto now = std::chrono::steady_clock::now();
    if (file_ && now - written_ >= every_) save();
  }
  void save() {
    if (!file_) return;
    file_->write(run_, records_);
    written_ = std::chrono::steady_clock::now();
  }
  [[nodiscard]] const ChunkRecords& records() const noexcept { return records_; }
  /// Count of chunks in the checkpoint.
  [[nodiscard]] std::size_t restored() const noexcept { return restored_; }

 private:
  RunParameters run_;
  std::chrono::steady_clock::duration every_;
  std::chrono::steady_clock::time_point written_ = std::chrono::steady_clock::now();
  std::optional<CheckpointFile> file_;
  ChunkRecords records_;
  std::size_t restored_ = 0, next_ = 0;
  std::vector<std::uint64_t> to_do_;
};

/// The work of the other ranks: they ask rank 0 for a chunk, with the tally of the last one, until
/// it sends stop.
inline void work_for_leader(Communicator& processes, const RunParameters& run) {
  std::string done;
  for (;;) {
    processes.send(0, done);
    const std::string answer = processes.wait().text;
    if (answer == "stop") return;
    const std::uint64_t chunk = std::stoull(answer);
    done = answer + ' ' + run_chunk(run, chunk, [] {});
  }
}

/// Rank 0: assigns chunks one by one to each rank that has finished its last one, and works itself.
///
/// The times of problems differ by decades and a few are very long, so no fixed share of the chunks
/// is balanced. Requests are answered between two problems: per chunk, a rank waits at most for one
/// problem of rank 0, or for one batch of 4096.
class Leader {
 public:
  Leader(Communicator& processes, const RunParameters& run)
      : processes_(processes), run_(run), waiting_(processes.size() - 1) {}

  void lead(Ledger& ledger) {
    const auto serve_all = [&] {
      while (waiting_ > 0) {
        const auto message = processes_.poll();
        if (!message) return;
        serve(*message, ledger);
      }
    };
    while (const auto chunk = ledger.take()) {
      ledger.finish(*chunk, run_chunk(run_, *chunk, serve_all));
      serve_all();
    }
    while (waiting_ > 0) serve(processes_.wait(), ledger);
    ledger.save();
  }
  /// Sends stop to the other ranks. Tallies that they still send are ignored.
  void stop_all() {
    for (; waiting_ > 0; --waiting_) processes_.send(processes_.wait().from, "stop");
  }

 private:
  void serve(const Communicator::Message& message, Ledger& ledger) {
    const std::optional<std::uint64_t> next = ledger.take();
    if (!next) --waiting_;
    processes_.send(message.from, next ? std::to_string(*next) : "stop");
    if (message.text.empty()) return;
    const std::size_t space = message.text.find(' ');
    ledger.finish(std::stoull(message.text.substr(0, space)), message.text.substr(space + 1));
  }

  Communicator& processes_;
  RunParameters run_;
  int waiting_;  ///< count of ranks that have not received stop
};

}  // namespace carom::ensemble
