// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include <Eigen/Core>

#include "carom/adapters/petsc_contact.hpp"
#include "carom/core/detail/byte_hash.hpp"

#include "distributed/heap_checkpoint.hpp"
#include "distributed/heap_part.hpp"

namespace carom::distributed {

/// How a heap is solved.
struct HeapLaw {
  FrictionLaw law = FrictionLaw::convex;
  bool rigid = false;
  double tolerance = 1e-8;  ///< PetscContactOptions::tolerance, > 0.
  double factor_work_limit = PetscSapOptions().factor_work_limit;
};

/// A heap on all ranks that moves in time steps. The velocities are the answers of the contact
/// solver; the gaps of the contacts are integrated from the velocities. Points, normals and the
/// list of contacts do not change, which is correct as long as bodies move by much less than their
/// size.
class HeapRun {
 public:
  /// All ranks call it, and each makes its own part.
  HeapRun(MPI_Comm communicator, const examples::PileShape& shape, const HeapLaw& law)
      : shape_(shape),
        law_(law),
        problem_(communicator, shape.time_step),
        layout_(shape, rank_count(communicator)),
        solver_(settings()) {
    make_part();
    velocity_ = displacement_ = VectorX<double>::Zero(problem_.local().velocity_count());
  }

  [[nodiscard]] const PetscContactProblem& problem() const noexcept { return problem_; }
  [[nodiscard]] const VectorX<double>& velocity() const noexcept { return velocity_; }
  [[nodiscard]] const PetscCounts& counts() const noexcept { return solver_.counts(); }

  /// Solves the step. The first step starts at rest, each later step from the answer before.
  SolveReport<double> solve();
  /// Residual of the answer, computed again [-]: the momentum balance of compliant contact under
  /// the convex law, the natural map of other laws.
  [[nodiscard]] double residual() const;
  /// Advances to the next step: its free velocities and gaps.
  void advance() {
    ContactProblem<double>& local = problem_.local();
    displacement_ += shape_.time_step * velocity_;
    const double relaxed = shape_.time_step + shape_.dissipation_time;
    for (Index i = 0; i < local.block_count(); ++i) {
      const double opening = local.friction_contact(i).velocity(displacement_).z();
      WeightedContact<double> numbers = local.friction_contact_law(i);
      numbers.bias_velocity.z() =
          first_biases_[std::size_t(i)] - opening / relaxed;  // v̂ₙ = −ϕ/(δt + τ_d)
      local.set_law(i, numbers);
    }
    constexpr double earth_gravity = 9.81;  // [m/s²]
    VectorX<double> free = velocity_;
    for (Index b = 0; b < local.body_count(); ++b) {
      free(6 * b + 5) -= earth_gravity * shape_.time_step;
    }
    local.set_free_velocity({free.data(), std::size_t(free.size())});
  }

  /// Count of contacts that move bodies of this rank.
  [[nodiscard]] Index contact_count() const noexcept {
    Index count = 0;
    for (Index i = 0; i < problem_.local().block_count(); ++i) {
      count += problem_.touches_own(i) ? 1 : 0;
    }
    return count;
  }
  /// The largest work of a rank, in contacts, relative to the mean [-]. All ranks call it.
  [[nodiscard]] double imbalance() const {
    const auto own = double(contact_count());
    double most = own, sum = own;
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, problem_.communicator());
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, problem_.communicator());
    return sum > 0 ? most * rank_count(problem_.communicator()) / sum : 1;
  }
  /// Moves bodies between ranks such that each has about the same count of contacts. Call it
  /// between the answer of a step and advance(). All ranks call it.
  void migrate() {
    const double own = double(contact_count()) / double(std::max<Index>(problem_.own_count(), 1));
    std::vector<double> densities(std::size_t(rank_count(problem_.communicator())));
    MPI_Allgather(&own, 1, MPI_DOUBLE, densities.data(), 1, MPI_DOUBLE, problem_.communicator());
    const double least = 1e-3;  // for a rank without contacts, so that weights are positive
    for (double& density : densities) density = std::max(density, least);
    const HeapLayout next(shape_, layout_, densities);
    std::vector<std::vector<carom::detail::Word>> bodies(densities.size());
    for (Index b = 0; b < problem_.own_count(); ++b) {
      auto& list = bodies[std::size_t(next.owner(examples::pile_place(shape_, problem_.id(b))))];
      list.push_back(problem_.id(b));
      for (const VectorX<double>* numbers : {&velocity_, &displacement_}) {
        for (int k = 0; k < 6; ++k) {  // words contain the bits of numbers
          list.push_back(std::bit_cast<carom::detail::Word>((*numbers)(6 * b + k)));
        }
      }
    }
    std::vector<int> lengths;
    const auto moved = carom::detail::send_lists(problem_.communicator(), bodies, lengths);
    layout_ = next;
    make_part();
    std::unordered_map<PetscContactProblem::Id, Index> places;
    for (Index b = 0; b < problem_.own_count(); ++b) places[problem_.id(b)] = b;
    velocity_ = displacement_ = VectorX<double>::Zero(problem_.local().velocity_count());
    for (std::size_t at = 0; at < moved.size(); at += 1 + HeapState::width) {
      const Index start = 6 * places.at(moved[at]);
      for (int k = 0; k < 6; ++k) {
        velocity_(start + k) = std::bit_cast<double>(moved[at + 1 + std::size_t(k)]);
        displacement_(start + k) = std::bit_cast<double>(moved[at + 7 + std::size_t(k)]);
      }
    }
    carom::detail::PetscExchange exchange;
    exchange.lay_out(problem_);
    exchange.update_ghosts(velocity_.data());
    exchange.update_ghosts(displacement_.data());
  }

  /// A hash of the bits of all bodies' velocities: that of each rank's, added. All ranks call it.
  [[nodiscard]] std::uint64_t answer_hash() const {
    const auto count = std::size_t(6 * problem_.own_count());
    std::uint64_t sum = carom::detail::hash_words(velocity_.data(), count * sizeof(double));
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, problem_.communicator());
    return sum;
  }

  /// Writes the answer of a step to a file. All ranks call it.
  void write(const HeapCheckpoint& file, int step) const {
    HeapState state;
    for (Index b = 0; b < problem_.own_count(); ++b) {
      state.bodies.push_back(problem_.id(b));
      for (const VectorX<double>* numbers : {&velocity_, &displacement_}) {
        for (int k = 0; k < 6; ++k) state.numbers.push_back((*numbers)(6 * b + k));
      }
    }
    file.write(problem_.communicator(), parameters(), step, state);
  }
  /// Reads the answer of a step from a file, with any count of ranks. All ranks call it. If one
  /// rank rejects the file, all throw std::invalid_argument.
  /// @return  the step.
  int read(const HeapCheckpoint& file) {
    std::unordered_map<PetscContactProblem::Id, Index> places;
    for (Index b = 0; b < problem_.local().body_count(); ++b) places[problem_.id(b)] = b;
    std::int64_t step = 0;
    std::size_t taken = 0;
    problem_.fill([&](PetscContactProblem&) {
      step = file.read(
          parameters(), [&](std::int64_t body) { return places.contains(body); },
          [&](std::int64_t body, const double* numbers) {
            const Index start = 6 * places[body];
            for (int k = 0; k < 6; ++k) {
              velocity_(start + k) = numbers[k];
              displacement_(start + k) = numbers[6 + k];
            }
            ++taken;
          });
      if (taken != places.size()) {
        carom::detail::reject_if(file.path() + ": expected every body once");
      }
    });
    return int(step);
  }

 private:
  [[nodiscard]] static int rank_count(MPI_Comm communicator) {
    int count = 1;
    MPI_Comm_size(communicator, &count);
    return count;
  }
  /// Makes this rank's part of the heap before the first step.
  void make_part() {
    problem_.reset(shape_.time_step);
    int rank = 0;
    MPI_Comm_rank(problem_.communicator(), &rank);
    problem_.fill([&](PetscContactProblem& part) { HeapPart(shape_, layout_, rank).add_to(part); });
    if (law_.rigid) problem_.local().make_rigid();
    first_biases_.clear();
    for (Index i = 0; i < problem_.local().block_count(); ++i) {
      first_biases_.push_back(problem_.local().friction_contact_law(i).bias_velocity.z());
    }
  }
  [[nodiscard]] bool is_convex() const noexcept {
    return law_.law == FrictionLaw::convex && !law_.rigid;
  }
  [[nodiscard]] HeapParameters parameters() const noexcept {
    return {shape_.body_count, shape_.layers, std::int64_t(shape_.bodies), std::int64_t(law_.law),
            law_.rigid ? 1 : 0};
  }
  [[nodiscard]] PetscContactOptions settings() const {
    PetscContactOptions settings;
    settings.law = law_.law;
    settings.tolerance = law_.tolerance;
    settings.sap.factor_work_limit = law_.factor_work_limit;
    return settings;
  }

  examples::PileShape shape_;
  HeapLaw law_;
  PetscContactProblem problem_;
  HeapLayout layout_;
  VectorX<double> velocity_, displacement_;  ///< of own bodies and ghosts
  std::vector<double> first_biases_;         ///< v̂ₙ of the contacts in the new heap
  PetscContactSolver solver_;
};

}  // namespace carom::distributed
