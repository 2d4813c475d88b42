// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <petscksp.h>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "carom/adapters/petsc_problem.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Ends all ranks where PETSc has failed, so that none waits; PETSc itself has printed the reason.
inline void require_petsc(PetscErrorCode code) noexcept {
  if (code != PetscErrorCode(0)) MPI_Abort(PETSC_COMM_WORLD, 1);
}

/// Whether objects of PETSc may still be destroyed, which they may not after PetscFinalize().
[[nodiscard]] inline bool petsc_is_running() noexcept {
  PetscBool finalized = PETSC_TRUE;
  return PetscFinalized(&finalized) == PetscErrorCode(0) && finalized == PETSC_FALSE;
}

/// The unit of lists that ranks send each other.
using Word = std::int64_t;

/// Sends a list to every rank; returns the lists received, one after the other, and their lengths.
inline std::vector<Word> send_lists(MPI_Comm communicator,
                                    const std::vector<std::vector<Word>>& lists,
                                    std::vector<int>& received) {
  const std::size_t ranks = lists.size();
  std::vector<int> sent(ranks), from(ranks, 0), to(ranks, 0);
  std::vector<Word> all;
  received.assign(ranks, 0);
  for (std::size_t r = 0; r < ranks; ++r) {
    sent[r] = int(lists[r].size());
    from[r] = int(all.size());
    all.insert(all.end(), lists[r].begin(), lists[r].end());
  }
  MPI_Alltoall(sent.data(), 1, MPI_INT, received.data(), 1, MPI_INT, communicator);
  for (std::size_t r = 1; r < ranks; ++r) to[r] = to[r - 1] + received[r - 1];
  std::vector<Word> result(std::size_t(to.back() + received.back()));
  MPI_Alltoallv(all.data(), sent.data(), from.data(), MPI_INT64_T, result.data(), received.data(),
                to.data(), MPI_INT64_T, communicator);
  return result;
}

/// Ĵ w of a block.
template <typename Block>
[[nodiscard]] typename Block::Rows whitened_rate(const Block& block,
                                                 const VectorX<double>& whitened) noexcept {
  typename Block::Rows u = Block::Rows::Zero();
  for (int s = 0; s < block.side_count(); ++s) {
    const auto [start, size] = block.side(s).range;
    u.head(block.rows()) +=
        block.whitened_columns(s).transpose().lazyProduct(whitened.segment(start, size));
  }
  return u;
}
/// Adds Ĵᵀ γ of a block to what impulses give bodies and ghosts.
template <typename Block>
void add_push(const Block& block, const typename Block::Rows& impulse,
              VectorX<double>& pushed) noexcept {
  for (int s = 0; s < block.side_count(); ++s) {
    const auto [start, size] = block.side(s).range;
    pushed.segment(start, size) +=
        block.whitened_columns(s).lazyProduct(impulse.head(block.rows()));
  }
}

/// Where bodies are: each rank keeps the answers for the numbers that leave its own rank as
/// remainder, so that no rank holds all of them.
class BodyDirectory {
 public:
  /// What is told of a body: where its unknowns begin in distributed vectors, their number, its
  /// rank.
  struct Entry {
    Word start = -1, size = 0, rank = -1;
  };

  /// Finds the entries of ghosts. Every rank calls it.
  /// @param first  where this rank's unknowns begin.
  /// @return  per ghost; a fault on all ranks where a body has no owner, or two.
  static std::vector<Entry> find(const PetscContactProblem& problem, Word first) {
    int rank = 0, rank_count = 1;
    MPI_Comm_rank(problem.communicator(), &rank);
    MPI_Comm_size(problem.communicator(), &rank_count);
    const ContactProblem<double>& local = problem.local();
    using Lists = std::vector<std::vector<Word>>;
    Lists own(static_cast<std::size_t>(rank_count)), wanted = own, places = own;
    const auto keeper = [&](Word id) { return std::size_t(id % rank_count); };
    for (Index b = 0; b < problem.own_count(); ++b) {
      const auto [start, size] = local.body(b);
      const Word entry[] = {problem.id(b), first + start, size};
      std::vector<Word>& list = own[keeper(entry[0])];
      list.insert(list.end(), std::begin(entry), std::end(entry));
    }
    for (Index b = problem.own_count(); b < local.body_count(); ++b) {
      wanted[keeper(problem.id(b))].push_back(problem.id(b));
      places[keeper(problem.id(b))].push_back(b - problem.own_count());
    }
    std::vector<int> lengths;
    const std::vector<Word> known = send_lists(problem.communicator(), own, lengths);
    std::unordered_map<Word, Entry> kept;
    Fault fault;
    auto word = known.begin();
    for (int from = 0; from < rank_count; ++from) {
      for (int k = 0; k < lengths[std::size_t(from)]; k += 3, word += 3) {
        const Entry entry{word[1], word[2], from};
        if (const auto [at, added] = kept.emplace(word[0], entry); !added && fault.empty()) {
          fault = "body " + std::to_string(word[0]) + ": expected one owner, got ranks " +
                  std::to_string(at->second.rank) + " and " + std::to_string(from);
        }
      }
    }
    reject_together(problem.communicator(), fault);
    const std::vector<Word> asked = send_lists(problem.communicator(), wanted, lengths);
    Lists answers(static_cast<std::size_t>(rank_count));
    word = asked.begin();
    for (int from = 0; from < rank_count; ++from) {
      for (int k = 0; k < lengths[std::size_t(from)]; ++k, ++word) {
        const auto at = kept.find(*word);
        const Entry entry = at == kept.end() ? Entry{} : at->second;
        std::vector<Word>& list = answers[std::size_t(from)];
        list.insert(list.end(), {entry.start, entry.size, entry.rank});
      }
    }
    const std::vector<Word> told = send_lists(problem.communicator(), answers, lengths);
    std::vector<Entry> result(std::size_t(local.body_count() - problem.own_count()));
    word = told.begin();
    for (const std::vector<Word>& list : places) {
      for (const Word place : list) {
        result[std::size_t(place)] = {word[0], word[1], word[2]};
        word += 3;
      }
    }
    reject_together(problem.communicator(), ghost_fault(problem, result, rank));
    return result;
  }

 private:
  static Fault ghost_fault(const PetscContactProblem& problem, const std::vector<Entry>& entries,
                           int rank) {
    for (std::size_t g = 0; g < entries.size(); ++g) {
      const Index body = problem.own_count() + Index(g);
      const Entry& entry = entries[g];
      const std::string item = "ghost body " + std::to_string(problem.id(body));
      if (entry.rank < 0) return item + ": expected a body that a rank owns, got none";
      if (entry.rank == rank) return item + ": expected a body of another rank, got an own one";
      const Index size = problem.local().body(body).size;
      if (entry.size != size) {
        return fault(item + ": unknowns",
                     ("as many as on rank " + std::to_string(entry.rank)).c_str(), size);
      }
    }
    return {};
  }
};

/// Brings values of own bodies to the ranks that have them as ghosts, by PETSc's VecScatter, which
/// sends one message to every rank that shares a cut block.
class PetscExchange {
 public:
  PetscExchange() = default;
  PetscExchange(const PetscExchange&) = delete;
  PetscExchange& operator=(const PetscExchange&) = delete;
  ~PetscExchange() { release(); }

  /// Finds who has which body. Every rank calls it; on bad data all throw std::invalid_argument.
  void lay_out(const PetscContactProblem& problem) {
    release();
    const MPI_Comm communicator = problem.communicator();
    const Word own = problem.own_size();
    Word before = 0, total = 0;
    MPI_Exscan(&own, &before, 1, MPI_INT64_T, MPI_SUM, communicator);
    int rank = 0;
    MPI_Comm_rank(communicator, &rank);
    if (rank == 0) before = 0;
    MPI_Allreduce(&own, &total, 1, MPI_INT64_T, MPI_SUM, communicator);
    const bool too_many = total > Word((std::numeric_limits<PetscInt>::max)());
    reject_together(
        communicator,
        too_many ? fault("unknowns", "as many as PetscInt counts", Index(total)) : Fault{});
    const std::vector<BodyDirectory::Entry> entries = BodyDirectory::find(problem, before);
    std::vector<PetscInt> places;
    owners_.clear();
    for (const BodyDirectory::Entry& entry : entries) {
      owners_.push_back(int(entry.rank));
      for (Word k = 0; k < entry.size; ++k) places.push_back(PetscInt(entry.start + k));
    }
    own_size_ = own;
    ghost_size_ = Index(places.size());
    total_size_ = total;
    first_ = before;
    require_petsc(
        VecCreateMPIWithArray(communicator, 1, PetscInt(own), PetscInt(total), nullptr, &own_));
    require_petsc(
        VecCreateSeqWithArray(PETSC_COMM_SELF, 1, PetscInt(ghost_size_), nullptr, &ghost_));
    IS from = nullptr;
    require_petsc(ISCreateGeneral(PETSC_COMM_SELF, PetscInt(ghost_size_), places.data(),
                                  PETSC_COPY_VALUES, &from));
    require_petsc(VecScatterCreate(own_, from, ghost_, nullptr, &scatter_));
    require_petsc(ISDestroy(&from));
    count_ = 0;
  }

  [[nodiscard]] Index own_size() const noexcept { return own_size_; }
  [[nodiscard]] Index ghost_size() const noexcept { return ghost_size_; }
  /// Unknowns of all ranks, and the place of this rank's first among them.
  [[nodiscard]] Index total_size() const noexcept { return total_size_; }
  [[nodiscard]] Index first() const noexcept { return first_; }
  /// The rank that owns a ghost.
  [[nodiscard]] int owner(Index ghost) const noexcept { return owners_[std::size_t(ghost)]; }
  /// Exchanges so far.
  [[nodiscard]] long long count() const noexcept { return count_; }

  /// Overwrites the ghosts' values in numbers of own bodies and ghosts by those of their owners.
  void update_ghosts(double* numbers) {
    place(numbers);
    require_petsc(VecScatterBegin(scatter_, own_, ghost_, INSERT_VALUES, SCATTER_FORWARD));
    require_petsc(VecScatterEnd(scatter_, own_, ghost_, INSERT_VALUES, SCATTER_FORWARD));
    take_back();
  }
  /// Adds the ghosts' values to those of their owners.
  void add_ghosts(double* numbers) {
    place(numbers);
    require_petsc(VecScatterBegin(scatter_, ghost_, own_, ADD_VALUES, SCATTER_REVERSE));
    require_petsc(VecScatterEnd(scatter_, ghost_, own_, ADD_VALUES, SCATTER_REVERSE));
    take_back();
  }

 private:
  void place(double* numbers) {
    require_petsc(VecPlaceArray(own_, numbers));
    require_petsc(VecPlaceArray(ghost_, numbers + own_size_));
    ++count_;
  }
  void take_back() {
    require_petsc(VecResetArray(own_));
    require_petsc(VecResetArray(ghost_));
  }
  void release() {
    if (!petsc_is_running()) return;
    VecScatterDestroy(&scatter_);
    VecDestroy(&own_);
    VecDestroy(&ghost_);
  }

  Index own_size_ = 0, ghost_size_ = 0, total_size_ = 0, first_ = 0;
  std::vector<int> owners_;
  long long count_ = 0;
  Vec own_ = nullptr, ghost_ = nullptr;
  VecScatter scatter_ = nullptr;
};

/// A matrix of PETSc over the unknowns of all ranks, and the KSP that solves with it.
class PetscLinearSystem {
 public:
  PetscLinearSystem() = default;
  PetscLinearSystem(const PetscLinearSystem&) = delete;
  PetscLinearSystem& operator=(const PetscLinearSystem&) = delete;
  ~PetscLinearSystem() { release(); }

  /// Makes the matrix by make(communicator, own unknowns, all unknowns, matrix), and a KSP for it.
  /// Every rank calls it.
  template <typename Make>
  void lay_out(const PetscContactProblem& problem, const PetscExchange& exchange,
               const Make& make) {
    release();
    const auto own = PetscInt(exchange.own_size()), total = PetscInt(exchange.total_size());
    require_petsc(VecCreateMPI(problem.communicator(), own, total, &right_));
    require_petsc(VecDuplicate(right_, &answer_));
    make(problem.communicator(), own, total, matrix_);
    require_petsc(KSPCreate(problem.communicator(), &solver_));
    require_petsc(KSPSetOperators(solver_, matrix_, matrix_));
    iterations_ = 0;
  }
  [[nodiscard]] Mat matrix() const noexcept { return matrix_; }
  [[nodiscard]] KSP solver() const noexcept { return solver_; }
  [[nodiscard]] PC preconditioner() const {
    PC result = nullptr;
    require_petsc(KSPGetPC(solver_, &result));
    return result;
  }
  /// Solves for own unknowns. Every rank calls it.
  /// @param answer  a guess in, where the KSP uses one; it may be the right side.
  void solve(const double* right, double* answer) {
    write(right, right_);
    write(answer, answer_);
    require_petsc(KSPSolve(solver_, right_, answer_));
    PetscInt taken = 0;
    require_petsc(KSPGetIterationNumber(solver_, &taken));
    iterations_ += taken;
    read(answer_, answer);
  }
  /// Iterations of the KSP since lay_out().
  [[nodiscard]] long long iterations() const noexcept { return iterations_; }

  /// Copies own unknowns out of a vector of PETSc's, and into it.
  static void read(Vec from, double* to) {
    const double* numbers = nullptr;
    require_petsc(VecGetArrayRead(from, &numbers));
    std::copy_n(numbers, size(from), to);
    require_petsc(VecRestoreArrayRead(from, &numbers));
  }
  static void write(const double* from, Vec to) {
    double* numbers = nullptr;
    require_petsc(VecGetArrayWrite(to, &numbers));
    std::copy_n(from, size(to), numbers);
    require_petsc(VecRestoreArrayWrite(to, &numbers));
  }

 private:
  [[nodiscard]] static PetscInt size(Vec vector) {
    PetscInt own = 0;
    require_petsc(VecGetLocalSize(vector, &own));
    return own;
  }
  void release() {
    if (!petsc_is_running()) return;
    KSPDestroy(&solver_);
    MatDestroy(&matrix_);
    VecDestroy(&right_);
    VecDestroy(&answer_);
  }

  Mat matrix_ = nullptr;
  Vec right_ = nullptr, answer_ = nullptr;
  KSP solver_ = nullptr;
  long long iterations_ = 0;
};

/// Whether something holds on every rank; every rank calls it.
[[nodiscard]] inline bool on_all_ranks(MPI_Comm communicator, bool good) noexcept {
  int value = good ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_MIN, communicator);
  return value != 0;
}

/// Sums of a few numbers over all ranks; every rank gets the same.
template <std::size_t Count>
[[nodiscard]] std::array<double, Count> sum_over_ranks(MPI_Comm communicator,
                                                       std::array<double, Count> numbers) {
  MPI_Allreduce(MPI_IN_PLACE, numbers.data(), int(Count), MPI_DOUBLE, MPI_SUM, communicator);
  return numbers;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
