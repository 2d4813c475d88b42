// SPDX-License-Identifier: BSD-3-Clause
// Solves groups of problems and prints what each adds up to, a row per group: cases, solved,
// iterations, digits, seconds, bits. run.py calls it once for each change of a constant.
//   carom_ablation DATA_FOLDER [GROUP,GROUP,...]
#include <cstdio>
#include <exception>

#include "ablation/cases.hpp"

int main(int count, char** arguments) {
  using carom::benchmarks::Group;
  if (count < 2) {
    std::puts("usage: carom_ablation DATA_FOLDER [GROUP,GROUP,...]");
    return 2;
  }
  const std::string wanted = count > 2 ? "," + std::string(arguments[2]) + "," : "";
  try {
    std::vector<Group> groups = carom::benchmarks::groups_on_bodies(arguments[1]);
    for (const Group& group : carom::benchmarks::groups_in_impulses(arguments[1])) {
      groups.push_back(group);
    }
    for (const Group& group : groups) {
      if (!wanted.empty() && wanted.find("," + group.name + ",") == std::string::npos) continue;
      const auto result = group.run();
      std::printf("%s\t%d\t%d\t%ld\t%.3f\t%.4f\t%016llx\n", group.name.c_str(), result.cases,
                  result.solved, result.iterations, result.digits, result.seconds,
                  static_cast<unsigned long long>(result.bits));
      std::fflush(stdout);
    }
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "%s\n", fault.what());
    return 1;
  }
  return 0;
}
