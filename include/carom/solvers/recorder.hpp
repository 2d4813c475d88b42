// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <Eigen/Core>

#include "carom/contact/contact_problem.hpp"
#include "carom/core/invalid_input.hpp"
#include "carom/core/solve_report.hpp"
#include "carom/solvers/recording/recorded_solver.hpp"
#include "carom/solvers/recording/ring_file.hpp"
#include "carom/solvers/recording/step_record.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Size and care of a recording.
struct RecorderOptions {
  /// Largest size of the file [bytes], in [4096, 2³¹). When it is full, the oldest steps are
  /// overwritten. A step of 100 contacts between free bodies needs about 40 kB, so that the default
  /// holds the last 1600 of them.
  std::size_t capacity = std::size_t(64) << 20;
  /// Whether each problem is also written before it is solved, so that the file has the problem in
  /// whose solve the program crashed or was stopped. It doubles the bytes written.
  bool before_solve = false;
};

/// Records the steps of a solver in one file of bounded size: each problem, the solver's options,
/// the first guess and the answer. `carom replay` runs the file again and compares each bit.
///
/// ```
/// carom::Recorder recorder("run.carom-record");
/// carom::ContactSolver<double> solver;
/// while (simulating) {
///   ...
///   const auto report = recorder.solve(solver, problem, velocity);  // instead of solver.solve()
/// }
/// ```
/// A step is in the file when solve() returns, also if the program crashes afterwards. Errors of
/// the disk do not stop a solve: lost_count() and fault() report them. A recorder is for one thread
/// at a time. A recorder without a file or memory, Recorder(), only solves.
///
/// Not recorded is what a solver remembers from earlier solves. Without a deadline this should not
/// change bits, see docs/guides/recording.md.
class Recorder {
 public:
  /// Records nothing.
  Recorder() noexcept = default;
  /// Creates the file. An existing one is replaced.
  /// @note  Cold: allocates; throws std::invalid_argument, naming the path or the option.
  explicit Recorder(const std::string& path, const RecorderOptions& options = {});
  /// Records into memory, which then holds what the file would hold and must outlive the recorder.
  /// If it is a file that the program mapped into its memory, a crash of the program loses no more
  /// than with a file, and no step makes a system call.
  /// @param memory  [4096, 2³¹) bytes.
  /// @param before_solve  as in RecorderOptions.
  /// @note  Throws std::invalid_argument if the size of the memory is out of range.
  explicit Recorder(std::span<std::byte> memory, bool before_solve = false);

  /// Solves and records, as solver.solve(problem, velocity, executor...).
  /// @param solver  ContactSolver, SapSolver, InteriorPointSolver, ProximalSolver, SolverOnBodies,
  ///                or a solver of yours with solve() and impulse(). The options of the latter are
  ///                not recorded.
  /// @return  the report of the solver.
  /// @note  Real-time safe as the solver is, except for one system call that writes the step: no
  ///        exception, and no allocation after a step that was not smaller.
  template <typename Solver, std::floating_point Scalar, typename... Executor>
  SolveReport<Scalar> solve(Solver& solver, const ContactProblem<Scalar>& problem,
                            VectorX<Scalar>& velocity, Executor&&... executor) noexcept {
    begin(solver, problem, velocity);
    const SolveReport<Scalar> report =
        solver.solve(problem, velocity, std::forward<Executor>(executor)...);
    end(report, velocity, solver.impulse());
    return report;
  }
  /// The same from a first guess of the impulses, as solver.solve_from(problem, impulse, velocity,
  /// executor...). The guess may be solver.impulse().
  template <typename Solver, std::floating_point Scalar, typename Impulse, typename... Executor>
  SolveReport<Scalar> solve_from(Solver& solver, const ContactProblem<Scalar>& problem,
                                 const Eigen::MatrixBase<Impulse>& impulse,
                                 VectorX<Scalar>& velocity, Executor&&... executor) noexcept {
    begin_from(solver, problem, impulse);
    const SolveReport<Scalar> report =
        solver.solve_from(problem, impulse, velocity, std::forward<Executor>(executor)...);
    end(report, velocity, solver.impulse());
    return report;
  }

  /// The two halves of solve(), for a solve that another function calls: begin() with the guess
  /// before it, end() with the answer after it.
  template <typename Solver, std::floating_point Scalar>
  void begin(const Solver& solver, const ContactProblem<Scalar>& problem,
             const VectorX<Scalar>& velocity) noexcept {
    begin_step(detail::recorded_solver(solver), problem, detail::GuessKind::velocity, velocity);
  }
  template <typename Solver, std::floating_point Scalar, typename Impulse>
  void begin_from(const Solver& solver, const ContactProblem<Scalar>& problem,
                  const Eigen::MatrixBase<Impulse>& impulse) noexcept {
    begin_step(detail::recorded_solver(solver), problem, detail::GuessKind::impulse, impulse);
  }
  /// For a solver that begins at a velocity if a first guess of the impulses does not help. Cold:
  /// allocates.
  template <typename Solver, std::floating_point Scalar>
  void begin_from(const Solver& solver, const ContactProblem<Scalar>& problem,
                  const VectorX<Scalar>& impulse, const VectorX<Scalar>& velocity) {
    VectorX<Scalar> both(impulse.size() + velocity.size());
    both.head(impulse.size()) = impulse;
    both.tail(velocity.size()) = velocity;
    begin_step(detail::recorded_solver(solver), problem, detail::GuessKind::impulse_and_velocity,
               both);
  }
  /// @param velocity  v and
  /// @param impulse   γ of the answer, whose numbers stand side by side.
  template <std::floating_point Scalar, typename Velocity, typename Impulse>
  void end(const SolveReport<Scalar>& report, const Eigen::MatrixBase<Velocity>& velocity,
           const Eigen::MatrixBase<Impulse>& impulse) noexcept {
    if (!file_.is_open() || !begun_) return;
    begun_ = false;
    if (!record_.end(report, velocity, impulse) || !write(over_begun_)) ++lost_count_;
  }

  /// Whether steps are recorded: whether there is a file or memory for them.
  [[nodiscard]] bool is_open() const noexcept { return file_.is_open(); }
  /// Count of steps so far. The number of a step in the file is the count before it.
  [[nodiscard]] std::uint64_t step_count() const noexcept { return step_count_; }
  /// Count of steps that are not in the file because the system refused memory or the writing.
  [[nodiscard]] std::uint64_t lost_count() const noexcept { return lost_count_; }
  /// Count of steps of which the file has only the report, because they are larger than it may be.
  [[nodiscard]] std::uint64_t left_out_count() const noexcept { return left_out_count_; }
  /// Why steps are missing in the file, as one sentence; empty if none is.
  [[nodiscard]] Fault fault() const;
  /// Ends the recording. Later solves are not recorded.
  void close() noexcept { file_ = {}; }

 private:
  template <std::floating_point Scalar, typename Guess>
  void begin_step(const detail::RecordedSolver& solver, const ContactProblem<Scalar>& problem,
                  detail::GuessKind kind, const Eigen::MatrixBase<Guess>& guess) noexcept {
    static_assert(std::same_as<Scalar, float> || std::same_as<Scalar, double>,
                  "recordings hold problems of float and of double");
    if (!file_.is_open()) return;
    begun_ = record_.begin(step_count_++, solver, problem, kind, guess);
    over_begun_ = false;
    if (!begun_) ++lost_count_;
    if (!begun_ || !before_solve_) return;
    record_.close_begun();
    if (record_.size() <= file_.room()) {
      over_begun_ = file_.write(record_.data(), record_.size(), false);
    }
  }
  /// Whether a recording may have a size, which is refused otherwise.
  [[nodiscard]] static bool has_range(std::string_view name, std::size_t bytes);
  [[nodiscard]] bool write(bool over_last) noexcept {
    if (record_.size() > file_.room()) {
      record_.leave_out();
      ++left_out_count_;
    }
    return file_.write(record_.data(), record_.size(), over_last);
  }

  detail::RingFile file_;
  detail::StepRecord record_;
  std::uint64_t step_count_ = 0, lost_count_ = 0, left_out_count_ = 0;
  bool before_solve_ = false;
  bool begun_ = false, over_begun_ = false;  ///< whether a step is begun, and whether it is written
};

// --- implementation ---

inline Recorder::Recorder(const std::string& path, const RecorderOptions& options)
    : before_solve_(options.before_solve) {
  if (!has_range("capacity", options.capacity)) return;
  const detail::RecordingHeader header(options.capacity);
  file_ = detail::RingFile(path, header.data(), header.size(), options.capacity / 8 * 8);
  if (!file_.is_open()) {
    detail::reject_if(path + ": expected a file that can be written, was refused it");
  }
}

inline Recorder::Recorder(std::span<std::byte> memory, bool before_solve)
    : before_solve_(before_solve) {
  if (!has_range("memory", memory.size())) return;
  const detail::RecordingHeader header(memory.size());
  file_ = detail::RingFile(memory.first(memory.size() / 8 * 8), header.data(), header.size());
}

inline bool Recorder::has_range(std::string_view name, std::size_t bytes) {
  constexpr std::size_t least = 4096, most = (std::size_t(1) << 31) - 1;
  const bool has = least <= bytes && bytes <= most;
  if (!has) {
    detail::reject_if("recorder: " + std::string(name) +
                      ": expected a count of bytes in [4096, 2147483647], got " +
                      std::to_string(bytes));
  }
  return has;
}

inline Fault Recorder::fault() const {
  if (lost_count_ > 0) {
    return "recording: " + std::to_string(lost_count_) + " of " + std::to_string(step_count_) +
           " steps are missing: the system refused to write them";
  }
  if (left_out_count_ > 0) {
    return "recording: " + std::to_string(left_out_count_) + " of " + std::to_string(step_count_) +
           " steps are missing: each is larger than the capacity of the file";
  }
  return {};
}

}  // namespace CAROM_ABI
}  // namespace carom
