// SPDX-License-Identifier: BSD-3-Clause
// A batch of two patterns under both laws, in float and double: checksums of the answers' bits. Its
// numbers are integers by powers of two, so no flag can change them. CAROM_LANES are the numbers of
// lanes that solve it, such as 1, 2, 4, 8; all must come to the same.
#include <cstdint>
#include <cstdio>

#include "../../bits/batch_problems.hpp"

namespace {

using carom::Index, carom::bits::Problems;

template <typename Scalar, int LaneCount>
std::uint64_t solve(const carom::SapOptions<Scalar>& options, Index& converged) {
  Problems<Scalar> problems;
  const auto view = problems.view();
  carom::BatchWorkspace<Scalar, LaneCount> workspace;
  workspace.prepare(view, 1);
  converged = solve_batch(view, problems.answers(), options, workspace).converged;
  return problems.checksum();
}

/// One line of text, which says nothing of the numbers of lanes, as they must not matter.
template <typename Scalar, int... LaneCounts>
bool print_answers(const char* scalar, const carom::SapOptions<Scalar>& options) {
  Index converged = 0;
  const std::uint64_t found[] = {solve<Scalar, LaneCounts>(options, converged)...};
  bool same = true;
  for (const std::uint64_t one : found) same = same && one == found[0];
  std::printf("%s %s: %d converged, %016llx%s\n", scalar,
              options.law == carom::FrictionLaw::convex ? "convex" : "Coulomb", int(converged),
              static_cast<unsigned long long>(found[0]), same ? "" : ", other lanes differ");
  return same;
}

template <int... LaneCounts>
bool print_all() {
  bool same = true;
  for (const auto law : {carom::FrictionLaw::convex, carom::FrictionLaw::coulomb}) {
    const carom::SapOptions<double> narrow{.law = law, .tolerance = 1e-9};
    const carom::SapOptions<float> wide{.law = law, .tolerance = 1e-3F};
    same = print_answers<double, LaneCounts...>("double", narrow) && same;
    same = print_answers<float, LaneCounts...>("float", wide) && same;
  }
  return same;
}

}  // namespace

int main() {
  return print_all<CAROM_LANES>() ? 0 : 1;
}
