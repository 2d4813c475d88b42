// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

#include "carom/impact/restitution.hpp"

#include "cli/experiment.hpp"
#include "cli/svg_plot.hpp"
#include "io/number_text.hpp"
#include "peers/peer_cradle.hpp"
#include "scenes/touching_balls.hpp"

namespace carom::cli {
namespace {

constexpr std::size_t ball_count = 3;
constexpr std::array<double, 3> restitutions{1, 0.7, 0};
/// Style classes of the restitutions.
constexpr std::array<const char*, 3> restitution_styles{"s1", "s2", "s3"};
constexpr std::array<const char*, ball_count> ball_names{"A", "B", "C"};

using Speeds = std::array<double, ball_count>;

/// Velocities of touching balls of 1 kg after the first one hits the others at unit speed.
Speeds expected_speeds(double restitution) {
  return {(1 - restitution) / 3, (1 - restitution) / 3, (1 + 2 * restitution) / 3};
}
/// Relative loss of kinetic energy.
double expected_loss(double restitution) {
  return 2.0 / 3 * (1 - restitution * restitution);
}
/// If both contacts satisfy Newton's law of restitution at once: A and B separate with
/// `restitution` times their approach speed, B and C do not separate.
Speeds joint_speeds(double restitution) {
  return {(1 - 2 * restitution) / 3, (1 + restitution) / 3, (1 + restitution) / 3};
}

struct Blow {
  Speeds speeds;
  double energy_lost;  ///< [J]
};

Blow run_cradle(double speed, double restitution) {
  const examples::ImpactScene scene = examples::ball_line({1, 1, 1});
  RestitutionImpact<double> impact(restitution);
  impact.prepare(scene.problem);
  VectorX<double> momentum = speed * VectorX<double>::Unit(3, 0);
  const ImpactReport<double> report = impact.resolve(scene.problem, momentum);
  return {{momentum(0), momentum(1), momentum(2)}, -report.energy_gain};
}

/// An engine's answer to the same impact at unit speed, and the relative energy that it adds.
struct PeerBlow {
  Speeds speeds;
  double energy_gain;
};

PeerBlow run_peer(const peers::Peer& peer, double restitution, double overlap = 0) {
  const std::vector<double> after = peer.strike({{1, 1, 1}, {1, 0, 0}, restitution, overlap});
  PeerBlow blow{{after[0], after[1], after[2]}, -1};
  for (const double v : after) blow.energy_gain += v * v;
  return blow;
}

Panel make_loss_panel(double height) {
  const std::string title = "Energy lost, by the speed of A";
  SvgPlot plot(title, {"speed before [m/s]", {0, 10.3}, make_ticks({0, 10})},
               {"energy lost [J]", {-1, 36}, make_ticks({0, 36})}, height);
  Panel panel{title, {}, {}};
  for (std::size_t k = 0; k < restitutions.size(); ++k) {
    const double restitution = restitutions[k];
    std::vector<PlotPoint> exact, computed;
    for (int i = 0; i <= 100; ++i) {
      exact.push_back({i / 10.0, expected_loss(restitution) * i * i / 200.0});
    }
    for (int i = 1; i <= 20; ++i) {
      computed.push_back({i / 2.0, run_cradle(i / 2.0, restitution).energy_lost});
    }
    plot.curve(exact, restitution_styles[k]);
    plot.dots(computed, restitution_styles[k]);
    panel.legend.push_back({restitution_styles[k], "line", "R = " + label_text(restitution)});
  }
  panel.legend.push_back({"s1", "dot", "computed by carom"});
  panel.svg = plot.str();
  return panel;
}

/// The balls a moment after the impact, one row for each engine.
class RowPicture {
 public:
  void group(const std::string& text) {
    top_ += top_ == 0 ? 20 : 34;
    text_at(0, top_, "start", "note small", text);
    for (std::size_t i = 0; i < ball_count; ++i) {
      text_at(columns[i], top_, "end", "tick", ball_names[i]);
    }
    top_ += 4;
  }
  void row(const std::string& name, const Speeds& speeds, const char* style) {
    top_ += row_height;
    text_at(0, top_, "start", "tick bar-name", name);
    for (std::size_t i = 0; i < ball_count; ++i) {
      circle("frame\" fill=\"none", start(i));
    }
    for (std::size_t i = 0; i < ball_count; ++i) {
      circle("dot " + std::string(style), start(i) + scale * speeds[i]);
      const double rounded = std::round(1000 * speeds[i]) / 1000;
      text_at(columns[i], top_, "end", "value", label_text(rounded));
    }
  }
  [[nodiscard]] int height() const noexcept { return top_ + 14; }
  [[nodiscard]] std::string str(const std::string& title) const {
    return "<svg viewBox=\"0 0 440 " + std::to_string(height()) + "\" role=\"img\" aria-label=\"" +
           title + "\">\n" + body_ + "</svg>\n";
  }

 private:
  static constexpr int row_height = 25, radius = 9;
  static constexpr double scale = 84;  ///< Length of a unit of speed.
  static constexpr std::array<int, ball_count> columns{336, 388, 438};

  [[nodiscard]] static double start(std::size_t ball) noexcept {
    return 138 + 2 * radius * double(ball);
  }
  void text_at(int x, int y, const char* anchor, const char* style, const std::string& text) {
    body_ += "<text class=\"" + std::string(style) + "\" x=\"" + std::to_string(x) + "\" y=\"" +
             std::to_string(y) + "\" text-anchor=\"" + anchor + "\">" + text + "</text>\n";
  }
  void circle(const std::string& style, double x) {
    body_ += "<circle class=\"" + style + "\" cx=\"" + files::format_rounded(x, 5) + "\" cy=\"" +
             std::to_string(top_ - 4) + "\" r=\"" + std::to_string(radius) + "\"/>\n";
  }

  int top_ = 0;
  std::string body_;
};

RowPicture make_row_picture(const std::vector<peers::Peer>& installed) {
  RowPicture picture;
  for (const double restitution : restitutions) {
    picture.group("R = " + label_text(restitution));
    picture.row("carom", run_cradle(1, restitution).speeds, "s1");
    picture.row("both at once", joint_speeds(restitution), "s3");
    for (const peers::Peer& peer : installed) {
      picture.row(peer.name, run_peer(peer, restitution).speeds, "s2");
    }
  }
  return picture;
}

Panel make_row_panel(const RowPicture& picture, bool with_peers) {
  const std::string title = "The balls after the blow, speeds in m/s";
  Panel panel{title,
              {{"s1", "dot", "carom"}, {"s3", "dot", "Newton’s law, both contacts at once"}},
              picture.str(title)};
  if (with_peers) panel.legend.push_back({"s2", "dot", "engines"});
  return panel;
}

/// Bullet's restitution is r = R + 0.2 φ.
double bullet_gain(double overlap) {
  return -expected_loss(1 + 0.2 * overlap);
}

Panel make_overlap_panel(const std::vector<peers::Peer>& installed) {
  const std::string title = "Energy that an engine adds at R = 1";
  SvgPlot plot(title, {"overlap φ", {-0.02, 1.03}, make_ticks({0, 1})},
               {"energy added [%]", {-3, 32}, make_ticks({0, 32})}, 360);
  plot.curve({{0, 0}, {1, 0}}, "faint dashed");
  Panel panel{title, {}, {}};
  for (const peers::Peer& peer : installed) {
    std::vector<PlotPoint> points, curve;
    for (int i = 0; i <= 10; ++i) {
      points.push_back({i / 10.0, 100 * run_peer(peer, 1, i / 10.0).energy_gain});
    }
    if (peer.name == "Bullet") {
      for (int i = 0; i <= 50; ++i) curve.push_back({i / 50.0, 100 * bullet_gain(i / 50.0)});
      plot.curve(curve, "s2");
      plot.dots(points, "s2");
      panel.legend.push_back({"s2", "line", "⅔ ((1 + 0.2 φ)² − 1)"});
      panel.legend.push_back({"s2", "dot", peer.name});
    } else if (peer.name == "ODE") {
      plot.dots(points, "s3 ring", 5.5);
      panel.legend.push_back({"s3", "ring", peer.name});
    } else {
      plot.dots(points, "s1", 2.6);
      panel.legend.push_back({"s1", "dot", peer.name});
    }
  }
  panel.svg = plot.str();
  return panel;
}

/// A line of the engines' table: a fact about them without a requirement.
std::string make_fact_row(const std::string& quantity, double formula, double computed) {
  const double error = std::abs(computed - formula);
  const auto cell = [](const char* label, const std::string& text) {
    return "<td data-label=\"" + std::string(label) + "\"><span>" + text + "</span></td>";
  };
  const auto rounded = [](double value) { return label_text(std::round(1e5 * value) / 1e5); };
  return "<tr><td>" + quantity + "</td>" + cell("formula", rounded(formula)) +
         cell("engine", rounded(computed)) +
         cell("difference", error < 1e-5 ? "&lt; 10<sup>−5</sup>" : rounded(error)) + "</tr>\n";
}

Panel make_fact_panel(const std::vector<peers::Peer>& installed) {
  std::string html =
      "<table>\n<thead><tr><th>quantity</th><th>formula</th><th>engine</th><th>difference</th>"
      "</tr></thead>\n<tbody>\n";
  for (const peers::Peer& peer : installed) {
    for (const double restitution : {1.0, 0.7}) {
      html += make_fact_row(peer.name + ": speed of A, R&nbsp;=&nbsp;" + label_text(restitution),
                            joint_speeds(restitution)[0], run_peer(peer, restitution).speeds[0]);
    }
    if (peer.name != "Bullet") continue;
    for (const double overlap : {0.5, 1.0}) {
      html += make_fact_row(peer.name + ": energy added, φ&nbsp;=&nbsp;" + label_text(overlap),
                            bullet_gain(overlap), run_peer(peer, 1, overlap).energy_gain);
    }
  }
  return {"Both at once: formula and engines", {}, html + "</tbody>\n</table>\n"};
}

std::vector<Comparison> compare_cradle() {
  std::vector<Comparison> comparisons;
  double worst = 0;
  for (const double restitution : restitutions) {
    const std::string at = ", R = " + label_text(restitution);
    const Speeds expected = expected_speeds(restitution);
    const Blow blow = run_cradle(1, restitution);
    for (std::size_t i = 0; i < ball_count; ++i) {
      comparisons.push_back({std::string("Ball ") + ball_names[i] + " after the blow" + at, "m/s",
                             expected[i], blow.speeds[i], 1e-14});
    }
    comparisons.push_back(
        {"Share of energy lost" + at, "", expected_loss(restitution), 2 * blow.energy_lost, 1e-14});
    for (int i = 1; i <= 40; ++i) {
      const Speeds speeds = run_cradle(i / 4.0, restitution).speeds;
      for (std::size_t k = 0; k < ball_count; ++k) {
        const double error = std::abs(speeds[k] / (i / 4.0) - expected[k]);
        worst = error <= worst ? worst : error;  // NaN stays NaN
      }
    }
  }
  comparisons.push_back(
      {"Worst speed of 120 blows from 0.25 to 10 m/s, relative to A’s", "", 0, worst, 1e-14});
  return comparisons;
}

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  }
  return text;
}

std::string make_caption(const std::vector<peers::Peer>& all) {
  std::vector<std::string> asked, missing;
  bool bullet = false;
  for (const peers::Peer& peer : all) {
    bullet = bullet || (peer.installed() && peer.name == "Bullet");
    if (peer.installed()) {
      asked.push_back(peer.name);
    } else {
      missing.push_back(peer.name + " (<code>" + peer.package + "</code>)");
    }
  }
  std::string text =
      "Rings mark the balls at the blow. Newton’s law for both contacts at once loses as much "
      "energy, but throws A back and sends B and C off together, which no cradle does.";
  if (!asked.empty()) text += " That is what " + join(asked) + " do, asked just now.";
  if (bullet) {
    text +=
        " Bullet also bounces by 0.2 <i>φ</i> more, where <i>φ</i> tells how deep A and B overlap "
        "when a step begins, as a share of the way they approach in it. Chance decides that, and "
        "adds up to 29 % energy.";
  }
  if (!missing.empty()) text += " Not installed here: " + join(missing) + ".";
  return text;
}

}  // namespace

Experiment run_cradle_experiment() {
  const std::vector<peers::Peer> all = peers::cradle_peers();
  std::vector<peers::Peer> installed;
  std::copy_if(all.begin(), all.end(), std::back_inserter(installed),
               [](const peers::Peer& peer) { return peer.installed(); });
  Experiment experiment;
  experiment.title = "Newton’s cradle";
  experiment.play = "cradle";
  experiment.text =
      "Ball A hits B, and B touches C: two contacts, one instant. As Seghete and Murphey have it, "
      "the blow passes from contact to contact until none closes; the coefficient of restitution "
      "<i>R</i> says how much of the energy that a plastic blow would lose is kept. A and B go on "
      "at (1 − <i>R</i>)/3 of A’s speed, C leaves at (1 + 2<i>R</i>)/3, and ⅔ (1 − <i>R</i>²) of "
      "the energy is lost (their Fig. 2b).";
  const RowPicture picture = make_row_picture(installed);
  experiment.panels = {make_row_panel(picture, !installed.empty()),
                       make_loss_panel(std::max(280, picture.height()))};
  if (!installed.empty()) {
    experiment.panels.push_back(make_overlap_panel(installed));
    experiment.panels.push_back(make_fact_panel(installed));
  }
  experiment.caption = make_caption(all);
  experiment.comparisons = compare_cradle();
  return experiment;
}

}  // namespace carom::cli
