// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "carom/contact/delassus_problem.hpp"

#include "io/cpf_file.hpp"

/// @file
/// The bundled frictional contact problems as problems in impulses.
namespace carom::testing {

[[nodiscard]] inline std::vector<std::string> friction_files() {
  std::vector<std::string> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(CAROM_SOURCE_DIR "/examples/data/fclib")) {
    if (entry.path().extension() == ".cpf") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// A file's W and q, whose rows have the normal first, as contacts whose normal comes last.
[[nodiscard]] inline DelassusProblem<double> read_friction_dual(const std::string& path) {
  const examples::FrictionProblem file = examples::read_cpf(path);
  const Index d = file.dimension;
  const auto row_of = [&](Index row) {
    const Index own = row % d;
    return row - own + (own == 0 ? d - 1 : own - 1);
  };
  DelassusProblem<double> problem;
  for (Index i = 0; i < file.contact_count; ++i) {
    VectorX<double> load(d);
    for (Index k = 0; k < d; ++k) {
      load(row_of(d * i + k) - d * i) = file.local.value().velocity(d * i + k);
    }
    const auto shape = d == 2 ? ImpulseShape::planar : ImpulseShape::friction;
    problem.add_contact(cone_impulses<double>(shape, {file.friction(i), 0, 0}), load);
  }
  const examples::SparseMatrix& given = file.local.value().delassus;
  std::vector<Eigen::Triplet<double>> entries;
  for (Index c = 0; c < given.outerSize(); ++c) {
    for (examples::SparseMatrix::InnerIterator it(given, c); it; ++it) {
      entries.emplace_back(int(row_of(it.row())), int(row_of(c)), it.value());
    }
  }
  examples::SparseMatrix turned(given.rows(), given.cols());
  turned.setFromTriplets(entries.begin(), entries.end());
  problem.add_matrix(turned);
  return problem;
}

}  // namespace carom::testing
