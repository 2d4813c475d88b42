// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: any bytes as the file of `carom project`.
#include "cli/json_input.cpp"
#include "cli/project_command.cpp"
#include "json_command.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return carom::fuzz::run_json_command(data, size, [](const std::string& text) {
    using namespace carom::cli;
    const std::vector<ConeAnswer> answers = answer(read_queries(text));
    static_cast<void>(format_json(answers));
    static_cast<void>(format_readable(answers));
  });
}
