// SPDX-License-Identifier: BSD-3-Clause
// Question: what are the results of a million random problems?
//
// Problems are numbered. Number i is determined by (seed, i), and all sums are sums of integers.
// The summary is therefore the same to the last digit for any distribution of the problems: over
// MPI ranks, over the tasks of an array, over runs that were killed and restarted.
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>

#include "ensemble/chunk_work.hpp"
#include "ensemble/communicator.hpp"
#include "ensemble/report.hpp"

namespace {

using namespace carom::ensemble;

void print_merged(const Options& options) {
  RunParameters run;
  ChunkRecords records;
  for (const std::string& path : options.files) {
    const CheckpointFile file(path);
    if (&path == &options.files.front()) run = file.read().first;
    for (auto& [chunk, tally] : file.read(run)) {
      const auto [place, is_new] = records.emplace(chunk, tally);
      if (is_new || place->second == tally) continue;
      throw EnsembleFault(path + ": chunk " + std::to_string(chunk) +
                          " is in an earlier file too, with other results");
    }
  }
  print_summary(run, total(run, records));
}

/// The part of rank 0: it leads, works, and prints the summary.
void run_leader(Communicator& processes, const Options& options) {
  Leader leader(processes, options.run);
  try {
    const auto begin = std::chrono::steady_clock::now();
    Ledger ledger(options);
    if (ledger.restored() > 0) {
      std::fprintf(stderr, "%s: %zu of %" PRIu64 " chunks are there already\n",
                   options.checkpoint.c_str(), ledger.restored(), options.run.chunk_count());
    }
    leader.lead(ledger);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    std::fprintf(stderr, "%zu chunks by %d processes in %.2f s\n",
                 ledger.records().size() - ledger.restored(), processes.size(), time.count());
    if (options.parts > 1) {
      std::fprintf(stderr, "part %" PRIu64 " of %" PRIu64 " is in %s\n", options.part,
                   options.parts, options.checkpoint.c_str());
      return;
    }
    print_summary(options.run, total(options.run, ledger.records()));
  } catch (...) {
    leader.stop_all();
    throw;
  }
}

/// @return  the exit code.
int run(Communicator& processes, int argc, const char* const* argv) {
  const bool leads = processes.rank() == 0;
  try {
    const Options options = parse_options(argc, argv);
    if (options.help || options.merge || options.dump) {
      if (!leads) return 0;
      if (options.help) {
        std::fputs(usage, stdout);
      } else if (options.merge) {
        print_merged(options);
      } else {
        std::fputs(
            find_kind(options.run.kind)->problem_text(options.run.seed, *options.dump).c_str(),
            stdout);
      }
    } else if (leads) {
      run_leader(processes, options);
    } else {
      work_for_leader(processes, options.run);
    }
    return 0;
  } catch (const EnsembleFault& fault) {
    if (leads) std::fprintf(stderr, "carom_ensemble: %s\n", fault.what());
    return 2;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto processes = make_communicator(argc, argv);
  try {
    return run(*processes, argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "carom_ensemble: rank %d: %s\n", processes->rank(), error.what());
    processes->abort(1);
  }
}
