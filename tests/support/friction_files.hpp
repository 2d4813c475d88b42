// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "io/cpf_file.hpp"
#include "io/friction_dual.hpp"

/// @file
/// The bundled frictional contact problems.
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

[[nodiscard]] inline DelassusProblem<double> read_friction_dual(const std::string& path) {
  return files::friction_dual(files::read_cpf(path));
}

}  // namespace carom::testing
