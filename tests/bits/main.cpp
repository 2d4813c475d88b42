// SPDX-License-Identifier: BSD-3-Clause
// The bits of a fixed set of scenes, as hashes: one line per scene, sorted by name. In the
// reproducible mode they are the same on every machine, and golden.txt has them.
//   bits                  prints the hashes
//   bits --check FILE     compares them with those of a file; exit status 1 and the names that
//   differ bits --numbers NAME   prints each number of a scene, to see where two machines part
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "bits.hpp"

namespace {

using carom::bits::Bits, carom::bits::Scene;

/// An x87 unit, a fused product or a register of two numbers would change bits without a word.
bool computes_as_written() {
  volatile double third = 1.0 / 3, tiny = 0x1p-60, near_one = 1 + 0x1p-30;
  const double rounded = third * 3, square = near_one * near_one;
  const double rest = near_one * near_one - square;
  const volatile float narrow = float(third);
  return rounded == 1 && rest == 0 && 1 + tiny == 1 && double(narrow) != third;
}

std::vector<const Scene*> sorted_scenes() {
  std::vector<const Scene*> scenes;
  for (const Scene* scene = Scene::first; scene != nullptr; scene = scene->next) {
    scenes.push_back(scene);
  }
  std::sort(scenes.begin(), scenes.end(),
            [](const Scene* a, const Scene* b) { return std::strcmp(a->name, b->name) < 0; });
  return scenes;
}

std::string hash_of(const Scene& scene, bool listing = false) {
  Bits bits(listing);
  scene.run(bits);
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(bits.hash()));
  return text;
}

int check(const char* path) {
  std::ifstream file(path);
  std::map<std::string, std::string> golden;
  for (std::string name, hash; file >> name >> hash;) golden[name] = hash;
  if (golden.empty()) {
    std::printf("%s: no hashes\n", path);
    return 2;
  }
  int faults = 0;
  for (const Scene* scene : sorted_scenes()) {
    const std::string found = hash_of(*scene);
    const auto expected = golden.find(scene->name);
    const bool same = expected != golden.end() && expected->second == found;
    std::printf("%-24s %s%s\n", scene->name, found.c_str(), same ? "" : "  DIFFERS");
    faults += !same;
    golden.erase(scene->name);
  }
  for (const auto& [name, hash] : golden) {
    std::printf("%-24s has no scene\n", name.c_str());
    ++faults;
  }
  return faults > 0 ? 1 : 0;
}

}  // namespace

int main(int count, char** words) try {
  if (!computes_as_written()) {
    std::printf("This build does not compute double as written: see docs/reproducible.md\n");
    return 2;
  }
  if (count == 3 && std::strcmp(words[1], "--check") == 0) return check(words[2]);
  const bool numbers = count == 3 && std::strcmp(words[1], "--numbers") == 0;
  if (count != 1 && !numbers) {
    std::printf("usage: bits [--check FILE | --numbers NAME]\n");
    return 2;
  }
  for (const Scene* scene : sorted_scenes()) {
    if (numbers && std::strcmp(scene->name, words[2]) != 0) continue;
    std::printf("%s %s\n", scene->name, hash_of(*scene, numbers).c_str());
  }
  return 0;
} catch (const std::exception& fault) {
  std::printf("%s\n", fault.what());
  return 2;
}
