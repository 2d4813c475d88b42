// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

namespace carom::fuzz {

/// A file in memory, for functions that take the path of one.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : descriptor_(memfd_create("input", 0)) {
    std::size_t done = 0;
    while (descriptor_ >= 0 && done < bytes.size()) {
      const ssize_t written = write(descriptor_, bytes.data() + done, bytes.size() - done);
      if (written <= 0) std::abort();
      done += std::size_t(written);
    }
    if (descriptor_ < 0) std::abort();
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace carom::fuzz
