// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: any bytes as the two files of `carom certify`: a problem, a line of three
// dashes, and an answer. The length of the input chooses the law.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cli/certify_command.cpp"
#include "cli/json_input.cpp"
#include "cli/judged_answer.cpp"
#include "io/fclib_reader.cpp"
#include "io/friction_dual.cpp"
#include "json_command.hpp"
#include "memory_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace carom::cli;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  constexpr std::string_view between = "\n---\n";
  const std::size_t end = bytes.find(between);
  if (end == std::string_view::npos) return 0;
  const carom::fuzz::MemoryFile problem(bytes.substr(0, end + 1)),
      answer(bytes.substr(end + between.size()));
  CertifyOptions options;
  options.file = problem.path();
  options.answer = answer.path();
  options.law = size % 2 == 0 ? "coulomb" : "convex";
  options.rigid = size % 3 == 0;
  options.tolerance = size % 5 == 0 ? 1e-8 : 0;
  options.json = size % 7 < 4;
  try {
    const int code = run_certify(options);
    if (code != done && code != stopped_short) std::abort();
  } catch (const carom::files::BadInput&) {
  }
  return 0;
}
