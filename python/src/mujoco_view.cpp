// SPDX-License-Identifier: BSD-3-Clause
#include "mujoco_view.hpp"

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

template <typename Number>
Number* MujocoViews::numbers(nb::handle owner, const char* name, Index count,
                             std::vector<nb::object>& kept) {
  nb::object value = require(owner, name);
  nb::ndarray<Number, nb::c_contig, nb::device::cpu> array;
  if (!nb::try_cast(value, array, false) || Index(array.size()) < count) {
    refuse("carom.mujoco", version_text, std::string("another array named ") + name);
  }
  kept.push_back(std::move(value));
  return array.data();
}

void MujocoViews::bind(nb::handle model, nb::handle data) {
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
  model_ = nb::borrow(model);
  data_ = nb::borrow(data);
}

void MujocoViews::read(nb::handle model, nb::handle data, bool soft) {
  if (!model.is(model_) || !data.is(data_)) bind(model, data);
  model_view_.opt.timestep = read_number(require(options_, "timestep"), "timestep");
  data_view_.nefc = read_count(data, "nefc");
  if (data_view_.nefc > 0) read_rows(soft);
}

void MujocoViews::read_rows(bool soft) {
  MujocoDataView& d = data_view_;
  rows_.clear();
  const auto integers = [&](const char* name, Index count) {
    return numbers<int>(data_, name, count, rows_);
  };
  const auto doubles = [&](const char* name, Index count) {
    return numbers<double>(data_, name, count, rows_);
  };
  const Index rows = d.nefc;
  d.efc_type = integers("efc_type", rows);
  d.efc_id = integers("efc_id", rows);
  d.efc_pos = doubles("efc_pos", rows);
  d.efc_frictionloss = doubles("efc_frictionloss", rows);
  d.efc_force = doubles("efc_force", rows);
  d.efc_state = integers("efc_state", rows);
  d.efc_diagA = doubles(nb::hasattr(data_, "efc_diagA") ? "efc_diagA" : "efc_diagApprox", rows);
  if (soft) {
    d.efc_aref = doubles("efc_aref", rows);
    d.efc_R = doubles("efc_R", rows);
    d.efc_vel = doubles("efc_vel", rows);
  }
  static const nb::object* const is_sparse =
      new nb::object(nb::module_::import_("mujoco").attr("mj_isSparse"));
  model_view_.sparse = nb::cast<bool>(nb::bool_((*is_sparse)(model_)));
  if (model_view_.sparse) {
    d.efc_J_rowadr = integers("efc_J_rowadr", rows);
    d.efc_J_rownnz = integers("efc_J_rownnz", rows);
    const Index entries = d.efc_J_rowadr[rows - 1] + d.efc_J_rownnz[rows - 1];
    d.efc_J_colind = integers("efc_J_colind", entries);
    d.efc_J = doubles("efc_J", entries);
  } else {
    d.efc_J = doubles("efc_J", rows * model_view_.nv);
  }
  if (d.efc_type[rows - 1] >= detail::MujocoKind::frictionless_contact) read_contacts();
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
