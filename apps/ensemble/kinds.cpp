// SPDX-License-Identifier: BSD-3-Clause
#include "ensemble/kinds.hpp"

#include <memory>

#include <Eigen/Core>

#include "carom/contact/problem_dump.hpp"

#include "ensemble/impact_design.hpp"
#include "ensemble/single_step.hpp"

#ifdef CAROM_COMPILED
#include "carom/compiled.hpp"
#endif

namespace carom::ensemble {
namespace {

template <typename Problems>
Kind make_kind() {
  Kind kind;
  kind.name = Problems::name;
  kind.layout = Problems::layout();
  kind.make_worker = [](std::uint64_t seed) -> Worker {
    return [problems = std::make_shared<Problems>(seed)](std::uint64_t index, Tally& tally) {
      problems->run(index, tally);
    };
  };
  return kind;
}

}  // namespace

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = [] {
    std::vector<Kind> made{make_kind<SingleStep>(), make_kind<ImpactDesign>()};
    made[0].problem_text = [](std::uint64_t seed, std::uint64_t index) {
      RandomStep step;
      step.make(seed, index);
      return problem_text(step.problem, step.guess);
    };
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
