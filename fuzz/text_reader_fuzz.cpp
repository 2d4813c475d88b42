// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: any bytes, read as a contact problem in text, without solving it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "io/text_problem.hpp"
#include "number_mutations.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    static_cast<void>(carom::files::parse_text_problem(
        std::string_view(reinterpret_cast<const char*>(data), size)));
  } catch (const carom::files::BadInput&) {
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned int seed) {
  return carom::fuzz::mutate_text(data, size, most, seed);
}
