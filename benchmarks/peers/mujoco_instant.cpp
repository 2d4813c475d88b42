// SPDX-License-Identifier: BSD-3-Clause
#include "peers/mujoco_instant.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace carom::peers {
namespace {

using Eigen::VectorXd;
using Rows = Eigen::Matrix<double, 3, Eigen::Dynamic>;

/// Memory that MuJoCo reserves in advance.
std::string write_sizes(int velocity_count, int contact_count) {
  const long long square = 1LL * velocity_count * velocity_count, rows = 3LL * contact_count;
  std::ostringstream text;
  text << "<size nconmax=\"" << contact_count << "\" njmax=\"" << rows << "\" nstack=\""
       << 6 * square + 100 * (rows + velocity_count) + 1'000'000 << "\"/>";
  return text.str();
}

MujocoInstant load(const std::string& text) {
  const auto files = std::make_unique<mjVFS>();
  mj_defaultVFS(files.get());
  mj_makeEmptyFileVFS(files.get(), "scene.xml", int(text.size()));
  std::copy(text.begin(), text.end(), static_cast<char*>(files->filedata[0]));
  std::array<char, 1000> error{};
  MujocoInstant instant;
  instant.model.reset(mj_loadXML("scene.xml", files.get(), error.data(), int(error.size())));
  mj_deleteVFS(files.get());
  if (!instant.model) throw std::runtime_error(std::string("MuJoCo: ") + error.data());
  instant.data.reset(mj_makeData(instant.model.get()));
  if (!instant.data) throw std::runtime_error("MuJoCo: out of memory");
  return instant;
}

/// Calls visit(row, column, entry) for the lower triangle of M, which MuJoCo keeps as far as joints
/// are of one branch.
template <typename Visit>
void for_each_mass(const MujocoInstant& instant, const Visit& visit) {
  const mjModel& model = *instant.model;
  for (int row = 0; row < model.nv; ++row) {
    mjtNum* entry = instant.data->qM + model.dof_Madr[row];
    for (int column = row; column >= 0; column = model.dof_parentid[column]) {
      visit(row, column, *entry++);
    }
  }
}

/// Calls visit(column, entry) for a row of J, kept dense or sparse.
template <typename Visit>
void for_each_jacobian(const MujocoInstant& instant, int row, const Visit& visit) {
  const mjData& data = *instant.data;
  if (mj_isSparse(instant.model.get()) == 0) {
    const int count = instant.model->nv;
    for (int c = 0; c < count; ++c) visit(c, data.efc_J[row * count + c]);
    return;
  }
  const int start = data.efc_J_rowadr[row];
  for (int k = start; k < start + data.efc_J_rownnz[row]; ++k) {
    visit(data.efc_J_colind[k], data.efc_J[k]);
  }
}

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

/// One of at most two bodies whose columns of a contact's rows hold more than zeros.
struct Side {
  Index body;
  Rows rows;
};

std::vector<Side> read_sides(const MujocoInstant& instant, int first_row,
                             const ContactProblem<double>& problem,
                             const std::vector<Index>& body_of) {
  std::vector<Side> sides;
  for (int k = 0; k < 3; ++k) {
    for_each_jacobian(instant, first_row + k, [&](int column, double entry) {
      if (entry == 0) return;
      const Index body = body_of[std::size_t(column)];
      auto side = std::find_if(sides.begin(), sides.end(),
                               [&](const Side& known) { return known.body == body; });
      if (side == sides.end()) {
        side = sides.insert(side, {body, Rows::Zero(3, problem.body(body).size)});
      }
      side->rows((k + 2) % 3, column - problem.body(body).start) = entry;
    });
  }
  return sides;
}

void check(bool good, const char* fault) {
  if (!good) throw std::runtime_error(std::string("MuJoCo: ") + fault);
}

void read_contact(const MujocoInstant& instant, int first_row, const std::vector<Index>& body_of,
                  ContactProblem<double>& problem) {
  const mjData& d = *instant.data;
  check(d.efc_type[first_row] == mjCNSTR_CONTACT_ELLIPTIC, "a constraint is no elliptic contact");
  const mjContact& contact = d.contact[d.efc_id[first_row]];
  check(contact.dim == 3, "a contact has not three dimensions");
  check(contact.friction[0] == contact.friction[1], "friction is not isotropic");
  const VectorXd bias = VectorXd::Map(d.efc_vel + first_row, 3) +
                        instant.model->opt.timestep * VectorXd::Map(d.efc_aref + first_row, 3);
  const WeightedContact<double> law{contact.friction[0],
                                    {d.efc_R[first_row + 1], d.efc_R[first_row]},
                                    {bias(1), bias(2), bias(0)}};
  const std::vector<Side> sides = read_sides(instant, first_row, problem, body_of);
  check(sides.size() == 1 || sides.size() == 2, "a contact joins not one or two bodies");
  if (sides.size() == 1) {
    problem.add_contact(sides[0].body, sides[0].rows, law);
  } else {
    problem.add_contact(sides[0].body, sides[0].rows, sides[1].body, sides[1].rows, law);
  }
}

/// For each velocity, the tree of joints it is of, counted from 0.
std::vector<Index> find_trees(const mjModel& model) {
  std::vector<Index> result;
  for (int i = 0; i < model.nv; ++i) {
    const int root = model.body_rootid[model.dof_bodyid[i]];
    const bool fresh = i == 0 || root != model.body_rootid[model.dof_bodyid[i - 1]];
    result.push_back(i == 0 ? 0 : result.back() + (fresh ? 1 : 0));
  }
  return result;
}

}  // namespace

MujocoInstant make_heap(const HeapShape& shape) {
  const bool box = shape.geometry == "box";
  const int side = int(std::ceil(std::cbrt(shape.body_count) / 2));  // higher than wide
  const double pitch = (box ? 3.5 : 2.2) * shape.half_width, wall = pitch * side / 2;
  std::ostringstream text;
  text << "<mujoco><option timestep=\"0.002\" cone=\"elliptic\" solver=\"CG\" impratio=\""
       << shape.impedance_ratio << "\"/>"
       << write_sizes(6 * shape.body_count, (box ? 12 : 4) * shape.body_count)
       << "<default><geom condim=\"3\" friction=\"0.7\"/></default><worldbody>"
       << "<geom type=\"plane\" size=\"9 9 1\"/>";
  for (const auto& [x, y] : {std::array{1, 0}, {-1, 0}, {0, 1}, {0, -1}}) {
    text << "<geom type=\"plane\" size=\"9 9 1\" pos=\"" << wall * x << ' ' << wall * y
         << " 0\" zaxis=\"" << -x << ' ' << -y << " 0\"/>";
  }
  std::minstd_rand random(1);
  const auto noise = [&] { return double(random()) / 0x1p30 - 1; };  // the same on every machine
  for (int i = 0; i < shape.body_count; ++i) {
    const int layer = i / (side * side);
    text << "<body pos=\"";
    for (const int place : {i % side, i / side % side}) {
      text << pitch * (place + 0.5) - wall + 0.05 * shape.half_width * noise() << ' ';
    }
    text << pitch * (layer + 0.5) << "\" quat=\"" << noise();
    for (int k = 0; k < 3; ++k) text << ' ' << noise();
    text << "\"><freejoint/><geom type=\"" << shape.geometry << "\" size=\"" << shape.half_width
         << ' ' << shape.half_width << ' ' << shape.half_width << "\"/></body>";
  }
  text << "</worldbody></mujoco>";
  MujocoInstant instant = load(text.str());
  mjModel* const model = instant.model.get();
  mjData* const data = instant.data.get();
  for (int i = 0; i < shape.steps; ++i) mj_step(model, data);
  mj_fwdPosition(model, data);
  mj_fwdVelocity(model, data);
  mj_fwdActuation(model, data);
  mj_fwdAcceleration(model, data);
  for (const mjWarningStat& warning : data->warning) check(warning.number == 0, "a warning");
  return instant;
}

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
  for_each_mass(instant, [&](int row, int column, mjtNum& entry) {
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

files::TextProblem read_problem(const MujocoInstant& instant) {
  const mjModel& model = *instant.model;
  const mjData& data = *instant.data;
  const std::vector<Index> body_of = find_trees(model);
  std::vector<Index> starts{0};
  for (int i = 1; i < model.nv; ++i) {
    if (body_of[std::size_t(i)] != body_of[std::size_t(i - 1)]) starts.push_back(i);
  }
  starts.push_back(model.nv);
  std::vector<Eigen::MatrixXd> masses;
  for (std::size_t b = 0; b + 1 < starts.size(); ++b) {
    masses.push_back(Eigen::MatrixXd::Zero(starts[b + 1] - starts[b], starts[b + 1] - starts[b]));
  }
  for_each_mass(instant, [&](int row, int column, const mjtNum& entry) {
    const auto body = std::size_t(body_of[std::size_t(row)]);
    const Index r = row - starts[body], c = column - starts[body];
    masses[body](r, c) = masses[body](c, r) = entry;
  });
  files::TextProblem result{ContactProblem<double>(model.opt.timestep), {}};
  const VectorXd free = instant.velocity(data.qacc_smooth);
  for (std::size_t b = 0; b < masses.size(); ++b) {
    result.problem.add_body(masses[b], free.segment(starts[b], masses[b].rows()));
  }
  for (int row = 0; row < data.nefc; row += 3) read_contact(instant, row, body_of, result.problem);
  result.guess = instant.velocity(data.qacc_warmstart);
  return result;
}

double own_residual(const MujocoInstant& instant) {
  const mjModel* const model = instant.model.get();
  mjData* const data = instant.data.get();
  VectorXd slack(data->nefc), balance(model->nv), whitened(model->nv);
  mj_mulJacVec(model, data, slack.data(), data->qacc);
  slack -= VectorXd::Map(data->efc_aref, data->nefc);
  mj_constraintUpdate(model, data, slack.data(), nullptr, 0);
  mj_mulM(model, data, balance.data(), data->qacc);
  balance -=
      VectorXd::Map(data->qfrc_smooth, model->nv) + VectorXd::Map(data->qfrc_constraint, model->nv);
  mj_solveM2(model, data, whitened.data(), balance.data(), 1);
  return model->opt.timestep * whitened.norm();
}

}  // namespace carom::peers
