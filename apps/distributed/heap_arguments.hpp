// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "distributed/heap_run.hpp"

namespace carom::distributed {

/// The options of carom_heap_distributed.
struct HeapArguments {
  Index bodies = 0;
  Index layers = examples::PileShape{}.layers;
  std::string shape = "mixed", law = "convex";
  HeapLaw settings;
  int steps = 1;
  bool json = false;
  std::string checkpoint;  ///< path; empty for none

  /// Adds them to a command line.
  void add_options(CLI::App& app) {
    constexpr Index most = 1'000'000'000'000;
    app.add_option("--bodies", bodies, "Bodies of the heap, >= 1")
        ->required()
        ->check(CLI::Range(Index(1), most));
    app.add_option("--layers", layers, "Layers of the heap, >= 1")
        ->check(CLI::Range(Index(1), most));
    app.add_option("--shape", shape, "What lies in the heap")
        ->check(CLI::IsMember({"spheres", "boxes", "mixed"}));
    app.add_option("--law", law, "Contact law")->check(CLI::IsMember({"convex", "coulomb"}));
    app.add_flag("--rigid", settings.rigid, "Rigid contact");
    app.add_option("--tolerance", settings.tolerance, "Relative residual at which a step ends")
        ->check(CLI::PositiveNumber);
    app.add_option("--factor-limit", settings.factor_work_limit,
                   "Multiply-adds per contact up to which a rank factors its part")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--steps", steps, "Steps of time in all, those of the checkpoint among them")
        ->check(CLI::Range(1, 1'000'000'000));
    app.add_option("--checkpoint", checkpoint,
                   "HDF5 file that keeps every step, and from which a run goes on");
    app.add_flag("--json", json, "Print JSON instead of a table");
  }
  [[nodiscard]] examples::PileShape pile_shape() const {
    using enum examples::PileBodies;
    examples::PileShape result{.body_count = bodies, .layers = layers};
    result.bodies = shape == "spheres" ? spheres : shape == "boxes" ? boxes : mixed;
    return result;
  }
  [[nodiscard]] HeapLaw heap_law() const {
    HeapLaw result = settings;
    result.law = law == "coulomb" ? FrictionLaw::coulomb : FrictionLaw::convex;
    return result;
  }
};

}  // namespace carom::distributed
