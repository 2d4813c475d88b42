// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ensemble/tally.hpp"

namespace carom::ensemble {

/// Runs the problems from `first` to before `end` and adds them to a tally.
/// @param pause  called at times: after a problem, or a step of one.
using Worker = std::function<void(std::uint64_t first, std::uint64_t end, Tally& tally,
                                  const std::function<void()>& pause)>;

/// A type of problem in an ensemble.
struct Kind {
  std::string name;
  TallyLayout layout;
  /// A worker for a seed. Its result for a problem depends only on seed and index.
  std::function<Worker(std::uint64_t seed)> make_worker;
  /// The problem as a text that `carom solve` reads; empty if a type has no text.
  std::function<std::string(std::uint64_t seed, std::uint64_t index)> problem_text;
};

/// The types of problems.
[[nodiscard]] const std::vector<Kind>& kinds();
/// The type with this name, or null.
[[nodiscard]] const Kind* find_kind(std::string_view name);
/// The settings on which rounding depends: compiler, Eigen, instructions. Results of programs with
/// different settings must not be mixed.
[[nodiscard]] std::string arithmetic_name();

}  // namespace carom::ensemble
