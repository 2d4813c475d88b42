// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "carom/adapters/detail/petsc_gain_matrix.hpp"
#include "carom/solvers/systems/body_system.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// BodySystem on the ranks of a communicator: Newton steps dγ = h − N W dγ of the impulses of all
/// ranks, which are one island. Each rank has the blocks of its part, and so those that are cut are
/// on two ranks, which compute the same of the same numbers; one of them counts them.
class PetscLawSystem {
 public:
  using scalar_type = double;

  /// Takes on a problem, which must stay as it is. Every rank calls it; on bad data all throw
  /// std::invalid_argument.
  /// @param symmetric  whether all N will be.
  void take(const PetscContactProblem& problem, bool symmetric) {
    problem_ = &problem;
    exchange_.lay_out(problem);
    rows_.take(problem.local());
    matrix_.lay_out(problem, rows_, exchange_, symmetric);
    counts_.clear();
    for (Index i = 0; i < blocks().size(); ++i) {
      counts_.push_back(problem.counts(rows_.graph().part_at(blocks().first_part(i)).block));
    }
    island_.clear();
    island_.push_back({0, blocks().size(), 0, part_count()});
    vector_.assign(std::size_t(rows_.vector_size()), 0.0);
    sum_ = vector_;
    numbers_.setZero(problem.local().velocity_count());
    rest_.assign(std::size_t(3 * part_count()), 0.0);
    sum_count_ = 0;
  }

  [[nodiscard]] const BodyRows<double>& rows() const noexcept { return rows_; }
  [[nodiscard]] const BlockList<double>& blocks() const noexcept { return rows_.blocks(); }
  [[nodiscard]] const Sequence<BlockIsland>& islands() const noexcept { return island_; }
  [[nodiscard]] Index part_count() const noexcept { return rows_.part_count(); }
  [[nodiscard]] const double* load() const noexcept { return rows_.load(); }

  // As system_totals.hpp has them.
  [[nodiscard]] bool counts(Index block) const noexcept { return counts_[std::size_t(block)]; }
  template <std::size_t Count>
  [[nodiscard]] std::array<double, Count> total(
      const std::array<double, Count>& numbers) const noexcept {
    ++sum_count_;
    return sum_over_ranks<Count>(problem_->communicator(), numbers);
  }
  [[nodiscard]] double largest(double number) const noexcept {
    ++sum_count_;
    MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_DOUBLE, MPI_MAX, problem_->communicator());
    return number;
  }
  [[nodiscard]] bool agreed(bool good) const noexcept {
    ++sum_count_;
    return on_all_ranks(problem_->communicator(), good);
  }

  /// product = W γ, in parts.
  void multiply(Index, const double* impulse, double* product) {
    write_momentum(impulse);
    exchange_vector();
    write_velocities(product);
  }
  /// ŵ* + Ĵᵀ γ of own bodies and ghosts.
  void write_whitened(const double* impulse, VectorX<double>& whitened) {
    numbers_.setZero();
    write_momentum(impulse);
    exchange_vector();
    whitened = problem_->local().whitened_free_velocity() + numbers_;
  }
  [[nodiscard]] bool factor(Index, const BlockGains<double>& gains) {
    return matrix_.factor(gains);
  }
  /// As BodySystem::solve().
  void solve(Index island, const BlockGains<double>& gains, const double* offset, double* step,
             double* moved);

  /// Iterations of the KSP, exchanges of ghosts and totals since take().
  [[nodiscard]] long long iterations() const noexcept { return matrix_.iterations(); }
  [[nodiscard]] const PetscExchange& exchange() const noexcept { return exchange_; }
  [[nodiscard]] long long sum_count() const noexcept { return sum_count_; }

 private:
  /// Calls visit(place in a vector, place in local velocities, number of unknowns) per body.
  template <typename Visit>
  void for_each_body(const Visit& visit) const {
    for (Index slot = 0; slot < rows_.graph().slot_count(); ++slot) {
      const auto [start, size] = problem_->local().body(rows_.graph().body_at(slot));
      visit(rows_.starts()[slot], start, size);
    }
  }
  void write_momentum(const double* impulse) {
    for (Index i = 0; i < rows_.islands().size(); ++i) {
      rows_.write_momentum(i, impulse, vector_.data());
    }
  }
  void write_velocities(double* velocity) const {
    for (Index i = 0; i < rows_.islands().size(); ++i) {
      rows_.write_velocities(i, vector_.data(), velocity);
    }
  }
  /// Copies the vector to local velocities, lets change(numbers) change those of own bodies,
  /// fetches the ghosts' values, and copies all back.
  template <typename Change>
  void exchange_after(const Change& change) {
    for_each_body([&](Index from, Index to, Index size) {
      std::copy_n(vector_.data() + from, size, numbers_.data() + to);
    });
    change(numbers_.data());
    exchange_.update_ghosts(numbers_.data());
    for_each_body([&](Index to, Index from, Index size) {
      std::copy_n(numbers_.data() + from, size, vector_.data() + to);
    });
  }
  /// Fetches the ghosts' values of the vector.
  void exchange_vector() {
    exchange_after([](double*) {});
  }
  /// Solves with the matrix for the vector, ghosts' values included.
  void apply_inverse() {
    numbers_.setZero();
    exchange_after([&](double* numbers) { matrix_.solve(numbers); });
  }

  const PetscContactProblem* problem_ = nullptr;
  BodyRows<double> rows_;
  PetscExchange exchange_;
  PetscGainMatrix matrix_;
  Sequence<BlockIsland> island_;  ///< one, of all blocks
  std::vector<char> counts_;      ///< per block
  std::vector<double> vector_, sum_, rest_;
  VectorX<double> numbers_;  ///< as local velocities
  mutable long long sum_count_ = 0;
};

// --- implementation ---

inline void PetscLawSystem::solve(Index, const BlockGains<double>& gains, const double* offset,
                                  double* step, double* moved) {
  using Tuning = BodySystemTuning;
  const Index rows = 3 * part_count();
  std::copy_n(offset, rows, step);
  std::fill_n(moved, rows, 0.0);
  std::fill(sum_.begin(), sum_.end(), 0.0);
  write_momentum(step);
  double last = std::numeric_limits<double>::infinity();
  for (int k = 0; k <= Tuning::refinements; ++k) {
    apply_inverse();
    write_velocities(rest_.data());
    for (Index i = 0; i < blocks().size(); ++i) {
      const Index first = 3 * blocks().first_part(i);
      gains.subtract_product(i, blocks().parts(i), rest_.data() + first, step + first);
    }
    for (Index p = 0; p < rows; ++p) moved[p] += rest_[std::size_t(p)];
    for (std::size_t u = 0; u < sum_.size(); ++u) sum_[u] += vector_[u];
    if (k == Tuning::refinements) break;
    write_momentum(step);
    std::array<double, 2> squared{};  // of the step, and of what is missing
    for (Index slot = 0; slot < rows_.graph().slot_count(); ++slot) {
      const Index body = rows_.graph().body_at(slot), start = rows_.starts()[slot];
      for (Index u = start; u < start + problem_->local().body(body).size; ++u) {
        double& missing = vector_[std::size_t(u)];
        missing -= sum_[std::size_t(u)];
        if (!problem_->is_own(body)) continue;
        squared[0] += sum_[std::size_t(u)] * sum_[std::size_t(u)];
        squared[1] += missing * missing;
      }
    }
    squared = total(squared);
    const double now = std::sqrt(squared[1]);
    if (!(now > Tuning::enough * std::sqrt(squared[0])) || now > Tuning::gain * last) break;
    last = now;
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
