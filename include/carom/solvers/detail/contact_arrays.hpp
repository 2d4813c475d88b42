// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/contact/contact_problem.hpp"

namespace carom::inline CAROM_ABI {
namespace detail {

template <typename Scalar>
using ArrayMap = Eigen::Map<Eigen::Array<Scalar, Eigen::Dynamic, 1>>;
template <typename Scalar>
using ConstArrayMap = Eigen::Map<const Eigen::Array<Scalar, Eigen::Dynamic, 1>>;
template <typename Scalar>
using VectorMap = Eigen::Map<VectorX<Scalar>>;

/// One vector of contact space as three arrays over the contacts.
template <RealScalar Scalar>
struct ContactArrays {
  Scalar* component[3];
  Index count;

  [[nodiscard]] ArrayMap<Scalar> operator[](int k) const noexcept { return {component[k], count}; }
  [[nodiscard]] Vector3<Scalar> at(Index i) const noexcept {
    return {component[0][i], component[1][i], component[2][i]};
  }
  [[nodiscard]] TripleArrays<Scalar> view() const noexcept {
    return {component[0], component[1], component[2]};
  }
  [[nodiscard]] TripleArrays<const Scalar> const_view() const noexcept {
    return {component[0], component[1], component[2]};
  }
};

/// Calls visit(start, block) for every side of a contact: where its body's velocities start, and
/// its whitened Jacobian block Ĵᵀ, of fixed size for free rigid bodies.
template <RealScalar Scalar, typename Visit>
void for_each_side(const ContactProblem<Scalar>& problem, Index contact, Visit&& visit) noexcept {
  for (int side = 0; side < problem.side_count(contact); ++side) {
    const Index start = problem.body(problem.side_body(contact, side)).start;
    const auto block = problem.whitened_jacobian(contact, side);
    if (block.rows() == 6) {
      visit(start, Eigen::Map<const Eigen::Matrix<Scalar, 6, 3>>(block.data()));
    } else {
      visit(start, block);
    }
  }
}

/// Ĵ w.
template <RealScalar Scalar>
void write_contact_velocities(const ContactProblem<Scalar>& problem,
                              const VectorMap<Scalar>& whitened,
                              const ContactArrays<Scalar>& result) noexcept {
  for (Index i = 0; i < problem.contact_count(); ++i) {
    Vector3<Scalar> velocity = Vector3<Scalar>::Zero();
    for_each_side(problem, i, [&](Index start, const auto& block) {
      using Block = std::remove_cvref_t<decltype(block)>;
      const auto part = whitened.template segment<Block::RowsAtCompileTime>(start, block.rows());
      for (int k = 0; k < 3; ++k) velocity(k) += block.col(k).dot(part);
    });
    for (int k = 0; k < 3; ++k) result.component[k][i] = velocity(k);
  }
}

/// Ĵᵀ γ.
template <RealScalar Scalar>
void write_contact_momentum(const ContactProblem<Scalar>& problem,
                            const ContactArrays<Scalar>& impulse,
                            VectorMap<Scalar> result) noexcept {
  result.setZero();
  for (Index i = 0; i < problem.contact_count(); ++i) {
    const Vector3<Scalar> gamma = impulse.at(i);
    if (gamma.z() == Scalar(0) && gamma.x() == Scalar(0) && gamma.y() == Scalar(0)) continue;
    for_each_side(problem, i, [&](Index start, const auto& block) {
      using Block = std::remove_cvref_t<decltype(block)>;
      result.template segment<Block::RowsAtCompileTime>(start, block.rows()) +=
          gamma.x() * block.col(0) + gamma.y() * block.col(1) + gamma.z() * block.col(2);
    });
  }
}

/// γ = P(y) of every contact; false, and nothing written, if a trial impulse is not finite or so
/// large that their sum is not.
template <RealScalar Scalar>
[[nodiscard]] bool write_projections(const ContactProblem<Scalar>& problem,
                                     const ContactArrays<Scalar>& trial,
                                     const ContactArrays<Scalar>& impulse) noexcept {
  if (!is_finite(Scalar((trial[0].abs() + trial[1].abs() + trial[2].abs()).sum()))) return false;
  project(FrictionConeBatch<Scalar>{problem.contact_count(), trial.const_view(),
                                    problem.frictions(), problem.tangent_regularizations(),
                                    problem.normal_regularizations()},
          impulse.view());
  return true;
}

}  // namespace detail
}  // namespace carom::inline CAROM_ABI
