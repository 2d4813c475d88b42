// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What a unit reports, in types that are the same under all flags.
struct UnitAnswer {
  int alignment;    ///< Of Eigen's vectors [bytes].
  const char* abi;  ///< The name of carom's inline namespace.
  double normal;    ///< γₙ of a contact in slide.
  void (*copy)();   ///< This unit's copy of a function of carom.
};

UnitAnswer project_narrow();
UnitAnswer project_wide();
