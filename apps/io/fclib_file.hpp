// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "io/friction_problem.hpp"

namespace carom::files {

/// @file
/// Files of the Frictional Contact Library, FCLIB [acary2014fclib]: HDF5 with the groups
/// `fclib_local` (W, q), `fclib_global` (M, H, f, w; w is called b here), `guesses`, `solution`;
/// `fclib_local_rolling` and `fclib_global_rolling` where contacts resist rolling.
/// docs/file_formats.md has the names. HDF5 is not needed to build: without it the functions throw.

/// Whether the program was built with HDF5.
[[nodiscard]] bool has_fclib() noexcept;

/// Reads the content of an FCLIB file: matrices by columns, by rows or as triplets; of several
/// guesses the first. Throws BadInput naming the data set, the index and what was expected.
[[nodiscard]] FrictionProblem parse_fclib(std::string_view bytes);

/// The same from a file. Throws BadInput, starting with the path.
[[nodiscard]] FrictionProblem read_fclib(const std::string& path);

/// A problem as the content of an FCLIB file: every form it has, its guess and its solution, to the
/// last bit. Where a guess or solution has no u or v, which the library wants, they follow from r
/// and λ, M taken to be symmetric. Throws BadInput if there is something wrong with the problem, if
/// it has no form, or if λ is missing where there are equality constraints.
[[nodiscard]] std::string fclib_bytes(const FrictionProblem& problem);

/// Writes a problem to a file, which is replaced if it is there. Throws BadInput, starting with the
/// path.
void write_fclib(const FrictionProblem& problem, const std::string& path);

}  // namespace carom::files
