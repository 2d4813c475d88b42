// SPDX-License-Identifier: BSD-3-Clause
#include "project_unit.hpp"

UnitAnswer project_narrow() {
  return project_unit();
}
