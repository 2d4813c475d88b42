// SPDX-License-Identifier: BSD-3-Clause
#include "carom/core/detail/byte_writer.hpp"

#include <array>
#include <cstdint>
#include <string>

#include "support/catch.hpp"

namespace {

using carom::detail::ByteWriter;

/// What the calls of a writer wrote, as hexadecimal digits.
template <typename Write>
std::string written(const Write& write) {
  std::array<unsigned char, 64> bytes;
  bytes.fill(0xee);
  ByteWriter out(bytes.data());
  write(out);
  std::string text;
  for (const unsigned char* at = bytes.data(); at != out.position(); ++at) {
    for (const int digit : {*at / 16, *at % 16}) text += "0123456789abcdef"[digit];
  }
  return text;
}

TEST_CASE("byte_writer: numbers have their lowest byte first on every machine", "[core][example]") {
  CHECK(written([](ByteWriter& out) { out.put(std::uint32_t(0x01020304)); }) == "04030201");
  CHECK(written([](ByteWriter& out) { out.put(std::int32_t(-2)); }) == "feffffff");
  CHECK(written([](ByteWriter& out) { out.put(std::uint64_t(0x0102030405060708)); }) ==
        "0807060504030201");
  CHECK(written([](ByteWriter& out) { out.put(1.0); }) == "000000000000f03f");
  CHECK(written([](ByteWriter& out) { out.put(-2.0F); }) == "000000c0");
}

TEST_CASE("byte_writer: a list is its numbers one after the other", "[core][law]") {
  const std::array<double, 3> numbers{1.5, -0.0, 1e300};
  const std::array<std::int32_t, 3> counts{1, -1, 1 << 20};
  const auto check = [](const auto& list) {
    CHECK(written([&](ByteWriter& out) { out.put_all(list.data(), 3); }) ==
          written([&](ByteWriter& out) {
            for (const auto& number : list) out.put(number);
          }));
    CHECK(written([&](ByteWriter& out) { out.put_all(list.data(), 0); }).empty());
  };
  check(numbers);
  check(counts);
  CHECK(written([](ByteWriter& out) { out.put_all("carom", 5); }) == "6361726f6d");
}

TEST_CASE("byte_writer: a record is filled with zeros to a multiple of eight bytes",
          "[core][example]") {
  std::array<unsigned char, 16> bytes{};
  for (int used = 0; used <= 8; ++used) {
    bytes.fill(0xee);
    ByteWriter out(bytes.data());
    for (int i = 0; i < used; ++i) out.put_all("x", 1);
    out.fill(bytes.data());
    CHECK(out.position() - bytes.data() == (used + 7) / 8 * 8);
    for (const unsigned char* at = bytes.data() + used; at != out.position(); ++at) CHECK(*at == 0);
    CHECK(*out.position() == 0xee);
  }
}

}  // namespace
