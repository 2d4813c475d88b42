// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/batch/batch_pattern.hpp"

namespace carom::benchmarks {

/// What solving a problem takes at least.
struct KernelWork {
  double operations;  ///< products and sums
  double numbers;     ///< read from memory or written to it, if each is once in a phase
};

/// The phases that grow with a problem: in each iteration H = A + Jᵀ G J, its factor, two solves
/// with it, and J v, Jᵀγ, A v and a solve with the factor of A once; before the first one A is
/// factored and all is evaluated three times. Line searches and cones come on top, so it is less
/// than what is done. Friction contacts only.
[[nodiscard]] inline KernelWork kernel_work(const BatchPattern& pattern, double iterations) {
  KernelWork once{0, 0}, each{0, 0};
  const auto add_factor = [](KernelWork& work, const carom::detail::LaneRows& rows) {
    for (int i = 0; i < rows.count; ++i) {
      for (int j = rows.first_column[i]; j <= i; ++j) {
        const int from = (std::max)(rows.first_column[i], rows.first_column[j]);
        work.operations += 2.0 * (j - from) + 1;
      }
    }
    work.numbers += 2.0 * (rows.place[rows.count - 1] + rows.count);
  };
  const double report = 2.0 * pattern.velocity_count() + pattern.row_count();
  once.numbers += pattern.mass_count() + pattern.jacobian_count() + 2 * report;
  for (const auto& island : pattern.islands()) {
    const auto layout = island.layout();
    const double mass = layout.mass_factor_at - layout.mass_at;
    const double matrix = layout.jacobian_at - layout.matrix_at;
    KernelWork evaluation{6 * mass, 2 * mass};
    for (int k = 0; k < layout.contacts; ++k) {
      const double low = layout.sides[k].low.count, high = layout.sides[k].high.count;
      const double columns = low + high;
      evaluation.operations += 12 * columns;
      evaluation.numbers += 6 * columns + int(detail::LaneLayout::contact_number_count);
      each.operations += 15 * columns + 6 * (low * low / 2 + low * high + high * high / 2);
      each.numbers += 3 * columns + low * low + 2 * low * high + high * high;
    }
    add_factor(once, layout.mass_rows);
    add_factor(each, layout.matrix_rows);
    once.operations += 3 * evaluation.operations;
    once.numbers += 3 * evaluation.numbers;
    each.operations += evaluation.operations + 4 * matrix;
    each.numbers += evaluation.numbers + mass + 3 * matrix;
  }
  return {once.operations + iterations * each.operations, once.numbers + iterations * each.numbers};
}

}  // namespace carom::benchmarks
