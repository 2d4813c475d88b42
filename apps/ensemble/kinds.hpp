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
/// @param pause  called now and then: after a problem, or a step of one.
using Worker = std::function<void(std::uint64_t first, std::uint64_t end, Tally& tally,
                                  const std::function<void()>& pause)>;

/// A kind of problem that an ensemble is made of.
struct Kind {
  std::string name;
  TallyLayout layout;
  /// A worker for a seed. What it does to a problem depends on seed and index alone.
  std::function<Worker(std::uint64_t seed)> make_worker;
  /// The problem as a text that `carom solve` reads; empty where a kind has none.
  std::function<std::string(std::uint64_t seed, std::uint64_t index)> problem_text;
};

/// The kinds there are.
[[nodiscard]] const std::vector<Kind>& kinds();
/// The one of that name, or null.
[[nodiscard]] const Kind* find_kind(std::string_view name);
/// What rounding depends on: compiler, Eigen, instructions. Results of programs that differ in it
/// must not be mixed.
[[nodiscard]] std::string arithmetic_name();

}  // namespace carom::ensemble
