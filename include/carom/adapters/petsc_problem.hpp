// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <mpi.h>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "carom/contact/contact_problem.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Makes all ranks refuse their data if one of them does, so that none waits for another.
///
/// Every rank calls it. Where any fault is not empty, all throw std::invalid_argument with the
/// sentence of the lowest such rank, "rank 3: body 17: ...".
/// @param fault  what is wrong on this rank; empty where nothing is.
inline void reject_together(MPI_Comm communicator, const Fault& fault) {
  int rank = 0, rank_count = 1;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &rank_count);
  const int own = fault.empty() ? rank_count : rank;
  int first = rank_count;
  MPI_Allreduce(&own, &first, 1, MPI_INT, MPI_MIN, communicator);
  if (first == rank_count) return;
  Fault sentence = rank == first ? "rank " + std::to_string(rank) + ": " + fault : Fault{};
  int length = int(sentence.size());
  MPI_Bcast(&length, 1, MPI_INT, first, communicator);
  sentence.resize(std::size_t(length));
  MPI_Bcast(sentence.data(), length, MPI_CHAR, first, communicator);
  detail::reject_if(sentence);
}

/// One contact problem on all ranks of a communicator. Each rank has its own bodies, the blocks
/// that touch them, and, as ghosts, the bodies of other ranks at the far side of those blocks.
///
/// A block between bodies of two ranks is cut: both ranks add it, each with its own body and the
/// other's ghost. Each computes its impulse and moves its own body, so that the velocities of
/// ghosts are all that ranks have to send each other. Blocks between two ghosts may be added too:
/// they change no answer, and with them solves take fewer iterations.
///
/// ```
/// carom::PetscContactProblem problem(PETSC_COMM_WORLD, 0.01);
/// problem.fill([&](auto& part) {
///   const auto ball = part.add_body(7, momentum_matrix, free_velocity);
///   const auto other = part.add_ghost(8, its_momentum_matrix, its_free_velocity);
///   part.local().add_contact(ball, jacobian, other, its_jacobian, law);
/// });
/// ```
/// @note  Cold: allocates, and throws std::invalid_argument.
class PetscContactProblem {
 public:
  /// A body's number, the same on all ranks; any numbers ≥ 0, without order.
  using Id = std::int64_t;

  /// @param communicator  one that PETSc may use; it has to outlive the problem.
  /// @param time_step     δt [s], > 0.
  PetscContactProblem(MPI_Comm communicator, double time_step)
      : communicator_(communicator), local_(time_step) {}

  /// Forgets all bodies and blocks, keeps their memory.
  void reset(double time_step) {
    local_.reset(time_step);
    ids_.clear();
    motions_.clear();
    own_count_ = 0;
  }

  /// Adds a body of this rank. All own bodies come before the ghosts.
  /// @param momentum_matrix  A [kg, kg·m²], n×n, symmetric positive definite.
  /// @param free_velocity    v* [m/s, rad/s], n.
  /// @return  its index in local().
  template <typename MatrixType, typename VectorType>
  Index add_body(Id id, const Eigen::MatrixBase<MatrixType>& momentum_matrix,
                 const Eigen::MatrixBase<VectorType>& free_velocity) {
    if (own_count_ < local_.body_count()) {
      detail::reject_if("body " + std::to_string(id) + ": expected own bodies before ghosts");
    }
    const Index body = add("body ", id, momentum_matrix, free_velocity);
    ++own_count_;
    return body;
  }
  /// Adds a body of another rank, as that rank has it.
  /// @return  its index in local().
  template <typename MatrixType, typename VectorType>
  Index add_ghost(Id id, const Eigen::MatrixBase<MatrixType>& momentum_matrix,
                  const Eigen::MatrixBase<VectorType>& free_velocity) {
    return add("ghost body ", id, momentum_matrix, free_velocity);
  }

  /// Says how an own body moves when all bodies move as one: its part in the coarse space of the
  /// preconditioner. It changes how long a solve takes, and never the answer.
  /// @param motions  size of the body × 6; zeros where it takes no part.
  template <typename MatrixType>
  void set_motions(Index body, const Eigen::MatrixBase<MatrixType>& motions) {
    CAROM_EXPECTS(body >= 0 && body < own_count_);
    const auto [start, size] = local_.body(body);
    CAROM_EXPECTS(motions.rows() == size && motions.cols() == 6);
    Eigen::Map<MatrixX<double>>(motions_.data() + 6 * start, size, 6) = motions;
  }
  /// The same for a free rigid body whose velocity is (angular, linear) in the axes of the world.
  /// @param position  of its centre of mass [m].
  void set_position(Index body, const Vector3<double>& position) {
    SquareMatrix<double, 6> motions = SquareMatrix<double, 6>::Identity();
    for (int k = 0; k < 3; ++k) {
      motions.block<3, 1>(3, k) = Vector3<double>::Unit(k).cross(position);
    }
    set_motions(body, motions);
  }

  /// Lets every rank add its part; where any of them is refused, all ranks throw what that one was
  /// told, with its rank.
  /// @param add  add(*this) on this rank alone; it must not wait for other ranks.
  template <typename Add>
  void fill(Add&& add) {
    Fault fault;
#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
    try {
      add(*this);
    } catch (const std::exception& error) {
      fault = error.what();
      if (fault.empty()) fault = "an error without words";
    }
#else
    add(*this);
#endif
    reject_together(communicator_, fault);
  }

  [[nodiscard]] MPI_Comm communicator() const noexcept {
    return communicator_;
  }
  /// This rank's part as a problem of its own: own bodies, then ghosts, and all blocks on them.
  [[nodiscard]] ContactProblem<double>& local() noexcept {
    return local_;
  }
  [[nodiscard]] const ContactProblem<double>& local() const noexcept {
    return local_;
  }
  /// Own bodies, of which there may be none.
  [[nodiscard]] Index own_count() const noexcept {
    return own_count_;
  }
  /// Unknowns of own bodies; they come first in local().
  [[nodiscard]] Index own_size() const noexcept {
    return own_count_ < local_.body_count() ? local_.body(own_count_).start
                                            : local_.velocity_count();
  }
  [[nodiscard]] Id id(Index body) const noexcept {
    return ids_[std::size_t(body)];
  }
  [[nodiscard]] bool is_own(Index body) const noexcept {
    return body < own_count_;
  }
  /// set_motions() of an own body; as far as they go, unit vectors where nothing was said.
  [[nodiscard]] Eigen::Map<const MatrixX<double>> motions(Index body) const noexcept {
    const auto [start, size] = local_.body(body);
    return {motions_.data() + 6 * start, size, 6};
  }
  /// Whether a block is between bodies of two ranks.
  [[nodiscard]] bool is_cut(Index block) const noexcept {
    return local_.side_count(block) == 2 &&
           is_own(local_.side_body(block, 0)) != is_own(local_.side_body(block, 1));
  }
  /// Whether a block moves a body of this rank.
  [[nodiscard]] bool touches_own(Index block) const noexcept {
    for (int s = 0; s < local_.side_count(block); ++s) {
      if (is_own(local_.side_body(block, s))) return true;
    }
    return false;
  }
  /// Whether this rank counts a block in sums over all ranks: of a cut one, the rank of the body
  /// with the lower number does; one between ghosts is for others to count.
  [[nodiscard]] bool counts(Index block) const noexcept {
    if (!is_cut(block)) return touches_own(block);
    const Index first = local_.side_body(block, 0), second = local_.side_body(block, 1);
    return is_own(id(first) < id(second) ? first : second);
  }

 private:
  template <typename MatrixType, typename VectorType>
  Index add(const char* kind, Id id, const Eigen::MatrixBase<MatrixType>& momentum_matrix,
            const Eigen::MatrixBase<VectorType>& free_velocity) {
    const std::string item = kind + std::to_string(id);
    if (id < 0) detail::reject_if(item + ": expected a number >= 0");
    if (Fault fault = local_.check_body(momentum_matrix, free_velocity); !fault.empty()) {
      const std::string own_name = "body " + std::to_string(local_.body_count());
      detail::reject_if(item + fault.substr(own_name.size()));
    }
    const Index body = local_.add_body(momentum_matrix, free_velocity);
    ids_.push_back(id);
    const Index size = momentum_matrix.rows();
    motions_.resize(std::size_t(6 * local_.velocity_count()), 0.0);
    Eigen::Map<MatrixX<double>>(motions_.data() + 6 * local_.body(body).start, size, 6)
        .setIdentity();
    return body;
  }

  MPI_Comm communicator_;
  ContactProblem<double> local_;
  std::vector<Id> ids_;
  std::vector<double> motions_;
  Index own_count_ = 0;
};

}  // namespace CAROM_ABI
}  // namespace carom
