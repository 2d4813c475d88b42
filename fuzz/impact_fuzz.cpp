// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: any bytes as the file of `carom impact`, by every law and order.
#include "cli/impact_command.cpp"
#include "cli/json_input.cpp"
#include "json_command.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return carom::fuzz::run_json_command(data, size, [](const std::string& text) {
    using namespace carom::cli;
    const ImpactInput input = read_input(text);
    for (const char* law : {"", "elastic", "plastic"}) {
      for (const char* order : {"most_infeasible", "all"}) {
        ImpactCommandOptions options;
        options.law = law;
        options.order = order;
        const ImpactAnswer result = answer(input, options);
        static_cast<void>(format_json(result));
        static_cast<void>(format_readable(result));
      }
    }
  });
}
