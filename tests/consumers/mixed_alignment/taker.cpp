// SPDX-License-Identifier: BSD-3-Clause
// Takes one of carom's objects, here one that holds a vector which Eigen aligns.
#include "carom/contact/contact_problem.hpp"

carom::Index bodies_of(const carom::ContactProblem<double>& problem);

carom::Index bodies_of(const carom::ContactProblem<double>& problem) {
  return problem.body_count();
}
