// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <hdf5.h>
#include <string>
#include <string_view>
#include <utility>

#include "io/bad_input.hpp"

/// @file
/// HDF5 in memory only, without its messages: errors are exceptions of carom.
namespace carom::files::detail {

/// An HDF5 object, closed in its destructor.
class Hdf5Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Hdf5Handle(hid_t id, Close close) noexcept : id_(id), close_(close) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept
      : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(Hdf5Handle&&) = delete;
  ~Hdf5Handle() {
    if (id_ >= 0) close_(id_);
  }
  [[nodiscard]] bool valid() const noexcept { return id_ >= 0; }
  [[nodiscard]] hid_t id() const noexcept { return id_; }

 private:
  hid_t id_;
  Close close_;
};

/// Disables the messages of HDF5 during its lifetime, and at the end of the program, where HDF5
/// would report objects of a damaged file.
class Hdf5Silence {
 public:
  Hdf5Silence() noexcept {
    [[maybe_unused]] static const herr_t no_farewell = H5dont_atexit();  // before all other calls
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  Hdf5Silence(const Hdf5Silence&) = delete;
  Hdf5Silence& operator=(const Hdf5Silence&) = delete;
  ~Hdf5Silence() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }

 private:
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

/// The access properties of a file in memory.
[[nodiscard]] inline Hdf5Handle memory_access() {
  Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  constexpr std::size_t growth = std::size_t(1) << 16;
  if (!access.valid() || H5Pset_fapl_core(access.id(), growth, 0) < 0) {
    throw BadInput("HDF5: expected files in memory to work, was refused them");
  }
  return access;
}

/// Opens the content of a file for reading.
[[nodiscard]] inline Hdf5Handle open_in_memory(std::string_view bytes) {
  const Hdf5Handle access = memory_access();
  // HDF5 copies the bytes, but its interface takes them as not const.
  void* const image = const_cast<char*>(bytes.data());
  if (bytes.empty() || H5Pset_file_image(access.id(), image, bytes.size()) < 0) {
    throw BadInput("expected the content of an HDF5 file, got none");
  }
  Hdf5Handle file(H5Fopen("carom_in_memory", H5F_ACC_RDONLY, access.id()), H5Fclose);
  if (!file.valid()) {
    throw BadInput("expected a whole HDF5 file, got one that is damaged or ends early");
  }
  return file;
}

}  // namespace carom::files::detail
