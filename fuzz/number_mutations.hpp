// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

/// @file
/// A mutator for text formats. Bytes at random seldom get past the reader; a number in place of a
/// number, or a piece that is gone or there twice, does.

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace carom::fuzz {

/// Replaces one number of a text by one that is hard on arithmetic or on sizes.
inline void replace_number(std::string& text, std::minstd_rand& engine) {
  static constexpr std::array hard{
      "0",     "-0",     "1",     "-1",     "2",      "3",      "1e-6",    "1e6",
      "1e12",  "1e-12",  "1e150", "-1e150", "1e-150", "1e-300", "1e300",   "-3e300",
      "1e308", "1e-320", "1e400", "0.5",    "10",     "0.999",  "1.00001", "2147483648",
      "-7",    "true",   "null",  "[]",     "{}",     "\"x\"",  "[0]",     "9223372036854775807"};
  constexpr const char* marks = "0123456789+-.eE";
  const std::size_t begin = text.find_first_of("0123456789-", engine() % (text.size() + 1));
  if (begin == std::string::npos) return;
  const std::size_t end = std::min(text.find_first_not_of(marks, begin), text.size());
  const std::string word = text.substr(begin, end - begin);
  const bool scales = engine() % 2 == 0 && word.find_first_of("eE") == std::string::npos;
  text.replace(begin, end - begin,
               scales ? word + "e" + std::to_string(int(engine() % 25) - 12)
                      : std::string(hard[engine() % hard.size()]));
}

/// Removes or repeats a piece of a text between two separators.
inline void change_piece(std::string& text, std::minstd_rand& engine) {
  constexpr const char* separators = ",:[]{}\n ";
  const std::size_t begin = text.find_first_of(separators, engine() % (text.size() + 1));
  if (begin == std::string::npos) return;
  std::size_t end = begin;
  for (unsigned long pieces = 1 + engine() % 4; pieces > 0 && end < text.size(); --pieces) {
    end = std::min(text.find_first_of(separators, end + 1), text.size());
  }
  if (engine() % 2 == 0) {
    text.erase(begin, end - begin);
  } else {
    text.insert(begin, text.substr(begin, end - begin));
  }
}

/// One mutation; one in four is libFuzzer's own.
inline std::size_t mutate_text(std::uint8_t* data, std::size_t size, std::size_t most,
                               unsigned int seed) {
  std::minstd_rand engine(seed);
  const unsigned long kind = engine() % 8;
  if (kind < 2) return LLVMFuzzerMutate(data, size, most);
  std::string text(reinterpret_cast<const char*>(data), size);
  kind < 6 ? replace_number(text, engine) : change_piece(text, engine);
  const std::size_t kept = std::min(most, text.size());
  std::copy_n(text.begin(), kept, reinterpret_cast<char*>(data));
  return kept;
}

}  // namespace carom::fuzz
