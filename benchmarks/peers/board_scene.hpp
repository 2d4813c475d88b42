// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

/// @file
/// Scenes as benchmarks/board/curve_scenes.py writes them, and answers as it reads them.
namespace carom::peers {

using Triple = std::array<double, 3>;
using Quaternion = std::array<double, 4>;  ///< (w, x, y, z), from the body's frame to the world's.

/// A rigid sphere or box.
struct BoardBody {
  bool is_box = false;
  Triple size{};  ///< Radius, or half lengths [m].
  double mass = 1;
  Triple position{};
  Quaternion orientation{1, 0, 0, 0};
  Triple velocity{}, spin{};
};

/// All on the side of the point to which the normal does not point is solid.
struct BoardPlane {
  Triple point{}, normal{};
};

struct BoardScene {
  Triple gravity{};
  double friction = 0, time_step = 0;
  int step_count = 0, sample_every = 1;
  std::vector<BoardPlane> planes;
  std::vector<BoardBody> bodies;
};

/// Throws std::runtime_error if the file is not a whole scene.
[[nodiscard]] inline BoardScene read_board_scene(const std::string& path) {
  std::ifstream file(path);
  BoardScene scene;
  const auto read = [&](auto& numbers) {
    for (double& x : numbers) file >> x;
  };
  std::string word;
  int version = 0;
  std::size_t plane_count = 0, body_count = 0;
  file >> word >> version;
  read(scene.gravity);
  file >> scene.friction >> scene.time_step >> scene.step_count >> scene.sample_every >>
      plane_count >> body_count;
  if (!file || word != "board-scene" || version != 1) {
    throw std::runtime_error(path + ": expected a scene of the board, version 1");
  }
  for (std::size_t i = 0; i < plane_count && file; ++i) {
    BoardPlane& plane = scene.planes.emplace_back();
    read(plane.point);
    read(plane.normal);
  }
  for (std::size_t i = 0; i < body_count && file; ++i) {
    BoardBody& body = scene.bodies.emplace_back();
    file >> word;
    body.is_box = word == "box";
    read(body.size);
    file >> body.mass;
    read(body.position);
    read(body.orientation);
    read(body.velocity);
    read(body.spin);
  }
  if (!file) throw std::runtime_error(path + ": ends within a body or a plane");
  return scene;
}

/// Settings as words: `iterations=10,warm=1`.
class BoardSettings {
 public:
  explicit BoardSettings(const std::string& text) {
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');) {
      const std::size_t at = word.find('=');
      if (at != std::string::npos) values_[word.substr(0, at)] = word.substr(at + 1);
    }
  }
  [[nodiscard]] std::string word(const std::string& name, const std::string& otherwise) const {
    const auto found = values_.find(name);
    return found == values_.end() ? otherwise : found->second;
  }
  [[nodiscard]] double number(const std::string& name, double otherwise) const {
    const auto found = values_.find(name);
    return found == values_.end() ? otherwise : std::stod(found->second);
  }

 private:
  std::map<std::string, std::string> values_;
};

/// The state of all bodies at a time.
struct BoardSample {
  double time = 0;
  std::vector<BoardBody> bodies;
};

/// What a run found: samples, and named numbers.
struct BoardAnswer {
  std::vector<BoardSample> samples;
  std::map<std::string, double> numbers;
  std::string version;

  /// Writes JSON. A number that is not finite is written as nan, which readers refuse.
  void write(const std::string& path) const {
    std::FILE* const file = std::fopen(path.c_str(), "w");
    if (file == nullptr) throw std::runtime_error(path + ": cannot be written");
    std::fprintf(file, "{\"version\": \"%s\"", version.c_str());
    for (const auto& [name, value] : numbers) {
      std::fprintf(file, ", \"%s\": %.9g", name.c_str(), value);
    }
    std::fputs(", \"samples\": [", file);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      std::fprintf(file, "%s[%.9g", i == 0 ? "" : ", ", samples[i].time);
      write_part(file, samples[i], [](const BoardBody& b) { return b.position; });
      write_part(file, samples[i], [](const BoardBody& b) { return b.orientation; });
      write_part(file, samples[i], [](const BoardBody& b) { return b.velocity; });
      write_part(file, samples[i], [](const BoardBody& b) { return b.spin; });
      std::fputs("]", file);
    }
    std::fputs("]}\n", file);
    if (std::fclose(file) != 0) throw std::runtime_error(path + ": cannot be written");
  }

 private:
  template <typename Part>
  static void write_part(std::FILE* file, const BoardSample& sample, const Part& part) {
    std::fputs(", [", file);
    for (std::size_t i = 0; i < sample.bodies.size(); ++i) {
      std::fputs(i == 0 ? "[" : ", [", file);
      const auto numbers = part(sample.bodies[i]);
      for (std::size_t k = 0; k < numbers.size(); ++k) {
        std::fprintf(file, k == 0 ? "%.10g" : ", %.10g", numbers[k]);
      }
      std::fputs("]", file);
    }
    std::fputs("]", file);
  }
};

}  // namespace carom::peers
