// SPDX-License-Identifier: BSD-3-Clause
// A program that itself uses nothing of carom opens two libraries that do, each of another version
// and with other settings, calls them by turns and from threads, closes them and opens them again.
#include <cmath>
#include <cstdio>
#include <dlfcn.h>
#include <thread>
#include <vector>

namespace {

struct Plugin {
  void* library;
  double (*slide)(double);
};

Plugin open(const char* path) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);  // the names of both are seen by both
  if (library == nullptr) {
    std::printf("%s\n", dlerror());
    return {nullptr, nullptr};
  }
  return {library, reinterpret_cast<double (*)(double)>(dlsym(library, "slide"))};
}

/// Whether the speed after friction with this coefficient is right.
bool slides(const Plugin& plugin, double friction) {
  for (const double speed : {1.0, 2.0, 0.01}) {
    const double right = std::fmax(0, speed - friction * 0.0981);
    if (!(std::abs(plugin.slide(speed) - right) < 1e-6)) return false;
  }
  return true;
}

}  // namespace

int main(int count, char** paths) {
  if (count != 3) return 2;
  for (int round = 0; round < 20; ++round) {
    const Plugin first = open(paths[1]), second = open(paths[2]);
    if (first.slide == nullptr || second.slide == nullptr) return 2;
    if (!slides(first, 0.25) || !slides(second, 0.5) || !slides(first, 0.25)) return 1;
    std::vector<std::thread> threads;
    bool right[64] = {};
    for (int k = 0; k < 64; ++k) {
      threads.emplace_back(
          [&, k] { right[k] = slides(k % 2 == 0 ? first : second, k % 2 == 0 ? 0.25 : 0.5); });
    }
    for (std::thread& thread : threads) thread.join();
    for (const bool one : right) {
      if (!one) return 1;
    }
    dlclose(first.library);
    dlclose(second.library);
  }
  std::printf("two versions of carom in one process, 20 times\n");
}
