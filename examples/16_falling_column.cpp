// SPDX-License-Identifier: BSD-3-Clause
// What does a heap of discs weigh, after a column of them has fallen over?
//
// A column of 85 discs on edge stands beside the left one of two walls and falls over. Contacts
// have springs and dampers, friction 0.4 and the convex law; steps of 5 ms. At rest floor and walls
// carry the weight. With a file's name the motion is written there:
// docs/figures/falling_column.svg.
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include "scenes/disc_heap.hpp"

namespace {

using carom::examples::Disc;

constexpr int steps = 520, steps_per_frame = 4, still_frames = 50;
constexpr double pixels = 400, left = -0.72, top = 1.08;  // pixels of a metre; edges [m]

std::string text(const char* form, double a, double b = 0, double c = 0, double d = 0) {
  char out[160];
  return {out, std::size_t(std::snprintf(out, sizeof out, form, a, b, c, d))};
}

std::string rectangle(double x, double z, double width, double height) {
  return text(R"(<rect x="%.0f" y="%.0f" width="%.0f" height="%.0f" fill="#8a8f98"/>)",
              pixels * (x - left), pixels * (top - z), pixels * width, pixels * height);
}

/// `frames` holds all discs of each frame, at equal intervals.
void write_svg(const char* path, const std::vector<std::vector<Disc>>& frames) {
  const char* const colors[] = {"#2a6fbb", "#d9822b", "#3a9a5b", "#e3c13b"};
  const double seconds = 0.005 * steps_per_frame * double(frames.size());
  const std::string timing = text(R"(" dur="%.2fs" repeatCount="indefinite"/>)", seconds);
  std::ofstream svg(path);
  svg << R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 576 452" width="576">)"
      << "<!-- SPDX-License-Identifier: BSD-3-Clause; by examples/16_falling_column.cpp -->\n"
      << rectangle(-0.72, 0, 1.44, 0.05) << rectangle(-0.72, 0.7, 0.06, 0.7)
      << rectangle(0.66, 0.7, 0.06, 0.7) << '\n';
  for (std::size_t i = 0; i < frames.front().size(); ++i) {
    std::string places, turns, place, turn;
    for (const std::vector<Disc>& frame : frames) {
      place = text("%.1f %.1f", pixels * (frame[i].x - left), pixels * (top - frame[i].z));
      turn = text("%.0f", frame[i].angle * 180 / 3.141592653589793);
      places += (places.empty() ? "" : ";") + place;
      turns += (turns.empty() ? "" : ";") + turn;
    }
    const double r = pixels * frames.front()[i].radius;
    const std::string motion = R"(<animateTransform attributeName="transform" type=")";
    svg << "<g transform=\"translate(" << place << ")\">"  // where nothing moves: the end
        << motion << "translate\" values=\"" << places << timing << "<g transform=\"rotate(" << turn
        << ")\">" << motion << "rotate\" values=\"" << turns << timing
        << text(R"(<circle r="%.1f" fill=")", r) << colors[i % 4]
        << text(R"("/><path d="M0 0V%.1f" stroke="#fff" stroke-width="2"/></g></g>)", -0.9 * r)
        << '\n';
  }
  svg << "</svg>\n";
}

}  // namespace

int main(int count, char** arguments) try {
  carom::examples::DiscHeap heap = carom::examples::make_disc_column(13);
  std::vector<std::vector<Disc>> frames{heap.discs};
  for (int k = 1; k <= steps; ++k) {
    if (!heap.step()) return std::fprintf(stderr, "step %d did not converge\n", k), 1;
    if (k % steps_per_frame == 0) frames.push_back(heap.discs);
  }
  std::printf("weight %.4f N, carried %.4f N\n", heap.weight(), heap.carried());
  frames.resize(frames.size() + still_frames, heap.discs);
  if (count > 1) write_svg(arguments[1], frames);
  return std::abs(heap.carried() / heap.weight() - 1) < 1e-3 && heap.fastest() < 0.01 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
