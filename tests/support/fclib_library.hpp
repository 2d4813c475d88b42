// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#ifdef CAROM_WITH_FCLIB

#include <cstdlib>
#include <filesystem>
#include <string>

#include <Eigen/Core>

#include "support/catch.hpp"

#include "io/friction_problem.hpp"

extern "C" {
#include <fclib.h>
}

/// @file
/// Reads files by FCLIB's own library, to compare what it reads with what was written.
namespace carom::testing {

/// A file of the test's own in the folder for temporary ones, removed with it.
struct TemporaryFile {
  std::filesystem::path path;
  explicit TemporaryFile(const std::string& name)
      : path(std::filesystem::temp_directory_path() / ("carom_fclib_test_" + name)) {
    std::filesystem::remove(path);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove(path); }
};

[[nodiscard]] inline Eigen::MatrixXd dense(const fclib_matrix& matrix) {
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(matrix.m, matrix.n);
  REQUIRE(matrix.nz == -1);
  for (int column = 0; column < matrix.n; ++column) {
    for (int k = matrix.p[column]; k < matrix.p[column + 1]; ++k) {
      result(matrix.i[k], column) += matrix.x[k];
    }
  }
  return result;
}

[[nodiscard]] inline VectorX<double> copy(const double* values, Index count) {
  return Eigen::Map<const VectorX<double>>(values, count);
}

inline void check_global(const fclib_global& read, const files::FrictionProblem& problem) {
  const Index count = problem.equality_count(), size = problem.global->mass.rows();
  CHECK(read.spacedim == problem.dimension);
  CHECK(dense(*read.M) == problem.global->mass.toDense());
  CHECK(dense(*read.H) == problem.global->directions.toDense());
  CHECK(copy(read.f, size) == problem.global->momentum);
  CHECK(copy(read.w, problem.row_count()) == problem.global->velocity);
  CHECK(copy(read.mu, problem.contact_count) == problem.friction);
  const auto title = problem.find("title");
  CHECK(read.info->title == std::string(title.empty() ? problem.find("name") : title));
  CHECK((read.G != nullptr) == (count > 0));
  if (read.G == nullptr) return;
  CHECK(dense(*read.G) == problem.global_equalities->directions.toDense());
  CHECK(copy(read.b, count) == problem.global_equalities->velocity);
}

inline void check_local(const fclib_local& read, const files::FrictionProblem& problem) {
  const Index count = problem.equality_count();
  CHECK(read.spacedim == problem.dimension);
  CHECK(dense(*read.W) == problem.local->delassus.toDense());
  CHECK(copy(read.q, problem.row_count()) == problem.local->velocity);
  CHECK(copy(read.mu, problem.contact_count) == problem.friction);
  CHECK((read.V != nullptr) == (count > 0));
  if (read.V == nullptr) return;
  CHECK(dense(*read.V) == problem.local_equalities->coupling.toDense());
  CHECK(dense(*read.R) == problem.local_equalities->delassus.toDense());
  CHECK(copy(read.s, count) == problem.local_equalities->velocity);
}

inline void check_state(fclib_solution* read, const files::FrictionState& state) {
  REQUIRE(read != nullptr);
  CHECK(copy(read->r, state.impulse.size()) == state.impulse);
  CHECK(copy(read->u, state.contact_velocity.size()) == state.contact_velocity);
  if (state.velocity.size() > 0) CHECK(copy(read->v, state.velocity.size()) == state.velocity);
  if (state.multiplier.size() > 0) {
    CHECK(copy(read->l, state.multiplier.size()) == state.multiplier);
  }
  fclib_delete_solutions(read, 1);
}

/// Reads a file of one form by the library and compares all it reads with the problem.
inline void check_read(const std::string& path, const files::FrictionProblem& problem) {
  if (problem.global) {
    fclib_global* const read = fclib_read_global(path.c_str());
    REQUIRE(read != nullptr);
    check_global(*read, problem);
    fclib_delete_global(read);
    std::free(read);
  } else {
    fclib_local* const read = fclib_read_local(path.c_str());
    REQUIRE(read != nullptr);
    check_local(*read, problem);
    fclib_delete_local(read);
    std::free(read);
  }
  int count = 0;
  if (problem.guess) check_state(fclib_read_guesses(path.c_str(), &count), *problem.guess);
  CHECK(count == (problem.guess ? 1 : 0));
  if (problem.solution) check_state(fclib_read_solution(path.c_str()), *problem.solution);
}

}  // namespace carom::testing

#endif
