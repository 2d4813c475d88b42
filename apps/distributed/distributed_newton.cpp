// SPDX-License-Identifier: BSD-3-Clause
// Can one Newton step of one heap be solved on several machines?
//
// The step's Hessian I + ĴᵀGĴ is a function on PETSc's distributed vectors, and every process keeps
// the contacts of its own bodies; conjugate gradients find the direction. The answer is compared
// with carom's own operator and sparse factor in one process, and the exchanged numbers are
// counted. Every process builds the whole problem and keeps its part: the solve is distributed.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <exception>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "distributed/petsc_solve.hpp"
#include "io/text_problem.hpp"
#include "scenes/pile.hpp"

#ifdef CAROM_COMPILED
#include "carom/compiled.hpp"
#endif

namespace {

using namespace carom::examples;
using carom::Index, carom::VectorX;

constexpr const char* usage =
    "usage: carom_distributed_newton [FILE | --bodies N] [--preconditioner P] [--repeat R]\n"
    "  FILE       a contact problem as `carom solve` reads it\n"
    "  --bodies   of a heap of spheres and boxes [1000]\n"
    "  --preconditioner  ranks, the default, or bodies\n"
    "  --repeat   runs of which the fastest counts [1]\n";

struct Arguments {
  std::string file;
  Index bodies = 1000;
  Preconditioner preconditioner = Preconditioner::ranks;
  int repeat = 1;
};

int read_count(const std::string& option, const char* text) {
  const std::string word = text == nullptr ? "" : text;
  int value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || value < 1) {
    throw std::invalid_argument(option + ": expected a whole number >= 1, got '" + word + "'");
  }
  return value;
}

Arguments read_arguments(int argc, const char* const* argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--bodies") {
      arguments.bodies = read_count(word, argv[++i]);
    } else if (word == "--preconditioner") {
      const std::string name = ++i < argc ? argv[i] : "";
      if (name != "ranks" && name != "bodies") {
        throw std::invalid_argument(word + ": expected 'ranks' or 'bodies', got '" + name + "'");
      }
      arguments.preconditioner = name == "ranks" ? Preconditioner::ranks : Preconditioner::bodies;
    } else if (word == "--repeat") {
      arguments.repeat = read_count(word, argv[++i]);
    } else if (word.starts_with("-") || !arguments.file.empty()) {
      throw std::invalid_argument("unknown argument '" + word + "'\n" + usage);
    } else {
      arguments.file = word;
    }
  }
  return arguments;
}

/// Throws where PETSc has failed; PETSc itself prints the reason.
void require(PetscErrorCode code) {
  if (code != PetscErrorCode(0)) throw std::runtime_error("PETSc has failed");
}

/// The shortest of some runs on all processes, by the slowest of them [s].
template <typename Run>
double time_of(int repeat, const Run& run) {
  double best = std::numeric_limits<double>::infinity();
  for (int k = 0; k < repeat; ++k) {
    MPI_Barrier(PETSC_COMM_WORLD);
    const double begin = MPI_Wtime();
    run();
    double time = MPI_Wtime() - begin;
    MPI_Allreduce(MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD);
    best = std::min(best, time);
  }
  return best;
}

/// Between a problem's order of unknowns and the distributed one.
struct Order {
  const carom::ContactProblem<double>& problem;
  const BodyPartition& parts;

  [[nodiscard]] VectorX<double> distribute(const VectorX<double>& x) const {
    VectorX<double> result(parts.unknown_count());
    for_each([&](Index here, Index there, Index size) {
      result.segment(there, size) = x.segment(here, size);
    });
    return result;
  }
  /// @param x  bodies without contact keep their values.
  void collect(const VectorX<double>& distributed, VectorX<double>& x) const {
    for_each([&](Index here, Index there, Index size) {
      x.segment(here, size) = distributed.segment(there, size);
    });
  }

 private:
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (Index b = 0; b < problem.body_count(); ++b) {
      const Index there = parts.start[std::size_t(b)];
      if (there >= 0) visit(problem.body(b).start, there, problem.body(b).size);
    }
  }
};

/// What one process has, for the table.
struct Share {
  long long unknowns, inner, cut, ghosts;
};

void print_shares(const LocalContacts& contacts, int rank_count) {
  const Share own{contacts.own_count(), contacts.inner_count(), contacts.cut_count(),
                  Index(contacts.ghosts().size())};
  std::vector<Share> all(static_cast<std::size_t>(rank_count));
  MPI_Gather(&own, 4, MPI_LONG_LONG, all.data(), 4, MPI_LONG_LONG, 0, PETSC_COMM_WORLD);
  PetscPrintf(PETSC_COMM_WORLD, "rank   unknowns   contacts  of them cut   bytes in per product\n");
  long long bytes = 0;
  for (int r = 0; r < rank_count; ++r) {
    const Share& share = all[std::size_t(r)];
    PetscPrintf(PETSC_COMM_WORLD, "%4d %10lld %10lld %12lld %22lld\n", r, share.unknowns,
                share.inner + share.cut, share.cut, 8 * share.ghosts);
    bytes += 8 * share.ghosts;
  }
  PetscPrintf(PETSC_COMM_WORLD, "bytes exchanged per product: %lld\n", bytes);
}

struct Times {
  double product, solve, serial_product, serial_solve;
};

bool print_verdict(double product_error, double dense_error, double solve_error,
                   const PetscSolve& solver, const Times& times) {
  PetscPrintf(PETSC_COMM_WORLD, "product, relative difference from the serial operator: %.2e\n",
              product_error);
  if (dense_error >= 0) {
    PetscPrintf(PETSC_COMM_WORLD, "serial operator, from the dense Hessian: %.2e\n", dense_error);
  }
  PetscPrintf(PETSC_COMM_WORLD, "direction, relative difference from the serial factor: %.2e\n",
              solve_error);
  PetscPrintf(PETSC_COMM_WORLD, "iterations of conjugate gradients: %d, %s\n",
              int(solver.iterations()), solver.converged() ? "converged" : "NOT CONVERGED");
  PetscPrintf(PETSC_COMM_WORLD, "ms: product %.4f (serial %.4f), solve %.3f (serial factor %.3f)\n",
              1e3 * times.product, 1e3 * times.serial_product, 1e3 * times.solve,
              1e3 * times.serial_solve);
  const bool good = solver.converged() && product_error <= 1e-12 && !(dense_error > 1e-12) &&
                    solve_error <= 1e-10;
  PetscPrintf(PETSC_COMM_WORLD, "%s\n", good ? "as in one process" : "NOT AS IN ONE PROCESS");
  return good;
}

bool run(const Arguments& arguments) {
  int rank = 0, rank_count = 1;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  MPI_Comm_size(PETSC_COMM_WORLD, &rank_count);
  const Pile pile = [&]() -> Pile {
    if (arguments.file.empty()) return make_pile({.body_count = arguments.bodies});
    carom::files::TextProblem read = carom::files::read_text_problem(arguments.file);
    if (read.problem.friction_contact_count() < read.problem.block_count()) {
      throw std::invalid_argument(arguments.file +
                                  ": expected friction contacts alone, got other blocks");
    }
    return {std::move(read.problem), std::move(read.guess)};
  }();
  const carom::ContactProblem<double>& problem = pile.problem;
  const NewtonSystem system(problem, pile.guess);
  const BodyPartition parts = make_partition(problem, rank_count);
  const LocalContacts contacts(system, parts, rank);
  const Order order{problem, parts};
  const auto own = [&](const VectorX<double>& x) -> VectorX<double> {
    return order.distribute(x).segment(parts.rank_starts[std::size_t(rank)], contacts.own_count());
  };
  PetscPrintf(PETSC_COMM_WORLD, "%d bodies, %d contacts, %d unknowns, %d processes\n",
              int(problem.body_count()), int(problem.block_count()), int(parts.unknown_count()),
              rank_count);
  print_shares(contacts, rank_count);

  PetscSolve solver(contacts, parts);
  require(solver.prepare(arguments.preconditioner, 1e-14));
  Times times{};
  VectorX<double> x(problem.velocity_count()), expected, all, part;
  for (Index i = 0; i < x.size(); ++i) x(i) = std::sin(double(i + 1));
  system.multiply(x, expected);
  times.serial_product = time_of(arguments.repeat, [&] { system.multiply(x, expected); });
  const VectorX<double> own_x = own(x), own_load = own(system.load);
  times.product = time_of(arguments.repeat, [&] { require(solver.multiply(own_x, part)); });
  VectorX<double> product = expected;
  require(solver.gather(part, all));
  order.collect(all, product);
  const double product_error = (product - expected).norm() / expected.norm();
  const bool small = problem.velocity_count() <= 1200;
  const double dense_error = small ? system.compare_with_dense(pile.guess, x, expected) : -1;

  VectorX<double> direction;
  times.serial_solve = time_of(arguments.repeat, [&] {
    direction = system.load;
    NewtonFactor(system).solve(direction);
  });
  times.solve = time_of(arguments.repeat, [&] { require(solver.solve(own_load, part)); });
  VectorX<double> found = direction;
  require(solver.gather(part, all));
  order.collect(all, found);
  return print_verdict(product_error, dense_error, (found - direction).norm() / direction.norm(),
                       solver, times);
}

}  // namespace

int main(int argc, char** argv) {
  if (PetscInitializeNoArguments() != PetscErrorCode(0)) return 1;
  int exit_code = 1;
  try {
    exit_code = run(read_arguments(argc, argv)) ? 0 : 1;
  } catch (const std::exception& error) {
    int rank = 0;
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    if (rank == 0) std::fprintf(stderr, "distributed_newton: %s\n", error.what());
    exit_code = 2;
  }
  return PetscFinalize() == PetscErrorCode(0) ? exit_code : 1;
}
