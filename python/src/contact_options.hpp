// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "arrays.hpp"
#include "problem_data.hpp"

namespace carom::python {

/// The options of a contact as add_contact() is given them; None: not given.
struct ContactOptions {
  nb::handle gap, stiffness, dissipation_time, regularization, bias, rigid, restitution, approach,
      near_rigid, relative_slip, compliance, surface_velocity, correction;
};

/// What a contact is made of, out of its options. One that cannot act beside the others is refused.
/// @param item  "contact 3", in messages.
[[nodiscard]] ContactData read_contact(const ContactOptions& options, double friction,
                                       const std::string& item);
/// How far something gives way, out of None or 'step'.
/// @param item  "JointLimit", in messages.
[[nodiscard]] Compliance read_compliance(nb::handle given, const std::string& item);

}  // namespace carom::python
