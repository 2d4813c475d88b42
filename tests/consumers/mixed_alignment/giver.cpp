// SPDX-License-Identifier: BSD-3-Clause
// Hands one of carom's objects to another unit.
#include "carom/contact/contact_problem.hpp"

carom::Index bodies_of(const carom::ContactProblem<double>& problem);

int main() {
  carom::ContactProblem<double> problem(0.01);
  return bodies_of(problem) == 0 ? 0 : 1;
}
