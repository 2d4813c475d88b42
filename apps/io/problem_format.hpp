// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string_view>

#include "io/cpf_file.hpp"
#include "io/text_problem.hpp"

namespace carom::files {

/// The format of a problem file.
enum class ProblemFormat {
  unknown,
  text,  ///< `carom-problem`: bodies, contacts and constraints in words.
  cpf,   ///< A CPF1 container.
  hdf5,  ///< HDF5, the form of FCLIB's files.
};

/// Whether the bytes begin as HDF5: its signature is at 0, 512, or a doubling of that.
[[nodiscard]] inline bool is_hdf5(std::string_view bytes) noexcept {
  constexpr std::string_view signature("\x89HDF\r\n\x1a\n", 8);
  for (std::size_t at = 0; at < bytes.size(); at = at == 0 ? 512 : 2 * at) {
    if (bytes.substr(at, signature.size()) == signature) return true;
  }
  return false;
}

/// The format of a file from its content, for any name.
[[nodiscard]] inline ProblemFormat recognize_format(std::string_view bytes) noexcept {
  if (is_cpf(bytes)) return ProblemFormat::cpf;
  if (is_hdf5(bytes)) return ProblemFormat::hdf5;
  return is_text_problem(bytes) ? ProblemFormat::text : ProblemFormat::unknown;
}

}  // namespace carom::files
