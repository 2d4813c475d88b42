// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/recorder.hpp"

#include <cstddef>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include <benchmark/benchmark.h>

#include "carom/solvers/contact_solver.hpp"

#include "scenes/pile.hpp"
#include "solvers/timing.hpp"

namespace {

using carom::Index;
using carom::benchmarks::middle;
using carom::benchmarks::seconds_of;

/// The smallest heap with at least so many contacts.
carom::examples::Pile heap_of(Index contacts) {
  Index bodies = 1;
  auto pile = carom::examples::make_pile({.body_count = bodies});
  while (pile.problem.block_count() < contacts) {
    bodies += 1 + (contacts - pile.problem.block_count()) / 8;
    pile = carom::examples::make_pile({.body_count = bodies});
  }
  return pile;
}

/// Builds the problem of a step anew, as a simulator does, with other free velocities.
/// @param stir  relative change of the free velocities.
void assemble(const carom::ContactProblem<double>& from, double stir,
              carom::ContactProblem<double>& problem) {
  problem.reset(from.time_step());
  for (Index b = 0; b < from.body_count(); ++b) {
    const auto [start, size] = from.body(b);
    problem.add_body(from.momentum_matrix(b),
                     from.free_velocity().segment(start, size) * (1 + stir * double(b % 7 - 3)));
  }
  for (Index i = 0; i < from.block_count(); ++i) {
    const auto& law = from.friction_contact_law(i);
    if (from.side_count(i) == 1) {
      problem.add_contact(from.side_body(i, 0), from.jacobian(i, 0), law);
    } else {
      problem.add_contact(from.side_body(i, 0), from.jacobian(i, 0), from.side_body(i, 1),
                          from.jacobian(i, 1), law);
    }
  }
}

enum class Place { file, mapped_file };

/// A new file whose bytes are memory of the program.
class MappedFile {
 public:
  MappedFile(const std::string& path, std::size_t size) : size_(size) {
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || ftruncate(file, off_t(size)) != 0) std::abort();
    memory_ = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory_ == MAP_FAILED) std::abort();
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() { munmap(memory_, size_); }

  [[nodiscard]] std::span<std::byte> memory() const {
    return {static_cast<std::byte*>(memory_), size_};
  }

 private:
  void* memory_;
  std::size_t size_;
};

/// Steps of a heap under Coulomb's law: the problem is built, solved and recorded. Counters: the
/// median time of recording relative to that of the rest, both medians, and the bytes of a step.
/// @param warm  whether a solve begins with the impulses of the step before.
void record_step(benchmark::State& state, bool rigid, bool warm, Place place) {
  auto pile = heap_of(state.range(0));
  if (rigid) pile.problem.make_rigid();
  const auto path = std::filesystem::temp_directory_path() / "carom_recorder_bench.carom-record";
  std::optional<MappedFile> mapped;
  if (place == Place::mapped_file) mapped.emplace(path.string(), std::size_t(64) << 20);
  carom::Recorder recorder =
      mapped ? carom::Recorder(mapped->memory()) : carom::Recorder(path.string());
  carom::ContactSolver<double> solver;
  carom::ContactProblem<double> problem(pile.problem.time_step());
  Eigen::VectorXd velocity;
  std::vector<double> steps, recordings;
  for (auto _ : state) {
    velocity = pile.guess;
    const double stir = 1e-3 * double(steps.size() % 5);
    const bool known = warm && !steps.empty();
    carom::SolveReport<double> report;
    const double built = seconds_of([&] { assemble(pile.problem, stir, problem); });
    const double begun = seconds_of([&] {
      if (known) return recorder.begin_from(solver, problem, solver.impulse());
      recorder.begin(solver, problem, velocity);
    });
    const double solved = seconds_of([&] {
      report = known ? solver.solve_from(problem, solver.impulse(), velocity)
                     : solver.solve(problem, velocity);
    });
    const double ended = seconds_of([&] { recorder.end(report, velocity, solver.impulse()); });
    steps.push_back(built + solved);
    recordings.push_back(begun + ended);
  }
  const auto count = double(recorder.step_count());
  recorder.close();
  const auto bytes = double(std::filesystem::file_size(path));
  std::filesystem::remove(path);
  const double step = middle(steps), recording = middle(recordings);
  state.counters["share"] = recording / step;
  state.counters["step_us"] = 1e6 * step;
  state.counters["recording_us"] = 1e6 * recording;
  // While the file is not full.
  if (place == Place::file) state.counters["file_bytes_per_step"] = bytes / count;
  state.counters["contacts"] = double(pile.problem.block_count());
}

BENCHMARK_CAPTURE(record_step, compliant, false, false, Place::file)
    ->Arg(1)
    ->Arg(10)
    ->Arg(100)
    ->Arg(1000);
BENCHMARK_CAPTURE(record_step, compliant_warm, false, true, Place::file)
    ->Arg(1)
    ->Arg(10)
    ->Arg(100)
    ->Arg(1000);
BENCHMARK_CAPTURE(record_step, rigid, true, false, Place::file)
    ->Arg(1)
    ->Arg(10)
    ->Arg(100)
    ->Arg(1000);
BENCHMARK_CAPTURE(record_step, rigid_warm, true, true, Place::file)
    ->Arg(1)
    ->Arg(10)
    ->Arg(100)
    ->Arg(1000);
BENCHMARK_CAPTURE(record_step, compliant_mapped, false, false, Place::mapped_file)
    ->Arg(1)
    ->Arg(10)
    ->Arg(100)
    ->Arg(1000);
BENCHMARK_CAPTURE(record_step, rigid_mapped, true, false, Place::mapped_file)
    ->Arg(1)
    ->Arg(10)
    ->Arg(100)
    ->Arg(1000);

}  // namespace
