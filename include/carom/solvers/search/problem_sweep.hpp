// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <Eigen/Core>

#include "carom/cones/convex_contact.hpp"
#include "carom/cones/coulomb_contact.hpp"
#include "carom/contact/contact_problem.hpp"
#include "carom/core/detail/plain_loops.hpp"
#include "carom/linalg/detail/sequence.hpp"
#include "carom/solvers/rows/dual_blocks.hpp"
#include "carom/solvers/search/block_sweep.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Sweeps of projected Gauss-Seidel over the blocks of a ContactProblem as they were added: each
/// block's law is solved exactly while the impulses of all others are constant. Nothing is sorted,
/// packed or factored, so that the first sweep comes after two passes over the blocks.
///
/// The unknowns are the impulses, by rows, and the whitened velocities w = w* + Ĵᵀγ of the bodies.
/// Sweeps go forwards and backwards in turn. They do not ask for the velocities that remove the
/// overlaps of rigid contacts, which the law does not require and which spread slowly.
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

  /// Begins at impulses. They are moved into their sets, and scaled down to the point of lowest
  /// dual cost ½ γᵀ(W + R)γ + γᵀq, because the impulses of another problem may add energy.
  /// @param impulse  γ, impulse_count() [N·s], finite; in and out.
  /// @note  Allocates only for a problem larger than every problem before.
  void start(const ContactProblem<Scalar>& problem, FrictionLaw law, Scalar* impulse);

  /// One sweep. The problem and the impulses are those of start().
  /// @return  the share of the impulses that changed [-]: Σ ‖Δγ‖²_D / Σ ‖γ‖²_D over the blocks, D
  ///          the diagonal of W.
  Scalar sweep(const ContactProblem<Scalar>& problem, Scalar* impulse) noexcept;

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
  /// A friction contact with its own block W + R.
  template <typename InverseMass>
  struct Triple {
    FrictionTriple<Scalar, InverseMass> law;
    SquareMatrix<Scalar, 3> own;  ///< W
  };
  struct Rows {
    LocalRows<Scalar> law;
    SquareMatrix<Scalar, 6> own;  ///< W
  };
  /// What blocks add up.
  struct Sums {
    Scalar changed = 0, total = 0;
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
  void prepare(const BlockView<Scalar>& block, Rows& rows) noexcept {
    rows.own = block.own_delassus();
    SquareMatrix<Scalar, 6> soft = rows.own;
    const Numbers<6> r = softness(block);
    Scalar trace(0);
    for (int k = 0; k < 6; ++k) trace += soft(k, k) += r(k);
    rows.law.prepare(law_, block.set(), soft, trace > Scalar(0) ? trace : Scalar(1));
  }
  template <typename InverseMass>
  static void prepare(const BlockView<Scalar, 3>& block, Triple<InverseMass>& triple) noexcept {
    triple.own = block.own_delassus();
    SquareMatrix<Scalar, 3> soft = triple.own;
    const Numbers<3> r = softness(block);
    for (int k = 0; k < 3; ++k) soft(k, k) += r(k);
    const Scalar trace = soft(0, 0) + soft(1, 1) + soft(2, 2);
    triple.law.prepare(soft, block.law().friction, trace > Scalar(0) ? trace : Scalar(1));
  }

  /// The impulses s γ, s ≥ 0.
  struct Ray {
    Scalar load = 0, curvature = 0;  ///< γᵀq and γᵀ(W + R)γ
    bool is_inside = true;           ///< whether all s ≤ 1 are inside of all sets
  };
  /// Moves the guess of a block into its set, and adds it to Ĵᵀγ and to the ray.
  template <int Capacity>
  void add_guess(const ContactProblem<Scalar>& problem, const BlockView<Scalar, Capacity>& block,
                 Scalar* impulse, Ray& ray) noexcept {
    Numbers<Capacity> gamma = block.read(impulse);
    if (block.is_cone() && gamma.isZero(Scalar(0))) return;
    ray.is_inside = ray.is_inside && block.is_cone();
    gamma = block.nearest_unweighted(gamma);
    const Numbers<Capacity> soft = softness(block);
    Numbers<Capacity> load = -block.least_bias_velocity();
    block.add_whitened_velocity(problem.whitened_free_velocity().data(), load.data());
    block.add_whitened_impulse(gamma.data(), whitened_.data());
    for (int k = 0; k < block.rows(); ++k) {
      impulse[block.first_row() + k] = gamma(k);
      ray.load += gamma(k) * load(k);
      ray.curvature += soft(k) * (gamma(k) * gamma(k));
    }
  }

  /// A block that sweep_blocks() solves.
  template <int Capacity, typename Local>
  struct One {
    const BlockView<Scalar, Capacity>& block;
    Local& local;
    Scalar *impulse, *whitened;
    Sums& sums;

    /// u without the block's own impulse.
    [[nodiscard]] Numbers<Capacity> held() const noexcept {
      const int count = block.rows();
      Numbers<Capacity> u = -block.least_bias_velocity();
      block.add_whitened_velocity(whitened, u.data());
      for (int c = 0; c < count; ++c) {
        const Scalar& gamma = impulse[block.first_row() + c];
        for (int r = 0; r < count; ++r) u(r) -= local.own(r, c) * gamma;
      }
      return u;
    }
    [[nodiscard]] Numbers<Capacity> solve(const Numbers<Capacity>& velocity) const noexcept {
      if constexpr (Capacity == 3) {
        return local.law.solve(velocity, impulse + block.first_row());
      } else {
        Numbers<Capacity> gamma = block.read(impulse);
        local.law.solve(velocity, gamma);
        return gamma;
      }
    }
    void spread(const Numbers<Capacity>& gamma) const noexcept {
      Scalar change[Capacity];
      Scalar changed(0);
      for (int k = 0; k < block.rows(); ++k) {
        Scalar& own = impulse[block.first_row() + k];
        change[k] = gamma(k) - own;
        own = gamma(k);
        changed += local.own(k, k) * (change[k] * change[k]);
        sums.total += local.own(k, k) * (own * own);
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

  Sequence<Triple<CoulombInverseMass<Scalar>>> coulomb_;
  Sequence<Triple<ConvexInverseMass<Scalar>>> convex_;
  Sequence<Rows> rows_;
  Sequence<Scalar> whitened_;
  FrictionLaw law_ = FrictionLaw::coulomb;
  bool backward_ = false;
};

// --- implementation ---

template <RealScalar Scalar>
void ProblemSweep<Scalar>::start(const ContactProblem<Scalar>& problem, FrictionLaw law,
                                 Scalar* impulse) {
  law_ = law;
  backward_ = false;
  reserve(problem, law);
  std::fill(whitened_.begin(), whitened_.end(), Scalar(0));
  Ray ray;
  with_triples([&](auto& triples) {
    for (Index i = 0; i < problem.block_count(); ++i) {
      with_block(problem, triples, i, [&](const auto& block, auto& local) {
        prepare(block, local);
        add_guess(problem, block, impulse, ray);
      });
    }
  });
  ray.curvature += dot(whitened_.data(), whitened_.data(), whitened_.size());
  const Scalar share = ray.is_inside && ray.curvature > Scalar(0)
                           ? std::clamp(Scalar(-ray.load / ray.curvature), Scalar(0), Scalar(1))
                           : Scalar(1);
  for (Index k = 0; k < problem.impulse_count(); ++k) impulse[k] *= share;
  for (Index k = 0; k < whitened_.size(); ++k) {
    whitened_[k] = problem.whitened_free_velocity()(k) + share * whitened_[k];
  }
}

template <RealScalar Scalar>
Scalar ProblemSweep<Scalar>::sweep(const ContactProblem<Scalar>& problem,
                                   Scalar* impulse) noexcept {
  Sums sums;
  with_triples([&](auto& triples) {
    sweep_blocks(problem.block_count(), backward_, [&](Index i, auto&& solve) noexcept {
      with_block(problem, triples, i, [&](const auto& block, auto& local) {
        solve(One<std::remove_cvref_t<decltype(block)>::capacity,
                  std::remove_reference_t<decltype(local)>>{block, local, impulse, whitened_.data(),
                                                            sums});
      });
    });
  });
  backward_ = !backward_;
  return sums.total > Scalar(0) ? sums.changed / sums.total : Scalar(0);
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
