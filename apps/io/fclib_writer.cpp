// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include "io/bad_input.hpp"
#include "io/fclib_file.hpp"
#include "io/file_text.hpp"

#ifdef CAROM_WITH_HDF5

#include <initializer_list>
#include <utility>

#include <Eigen/SparseCholesky>

#include "io/hdf5_memory.hpp"

namespace carom::files {

namespace {

using detail::Hdf5Handle;

/// Throws if HDF5 reports an error.
void demand(bool works) {
  if (!works) throw BadInput("HDF5: expected writing in memory to work, was refused it");
}

/// A state with the u and v computed from its r and λ if they are missing.
FrictionState complete(FrictionState state, const FrictionProblem& problem) {
  const Index count = problem.equality_count();
  if (state.multiplier.size() != count) {
    throw BadInput("l: expected " + std::to_string(count) + " entries beside r, got none");
  }
  if (problem.global && state.velocity.size() != problem.global->mass.rows()) {
    const GlobalForm& global = *problem.global;
    const Eigen::SimplicialLDLT<SparseMatrix> factor(global.mass);
    if (factor.info() == Eigen::Success) {
      VectorX<double> momentum = global.directions * state.impulse + global.momentum;
      if (problem.global_equalities) {
        momentum += problem.global_equalities->directions * state.multiplier;
      }
      state.velocity = factor.solve(momentum);
    }
    if (factor.info() != Eigen::Success || !state.velocity.allFinite()) {
      throw BadInput("M: expected an invertible matrix, to find v, got a singular one");
    }
  }
  if (state.contact_velocity.size() == state.impulse.size()) return state;
  state.contact_velocity =
      problem.local
          ? VectorX<double>(problem.local->delassus * state.impulse + problem.local->velocity)
          : VectorX<double>(problem.global->directions.transpose() * state.velocity +
                            problem.global->velocity);
  if (problem.local_equalities) {
    state.contact_velocity += problem.local_equalities->coupling * state.multiplier;
  }
  return state;
}

class FclibWriter {
 public:
  explicit FclibWriter(const FrictionProblem& problem) : problem_(problem), file_(create()) {}

  std::string write() {
    if (problem_.local) write_local();
    if (problem_.global) write_global();
    if (problem_.guess) {
      const Hdf5Handle guesses = group(file_, "guesses");
      write_number(guesses, "number_of_guesses", 1);
      write_state(group(guesses, "1"), *problem_.guess);
    }
    if (problem_.solution) write_state(group(file_, "solution"), *problem_.solution);
    return image();
  }

 private:
  void write_local() {
    const bool rolling = problem_.dimension == 5;
    const Hdf5Handle local = group(file_, rolling ? "fclib_local_rolling" : "fclib_local");
    const auto& equalities = problem_.local_equalities;
    write_vectors(local, {{"mu", &problem_.friction},
                          {"mu_r", rolling ? &problem_.rolling_friction : nullptr},
                          {"q", &problem_.local->velocity},
                          {"s", equalities ? &equalities->velocity : nullptr}});
    write_matrix(local, "W", problem_.local->delassus);
    if (equalities) write_matrix(local, "V", equalities->coupling);
    if (equalities) write_matrix(local, "R", equalities->delassus);
  }
  void write_global() {
    const bool rolling = problem_.dimension == 5;
    const GlobalForm& form = *problem_.global;
    const Hdf5Handle global = group(file_, rolling ? "fclib_global_rolling" : "fclib_global");
    const auto& equalities = problem_.global_equalities;
    write_vectors(global, {{"mu", &problem_.friction},
                           {"mu_r", rolling ? &problem_.rolling_friction : nullptr},
                           {"f", &form.momentum},
                           {"w", &form.velocity},
                           {"b", equalities ? &equalities->velocity : nullptr}});
    write_matrix(global, "M", form.mass);
    write_matrix(global, "H", form.directions);
    if (equalities) write_matrix(global, "G", equalities->directions);
  }

  static Hdf5Handle create() {
    const Hdf5Handle access = detail::memory_access();
    Hdf5Handle file(H5Fcreate("carom_in_memory", H5F_ACC_TRUNC, H5P_DEFAULT, access.id()),
                    H5Fclose);
    demand(file.valid());
    return file;
  }

  static Hdf5Handle group(const Hdf5Handle& parent, const char* name) {
    Hdf5Handle group(H5Gcreate2(parent.id(), name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                     H5Gclose);
    demand(group.valid());
    return group;
  }
  static void write_set(const Hdf5Handle& parent, const char* name, const Hdf5Handle& space,
                        std::pair<hid_t, hid_t> stored_and_native, const void* values) {
    const auto [stored, native] = stored_and_native;
    const Hdf5Handle set(
        H5Dcreate2(parent.id(), name, stored, space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
        H5Dclose);
    demand(set.valid());
    demand(H5Dwrite(set.id(), native, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  }
  static Hdf5Handle line_of(Index count) {
    const auto size = hsize_t(count);
    return {H5Screate_simple(1, &size, nullptr), H5Sclose};
  }
  static void write_integers(const Hdf5Handle& parent, const char* name, const int* values,
                             Index count) {
    const int nothing = 0;
    write_set(parent, name, line_of(count), {H5T_STD_I32LE, H5T_NATIVE_INT},
              count > 0 ? values : &nothing);
  }
  static void write_number(const Hdf5Handle& parent, const char* name, int value) {
    write_integers(parent, name, &value, 1);
  }
  static void write_numbers(const Hdf5Handle& parent, const char* name, const double* values,
                            Index count) {
    const double nothing = 0;
    write_set(parent, name, line_of(count), {H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE},
              count > 0 ? values : &nothing);
  }
  static void write_text(const Hdf5Handle& parent, const char* name, std::string_view text) {
    const Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    demand(type.valid() && H5Tset_size(type.id(), text.size() + 1) >= 0);
    write_set(parent, name, {H5Screate(H5S_SCALAR), H5Sclose}, {type.id(), type.id()},
              std::string(text).c_str());
  }

  using NamedVectors = std::initializer_list<std::pair<const char*, const VectorX<double>*>>;
  /// The common part of all forms: the dimension, vectors if there are any, and the metadata of the
  /// problem.
  void write_vectors(const Hdf5Handle& form, const NamedVectors& vectors) const {
    write_number(form, "spacedim", int(problem_.dimension));
    const Hdf5Handle place = group(form, "vectors");
    for (const auto& [name, values] : vectors) {
      if (values != nullptr) write_numbers(place, name, values->data(), values->size());
    }
    const Hdf5Handle info = group(form, "info");
    const std::string_view title = problem_.find("title");
    write_text(info, "title", title.empty() ? problem_.find("name") : title);
    write_text(info, "description", problem_.find("description"));
    write_text(info, "math_info", problem_.find("math_info"));
  }

  static void write_matrix(const Hdf5Handle& form, const char* name, SparseMatrix matrix) {
    matrix.makeCompressed();
    const Hdf5Handle place = group(form, name);
    const Index count = matrix.nonZeros();
    write_number(place, "nzmax", int(count));
    write_number(place, "m", int(matrix.rows()));
    write_number(place, "n", int(matrix.cols()));
    write_number(place, "nz", -1);  // by columns
    write_integers(place, "p", matrix.outerIndexPtr(), matrix.cols() + 1);
    write_integers(place, "i", matrix.innerIndexPtr(), count);
    write_numbers(place, "x", matrix.valuePtr(), count);
  }

  void write_state(const Hdf5Handle& place, const FrictionState& given) const {
    const FrictionState state = complete(given, problem_);
    if (problem_.global) write_numbers(place, "v", state.velocity.data(), state.velocity.size());
    write_numbers(place, "u", state.contact_velocity.data(), state.contact_velocity.size());
    write_numbers(place, "r", state.impulse.data(), state.impulse.size());
    const Index count = problem_.equality_count();
    if (count > 0) write_numbers(place, "l", state.multiplier.data(), count);
  }

  std::string image() {
    demand(H5Fflush(file_.id(), H5F_SCOPE_GLOBAL) >= 0);
    const ssize_t size = H5Fget_file_image(file_.id(), nullptr, 0);
    demand(size > 0);
    std::string bytes(std::size_t(size), '\0');
    demand(H5Fget_file_image(file_.id(), bytes.data(), bytes.size()) == size);
    return bytes;
  }

  const FrictionProblem& problem_;
  Hdf5Handle file_;
};

}  // namespace

std::string fclib_bytes(const FrictionProblem& problem) {
  if (const Fault fault = friction_problem_fault(problem); !fault.empty()) throw BadInput(fault);
  if (!problem.local && !problem.global) {
    throw BadInput("problem: expected W and q, or M, H, f and b, got a solution alone");
  }
  const detail::Hdf5Silence silence;
  return FclibWriter(problem).write();
}

}  // namespace carom::files

#else

namespace carom::files {

std::string fclib_bytes(const FrictionProblem& /*problem*/) {
  throw BadInput("expected a program that knows HDF5, got one built without it");
}

}  // namespace carom::files

#endif

namespace carom::files {

void write_fclib(const FrictionProblem& problem, const std::string& path) {
  std::string bytes;
  try {
    bytes = fclib_bytes(problem);
  } catch (const BadInput& fault) {
    throw BadInput(path + ": " + fault.what());
  }
  write_file(path, bytes);
}

}  // namespace carom::files
