// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "carom/solvers/contact_certificate.hpp"
#include "carom/solvers/sap.hpp"

#include "cli/experiment.hpp"
#include "cli/svg_plot.hpp"
#include "io/text_problem.hpp"

namespace carom::cli {
namespace {

using files::format_rounded;
using files::TextProblem;

constexpr double sap_tolerance = 1e-8;

struct BundledProblem {
  const char* file;
  const char* name;
  const char* history_style;  ///< Style of its history curve; empty for none.
};
constexpr BundledProblem bundled[] = {
    {"pile_n1_s30", "1 ball lands", ""},    {"robot_30x16", "robot, 16 contacts", "s1"},
    {"pile_n10_s60", "pile of 10", "s2"},   {"wall_n10", "wall of 10", "s3"},
    {"mujoco_sphere_10", "10 spheres", ""}, {"mujoco_box_10", "10 boxes", ""},
    {"pile_n100_s60", "pile of 100", ""},   {"rigid_n100_s60", "rigid pile of 100", ""}};

struct SolvedProblem {
  std::string name;
  SolveReport<double> report;
  ContactCertificate<double> certificate;
  double milliseconds;
};

SolvedProblem solve(const std::string& name, const TextProblem& given) {
  using Clock = std::chrono::steady_clock;
  SapSolver<double> solver({.tolerance = sap_tolerance});
  solver.prepare(given.problem);
  SolvedProblem solved{name, {}, {}, 0};
  VectorX<double> velocity;
  std::vector<double> milliseconds;
  double total = 0;
  while (milliseconds.size() < 5 && total < 100) {
    velocity = given.guess;
    const auto begin = Clock::now();
    solved.report = solver.solve(given.problem, velocity);
    milliseconds.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    total += milliseconds.back();
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  solved.milliseconds = milliseconds[milliseconds.size() / 2];
  const VectorX<double> impulse = solver.impulse();
  solved.certificate = certify(given.problem, velocity, impulse);
  return solved;
}

/// log₁₀ of the least residual after each count of iterations.
std::vector<PlotPoint> history(const TextProblem& given, int iterations) {
  std::vector<PlotPoint> points;
  for (int limit = 0; limit <= iterations; ++limit) {
    SapSolver<double> solver({.tolerance = sap_tolerance, .iteration_limit = limit});
    VectorX<double> velocity = given.guess;
    const SolveReport<double> report = solver.solve(given.problem, velocity);
    points.push_back({double(limit), std::log10(std::max(report.residual, 1e-16))});
  }
  return points;
}

Panel make_history_panel(const std::vector<std::vector<PlotPoint>>& histories,
                         const std::vector<LegendEntry>& legend) {
  const std::string title = "Best residual so far, by iteration";
  double last = 1;
  for (const auto& points : histories) last = std::max(last, points.back().x);
  const Range exponents{-14, 1};
  SvgPlot plot(title, {"Newton iterations", {0, last}, {}},
               {"relative residual", exponents, make_decade_ticks(exponents)}, 300);
  plot.curve({{0, std::log10(sap_tolerance)}, {last, std::log10(sap_tolerance)}}, "faint dashed");
  plot.note({0.1, std::log10(sap_tolerance) + 0.3}, "asked for", "start", "note small");
  for (std::size_t i = 0; i < histories.size(); ++i) {
    plot.curve(histories[i], legend[i].style);
    plot.dots(histories[i], legend[i].style, 2.4);
  }
  return {title, legend, plot.str()};
}

std::vector<Panel> make_bar_panels(const std::vector<SolvedProblem>& solved) {
  std::vector<Bar> iterations, digits, times;
  double most = 1, slowest = 1;
  for (const SolvedProblem& s : solved) {
    const double exponent = -std::log10(std::max(s.certificate.residual, 1e-16));
    iterations.push_back(
        {s.name, double(s.report.iterations), std::to_string(s.report.iterations)});
    digits.push_back({s.name, exponent, format_rounded(s.certificate.residual, 2)});
    times.push_back({s.name, std::log10(std::max(s.milliseconds, 1e-4)) + 4,
                     format_rounded(s.milliseconds, 2) + " ms"});
    most = std::max(most, iterations.back().value);
    slowest = std::max(slowest, times.back().value);
  }
  const std::string iteration_title = "Newton iterations to a residual of 10⁻⁸";
  const std::string digit_title = "Correct digits: final residual of the momentum balance";
  const std::string time_title = "Time of a solve, longer is slower, logarithmic";
  return {{iteration_title, {}, make_bar_chart(iteration_title, iterations, most, "s1")},
          {digit_title, {}, make_bar_chart(digit_title, digits, 16, "s2")},
          {time_title, {}, make_bar_chart(time_title, times, slowest, "s3")}};
}

}  // namespace

Experiment run_problem_experiment(const std::string& data_folder) {
  Experiment experiment;
  experiment.title = "Real problems";
  experiment.text =
      "One time step each of scenes from simulators: a pile settling, a pushed wall, a robot of 30 "
      "joints on 16 contacts, spheres and boxes dumped from MuJoCo. The solver starts from the "
      "velocity before the step and stops when its proven error is small enough.";
  std::vector<SolvedProblem> solved;
  std::vector<std::vector<PlotPoint>> histories;
  std::vector<LegendEntry> legend;
  for (const BundledProblem& b : bundled) {
    const TextProblem given = files::read_text_problem(data_folder + "/" + b.file + ".txt");
    solved.push_back(solve(b.name, given));
    const std::string style = b.history_style;
    if (!style.empty()) {
      histories.push_back(history(given, solved.back().report.iterations));
      legend.push_back({style, "line", b.name});
    }
    // Certificates compare with zero, so their errors are absolute.
    experiment.comparisons.push_back({"Momentum balance, " + solved.back().name, "", 0,
                                      solved.back().certificate.residual, sap_tolerance});
  }
  experiment.panels = make_bar_panels(solved);
  experiment.panels.insert(experiment.panels.begin() + 1, make_history_panel(histories, legend));
  experiment.caption =
      "Newton’s method gains little while contacts change between stick, slide and separate, and "
      "then several digits per iteration. The residual is also a proof: it bounds the distance to "
      "the exact answer. Times are of this machine, in this run.";
  return experiment;
}

}  // namespace carom::cli
