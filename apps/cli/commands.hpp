// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "carom/core/scalar.hpp"

namespace carom::cli {

/// Exit codes of the program.
enum ExitCode : int {
  done = 0,
  bad_demo = 1,       ///< An experiment of the demo missed its closed form.
  bad_input = 2,      ///< One line on standard error says what was expected.
  stopped_short = 3,  ///< The solver did not converge, or an answer misses what was asked for; the
                      ///< best answer, or the verdict, is printed.
};

struct ProjectOptions {
  std::string file;
  bool json = false;
};

struct SolveOptions {
  std::string file;
  std::string law = "coulomb";  ///< or `convex`.
  std::string solver;  ///< `sap`, `newton`, `gauss_seidel`, `admm` or `apgd`; empty: chosen.
  bool rigid = false;
  double tolerance = 1e-8;  ///< T, relative [-], > 0.
  int threads = 1;          ///< That islands are solved on, ≥ 1.
  int repeat = 1;           ///< Solves to take the median time of, ≥ 1.
  /// Time for one solve [s], > 0; infinite: no limit.
  double deadline = std::numeric_limits<double>::infinity();
  bool json = false;
};

struct CertifyOptions {
  std::string file, answer;     ///< The problem, and the answer to it.
  std::string law = "coulomb";  ///< or `convex`.
  bool rigid = false;
  double tolerance = 0;  ///< T, relative [-], that the answer must meet; 0: none is asked for.
  bool json = false;
};

struct ImpactCommandOptions {
  std::string file;
  std::string law;  ///< `elastic`, `plastic`, `restitution`; empty: as the file says.
  std::string order =
      "together";  ///< or `most_infeasible`, `simultaneous`, `all`, or a given sequence.
  std::vector<Index> sequence;  ///< The given order, empty unless there is one.
  bool json = false;
};

struct SimulateOptions {
  std::string file;
  std::string csv;    ///< File for the rows; empty: none.
  bool json = false;  ///< The summary is JSON in any case.
};

struct ViscoelasticCommandOptions {
  std::string file;
  std::string method = "coulomb";  ///< or `convex`, `radial`, `document_qp`, `stick`.
  bool json = false;
};

struct HeapOptions {
  Index bodies = 0;             ///< In [1, 1000000].
  std::string shape = "mixed";  ///< or `spheres`, `boxes`.
  std::string law = "coulomb";  ///< or `convex`.
  bool rigid = false;
  double tolerance = 1e-8;  ///< T, relative [-], > 0.
  int threads = 1;          ///< ≥ 1.
  int steps = 1;            ///< In time, ≥ 1.
  std::string write;        ///< File for the problem; empty: none.
  double memory = 0;        ///< Most that the run may take [bytes]; 0: what the machine has.
  bool json = false;
};

struct DemoOptions {
  std::string output = "carom-demo";  ///< Folder for the page; made if missing.
  std::string data;                   ///< Folder of the bundled problems.
  bool brief = false;                 ///< Whether long runs are shortened.
};

/// Each command prints its result and returns an exit code; input it cannot use throws BadInput
/// before anything is printed.
int run_project(const ProjectOptions& options);
int run_solve(const SolveOptions& options);
int run_certify(const CertifyOptions& options);
int run_impact(const ImpactCommandOptions& options);
int run_simulate(const SimulateOptions& options);
int run_viscoelastic(const ViscoelasticCommandOptions& options);
int run_heap(const HeapOptions& options);
int run_demo(const DemoOptions& options);

/// Writes text to standard output; throws BadInput where it cannot write all of it.
void print(const std::string& text);

/// Writes one line to standard error, whatever characters it holds.
void print_note(std::string line);

}  // namespace carom::cli
