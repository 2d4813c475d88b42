// SPDX-License-Identifier: BSD-3-Clause
#include "io/recording.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#if defined(__unix__)
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "carom/solvers/contact_solver.hpp"

#include "support/catch.hpp"
#include "support/constrained_problem.hpp"
#include "support/problem_bits.hpp"
#include "support/recording_file.hpp"

#include "io/text_problem.hpp"

namespace recording_test {

using carom::ContactProblem;
using carom::ContactSolver;
using carom::Index;
using carom::Recorder;
using carom::RecorderOptions;
using carom::detail::RecordingFormat;
using carom::files::BadInput;
using carom::files::RecordedStep;
using carom::files::Recording;
using carom::testing::bits_of;
using carom::testing::RecordingFile;

namespace {

ContactProblem<double> draw(std::uint32_t seed) {
  carom::testing::VectorSource<double> source(seed);
  return carom::testing::build(carom::testing::draw_constrained(source, {1, 2}, 2));
}

/// Records steps with the numbers [0, count).
void record(Recorder& recorder, int count) {
  ContactSolver<double> solver;
  for (int i = 0; i < count; ++i) {
    const auto problem = draw(std::uint32_t(i));
    Eigen::VectorXd velocity = problem.free_velocity();
    static_cast<void>(recorder.solve(solver, problem, velocity));
  }
}

std::string recorded_bytes(int count, const RecorderOptions& options = {}) {
  const RecordingFile file("recording_bytes");
  Recorder recorder(file.path(), options);
  record(recorder, count);
  return file.bytes();
}

std::vector<std::uint64_t> numbers_of(const Recording& recording) {
  std::vector<std::uint64_t> numbers;
  for (const auto& place : recording.steps()) numbers.push_back(place.number);
  return numbers;
}

/// Whether the places of a recording are, in their order, those of the whole file that pass.
template <typename Pass>
bool has_places(const Recording& recording, const Recording& whole, const Pass& pass) {
  std::vector<Recording::Place> expected;
  for (const auto& place : whole.steps()) {
    if (pass(place)) expected.push_back(place);
  }
  const auto same = [](const Recording::Place& a, const Recording::Place& b) {
    return a.number == b.number && a.begin == b.begin && a.size == b.size && a.kind == b.kind;
  };
  return std::equal(expected.begin(), expected.end(), recording.steps().begin(),
                    recording.steps().end(), same);
}

/// Whether a step of a file is the one that record() makes.
bool is_right(const Recording& recording, const Recording::Place& place) {
  const RecordedStep<double> step = recording.read<double>(place);
  return bits_of(step.problem) == bits_of(draw(std::uint32_t(place.number)));
}

std::string fault_of(const auto& action) {
  try {
    action();
  } catch (const BadInput& fault) {
    return fault.what();
  }
  return {};
}

/// Bytes with one number of 32 or 64 bits replaced and the checksum of the record renewed: what
/// only another program can write.
template <typename Number>
std::string forged(std::string bytes, const Recording::Place& place, std::size_t at,
                   Number number) {
  std::string record = bytes.substr(place.begin, place.size);
  std::memcpy(record.data() + at, &number, sizeof number);
  const std::uint64_t hash = carom::detail::hash_words(record.data(), record.size() - 8);
  std::memcpy(record.data() + record.size() - 8, &hash, 8);
  return bytes.replace(place.begin, place.size, record);
}

}  // namespace

TEST_CASE("recording: a file cut at any byte gives all steps that are whole", "[io][law]") {
  const std::string bytes = recorded_bytes(4);
  const Recording whole(bytes);
  REQUIRE(whole.steps().size() == 4);
  for (const auto& place : whole.steps()) CHECK(is_right(whole, place));
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    CAPTURE(size);
    const std::string cut = bytes.substr(0, size);
    if (size < 8) {
      CHECK(!fault_of([&] { Recording recording(cut); }).empty());
      continue;
    }
    const Recording recording(cut);
    std::size_t end = RecordingFormat::header_size;
    REQUIRE(has_places(recording, whole, [&](const Recording::Place& place) {
      const bool fits = place.begin + place.size <= size;
      if (fits) end = place.begin + place.size;
      return fits;
    }));
    const bool damaged = !recording.damage().empty() ||
                         recording.header_holds() != (size >= RecordingFormat::header_size) ||
                         recording.unfinished_bytes() != (size > end ? size - end : 0);
    REQUIRE(!damaged);
  }
}

TEST_CASE("recording: an altered byte costs its step and no other", "[io][law]") {
  const std::string bytes = recorded_bytes(3);
  const Recording whole(bytes);
  REQUIRE(whole.steps().size() == 3);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    CAPTURE(at);
    for (const int bit : {0, 7}) {
      std::string altered = bytes;
      altered[at] = char(altered[at] ^ (1 << bit));
      const Recording recording(altered);
      REQUIRE(has_places(recording, whole, [&](const Recording::Place& place) {
        return at < place.begin || at >= place.begin + place.size;
      }));
      REQUIRE(recording.header_holds() == (at >= RecordingFormat::header_size));
      if (at % 64 != 0) continue;
      for (const auto& place : recording.steps()) CHECK(is_right(recording, place));
    }
  }
}

TEST_CASE("recording: a hole and inserted bytes cost the steps that they touch", "[io][law]") {
  const std::string bytes = recorded_bytes(9);
  const Recording whole(bytes);
  const auto& places = whole.steps();
  std::string hole = bytes;
  const std::size_t begin = places[2].begin + 16, end = places[5].begin + 16;
  std::fill(hole.begin() + std::ptrdiff_t(begin), hole.begin() + std::ptrdiff_t(end), '\0');
  const Recording holed(hole);
  CHECK(numbers_of(holed) == std::vector<std::uint64_t>{0, 1, 6, 7, 8});
  CHECK(holed.missing_count() == 4);
  REQUIRE(holed.damage().size() == 1);
  CHECK(holed.damage()[0].begin == places[2].begin);
  CHECK(holed.damage()[0].size == places[6].begin - places[2].begin);
  std::string longer = bytes;
  longer.insert(places[4].begin + 21, "xyz");  // what follows is no longer aligned
  CHECK(numbers_of(Recording(longer)) == std::vector<std::uint64_t>{0, 1, 2, 3, 5, 6, 7, 8});
  std::string shorter = bytes;
  shorter.erase(places[4].begin + 21, 5);
  CHECK(numbers_of(Recording(shorter)) == std::vector<std::uint64_t>{0, 1, 2, 3, 5, 6, 7, 8});
  // The steps are found also without the header.
  const Recording beheaded(bytes.substr(places[0].begin));
  CHECK(numbers_of(beheaded) == numbers_of(whole));
  CHECK(!beheaded.header_holds());
}

TEST_CASE("recording: steps of a ring cut at any byte are those that hold, in their order",
          "[io][law]") {
  const std::string bytes = recorded_bytes(30, {.capacity = 4096});
  const Recording whole(bytes);
  REQUIRE(whole.steps().size() >= 2);
  CHECK(whole.steps().back().number == 29);
  CHECK(whole.steps().front().number > 0);
  for (std::size_t size = RecordingFormat::header_size; size <= bytes.size(); size += 1) {
    CAPTURE(size);
    const Recording recording(bytes.substr(0, size));
    REQUIRE(has_places(recording, whole, [&](const Recording::Place& place) {
      return place.begin + place.size <= size;
    }));
  }
}

TEST_CASE("recording: other files are refused with a sentence", "[io][input]") {
  const auto fault = [](const std::string& bytes) {
    return fault_of([&] { Recording recording(bytes); });
  };
  CHECK(fault("") == "expected a recording, which starts with 'CAROMREC', got an empty file");
  const std::string other =
      "expected a recording, which starts with 'CAROMREC', got something else";
  CHECK(fault("carom-problem 1\ntime_step 0.01\nbodies 0\ncontacts 0\n") == other);
  CHECK(fault(std::string(5000, '\0')) == other);
  CHECK(fault("CAROMSTP CAROMSTP CAROMSTP" + std::string(1000, 'x')) == other);
  CHECK(Recording(recorded_bytes(0)).steps().empty());
  const std::string path = "/no/such/recording";
  CHECK(fault_of([&] { static_cast<void>(carom::files::read_recording(path)); }) ==
        path + ": expected a file that can be read, found none");
}

TEST_CASE("recording: a later version is refused, and not taken for damage", "[io][input]") {
  std::string bytes = recorded_bytes(1);
  bytes[8] = 2;
  const std::uint64_t hash = carom::detail::hash_words(bytes.data(), 120);
  std::memcpy(bytes.data() + 120, &hash, 8);
  CHECK(fault_of([&] { Recording recording(bytes); }) ==
        "recording version: expected 1, got 2; a later carom reads it");
}

TEST_CASE("recording: numbers that are no problem are refused by step and item", "[io][input]") {
  const RecordingFile file("recording_forged");
  ContactProblem<double> problem(0.01);
  problem.add_body(2 * Eigen::Matrix3d::Identity(), Eigen::Vector3d(0, 0, -1));
  problem.add_contact(0, Eigen::Matrix3d::Identity(),
                      carom::CompliantContact<double>{.gap = 0, .friction = 0.5});
  {
    Recorder recorder(file.path());
    ContactSolver<double> solver;
    Eigen::VectorXd velocity = problem.free_velocity();
    static_cast<void>(recorder.solve(solver, problem, velocity));
  }
  const std::string bytes = file.bytes();
  const auto place = Recording(bytes).steps().at(0);
  const auto fault = [&](std::size_t at, auto number) {
    const Recording recording(forged(bytes, place, at, number));
    REQUIRE(recording.steps().size() == 1);
    return fault_of([&] { static_cast<void>(recording.read<double>(place)); });
  };
  const std::uint64_t huge = std::uint64_t(1) << 60;
  CHECK(fault(32, std::uint32_t(99)) == "step 0: solver: expected a number from 0 to 7, got 99");
  CHECK(fault(112, std::uint32_t(6)) == "step 0: status: expected a number from 0 to 5, got 6");
  for (std::size_t count = 0; count < 8; ++count) {
    CAPTURE(count);
    if (count == 4) continue;  // the count of numbers follows from the others
    CHECK(!fault(176 + 8 * count, huge).empty());
    CHECK(!fault(176 + 8 * count, ~std::uint64_t(0)).empty());
  }
  CHECK(fault(176, std::uint64_t(0)).find("step 0: ") == 0);
  const std::size_t tables = RecordingFormat::first_part, block = tables + 8;
  CHECK(!fault(tables, std::uint32_t(0)).empty());
  CHECK(!fault(tables, std::uint32_t(0x7fffffff)).empty());
  CHECK(!fault(tables, std::uint32_t(0xffffffff)).empty());
  CHECK(fault(block, std::uint32_t(1)) == "step 0: block 0: body: expected one of 1 bodies, got 1");
  CHECK(!fault(block + 4, std::uint32_t(0)).empty());
  CHECK(fault(block + 8, std::uint32_t(7)) ==
        "step 0: block 0: expected a shape from 0 to 8 with 1 to 6 rows, got shape 0 with 7");
  CHECK(fault(block + 8, std::uint32_t(9 << 8 | 3)) ==
        "step 0: block 0: expected a shape from 0 to 8 with 1 to 6 rows, got shape 9 with 3");
  const std::size_t numbers = block + 16;
  CHECK(fault(numbers, -1.0) == "step 0: time step: expected a finite number > 0, got -1");
  CHECK(fault(numbers + 8, std::nan("")) ==
        "step 0: body 0: free velocity entry 0: expected a finite number, got nan");
  CHECK(fault(numbers + 32, -2.0) ==
        "step 0: body 0: momentum matrix entry (0, 0): expected a number > 0, got -2");
  CHECK(fault(numbers + 56, -0.5).find("step 0: constraint 0: friction: expected") == 0);
}

#if defined(__unix__)
TEST_CASE("recording: a program that is killed loses at most the step that it writes",
          "[io][scene]") {
  for (const int steps : {1, 2, 5, 40}) {
    CAPTURE(steps);
    const RecordingFile file("recording_killed");
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      Recorder recorder(file.path(), {.capacity = 1 << 20});
      record(recorder, steps);
      _exit(1);  // no destructor runs, and nothing is flushed
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    const Recording recording = file.read();
    REQUIRE(recording.steps().size() == std::size_t(steps));
    for (const auto& place : recording.steps()) CHECK(is_right(recording, place));
    CHECK(recording.unfinished_bytes() == 0);
  }
}
#endif

TEST_CASE("recording: the file of version 1 of the repository is read", "[io][regression]") {
  const Recording recording = carom::files::read_recording(
      CAROM_SOURCE_DIR "/tests/golden/formats/0.2/replay_three_steps.carom-record");
  CHECK(recording.header_holds());
  REQUIRE(numbers_of(recording) == std::vector<std::uint64_t>{0, 1, 2});
  // Each problem stands beside it as text of the same numbers.
  for (const auto& place : recording.steps()) {
    CAPTURE(place.number);
    const auto text =
        carom::files::read_text_problem(CAROM_SOURCE_DIR "/tests/golden/formats/0.2/solve_step_" +
                                        std::to_string(place.number) + ".txt");
    if (place.scalar_size == 4) {
      CHECK(bits_of(recording.read<float>(place).problem) == bits_of(text.problem));
    } else {
      const auto step = recording.read<double>(place);
      CHECK(bits_of(step.problem) == bits_of(text.problem));
      CHECK(step.velocity.size() == text.problem.velocity_count());
      CHECK(step.impulse.size() == text.problem.impulse_count());
    }
  }
}

}  // namespace recording_test
