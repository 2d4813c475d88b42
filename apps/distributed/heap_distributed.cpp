// SPDX-License-Identifier: BSD-3-Clause
// Makes a heap on all ranks (each rank its own part), solves it and advances it in time.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <petscsys.h>
#include <string>
#include <unistd.h>
#include <vector>

#include "cli/memory.hpp"
#include "distributed/heap_arguments.hpp"

namespace {

using carom::Index;
using carom::distributed::HeapArguments;
using carom::distributed::HeapRun;

/// The output of the program. It is the same on all ranks except the memory, which rank 0 has.
struct Answer {
  long long bodies = 0, contacts = 0, cut_contacts = 0, exchanged_bytes = 0;
  int first_step = 0;  ///< of this run; earlier steps were in the checkpoint
  double make_seconds = 0;
  std::vector<double> seconds, residual, imbalance;
  std::vector<long long> iterations, linear_iterations, exchanges, sums;
  std::vector<long long> memory, rank_contacts;  ///< per rank
  std::vector<std::string> answer_hash;          ///< of each step, 16 hexadecimal digits
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

/// Rejects a heap that is too large for the memory of a node, on all ranks and before it is made.
void check_memory(const carom::examples::PileShape& shape) {
  int rank_count = 1, here = 1;
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_size(PETSC_COMM_WORLD, &rank_count);
  MPI_Comm_split_type(PETSC_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &here);
  // Above all measured memory of heaps of 400 to 20,000 bodies on 1 to 64 ranks: MPI and PETSc, and
  // per contact the problem, the solver and the ghosts.
  constexpr double rank_bytes = 6e7, contact_bytes = 3000;
  const double contacts = carom::examples::expected_contacts(shape);
  const double needed = here * (rank_bytes + contact_bytes * contacts / rank_count);
  const double available = carom::cli::available_memory();
  MPI_Barrier(node);  // no rank allocates before the last one has read the free memory
  MPI_Comm_free(&node);
  carom::Fault fault;
  if (needed > available) {
    fault = "--bodies: expected a heap whose parts fit in the " +
            carom::cli::format_bytes(available) + " of memory at hand, got " +
            std::to_string(shape.body_count) + ", which needs " + carom::cli::format_bytes(needed) +
            " for the ranks here";
  }
  carom::reject_together(PETSC_COMM_WORLD, fault);
}

/// Whether there is a checkpoint, according to rank 0.
bool exists_for_all(const carom::distributed::HeapCheckpoint& checkpoint) {
  int exists = checkpoint.exists() ? 1 : 0;
  MPI_Bcast(&exists, 1, MPI_INT, 0, PETSC_COMM_WORLD);
  return exists != 0;
}

Answer run(const HeapArguments& arguments) {
  int rank = 0;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  const bool watched = rank == 0 && isatty(STDERR_FILENO) != 0;
  Answer answer;
  check_memory(arguments.pile_shape());
  double begin = MPI_Wtime();
  HeapRun heap(PETSC_COMM_WORLD, arguments.pile_shape(), arguments.heap_law());
  MPI_Barrier(PETSC_COMM_WORLD);
  answer.make_seconds = MPI_Wtime() - begin;
  const carom::PetscContactProblem& problem = heap.problem();
  long long totals[2] = {problem.own_count(), 0};
  for (Index i = 0; i < problem.local().block_count(); ++i) totals[1] += problem.counts(i) ? 1 : 0;
  answer.rank_contacts = gather(heap.contact_count());
  MPI_Allreduce(MPI_IN_PLACE, totals, 2, MPI_LONG_LONG, MPI_SUM, PETSC_COMM_WORLD);
  answer.bodies = totals[0];
  answer.contacts = totals[1];
  const carom::distributed::HeapCheckpoint checkpoint(arguments.checkpoint);
  const bool kept = !arguments.checkpoint.empty();
  if (kept && exists_for_all(checkpoint)) answer.first_step = heap.read(checkpoint) + 1;
  bool moved = false;
  for (int step = answer.first_step;
       step < arguments.steps && answer.status == carom::SolveStatus::converged; ++step) {
    if (step > 0) {
      constexpr double most = 1.1;  // the slowest rank makes the others wait a tenth
      if (heap.imbalance() > most && !moved) {
        heap.migrate();
        // not again: contacts do not change, and so the possible balance does not change
        moved = true;
      }
      heap.advance();
    }
    begin = MPI_Wtime();
    const carom::SolveReport<double> report = heap.solve();
    answer.seconds.push_back(MPI_Wtime() - begin);
    answer.iterations.push_back(report.iterations);
    answer.linear_iterations.push_back(heap.counts().linear_iterations);
    answer.exchanges.push_back(heap.counts().exchanges);
    answer.sums.push_back(heap.counts().sums);
    answer.residual.push_back(heap.residual());
    char hash[17];
    std::snprintf(hash, sizeof hash, "%016llx",
                  static_cast<unsigned long long>(heap.answer_hash()));
    answer.answer_hash.emplace_back(hash);
    answer.imbalance.push_back(heap.imbalance());
    answer.cut_contacts = heap.counts().cut_blocks;
    answer.exchanged_bytes = heap.counts().exchanged_bytes;
    answer.status = report.status;
    if (kept) heap.write(checkpoint, step);
    if (watched) std::fprintf(stderr, "\rstep %d of %d", step + 1, arguments.steps);
  }
  if (watched) std::fputc('\n', stderr);
  answer.memory = gather(static_cast<long long>(carom::cli::peak_memory()));
  return answer;
}

void print(const Answer& answer, bool json) {
  const std::size_t ranks = answer.memory.size();
  if (json) {
    const nlohmann::ordered_json all = {{"bodies", answer.bodies},
                                        {"contacts", answer.contacts},
                                        {"make_seconds", answer.make_seconds},
                                        {"seconds", answer.seconds},
                                        {"iterations", answer.iterations},
                                        {"residual", answer.residual},
                                        {"answer_hash", answer.answer_hash},
                                        {"peak_memory_bytes", answer.memory},
                                        {"threads", 1},
                                        {"status", to_string(answer.status)},
                                        {"ranks", ranks},
                                        {"linear_iterations", answer.linear_iterations},
                                        {"cut_contacts", answer.cut_contacts},
                                        {"rank_contacts", answer.rank_contacts},
                                        {"exchanges", answer.exchanges},
                                        {"exchanged_bytes", answer.exchanged_bytes},
                                        {"sums", answer.sums},
                                        {"first_step", answer.first_step},
                                        {"imbalance", answer.imbalance}};
    std::printf("%s\n", all.dump().c_str());
    return;
  }
  std::printf("%lld bodies, %lld contacts on %zu ranks, %lld contacts cut, made in %.3f s\n",
              answer.bodies, answer.contacts, ranks, answer.cut_contacts, answer.make_seconds);
  std::printf("%6s %10s %11s %7s %10s\n", "step", "seconds", "iterations", "linear", "residual");
  for (std::size_t k = 0; k < answer.seconds.size(); ++k) {
    std::printf("%6d %10.4f %11lld %7lld %10.2e\n", answer.first_step + int(k), answer.seconds[k],
                answer.iterations[k], answer.linear_iterations[k], answer.residual[k]);
  }
  std::printf("%s\n", to_string(answer.status));
}

}  // namespace

int main(int argc, char** argv) {
  HeapArguments arguments;
  CLI::App app(
      "Makes a heap on all ranks, each its own part, solves it and steps it in time. Exit code 0: "
      "done; 2: bad input, one line on standard error; 3: a step has not converged.");
  arguments.add_options(app);
  if (PetscInitializeNoArguments() != PetscErrorCode(0)) return 1;
  int rank = 0, exit_code = 0;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  const auto refuse = [&](std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    if (rank == 0) std::fprintf(stderr, "carom_heap_distributed: %s\n", text.c_str());
    exit_code = 2;
  };
  // Faults are the same on all ranks: the arguments are equal, and problems are rejected by all
  // ranks together.
  try {
    app.parse(argc, argv);
    const Answer answer = run(arguments);
    if (rank == 0) print(answer, arguments.json);
    exit_code = answer.status == carom::SolveStatus::converged ? 0 : 3;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) {
      refuse(error.what());
    } else if (rank == 0) {
      app.exit(error);
    }
  } catch (const std::exception& error) {
    refuse(error.what());
  }
  return PetscFinalize() == PetscErrorCode(0) ? exit_code : 1;
}
