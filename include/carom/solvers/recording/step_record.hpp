// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>

#include <Eigen/Core>

#include "carom/contact/detail/problem_bytes.hpp"
#include "carom/core/solve_report.hpp"
#include "carom/core/version.hpp"
#include "carom/solvers/recording/recorded_solver.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The constants of a recording (docs/file_formats.md).
struct RecordingFormat {
  static constexpr char file_mark[] = "CAROMREC";
  static constexpr char step_mark[] = "CAROMSTP";
  static constexpr std::uint32_t version = 1;
  static constexpr std::size_t header_size = 128, build_size = 96;  // bytes
  static constexpr std::size_t first_part = 240;  ///< of a record, before the tables
  // Where numbers of a record stand that are written after the rest.
  static constexpr std::size_t length_at = 8, kind_at = 24, report_at = 112, answer_counts_at = 224;
};

/// The kinds of records. The values are those of the file.
enum class RecordKind : std::uint32_t {
  step = 1,      ///< A problem and its answer.
  begun = 2,     ///< A problem whose solve did not end, without an answer.
  left_out = 3,  ///< A step that is larger than the file may be: its numbers are missing.
};

/// What a first guess consists of. The values are those of the file.
enum class GuessKind : std::uint32_t {
  velocity = 0,
  impulse = 1,
  impulse_and_velocity = 2,  ///< Impulses, then velocities where the impulses do not help.
};

/// How this program was compiled, as far as it can change the last bits of an answer.
[[nodiscard]] inline std::string_view compiler_name() noexcept {
#if defined(__VERSION__)
  return __VERSION__;
#else
  return "another compiler";
#endif
}

/// The header of a recording.
class RecordingHeader {
 public:
  explicit RecordingHeader(std::size_t capacity) noexcept {
    ByteWriter out(bytes_);
    out.put_all(RecordingFormat::file_mark, 8);
    out.put(RecordingFormat::version);
    out.put(std::uint32_t(RecordingFormat::header_size));
    out.put(std::uint64_t(capacity));
    char build[RecordingFormat::build_size] = {};
    std::size_t used = 0;
    for (const std::string_view part : {std::string_view("carom " CAROM_VERSION_STRING "; "),
                                        std::string_view(Eigen::SimdInstructionSetsInUse()),
                                        std::string_view("; "), compiler_name()}) {
      const std::size_t taken = (std::min)(part.size(), sizeof build - 1 - used);
      std::memcpy(build + used, part.data(), taken);
      used += taken;
    }
    out.put_all(build, sizeof build);
    out.put(hash_words(bytes_, std::size_t(out.position() - bytes_)));
  }
  [[nodiscard]] const unsigned char* data() const noexcept { return bytes_; }
  [[nodiscard]] static constexpr std::size_t size() noexcept {
    return RecordingFormat::header_size;
  }

 private:
  unsigned char bytes_[RecordingFormat::header_size];
};

/// Memory for the bytes of one step. If there is no memory it says so and does not throw.
class StepBytes {
 public:
  /// Memory for at least `size` bytes. Its content is kept.
  /// @return  whether there is so much.
  [[nodiscard]] bool reserve(std::size_t size, std::size_t kept) noexcept {
    if (size <= capacity_) return true;
    const std::size_t wanted = size + size / 2;
    std::unique_ptr<unsigned char[]> larger(new (std::nothrow) unsigned char[wanted]);
    if (!larger) return false;
    if (kept > 0) std::memcpy(larger.get(), bytes_.get(), kept);
    bytes_ = std::move(larger);
    capacity_ = wanted;
    return true;
  }
  [[nodiscard]] unsigned char* data() noexcept { return bytes_.get(); }
  [[nodiscard]] const unsigned char* data() const noexcept { return bytes_.get(); }

 private:
  std::unique_ptr<unsigned char[]> bytes_;
  std::size_t capacity_ = 0;
};

/// Composes the record of one step: first the problem, the solver and the guess, then the answer.
class StepRecord {
 public:
  /// Writes all that is known before the solve.
  /// @param guess  a vector expression.
  /// @return  whether there was memory.
  template <std::floating_point Scalar, typename Guess>
  [[nodiscard]] bool begin(std::uint64_t step, const RecordedSolver& solver,
                           const ContactProblem<Scalar>& problem, GuessKind kind,
                           const Eigen::MatrixBase<Guess>& guess) noexcept {
    using Bytes = ProblemBytes<Scalar>;
    begun_ = false;
    const std::size_t tables = RecordingFormat::first_part + Bytes::table_size(problem);
    if (!bytes_.reserve(tables, 0)) return false;
    ByteWriter table(bytes_.data() + RecordingFormat::first_part);
    const std::size_t numbers = Bytes::write_tables(problem, table);
    const auto answer = std::size_t(problem.velocity_count() + problem.impulse_count());
    const std::size_t all = numbers + std::size_t(guess.size()) + answer;
    if (!bytes_.reserve(tables + all * sizeof(Scalar) + std::size_t(3) * 8, tables)) return false;
    ByteWriter out(bytes_.data());
    out.put_all(RecordingFormat::step_mark, 8);
    out.put(std::uint64_t(0));  // the length
    out.put(step);
    out.put(std::uint32_t(RecordKind::begun));
    out.put(std::uint32_t(sizeof(Scalar)));
    solver.write(out);
    write_report(SolveReport<double>(), kind, 0);
    out = ByteWriter(bytes_.data() + RecordingFormat::report_at + 64);
    for (const std::size_t count :
         {std::size_t(problem.body_count()), std::size_t(problem.block_count()),
          std::size_t(problem.velocity_count()), std::size_t(problem.impulse_count()), numbers,
          std::size_t(guess.size()), std::size_t(0), std::size_t(0)}) {
      out.put(std::uint64_t(count));
    }
    out = ByteWriter(bytes_.data() + tables);
    Bytes::write_numbers(problem, out);
    for (Index i = 0; i < guess.size(); ++i) out.put(Scalar(guess(i)));
    out.fill(bytes_.data());
    answer_at_ = std::size_t(out.position() - bytes_.data());
    guess_kind_ = kind;
    begun_ = true;
    return true;
  }
  /// Ends the record as that of a solve that has not ended. An answer can still be added.
  /// @pre   begin() returned true.
  void close_begun() noexcept { close(answer_at_, RecordKind::begun); }
  /// Adds the answer.
  /// @return  whether there was memory.
  template <std::floating_point Scalar, typename Velocity, typename Impulse>
  [[nodiscard]] bool end(const SolveReport<Scalar>& report,
                         const Eigen::MatrixBase<Velocity>& velocity,
                         const Eigen::MatrixBase<Impulse>& impulse) noexcept {
    if (!begun_) return false;
    begun_ = false;
    const auto answer = std::size_t(velocity.size() + impulse.size());
    if (!bytes_.reserve(answer_at_ + answer * sizeof(Scalar) + std::size_t(2) * 8, answer_at_))
      return false;
    ByteWriter out(bytes_.data() + answer_at_);
    out.put_all(velocity.derived().data(), velocity.size());
    out.put_all(impulse.derived().data(), impulse.size());
    out.fill(bytes_.data());
    const auto end = std::size_t(out.position() - bytes_.data());
    write_report(report, guess_kind_, hash_words(bytes_.data() + answer_at_, end - answer_at_));
    out = ByteWriter(bytes_.data() + RecordingFormat::answer_counts_at);
    out.put(std::uint64_t(velocity.size()));
    out.put(std::uint64_t(impulse.size()));
    close(end, RecordKind::step);
    return true;
  }
  /// Leaves only the first part of the record, without tables and numbers.
  void leave_out() noexcept { close(RecordingFormat::first_part, RecordKind::left_out); }

  /// The record as it was ended last.
  [[nodiscard]] const unsigned char* data() const noexcept { return bytes_.data(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  template <typename Scalar>
  void write_report(const SolveReport<Scalar>& report, GuessKind guess,
                    std::uint64_t hash) noexcept {
    ByteWriter out(bytes_.data() + RecordingFormat::report_at);
    out.put(std::uint32_t(report.status));
    out.put(std::uint32_t(report.measure));
    out.put(std::int32_t(report.iterations));
    out.put(std::uint32_t(guess));
    out.put(std::int64_t(report.worst_block));
    for (const Scalar& number :
         {report.residual, report.residual_target, report.error_bound, report.deepest_overlap}) {
      out.put(double(number));
    }
    out.put(hash);
  }
  /// Writes length, kind and checksum.
  void close(std::size_t end, RecordKind kind) noexcept {
    size_ = end + 8;
    ByteWriter out(bytes_.data() + RecordingFormat::length_at);
    out.put(std::uint64_t(size_));
    out = ByteWriter(bytes_.data() + RecordingFormat::kind_at);
    out.put(std::uint32_t(kind));
    out = ByteWriter(bytes_.data() + end);
    out.put(hash_words(bytes_.data(), end));
  }

  StepBytes bytes_;
  std::size_t size_ = 0, answer_at_ = 0;
  GuessKind guess_kind_ = GuessKind::velocity;
  bool begun_ = false;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
