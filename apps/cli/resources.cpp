// SPDX-License-Identifier: BSD-3-Clause
#include "cli/resources.hpp"

#include <filesystem>
#if defined(_WIN32)
#include <cstdlib>
#elif defined(__APPLE__)
#include <array>
#include <cstdint>
#include <mach-o/dyld.h>
#endif

namespace carom::cli {
namespace {

/// Path of the running program; empty if the system does not tell it.
std::filesystem::path program_path() {
#if defined(_WIN32)
  char* path = nullptr;
  return _get_pgmptr(&path) == 0 && path != nullptr ? path : "";
#elif defined(__APPLE__)
  std::array<char, 4096> path{};
  auto size = std::uint32_t(path.size());
  return _NSGetExecutablePath(path.data(), &size) == 0 ? path.data() : "";
#else
  std::error_code fault;
  return std::filesystem::read_symlink("/proc/self/exe", fault);
#endif
}

}  // namespace

std::string resource_folder(const std::string& name) {
  const std::filesystem::path beside = program_path().parent_path() / CAROM_RESOURCES / name;
  return beside.lexically_normal().string();
}

}  // namespace carom::cli
