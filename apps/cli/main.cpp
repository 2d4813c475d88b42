// SPDX-License-Identifier: BSD-3-Clause
// The `carom` program: the library's answers for data in files.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <limits>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/footers.hpp"
#include "io/bad_input.hpp"
#include "io/number_text.hpp"

namespace carom::cli {

void print(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (std::fflush(stdout) != 0 || !written) {
    throw files::BadInput("standard output: expected room for the result, writing failed");
  }
}

void print_note(std::string line) {
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  std::fprintf(stderr, "carom: %s\n", line.c_str());
}

namespace {

constexpr std::int64_t most_threads = 1024;

int refuse_line(std::string message) {
  print_note(std::move(message));
  return bad_input;
}

std::string check_tolerance(const std::string& word) {
  const auto value = files::parse_number(word);
  return value && *value > 0 ? "" : "expected a finite number > 0, got '" + word + "'";
}

/// Accepts whole numbers of a range, also in the form 1e6.
CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  return {[least, most](std::string& word) -> std::string {
            const auto value = files::parse_number(word);
            if (value && *value >= double(least) && *value <= double(most) &&
                std::floor(*value) == *value) {
              word = std::to_string(std::int64_t(*value));
              return "";
            }
            return "expected a whole number from " + std::to_string(least) + " to " +
                   std::to_string(most) + ", got '" + word + "'";
          },
          ""};
}

std::string check_impact_law(const std::string& word) {
  const bool known = word == "elastic" || word == "plastic" || word == "restitution";
  return known ? "" : "expected elastic, plastic or restitution, got '" + word + "'";
}

std::string check_method(const std::string& word) {
  for (const char* known : {"coulomb", "convex", "radial", "document_qp", "stick"}) {
    if (word == known) return "";
  }
  return "expected coulomb, convex, radial, document_qp or stick, got '" + word + "'";
}

std::string check_repeat(const std::string& word) {
  const auto value = files::parse_count(word);
  return value && *value >= 1 && *value <= std::numeric_limits<int>::max()
             ? ""
             : "expected a whole number >= 1, got '" + word + "'";
}

/// Accepts one of several words.
CLI::Validator one_of(const std::vector<std::string>& choices) {
  std::string list = choices.front();
  for (std::size_t i = 1; i < choices.size(); ++i) {
    list += (i + 1 < choices.size() ? ", " : " or ") + choices[i];
  }
  return {[choices, list](const std::string& word) {
            const bool known = std::find(choices.begin(), choices.end(), word) != choices.end();
            return known ? "" : "expected " + list + ", got '" + word + "'";
          },
          "", list};
}

/// Reads an order of contacts. It is empty for an order with a name.
std::string read_order(const std::string& word, std::vector<Index>& sequence) {
  sequence.clear();
  for (const char* known : {"together", "most_infeasible", "simultaneous", "all"}) {
    if (word == known) return "";
  }
  for (std::size_t begin = 0; begin <= word.size();) {
    const std::size_t end = std::min(word.find(',', begin), word.size());
    const auto contact = files::parse_count(word.substr(begin, end - begin));
    if (!contact) {
      return "expected together, most_infeasible, simultaneous, all or contacts as i,j,..., got '" +
             word + "'";
    }
    sequence.push_back(Index(*contact));
    begin = end + 1;
  }
  return "";
}

/// The command line: the options, and the chosen subcommand.
struct CommandLine {
  CLI::App app{
      "Contact physics on data in files. Exit code 0: done; 2: bad input, one line on "
      "standard error; 3: the solver stopped short, its best answer is printed, or an answer "
      "misses the tolerance.",
      "carom"};
  ProjectOptions project;
  SolveOptions solve;
  CertifyOptions certify;
  ReplayOptions replay;
  ImpactCommandOptions impact;
  SimulateOptions simulate;
  ViscoelasticCommandOptions viscoelastic;
  HeapOptions heap;
  DemoOptions demo;
  std::vector<std::string> cut;
  std::string tolerance = "1e-8", repeat = "1", deadline, memory, certified;

  CommandLine() {
    app.require_subcommand(0, 1);  // run() reports what is missing
    app.footer("carom COMMAND --help describes a command's file, options and output.");
    app.set_version_flag("--version", CAROM_CLI_VERSION);
    add_project();
    add_solve();
    add_certify();
    add_replay();
    add_impact();
    add_simulate();
    add_viscoelastic();
    add_heap();
    add_demo();
  }

  void add_project() {
    CLI::App* const command =
        app.add_subcommand("project", "Project trial impulses onto friction cones");
    command
        ->add_option("FILE", project.file,
                     R"(JSON: {"contacts":[{"y":[t1,t2,n], "mu":0.5, )"
                     R"("weights":[Rt,Rn]}]})")
        ->required();
    command->add_flag("--json", project.json, "Print JSON instead of a table");
    command->callback([this] { exit_code_of = [this] { return run_project(project); }; });
  }

  void add_solve() {
    CLI::App* const command = app.add_subcommand("solve", "Solve one time step of contact");
    command
        ->add_option("FILE", solve.file,
                     "A contact problem, recognised by content: text that starts with "
                     "'carom-problem', whose guess is the first guess; CPF1; HDF5 as FCLIB writes")
        ->required();
    command
        ->add_option("--law", solve.law,
                     "Contact law; convex is right where contacts stick or slide slowly, and lifts "
                     "what slides fast")
        ->check(one_of({"convex", "coulomb"}))
        ->capture_default_str();
    command
        ->add_option("--solver", solve.solver,
                     "Solver; sap for the convex law and compliant contact unless named, else "
                     "newton, which begins with sap or gauss_seidel")
        ->check(one_of({"sap", "newton", "gauss_seidel", "admm", "apgd"}));
    command
        ->add_option("--tolerance", tolerance,
                     "T > 0, relative. sap, convex, compliant: stop when |grad|_{A^-1} <= T "
                     "max(|v*|_A, |J' gamma|_{A^-1}); else when the natural map error is <= T")
        ->check(CLI::Validator(check_tolerance, ""))
        ->capture_default_str();
    command->add_option("--repeat", repeat, "Solves of which `seconds` is the median")
        ->check(CLI::Validator(check_repeat, ""))
        ->capture_default_str();
    command
        ->add_option("--deadline", deadline,
                     "Seconds > 0 that a solve may take; then the best answer is printed, the "
                     "status is deadline, the exit code 3")
        ->check(CLI::Validator(check_tolerance, ""));
    command
        ->add_option("--threads", solve.threads,
                     "Threads that share the islands of a problem of bodies under sap and newton; "
                     "the answer is the same to the last bit")
        ->transform(whole_number(1, most_threads))
        ->capture_default_str();
    command->add_flag("--rigid", solve.rigid, "Rigid contact; CPF1 and HDF5 always are");
    command->add_flag("--json", solve.json,
                      "Print JSON instead of a table; a number that is not finite is null");
    command->callback([this] {
      solve.tolerance = *files::parse_number(tolerance);
      if (!deadline.empty()) solve.deadline = *files::parse_number(deadline);
      solve.repeat = int(*files::parse_count(repeat));
      exit_code_of = [this] { return run_solve(solve); };
    });
  }

  void add_certify() {
    CLI::App* const command =
        app.add_subcommand("certify", "Judge anybody's answer to a contact problem");
    command->add_option("PROBLEM", certify.file, "A contact problem, as `carom solve` takes it")
        ->required();
    command
        ->add_option(
            "ANSWER", certify.answer,
            R"(JSON: {"velocity":[..]}, {"impulse":[..]} or both, in the problem's order, )"
            R"(or {"ray":{"impulse":[..]}}, which is to prove that there is no answer; what )"
            "`carom solve --json` prints will do")
        ->required();
    command->add_option("--law", certify.law, "Contact law that the answer is to obey")
        ->check(one_of({"convex", "coulomb"}))
        ->capture_default_str();
    command
        ->add_option(
            "--tolerance", certified,
            "T > 0, relative: the exit code is 3 where a residual of the answer exceeds it")
        ->check(CLI::Validator(check_tolerance, ""));
    command->add_flag("--rigid", certify.rigid, "Rigid contact; CPF1 and HDF5 always are");
    command->add_flag("--json", certify.json,
                      "Print JSON instead of a table; a number that is not finite is null");
    command->footer(certify_footer);
    command->callback([this] {
      if (!certified.empty()) certify.tolerance = *files::parse_number(certified);
      exit_code_of = [this] { return run_certify(certify); };
    });
  }

  void add_replay() {
    CLI::App* const command =
        app.add_subcommand("replay", "Solve recorded steps again and compare each bit");
    command->add_option("FILE", replay.file, "A recording of carom::Recorder or carom.Recorder")
        ->required();
    command
        ->add_option("--cut", cut,
                     "Writes this step to a file as a text problem, for `carom solve`, instead of "
                     "solving all")
        ->type_name("STEP OUT")
        ->expected(2);
    command->add_flag("--json", replay.json,
                      "Print JSON instead of a table; a number that is not finite is null");
    command->footer(replay_footer);
    command->callback([this] {
      if (!cut.empty()) {
        const auto step = files::parse_count(cut[0]);
        if (!step) {
          throw CLI::ValidationError("--cut", "expected a whole number >= 0, got '" + cut[0] + "'");
        }
        if (cut[1].empty()) throw CLI::ValidationError("--cut", "expected a file, got no name");
        replay.step = *step;
        replay.output = cut[1];
      }
      exit_code_of = [this] { return run_replay(replay); };
    });
  }

  void add_impact() {
    CLI::App* const command =
        app.add_subcommand("impact", "Resolve simultaneous impacts, find all outcomes");
    command
        ->add_option("FILE", impact.file,
                     R"(JSON: {"mass_matrix":[[..]..], "normals":[[..]..], "velocity":[..] or )"
                     R"("momentum":[..], "restitution":1.0}; see below)")
        ->required();
    command
        ->add_option("--law", impact.law,
                     "elastic: reflect until no contact closes; plastic: the nearest feasible "
                     "momentum; restitution: between both by the file's restitution (the default)")
        ->type_name("LAW")
        ->check(CLI::Validator(check_impact_law, ""));
    command
        ->add_option(
            "--order", impact.order,
            "Which closing contact reflects next: together, the fastest and at once all that "
            "nothing in the input tells apart from it; most_infeasible, the fastest alone; "
            "simultaneous, all that close at once; i,j,...: these contacts over and over, "
            "others never; all: every order, every outcome")
        ->type_name("ORDER")
        ->check(CLI::Validator(
            [this](const std::string& word) { return read_order(word, impact.sequence); }, ""))
        ->capture_default_str();
    command->add_flag("--json", impact.json, "Print JSON instead of a table");
    command->footer(impact_footer);
    command->callback([this] { exit_code_of = [this] { return run_impact(impact); }; });
  }

  void add_simulate() {
    CLI::App* const command =
        app.add_subcommand("simulate", "Run a mechanical system in time, impacts included");
    command
        ->add_option("FILE", simulate.file,
                     R"(JSON: {"system":"...", "parameters":{..}, "time_step":h, "duration":T, )"
                     R"("restitution":R}; see below)")
        ->required();
    command->add_option("--csv", simulate.csv, "File for rows time, q, momentum, energy, event");
    command->footer(simulate_footer);
    command->add_flag("--json", simulate.json, "The summary is JSON with or without");
    command->callback([this] { exit_code_of = [this] { return run_simulate(simulate); }; });
  }

  void add_viscoelastic() {
    CLI::App* const command = app.add_subcommand(
        "viscoelastic", "Take one step of stiff spring-damper contact by exponential integration");
    command->add_option("FILE", viscoelastic.file, "JSON, one step; see below")->required();
    command
        ->add_option("--method", viscoelastic.method,
                     "coulomb, convex, radial, document_qp or stick; see below")
        ->type_name("METHOD")
        ->check(CLI::Validator(check_method, ""))
        ->capture_default_str();
    command->add_flag("--json", viscoelastic.json, "Print JSON instead of a table");
    command->footer(viscoelastic_footer);
    command->callback([this] { exit_code_of = [this] { return run_viscoelastic(viscoelastic); }; });
  }

  void add_heap() {
    CLI::App* const command =
        app.add_subcommand("heap", "Make a heap of bodies and solve it: how fast is this machine");
    command->add_option("--bodies", heap.bodies, "Bodies of the heap, up to 1e6")
        ->required()
        ->transform(whole_number(1, 1000000));
    command->add_option("--shape", heap.shape, "mixed: three spheres to a box")
        ->check(one_of({"spheres", "boxes", "mixed"}))
        ->capture_default_str();
    command->add_option("--law", heap.law, "Contact law")
        ->check(one_of({"convex", "coulomb"}))
        ->capture_default_str();
    command->add_flag("--rigid", heap.rigid, "Rigid contact instead of 1e5 N/m");
    command->add_option("--tolerance", tolerance, "T > 0, relative, as of carom solve")
        ->check(CLI::Validator(check_tolerance, ""))
        ->capture_default_str();
    command->add_option("--threads", heap.threads, "Threads that the solver may use")
        ->transform(whole_number(1, most_threads))
        ->capture_default_str();
    command->add_option("--steps", heap.steps, "Steps of 10 ms; the first begins at rest")
        ->transform(whole_number(1, 1000000))
        ->capture_default_str();
    command->add_option("--write", heap.write, "File for the problem of the first step, as text");
    command
        ->add_option("--memory", memory,
                     "Most bytes to take, > 0; what the machine has at hand unless given")
        ->check(CLI::Validator(check_tolerance, ""));
    command->add_flag("--json", heap.json, "Print JSON instead of a table");
    command->footer(heap_footer);
    command->callback([this] {
      heap.tolerance = *files::parse_number(tolerance);
      if (!memory.empty()) heap.memory = *files::parse_number(memory);
      exit_code_of = [this] { return run_heap(heap); };
    });
  }

  void add_demo() {
    CLI::App* const command = app.add_subcommand(
        "demo", "Run experiments with known answers, write a page with their pictures");
    command->add_option("--output", demo.output, "Folder for index.html")->capture_default_str();
    command->add_option("--data", demo.data,
                        "Folder of the bundled problems; that beside the program unless given");
    command->add_option("--docs", demo.docs,
                        "Folder docs of the repository as the page sees it, to link to");
    command->add_flag("--brief", demo.brief, "A tenth of the work in the long experiments");
    command->callback([this] { exit_code_of = [this] { return run_demo(demo); }; });
  }

  std::function<int()> exit_code_of;  ///< Runs the chosen subcommand.
};

int run(int argc, char** argv) {
  CommandLine line;
  try {
    line.app.parse(argc, argv);
  } catch (const CLI::ParseError& fault) {
    if (fault.get_exit_code() == 0) return line.app.exit(fault);  // --help, --version
    return refuse_line(std::string(fault.what()) + " (carom --help lists what there is)");
  }
  if (!line.exit_code_of)
    return refuse_line(
        "expected project, solve, certify, replay, impact, simulate, viscoelastic, heap or demo, "
        "got no "
        "command");
  return line.exit_code_of();
}

}  // namespace
}  // namespace carom::cli

int main(int argc, char** argv) {
  try {
    return carom::cli::run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("carom: expected a problem that fits in memory, got a larger one\n", stderr);
  } catch (const std::exception& fault) {
    try {
      return carom::cli::refuse_line(fault.what());
    } catch (const std::bad_alloc&) {
      std::fputs("carom: out of memory\n", stderr);
    }
  }
  return carom::cli::bad_input;
}
