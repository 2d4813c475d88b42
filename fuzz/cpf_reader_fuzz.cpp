// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: any bytes, read as a CPF1 container.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "friction_file.hpp"
#include "io/cpf_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  carom::fuzz::check_reader([&] { return carom::files::parse_cpf(bytes); });
  return 0;
}
