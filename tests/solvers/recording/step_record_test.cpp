// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/recording/step_record.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.hpp"
#include "support/constrained_problem.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace step_record_test {

using carom::ContactProblem, carom::Index, carom::SolveReport, carom::VectorX;
using carom::detail::GuessKind, carom::detail::RecordedSolver, carom::detail::RecordedSolverKind;
using carom::detail::RecordingFormat, carom::detail::RecordKind, carom::detail::StepBytes;
using carom::detail::StepRecord;
using carom::testing::build, carom::testing::draw_constrained, carom::testing::VectorSource;
using carom::testing::WorstCase;

namespace {

using Bytes = std::vector<unsigned char>;

[[nodiscard]] Bytes bytes_of(const StepRecord& record) {
  return {record.data(), record.data() + record.size()};
}

// --- what docs/file_formats.md says, read from there and not from the header ---

[[nodiscard]] std::uint64_t integer_at(const Bytes& bytes, std::size_t at, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t k = size; k-- > 0;) number = number * 256 + bytes[at + k];
  return number;
}
[[nodiscard]] double double_at(const Bytes& bytes, std::size_t at) {
  return std::bit_cast<double>(integer_at(bytes, at, 8));
}
/// The checksum of bytes [begin, end).
[[nodiscard]] std::uint64_t checksum(const Bytes& bytes, std::size_t begin, std::size_t end) {
  const std::uint64_t factor = 11400714819323198485ULL;
  std::uint64_t lanes[4] = {1, 2, 3, 4};
  for (std::size_t word = 0; begin + 8 * word < end; ++word) {
    std::uint64_t& h = lanes[word % 4];
    h ^= integer_at(bytes, begin + 8 * word, 8);
    h = ((h << 29) | (h >> 35)) * factor;
  }
  std::uint64_t s = end - begin;
  for (const std::uint64_t h : lanes) {
    s = (s ^ h) * factor;
    s ^= s >> 32;
  }
  return s;
}
/// Whether bytes are a whole record.
[[nodiscard]] bool is_whole(const Bytes& bytes) {
  if (bytes.size() < 248 || bytes.size() % 8 != 0) return false;
  if (std::memcmp(bytes.data(), "CAROMSTP", 8) != 0) return false;
  if (integer_at(bytes, 8, 8) != bytes.size()) return false;
  return integer_at(bytes, bytes.size() - 8, 8) == checksum(bytes, 0, bytes.size() - 8);
}

/// Reads numbers of a type one after the other.
template <typename Scalar>
struct Reals {
  const Bytes& bytes;
  std::size_t at;

  [[nodiscard]] double next() {
    Scalar number;
    std::memcpy(&number, bytes.data() + at, sizeof number);  // this machine's lowest byte is first
    at += sizeof number;
    return double(number);
  }
};

/// A problem of blocks of every shape, with its answer.
template <typename Scalar>
struct Step {
  ContactProblem<Scalar> problem;
  VectorX<Scalar> guess, velocity, impulse;
  RecordedSolver solver;
  SolveReport<Scalar> report;

  explicit Step(std::uint32_t seed, const std::vector<int>& sizes = {1, 3, 6, 2}, int blocks = 7)
      : problem(Scalar(0.01)) {
    VectorSource<double> source(seed);
    if (!sizes.empty()) problem = build<Scalar>(draw_constrained(source, sizes, blocks));
    const auto draw = [&](Index size) {
      VectorX<Scalar> numbers(size);
      for (Index i = 0; i < size; ++i) numbers(i) = Scalar(source.entry(30));
      return numbers;
    };
    guess = draw(problem.velocity_count());
    velocity = draw(problem.velocity_count());
    impulse = draw(problem.impulse_count());
    solver.kind = RecordedSolverKind::sap;
    solver.sweeps = int(seed);
    report.status = carom::SolveStatus::deadline;
    report.measure = carom::ResidualMeasure::block_error;
    report.iterations = -5;
    report.worst_block = -1;
    report.residual = Scalar(0.1);
    report.residual_target = std::numeric_limits<Scalar>::denorm_min();
    report.error_bound = std::numeric_limits<Scalar>::infinity();
    report.deepest_overlap = Scalar(-0.0);
  }
  [[nodiscard]] bool begin(StepRecord& record, std::uint64_t number,
                           GuessKind kind = GuessKind::velocity) const {
    return record.begin(number, solver, problem, kind, guess);
  }
  [[nodiscard]] bool end(StepRecord& record) const { return record.end(report, velocity, impulse); }
  [[nodiscard]] Bytes bytes(std::uint64_t number) const {
    StepRecord record;
    CHECK(begin(record, number));
    CHECK(end(record));
    return bytes_of(record);
  }
  [[nodiscard]] std::size_t answer_size() const {
    const auto bytes = std::size_t(velocity.size() + impulse.size()) * sizeof(Scalar);
    return (bytes + 7) / 8 * 8;
  }
};

/// Steps without bodies, without blocks, and with few and many.
template <typename Scalar>
[[nodiscard]] std::vector<Step<Scalar>> some_steps() {
  std::vector<Step<Scalar>> steps;
  steps.emplace_back(1, std::vector<int>{});
  steps.emplace_back(2, std::vector<int>{1}, 0);
  steps.emplace_back(3, std::vector<int>{6, 6}, 1);
  for (std::uint32_t seed = 4; seed < 10; ++seed) steps.emplace_back(seed);
  return steps;
}

}  // namespace

TEMPLATE_TEST_CASE("step_record: numbers stand where the description of the format says",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  const auto same = [](double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  };
  std::uint64_t number = std::uint64_t(1) << 63;
  for (const Step<Scalar>& step : some_steps<Scalar>()) {
    for (const GuessKind kind : {GuessKind::velocity, GuessKind::impulse_and_velocity}) {
      StepRecord record;
      REQUIRE(step.begin(record, ++number, kind));
      REQUIRE(step.end(record));
      const Bytes bytes = bytes_of(record);
      REQUIRE(is_whole(bytes));
      CHECK(integer_at(bytes, 16, 8) == number);
      CHECK(integer_at(bytes, 24, 4) == 1);
      CHECK(integer_at(bytes, 28, 4) == sizeof(Scalar));
      CHECK(integer_at(bytes, 32, 4) == std::uint64_t(step.solver.kind));
      CHECK(integer_at(bytes, 64, 4) == std::uint64_t(step.solver.sweeps));
      CHECK(integer_at(bytes, 112, 4) == std::uint64_t(step.report.status));
      CHECK(integer_at(bytes, 116, 4) == std::uint64_t(step.report.measure));
      CHECK(std::int32_t(integer_at(bytes, 120, 4)) == -5);
      CHECK(integer_at(bytes, 124, 4) == std::uint64_t(kind));
      CHECK(std::int64_t(integer_at(bytes, 128, 8)) == -1);
      CHECK(same(double_at(bytes, 136), double(step.report.residual)));
      CHECK(same(double_at(bytes, 144), double(step.report.residual_target)));
      CHECK(same(double_at(bytes, 152), double(step.report.error_bound)));
      CHECK(same(double_at(bytes, 160), -0.0));
      const std::size_t answer_at = bytes.size() - 8 - step.answer_size();
      CHECK(integer_at(bytes, 168, 8) == checksum(bytes, answer_at, bytes.size() - 8));
      const Index counts[] = {
          step.problem.body_count(),    step.problem.block_count(), step.problem.velocity_count(),
          step.problem.impulse_count(), step.guess.size(),          step.velocity.size(),
          step.impulse.size()};
      for (std::size_t k = 0; k < 7; ++k) {
        CHECK(integer_at(bytes, 176 + 8 * (k < 4 ? k : k + 1), 8) == std::uint64_t(counts[k]));
      }
      const auto tables = std::size_t(240) +
                          (4 * std::size_t(step.problem.body_count()) + 7) / 8 * 8 +
                          (12 * std::size_t(step.problem.block_count()) + 7) / 8 * 8;
      const std::size_t numbers = integer_at(bytes, 208, 8);
      Reals<Scalar> reals{bytes, tables};
      CHECK(same(reals.next(), double(step.problem.time_step())));
      bool all = true;
      for (const Scalar& v : step.problem.free_velocity()) all = all && same(reals.next(), v);
      Reals<Scalar> guess{bytes, tables + numbers * sizeof(Scalar)};
      for (const Scalar& v : step.guess) all = all && same(guess.next(), v);
      CHECK((guess.at + 7) / 8 * 8 == answer_at);
      for (; guess.at < answer_at; ++guess.at) all = all && bytes[guess.at] == 0;
      Reals<Scalar> answer{bytes, answer_at};
      for (const Scalar& v : step.velocity) all = all && same(answer.next(), v);
      for (const Scalar& v : step.impulse) all = all && same(answer.next(), v);
      for (; answer.at < bytes.size() - 8; ++answer.at) all = all && bytes[answer.at] == 0;
      CHECK(all);
    }
  }
}

TEMPLATE_TEST_CASE("step_record: before the answer it is a whole record too, and the same bytes",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  StepRecord record;
  for (const Step<Scalar>& step : some_steps<Scalar>()) {
    REQUIRE(step.begin(record, 77));
    record.close_begun();
    const Bytes begun = bytes_of(record);
    CHECK(is_whole(begun));
    CHECK(integer_at(begun, 24, 4) == 2);
    CHECK(integer_at(begun, 224, 8) == 0);
    CHECK(integer_at(begun, 232, 8) == 0);
    CHECK(integer_at(begun, 168, 8) == 0);
    REQUIRE(step.end(record));
    const Bytes ended = bytes_of(record);
    CHECK(ended.size() == begun.size() + step.answer_size());
    // Between the counts and the checksum nothing changes; of the first part, what is not known.
    CHECK(std::equal(begun.begin() + 240, begun.end() - 8, ended.begin() + 240));
    CHECK(std::equal(begun.begin() + 28, begun.begin() + 112, ended.begin() + 28));
    CHECK(std::equal(begun.begin() + 176, begun.begin() + 224, ended.begin() + 176));
  }
}

TEST_CASE("step_record: a record cut or altered at any byte is whole no more", "[solvers][law]") {
  WorstCase cut("a part of a record"), altered("a byte of another value");
  for (const Step<double>& step : {Step<double>(3, {1, 2}, 2), Step<double>(4, {2}, 0)}) {
    const Bytes bytes = step.bytes(5);
    REQUIRE(is_whole(bytes));
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      cut.see_holds(!is_whole({bytes.begin(), bytes.begin() + std::ptrdiff_t(size)}), int(size));
    }
    for (std::size_t k = 0; k < bytes.size(); ++k) {
      for (const int change : {1, 128, 255}) {
        Bytes other = bytes;
        other[k] = static_cast<unsigned char>(other[k] ^ change);
        altered.see_holds(!is_whole(other), int(k), change);
      }
    }
  }
  cut.check(1000);
  altered.check(3000);
}

TEST_CASE("step_record: it does not depend on what was recorded before", "[solvers][law]") {
  // Steps that grow and shrink, of both types, some without an end, in the same memory.
  StepRecord used;
  std::uint64_t number = 0;
  for (int round = 0; round < 2; ++round) {
    for (const Step<double>& step : some_steps<double>()) {
      const Step<float> other(std::uint32_t(20 + round), {6, 6, 6}, 9);
      REQUIRE(other.begin(used, 1000));
      if (round == 1) REQUIRE(other.end(used));
      REQUIRE(step.begin(used, ++number));
      REQUIRE(step.end(used));
      CHECK(bytes_of(used) == step.bytes(number));
    }
  }
}

TEST_CASE("step_record: an answer belongs to one beginning", "[solvers][example]") {
  const Step<double> step(5);
  StepRecord record;
  CHECK(record.size() == 0);
  CHECK_FALSE(step.end(record));
  REQUIRE(step.begin(record, 1));
  CHECK(step.end(record));
  const Bytes bytes = bytes_of(record);
  CHECK_FALSE(step.end(record));
  CHECK(bytes_of(record) == bytes);
  // A solve that threw has no end; the next step begins as if it had not been.
  REQUIRE(Step<double>(6).begin(record, 2));
  REQUIRE(step.begin(record, 1));
  CHECK(step.end(record));
  CHECK(bytes_of(record) == bytes);
}

TEMPLATE_TEST_CASE("step_record: what is left out leaves its first part", "[solvers][example]",
                   float, double) {
  const Step<TestType> step(7);
  StepRecord record;
  for (const bool ended : {false, true}) {
    REQUIRE(step.begin(record, 9));
    if (ended) {
      REQUIRE(step.end(record));
    } else {
      record.close_begun();
    }
    const Bytes before = bytes_of(record);
    record.leave_out();
    const Bytes left = bytes_of(record);
    CHECK(left.size() == 248);
    CHECK(is_whole(left));
    CHECK(integer_at(left, 24, 4) == 3);
    CHECK(std::equal(left.begin() + 28, left.begin() + 240, before.begin() + 28));
    CHECK(std::equal(left.begin() + 16, left.begin() + 24, before.begin() + 16));
  }
}

TEST_CASE("step_record: guesses and answers may be expressions and parts of vectors",
          "[solvers][example]") {
  const Step<float> step(8);
  StepRecord record, other;
  const VectorX<float> half = step.guess / 2;
  VectorX<float> around = VectorX<float>::Constant(step.velocity.size() + 7, 3);
  around.segment(4, step.velocity.size()) = step.velocity;
  REQUIRE(record.begin(1, step.solver, step.problem, GuessKind::impulse, half + half));
  REQUIRE(record.end(step.report, around.segment(4, step.velocity.size()),
                     Eigen::Map<const VectorX<float>>(step.impulse.data(), step.impulse.size())));
  REQUIRE(step.begin(other, 1, GuessKind::impulse));
  REQUIRE(step.end(other));
  CHECK(bytes_of(record) == bytes_of(other));
  // Of other sizes than the problem's, as of a solver that gave up.
  REQUIRE(record.begin(1, step.solver, step.problem, GuessKind::impulse, VectorX<float>()));
  REQUIRE(record.end(step.report, VectorX<float>(), VectorX<float>::Zero(1).eval()));
  const Bytes bytes = bytes_of(record);
  CHECK(is_whole(bytes));
  CHECK(integer_at(bytes, 216, 8) == 0);
  CHECK(integer_at(bytes, 224, 8) == 0);
  CHECK(integer_at(bytes, 232, 8) == 1);
}

TEST_CASE("step_record: memory grows by half, and keeps what it has", "[solvers][law]") {
  StepBytes bytes;
  CHECK(bytes.data() == nullptr);
  CHECK(bytes.reserve(0, 0));
  CHECK(bytes.data() == nullptr);
  const auto byte = [](std::size_t k) { return static_cast<unsigned char>(k * 7 + k / 251); };
  std::size_t size = 0, room = 0;
  int moves = 0;
  for (std::size_t wanted = 1; wanted < 20000; wanted += wanted / 5 + 1) {
    const bool grows = wanted > room;
    const unsigned char* const before = bytes.data();
    REQUIRE(bytes.reserve(wanted, size));
    CHECK((bytes.data() != before) == grows);
    moves += grows;
    if (grows) room = wanted + wanted / 2;
    bool kept = true;
    for (std::size_t k = 0; k < size; ++k) kept = kept && bytes.data()[k] == byte(k);
    CHECK(kept);
    for (; size < wanted; ++size) bytes.data()[size] = byte(size);
    const unsigned char* const now = bytes.data();
    CHECK(bytes.reserve(1, 0));  // fewer bytes move nothing
    CHECK(bytes.data() == now);
  }
  CHECK(moves > 5);
}

TEST_CASE("step_record: the header of a recording says what the format asks for",
          "[solvers][oracle]") {
  for (const std::size_t capacity : {std::size_t(4096), std::size_t(0x0102030405060708)}) {
    const carom::detail::RecordingHeader header(capacity);
    const Bytes bytes(header.data(), header.data() + header.size());
    REQUIRE(bytes.size() == 128);
    CHECK(std::memcmp(bytes.data(), "CAROMREC", 8) == 0);
    CHECK(integer_at(bytes, 8, 4) == 1);
    CHECK(integer_at(bytes, 12, 4) == 128);
    CHECK(integer_at(bytes, 16, 8) == capacity);
    const std::string_view build(reinterpret_cast<const char*>(bytes.data()) + 24, 96);
    CHECK(build.starts_with("carom " CAROM_VERSION_STRING "; "));
    CHECK(build[95] == '\0');
    const std::size_t end = build.find('\0');
    CHECK(build.substr(0, end).find(carom::detail::compiler_name().substr(0, 5)) !=
          std::string_view::npos);
    CHECK(build.find_first_not_of('\0', end) == std::string_view::npos);
    CHECK(integer_at(bytes, 120, 8) == checksum(bytes, 0, 120));
  }
}

}  // namespace step_record_test
