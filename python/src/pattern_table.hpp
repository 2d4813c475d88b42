// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "bindings.hpp"

namespace carom::python {

using SharedData = std::shared_ptr<const ProblemData>;

/// The data of a pattern by the handle that carom._core.Pattern gave it, or null where nobody
/// holds them any more.
[[nodiscard]] SharedData find_pattern(std::int64_t handle);

/// What carom.torch and carom.jax ask of patterns.
void bind_patterns(nb::module_& module);

}  // namespace carom::python
