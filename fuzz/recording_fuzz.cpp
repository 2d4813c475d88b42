// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: any bytes, read as a recording, and the numbers of each of its steps. The
// checksums of mutated records are renewed, or no mutant would be read any further.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "io/recording.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

using carom::files::BadInput;
using carom::files::Recording;

template <typename Scalar>
void read(const Recording& recording, const Recording::Place& place) {
  try {
    static_cast<void>(recording.read<Scalar>(place));
  } catch (const BadInput&) {
  }
}

/// Gives each record that begins in the bytes a length that fits and the checksum of its bytes.
void renew_checksums(std::uint8_t* data, std::size_t size) {
  using carom::detail::RecordingFormat;
  constexpr std::size_t least = RecordingFormat::first_part + 8;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  std::size_t at = bytes.find(RecordingFormat::step_mark);
  while (at != bytes.npos && size - at >= least) {
    const std::size_t next = bytes.find(RecordingFormat::step_mark, at + 8);
    const std::size_t length = ((next == bytes.npos ? size : next) - at) / 8 * 8;
    if (length >= least) {
      const std::uint64_t told = carom::detail::little_endian(std::uint64_t(length));
      std::memcpy(data + at + RecordingFormat::length_at, &told, 8);
      const std::uint64_t hash =
          carom::detail::little_endian(carom::detail::hash_words(data + at, length - 8));
      std::memcpy(data + at + length - 8, &hash, 8);
    }
    at = next;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const Recording recording(std::string(reinterpret_cast<const char*>(data), size));
    for (const Recording::Place& place : recording.steps()) {
      if (place.scalar_size == 4) {
        read<float>(recording, place);
      } else {
        read<double>(recording, place);
      }
    }
  } catch (const BadInput&) {
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned int seed) {
  const std::size_t mutated = LLVMFuzzerMutate(data, size, most);
  if (seed % 8 != 0) renew_checksums(data, mutated);
  return mutated;
}
