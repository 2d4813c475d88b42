// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <type_traits>

#include <Eigen/Core>

#include "carom/cones/convex_contact.hpp"
#include "carom/contact/contact_problem.hpp"
#include "carom/core/detail/plain_loops.hpp"
#include "carom/linalg/detail/sequence.hpp"
#include "carom/solvers/rows/dual_blocks.hpp"
#include "carom/solvers/rows/split_cone.hpp"
#include "carom/solvers/search/block_sweep.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Sweeps of projected Gauss-Seidel over the blocks of a ContactProblem as they were added: each
/// block's law is solved while the impulses of all others are constant, with SplitCone where that
/// is possible, otherwise exactly. Nothing is sorted, packed or factored, so that the first sweep
/// comes after one pass over the blocks.
///
/// The unknowns are the impulses, by rows, and the whitened velocities w = w* + Ĵᵀγ of the bodies.
/// All sweeps go forwards: sweeps in turn let a wall of 500 cubes sink three times as deep, in ten
/// sweeps of each step. They do not ask for the velocities that remove the overlaps of rigid
/// contacts, which the law does not require and which spread slowly.
template <RealScalar Scalar>
class ProblemSweep {
 public:
  /// Allocates memory for the problem's size, so that start() does not.
  void reserve(const ContactProblem<Scalar>& problem, FrictionLaw law) {
    const Index triples = problem.friction_contact_count();
    const bool coulomb = law == FrictionLaw::coulomb;
    coulomb_.resize(coulomb ? triples : 0);
    convex_.resize(coulomb ? 0 : triples);
    rows_.resize(problem.block_count() - triples);
    whitened_.resize(problem.velocity_count());
  }

  /// Begins at impulses. They are moved into their sets.
  /// @param impulse  γ, impulse_count() [N·s], finite; in and out.
  /// @note  Allocates only for a problem larger than every problem before.
  void start(const ContactProblem<Scalar>& problem, FrictionLaw law, Scalar* impulse);

  /// One sweep. The problem and the impulses are those of start().
  /// @return  the share of the impulses that changed [-]: Σ ‖Δγ‖²_D / Σ ‖γ‖²_D over the blocks, D
  ///          the diagonal of W + R.
  Scalar sweep(const ContactProblem<Scalar>& problem, Scalar* impulse) noexcept;

  /// Impulses of another problem, as a guess, may add energy: if the dual cost
  /// ½ γᵀ(W + R)γ + γᵀq is positive, multiplies all impulses by the share at which it is zero, as
  /// without impulses. Call it after the first sweep, which makes the guess agree at each contact:
  /// a common factor takes from all contacts what a few have too much.
  void limit_energy(const ContactProblem<Scalar>& problem, Scalar* impulse) noexcept;

  /// v = v* + A⁻¹ Jᵀγ.
  /// @param velocity  n_v, written.
  void write_velocity(const ContactProblem<Scalar>& problem, Scalar* velocity) const noexcept {
    std::copy_n(whitened_.data(), whitened_.size(), velocity);
    problem.unwhiten({velocity, std::size_t(whitened_.size())});
  }
  [[nodiscard]] bool is_finite() const noexcept {
    return all_finite(whitened_.data(), whitened_.size());
  }

 private:
  /// A friction contact under Coulomb's law.
  using CoulombTriple = SplitCone<Scalar, 3>;
  /// A friction contact under the convex law.
  struct ConvexTriple {
    FrictionTriple<Scalar, ConvexInverseMass<Scalar>> law;
    SquareMatrix<Scalar, 3> w;  ///< W + R
    [[nodiscard]] const Scalar& own(int row) const noexcept { return w(row, row); }
  };
  /// Any other block.
  struct Rows {
    bool is_split;  ///< whether `split` solves it, otherwise `law`
    SplitCone<Scalar, 6> split;
    LocalRows<Scalar> law;
    SquareMatrix<Scalar, 6> w;  ///< W + R
    [[nodiscard]] const Scalar& own(int row) const noexcept { return w(row, row); }
  };
  template <int Capacity>
  using Numbers = Vector<Scalar, Capacity>;

  template <int Capacity>
  [[nodiscard]] static Numbers<Capacity> softness(
      const BlockView<Scalar, Capacity>& block) noexcept {
    if (block.law().rigid) return Numbers<Capacity>::Zero();
    Numbers<Capacity> result = block.regularization();
    for (int r = block.rows(); r < Capacity; ++r) result(r) = Scalar(0);
    return result;
  }
  /// W + R of a block.
  template <int Capacity>
  [[nodiscard]] static SquareMatrix<Scalar, Capacity> soft_block(
      const BlockView<Scalar, Capacity>& block) noexcept {
    SquareMatrix<Scalar, Capacity> w = block.own_delassus();
    const Numbers<Capacity> r = softness(block);
    for (int k = 0; k < Capacity; ++k) w(k, k) += r(k);
    return w;
  }
  template <int Capacity>
  [[nodiscard]] static Scalar scale_of(const SquareMatrix<Scalar, Capacity>& w) noexcept {
    const Scalar trace = w.trace();
    return trace > Scalar(0) ? trace : Scalar(1);
  }
  void prepare(const BlockView<Scalar>& block, Rows& rows) noexcept {
    rows.w = soft_block(block);
    rows.is_split = law_ == FrictionLaw::coulomb && SplitCone<Scalar, 6>::covers(block.set());
    if (rows.is_split) {
      rows.split.prepare(block.set(), rows.w, scale_of(rows.w));
    } else {
      rows.law.prepare(law_, block.set(), rows.w, scale_of(rows.w));
    }
  }
  static void prepare(const BlockView<Scalar, 3>& block, CoulombTriple& triple) noexcept {
    const SquareMatrix<Scalar, 3> w = soft_block(block);
    triple.prepare(block.set(), w, scale_of(w));
  }
  static void prepare(const BlockView<Scalar, 3>& block, ConvexTriple& triple) noexcept {
    triple.w = soft_block(block);
    triple.law.prepare(triple.w, block.law().friction, scale_of(triple.w));
  }

  /// What blocks add up.
  struct Sums {
    Scalar changed = 0, total = 0;
  };
  /// Moves the guess of a block into its set, and adds it to Ĵᵀγ.
  template <int Capacity>
  void add_guess(const BlockView<Scalar, Capacity>& block, Scalar* impulse) noexcept {
    Numbers<Capacity> gamma = block.read(impulse);
    if (gamma.isZero(Scalar(0)) && block.is_cone()) return;
    gamma = block.nearest_unweighted(gamma);
    block.add_whitened_impulse(gamma.data(), whitened_.data());
    for (int k = 0; k < block.rows(); ++k) impulse[block.first_row() + k] = gamma(k);
  }

  /// A block that sweep_blocks() solves.
  template <int Capacity, typename Local>
  struct One {
    const BlockView<Scalar, Capacity>& block;
    Local& local;
    Scalar *impulse, *whitened;
    Sums& sums;

    /// u = Ĵ w − v̂ + R γ.
    [[nodiscard]] Numbers<Capacity> held() const noexcept {
      Numbers<Capacity> u = -block.least_bias_velocity();
      block.add_whitened_velocity(whitened, u.data());
      if (block.law().rigid) return u;
      const Numbers<Capacity> r = block.regularization();
      for (int k = 0; k < block.rows(); ++k) u(k) += r(k) * impulse[block.first_row() + k];
      return u;
    }
    /// u without γ.
    [[nodiscard]] Numbers<Capacity> without_own(Numbers<Capacity> u,
                                                const Numbers<Capacity>& gamma) const noexcept {
      for (int c = 0; c < block.rows(); ++c) {
        for (int r = 0; r < block.rows(); ++r) u(r) -= local.w(r, c) * gamma(c);
      }
      return u;
    }
    [[nodiscard]] Numbers<Capacity> solve(const Numbers<Capacity>& velocity) const noexcept {
      Numbers<Capacity> gamma = block.read(impulse);
      if constexpr (std::is_same_v<Local, CoulombTriple>) {
        local.solve(velocity, gamma);
      } else if constexpr (Capacity == 3) {
        gamma = local.law.solve(without_own(velocity, gamma), gamma.data());
      } else if (local.is_split) {
        local.split.solve(velocity, gamma);
      } else {
        local.law.solve(without_own(velocity, gamma), gamma);
      }
      return gamma;
    }
    void spread(const Numbers<Capacity>& gamma) const noexcept {
      Scalar change[Capacity];
      Scalar changed(0);
      for (int k = 0; k < block.rows(); ++k) {
        Scalar& own = impulse[block.first_row() + k];
        change[k] = gamma(k) - own;
        own = gamma(k);
        changed += local.own(k) * (change[k] * change[k]);
        sums.total += local.own(k) * (own * own);
      }
      if (changed == Scalar(0)) return;
      sums.changed += changed;
      block.add_whitened_impulse(change, whitened);
    }
  };

  /// Calls visit(block, its triple or rows).
  template <typename Triples, typename Visit>
  void with_block(const ContactProblem<Scalar>& problem, Triples& triples, Index i,
                  Visit&& visit) noexcept {
    if (problem.is_friction_contact(i)) {
      visit(problem.friction_contact(i), triples[problem.number_of_kind(i)]);
    } else {
      visit(problem.other_block(i), rows_[problem.number_of_kind(i)]);
    }
  }
  template <typename Visit>
  decltype(auto) with_triples(Visit&& visit) noexcept {
    return law_ == FrictionLaw::coulomb ? visit(coulomb_) : visit(convex_);
  }

  Sequence<CoulombTriple> coulomb_;
  Sequence<ConvexTriple> convex_;
  Sequence<Rows> rows_;
  Sequence<Scalar> whitened_;
  FrictionLaw law_ = FrictionLaw::coulomb;
};

// --- implementation ---

template <RealScalar Scalar>
void ProblemSweep<Scalar>::start(const ContactProblem<Scalar>& problem, FrictionLaw law,
                                 Scalar* impulse) {
  law_ = law;
  reserve(problem, law);
  std::copy_n(problem.whitened_free_velocity().data(), whitened_.size(), whitened_.data());
  with_triples([&](auto& triples) {
    for (Index i = 0; i < problem.block_count(); ++i) {
      with_block(problem, triples, i, [&](const auto& block, auto& local) {
        prepare(block, local);
        add_guess(block, impulse);
      });
    }
  });
}

template <RealScalar Scalar>
Scalar ProblemSweep<Scalar>::sweep(const ContactProblem<Scalar>& problem,
                                   Scalar* impulse) noexcept {
  Sums sums;
  with_triples([&](auto& triples) {
    sweep_blocks(problem.block_count(), false, [&](Index i, auto&& solve) noexcept {
      with_block(problem, triples, i, [&](const auto& block, auto& local) {
        solve(One<std::remove_cvref_t<decltype(block)>::capacity,
                  std::remove_reference_t<decltype(local)>>{block, local, impulse, whitened_.data(),
                                                            sums});
      });
    });
  });
  return sums.total > Scalar(0) ? sums.changed / sums.total : Scalar(0);
}

template <RealScalar Scalar>
void ProblemSweep<Scalar>::limit_energy(const ContactProblem<Scalar>& problem,
                                        Scalar* impulse) noexcept {
  // γᵀq = w*ᵀĴᵀγ − γᵀv̂, for w = w* + Ĵᵀγ
  Scalar load(0), curvature(0);
  bool is_inside = true;  // whether all s γ with 0 ≤ s ≤ 1 are in their sets
  problem.for_each_block_by_kind([&](const auto& block) {
    const auto gamma = block.read(impulse);
    if (gamma.isZero(Scalar(0))) return;
    is_inside = is_inside && block.is_cone();
    const auto soft = softness(block);
    load -= gamma.dot(block.least_bias_velocity());
    curvature += gamma.dot(soft.cwiseProduct(gamma));
  });
  const auto free = problem.whitened_free_velocity();
  for (Index k = 0; k < whitened_.size(); ++k) {
    const Scalar pushed = whitened_[k] - free(k);
    load += pushed * free(k);
    curvature += pushed * pushed;
  }
  if (!is_inside || !(curvature / 2 + load > Scalar(0))) return;
  const Scalar share = load < Scalar(0) ? Scalar(-2) * load / curvature : Scalar(0);
  for (Index k = 0; k < problem.impulse_count(); ++k) impulse[k] *= share;
  for (Index k = 0; k < whitened_.size(); ++k) {
    whitened_[k] = free(k) + share * (whitened_[k] - free(k));
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
