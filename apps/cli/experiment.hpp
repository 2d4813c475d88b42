// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace carom::cli {

inline constexpr double earth_gravity = 9.81;  ///< In all experiments [m/s²].

/// A number in closed form, and the number that the library computes.
struct Comparison {
  std::string quantity;
  std::string unit;  ///< Empty without unit.
  double expected;   ///< Closed form.
  double computed;
  double tolerance;  ///< Largest accepted error(), > 0.

  /// Relative error; absolute if the closed form is zero.
  [[nodiscard]] double error() const noexcept;
  [[nodiscard]] bool passed() const noexcept { return error() <= tolerance; }
};

/// One entry of a legend: a CSS class of the series, the type of mark, its meaning.
struct LegendEntry {
  std::string style;
  std::string mark;  ///< `line`, `dash`, `dot` or `fill`.
  std::string text;
};

struct Panel {
  std::string title;
  std::vector<LegendEntry> legend;
  std::string svg;
  bool opens_page = false;  ///< Stands at the top of the page in the place of its section.
};

/// A section of the page: a question, pictures, numbers.
struct Experiment {
  std::string title;
  std::string text;  ///< HTML, for newcomers.
  std::string play;  ///< Type of the interactive figure above the pictures; empty: none.
  std::vector<Panel> panels;
  std::string caption;  ///< HTML below the pictures.
  std::vector<Comparison> comparisons;
};

/// Experiments about one thing.
struct Chapter {
  std::string title;
  std::vector<Experiment> experiments;
};

/// `brief` experiments do about a tenth of the work.
Experiment run_cone_experiment();
Experiment run_path_experiment();
Experiment run_incline_experiment();
Experiment run_pizza_experiment();
Experiment run_ground_experiment();
Experiment run_pile_experiment(bool brief);
Experiment run_heap_experiment(bool brief);
Experiment run_wall_experiment(bool brief);
Experiment run_cradle_experiment();
Experiment run_billiards_experiment();
Experiment run_order_experiment();
Experiment run_galperin_experiment();
Experiment run_energy_experiment(bool brief);
Experiment run_motion_experiment();
Experiment run_drift_experiment(bool brief);
Experiment run_chain_experiment();
Experiment run_break_experiment();
Experiment run_trex_experiment(bool brief);
Experiment run_stiff_contact_experiment(bool brief);
Experiment run_climb_experiment(bool brief);
Experiment run_problem_experiment(const std::string& data_folder);

/// The parts of the interactive figures.
struct PlayParts {
  std::string style;    ///< CSS.
  std::string script;   ///< JavaScript, all files in order.
  std::string program;  ///< carom as WebAssembly, in base64.
};

/// Reads them from a folder with the layout of apps/page. Throws BadInput naming a missing file.
PlayParts read_play_parts(const std::string& folder);

/// The interactive figure of a type. It is active if the script runs.
std::string make_play(const std::string& kind);

/// The whole page, self-contained.
/// @param docs  the folder docs of the repository as the page sees it, whose board and pages the
///              menu leads to; empty: it leads to the sections of the page only.
std::string make_page(const std::vector<Chapter>& chapters, const PlayParts& parts,
                      const std::string& docs);

}  // namespace carom::cli
