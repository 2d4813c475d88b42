// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/contact_problem.hpp"

carom::Index count_contacts(const carom::ContactProblem<double>& problem);

int main() {
  return int(count_contacts(carom::ContactProblem<double>(0.01)));
}
