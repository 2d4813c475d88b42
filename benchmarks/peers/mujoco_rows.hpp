// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "peers/mujoco_instant.hpp"

/// @file
/// How MuJoCo keeps M and J, in its versions 2 and 4.
namespace carom::peers {

/// Memory that MuJoCo reserves in advance.
inline std::string write_sizes(int velocity_count, int contact_count) {
  const long long square = 1LL * velocity_count * velocity_count, rows = 3LL * contact_count;
  std::ostringstream text;
  text << "<size nconmax=\"" << contact_count << "\" njmax=\"" << rows << "\" nstack=\""
       << 6 * square + 100 * (rows + velocity_count) + 1'000'000 << "\"/>";
  return text.str();
}

inline MujocoInstant load(const std::string& text) {
  MujocoInstant instant;
  instant.model = examples::load_mujoco(text);
  instant.data = examples::make_mujoco(instant.model);
  return instant;
}

/// Calls visit(row, column, entry) for the lower triangle of M, which MuJoCo keeps as far as joints
/// are of one branch: along the joints, or since version 3 in rows.
template <typename Model, typename Data, typename Visit>
void for_each_mass(const Model& model, Data& data, const Visit& visit) {
  for (int row = 0; row < model.nv; ++row) {
    if constexpr (requires { data.qM; }) {
      mjtNum* entry = data.qM + model.dof_Madr[row];
      for (int column = row; column >= 0; column = model.dof_parentid[column]) {
        visit(row, column, *entry++);
      }
    } else {
      const int start = model.M_rowadr[row];
      for (int k = start; k < start + model.M_rownnz[row]; ++k) {
        visit(row, model.M_colind[k], data.M[k]);
      }
    }
  }
}

/// Calls visit(column, entry) for a row of J, kept dense or sparse.
template <typename Visit>
void for_each_jacobian(const MujocoInstant& instant, int row, const Visit& visit) {
  const mjData& data = *instant.data;
  if (mj_isSparse(instant.model.get()) == 0) {
    const auto count = int(instant.model->nv);
    for (int c = 0; c < count; ++c) visit(c, data.efc_J[row * count + c]);
    return;
  }
  const int start = data.efc_J_rowadr[row];
  for (int k = start; k < start + data.efc_J_rownnz[row]; ++k) {
    visit(data.efc_J_colind[k], data.efc_J[k]);
  }
}

/// For each velocity, the tree of joints it is of, counted from 0.
inline std::vector<Index> find_trees(const mjModel& model) {
  std::vector<Index> result;
  for (int i = 0; i < model.nv; ++i) {
    const int root = model.body_rootid[model.dof_bodyid[i]];
    const bool fresh = i == 0 || root != model.body_rootid[model.dof_bodyid[i - 1]];
    result.push_back(i == 0 ? 0 : result.back() + (fresh ? 1 : 0));
  }
  return result;
}

}  // namespace carom::peers
