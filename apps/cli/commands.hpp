// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "carom/core/scalar.hpp"

namespace carom::cli {

/// Exit codes of the program.
enum ExitCode : int {
  done = 0,
  bad_demo = 1,   ///< An experiment of the demo differs from its closed form.
  bad_input = 2,  ///< One line on standard error states what was expected.
  /// The solver did not converge, or an answer does not satisfy the requirements. The best answer,
  /// or the verdict, is printed.
  stopped_short = 3,
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
  int threads = 1;          ///< Count of threads on which islands are solved, ≥ 1.
  int repeat = 1;           ///< Count of solves for the median time, ≥ 1.
  /// Time for one solve [s], > 0; infinite: no limit.
  double deadline = std::numeric_limits<double>::infinity();
  bool json = false;
};

struct CertifyOptions {
  std::string file, answer;     ///< The problem, and the answer to it.
  std::string law = "coulomb";  ///< or `convex`.
  bool rigid = false;
  double tolerance = 0;  ///< T, relative [-], that the answer must satisfy; 0: no requirement.
  bool json = false;
};

struct ReplayOptions {
  std::string file;       ///< A recording.
  std::int64_t step = 0;  ///< The step to cut out,
  std::string output;     ///< and the file for it; empty: all steps are replayed.
  bool json = false;
};

struct ImpactCommandOptions {
  std::string file;
  std::string law;  ///< `elastic`, `plastic`, `restitution`; empty: that of the file.
  std::string order =
      "together";  ///< or `most_infeasible`, `simultaneous`, `all`, or a given sequence.
  std::vector<Index> sequence;  ///< The given order; empty if there is none.
  bool json = false;
};

struct SimulateOptions {
  std::string file;
  std::string csv;    ///< File for the rows; empty: no file.
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
  std::string write;        ///< File for the problem; empty: no file.
  double memory = 0;        ///< Largest memory of the run [bytes]; 0: that of the machine.
  bool json = false;
};

struct DemoOptions {
  std::string output = "carom-demo";  ///< Folder for the page; created if it does not exist.
  std::string data;    ///< Folder of the bundled problems; empty: that beside the program.
  std::string docs;    ///< Folder docs of the repository as the page sees it; empty: no links.
  bool brief = false;  ///< Whether long runs are shortened.
};

/// Each command prints its result and returns an exit code. If the input is invalid, it throws
/// BadInput before anything is printed.
int run_project(const ProjectOptions& options);
int run_solve(const SolveOptions& options);
int run_certify(const CertifyOptions& options);
int run_replay(const ReplayOptions& options);
int run_impact(const ImpactCommandOptions& options);
int run_simulate(const SimulateOptions& options);
int run_viscoelastic(const ViscoelasticCommandOptions& options);
int run_heap(const HeapOptions& options);
int run_demo(const DemoOptions& options);

/// Writes text to standard output. Throws BadInput if it cannot write all of it.
void print(const std::string& text);

/// Writes one line to standard error, with any characters.
void print_note(std::string line);

}  // namespace carom::cli
