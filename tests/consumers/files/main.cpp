// SPDX-License-Identifier: BSD-3-Clause
// A block on the ground, read from text; FCLIB's reader is linked, and says what is wrong.
#include <io/fclib_file.hpp>
#include <io/text_problem.hpp>

int main() {
  const auto read = carom::files::parse_text_problem(
      "carom-problem 1\ntime_step 0.01\nbodies 1\nbody 3\n2 0 0\n0 2 0\n0 0 2\n0 0 -0.1\n0 0 0\n"
      "contacts 1\ncontact compliant 1 0 0 1e6 0.02 0.5 1 1e-3\n1 0 0\n0 1 0\n0 0 1\n");
  if (read.problem.body_count() != 1 || read.problem.block_count() != 1) return 1;
  try {
    static_cast<void>(carom::files::parse_fclib("no file of HDF5"));
  } catch (const carom::files::BadInput&) {
    return 0;
  }
  return 1;
}
