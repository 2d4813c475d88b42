// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: any bytes as the file of `carom simulate`, of which the first steps are run.
#include <algorithm>

#include "cli/json_input.cpp"
#include "cli/simulate_command.cpp"
#include "cli/simulated_systems.cpp"
#include "json_command.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return carom::fuzz::run_json_command(data, size, [](const std::string& text) {
    using namespace carom::cli;
    constexpr double steps = 4;
    Request request = read_request(text);
    request.plan.duration = std::min(request.plan.duration, steps * request.plan.time_step);
    request.plan.event_limit = 100;
    static_cast<void>(format_json(request.run(request.plan)));
  });
}
