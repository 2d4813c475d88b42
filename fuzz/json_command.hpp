// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "cli/commands.hpp"
#include "io/bad_input.hpp"
#include "number_mutations.hpp"

/// @file
/// What the targets of commands that read JSON share. Each includes the source of its command,
/// whose inner functions then take the text without a file.
namespace carom::cli {

void print(const std::string& /*text*/) {}
void print_note(std::string /*line*/) {}

}  // namespace carom::cli

namespace carom::fuzz {

/// Runs a command on a text; input it cannot use may end in BadInput or, from the library, in
/// std::invalid_argument, which the commands turn into one.
template <typename Command>
int run_json_command(const std::uint8_t* data, std::size_t size, const Command& command) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    command(text);
  } catch (const files::BadInput&) {
  } catch (const std::invalid_argument&) {
  }
  return 0;
}

}  // namespace carom::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned int seed) {
  return carom::fuzz::mutate_text(data, size, most, seed);
}
