// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <cstdio>
#include <initializer_list>
#include <stdexcept>
#include <string>

#include "distributed/heap_run.hpp"

namespace carom::distributed {

/// What carom_heap_distributed is asked for.
struct HeapArguments {
  examples::PileShape shape;
  HeapLaw law;
  int steps = 1;
  bool json = false;
  std::string checkpoint;  ///< path; empty for none
};

/// Reads the arguments of the program one by one; what is wrong is a std::invalid_argument that
/// names the option.
class HeapArgumentReader {
 public:
  HeapArgumentReader(int argc, const char* const* argv) : argc_(argc), argv_(argv) {}

  [[nodiscard]] HeapArguments read() {
    HeapArguments arguments;
    arguments.shape.body_count = 0;
    while (at_ < argc_) {
      option_ = argv_[at_++];
      if (!read_shape(arguments.shape) && !read_law(arguments.law) && !read_run(arguments)) {
        throw std::invalid_argument("unknown argument '" + option_ + "'\n" + usage);
      }
    }
    if (arguments.shape.body_count < 1) {
      throw std::invalid_argument(std::string("expected --bodies\n") + usage);
    }
    return arguments;
  }

 private:
  static constexpr const char* usage =
      "usage: carom_heap_distributed --bodies N [--shape spheres|boxes|mixed] [--layers L]\n"
      "         [--law convex|coulomb] [--rigid] [--tolerance T] [--factor-limit W] [--steps K]\n"
      "         [--checkpoint FILE] [--json]";

  [[nodiscard]] bool read_shape(examples::PileShape& shape) {
    if (option_ == "--bodies") {
      shape.body_count = number<Index>(1);
    } else if (option_ == "--layers") {
      shape.layers = number<Index>(1);
    } else if (option_ == "--shape") {
      using enum examples::PileBodies;
      constexpr examples::PileBodies kinds[] = {spheres, boxes, mixed};
      shape.bodies = kinds[choice({"spheres", "boxes", "mixed"})];
    } else {
      return false;
    }
    return true;
  }
  [[nodiscard]] bool read_law(HeapLaw& law) {
    if (option_ == "--law") {
      law.law = choice({"convex", "coulomb"}) == 0 ? FrictionLaw::convex : FrictionLaw::coulomb;
    } else if (option_ == "--rigid") {
      law.rigid = true;
    } else if (option_ == "--tolerance") {
      law.tolerance = number<double>(1e-15);
    } else if (option_ == "--factor-limit") {
      law.factor_work_limit = number<double>(0);
    } else {
      return false;
    }
    return true;
  }
  [[nodiscard]] bool read_run(HeapArguments& arguments) {
    if (option_ == "--steps") {
      arguments.steps = number<int>(1);
    } else if (option_ == "--json") {
      arguments.json = true;
    } else if (option_ == "--checkpoint") {
      arguments.checkpoint = word();
      if (arguments.checkpoint.empty()) throw std::invalid_argument(option_ + ": expected a file");
    } else {
      return false;
    }
    return true;
  }

  [[nodiscard]] std::string word() { return at_ < argc_ ? argv_[at_++] : ""; }
  template <typename Number>
  [[nodiscard]] Number number(Number least) {
    const std::string text = word();
    Number value{};
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && stop == text.data() + text.size() && value - value == 0 &&
        value >= least) {
      return value;
    }
    char bound[32];
    std::snprintf(bound, sizeof bound, "%g", double(least));
    throw std::invalid_argument(option_ + ": expected a number >= " + bound + ", got '" + text +
                                "'");
  }
  [[nodiscard]] int choice(std::initializer_list<const char*> words) {
    const std::string text = word();
    std::string expected;
    int k = 0;
    for (const char* const allowed : words) {
      if (text == allowed) return k;
      expected += (k > 0 ? ", " : "") + std::string(allowed);
      ++k;
    }
    throw std::invalid_argument(option_ + ": expected one of " + expected + ", got '" + text + "'");
  }

  int argc_;
  const char* const* argv_;
  int at_ = 1;
  std::string option_;
};

}  // namespace carom::distributed
