// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: any bytes as the file of `carom viscoelastic`, by every method.
#include "cli/json_input.cpp"
#include "cli/viscoelastic_command.cpp"
#include "json_command.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return carom::fuzz::run_json_command(data, size, [](const std::string& text) {
    using namespace carom::cli;
    const Data given = read_data(text);
    if (given.velocity_count() > 60 || given.contact_count() > 20) return;
    for (const char* method : {"coulomb", "convex", "radial", "stick"}) {
      const StepAnswer result = solve_step(given, method);
      static_cast<void>(format_json(given, result));
      static_cast<void>(format_readable(given, result));
    }
  });
}
