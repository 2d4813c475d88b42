// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/contact_problem.hpp"

carom::Index count_contacts(const carom::ContactProblem<double>& problem);

carom::Index count_contacts(const carom::ContactProblem<double>& problem) {
  return problem.block_count();
}
