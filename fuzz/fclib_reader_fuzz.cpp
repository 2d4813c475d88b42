// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: any bytes, read as an FCLIB file, which is HDF5, from memory.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "friction_file.hpp"
#include "io/fclib_file.hpp"

/// HDF5 keeps memory of damaged files that it has refused.
extern "C" const char* __lsan_default_suppressions();   // NOLINT: the sanitizer's name
extern "C" const char* __lsan_default_suppressions() {  // NOLINT
  return "leak:libhdf5\n";
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  carom::fuzz::check_reader([&] { return carom::files::parse_fclib(bytes); });
  return 0;
}
