// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "io/bad_input.hpp"

namespace carom::files {

/// The whole content of a file. Throws BadInput, starting with the path, if there is no such file.
[[nodiscard]] inline std::string read_file(const std::string& path) {
  constexpr std::size_t chunk = std::size_t(1) << 20;
  constexpr std::size_t limit = std::size_t(1) << 31;  // ends the reading of endless devices
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    throw BadInput(path + ": expected a file that can be read, found none");
  }
  if (std::filesystem::is_directory(status)) {
    throw BadInput(path + ": expected a file, found a directory");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw BadInput(path + ": expected a file that can be read, was refused it");
  std::string text;
  while (file) {
    const std::size_t size = text.size();
    if (size > limit)
      throw BadInput(path + ": expected a file of at most 2 GiB, found a larger one");
    text.resize(size + chunk);
    file.read(text.data() + size, std::streamsize(chunk));
    text.resize(size + std::size_t(file.gcount()));
  }
  if (file.bad()) throw BadInput(path + ": expected a file that can be read, reading failed");
  return text;
}

/// Writes a file. An existing file is replaced. Throws BadInput, starting with the path.
inline void write_file(const std::string& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << content;
  file.close();
  if (!file) throw BadInput(path + ": expected a file that can be written, was refused it");
}

}  // namespace carom::files
