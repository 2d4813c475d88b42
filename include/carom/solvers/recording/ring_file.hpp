// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "carom/core/expects.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Closes a file.
struct FileCloser {
  void operator()(std::FILE* file) const noexcept { static_cast<void>(std::fclose(file)); }
};

/// Leaves memory to its owner.
struct MemoryKeeper {
  void operator()(std::byte* /*memory*/) const noexcept {}
};

/// A file of bounded size that keeps the records written last. If the next one has no room at the
/// end, writing continues behind the header, over the oldest records.
///
/// Each record is passed to the operating system in one call, so that a crash of the program loses
/// nothing that was written before. Memory of the caller can take the place of the file.
class RingFile {
 public:
  RingFile() noexcept = default;
  /// Creates the file. An existing one is replaced.
  /// @param capacity  largest size of the file [bytes], ≥ header_size.
  RingFile(const std::string& path, const unsigned char* header, std::size_t header_size,
           std::size_t capacity)
      : file_(std::fopen(path.c_str(), "wb")),
        first_(header_size),
        capacity_(capacity),
        last_(header_size) {
    if (!file_) return;
    std::setvbuf(file_.get(), nullptr, _IONBF, 0);
    if (!append(header, header_size)) file_.reset();
  }
  /// Writes to memory, which outlives this object.
  /// @pre   memory.size() ≥ header_size.
  RingFile(std::span<std::byte> memory, const unsigned char* header,
           std::size_t header_size) noexcept
      : memory_(memory.data()), first_(header_size), capacity_(memory.size()), last_(header_size) {
    static_cast<void>(append(header, header_size));
  }

  [[nodiscard]] bool is_open() const noexcept { return file_ || memory_; }
  /// The largest record that has room [bytes].
  [[nodiscard]] std::size_t room() const noexcept { return capacity_ - first_; }
  /// Writes a record after the last one, or over it. The first one is behind the header.
  /// @pre   is_open(), count ≤ room().
  /// @return  whether all of it was written. If not, the next record takes its place.
  /// @note  No allocation, no exception; one or two system calls, none into memory.
  bool write(const unsigned char* bytes, std::size_t count, bool over_last) noexcept {
    std::size_t start = over_last ? last_ : next_;
    if (start + count > capacity_) start = first_;
    if (file_ && start != at_ && std::fseek(file_.get(), long(start), SEEK_SET) != 0) return false;
    at_ = last_ = next_ = start;
    return append(bytes, count);
  }

 private:
  bool append(const unsigned char* bytes, std::size_t count) noexcept {
    std::size_t written = count;
    if (file_) {
      written = std::fwrite(bytes, 1, count, file_.get());
    } else {
      std::memcpy(memory_.get() + at_, bytes, count);
    }
    at_ += written;
    if (written == count) {
      next_ = at_;
      return true;
    }
    std::clearerr(file_.get());
    at_ = unknown;
    return false;
  }

  static constexpr std::size_t unknown = std::size_t(-1);

  std::unique_ptr<std::FILE, FileCloser> file_;
  std::unique_ptr<std::byte, MemoryKeeper> memory_;  ///< takes the place of the file
  std::size_t first_ = 0, capacity_ = 0;
  std::size_t at_ = 0;               ///< where the file stands
  std::size_t last_ = 0, next_ = 0;  ///< where the last record begins, and the next one
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
