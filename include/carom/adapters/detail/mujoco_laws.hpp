// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "carom/adapters/detail/mujoco_blocks.hpp"
#include "carom/contact/coulomb_law.hpp"
#include "carom/contact/weighted_block.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Largest count of MuJoCo's rows in one block: a pyramid with five dimensions of friction.
inline constexpr int mujoco_row_limit = 10;

/// A law of zero to six rows. Each row is a combination of the rows of a block: J = C J_b, so that
/// the forces of the block are f_b = Cᵀ γ/δt. Cones are circular with μ = 1, in rows scaled by
/// MuJoCo's μ_i: ‖(γ_i)‖ ≤ γₙ, γ_i = δt f_i/μ_i.
struct MujocoRowLaw {
  WeightedBlock<double> law;
  Eigen::Matrix<double, 6, mujoco_row_limit> combination;  ///< C; zero beyond the law's rows
  Index block;                                             ///< index in the step
  Index number;                                            ///< index in the problem
  bool solvable;  ///< False if friction is bounded by a normal that moves nothing.

  [[nodiscard]] int rows() const noexcept { return law.set.rows; }
  /// The row of the normal; for a law without friction it is 0.
  [[nodiscard]] int normal() const noexcept { return std::max(normal_row(law.set.shape), 0); }
};

/// Writes the laws of blocks.
///
/// MuJoCo's own law is the convex one with v̂ = J v + δt a_ref and R = efc_R. Rows of equalities
/// are free, friction loss is a box, limits and facets of pyramids are half lines. An elliptic
/// contact is a cone with equal μ_i² R_i, which is circular in scaled rows.
template <typename Model, typename Data>
class MujocoLawWriter {
 public:
  using Rows = RowNumbers<double>;

  /// @param from_now  whether the velocities of the problem, and also v̂, are relative to v before
  ///                  the step.
  MujocoLawWriter(const Model& model, const Data& data, bool from_now) noexcept
      : model_(&model), data_(&data), step_(model.opt.timestep), from_now_(from_now) {}

  /// MuJoCo's law of an elliptic contact.
  void write_elliptic(const MujocoBlock& block, MujocoRowLaw& result) const {
    clear(result);
    write_cone(block, result);
    const double mu = data_->contact[block.id].friction[0];
    result.law.regularization.setConstant(mu * mu * data_->efc_R[block.first_row + 1]);
    result.law.regularization(result.normal()) = data_->efc_R[block.first_row];
    result.law.bias_velocity = bias_of(block, result);
    result.solvable = result.solvable || result.law.set.shape == ImpulseShape::friction;
  }

  /// MuJoCo's law of up to six rows of any other block, starting at `offset`. Rows of zeros are
  /// omitted.
  void write_rows(const MujocoBlock& block, int offset, MujocoRowLaw& result) const {
    write_sets(
        block, offset, [&](int row) { return data_->efc_R[row]; }, result);
    result.law.bias_velocity = bias_of(block, result);
  }

  /// The same rows without softness: an equality and a limit hold at the end of the step, and
  /// friction keeps a joint at rest up to its loss.
  /// @param correction  share of an equality's error, or of the overlap with a limit, that one step
  ///                    removes.
  void write_rigid_rows(const MujocoBlock& block, int offset, double correction,
                        MujocoRowLaw& result) const {
    const auto weight = [&](int row) { return rigid_weight * inverse_mass_of(*data_, row); };
    write_sets(block, offset, weight, result);
    result.law.bias_velocity = Rows::Zero();
    if (block.is_friction_loss()) return;
    for (int r = 0; r < result.rows(); ++r) {
      Index k = 0;
      result.combination.row(r).maxCoeff(&k);
      const double error = data_->efc_pos[block.first_row + k];
      const bool parted = block.type != MujocoKind::equality && error > 0;
      result.law.bias_velocity(r) = -(parted ? 1 : correction) * error / step_;
    }
  }

  /// Whether a contact may close in the step: its gap is less than twice the way that its bodies
  /// could make towards each other if all their velocities added up.
  [[nodiscard]] bool may_close(const MujocoBlock& block) const noexcept {
    const double gap = data_->contact[block.id].dist;
    if (!(gap > 0)) return true;
    double speed = 0;
    const auto add = [&](int row, double share) {
      visit_mujoco_row(*model_, *data_, row, [&](int dof, MujocoNumber entry) {
        const double change = step_ * data_->qacc_smooth[dof];
        speed += share * std::abs(entry) * (std::abs(data_->qvel[dof]) + std::abs(change));
      });
    };
    // The sum of a pyramid's two facets is twice the normal, so that the bound is a larger one.
    add(block.first_row, is_pyramid(block) ? 0.5 : 1);
    if (is_pyramid(block)) add(block.first_row + 1, 0.5);
    return gap <= 2 * step_ * speed;
  }

  /// Coulomb's cone of a contact, for any form of MuJoCo's rows.
  /// @param soft        whether the normal has MuJoCo's R and a_ref; otherwise the gap at the end
  ///                    of the step is ≥ 0.
  /// @param correction  share of a penetration that one step removes if the normal is rigid.
  void write_coulomb(const MujocoBlock& block, bool soft, double correction,
                     MujocoRowLaw& result) const {
    clear(result);
    write_cone(block, result);
    const auto& contact = data_->contact[block.id];
    const int n = result.normal();
    const double mu = block.rows == 1 ? 1 : contact.friction[0];
    const double weight = rigid_weight * inverse_mass_of(*data_, block.first_row);
    result.law.regularization.setConstant(mu * mu * weight);
    result.law.regularization(n) = soft ? soft_normal(block, contact) : weight;
    const double share = contact.dist > 0 ? 1 : correction;
    result.law.bias_velocity(n) = -share * contact.dist / step_;
    if (soft) result.law.bias_velocity(n) = bias_of(block, result)(n);
    result.law.rigid = !soft && result.law.set.shape == ImpulseShape::friction;
  }

 private:
  /// R of rows that must not yield visibly, relative to their inverse mass [-].
  static constexpr double rigid_weight = 1e-12;
  /// Rows of J whose entries are below this share of the block's largest entry are zero up to
  /// rounding [-].
  static constexpr double rounding_share = 1e-13;

  /// Writes C, R and the sets of up to six rows of a block that is not a contact's cone.
  template <typename Weight>
  void write_sets(const MujocoBlock& block, int offset, const Weight& weight,
                  MujocoRowLaw& result) const {
    clear(result);
    const double infinity = std::numeric_limits<double>::infinity();
    const bool held = block.type == MujocoKind::equality, rubs = block.is_friction_loss();
    ImpulseSet<double>& set = result.law.set;
    for (int k = offset; k < std::min(block.rows, offset + 6); ++k) {
      const int row = block.first_row + k;
      if (largest_entry(row) == 0) continue;
      const double loss = step_ * data_->efc_frictionloss[row];
      result.combination(set.rows, k) = 1;
      result.law.regularization(set.rows) = weight(row);
      set.lower(set.rows) = held ? -infinity : rubs ? -loss : 0;
      set.upper(set.rows) = rubs ? loss : infinity;
      ++set.rows;
    }
  }

  static void clear(MujocoRowLaw& result) noexcept {
    result.law = {};
    result.law.set.rows = 0;
    result.combination.setZero();
    result.solvable = true;
  }
  [[nodiscard]] static bool is_pyramid(const MujocoBlock& block) noexcept {
    return block.type == MujocoKind::pyramidal_contact;
  }

  [[nodiscard]] double largest_entry(int row) const noexcept {
    double largest = 0;
    visit_mujoco_row(*model_, *data_, row,
                     [&](int, MujocoNumber x) { largest = std::max(largest, std::abs(x)); });
    return largest;
  }
  /// Largest entry of half the sum, or of half the difference, of the rows of two facets. Both rows
  /// have the same columns.
  [[nodiscard]] double largest_of_pair(int row, double sign) const noexcept {
    const bool sparse = mj_isSparse(model_) != 0;
    const Index width = sparse ? data_->efc_J_rownnz[row] : model_->nv;
    const Index first = sparse ? data_->efc_J_rowadr[row] : row * Index(model_->nv);
    const Index second = sparse ? data_->efc_J_rowadr[row + 1] : first + width;
    double largest = 0;
    for (Index k = 0; k < width; ++k) {
      const double x = (data_->efc_J[first + k] + sign * data_->efc_J[second + k]) / 2;
      largest = std::max(largest, std::abs(x));
    }
    return largest;
  }
  /// Largest entry of μ_i J_i, the row of friction i of a contact; of the normal's, i = −1.
  [[nodiscard]] double largest_of(const MujocoBlock& block, int i) const noexcept {
    if (is_pyramid(block)) {
      return i < 0 ? largest_of_pair(block.first_row, 1)
                   : largest_of_pair(block.first_row + 2 * i, -1);
    }
    const double mu = i < 0 ? 1 : data_->contact[block.id].friction[i];
    return mu * largest_entry(block.first_row + 1 + i);
  }

  /// Writes C and the set: the normal, and the friction rows that move a body.
  void write_cone(const MujocoBlock& block, MujocoRowLaw& result) const {
    const int frictions = block.rows == 1 ? 0 : data_->contact[block.id].dim - 1;
    const double normal = largest_of(block, -1);
    double largest = normal;
    for (int i = 0; i < frictions; ++i) largest = std::max(largest, largest_of(block, i));
    std::array<int, 5> rubbing{};
    int count = 0;
    for (int i = 0; i < frictions; ++i) {
      if (largest_of(block, i) > rounding_share * largest) rubbing[std::size_t(count++)] = i;
    }
    if (largest == 0 || (count == 0 && normal == 0)) return;
    result.law.set = set_of(count);
    result.solvable = normal > rounding_share * largest;
    add_row(block, -1, 1, result.normal(), result);
    static constexpr std::array<int, 5> planar{0}, space{0, 1, 3, 4, 5};
    for (int k = 0; k < count; ++k) {
      const int row = count == 1 ? planar[0] : space[std::size_t(k)];
      // Four friction rows are placed in the five rows of a cone: one of them appears twice, each
      // time with half.
      const bool twice = count == 4 && k == 3;
      const double share = twice ? std::sqrt(0.5) : 1;
      add_row(block, rubbing[std::size_t(k)], share, row, result);
      if (twice) add_row(block, rubbing[std::size_t(k)], share, row + 1, result);
    }
  }
  [[nodiscard]] static ImpulseSet<double> set_of(int frictions) noexcept {
    if (frictions == 0) return pushing_impulse<double>();
    const ImpulseShape shape = frictions == 1   ? ImpulseShape::planar
                               : frictions == 2 ? ImpulseShape::friction
                               : frictions == 3 ? ImpulseShape::ellipsoidal_torsional
                                                : ImpulseShape::ellipsoidal_rolling;
    return cone_impulses<double>(shape, Eigen::Vector3d::Ones());
  }
  /// Writes a row of C for μ_i J_i, or for Jₙ if i = −1: facets are Jₙ ± μ_i J_i.
  void add_row(const MujocoBlock& block, int i, double share, int row,
               MujocoRowLaw& result) const noexcept {
    if (!is_pyramid(block)) {
      result.combination(row, 1 + i) = i < 0 ? share : share * data_->contact[block.id].friction[i];
      return;
    }
    const int facet = 2 * std::max(i, 0);
    result.combination(row, facet) = share / 2;
    result.combination(row, facet + 1) = i < 0 ? share / 2 : -share / 2;
  }

  /// v̂ of the rows of the law from MuJoCo's a_ref.
  [[nodiscard]] Rows bias_of(const MujocoBlock& block, const MujocoRowLaw& result) const noexcept {
    Rows bias = Rows::Zero();
    for (int k = 0; k < block.rows; ++k) {
      const int row = block.first_row + k;
      const double wanted = step_ * data_->efc_aref[row] + (from_now_ ? 0 : data_->efc_vel[row]);
      for (int r = 0; r < result.rows(); ++r) bias(r) += result.combination(r, k) * wanted;
    }
    return bias;
  }
  /// Rₙ of MuJoCo's elliptic cone, also if the rows are facets. Their common R is 2 μ² Rₙ, with the
  /// μ of the regularized cone and the Rₙ of a facet, which is 1 + μ₁² times that of the normal.
  template <typename Contact>
  [[nodiscard]] double soft_normal(const MujocoBlock& block,
                                   const Contact& contact) const noexcept {
    const double given = data_->efc_R[block.first_row];
    if (!is_pyramid(block)) return given;
    const double mu = contact.friction[0];
    return given / (2 * contact.mu * contact.mu * (1 + mu * mu));
  }

  const Model* model_;
  const Data* data_;
  double step_;
  bool from_now_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
