// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands.hpp"
namespace carom::cli {
int run_demo(const DemoOptions&) {
  return bad_demo;
}
}  // namespace carom::cli
