// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <vector>

#include "carom/batch/batch_pattern.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A LaneMap in an image of patterns: counts, and where its arrays begin, in bytes from the
/// image's first.
struct DeviceIsland {
  int bodies, starts, contacts, sides, others, blocks, rigid_contacts;
  int mass_columns, mass_places, matrix_columns, matrix_places;
  int velocities, body_count, contact_count, other_count;
  int mass_cells, matrix_cells, jacobian_cells, block_cells, widest, rigid;
};

/// The islands of a pattern: where the first one is in the image, and how many there are.
struct DevicePattern {
  int islands, island_count;
};

/// A copy of the image of DevicePatterns, wherever it is.
class DevicePatternsView {
 public:
  DevicePatternsView() = default;
  /// @param image  aligned to 4 bytes.
  CAROM_DEVICE explicit DevicePatternsView(const std::byte* image) noexcept : image_(image) {}

  [[nodiscard]] CAROM_DEVICE int island_count(int pattern) const noexcept {
    return at<DevicePattern>(0)[pattern].island_count;
  }
  [[nodiscard]] CAROM_DEVICE LaneMapView island(int pattern, int number) const noexcept {
    const DeviceIsland& i = at<DeviceIsland>(at<DevicePattern>(0)[pattern].islands)[number];
    return {at<LaneBody>(i.bodies),
            at<int>(i.starts),
            at<LaneContact>(i.contacts),
            at<LaneSides>(i.sides),
            at<LaneContact>(i.others),
            at<LaneBlock>(i.blocks),
            at<unsigned char>(i.rigid_contacts),
            {at<int>(i.mass_columns), at<int>(i.mass_places), i.velocities},
            {at<int>(i.matrix_columns), at<int>(i.matrix_places), i.velocities},
            i.body_count,
            i.contact_count,
            i.other_count,
            i.mass_cells,
            i.matrix_cells,
            i.jacobian_cells,
            i.block_cells,
            i.widest,
            i.rigid != 0};
  }

 private:
  template <typename Item>
  [[nodiscard]] CAROM_DEVICE const Item* at(int place) const noexcept {
    return static_cast<const Item*>(static_cast<const void*>(image_ + place));
  }

  const std::byte* image_ = nullptr;
};

/// Patterns in one piece of memory without addresses, which is copied as bytes to where a graphics
/// processor reads it.
/// @note  Cold: construction allocates.
class DevicePatterns {
 public:
  DevicePatterns(const BatchPattern* patterns, int count) {
    std::vector<DevicePattern> table(static_cast<std::size_t>(count));
    add(table);
    for (int p = 0; p < count; ++p) {
      std::vector<DeviceIsland> islands;
      for (const LaneMap& island : patterns[p].islands()) islands.push_back(add(island.view()));
      table[std::size_t(p)] = {add(islands), int(islands.size())};
    }
    if (count > 0) std::memcpy(image_.data(), table.data(), sizeof(DevicePattern) * table.size());
  }

  [[nodiscard]] const std::vector<std::byte>& image() const noexcept { return image_; }

 private:
  /// @return  where the items are.
  template <typename Item>
  int add(const Item* items, int count) {
    static_assert(std::is_trivially_copyable_v<Item> && alignof(Item) <= alignof(int));
    const std::size_t place = image_.size(), size = sizeof(Item) * std::size_t(count);
    image_.resize((place + size + sizeof(int) - 1) / sizeof(int) * sizeof(int));
    if (count > 0) std::memcpy(image_.data() + place, items, size);
    return int(place);
  }
  template <typename Item>
  int add(const std::vector<Item>& items) {
    return add(items.data(), int(items.size()));
  }
  DeviceIsland add(const LaneMapView& map) {
    const int velocities = map.mass_rows.count;
    return {add(map.bodies, map.body_count),
            add(map.starts, map.body_count),
            add(map.contacts, map.contact_count),
            add(map.sides, map.contact_count),
            add(map.others, map.other_count),
            add(map.blocks, map.other_count),
            add(map.rigid_contacts, map.contact_count),
            add(map.mass_rows.first_column, velocities),
            add(map.mass_rows.place, velocities),
            add(map.matrix_rows.first_column, velocities),
            add(map.matrix_rows.place, velocities),
            velocities,
            map.body_count,
            map.contact_count,
            map.other_count,
            map.mass_cells,
            map.matrix_cells,
            map.jacobian_cells,
            map.block_cells,
            map.widest,
            map.rigid ? 1 : 0};
  }

  std::vector<std::byte> image_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
