# SPDX-License-Identifier: BSD-3-Clause
# The inventory of public headers, sorted. tests/structure/check_structure.py compares it with the
# files on disk; `tests/structure/check_structure.py --write-header-list` brings it up to date.
set(CAROM_HEADERS
  include/carom/carom.hpp
  include/carom/cones/box.hpp
  include/carom/cones/concepts.hpp
  include/carom/cones/detail/lanes.hpp
  include/carom/cones/detail/power_of_two.hpp
  include/carom/cones/ellipsoidal_cone.hpp
  include/carom/cones/free_line.hpp
  include/carom/cones/friction_cone.hpp
  include/carom/cones/friction_cone_batch.hpp
  include/carom/cones/friction_pyramid.hpp
  include/carom/cones/half_line.hpp
  include/carom/cones/planar_cone.hpp
  include/carom/cones/product_set.hpp
  include/carom/cones/projection.hpp
  include/carom/cones/shared_normal_cone.hpp
  include/carom/cones/wrench_cone.hpp
  include/carom/contact/compliance.hpp
  include/carom/contact/concepts.hpp
  include/carom/contact/contact_problem.hpp
  include/carom/contact/curvature.hpp
  include/carom/contact/detail/faults.hpp
  include/carom/contact/dual.hpp
  include/carom/contact/primal.hpp
  include/carom/core/expects.hpp
  include/carom/core/invalid_input.hpp
  include/carom/core/scalar.hpp
  include/carom/core/solve_report.hpp
  include/carom/linalg/cholesky.hpp
  include/carom/linalg/increasing_root.hpp
  include/carom/solvers/certificate.hpp
  include/carom/solvers/detail/contact_arrays.hpp
  include/carom/solvers/sap.hpp
  include/carom/solvers/solve_contact.hpp
)
