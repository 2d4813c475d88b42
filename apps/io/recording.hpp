// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "carom/contact/contact_problem.hpp"
#include "carom/solvers/recording/step_record.hpp"

#include "io/bad_input.hpp"
#include "io/file_text.hpp"

namespace carom::files {

/// A recorded step. Numbers of a step that was left out or has no answer are empty.
template <typename Scalar>
struct RecordedStep {
  std::uint64_t number = 0;
  carom::detail::RecordKind kind = carom::detail::RecordKind::step;
  carom::detail::RecordedSolver solver;
  ContactProblem<Scalar> problem{Scalar(1)};
  carom::detail::GuessKind guess_kind = carom::detail::GuessKind::velocity;
  VectorX<Scalar> guess;
  SolveReport<Scalar> report;
  VectorX<Scalar> velocity, impulse;  ///< The answer.
  std::uint64_t answer_hash = 0;
};

namespace detail {

using carom::detail::GuessKind;
using carom::detail::ProblemWords;
using carom::detail::RecordedSolver;
using carom::detail::RecordedSolverKind;
using carom::detail::RecordingFormat;
using carom::detail::RecordKind;

/// Reads numbers one after the other, the lowest byte first. Throws BadInput at the end of the
/// bytes.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) noexcept : bytes_(bytes) {}

  [[nodiscard]] std::size_t position() const noexcept { return at_; }
  [[nodiscard]] std::size_t remaining() const noexcept { return bytes_.size() - at_; }
  void skip(std::size_t count) {
    need(count);
    at_ += count;
  }
  void skip_fill() { skip((8 - at_ % 8) % 8); }

  template <typename Number>
  Number get() {
    using Bits = std::conditional_t<sizeof(Number) == 8, std::uint64_t, std::uint32_t>;
    static_assert(sizeof(Number) == sizeof(Bits));
    need(sizeof(Bits));
    Bits bits;
    std::memcpy(&bits, bytes_.data() + at_, sizeof bits);
    at_ += sizeof bits;
    return std::bit_cast<Number>(carom::detail::little_endian(bits));
  }
  /// `count` numbers into a vector or matrix with so much room.
  template <typename Number>
  void get_all(Number* numbers, Index count) {
    need(std::size_t(count) * sizeof(Number));
    for (Index i = 0; i < count; ++i) numbers[i] = get<Number>();
  }
  /// An enumerator, of which the last one is given.
  template <typename Enum>
  Enum get_enum(Enum last, const char* name) {
    const auto value = get<std::uint32_t>();
    if (value > std::uint32_t(last)) {
      throw BadInput(std::string(name) + ": expected a number from 0 to " +
                     std::to_string(std::uint32_t(last)) + ", got " + std::to_string(value));
    }
    return Enum(value);
  }

 private:
  void need(std::size_t count) const {
    if (count > remaining()) throw BadInput("expected more numbers, found the end of the step");
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
};

/// Reads one record, whose checksum is right.
template <typename Scalar>
class StepReader {
 public:
  explicit StepReader(std::string_view record) : in_(record.substr(0, record.size() - 8)) {}

  RecordedStep<Scalar> read() {
    in_.skip(16);
    step_.number = in_.get<std::uint64_t>();
    step_.kind = RecordKind(in_.get<std::uint32_t>());
    in_.skip(4);
    read_solver();
    read_report();
    for (std::uint64_t& count : counts_) {
      count = in_.get<std::uint64_t>();
      // Numbers that are not in the record do not get memory.
      if (step_.kind != RecordKind::left_out && count > in_.remaining()) {
        throw BadInput("expected counts that fit the length of the step, got " +
                       std::to_string(count));
      }
    }
    if (step_.kind == RecordKind::left_out) return std::move(step_);
    read_tables();
    read_numbers();
    read_vector(step_.guess, counts_[5]);
    in_.skip_fill();
    read_vector(step_.velocity, counts_[6]);
    read_vector(step_.impulse, counts_[7]);
    return std::move(step_);
  }

 private:
  struct Block {
    std::uint32_t bodies[2];
    std::uint32_t word;
  };
  using RowMajor = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  void read_solver() {
    RecordedSolver& solver = step_.solver;
    solver.kind = in_.get_enum(RecordedSolverKind::chained, "solver");
    solver.law = in_.get_enum(FrictionLaw::convex, "law");
    solver.method = in_.get_enum(ContactMethod::proximal, "method");
    solver.order = in_.get<std::uint32_t>();
    solver.iteration_limit = in_.get<std::int32_t>();
    solver.solve_limit = in_.get<std::int32_t>();
    solver.least_sweeps = in_.get<std::int32_t>();
    solver.has_deadline = in_.get<std::int32_t>() != 0;
    solver.sweeps = in_.get<std::int32_t>();
    solver.visits_to_sleep = in_.get<std::int32_t>();
    solver.small_contact_limit = in_.get<std::int32_t>();
    in_.skip(4);
    solver.tolerance = in_.get<double>();
    solver.line_search_tolerance = in_.get<double>();
    solver.factor_work_limit = in_.get<double>();
    solver.relaxation = in_.get<double>();
  }
  void read_report() {
    SolveReport<Scalar>& report = step_.report;
    report.status = in_.get_enum(SolveStatus::not_finite, "status");
    report.measure = in_.get_enum(ResidualMeasure::own, "measure");
    report.iterations = in_.get<std::int32_t>();
    step_.guess_kind = in_.get_enum(GuessKind::impulse_and_velocity, "guess");
    report.worst_block = Index(in_.get<std::int64_t>());
    report.residual = Scalar(in_.get<double>());
    report.residual_target = Scalar(in_.get<double>());
    report.error_bound = Scalar(in_.get<double>());
    report.deepest_overlap = Scalar(in_.get<double>());
    step_.answer_hash = in_.get<std::uint64_t>();
  }
  void read_tables() {
    bodies_.resize(std::size_t(counts_[0]));
    for (std::uint32_t& body : bodies_) body = in_.get<std::uint32_t>();
    in_.skip_fill();
    blocks_.resize(std::size_t(counts_[1]));
    for (Block& block : blocks_) {
      for (std::uint32_t& body : block.bodies) body = in_.get<std::uint32_t>();
      block.word = in_.get<std::uint32_t>();
    }
    in_.skip_fill();
  }
  void read_numbers() {
    const auto time_step = in_.get<Scalar>();
    if (!(time_step > 0) || !carom::detail::is_finite(time_step)) {
      throw BadInput(carom::detail::fault("time step", "a finite number > 0", time_step));
    }
    step_.problem.reset(time_step);
    VectorX<Scalar> free;
    read_vector(free, counts_[2]);
    Index start = 0;
    for (const std::uint32_t word : bodies_) {
      const auto size = Index(word & ~ProblemWords::diagonal);
      if (size > free.size() - start) {
        throw BadInput("expected free velocities of all bodies, got " + std::to_string(counts_[2]));
      }
      read_body(size, (word & ProblemWords::diagonal) != 0, free.segment(start, size));
      start += size;
    }
    if (start != free.size()) {
      throw BadInput("expected bodies of all free velocities, got " + std::to_string(start));
    }
    for (const Block& block : blocks_) read_block(block);
    if (step_.problem.impulse_count() != Index(counts_[3])) {
      throw BadInput("expected the count of impulses of the blocks, got " +
                     std::to_string(counts_[3]));
    }
  }
  void read_body(Index size, bool diagonal, const VectorX<Scalar>& free_velocity) {
    const auto room = Index(in_.remaining() / sizeof(Scalar));
    if (diagonal ? size > room : size > 0 && (size + 1) / 2 > room / size) {
      throw BadInput("expected the numbers of all bodies, found the end of the step");
    }
    MatrixX<Scalar> matrix = MatrixX<Scalar>::Zero(size, size);
    for (Index c = 0; c < size; ++c) {
      const Index count = diagonal ? 1 : size - c;
      in_.get_all(&matrix(c, c), count);
      for (Index r = c + 1; r < c + count; ++r) matrix(c, r) = matrix(r, c);
    }
    refuse(step_.problem.check_body(matrix, free_velocity));
    step_.problem.add_body(matrix, free_velocity);
  }
  void read_block(const Block& block) {
    const auto shape = block.word >> 8 & 0xff;
    const int rows = int(block.word & 0xff);
    if (shape > std::uint32_t(ImpulseShape::spinless_rolling) || rows < 1 || rows > 6) {
      throw BadInput("block " + std::to_string(step_.problem.block_count()) +
                     ": expected a shape from 0 to 8 with 1 to 6 rows, got shape " +
                     std::to_string(shape) + " with " + std::to_string(rows));
    }
    const bool rigid = (block.word & ProblemWords::rigid) != 0;
    const bool overlap = (block.word & ProblemWords::overlap) != 0;
    if ((block.word & ProblemWords::friction_contact) != 0) {
      if (rows != 3) {
        throw BadInput("block " + std::to_string(step_.problem.block_count()) +
                       ": expected 3 rows of a friction contact, got " + std::to_string(rows));
      }
      add_block(block, 3, read_contact(rigid, overlap));
    } else {
      add_other(block, read_law(ImpulseShape(shape), rows, rigid, overlap));
    }
  }
  WeightedContact<Scalar> read_contact(bool rigid, bool overlap) {
    WeightedContact<Scalar> law{};
    law.friction = in_.get<Scalar>();
    law.regularization.tangent = in_.get<Scalar>();
    law.regularization.normal = in_.get<Scalar>();
    in_.get_all(law.bias_velocity.data(), 3);
    law.rigid = rigid;
    read_overlap(overlap, law);
    return law;
  }
  WeightedBlock<Scalar> read_law(ImpulseShape shape, int rows, bool rigid, bool overlap) {
    WeightedBlock<Scalar> law;
    law.set.shape = shape;
    law.set.rows = rows;
    in_.get_all(law.set.friction.data(), friction_count(shape));
    if (shape == ImpulseShape::intervals) {
      in_.get_all(law.set.lower.data(), rows);
      in_.get_all(law.set.upper.data(), rows);
    } else {
      in_.get_all(law.set.shift.data(), rows);
    }
    in_.get_all(law.regularization.data(), rows);
    in_.get_all(law.bias_velocity.data(), rows);
    law.rigid = rigid;
    read_overlap(overlap, law);
    return law;
  }
  void read_overlap(bool overlap, auto& law) {
    if (!overlap) return;
    law.overlap = in_.get<Scalar>();
    law.overlap_velocity = in_.get<Scalar>();
  }
  /// A block that was added with adhesion and lost it stays among the other blocks, and its answer
  /// has other last bits than that of a friction contact. So it is added in the same way.
  void add_other(const Block& block, const WeightedBlock<Scalar>& law) {
    WeightedBlock<Scalar> given = law;
    const bool lost = is_friction_contact(law);
    if (lost) given.set.shift(0) = 1;
    add_block(block, law.set.rows, given);
    if (lost) step_.problem.set_law(step_.problem.block_count() - 1, law);
  }
  template <typename Law>
  void add_block(const Block& block, int rows, const Law& law) {
    ContactProblem<Scalar>& problem = step_.problem;
    const auto [first, second] = block.bodies;
    first_jacobian_.resize(rows, body_size(first));
    in_.get_all(first_jacobian_.data(), first_jacobian_.size());
    if (second == ProblemWords::no_body) {
      refuse(problem.check_constraint(Index(first), first_jacobian_, law));
      problem.add_constraint(Index(first), first_jacobian_, law);
      return;
    }
    second_jacobian_.resize(rows, body_size(second));
    in_.get_all(second_jacobian_.data(), second_jacobian_.size());
    refuse(problem.check_constraint(Index(first), first_jacobian_, Index(second), second_jacobian_,
                                    law));
    problem.add_constraint(Index(first), first_jacobian_, Index(second), second_jacobian_, law);
  }
  [[nodiscard]] Index body_size(std::uint32_t body) const {
    if (Index(body) < step_.problem.body_count()) return step_.problem.body(Index(body)).size;
    throw BadInput("block " + std::to_string(step_.problem.block_count()) +
                   ": body: expected one of " + std::to_string(step_.problem.body_count()) +
                   " bodies, got " + std::to_string(body));
  }
  void read_vector(VectorX<Scalar>& vector, std::uint64_t count) {
    if (count > in_.remaining() / sizeof(Scalar)) in_.skip(in_.remaining() + 1);
    vector.resize(Index(count));
    in_.get_all(vector.data(), vector.size());
  }
  static void refuse(const Fault& fault) {
    if (!fault.empty()) throw BadInput(fault);
  }

  ByteReader in_;
  RecordedStep<Scalar> step_;
  std::uint64_t counts_[8]{};
  std::vector<std::uint32_t> bodies_;
  std::vector<Block> blocks_;
  RowMajor first_jacobian_, second_jacobian_;
};

}  // namespace detail

/// A recording of carom::Recorder: where its steps are, and what of the file is damaged. A cut or
/// damaged file is read as far as it holds.
class Recording {
 public:
  /// Where the record of a step is.
  struct Place {
    std::uint64_t number;
    std::size_t begin, size;
    carom::detail::RecordKind kind;
    int scalar_size;  ///< 4: float; 8: double.
  };
  /// Bytes that are no whole record.
  struct Scrap {
    std::size_t begin, size;
  };

  /// Finds the records in the bytes of a file. Throws BadInput if it is no recording.
  explicit Recording(std::string bytes) : bytes_(std::move(bytes)) {
    find_records(read_header());
    const auto before = [](const Place& a, const Place& b) {
      return a.number != b.number ? a.number < b.number : a.kind < b.kind;
    };
    std::sort(steps_.begin(), steps_.end(), before);
    const auto same = [](const Place& a, const Place& b) { return a.number == b.number; };
    steps_.erase(std::unique(steps_.begin(), steps_.end(), same), steps_.end());
  }

  /// The steps in their order, each once.
  [[nodiscard]] const std::vector<Place>& steps() const noexcept { return steps_; }
  /// The place of a step; null if it is not in the file.
  [[nodiscard]] const Place* find(std::uint64_t number) const noexcept {
    const auto at = std::lower_bound(steps_.begin(), steps_.end(), number,
                                     [](const Place& a, std::uint64_t n) { return a.number < n; });
    return at != steps_.end() && at->number == number ? &*at : nullptr;
  }
  /// Bytes that are no whole record, except those behind the newest one.
  [[nodiscard]] const std::vector<Scrap>& damage() const noexcept { return damage_; }
  /// Count of bytes behind the newest record that are no whole one: of a step whose writing was
  /// interrupted, or of an old one that is partly overwritten.
  [[nodiscard]] std::size_t unfinished_bytes() const noexcept { return unfinished_; }
  /// Count of steps between the first and the last one that are not in the file.
  [[nodiscard]] std::uint64_t missing_count() const noexcept {
    if (steps_.empty()) return 0;
    return steps_.back().number - steps_.front().number + 1 - steps_.size();
  }
  [[nodiscard]] bool header_holds() const noexcept { return header_holds_; }
  /// The build of the program that wrote the file; empty if the header is damaged.
  [[nodiscard]] const std::string& build() const noexcept { return build_; }

  /// Reads the numbers of a step. Throws BadInput, naming the step, if they are no problem.
  /// @pre  the step has numbers of this type.
  template <typename Scalar>
  [[nodiscard]] RecordedStep<Scalar> read(const Place& place) const {
    try {
      return detail::StepReader<Scalar>(record(place)).read();
    } catch (const BadInput& fault) {
      throw BadInput("step " + std::to_string(place.number) + ": " + fault.what());
    }
  }

 private:
  using Format = carom::detail::RecordingFormat;

  [[nodiscard]] std::string_view record(const Place& place) const noexcept {
    return std::string_view(bytes_).substr(place.begin, place.size);
  }
  /// Reads the header. @return  where the records begin.
  std::size_t read_header() {
    const std::string_view bytes = bytes_;
    if (!bytes.starts_with(Format::file_mark)) return 0;
    if (bytes.size() < Format::header_size) return bytes.size();
    detail::ByteReader in(bytes.substr(0, Format::header_size));
    in.skip(8);
    const auto version = in.get<std::uint32_t>();
    in.skip(12 + Format::build_size);
    const std::size_t hashed = in.position();
    header_holds_ = in.get<std::uint64_t>() == carom::detail::hash_words(bytes.data(), hashed);
    if (!header_holds_) return Format::header_size;
    if (version != Format::version) {
      throw BadInput("recording version: expected 1, got " + std::to_string(version) +
                     "; a later carom reads it");
    }
    build_ = std::string(bytes.substr(24, Format::build_size).data());
    return Format::header_size;
  }
  void find_records(std::size_t at) {
    const std::string_view bytes = bytes_;
    const bool known = bytes.starts_with(Format::file_mark);
    std::vector<Scrap> scraps;
    std::size_t newest_end = at;
    std::uint64_t newest = 0;
    const std::size_t first = at;
    std::size_t scrap = at;
    while (at < bytes.size()) {
      const std::size_t found = bytes.find(Format::step_mark, at);
      if (found == bytes.npos) break;
      Place place{};
      if (!is_record(found, place)) {
        at = found + 1;
        continue;
      }
      if (found > scrap) scraps.push_back({scrap, found - scrap});
      at = scrap = found + place.size;
      if (steps_.empty() || place.number >= newest) {
        newest = place.number;
        newest_end = at;
      }
      steps_.push_back(place);
    }
    // Zeros at the end are memory in which no record was written yet.
    if (bytes.find_first_not_of('\0', scrap) != bytes.npos) {
      scraps.push_back({scrap, bytes.size() - scrap});
    }
    if (!known && steps_.empty()) {
      throw BadInput("expected a recording, which starts with 'CAROMREC', got " +
                     std::string(bytes.empty() ? "an empty file" : "something else"));
    }
    if (steps_.empty()) newest_end = first;
    for (const Scrap& each : scraps) {
      if (each.begin == newest_end) {
        unfinished_ = each.size;
      } else {
        damage_.push_back(each);
      }
    }
  }
  /// Whether a whole record begins at a place.
  bool is_record(std::size_t begin, Place& place) const {
    const std::string_view rest = std::string_view(bytes_).substr(begin);
    if (rest.size() < Format::first_part + 8) return false;
    detail::ByteReader in(rest);
    in.skip(8);
    const auto size = in.get<std::uint64_t>();
    if (size > rest.size() || size % 8 != 0 || size < Format::first_part + 8) return false;
    place.number = in.get<std::uint64_t>();
    const auto kind = in.get<std::uint32_t>(), scalar_size = in.get<std::uint32_t>();
    if (kind < 1 || kind > 3 || (scalar_size != 4 && scalar_size != 8)) return false;
    place = {place.number, begin, std::size_t(size), carom::detail::RecordKind(kind),
             int(scalar_size)};
    detail::ByteReader tail(rest.substr(place.size - 8));
    return tail.get<std::uint64_t>() == carom::detail::hash_words(rest.data(), place.size - 8);
  }

  std::string bytes_;
  std::vector<Place> steps_;
  std::vector<Scrap> damage_;
  std::size_t unfinished_ = 0;
  bool header_holds_ = false;
  std::string build_;
};

/// Whether the bytes begin as a recording.
[[nodiscard]] inline bool is_recording(std::string_view bytes) noexcept {
  return bytes.starts_with(carom::detail::RecordingFormat::file_mark);
}

/// Reads a recording from a file. Throws BadInput, starting with the path.
[[nodiscard]] inline Recording read_recording(const std::string& path) {
  std::string bytes = read_file(path);
  try {
    return Recording(std::move(bytes));
  } catch (const BadInput& fault) {
    throw BadInput(path + ": " + fault.what());
  }
}

}  // namespace carom::files
