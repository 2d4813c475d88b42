// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>

#include "carom/solvers/recorder.hpp"

#include "cli/chained_solver.hpp"

namespace carom::python {

/// A recorder that solvers on several threads share. Steps of two threads are solved and recorded
/// one after the other: the second one waits. A step that a handler of Ctrl-C solves in the middle
/// of another one is not recorded.
class SharedRecorder {
 public:
  SharedRecorder(const std::string& path, const RecorderOptions& options)
      : path_(path), recorder_(path, options) {}

  /// Records a solve, run(), which writes the answer and the report.
  template <typename Run>
  void record(const cli::ChainedSolver& solver, const ContactProblem<double>& problem,
              const cli::ChainedSolver::Guess& guess, const VectorX<double>& velocity,
              const VectorX<double>& impulse, const SolveReport<double>& report, const Run& run) {
    if (owner_ == std::this_thread::get_id()) return run();
    const std::lock_guard<std::mutex> alone(lock_);
    owner_ = std::this_thread::get_id();
    if (guess.impulse.size() > 0) {
      recorder_.begin_from(solver, problem, guess.impulse, guess.velocity);
    } else {
      recorder_.begin(solver, problem, guess.velocity);
    }
    run();
    recorder_.end(report, velocity, impulse);
    owner_ = std::thread::id();
  }
  /// Calls read(recorder) while no other thread records a step.
  template <typename Read>
  auto look(const Read& read) {
    if (owner_ == std::this_thread::get_id()) return read(recorder_);
    const std::lock_guard<std::mutex> alone(lock_);
    return read(recorder_);
  }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::mutex lock_;
  std::atomic<std::thread::id> owner_ = std::thread::id();  ///< which thread records a step
  std::string path_;
  Recorder recorder_;
};

}  // namespace carom::python
