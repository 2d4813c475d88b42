// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: any text, read as a contact problem, solved and judged. See CMakeLists.txt.
#include "support/problem_fuzz.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  carom::testing::check_problem_text(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}

/// Mostly changes of numbers, which leave a problem; bytes at random would leave nonsense.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned int seed) {
  if (seed % 8 == 0) return LLVMFuzzerMutate(data, size, most);
  const std::string text = carom::testing::mutate_problem_text(
      std::string(reinterpret_cast<const char*>(data), size), seed);
  const std::size_t kept = std::min(most, text.size());
  std::copy_n(text.begin(), kept, reinterpret_cast<char*>(data));
  return kept;
}
