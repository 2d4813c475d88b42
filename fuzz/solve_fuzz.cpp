// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: any bytes as the file of `carom solve`, under every law and by every solver;
// the length of the input says which.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cli/solve_bodies.cpp"
#include "cli/solve_command.cpp"
#include "cli/solve_dual.cpp"
#include "io/fclib_reader.cpp"
#include "io/friction_dual.cpp"
#include "json_command.hpp"
#include "memory_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace carom::cli;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // A problem in text says how large it is before a reader allocates it; these would only be slow.
  if (size > 20000) return 0;
  static constexpr std::array solvers{"", "newton", "gauss_seidel", "admm", "apgd", "sap"};
  const carom::fuzz::MemoryFile file(bytes);
  SolveOptions options;
  options.file = file.path();
  options.law = size % 2 == 0 ? "coulomb" : "convex";
  options.rigid = size / 2 % 3 == 0;
  options.solver = solvers[size / 6 % solvers.size()];
  options.tolerance = size % 5 == 0 ? 1e-4 : 1e-8;
  options.threads = size % 7 == 0 ? 3 : 1;
  options.json = size % 3 == 0;
  options.deadline = 0.2;
  try {
    const int code = run_solve(options);
    if (code != done && code != stopped_short) std::abort();
  } catch (const carom::files::BadInput&) {
  }
  return 0;
}
