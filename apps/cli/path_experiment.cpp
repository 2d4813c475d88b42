// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "cli/experiment.hpp"
#include "cli/svg_plot.hpp"
#include "scenes/ball_on_path.hpp"

namespace carom::cli {
namespace {

using examples::BallOnPath;

constexpr double path_begin = 4, path_end = 1e-10;  // κ [J]
constexpr int path_decade = 16;                     // points per decade of κ
constexpr double path_slide = -5, path_stick = -1;  // sideways speed of the touching point [m/s]

BallOnPath make_ball(double speed) {
  return {.free_velocity = {speed, 0, -1}};
}

/// Values of κ from large to small, including 1, 0.1 and so on.
std::vector<double> path_products() {
  std::vector<double> products{path_begin};
  for (int i = path_decade / 2; products.back() > path_end; --i) {
    products.push_back(std::pow(10.0, double(i) / path_decade));
  }
  return products;
}

/// The paths of both laws in the plane of friction and normal, with a mark at each decade of κ.
Panel make_path_panel(const std::string& title, const BallOnPath& ball) {
  constexpr Range across{0, 1.6}, upward{0, 3};
  SvgPlot plot(title, {"friction, |γₜ| [N s]", across, {}},
               {"normal impulse, γₙ [N s]", upward, {}}, 420);
  const double rim = ball.friction * upward.high;
  plot.area({{0, 0}, {0, upward.high}, {rim, upward.high}}, "stick");
  plot.curve({{0, 0}, {rim, upward.high}}, "s1");
  const std::vector<double> products = path_products();
  for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
    const std::string style = law == FrictionLaw::coulomb ? "s2" : "s3";
    std::vector<PlotPoint> curve, marks;
    const auto points = ball.path(law, products);
    for (std::size_t i = 0; i < points.size(); ++i) {
      curve.push_back({points[i].x(), points[i].z()});
      const double decade = std::log10(products[i]);
      if (i > 0 && std::abs(decade - std::round(decade)) < 1e-9) marks.push_back(curve.back());
    }
    plot.curve(curve, style);
    plot.dots(marks, style);
    plot.dots({curve.back()}, style + " ring", 5.5);
  }
  return {title,
          {{"s1", "line", "cone surface, |γₜ| = μ γₙ"},
           {"s2", "dot", "Coulomb’s law, κ = 1, 0.1, …"},
           {"s3", "dot", "convex law"}},
          plot.str()};
}

/// The point of a path at one κ, computed from the largest κ on.
Vector3<double> path_point(const BallOnPath& ball, FrictionLaw law, double product) {
  return ball.path(law, {path_begin, product}).back();
}

}  // namespace

Experiment run_path_experiment() {
  const BallOnPath slides = make_ball(path_slide), sticks = make_ball(path_stick);
  Experiment experiment;
  experiment.title = "The way to the answer";
  experiment.text =
      "A law of contact has corners: a contact is open or closed, it sticks or it slides. An "
      "interior point method walks around them. It asks that every impulse times its velocity be "
      "<i>κ</i> instead of zero, which has a smooth answer inside of the cone, and makes "
      "<i>κ</i> small. Here a solid ball of 1 kg comes down at 1 m/s and its lowest point moves "
      "sideways, at 5 m/s on the left, at 1 m/s on the right.";
  experiment.panels = {make_path_panel("Central paths of a ball that slides", slides),
                       make_path_panel("Central paths of a ball that sticks", sticks)};
  experiment.caption =
      "Each curve is a central path, from <i>κ</i> = 4 J at the top, with a dot at every power of "
      "ten and a ring where it ends. Where the ball sticks both laws end at the same impulse. "
      "Where it slides the convex law presses harder than the ball falls, since by that law what "
      "slides also separates. Here <i>μ</i> = √(2/7) = 0.535.";
  for (const double product : {1.0, 1e-3}) {
    const std::string at = " at κ = " + label_text(product) + " J";
    experiment.comparisons.push_back({"Normal impulse of a sliding ball on Coulomb’s path" + at,
                                      "N s", slides.coulomb_normal(product),
                                      path_point(slides, FrictionLaw::coulomb, product).z(), 1e-9});
    experiment.comparisons.push_back({"Friction of a sliding ball on the convex path" + at, "N s",
                                      slides.convex_impulse(product).x(),
                                      path_point(slides, FrictionLaw::convex, product).x(), 1e-9});
  }
  const auto ends = [](const BallOnPath& ball) {
    return ball.path(FrictionLaw::coulomb, path_products()).back().x();
  };
  experiment.comparisons.push_back({"Friction where Coulomb’s path ends, the ball slides, μ m v",
                                    "N s", BallOnPath::alike, ends(slides), 1e-8});
  experiment.comparisons.push_back(
      {"The same where it sticks, 2 m v/7", "N s", 2.0 / 7, ends(sticks), 1e-8});
  return experiment;
}

}  // namespace carom::cli
