# SPDX-License-Identifier: BSD-3-Clause
# The inventory of public headers, sorted. tests/structure/check_structure.py compares it with the
# files on disk; `tests/structure/check_structure.py --write-header-list` brings it up to date.
set(CAROM_HEADERS
  include/carom/carom.hpp
  include/carom/cones/concepts.hpp
  include/carom/cones/friction_cone.hpp
  include/carom/contact/concepts.hpp
  include/carom/core/expects.hpp
  include/carom/core/scalar.hpp
  include/carom/core/solve_report.hpp
)
