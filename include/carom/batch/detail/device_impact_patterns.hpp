// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "carom/batch/impact_batch_view.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// An ImpactPattern in an image of patterns. The rows of all their matrices begin alike, so that
/// the image has those of the largest only.
struct DeviceImpactPattern {
  int coordinates, contacts;
  ImpactMass mass;
  int rows_at;  ///< where the rows are, in bytes from the image's first
  int row_count;
};

/// A copy of the image of image_of_impact_patterns(), wherever it is.
class DeviceImpactPatternsView {
 public:
  DeviceImpactPatternsView() = default;
  /// @param image  aligned to 4 bytes.
  CAROM_DEVICE explicit DeviceImpactPatternsView(const std::byte* image) noexcept : image_(image) {}

  [[nodiscard]] CAROM_DEVICE ImpactPatternView pattern(int number) const noexcept {
    const void* const table = image_;
    const DeviceImpactPattern& one = static_cast<const DeviceImpactPattern*>(table)[number];
    const void* const rows = image_ + one.rows_at;
    const int* const first_columns = static_cast<const int*>(rows);
    return {one.coordinates, one.contacts, one.mass, first_columns, first_columns + one.row_count};
  }

 private:
  const std::byte* image_ = nullptr;
};

/// Patterns in one piece of memory without addresses, which is copied as bytes to where a graphics
/// processor reads it.
/// @note  Cold: allocates.
[[nodiscard]] inline std::vector<std::byte> image_of_impact_patterns(const ImpactPattern* patterns,
                                                                     int count) {
  if (count == 0) return {};
  int rows = 0;
  for (int p = 0; p < count; ++p) {
    rows = (std::max)({rows, patterns[p].coordinate_count(), patterns[p].contact_count()});
  }
  const std::size_t rows_at = std::size_t(count) * sizeof(DeviceImpactPattern);
  std::vector<std::byte> image(rows_at + 2 * std::size_t(rows) * sizeof(int));
  for (int p = 0; p < count; ++p) {
    const ImpactPatternView from = patterns[p].view();
    const DeviceImpactPattern one{from.coordinates, from.contacts, from.mass, int(rows_at), rows};
    std::memcpy(image.data() + std::size_t(p) * sizeof one, &one, sizeof one);
    const std::size_t own = std::size_t((std::max)(from.coordinates, from.contacts)) * sizeof(int);
    if (own == 0) continue;
    std::memcpy(image.data() + rows_at, from.first_columns, own);
    std::memcpy(image.data() + rows_at + std::size_t(rows) * sizeof(int), from.places, own);
  }
  return image;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
