// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

#include "carom/core/scalar.hpp"
#include "carom/linalg/detail/sequence.hpp"

namespace carom {
inline namespace CAROM_ABI {

namespace detail {

// The headers mujoco_*.hpp of this folder do not include MuJoCo. Its structures mjModel and mjData
// are template parameters, so that of each version only its own members are used, and so that a
// structure with the same members may take their place where MuJoCo is known at run time only. The
// functions mj_*() that are called are found by the type of their arguments.

/// MuJoCo's numbers, mjtNum.
using MujocoNumber = double;
/// Values of mjtConstraint, the same in all versions.
struct MujocoKind {
  enum : int {
    equality,
    dof_friction,
    tendon_friction,
    joint_limit,
    tendon_limit,
    frictionless_contact,
    pyramidal_contact,
    elliptic_contact
  };
};
/// Values of mjtConstraintState, the same in all versions.
struct MujocoState {
  enum : int { satisfied, quadratic, linear_negative, linear_positive, cone };
};
/// mjMAXVAL: MuJoCo takes numbers beyond it for a failure.
inline constexpr double mujoco_largest = 1e10;
/// mjMINVAL: the smallest pivot of M that MuJoCo divides by.
inline constexpr double mujoco_smallest = 1e-15;

/// All numbers of the inertia matrix of the last step.
template <typename Model, typename Data>
[[nodiscard]] std::span<const MujocoNumber> inertia_numbers(const Model& model,
                                                            const Data& data) noexcept {
  if constexpr (requires { data.qM; }) {
    return {data.qM, std::size_t(model.nM)};
  } else {
    return {data.M, std::size_t(model.nC)};
  }
}

/// Calls visit(other, number) for the entries of a row of the inertia matrix up to its diagonal.
/// Entries that it does not visit are zero.
template <typename Model, typename Data, typename Visit>
void for_each_inertia(const Model& model, const Data& data, int dof, const Visit& visit) noexcept {
  if constexpr (requires { data.qM; }) {
    const MujocoNumber* entry = data.qM + model.dof_Madr[dof];
    for (int other = dof; other >= 0; other = model.dof_parentid[other]) visit(other, *entry++);
  } else {
    const int first = model.M_rowadr[dof];
    for (int k = first; k < first + model.M_rownnz[dof]; ++k) {
      visit(model.M_colind[k], data.M[k]);
    }
  }
}

/// Calls visit(other, number) for the entries of a row of ∂f_smooth/∂v, where the version of MuJoCo
/// has them in the model's pattern.
template <typename Model, typename Data, typename Visit>
void for_each_derivative(const Model& model, const Data& data, int dof,
                         const Visit& visit) noexcept {
  if constexpr (requires { model.D_rowadr; }) {
    const int first = model.D_rowadr[dof];
    for (int k = first; k < first + model.D_rownnz[dof]; ++k) {
      visit(model.D_colind[k], data.qDeriv[k]);
    }
  }
}

/// MuJoCo's approximation of J M⁻¹ Jᵀ of a row [1/kg].
template <typename Data>
[[nodiscard]] MujocoNumber inverse_mass_of(const Data& data, int row) noexcept {
  if constexpr (requires { data.efc_diagApprox; }) {
    return data.efc_diagApprox[row];
  } else {
    return data.efc_diagA[row];
  }
}

/// Stores the iteration count of the solver, if it is one number for all islands.
template <typename Data>
void write_iterations(Data& data, int count) noexcept {
  if constexpr (requires { data.solver_iter; }) {
    data.solver_iter = count;
  } else {
    data.solver_niter[0] = count;
  }
}

/// Calls visit(column, entry) for the nonzero entries of a row of MuJoCo's J, which is stored dense
/// or sparse.
template <typename Model, typename Data, typename Visit>
void visit_mujoco_row(const Model& model, const Data& data, int row, const Visit& visit) {
  if (mj_isSparse(&model) == 0) {
    const MujocoNumber* const entries = data.efc_J + Index(row) * model.nv;
    for (int c = 0; c < model.nv; ++c) {
      if (entries[c] != 0) visit(c, entries[c]);
    }
    return;
  }
  const int start = data.efc_J_rowadr[row];
  for (int k = start; k < start + data.efc_J_rownnz[row]; ++k) {
    if (data.efc_J[k] != 0) visit(data.efc_J_colind[k], data.efc_J[k]);
  }
}

/// MuJoCo's rows that form one block: a contact, an equality, or one row of anything else.
struct MujocoBlock {
  static constexpr int none = -1;

  int type;             ///< as in MujocoKind
  int id;               ///< of the contact, the equality, the joint ...
  int first_row, rows;  ///< in MuJoCo's arrays
  int bodies[2];        ///< groups of trees, ascending; `none` if there are fewer

  [[nodiscard]] bool is_contact() const noexcept {
    return type == MujocoKind::frictionless_contact || type == MujocoKind::pyramidal_contact ||
           type == MujocoKind::elliptic_contact;
  }
  [[nodiscard]] bool is_friction_loss() const noexcept {
    return type == MujocoKind::dof_friction || type == MujocoKind::tendon_friction;
  }
};

/// The blocks of a step, and the kinematic trees that they join.
///
/// A kinematic tree is a set of joints that MuJoCo's M couples; it is one body of the problem. If
/// one block joins more than two trees, as a tendon may, these trees are one body.
class MujocoBlocks {
 public:
  static constexpr int none = MujocoBlock::none;

  /// Reads which trees are joined.
  /// @note  Allocates only for a step larger than every step before.
  template <typename Model, typename Data>
  void read(const Model& model, const Data& data) {
    find_trees(model);
    find_blocks(data);
    for (const MujocoBlock& block : blocks_) merge_trees(model, data, block);
    number_bodies(model);
    for (MujocoBlock& block : blocks_) find_bodies(model, data, block);
    drop_idle_bodies(model);
  }

  [[nodiscard]] const Sequence<MujocoBlock>& blocks() const noexcept { return blocks_; }
  [[nodiscard]] Index body_count() const noexcept { return starts_.size() - 1; }
  /// Body of a degree of freedom; `none` if no block acts on it.
  [[nodiscard]] int body_of(int dof) const noexcept { return body_of_[dof]; }
  /// Place of a degree of freedom in its body.
  [[nodiscard]] int place_of(int dof) const noexcept { return place_of_[dof]; }
  /// Degrees of freedom of a body, ascending.
  [[nodiscard]] int size_of(Index body) const noexcept { return starts_[body + 1] - starts_[body]; }
  [[nodiscard]] int dof(Index body, int place) const noexcept {
    return dofs_[starts_[body] + place];
  }

 private:
  template <typename Model>
  void find_trees(const Model& model) {
    tree_of_.resize(model.nv);
    int trees = 0;
    for (int i = 0; i < model.nv; ++i) {
      const int root = model.body_rootid[model.dof_bodyid[i]];
      if (i > 0 && root != model.body_rootid[model.dof_bodyid[i - 1]]) ++trees;
      tree_of_[i] = trees;
    }
    leader_.resize(model.nv > 0 ? trees + 1 : 0);
    for (Index t = 0; t < leader_.size(); ++t) leader_[t] = int(t);
  }

  template <typename Data>
  void find_blocks(const Data& data) {
    blocks_.clear();
    for (int row = 0; row < data.nefc;) {
      const int type = data.efc_type[row], id = data.efc_id[row];
      const bool grows = type == MujocoKind::equality || type == MujocoKind::elliptic_contact ||
                         type == MujocoKind::pyramidal_contact;
      int end = row + 1;
      while (grows && end < data.nefc && data.efc_type[end] == type && data.efc_id[end] == id) {
        ++end;
      }
      blocks_.push_back({type, id, row, end - row, {none, none}});
      row = end;
    }
  }

  [[nodiscard]] int leader(int tree) noexcept {
    while (leader_[tree] != tree) tree = leader_[tree] = leader_[leader_[tree]];
    return tree;
  }
  /// Joins all trees of a block with more than two trees.
  template <typename Model, typename Data>
  void merge_trees(const Model& model, const Data& data, const MujocoBlock& block) {
    std::array<int, 2> seen{none, none};
    bool many = false;
    const auto visit_all = [&](const auto& visit) {
      for (int r = block.first_row; r < block.first_row + block.rows; ++r) {
        visit_mujoco_row(model, data, r,
                         [&](int column, MujocoNumber) { visit(leader(tree_of_[column])); });
      }
    };
    visit_all([&](int tree) {
      if (tree == seen[0] || tree == seen[1]) return;
      many = many || seen[1] != none;
      (seen[0] == none ? seen[0] : seen[1]) = tree;
    });
    if (!many) return;
    visit_all([&](int tree) {
      const int first = leader(seen[0]);
      leader_[std::max(tree, first)] = std::min(tree, first);
    });
  }

  /// Numbers bodies in the order of their first degree of freedom.
  template <typename Model>
  void number_bodies(const Model& model) {
    body_of_.resize(model.nv);
    number_.assign(leader_.size(), none);
    body_count_ = 0;
    for (int i = 0; i < model.nv; ++i) {
      int& number = number_[leader(tree_of_[i])];
      if (number == none) number = body_count_++;
      body_of_[i] = number;
    }
  }
  template <typename Model, typename Data>
  void find_bodies(const Model& model, const Data& data, MujocoBlock& block) const {
    for (int r = block.first_row; r < block.first_row + block.rows; ++r) {
      visit_mujoco_row(model, data, r, [&](int column, MujocoNumber) {
        const int body = body_of_[column];
        if (body == block.bodies[0] || body == block.bodies[1]) return;
        (block.bodies[0] == none ? block.bodies[0] : block.bodies[1]) = body;
      });
    }
    if (block.bodies[1] != none && block.bodies[1] < block.bodies[0]) {
      std::swap(block.bodies[0], block.bodies[1]);
    }
  }
  /// Removes bodies that no block touches, and lists the degrees of freedom of the others.
  template <typename Model>
  void drop_idle_bodies(const Model& model) {
    number_.assign(body_count_, none);
    for (const MujocoBlock& block : blocks_) {
      for (const int body : block.bodies) {
        if (body != none) number_[body] = 0;
      }
    }
    int kept = 0;
    for (int& number : number_) {
      if (number != none) number = kept++;
    }
    for (MujocoBlock& block : blocks_) {
      for (int& body : block.bodies) {
        if (body != none) body = number_[body];
      }
    }
    starts_.assign(kept + 1, 0);
    for (int& body : body_of_) {
      body = number_[body];
      if (body != none) ++starts_[body + 1];
    }
    for (Index b = 0; b < kept; ++b) starts_[b + 1] += starts_[b];
    dofs_.resize(starts_[kept]);
    place_of_.assign(model.nv, none);
    number_.assign(kept, 0);
    for (int i = 0; i < model.nv; ++i) {
      const int body = body_of_[i];
      if (body == none) continue;
      place_of_[i] = number_[body]++;
      dofs_[starts_[body] + place_of_[i]] = i;
    }
  }

  Sequence<MujocoBlock> blocks_;
  Sequence<int> tree_of_, leader_, number_;
  Sequence<int> body_of_, place_of_, starts_, dofs_;
  int body_count_ = 0;
};

}  // namespace detail

}  // namespace CAROM_ABI
}  // namespace carom
