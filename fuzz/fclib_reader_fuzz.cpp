// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: any bytes, read as an FCLIB file, which is HDF5, from memory.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "friction_file.hpp"
#include "io/fclib_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  carom::fuzz::check_reader([&] { return carom::examples::parse_fclib(bytes); });
  return 0;
}
