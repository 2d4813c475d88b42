// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "carom/solvers/recorder.hpp"

#include "io/recording.hpp"

namespace carom::testing {

/// A recording in a file of a test, which is removed in the end.
class RecordingFile {
 public:
  explicit RecordingFile(const std::string& test)
      : path_((std::filesystem::temp_directory_path() / ("carom_" + test + ".carom-record"))
                  .string()) {}
  RecordingFile(const RecordingFile&) = delete;
  RecordingFile& operator=(const RecordingFile&) = delete;
  ~RecordingFile() { std::filesystem::remove(path_); }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::string bytes() const { return files::read_file(path_); }
  [[nodiscard]] files::Recording read() const { return files::read_recording(path_); }

 private:
  std::string path_;
};

}  // namespace carom::testing
