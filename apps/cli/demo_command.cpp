// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "cli/commands.hpp"
#include "cli/experiment.hpp"
#include "cli/resources.hpp"
#include "cli/table.hpp"
#include "io/bad_input.hpp"
#include "io/number_text.hpp"

namespace carom::cli {

double Comparison::error() const noexcept {
  const double difference = std::abs(computed - expected);
  const double error = expected == 0 ? difference : difference / std::abs(expected);
  return std::isfinite(error) ? error : HUGE_VAL;
}

namespace {

/// Writes the page and returns its path.
std::string write_page(const std::string& folder, const std::string& page) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::filesystem::path path = std::filesystem::path(folder) / "index.html";
  std::ofstream file(path, std::ios::binary);
  file << page;
  file.close();
  if (error || !file) {
    throw files::BadInput("--output " + folder + ": expected a folder that can be written to");
  }
  const std::filesystem::path whole = std::filesystem::absolute(path, error);
  return (error ? path : whole).lexically_normal().string();
}

}  // namespace

int run_demo(const DemoOptions& options) {
  // Faults of the input are reported before the long experiments run.
  write_page(options.output, "");
  const PlayParts parts = read_play_parts(resource_folder("page"));
  const Experiment problems =
      run_problem_experiment(options.data.empty() ? resource_folder("data") : options.data);
  const bool brief = options.brief;
  // A reader sees motion first, then what to play with, then the answers that take patience.
  const std::vector<Chapter> chapters{
      {"In motion",
       {run_pile_experiment(brief), run_break_experiment(), run_chain_experiment(),
        run_trex_experiment(brief)}},
      {"To try", {run_billiards_experiment(), run_cradle_experiment(), run_cone_experiment()}},
      {"Friction and rest",
       {run_incline_experiment(), run_pizza_experiment(), run_wall_experiment(brief),
        run_heap_experiment(brief), run_ground_experiment(), run_path_experiment(), problems}},
      {"Impacts", {run_order_experiment(), run_galperin_experiment()}},
      {"Motion over long times",
       {run_energy_experiment(brief), run_motion_experiment(), run_drift_experiment(brief)}},
      {"Stiff contact", {run_stiff_contact_experiment(brief), run_climb_experiment(brief)}}};
  const std::string path = write_page(options.output, make_page(chapters, parts, options.docs));

  std::vector<std::vector<std::string>> rows{
      {"quantity", "closed form", "computed", "error", "allowed", ""}};
  std::size_t total = 0, passed = 0;
  const auto add_row = [&](const Comparison& c) {
    ++total;
    passed += c.passed() ? 1 : 0;
    const std::string unit = c.unit.empty() ? "" : " [" + c.unit + "]";
    rows.push_back({c.quantity + unit, files::format_rounded(c.expected, 6),
                    files::format_rounded(c.computed, 6), files::format_rounded(c.error(), 2),
                    files::format_rounded(c.tolerance, 2), c.passed() ? "ok" : "WRONG"});
  };
  for (const Chapter& chapter : chapters) {
    for (const Experiment& experiment : chapter.experiments) {
      for (const Comparison& c : experiment.comparisons) add_row(c);
    }
  }
  print(format_table(rows) + "\n" + std::to_string(passed) + " of " + std::to_string(total) +
        " quantities are within what is allowed\npage: " + path + "\n");
  return passed == total ? done : bad_demo;
}

}  // namespace carom::cli
