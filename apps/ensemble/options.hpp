// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ensemble/checkpoint.hpp"

namespace carom::ensemble {

inline constexpr const char* usage =
    R"(Solves very many random problems and says what came of them.

  carom_ensemble KIND [options]          KIND: single-step, batch-step or impact-design
  carom_ensemble --merge FILE...         the summary of the parts in these files
  carom_ensemble single-step --dump I    problem I as a text that `carom solve` reads

batch-step has the problems of single-step, solved side by side.

  --count N             problems [1000000]
  --seed S              of the random numbers [1]
  --chunk C             problems per chunk, the unit of work and of restarts [4096]
  --checkpoint FILE     finished chunks; if it is there, the run goes on where it ended
  --checkpoint-every T  seconds between two writings of it, 0 after every chunk [10]
  --part I --parts N    only chunks I, I + N, I + 2N, ...; into --checkpoint, joined by --merge

The summary, on standard output, depends on KIND, --count and --seed alone: not on the number of
processes (mpirun -n N carom_ensemble_mpi ...), on parts, restarts or --chunk. Progress and times
are on standard error.
)";

/// The options of the command line.
struct Options {
  RunParameters run{{}, 1'000'000, 1, 4096, arithmetic_name()};
  std::string checkpoint;
  std::uint64_t checkpoint_every = 10;  ///< [s]
  std::uint64_t part = 0, parts = 1;
  bool help = false, merge = false;
  std::vector<std::string> files;  ///< to merge
  std::optional<std::uint64_t> dump;
};

namespace detail {

class OptionParser {
 public:
  OptionParser(int argc, const char* const* argv) : words_(argv + 1, argv + argc) {}

  [[nodiscard]] Options parse() {
    bool part = false, parts = false;
    for (at_ = 0; at_ < words_.size(); ++at_) {
      const std::string word = words_[at_];
      if (word == "--help" || word == "-h")
        options_.help = true;
      else if (word == "--merge")
        options_.merge = true;
      else if (word == "--count")
        options_.run.count = number(word, 1, 1ULL << 48U);
      else if (word == "--seed")
        options_.run.seed = number(word, 0, UINT64_MAX);
      else if (word == "--chunk")
        options_.run.chunk = number(word, 1, 1ULL << 31U);
      else if (word == "--checkpoint")
        options_.checkpoint = value(word);
      else if (word == "--checkpoint-every")
        options_.checkpoint_every = number(word, 0, 1U << 30U);
      else if (word == "--part")
        options_.part = number(word, 0, 1U << 30U), part = true;
      else if (word == "--parts")
        options_.parts = number(word, 1, 1U << 30U), parts = true;
      else if (word == "--dump")
        options_.dump = number(word, 0, 1ULL << 48U);
      else if (word.starts_with("-"))
        fail("unknown option '" + word + "'");
      else
        options_.files.push_back(word);
    }
    if (!options_.help) check(part, parts);
    return std::move(options_);
  }

 private:
  [[noreturn]] static void fail(const std::string& what) {
    throw EnsembleFault(what + "; --help lists the options");
  }
  const std::string& value(const std::string& option) {
    if (++at_ >= words_.size()) fail(option + ": expected a value, got nothing");
    return words_[at_];
  }
  std::uint64_t number(const std::string& option, std::uint64_t least, std::uint64_t most) {
    const std::string& text = value(option);
    std::uint64_t result = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
    if (error != std::errc() || end != text.data() + text.size() || result < least ||
        result > most) {
      fail(option + ": expected a whole number from " + std::to_string(least) + " to " +
           std::to_string(most) + ", got '" + text + "'");
    }
    return result;
  }
  void check(bool part, bool parts) {
    if (options_.merge) {
      if (options_.files.empty()) fail("--merge: expected files, got none");
      return;
    }
    if (options_.files.size() != 1 || find_kind(options_.files[0]) == nullptr) {
      fail("expected one kind, single-step, batch-step or impact-design, got " +
           (options_.files.empty() ? "none" : "'" + options_.files.back() + "'"));
    }
    options_.run.kind = options_.files[0];
    if (part != parts) fail(part ? "--part: expected --parts too" : "--parts: expected --part too");
    if (options_.part >= options_.parts) {
      fail("--part: expected a number below --parts, " + std::to_string(options_.parts) + ", got " +
           std::to_string(options_.part));
    }
    if (options_.parts > 1 && options_.checkpoint.empty()) {
      fail("--part: expected --checkpoint too, the file the part is written to");
    }
    if (options_.dump && !find_kind(options_.run.kind)->problem_text) {
      fail("--dump: expected the kind single-step or batch-step, got '" + options_.run.kind + "'");
    }
  }

  std::vector<std::string> words_;
  std::size_t at_ = 0;
  Options options_;
};

}  // namespace detail

/// Reads the command line; throws EnsembleFault naming the option.
[[nodiscard]] inline Options parse_options(int argc, const char* const* argv) {
  return detail::OptionParser(argc, argv).parse();
}

}  // namespace carom::ensemble
