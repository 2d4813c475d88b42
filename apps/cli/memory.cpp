// SPDX-License-Identifier: BSD-3-Clause
#include "cli/memory.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>

#include "io/number_text.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <sys/resource.h>
#include <unistd.h>
#endif

namespace carom::cli {
namespace {

constexpr double unknown = std::numeric_limits<double>::infinity();

/// The number after a word in a file, or the first number if the word is empty; infinite if there
/// is none.
[[maybe_unused]] double read_after(const std::string& path, const std::string& word) {
  std::ifstream file(path);
  std::string found;
  while (file >> found) {
    if (word.empty()) return files::parse_number(found).value_or(unknown);
    if (found == word && file >> found) return files::parse_number(found).value_or(unknown);
  }
  return unknown;
}

/// The remaining memory of a control group: first the second version of control groups, then the
/// first.
[[maybe_unused]] double group_memory() {
  const std::string folder = "/sys/fs/cgroup/";
  const double newer = read_after(folder + "memory.max", "");
  const double older = read_after(folder + "memory/memory.limit_in_bytes", "");
  const std::string used = std::isfinite(newer) ? "memory.current" : "memory/memory.usage_in_bytes";
  const double limit = std::isfinite(newer) ? newer : older;
  const double taken = read_after(folder + used, "");
  if (!std::isfinite(limit) || !std::isfinite(taken)) return unknown;
  return std::max(0.0, limit - taken);
}

}  // namespace

double peak_memory() {
#if defined(__unix__) || defined(__APPLE__)
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
#if defined(__APPLE__)
  return double(usage.ru_maxrss);
#else
  return 1024.0 * double(usage.ru_maxrss);
#endif
#else
  return 0;
#endif
}

double available_memory() {
  double available = unknown;
#if defined(__linux__)
  available = std::min(1024 * read_after("/proc/meminfo", "MemAvailable:"), group_memory());
#endif
#if defined(__unix__)
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    const double pages = read_after("/proc/self/statm", "");
    const double taken = std::isfinite(pages) ? pages * double(sysconf(_SC_PAGESIZE)) : 0;
    available = std::min(available, std::max(0.0, double(limit.rlim_cur) - taken));
  }
#endif
  return available;
}

std::string format_bytes(double bytes) {
  constexpr double giga = 1e9, mega = 1e6;
  const bool large = bytes >= giga;
  return files::format_rounded(bytes / (large ? giga : mega), 3) + (large ? " GB (" : " MB (") +
         files::format_rounded(std::ceil(bytes), 17) + " bytes)";
}

}  // namespace carom::cli
