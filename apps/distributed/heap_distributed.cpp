// SPDX-License-Identifier: BSD-3-Clause
// Makes a heap on all ranks, each its own part, solves it and steps it in time.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <petscsys.h>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

#include "distributed/heap_run.hpp"

namespace {

using carom::Index;
using carom::distributed::HeapLaw;
using carom::distributed::HeapRun;

constexpr const char* usage =
    "usage: carom_heap_distributed --bodies N [--shape spheres|boxes|mixed] [--law "
    "convex|coulomb]\n"
    "         [--rigid] [--tolerance T] [--steps K] [--layers L] [--json]\n";

struct Arguments {
  carom::examples::PileShape shape;
  HeapLaw law;
  int steps = 1;
  bool json = false;
};

/// A number of an option in a range; throws std::invalid_argument.
template <typename Number>
Number read_number(const std::string& option, const char* text, Number least) {
  Number value{};
  const char* const end = text == nullptr ? nullptr : text + std::strlen(text);
  const auto [stop, error] = text == nullptr
                                 ? std::from_chars_result{nullptr, std::errc::invalid_argument}
                                 : std::from_chars(text, end, value);
  if (error != std::errc() || stop != end || !(value >= least)) {
    throw std::invalid_argument(option + ": expected a number >= " + std::to_string(least) +
                                ", got '" + (text == nullptr ? "" : text) + "'");
  }
  return value;
}

Arguments read_arguments(int argc, const char* const* argv) {
  Arguments arguments;
  arguments.shape.body_count = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const auto next = [&] { return i + 1 < argc ? argv[++i] : nullptr; };
    const auto choose = [&](std::initializer_list<const char*> words) {
      const char* const word = next();
      int k = 0;
      for (const char* const choice : words) {
        if (word != nullptr && std::strcmp(word, choice) == 0) return k;
        ++k;
      }
      std::string expected;
      for (const char* const choice : words)
        expected += (expected.empty() ? "" : ", ") + std::string(choice);
      throw std::invalid_argument(option + ": expected one of " + expected + ", got '" +
                                  (word == nullptr ? "" : word) + "'");
    };
    if (option == "--bodies") {
      arguments.shape.body_count = read_number<Index>(option, next(), 1);
    } else if (option == "--layers") {
      arguments.shape.layers = read_number<Index>(option, next(), 1);
    } else if (option == "--shape") {
      using enum carom::examples::PileBodies;
      constexpr carom::examples::PileBodies kinds[] = {spheres, boxes, mixed};
      arguments.shape.bodies = kinds[choose({"spheres", "boxes", "mixed"})];
    } else if (option == "--law") {
      constexpr carom::FrictionLaw laws[] = {carom::FrictionLaw::convex,
                                             carom::FrictionLaw::coulomb};
      arguments.law.law = laws[choose({"convex", "coulomb"})];
    } else if (option == "--tolerance") {
      arguments.law.tolerance = read_number<double>(option, next(), 1e-15);
    } else if (option == "--steps") {
      arguments.steps = read_number<int>(option, next(), 1);
    } else if (option == "--rigid") {
      arguments.law.rigid = true;
    } else if (option == "--json") {
      arguments.json = true;
    } else {
      throw std::invalid_argument("unknown argument '" + option + "'\n" + usage);
    }
  }
  if (arguments.shape.body_count < 1)
    throw std::invalid_argument(std::string("expected --bodies\n") + usage);
  return arguments;
}

/// What the program prints; the same on all ranks but for the memory, which rank 0 has.
struct Answer {
  long long bodies = 0, contacts = 0, cut_contacts = 0, exchanged_bytes = 0;
  double make_seconds = 0;
  std::vector<double> seconds, residual;
  std::vector<long long> iterations, linear_iterations, exchanges, sums;
  std::vector<long long> memory, rank_contacts;  ///< per rank
  carom::SolveStatus status = carom::SolveStatus::converged;
};

/// A number of every rank, on rank 0.
std::vector<long long> gather(long long number) {
  int rank_count = 1;
  MPI_Comm_size(PETSC_COMM_WORLD, &rank_count);
  std::vector<long long> all(static_cast<std::size_t>(rank_count));
  MPI_Gather(&number, 1, MPI_LONG_LONG, all.data(), 1, MPI_LONG_LONG, 0, PETSC_COMM_WORLD);
  return all;
}

/// The most memory that the process has had [bytes].
long long peak_memory() {
  rusage taken{};
  getrusage(RUSAGE_SELF, &taken);
  return 1024LL * taken.ru_maxrss;  // Linux counts kibibytes
}

Answer run(const Arguments& arguments) {
  int rank = 0;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  const bool watched = rank == 0 && isatty(STDERR_FILENO) != 0;
  Answer answer;
  double begin = MPI_Wtime();
  HeapRun heap(PETSC_COMM_WORLD, arguments.shape, arguments.law);
  MPI_Barrier(PETSC_COMM_WORLD);
  answer.make_seconds = MPI_Wtime() - begin;
  const carom::PetscContactProblem& problem = heap.problem();
  long long totals[2] = {problem.own_count(), 0};
  for (Index i = 0; i < problem.local().block_count(); ++i) totals[1] += problem.counts(i) ? 1 : 0;
  answer.rank_contacts = gather(problem.local().block_count());
  MPI_Allreduce(MPI_IN_PLACE, totals, 2, MPI_LONG_LONG, MPI_SUM, PETSC_COMM_WORLD);
  answer.bodies = totals[0];
  answer.contacts = totals[1];
  for (int step = 0; step < arguments.steps && answer.status == carom::SolveStatus::converged;
       ++step) {
    if (step > 0) heap.advance();
    begin = MPI_Wtime();
    const carom::SolveReport<double> report = heap.solve();
    answer.seconds.push_back(MPI_Wtime() - begin);
    answer.iterations.push_back(report.iterations);
    answer.linear_iterations.push_back(heap.counts().linear_iterations);
    answer.exchanges.push_back(heap.counts().exchanges);
    answer.sums.push_back(heap.counts().sums);
    answer.residual.push_back(heap.residual());
    answer.cut_contacts = heap.counts().cut_blocks;
    answer.exchanged_bytes = heap.counts().exchanged_bytes;
    answer.status = report.status;
    if (watched) std::fprintf(stderr, "\rstep %d of %d", step + 1, arguments.steps);
  }
  if (watched) std::fputc('\n', stderr);
  answer.memory = gather(peak_memory());
  return answer;
}

template <typename Number>
std::string list(const std::vector<Number>& numbers) {
  std::string text = "[";
  for (const Number number : numbers) {
    char word[32];
    if constexpr (std::is_integral_v<Number>) {
      std::snprintf(word, sizeof word, "%lld", static_cast<long long>(number));
    } else {
      std::snprintf(word, sizeof word, "%.17g", number);
      if (!(number - number == 0)) std::snprintf(word, sizeof word, "null");
    }
    text += (text.size() > 1 ? ", " : "") + std::string(word);
  }
  return text + "]";
}

void print(const Answer& answer, bool json) {
  if (!json) {
    std::printf("%lld bodies, %lld contacts on %zu ranks, %lld contacts cut, made in %.3f s\n",
                answer.bodies, answer.contacts, answer.memory.size(), answer.cut_contacts,
                answer.make_seconds);
    std::printf("%6s %10s %11s %7s %10s\n", "step", "seconds", "iterations", "linear", "residual");
    for (std::size_t k = 0; k < answer.seconds.size(); ++k) {
      std::printf("%6zu %10.4f %11lld %7lld %10.2e\n", k, answer.seconds[k], answer.iterations[k],
                  answer.linear_iterations[k], answer.residual[k]);
    }
    std::printf("%s\n", to_string(answer.status));
    return;
  }
  const std::string make_seconds = list(std::vector<double>{answer.make_seconds});
  std::printf(
      "{\"bodies\": %lld, \"contacts\": %lld, \"make_seconds\": %s, \"seconds\": %s, "
      "\"iterations\": %s, \"residual\": %s, \"peak_memory_bytes\": %s, \"threads\": 1, "
      "\"status\": \"%s\", \"ranks\": %zu, \"linear_iterations\": %s, \"cut_contacts\": %lld, "
      "\"rank_contacts\": %s, \"exchanges\": %s, \"exchanged_bytes\": %lld, \"sums\": %s}\n",
      answer.bodies, answer.contacts, make_seconds.substr(1, make_seconds.size() - 2).c_str(),
      list(answer.seconds).c_str(), list(answer.iterations).c_str(), list(answer.residual).c_str(),
      list(answer.memory).c_str(), to_string(answer.status), answer.memory.size(),
      list(answer.linear_iterations).c_str(), answer.cut_contacts,
      list(answer.rank_contacts).c_str(), list(answer.exchanges).c_str(), answer.exchanged_bytes,
      list(answer.sums).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (PetscInitializeNoArguments() != PetscErrorCode(0)) return 1;
  int rank = 0, exit_code = 0;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  // What is wrong is the same on all ranks: arguments are, and problems are refused together.
  try {
    const Arguments arguments = read_arguments(argc, argv);
    const Answer answer = run(arguments);
    if (rank == 0) print(answer, arguments.json);
    exit_code = answer.status == carom::SolveStatus::converged ? 0 : 3;
  } catch (const std::exception& error) {
    if (rank == 0) std::fprintf(stderr, "carom_heap_distributed: %s\n", error.what());
    exit_code = 2;
  }
  return PetscFinalize() == PetscErrorCode(0) ? exit_code : 1;
}
