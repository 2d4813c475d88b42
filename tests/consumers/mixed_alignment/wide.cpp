// SPDX-License-Identifier: BSD-3-Clause
#include "project_unit.hpp"

UnitAnswer project_wide() {
  return project_unit();
}
