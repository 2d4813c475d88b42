// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>

namespace carom::files {

/// Input that cannot be used. what() is one sentence: the place, the expected and the actual value.
class BadInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace carom::files
