// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>

#include "carom/contact/problem_differential.hpp"
#include "carom/core/solve_report.hpp"
#include "carom/linalg/detail/growing.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Writes the momentum A dv* − dA (v − v*) of a change of the bodies.
template <RealScalar Scalar, typename Velocity, typename Momentum>
void push_bodies(const ContactProblem<Scalar>& problem, const ProblemDifferential<Scalar>& change,
                 const Velocity& velocity, Momentum& momentum) noexcept {
  momentum.setZero();
  for (Index b = 0; b < problem.body_count(); ++b) {
    const auto [start, size] = problem.body(b);
    auto own = momentum.segment(start, size);
    const auto matrix = problem.momentum_matrix(b);
    for (Index c = 0; c < size; ++c) own += change.free_velocity(start + c) * matrix.col(c);
    if (!change.has_matrices()) continue;
    const auto slope = change.momentum(b);
    for (Index c = 0; c < size; ++c) {
      const Scalar speed = velocity(start + c) - problem.free_velocity()(start + c);
      own -= (speed / 2) * (slope.col(c) + slope.row(c).transpose());
    }
  }
}
/// Writes the gradient of λ · (A dv* − dA (v − v*)) by v* and A.
template <RealScalar Scalar, typename Velocity, typename Lambda>
void pull_bodies(const ContactProblem<Scalar>& problem, const Velocity& velocity,
                 const Lambda& lambda, ProblemDifferential<Scalar>& gradient) noexcept {
  for (Index b = 0; b < problem.body_count(); ++b) {
    const auto [start, size] = problem.body(b);
    const auto matrix = problem.momentum_matrix(b);
    gradient.free_velocity.segment(start, size).noalias() =
        matrix.lazyProduct(lambda.segment(start, size));
    if (!gradient.has_matrices()) continue;
    auto slope = gradient.momentum(b);
    for (Index c = 0; c < size; ++c) {
      const Scalar speed = velocity(start + c) - problem.free_velocity()(start + c);
      slope.col(c) = (speed * lambda.segment(start, size) +
                      lambda(start + c) * (velocity.segment(start, size) -
                                           problem.free_velocity().segment(start, size))) /
                     Scalar(-2);
    }
  }
}

/// dJ v of a block; adds dJᵀ γ to the momentum.
template <typename Block, RealScalar Scalar, typename Velocity, typename Momentum>
[[nodiscard]] typename Block::Rows push_jacobian(const Block& block,
                                                 const ProblemDifferential<Scalar>& change,
                                                 const Velocity& velocity,
                                                 const typename Block::Rows& impulse,
                                                 Momentum& momentum) noexcept {
  typename Block::Rows moved = Block::Rows::Zero();
  for (int s = 0; change.has_matrices() && s < block.side_count(); ++s) {
    const auto [start, size] = block.side(s).range;
    const auto slope = change.jacobian(block.number(), s);
    for (int row = 0; row < block.rows(); ++row) {
      const auto column = slope.row(row).transpose();
      moved(row) += column.dot(velocity.segment(start, size));
      momentum.segment(start, size) += impulse(row) * column;
    }
  }
  return moved;
}
/// Writes the gradient of λ · dJᵀ γ − s · dJ v by J of a block.
/// @param pressed  s [N·s], the gradient by v̂.
template <typename Block, RealScalar Scalar, typename Velocity, typename Lambda>
void pull_jacobian(const Block& block, const Velocity& velocity, const Lambda& lambda,
                   const typename Block::Rows& impulse, const typename Block::Rows& pressed,
                   ProblemDifferential<Scalar>& gradient) noexcept {
  for (int s = 0; gradient.has_matrices() && s < block.side_count(); ++s) {
    const auto [start, size] = block.side(s).range;
    auto slope = gradient.jacobian(block.number(), s);
    for (int row = 0; row < block.rows(); ++row) {
      slope.row(row) = impulse(row) * lambda.segment(start, size).transpose() -
                       pressed(row) * velocity.segment(start, size).transpose();
    }
  }
}

/// Numbers by the data that enter the law of one block directly: a change of them, or a gradient.
template <typename Rows>
struct BlockData {
  Rows excess = Rows::Zero();  ///< by e = v̂ − J v − R γ at fixed v and γ
  typename Rows::Scalar friction{0};
  Rows lower = Rows::Zero(),
       upper = Rows::Zero();  ///< by bounds; of cones upper is by each row's μ
};

/// A problem linearised at its answer (v, γ), and products of the answer's Jacobian by all data
/// with changes of the data, and of its transpose with gradients.
/// The answer satisfies A (v − v*) = Jᵀ γ and a law of each block, which the Law linearises. The
/// change of the answer for a change of the data is the solution of
///
///     dw − Ĵᵀ dγ = a,    P dγ + Q Ĵ dw = b    of every block, in whitened velocities w = Lᵀ v.
///
/// @tparam Law  the blocks' laws with their linear system, LinearizedHessian or LinearizedLaw:
///              - prepare(), linearize(), factor(), boundary_count();
///              - impulse(block), γ; is_soft(block), whether its R counts;
///              - push(block, data change, momentum) writes b, or moves it to a as momentum;
///              - set_gradient(block, dc/dγ, momentum) does so in the transposed system;
///              - solve<Transposed>() from given() to solution(), vectors whose slots start at
///                starts(); then impulse_change(block, dv) is dγ, and pull(block, λ) the gradient
///                by the block's data.
template <typename Law>
class LinearizedAnswer {
 public:
  using Scalar = typename Law::scalar_type;
  using Problem = ContactProblem<Scalar>;
  using Differential = ProblemDifferential<Scalar>;

  [[nodiscard]] Law& law() noexcept { return law_; }
  [[nodiscard]] const Law& law() const noexcept { return law_; }

  /// Allocates memory for the problem's size.
  /// @param more  further arguments of the law's prepare().
  template <typename... More>
  void prepare(const Problem& problem, const More&... more) {
    law_.prepare(problem, more...);
    velocity_.grow(problem.velocity_count());
    response_.grow(problem.velocity_count());
  }

  /// Linearises the problem and factors the linear system.
  /// @param more  further arguments of the law's linearize().
  /// @pre  prepare() was called for the problem.
  template <typename... More>
  LinearizationReport<Scalar> linearize(const Problem& problem, const VectorX<Scalar>& velocity,
                                        const More&... more) noexcept {
    CAROM_EXPECTS(velocity.size() == problem.velocity_count());
    velocity_ = velocity;
    LinearizationReport<Scalar> report;
    report.faulty_block = law_.linearize(problem, velocity_, more...);
    if (report.faulty_block >= 0 || !velocity_.allFinite()) return report;
    report.boundary_count = law_.boundary_count();
    report.status = law_.factor(problem) ? SolveStatus::converged : SolveStatus::no_progress;
    return report;
  }

  /// The change of the answer for a change of the data.
  /// @param velocity_change  dv, written.
  /// @param impulse_change   dγ, written unless null.
  SolveReport<Scalar> push_forward(const Problem& problem, const Differential& change,
                                   VectorX<Scalar>& velocity_change,
                                   VectorX<Scalar>* impulse_change) noexcept;

  /// The gradient by all data of a scalar c of the answer.
  /// @param by_velocity  dc/dv.
  /// @param by_impulse   dc/dγ; null for zero.
  SolveReport<Scalar> pull_back(const Problem& problem, const VectorX<Scalar>& by_velocity,
                                const VectorX<Scalar>* by_impulse, Differential& gradient) noexcept;

 private:
  /// Solves the linear system, or the transposed one, from momenta to velocities.
  template <bool Transposed, typename Vector>
  SolveReport<Scalar> solve(const Problem& problem, Vector& x) noexcept;

  Law law_;
  Growing<VectorX<Scalar>> velocity_, response_;  ///< v, and the last λ
};

// --- implementation ---

template <typename Law>
template <bool Transposed, typename Vector>
auto LinearizedAnswer<Law>::solve(const Problem& problem, Vector& x) noexcept
    -> SolveReport<Scalar> {
  problem.whiten_momentum(as_span(x));
  const auto for_each_body = [&](const auto& visit) {
    for (Index b = 0; b < problem.body_count(); ++b) {
      const int slot = law_.graph().slot_of(b);
      if (slot < 0) continue;  // without blocks dw = a
      const auto [start, size] = problem.body(b);
      visit(x.data() + start, law_.starts()[slot], size);
    }
  };
  for_each_body([&](const Scalar* from, Index place, Index size) {
    std::copy_n(from, size, law_.given() + place);
  });
  SolveReport<Scalar> report = law_.template solve<Transposed>();
  for_each_body(
      [&](Scalar* to, Index place, Index size) { std::copy_n(law_.solution() + place, size, to); });
  problem.unwhiten(as_span(x));
  report.error_bound = std::numeric_limits<Scalar>::infinity();
  if (!x.allFinite()) report.status = SolveStatus::not_finite;
  return report;
}

template <typename Law>
auto LinearizedAnswer<Law>::push_forward(const Problem& problem, const Differential& change,
                                         VectorX<Scalar>& velocity_change,
                                         VectorX<Scalar>* impulse_change) noexcept
    -> SolveReport<Scalar> {
  CAROM_EXPECTS(change.fits(problem) && velocity_.size() == problem.velocity_count());
  VectorX<Scalar>& x = velocity_change;
  x.resize(problem.velocity_count());
  push_bodies(problem, change, velocity_, x);
  problem.for_each_block_by_kind([&](const auto& block) {
    using Rows = typename std::decay_t<decltype(block)>::Rows;
    const Rows impulse = law_.impulse(block);
    Rows excess =
        block.read(change.bias_velocity) - push_jacobian(block, change, velocity_, impulse, x);
    if (law_.is_soft(block)) excess -= impulse.cwiseProduct(block.read(change.regularization));
    law_.push(block,
              BlockData<Rows>{excess, change.friction(block.number()), block.read(change.lower),
                              block.read(change.upper)},
              x);
  });
  const SolveReport<Scalar> report = solve<false>(problem, x);
  if (impulse_change == nullptr) return report;
  impulse_change->resize(problem.impulse_count());
  problem.for_each_block_by_kind(
      [&](const auto& block) { block.write(law_.impulse_change(block, x), *impulse_change); });
  return report;
}

template <typename Law>
auto LinearizedAnswer<Law>::pull_back(const Problem& problem, const VectorX<Scalar>& by_velocity,
                                      const VectorX<Scalar>* by_impulse,
                                      Differential& gradient) noexcept -> SolveReport<Scalar> {
  CAROM_EXPECTS(gradient.fits(problem) && by_velocity.size() == problem.velocity_count());
  CAROM_EXPECTS(velocity_.size() == problem.velocity_count());
  CAROM_EXPECTS(by_impulse == nullptr || by_impulse->size() == problem.impulse_count());
  auto& lambda = response_;
  lambda = by_velocity;
  law_.clear_gradient();
  if (by_impulse != nullptr) {
    problem.for_each_block_by_kind(
        [&](const auto& block) { law_.set_gradient(block, block.read(*by_impulse), lambda); });
  }
  const SolveReport<Scalar> report = solve<true>(problem, lambda);
  pull_bodies(problem, velocity_, lambda, gradient);
  problem.for_each_block_by_kind([&](const auto& block) {
    using Rows = typename std::decay_t<decltype(block)>::Rows;
    const Rows impulse = law_.impulse(block);
    const BlockData<Rows> own = law_.pull(block, lambda);
    Rows softened = Rows::Zero();
    if (law_.is_soft(block)) softened = -impulse.cwiseProduct(own.excess);
    block.write(own.excess, gradient.bias_velocity);
    block.write(softened, gradient.regularization);
    block.write(own.lower, gradient.lower);
    block.write(own.upper, gradient.upper);
    gradient.friction(block.number()) = own.friction;
    pull_jacobian(block, velocity_, lambda, impulse, own.excess, gradient);
  });
  return report;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
