// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

#include "ensemble/kinds.hpp"

namespace carom::ensemble {

/// A fault of the user's input or files, as one sentence.
class EnsembleFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The parameters that determine the results. Two runs may share chunks exactly if all are equal.
struct RunParameters {
  std::string kind;
  std::uint64_t count = 0;  ///< problems, ≥ 1
  std::uint64_t seed = 0;
  std::uint64_t chunk = 1;  ///< count of problems per chunk, ≥ 1; the last chunk may be shorter
  std::string arithmetic;

  [[nodiscard]] std::uint64_t chunk_count() const noexcept { return (count - 1) / chunk + 1; }
  friend bool operator==(const RunParameters&, const RunParameters&) = default;
};

/// Finished chunks and their tallies, as texts.
using ChunkRecords = std::map<std::uint64_t, std::string>;

/// The finished chunks of a run in a file: the checkpoint of a run, or the result of a part of it.
///
/// ```
/// carom-ensemble 1
/// kind single-step
/// ...
/// chunk <number> <words of its tally>
/// end <checksum of all bytes before this line>
/// ```
/// A file is replaced as a whole, by renaming, so that it is complete if the program is killed.
class CheckpointFile {
 public:
  explicit CheckpointFile(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// Whether the file exists.
  [[nodiscard]] bool exists() const { return ::access(path_.c_str(), F_OK) == 0; }

  void write(const RunParameters& parameters, const ChunkRecords& records) const {
    std::string text = header(parameters);
    for (const auto& [chunk, tally] : records) {
      text += "chunk " + std::to_string(chunk) + ' ' + tally + '\n';
    }
    text += "end " + std::to_string(checksum(text)) + '\n';
    const std::string fresh = path_ + ".new";
    std::FILE* const file = std::fopen(fresh.c_str(), "wb");
    bool good = file != nullptr;
    if (good) {
      good = std::fwrite(text.data(), 1, text.size(), file) == text.size();
      good = std::fflush(file) == 0 && ::fsync(::fileno(file)) == 0 && good;
      good = std::fclose(file) == 0 && good;
    }
    good = good && std::rename(fresh.c_str(), path_.c_str()) == 0;
    if (!good) refuse("expected a file that can be written, was refused it");
  }

  /// Reads parameters and finished chunks.
  [[nodiscard]] std::pair<RunParameters, ChunkRecords> read() const {
    const std::string text = content();
    std::string_view rest(text);
    const std::size_t last = text.rfind("end ");
    const bool whole =
        last != std::string::npos && last > 0 && text[last - 1] == '\n' &&
        text.substr(last) == "end " + std::to_string(checksum(rest.substr(0, last))) + '\n';
    if (field(rest, "carom-ensemble") != "1") {
      refuse("expected a file that starts with 'carom-ensemble 1'");
    }
    if (!whole) refuse("damaged: its checksum does not fit its content");
    rest = rest.substr(0, last - std::size_t(rest.data() - text.data()));
    RunParameters parameters;
    parameters.kind = field(rest, "kind");
    parameters.count = number(field(rest, "count"));
    parameters.seed = number(field(rest, "seed"));
    parameters.chunk = number(field(rest, "chunk-size"));
    parameters.arithmetic = field(rest, "arithmetic");
    const Kind* const kind = find_kind(parameters.kind);
    if (kind == nullptr) refuse("of an unknown kind, '" + parameters.kind + "'");
    if (parameters.count == 0 || parameters.chunk == 0) refuse("of no problems");
    ChunkRecords records;
    while (!rest.empty()) {
      std::string line = field(rest, "chunk");
      const std::size_t space = line.find(' ');
      const std::uint64_t chunk = number(line.substr(0, space));
      line.erase(0, space == std::string::npos ? line.size() : space + 1);
      if (chunk >= parameters.chunk_count() || !parse_tally(kind->layout, line)) {
        refuse("chunk " + std::to_string(chunk) + " is not one of this run, or of another version");
      }
      records.emplace(chunk, std::move(line));
    }
    return {std::move(parameters), std::move(records)};
  }

  /// Reads the chunks of a run with these parameters. Throws EnsembleFault naming a parameter that
  /// differs.
  [[nodiscard]] ChunkRecords read(const RunParameters& expected) const {
    auto [found, records] = read();
    require("kind", expected.kind, found.kind);
    require("--count", std::to_string(expected.count), std::to_string(found.count));
    require("--seed", std::to_string(expected.seed), std::to_string(found.seed));
    require("--chunk", std::to_string(expected.chunk), std::to_string(found.chunk));
    require("arithmetic", expected.arithmetic, found.arithmetic);
    return std::move(records);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw EnsembleFault(path_ + ": " + what);
  }
  void require(const char* name, const std::string& expected, const std::string& found) const {
    if (expected == found) return;
    refuse(std::string("holds another run: ") + name + ": expected '" + expected + "', got '" +
           found + "'");
  }
  [[nodiscard]] static std::string header(const RunParameters& p) {
    return "carom-ensemble 1\nkind " + p.kind + "\ncount " + std::to_string(p.count) + "\nseed " +
           std::to_string(p.seed) + "\nchunk-size " + std::to_string(p.chunk) + "\narithmetic " +
           p.arithmetic + '\n';
  }
  /// The FNV-1a hash.
  [[nodiscard]] static std::uint64_t checksum(std::string_view text) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const char byte : text) {
      hash = (hash ^ std::uint64_t(static_cast<unsigned char>(byte))) * 0x100000001b3ULL;
    }
    return hash;
  }
  [[nodiscard]] std::string content() const {
    std::FILE* const file = std::fopen(path_.c_str(), "rb");
    if (file == nullptr) refuse("expected a file that can be read, was refused it");
    std::string text;
    char buffer[1U << 16U];
    for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) {
      text.append(buffer, n);
    }
    const bool good = std::ferror(file) == 0;
    std::fclose(file);
    if (!good) refuse("expected a file that can be read, reading failed");
    return text;
  }
  /// The text after `name` on the next line, which is removed from `rest`.
  [[nodiscard]] std::string field(std::string_view& rest, std::string_view name) const {
    const std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (!line.starts_with(name) || !line.substr(name.size()).starts_with(' ')) {
      refuse("expected a line '" + std::string(name) + " ...', got '" +
             std::string(line.substr(0, 40)) + "'");
    }
    return std::string(line.substr(name.size() + 1));
  }
  [[nodiscard]] std::uint64_t number(const std::string& text) const {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
      refuse("expected a whole number, got '" + text.substr(0, 40) + "'");
    }
    return value;
  }

  std::string path_;
};

}  // namespace carom::ensemble
