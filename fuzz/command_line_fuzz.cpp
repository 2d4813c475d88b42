// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: any words, one per line, as the arguments of the program. A command is reached
// with options that it may have, or the words are refused with exit code 2.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "draws.hpp"
#include "number_mutations.hpp"

/// Where the program's notes on refused words go.
inline std::FILE* nowhere() {
  static std::FILE* const file = std::fopen("/dev/null", "w");
  return file;
}

#define CAROM_CLI_VERSION "fuzz"
#define main program_main
#pragma push_macro("stderr")
#undef stderr
#define stderr nowhere()
#include "cli/main.cpp"
#pragma pop_macro("stderr")
#undef main

namespace carom::cli {

using fuzz::demand;

namespace {

bool is_one_of(const std::string& word, const std::vector<std::string>& list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}
void check_common(const std::string& law, double tolerance, int threads) {
  demand(is_one_of(law, {"convex", "coulomb"}), "the law is a law");
  demand(std::isfinite(tolerance) && tolerance > 0, "the tolerance is positive", tolerance);
  demand(threads >= 1 && threads <= 1024, "the count of threads is in range", threads);
}

}  // namespace

int run_project(const ProjectOptions&) {
  return done;
}
int run_solve(const SolveOptions& options) {
  check_common(options.law, options.tolerance, options.threads);
  demand(is_one_of(options.solver, {"", "sap", "newton", "gauss_seidel", "admm", "apgd"}),
         "the solver is a solver");
  demand(options.repeat >= 1, "there is one solve at least", options.repeat);
  demand(options.deadline > 0, "the deadline is positive", options.deadline);
  return done;
}
int run_certify(const CertifyOptions& options) {
  check_common(options.law, 1, 1);
  demand(options.tolerance >= 0 && std::isfinite(options.tolerance), "the tolerance is one");
  return done;
}
int run_replay(const ReplayOptions& options) {
  demand(options.step >= 0, "a step has a number");
  demand(options.step == 0 || !options.output.empty(), "a step is cut out to a file");
  return done;
}
int run_impact(const ImpactCommandOptions& options) {
  demand(is_one_of(options.law, {"", "elastic", "plastic", "restitution"}), "the law is a law");
  for (const Index contact : options.sequence) demand(contact >= 0, "a contact has a number");
  return done;
}
int run_simulate(const SimulateOptions&) {
  return done;
}
int run_viscoelastic(const ViscoelasticCommandOptions& options) {
  demand(is_one_of(options.method, {"coulomb", "convex", "radial", "document_qp", "stick"}),
         "the method is a method");
  return done;
}
int run_heap(const HeapOptions& options) {
  check_common(options.law, options.tolerance, options.threads);
  demand(options.bodies >= 1 && options.bodies <= 1000000, "the count of bodies is in range");
  demand(options.steps >= 1 && options.steps <= 1000000, "the count of steps is in range");
  demand(options.memory >= 0 && std::isfinite(options.memory), "the memory is a number");
  demand(is_one_of(options.shape, {"mixed", "spheres", "boxes"}), "the shape is a shape");
  return done;
}
int run_demo(const DemoOptions&) {
  return done;
}

}  // namespace carom::cli

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> words{"carom"};
  std::string word;
  for (std::size_t i = 0; i <= size; ++i) {
    if (i < size && data[i] != '\n') {
      if (data[i] != 0) word += char(data[i]);
      continue;
    }
    if (!word.empty() || i < size) words.push_back(word);
    word.clear();
  }
  for (const std::string& one : words) {  // these print pages of text
    if (one == "--help" || one == "-h" || one == "--version") return 0;
  }
  std::vector<char*> arguments;
  for (std::string& one : words) arguments.push_back(one.data());
  const int code = program_main(int(arguments.size()), arguments.data());
  carom::fuzz::demand(code == carom::cli::done || code == carom::cli::bad_input,
                      "words are taken or refused", code);
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned int seed) {
  return carom::fuzz::mutate_text(data, size, most, seed);
}
