// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "peers/mujoco_rows.hpp"

namespace carom::peers {

#if mjVERSION_HEADER < 300
namespace {

using Eigen::VectorXd;

/// Rows of MuJoCo's matrices while they are filled, one after the other.
struct SparseRows {
  int *row_counts, *row_starts, *equal_rows_after, *columns;
  mjtNum* entries;
  int row = 0, size = 0;

  void begin_row() { row_starts[row] = size; }
  void append(int column, double entry) {
    columns[size] = column;
    entries[size++] = entry;
  }
  void end_row() {
    row_counts[row] = size - row_starts[row];
    ++row;
  }
  /// MuJoCo works on runs of rows with the same columns.
  void finish() {
    for (int r = row - 1; r >= 0; --r) {
      const int *own = columns + row_starts[r], *next = own + row_counts[r];
      const bool like_next =
          r + 1 < row && row_counts[r] == row_counts[r + 1] && std::equal(own, next, next);
      equal_rows_after[r] = like_next ? 1 + equal_rows_after[r + 1] : 0;
    }
  }
};

/// Side of a contact with the lower body first, as columns have to ascend.
std::vector<int> sides_by_body(const ContactProblem<double>& problem, Index contact) {
  if (problem.side_count(contact) == 1) return {0};
  if (problem.side_body(contact, 0) < problem.side_body(contact, 1)) return {0, 1};
  return {1, 0};
}

/// Calls visit(column, entry) for a row (n, t₁, t₂) of a contact's J.
template <typename Visit>
void for_each_jacobian(const ContactProblem<double>& problem, Index contact, int row,
                       const Visit& visit) {
  for (const int side : sides_by_body(problem, contact)) {
    const auto [start, size] = problem.body(problem.side_body(contact, side));
    for (Index c = 0; c < size; ++c) {
      visit(int(start + c), problem.jacobian(contact, side)((row + 2) % 3, c));
    }
  }
}

void put_jacobian(const ContactProblem<double>& problem, const MujocoInstant& instant) {
  mjData& d = *instant.data;
  const int velocity_count = instant.model->nv;
  if (mj_isSparse(instant.model.get()) == 0) {
    std::fill_n(d.efc_J, d.nefc * velocity_count, 0.0);
    for (int r = 0; r < d.nefc; ++r) {
      for_each_jacobian(problem, r / 3, r % 3, [&](int column, double entry) {
        d.efc_J[r * velocity_count + column] = entry;
      });
    }
    return;
  }
  SparseRows rows{d.efc_J_rownnz, d.efc_J_rowadr, d.efc_J_rowsuper, d.efc_J_colind, d.efc_J};
  struct Entry {
    int row;
    double value;
  };
  std::vector<std::vector<Entry>> columns(static_cast<std::size_t>(velocity_count));
  for (int r = 0; r < d.nefc; ++r) {
    rows.begin_row();
    for_each_jacobian(problem, r / 3, r % 3, [&](int column, double entry) {
      rows.append(column, entry);
      columns[std::size_t(column)].push_back({r, entry});
    });
    rows.end_row();
  }
  rows.finish();
  SparseRows transposed{d.efc_JT_rownnz, d.efc_JT_rowadr, d.efc_JT_rowsuper, d.efc_JT_colind,
                        d.efc_JT};
  for (const auto& column : columns) {
    transposed.begin_row();
    for (const auto [row, value] : column) transposed.append(row, value);
    transposed.end_row();
  }
  transposed.finish();
}

/// Cones and weights, and a_ref = (v̂ − J v_now)/δt.
void put_contacts(const ContactProblem<double>& problem, const MujocoInstant& instant) {
  mjData& d = *instant.data;
  d.ncon = int(problem.block_count());
  d.nefc = 3 * d.ncon;
  put_jacobian(problem, instant);
  mj_mulJacVec(instant.model.get(), &d, d.efc_vel, d.qvel);
  for (int i = 0; i < d.ncon; ++i) {
    const double friction = problem.friction_contact_law(i).friction;
    if (friction < mjMINMU) throw std::runtime_error("MuJoCo: contacts without friction");
    const auto [tangent, normal] = problem.friction_contact_law(i).regularization;
    const Eigen::Vector3d bias = problem.friction_contact_law(i).bias_velocity;
    mjContact& contact = d.contact[i];
    contact = {};
    contact.dim = 3;
    contact.efc_address = 3 * i;
    contact.mu = friction * std::sqrt(tangent / normal);
    std::fill_n(contact.friction, 2, friction);
    for (int k = 0; k < 3; ++k) {
      const int row = 3 * i + k;
      d.efc_type[row] = mjCNSTR_CONTACT_ELLIPTIC;
      d.efc_id[row] = i;
      d.efc_R[row] = k == 0 ? normal : tangent;
      d.efc_D[row] = 1 / d.efc_R[row];
      d.efc_aref[row] = (bias((k + 2) % 3) - d.efc_vel[row]) / problem.time_step();
    }
  }
}

}  // namespace

MujocoInstant make_instant(const ContactProblem<double>& problem, const VectorXd& guess) {
  const int count = int(problem.velocity_count());
  std::ostringstream text;
  text << "<mujoco><option cone=\"elliptic\"/>" << write_sizes(count, int(problem.block_count()))
       << "<default><geom contype=\"0\" conaffinity=\"0\"/></default><worldbody>";
  for (Index b = 0; b < problem.body_count(); ++b) {
    const Index size = problem.body(b).size;
    for (Index k = 0; k < size; ++k) {
      text << "<body><joint type=\"slide\"/><geom type=\"sphere\" size=\"1\"/>";
    }
    for (Index k = 0; k < size; ++k) text << "</body>";
  }
  text << "</worldbody></mujoco>";
  MujocoInstant instant = load(text.str());
  mjModel* const model = instant.model.get();
  mjData* const data = instant.data.get();
  model->opt.timestep = problem.time_step();
  std::fill_n(model->dof_simplenum, count, 0);  // M need not be diagonal
  const std::vector<Index> body_of = find_trees(*model);
  double trace = 0;
  for_each_mass(*model, *data, [&](int row, int column, mjtNum& entry) {
    const Index body = body_of[std::size_t(row)], start = problem.body(body).start;
    entry = problem.momentum_matrix(body)(row - start, column - start);
    if (row == column) trace += entry;
  });
  model->stat.meaninertia = trace / count;  // what tolerances are relative to
  mj_factorM(model, data);
  VectorXd::Map(data->qvel, count) = guess;
  VectorXd::Map(data->qacc_smooth, count) = (problem.free_velocity() - guess) / problem.time_step();
  mj_mulM(model, data, data->qfrc_smooth, data->qacc_smooth);
  put_contacts(problem, instant);
  return instant;
}
#else
MujocoInstant make_instant(const ContactProblem<double>& /*problem*/,
                           const Eigen::VectorXd& /*guess*/) {
  throw std::runtime_error(
      "MuJoCo 2 alone takes rows that it has not made; this is a later version");
}
#endif

}  // namespace carom::peers
