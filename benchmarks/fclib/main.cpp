// SPDX-License-Identifier: BSD-3-Clause
// How many files of frictional contact problems does each solver solve, and in what time?
//   carom_fclib [options] [file or folder ...]   without any: the bundled ones
// Writes table.tsv and a performance profile per tolerance; prints shares and mean times.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <unistd.h>
#include <vector>

#include "fclib/comparison.hpp"
#include "fclib/result_table.hpp"
#include "fclib/solver_run.hpp"
#include "fclib/timed_run.hpp"
#include "io/bad_input.hpp"
#include "io/file_text.hpp"

namespace {

namespace fs = std::filesystem;
using carom::benchmarks::Comparison;
using carom::benchmarks::Row;
using carom::benchmarks::Solver;

struct Options {
  std::vector<std::string> inputs{CAROM_DATA_DIR "/fclib"};
  std::vector<double> tolerances{1e-4, 1e-8, 1e-12};
  std::vector<std::string> solvers;
  std::vector<std::string> beside;
  carom::benchmarks::RunOptions run;
  bool answers = false;
  std::string output = "fclib-results";
};

/// The files to run; of a folder its containers, and what else is given by name.
std::vector<std::string> find_files(const std::vector<std::string>& inputs) {
  std::vector<std::string> files;
  for (const std::string& input : inputs) {
    if (!fs::is_directory(input)) {
      files.push_back(input);
      continue;
    }
    for (const auto& entry : fs::directory_iterator(input)) {
      if (entry.path().extension() == ".cpf") files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// carom's solvers and Siconos', or those of them that are asked for.
std::vector<Solver> find_solvers(const std::vector<std::string>& wanted) {
  std::vector<Solver> solvers = carom::benchmarks::carom_solvers();
  for (Solver& solver : carom::benchmarks::siconos_solvers()) solvers.push_back(std::move(solver));
  if (wanted.empty()) return solvers;
  std::string names;
  for (const Solver& solver : solvers) names.append(1, ' ').append(solver.name);
  std::vector<Solver> chosen;
  if (wanted == std::vector<std::string>{"none"}) return chosen;
  for (const std::string& name : wanted) {
    const auto same = [&](const Solver& solver) { return solver.name == name; };
    const auto found = std::find_if(solvers.begin(), solvers.end(), same);
    if (found == solvers.end()) {
      throw carom::files::BadInput("--solvers: expected any of" + names + ", got " + name);
    }
    chosen.push_back(*found);
  }
  return chosen;
}

/// Runs a file to one tolerance after the other, the loosest first. A solver that was stopped or
/// that broke down is not asked for tighter ones.
void run_file(const std::string& path, const std::vector<Solver>& solvers, const Options& options,
              const std::function<void(const Row&)>& add) {
  const carom::benchmarks::ContactFile file = carom::benchmarks::read_contact_file(path);
  for (const Solver& solver : solvers) {
    if (!solver.prepare(file, 1)) continue;
    for (const double tolerance : options.tolerances) {
      const Row row = carom::benchmarks::timed_run(file, solver, tolerance, options.run);
      add(row);
      if (row.status != "ok") break;
    }
  }
}

void print_summary(const Comparison& comparison, double time_limit) {
  std::printf("\nerr <= %.0e: files solved of %zu, shifted geometric mean time [ms]\n",
              comparison.tolerance(), comparison.file_count());
  std::vector<Comparison::Curve> curves = comparison.curves();
  curves.push_back(comparison.best("siconos:"));
  curves.back().solver = "siconos, the best per file";
  for (const Comparison::Curve& curve : curves) {
    const std::size_t solved = solved_count(curve);
    std::printf("  %-28s %4zu  %5.1f %%  %10.3f\n", curve.solver.c_str(), solved,
                100.0 * double(solved) / double(comparison.file_count()),
                1e3 * shifted_geometric_mean(curve, time_limit));
  }
}

/// Adds the rows of other tables, and Siconos' recorded rows where Siconos cannot be run.
void add_other_tables(const Options& options, std::vector<Row>& rows) {
  for (const std::string& path : options.beside) {
    const std::vector<Row> more = carom::benchmarks::read_table(path);
    rows.insert(rows.end(), more.begin(), more.end());
  }
  if (!options.beside.empty() || !carom::benchmarks::siconos_solvers().empty()) return;
  for (Row row : carom::benchmarks::read_table(CAROM_SICONOS_TABLE)) {
    row.solver += " (recorded)";
    rows.push_back(row);
  }
}

void run(Options options) {
  std::sort(options.tolerances.rbegin(), options.tolerances.rend());
  const std::vector<std::string> files = find_files(options.inputs);
  if (files.empty()) throw carom::files::BadInput("expected files, found none");
  const std::vector<Solver> solvers = find_solvers(options.solvers);
  fs::create_directories(options.output);
  if (options.answers) {
    options.run.answers = options.output + "/answers";
    fs::create_directories(options.run.answers);
  }
  std::vector<Row> rows;
  std::vector<std::string> names;
  std::ofstream table(options.output + "/table.tsv");
  table << carom::benchmarks::table_header();
  for (const std::string& path : files) {
    names.push_back(fs::path(path).stem().string());
    std::printf("%s\n", names.back().c_str());
    std::fflush(stdout);
    run_file(path, solvers, options, [&](const Row& row) {
      rows.push_back(row);
      table << carom::benchmarks::table_line(row) << std::flush;
    });
  }
  if (!table) throw carom::files::BadInput(options.output + "/table.tsv: could not be written");
  add_other_tables(options, rows);
  for (const double tolerance : options.tolerances) {
    const Comparison comparison(rows, names, tolerance);
    print_summary(comparison, options.run.time_limit);
    std::array<char, 32> name{};
    std::snprintf(name.data(), name.size(), "/profile_%.0e.svg", tolerance);
    carom::files::write_file(options.output + name.data(), profile_svg(comparison));
  }
}

/// Restarts the program with a setting that keeps Siconos' linear algebra to one thread. Otherwise
/// it starts one per processor as soon as it is loaded, and the times would not compare.
void hold_to_one_thread(char** argv) {
  const char* const name = "OPENBLAS_NUM_THREADS";
  if (std::getenv(name) != nullptr) return;
  setenv(name, "1", 1);
  execv("/proc/self/exe", argv);  // returns only where it fails
}

}  // namespace

int main(int argc, char** argv) {
  hold_to_one_thread(argv);
  try {
    Options options;
    CLI::App app{"Runs files of frictional contact problems with every solver", "carom_fclib"};
    app.add_option("INPUT", options.inputs, "Files, or folders of .cpf files");
    app.add_option("--tolerances", options.tolerances, "Natural map errors to solve to")
        ->check(CLI::PositiveNumber)
        ->delimiter(',');
    app.add_option("--solvers", options.solvers, "Those to run, or none; else all")->delimiter(',');
    app.add_option("--beside", options.beside, "Tables of other runs to show beside");
    app.add_option("--time-limit", options.run.time_limit, "Processor time per solve [s]")
        ->check(CLI::PositiveNumber);
    app.add_option("--output", options.output, "Folder for table.tsv and profile_*.svg");
    app.add_flag("--answers", options.answers, "Keep every answer, as CPF1 containers");
    CLI11_PARSE(app, argc, argv);
    run(options);
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "carom_fclib: %s\n", fault.what());
    return 2;
  }
  return 0;
}
