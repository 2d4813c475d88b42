// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/batch/batch_pattern.hpp"
#include "carom/batch/impact_batch_view.hpp"

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

/// An impact of a diagonal mass: the roots of the masses, unit normals and their products once; in
/// each reflection the choice of a contact, its rate, and what it changes: the momentum, the rates,
/// an impulse, the energy. The test for a motion that opens all contacts comes on top.
[[nodiscard]] inline KernelWork impact_work(const ImpactPattern& pattern, double reflections) {
  const double n = pattern.coordinate_count(), m = pattern.contact_count();
  const KernelWork once{2 * n + m * (8 * n + 1) + m * (m - 1) / 2 * 2 * n + 2 * n * m + 2 * n,
                        n + n * m + n + 4 * n * m + m * m + 4 * n};
  const KernelWork each{4 * n + 4 * m + 6, 3 * n + 6 * m + 5};
  return {once.operations + reflections * each.operations,
          once.numbers + reflections * each.numbers};
}

}  // namespace carom::benchmarks
