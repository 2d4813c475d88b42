// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "carom/contact/detail/contact_graph.hpp"
#include "carom/contact/primal.hpp"
#include "carom/linalg/detail/block_cholesky.hpp"

namespace carom::examples {

/// The linear system of one Newton step of SAP in whitened velocities, H d = −∇ℓ(w), with
/// H = I + Ĵᵀ G Ĵ; the whole of it, in one process.
struct NewtonSystem {
  const ContactProblem<double>* problem = nullptr;
  std::vector<SquareMatrix<double, 3>> curvature;  ///< G per contact [kg]
  VectorX<double> load;                            ///< −∇ℓ, n_v [√J]

  /// @param velocity  v, where the step starts [m/s, rad/s].
  NewtonSystem(const ContactProblem<double>& given, const VectorX<double>& velocity)
      : problem(&given) {
    for (Index i = 0; i < given.block_count(); ++i) {
      const auto contact = given.friction_contact(i);
      curvature.push_back(contact.curvature(contact.trial(contact.velocity(velocity))));
    }
    write_gradient(given, velocity, load);
    given.whiten_momentum(carom::as_span(load));
    load = -load;
  }

  /// A system of given curvatures, without a load: for its factor.
  NewtonSystem(const ContactProblem<double>& given, std::vector<SquareMatrix<double, 3>> curvatures)
      : problem(&given), curvature(std::move(curvatures)) {}

  /// y = H x.
  void multiply(const VectorX<double>& x, VectorX<double>& y) const {
    y = x;
    for (Index i = 0; i < problem->block_count(); ++i) {
      const auto contact = problem->friction_contact(i);
      Vector3<double> rate = Vector3<double>::Zero();
      for (int s = 0; s < contact.side_count(); ++s) {
        const auto [start, size] = contact.side(s).range;
        rate.noalias() += contact.whitened_columns(s).transpose() * x.segment(start, size);
      }
      const Vector3<double> impulse = curvature[std::size_t(i)] * rate;
      for (int s = 0; s < contact.side_count(); ++s) {
        const auto [start, size] = contact.side(s).range;
        y.segment(start, size).noalias() += contact.whitened_columns(s) * impulse;
      }
    }
  }

  /// ‖A^{-1/2}(∇²ℓ) A^{-T/2} x − y‖/‖y‖ with the dense Hessian of the contact room: whether
  /// multiply() is right. Memory grows with n_v².
  [[nodiscard]] double compare_with_dense(const VectorX<double>& velocity, VectorX<double> x,
                                          const VectorX<double>& y) const {
    MatrixX<double> hessian;
    write_hessian(*problem, velocity, hessian);
    problem->unwhiten(carom::as_span(x));
    VectorX<double> product = hessian * x;
    problem->whiten_momentum(carom::as_span(product));
    return (product - y).norm() / y.norm();
  }
};

/// The sparse Cholesky factor of a NewtonSystem's H, in one process.
class NewtonFactor {
 public:
  /// Throws std::runtime_error where H is not positive definite in double.
  explicit NewtonFactor(const NewtonSystem& system) : problem_(system.problem) {
    graph_.analyse(*problem_, 1e300);
    cholesky_.reset(graph_.forest());
    starts_.resize(std::size_t(graph_.slot_count()));
    for (Index slot = 0; slot < graph_.slot_count(); ++slot) {
      starts_[std::size_t(slot)] = problem_->body(graph_.body_at(slot)).start;
    }
    for (const ContactIsland& island : graph_.islands()) cholesky_.clear(island.range);
    add_identity();
    for (Index i = 0; i < problem_->block_count(); ++i) add_contact(system, i);
    for (const ContactIsland& island : graph_.islands()) {
      if (!cholesky_.factor(island.range)) {
        throw std::runtime_error("Newton step: expected a positive definite Hessian");
      }
    }
  }

  /// x ← H⁻¹ x.
  void solve(VectorX<double>& x) const {
    std::vector<double> scratch(2 * std::size_t(graph_.forest().largest_front()));
    for (const ContactIsland& island : graph_.islands()) {
      cholesky_.solve(island.range, x.data(), starts_.data(), scratch.data());
    }
  }

 private:
  using Block = BlockCholesky<double>::Block;

  void add_identity() {
    for (Index slot = 0; slot < graph_.slot_count(); ++slot) {
      const Block block = cholesky_.diagonal(slot);
      for (Index k = 0; k < graph_.forest().size(slot); ++k)
        block.data[k * (block.stride + 1)] += 1;
    }
  }
  void add_contact(const NewtonSystem& system, Index i) {
    const auto add = [](const Block& block, const MatrixX<double>& part) {
      for (Index c = 0; c < part.cols(); ++c) {
        for (Index r = 0; r < part.rows(); ++r) block.data[c * block.stride + r] += part(r, c);
      }
    };
    const auto contact = problem_->friction_contact(i);
    const SquareMatrix<double, 3>& g = system.curvature[std::size_t(i)];
    for (int a = 0; a < contact.side_count(); ++a) {
      const int row = graph_.slot_of(contact.side(a).body);
      const MatrixX<double> pushed = contact.whitened_columns(a) * g;
      for (int b = 0; b < contact.side_count(); ++b) {
        const int column = graph_.slot_of(contact.side(b).body);
        const MatrixX<double> part = pushed * contact.whitened_columns(b).transpose();
        if (row == column) add(cholesky_.diagonal(row), part);
        if (row > column) {
          add(cholesky_.block(cholesky_.place_below(column, row), column), part);
        }
      }
    }
  }

  const ContactProblem<double>* problem_;
  ContactGraph graph_;
  BlockCholesky<double> cholesky_;
  std::vector<Index> starts_;
};

}  // namespace carom::examples
