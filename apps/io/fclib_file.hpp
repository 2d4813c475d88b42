// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "io/friction_problem.hpp"

namespace carom::files {

/// @file
/// Files of the Frictional Contact Library, FCLIB [acary2014fclib]: HDF5 with the groups
/// `fclib_local` (W, q), `fclib_global` (M, H, f, w; w is called b here), `guesses`, `solution`;
/// and `fclib_local_rolling` and `fclib_global_rolling` for contacts with rolling resistance. The
/// names are listed in docs/file_formats.md. HDF5 is not needed to build: without it the functions
/// throw.

/// Whether the program was built with HDF5.
[[nodiscard]] bool has_fclib() noexcept;

/// Reads the content of an FCLIB file: matrices by columns, by rows or as triplets; if there are
/// several guesses, the first one. Throws BadInput naming the data set, the index and the expected
/// value.
[[nodiscard]] FrictionProblem parse_fclib(std::string_view bytes);

/// The same from a file. Throws BadInput, starting with the path.
[[nodiscard]] FrictionProblem read_fclib(const std::string& path);

/// A problem as the content of an FCLIB file: all its forms, its guess and its solution, exact to
/// the last bit. If a guess or solution has no u or v, which the library requires, they are
/// computed from r and λ, with M assumed to be symmetric. Throws BadInput if the problem has a
/// fault, if it has no form, or if λ is missing with equality constraints.
[[nodiscard]] std::string fclib_bytes(const FrictionProblem& problem);

/// Writes a problem to a file. An existing file is replaced. Throws BadInput, starting with the
/// path.
void write_fclib(const FrictionProblem& problem, const std::string& path);

}  // namespace carom::files
