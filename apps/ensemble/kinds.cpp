// SPDX-License-Identifier: BSD-3-Clause
#include "ensemble/kinds.hpp"

#include <functional>
#include <memory>

#include <Eigen/Core>

#include "carom/contact/problem_dump.hpp"

#include "ensemble/batch_step.hpp"
#include "ensemble/impact_design.hpp"
#include "ensemble/single_step.hpp"

#ifdef CAROM_COMPILED
#include "carom/compiled.hpp"
#endif

namespace carom::ensemble {
namespace {

/// Runs problems one at a time.
template <typename Problems>
class OneByOne : public Problems {
 public:
  using Problems::Problems;
  using Problems::run;
  template <typename Pause>
  void run(std::uint64_t first, std::uint64_t end, Tally& tally, const Pause& pause) {
    for (; first < end; ++first) {
      run(first, tally);
      pause();
    }
  }
};

std::string step_text(std::uint64_t seed, std::uint64_t index) {
  RandomStep step;
  step.make(seed, index);
  return problem_text(step.problem, step.guess);
}

template <typename Problems>
Kind make_kind() {
  Kind kind;
  kind.name = Problems::name;
  kind.layout = Problems::layout();
  kind.make_worker = [](std::uint64_t seed) -> Worker {
    return [problems = std::make_shared<Problems>(seed)](
               std::uint64_t first, std::uint64_t end, Tally& tally,
               const std::function<void()>& pause) { problems->run(first, end, tally, pause); };
  };
  return kind;
}

}  // namespace

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = [] {
    std::vector<Kind> made{make_kind<OneByOne<SingleStep>>(), make_kind<BatchStep>(),
                           make_kind<OneByOne<ImpactDesign>>()};
    made[0].problem_text = made[1].problem_text = step_text;
    return made;
  }();
  return all;
}

const Kind* find_kind(std::string_view name) {
  for (const Kind& kind : kinds()) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

std::string arithmetic_name() {
  return std::string("compiler ") + __VERSION__ + ", Eigen " + std::to_string(EIGEN_WORLD_VERSION) +
         "." + std::to_string(EIGEN_MAJOR_VERSION) + "." + std::to_string(EIGEN_MINOR_VERSION) +
         ", instructions " + Eigen::SimdInstructionSetsInUse();
}

}  // namespace carom::ensemble
