// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "bindings.hpp"

namespace carom::python {

/// Binds add_bodies(), add_rigid_bodies() and add_contacts(), which add many at once. Where one is
/// refused, none is added.
void bind_many(nb::class_<PyProblem>& problem);

}  // namespace carom::python
