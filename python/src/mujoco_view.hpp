// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstring>
#include <nanobind/nanobind.h>
#include <utility>
#include <vector>

#include "carom/adapters/detail/mujoco_solver.hpp"

/// @file
/// mjModel and mjData of Python's package mujoco, as carom's MujocoSolver reads them: structures of
/// pointers with the members that it uses. The arrays are those of the package, whatever its
/// version, so that carom is built without MuJoCo.
namespace carom::python {

namespace nb = nanobind;

/// What of mjModel is read. The names are MuJoCo's.
struct MujocoModelView {
  struct {
    double timestep;
  } opt{};
  int nv = 0, nC = 0;
  bool sparse = false;  ///< Whether efc_J is.
  const int *dof_bodyid = nullptr, *body_rootid = nullptr;
  const int *M_rowadr = nullptr, *M_rownnz = nullptr, *M_colind = nullptr;
  const int *D_rowadr = nullptr, *D_rownnz = nullptr, *D_colind = nullptr;
  const double* dof_damping = nullptr;
};

[[nodiscard]] inline int mj_isSparse(const MujocoModelView* model) noexcept {
  return model->sparse ? 1 : 0;
}

/// What of mjContact is read.
struct MujocoContactView {
  const double* friction;
  double dist, mu;
  int dim, geom1, geom2;
};

/// mjData's contacts: arrays in which those of one contact are `stride` bytes behind those of the
/// contact before.
struct MujocoContactsView {
  std::ptrdiff_t stride = 0;
  const std::byte *friction = nullptr, *dist = nullptr, *mu = nullptr, *dim = nullptr,
                  *geom1 = nullptr, *geom2 = nullptr;

  [[nodiscard]] MujocoContactView operator[](int i) const noexcept {
    return {at<double>(friction, i), *at<double>(dist, i), *at<double>(mu, i),
            *at<int>(dim, i),        *at<int>(geom1, i),   *at<int>(geom2, i)};
  }

 private:
  template <typename T>
  [[nodiscard]] const T* at(const std::byte* first, int i) const noexcept {
    return static_cast<const T*>(static_cast<const void*>(first + i * stride));
  }
};

/// What of mjData is read and written.
struct MujocoDataView {
  int nefc = 0;
  const double *qvel = nullptr, *qacc_smooth = nullptr, *qfrc_smooth = nullptr, *M = nullptr,
               *qLDiagInv = nullptr, *qDeriv = nullptr;
  double *qacc = nullptr, *qfrc_constraint = nullptr, *qacc_warmstart = nullptr;
  int* solver_niter = nullptr;
  const int *efc_type = nullptr, *efc_id = nullptr, *efc_J_rowadr = nullptr,
            *efc_J_rownnz = nullptr, *efc_J_colind = nullptr;
  const double *efc_J = nullptr, *efc_pos = nullptr, *efc_frictionloss = nullptr,
               *efc_diagA = nullptr, *efc_R = nullptr, *efc_aref = nullptr, *efc_vel = nullptr;
  double* efc_force = nullptr;
  int* efc_state = nullptr;
  MujocoContactsView contact;
};

/// The memory of an array of numpy, which lives as long as this.
class ArrayMemory {
 public:
  ArrayMemory() = default;
  /// @throws std::invalid_argument  unless it is an array in C order of numbers of that size.
  ArrayMemory(nb::handle array, std::size_t number_size, const char* name);
  ArrayMemory(ArrayMemory&& other) noexcept : view_(other.view_) { other.view_ = {}; }
  ArrayMemory& operator=(ArrayMemory&& other) noexcept {
    std::swap(view_, other.view_);
    return *this;
  }
  ArrayMemory(const ArrayMemory&) = delete;
  ArrayMemory& operator=(const ArrayMemory&) = delete;
  ~ArrayMemory() {
    if (view_.obj != nullptr) PyBuffer_Release(&view_);
  }

  [[nodiscard]] void* data() const noexcept { return view_.buf; }
  /// Whether numpy's array object begins with the pointer to its numbers, as that of numpy 1 and 2.
  [[nodiscard]] bool begins_with_data() const noexcept {
    return view_.obj != nullptr && first_pointer(view_.obj) == view_.buf;
  }
  /// What stands behind the head of an object.
  [[nodiscard]] static void* first_pointer(PyObject* object) noexcept {
    void* pointer = nullptr;
    std::memcpy(&pointer,
                static_cast<const char*>(static_cast<const void*>(object)) + sizeof(PyObject),
                sizeof(pointer));
    return pointer;
  }
  [[nodiscard]] Index count() const noexcept { return Index(view_.len / view_.itemsize); }

 private:
  Py_buffer view_{};
};

/// What decides how far before a contact MuJoCo has to know of it.
struct MujocoGeometries {
  int count = 0, pair_count = 0;
  const int *geom_bodyid = nullptr, *body_weldid = nullptr, *body_rootid = nullptr,
            *pair_geom1 = nullptr, *pair_geom2 = nullptr;
  const double *geom_rbound = nullptr, *geom_xpos = nullptr, *subtree_com = nullptr,
               *cvel = nullptr, *gravity = nullptr;
  double *geom_margin = nullptr, *pair_margin = nullptr;
};

/// The views of a model and its data, and what keeps their memory. Needs the lock of the
/// interpreter.
class MujocoViews {
 public:
  /// Whether the margins of geometries and pairs are as wide as what they may approach in this
  /// step.
  [[nodiscard]] bool has_wide_margins() noexcept;
  /// Sets the margins to what the geometries may approach in a step at the velocities that mjData
  /// has, and at the least to those of the model.
  void set_margins() noexcept;
  /// Adds up qfrc_smooth and qfrc_constraint, solves by mj_solveM() for qacc where constraints
  /// act, and writes qacc as the guess of the next step.
  void write_acceleration(bool acts);

  /// Takes a model and data; what is no row is read anew only where they are others than before.
  /// @throws std::invalid_argument  for arguments that are not a model and data of mujoco.
  void take(nb::handle model, nb::handle data);
  /// Reads the rows of the step.
  /// @param soft  whether MuJoCo's softness is read.
  void read(bool soft);

  [[nodiscard]] const MujocoModelView& model() const noexcept { return model_view_; }
  [[nodiscard]] MujocoDataView& data() noexcept { return data_view_; }

 private:
  void bind(nb::handle model, nb::handle data);
  void read_rows(bool soft);
  void read_contacts();
  void bind_geometries(nb::handle model);
  template <typename Visit>
  void visit_margins(const Visit& visit) noexcept;
  /// The largest speed of a geometry's points [m/s], relative to the root of its tree or at all.
  [[nodiscard]] double speed_of(int geometry, bool relative) const noexcept;
  /// The memory of an array of at least that many numbers, which `kept` then keeps.
  template <typename Number>
  Number* numbers(nb::handle owner, const char* name, Index count, std::vector<ArrayMemory>& kept);
  /// The same of the step's rows; faster than by the buffer protocol where the layout is known.
  template <typename Number>
  Number* row_numbers(const char* name, Index count);

  nb::object model_, data_, options_, solve_inertia_, is_sparse_;
  nb::object acceleration_, force_;        ///< Arrays (1, nv), the first one of qacc itself.
  std::vector<ArrayMemory> bound_, rows_;  ///< Memory of the model and data, and of the step.
  std::vector<nb::object> row_arrays_;     ///< Arrays of the step, where their layout is known.
  bool layout_known_ = false;              ///< Whether all bound arrays begin with their data.
  std::vector<ArrayMemory> model_bound_;
  const char* weights_name_ = nullptr;  ///< efc_diagA, or its name in older versions.
  MujocoGeometries geometries_;
  bool one_tree_ = true;      ///< Whether all geometries that move belong to one kinematic tree.
  bool adds_margins_ = true;  ///< Whether MuJoCo adds two margins, as from version 4 on.
  std::vector<double> given_, approach_;  ///< Margins of the model, and needed of geometries [m].
  MujocoModelView model_view_;
  MujocoDataView data_view_;
};

}  // namespace carom::python
