// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/axis_ticks.hpp"
#include "cli/svg_plot.hpp"

namespace carom::cli {

/// A moving picture: shapes attached to points whose positions change from frame to frame. It
/// consists of the SVG text of the first frame, the frames as numbers, and controls.
/// animation_script moves it.
///
/// Both axes have the same scale. The frames have equal intervals on the screen, for any time
/// between them. The clock below the picture shows the time of a frame.
class Animation {
 public:
  /// @param x, y  the visible range [m], low < high.
  Animation(std::string title, Range x, Range y);

  /// Fixed objects behind the moving ones.
  void backdrop(PlotPoint low, PlotPoint high, const std::string& style);
  void line(PlotPoint from, PlotPoint to, const std::string& style);

  /// Moving objects. Points are counted from 0, in the order of a frame.
  void ball(std::size_t centre, double radius, const std::string& style);
  void limb(const std::vector<std::size_t>& joints, const std::string& style);

  /// @param time    [s], not before the last one.
  /// @param points  the same count in each frame.
  void add_frame(double time, const std::vector<PlotPoint>& points);

  /// Picture, controls and frames, as HTML.
  [[nodiscard]] std::string str() const;

 private:
  struct Shape {
    std::vector<std::size_t> points;
    double radius;  ///< Of a ball [picture units]; 0: a limb.
    std::string style;
  };

  [[nodiscard]] double to_x(double x) const noexcept { return (x - x_.low) * scale_; }
  [[nodiscard]] double to_y(double y) const noexcept { return (y_.high - y) * scale_; }
  [[nodiscard]] std::string shape_text(const Shape& shape) const;
  [[nodiscard]] std::string frames_text() const;

  std::string title_;
  Range x_, y_;
  double scale_;
  std::string still_;
  std::vector<Shape> shapes_;
  std::vector<long> times_;                ///< [ms]
  std::vector<std::vector<long>> frames_;  ///< x, y of each point in tenths of a picture unit.
};

/// Moves all animations of the page. It is placed once at the end of the page and needs nothing
/// from outside.
extern const char* const animation_script;

}  // namespace carom::cli
