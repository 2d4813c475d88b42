// SPDX-License-Identifier: BSD-3-Clause
#include "mujoco_view.hpp"

#include <algorithm>
#include <cmath>
#include <nanobind/ndarray.h>
#include <string>

#include <Eigen/Geometry>

#include "arrays.hpp"

namespace carom::python {
namespace {

constexpr const char* version_text = "the package mujoco 3.3 or later";

/// An attribute, or None.
nb::object find(nb::handle owner, const char* name) {
  return nb::getattr(owner, name, nb::none());
}

/// An attribute that every version has that is read here.
nb::object require(nb::handle owner, const char* name) {
  nb::object value = find(owner, name);
  if (value.is_none()) refuse("carom.mujoco", version_text, std::string("nothing named ") + name);
  return value;
}

int read_count(nb::handle owner, const char* name) {
  int count = 0;
  if (!nb::try_cast(require(owner, name), count)) {
    refuse("carom.mujoco", version_text, std::string("no count named ") + name);
  }
  return count;
}

}  // namespace

ArrayMemory::ArrayMemory(nb::handle array, std::size_t number_size, const char* name) {
  if (PyObject_GetBuffer(array.ptr(), &view_, PyBUF_C_CONTIGUOUS) != 0) {
    PyErr_Clear();
    refuse("carom.mujoco", version_text, std::string("no array named ") + name);
  }
  if (std::size_t(view_.itemsize) == number_size) return;
  PyBuffer_Release(&view_);
  refuse("carom.mujoco", version_text, std::string("other numbers in ") + name);
}

template <typename Number>
Number* MujocoViews::numbers(nb::handle owner, const char* name, Index count,
                             std::vector<ArrayMemory>& kept) {
  ArrayMemory memory(require(owner, name), sizeof(Number), name);
  if (memory.count() < count) {
    refuse("carom.mujoco", version_text, std::string("fewer numbers in ") + name);
  }
  kept.push_back(std::move(memory));
  return static_cast<Number*>(kept.back().data());
}

template <typename Number>
Number* MujocoViews::row_numbers(const char* name, Index count) {
  if (!layout_known_) return numbers<Number>(data_, name, count, rows_);
  row_arrays_.push_back(require(data_, name));
  return static_cast<Number*>(ArrayMemory::first_pointer(row_arrays_.back().ptr()));
}

void MujocoViews::bind(nb::handle model, nb::handle data) {
  const bool same_model = model.is(model_);
  model_ = nb::none();  // if this fails, the next call begins again
  bound_.clear();
  MujocoModelView& m = model_view_;
  MujocoDataView& d = data_view_;
  const auto integers = [&](nb::handle owner, const char* name, Index count) {
    return numbers<int>(owner, name, count, bound_);
  };
  const auto doubles = [&](nb::handle owner, const char* name, Index count) {
    return numbers<double>(owner, name, count, bound_);
  };
  options_ = require(model, "opt");
  m.nv = read_count(model, "nv");
  m.nC = read_count(model, "nC");
  m.dof_bodyid = integers(model, "dof_bodyid", m.nv);
  m.body_rootid = integers(model, "body_rootid", read_count(model, "nbody"));
  m.M_rowadr = integers(model, "M_rowadr", m.nv);
  m.M_rownnz = integers(model, "M_rownnz", m.nv);
  m.M_colind = integers(model, "M_colind", m.nC);
  m.D_rowadr = integers(model, "D_rowadr", m.nv);
  m.D_rownnz = integers(model, "D_rownnz", m.nv);
  m.D_colind = integers(model, "D_colind", read_count(model, "nD"));
  m.dof_damping = doubles(model, "dof_damping", m.nv);
  d.qvel = doubles(data, "qvel", m.nv);
  d.qacc_smooth = doubles(data, "qacc_smooth", m.nv);
  d.qacc_warmstart = doubles(data, "qacc_warmstart", m.nv);
  d.qfrc_smooth = doubles(data, "qfrc_smooth", m.nv);
  d.M = doubles(data, "M", m.nC);
  d.qLDiagInv = doubles(data, "qLDiagInv", m.nv);
  d.qDeriv = doubles(data, "qDeriv", read_count(model, "nD"));
  d.qacc = doubles(data, "qacc", m.nv);
  d.qfrc_constraint = doubles(data, "qfrc_constraint", m.nv);
  d.solver_niter = integers(data, "solver_niter", 1);
  MujocoGeometries& g = geometries_;
  g.geom_xpos = doubles(data, "geom_xpos", 0);
  g.subtree_com = doubles(data, "subtree_com", 0);
  g.cvel = doubles(data, "cvel", 0);
  const nb::module_ mujoco = nb::module_::import_("mujoco");
  solve_inertia_ = mujoco.attr("mj_solveM");
  is_sparse_ = mujoco.attr("mj_isSparse");
  constexpr int sums_from = 400;
  adds_margins_ = nb::cast<int>(mujoco.attr("mj_version")()) >= sums_from;
  acceleration_ = require(data, "qacc").attr("reshape")(1, -1);
  force_ = require(data, "qacc").attr("copy")().attr("reshape")(1, -1);
  bound_.emplace_back(force_, sizeof(double), "qacc");
  layout_known_ = std::all_of(bound_.begin(), bound_.end(),
                              [](const ArrayMemory& memory) { return memory.begins_with_data(); });
  if (!same_model) bind_geometries(model);
  data_ = nb::borrow(data);
  model_ = nb::borrow(model);
}

void MujocoViews::bind_geometries(nb::handle model) {
  model_bound_.clear();
  MujocoGeometries& g = geometries_;
  const auto integers = [&](const char* name, Index count) {
    return numbers<int>(model, name, count, model_bound_);
  };
  const auto doubles = [&](const char* name, Index count) {
    return numbers<double>(model, name, count, model_bound_);
  };
  g.count = read_count(model, "ngeom");
  g.pair_count = read_count(model, "npair");
  g.geom_bodyid = integers("geom_bodyid", g.count);
  g.body_weldid = integers("body_weldid", 1);
  g.body_rootid = integers("body_rootid", 1);
  g.geom_rbound = doubles("geom_rbound", g.count);
  g.geom_margin = doubles("geom_margin", g.count);
  g.pair_geom1 = integers("pair_geom1", g.pair_count);
  g.pair_geom2 = integers("pair_geom2", g.pair_count);
  g.pair_margin = doubles("pair_margin", g.pair_count);
  model_bound_.emplace_back(require(options_, "gravity"), sizeof(double), "gravity");
  g.gravity = static_cast<const double*>(model_bound_.back().data());
  given_.assign(g.geom_margin, g.geom_margin + g.count);
  given_.insert(given_.end(), g.pair_margin, g.pair_margin + g.pair_count);
  approach_.assign(std::size_t(g.count), 0);
  int tree = -1;
  one_tree_ = true;
  for (int i = 0; i < g.count; ++i) {
    const int body = g.geom_bodyid[i], root = g.body_rootid[body];
    if (g.body_weldid[body] == 0) continue;
    one_tree_ = one_tree_ && (tree < 0 || tree == root);
    tree = root;
  }
}

double MujocoViews::speed_of(int geometry, bool relative) const noexcept {
  using Vector = Eigen::Map<const Eigen::Vector3d>;
  const MujocoGeometries& g = geometries_;
  const int body = g.geom_bodyid[geometry], root = g.body_rootid[body];
  const auto twist = [&](int of) { return g.cvel + 6 * of; };  // about the centre of the tree
  const auto difference = [&](int part) -> Eigen::Vector3d {
    Eigen::Vector3d value = Vector(twist(body) + part);
    if (relative) value -= Vector(twist(root) + part);
    return value;
  };
  const Eigen::Vector3d arm = Vector(g.geom_xpos + 3 * geometry) - Vector(g.subtree_com + 3 * root);
  const Eigen::Vector3d spin = difference(0);
  return (difference(3) + spin.cross(arm)).norm() + spin.norm() * g.geom_rbound[geometry];
}

/// Calls visit(margin, that of the model, what is needed in this step) for geometries and pairs.
template <typename Visit>
void MujocoViews::visit_margins(const Visit& visit) noexcept {
  // Share of a geometry's size within which a contact at rest is known whatever rounding does [-].
  constexpr double resting = 1e-3;
  // Share of the speed of limbs against each other that is prepared for: most swing side by side.
  constexpr double between_limbs = 0.3;
  const double step = model_view_.opt.timestep;
  const MujocoGeometries& g = geometries_;
  const double fall = step * step * Eigen::Map<const Eigen::Vector3d>(g.gravity).norm();
  const auto moves = [&](int i) { return g.body_weldid[g.geom_bodyid[i]] != 0; };
  // What does not move has the margin of the fastest: then geometries of one tree, whose limbs
  // move together, need no more than what they approach each other.
  double fastest = 0;
  for (int i = 0; i < g.count; ++i) {
    approach_[std::size_t(i)] = 0;
    if (!moves(i)) continue;
    const double rest = resting * g.geom_rbound[i] + fall;
    const double approach = rest + step * speed_of(i, false);
    if (!std::isfinite(approach)) continue;
    fastest = (std::max)(fastest, approach);
    const double limb = one_tree_ ? rest + between_limbs * step * speed_of(i, true) : approach;
    approach_[std::size_t(i)] = limb;
  }
  const auto own = [&](int i) { return moves(i) ? approach_[std::size_t(i)] : fastest; };
  for (int i = 0; i < g.count; ++i) {
    // The larger one of two margins is no less than half of their sum.
    const double needed = (moves(i) && !adds_margins_ ? 2 : 1) * own(i);
    visit(g.geom_margin[i], given_[std::size_t(i)], needed);
  }
  for (int i = 0; i < g.pair_count; ++i) {
    visit(g.pair_margin[i], given_[std::size_t(g.count + i)],
          own(g.pair_geom1[i]) + own(g.pair_geom2[i]));
  }
}

bool MujocoViews::has_wide_margins() noexcept {
  // What is needed is an upper bound, which motion hardly ever reaches by more than this share.
  constexpr double reached = 0.5;
  bool wide = true;
  visit_margins(
      [&](double margin, double, double needed) { wide = wide && reached * needed <= margin; });
  return wide;
}

void MujocoViews::set_margins() noexcept {
  // The speeds are those of this step and the margins for the next one: a share that they may gain.
  constexpr double gain = 1.25;
  visit_margins([](double& margin, double given, double needed) {
    margin = (std::max)(given, gain * needed);
  });
}

void MujocoViews::write_acceleration(bool acts) {
  const MujocoDataView& d = data_view_;
  const int size = model_view_.nv;
  if (acts) {
    auto* const force = static_cast<double*>(bound_.back().data());
    for (int i = 0; i < size; ++i) force[i] = d.qfrc_smooth[i] + d.qfrc_constraint[i];
    solve_inertia_(model_, data_, acceleration_, force_);
  }
  std::copy_n(d.qacc, size, d.qacc_warmstart);
}

void MujocoViews::take(nb::handle model, nb::handle data) {
  if (!model.is(model_) || !data.is(data_)) bind(model, data);
  model_view_.opt.timestep = read_number(require(options_, "timestep"), "timestep");
}

void MujocoViews::read(bool soft) {
  data_view_.nefc = read_count(data_, "nefc");
  rows_.clear();
  row_arrays_.clear();
  if (data_view_.nefc > 0) read_rows(soft);
}

void MujocoViews::read_rows(bool soft) {
  using Kind = detail::MujocoKind;
  MujocoDataView& d = data_view_;
  const auto integers = [&](const char* name, Index count) {
    return row_numbers<int>(name, count);
  };
  const auto doubles = [&](const char* name, Index count) {
    return row_numbers<double>(name, count);
  };
  const Index rows = d.nefc;
  d.efc_type = integers("efc_type", rows);
  d.efc_id = integers("efc_id", rows);
  // MuJoCo sorts rows by kind.
  const int first = d.efc_type[0], last = d.efc_type[rows - 1];
  d.efc_force = doubles("efc_force", rows);
  d.efc_state = integers("efc_state", rows);
  if (first < Kind::frictionless_contact) {
    d.efc_pos = doubles("efc_pos", rows);
    d.efc_frictionloss = doubles("efc_frictionloss", rows);
  }
  if (!weights_name_)
    weights_name_ = nb::hasattr(data_, "efc_diagA") ? "efc_diagA" : "efc_diagApprox";
  d.efc_diagA = doubles(weights_name_, rows);
  if (soft) {
    d.efc_frictionloss = doubles("efc_frictionloss", rows);
    d.efc_aref = doubles("efc_aref", rows);
    d.efc_R = doubles("efc_R", rows);
    d.efc_vel = doubles("efc_vel", rows);
  }
  model_view_.sparse = nb::cast<bool>(nb::bool_(is_sparse_(model_)));
  if (model_view_.sparse) {
    d.efc_J_rowadr = integers("efc_J_rowadr", rows);
    d.efc_J_rownnz = integers("efc_J_rownnz", rows);
    const Index entries = d.efc_J_rowadr[rows - 1] + d.efc_J_rownnz[rows - 1];
    d.efc_J_colind = integers("efc_J_colind", entries);
    d.efc_J = doubles("efc_J", entries);
  } else {
    d.efc_J = doubles("efc_J", rows * model_view_.nv);
  }
  if (last >= Kind::frictionless_contact) read_contacts();
}

void MujocoViews::read_contacts() {
  // The members of a contact have the same places in every contact of a process, so that one array
  // tells where all of them are.
  struct Places {
    std::ptrdiff_t stride, friction, mu, dim, geom1, geom2;
  };
  const nb::object contacts = require(data_, "contact");
  const auto array = [&](const char* name) {
    nb::ndarray<nb::device::cpu> result;
    if (!nb::try_cast(require(contacts, name), result, false) || result.size() == 0) {
      refuse("carom.mujoco", version_text, std::string("no numbers of contacts named ") + name);
    }
    return result;
  };
  const auto dist = array("dist");
  const auto* const first = static_cast<const std::byte*>(dist.data());
  static const Places places = [&] {
    const auto place = [&](const char* name) {
      return static_cast<const std::byte*>(array(name).data()) - first;
    };
    return Places{dist.stride(0) * std::ptrdiff_t(sizeof(double)),
                  place("friction"),
                  place("mu"),
                  place("dim"),
                  place("geom1"),
                  place("geom2")};
  }();
  data_view_.contact = {places.stride,       first + places.friction, first,
                        first + places.mu,   first + places.dim,      first + places.geom1,
                        first + places.geom2};
}

}  // namespace carom::python
