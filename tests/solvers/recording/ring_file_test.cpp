// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/recording/ring_file.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#if defined(__unix__)
#include <csignal>
#include <sys/resource.h>
#endif

#include "support/catch.hpp"
#include "support/random.hpp"

namespace ring_file_test {

using carom::detail::RingFile;
using carom::testing::VectorSource;

namespace {

/// A path of a test, at which nothing is left in the end.
class TestPath {
 public:
  explicit TestPath(const std::string& name)
      : path_((std::filesystem::temp_directory_path() / ("carom_ring_" + name)).string()) {
    std::filesystem::remove(path_);
  }
  TestPath(const TestPath&) = delete;
  TestPath& operator=(const TestPath&) = delete;
  ~TestPath() { std::filesystem::remove(path_); }

  [[nodiscard]] const std::string& path() const { return path_; }
  /// What another program sees of the file while it is open.
  [[nodiscard]] std::string bytes() const {
    std::string all(std::size_t(std::filesystem::file_size(path_)), '\0');
    std::ifstream(path_, std::ios::binary).read(all.data(), std::streamsize(all.size()));
    return all;
  }

 private:
  std::string path_;
};

const std::string header = "a header";

[[nodiscard]] const unsigned char* bytes_of(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
[[nodiscard]] RingFile make_ring(const TestPath& at, std::size_t capacity) {
  return {at.path(), bytes_of(header), header.size(), capacity};
}
[[nodiscard]] bool write(RingFile& ring, const std::string& record, bool over_last = false) {
  return ring.write(bytes_of(record), record.size(), over_last);
}
/// A record that no other one resembles.
[[nodiscard]] std::string record_of(int number, std::size_t size) {
  std::string record(size, '.');
  for (std::size_t k = 0; k < size; ++k) {
    record[k] = char((std::size_t(number) * 131 + k * 7 + k / 31) % 251);
  }
  return record;
}

/// The ring as a picture of the file, of which each write changes some bytes.
struct Picture {
  std::string bytes = header;
  std::size_t last = header.size(), next = header.size(), capacity = 0;

  void write(const std::string& record, bool over_last) {
    std::size_t at = over_last ? last : next;
    if (at + record.size() > capacity) at = header.size();
    if (bytes.size() < at + record.size()) bytes.resize(at + record.size());
    bytes.replace(at, record.size(), record);
    last = at;
    next = at + record.size();
  }
};

}  // namespace

TEST_CASE("ring_file: after every write the file is what a picture of it says",
          "[solvers][oracle]") {
  VectorSource<double> source(1);
  for (const std::size_t capacity :
       {std::size_t(9), std::size_t(50), std::size_t(1000), std::size_t(100000)}) {
    CAPTURE(capacity);
    const TestPath at("picture");
    RingFile ring = make_ring(at, capacity);
    REQUIRE(ring.is_open());
    CHECK(ring.room() == capacity - header.size());
    Picture picture;
    picture.capacity = capacity;
    CHECK(at.bytes() == header);
    bool same = true, bounded = true, written = true, kept = true;
    for (int k = 0; k < (capacity > 10000 ? 40 : 200); ++k) {
      // From nothing to all that has room, and sizes of every decade between.
      const double share = source.pick({0, 1, 0.5, source.unit(), source.positive(6) / 1000});
      const auto size = std::size_t(std::min(1.0, share) * double(ring.room()));
      const std::string record = record_of(k, size), before = at.bytes();
      const bool over_last = source.unit() < 0.3;
      written = write(ring, record, over_last) && written;
      picture.write(record, over_last);
      const std::string after = at.bytes();
      same = same && after == picture.bytes;
      bounded = bounded && after.size() <= capacity && after.starts_with(header);
      // No byte beside the record changes, and the file never becomes shorter.
      const std::size_t end = picture.last + size;
      kept = kept && after.size() >= before.size() &&
             after.compare(0, picture.last, before, 0, picture.last) == 0 &&
             (end >= before.size() ||
              after.compare(end, std::string::npos, before, end, std::string::npos) == 0);
    }
    CHECK(written);
    CHECK(same);
    CHECK(bounded);
    CHECK(kept);
  }
}

TEST_CASE("ring_file: memory has the bytes of the file, and behind them what it had",
          "[solvers][law]") {
  VectorSource<double> source(3);
  constexpr std::size_t capacity = 1000;
  std::vector<std::byte> memory(capacity, std::byte(0xAB));
  RingFile first(memory, bytes_of(header), header.size());
  CHECK(first.is_open());
  CHECK(first.room() == capacity - header.size());
  RingFile ring = std::move(first);
  CHECK_FALSE(first.is_open());  // NOLINT(bugprone-use-after-move): what is left must not write
  Picture picture;
  picture.capacity = capacity;
  bool same = true;
  for (int k = 0; k < 200; ++k) {
    const std::string record = record_of(k, std::size_t(source.unit() * double(ring.room())));
    const bool over_last = source.unit() < 0.3;
    REQUIRE(write(ring, record, over_last));
    picture.write(record, over_last);
    const std::string now(reinterpret_cast<const char*>(memory.data()), capacity);
    same = same && now.starts_with(picture.bytes) &&
           now.find_first_not_of('\xAB', picture.bytes.size()) == std::string::npos;
  }
  CHECK(same);
}

TEST_CASE("ring_file: it keeps the records written last, as many as have room in a row",
          "[solvers][law]") {
  VectorSource<double> source(2);
  const std::size_t capacity = 2000;
  const TestPath at("newest");
  RingFile ring = make_ring(at, capacity);
  std::vector<std::string> records;
  for (int k = 0; k < 200; ++k) {
    records.push_back(record_of(k, 20 + std::size_t(source.unit() * 300)));
    REQUIRE(write(ring, records.back()));
    const std::string bytes = at.bytes();
    // What is lost before the wrap and what the newest record destroys is less than a record each.
    std::size_t together = 0;
    for (std::size_t i = records.size(); i-- > 0;) {
      together += records[i].size();
      if (together + 2 * 320 > ring.room()) break;
      REQUIRE(bytes.find(records[i]) != std::string::npos);
    }
  }
}

TEST_CASE("ring_file: records that just fit", "[solvers][example]") {
  const TestPath at("fits");
  RingFile ring = make_ring(at, header.size() + 10);
  REQUIRE(ring.room() == 10);
  CHECK(write(ring, "0123456789"));  // all of it
  CHECK(at.bytes() == header + "0123456789");
  CHECK(write(ring, "abcd"));  // no room behind it
  CHECK(at.bytes() == header + "abcd456789");
  CHECK(write(ring, "efghij"));  // to the last byte
  CHECK(at.bytes() == header + "abcdefghij");
  CHECK(write(ring, ""));  // nothing has room everywhere
  CHECK(at.bytes() == header + "abcdefghij");
  CHECK(write(ring, "k"));
  CHECK(at.bytes() == header + "kbcdefghij");
  CHECK(write(ring, "lmnopqrstu"));  // one more than the rest
  CHECK(at.bytes() == header + "lmnopqrstu");
}

TEST_CASE("ring_file: a record over the last one takes its place, or the first one",
          "[solvers][example]") {
  const TestPath at("over");
  RingFile ring = make_ring(at, header.size() + 10);
  CHECK(write(ring, "aa", true));  // there is none yet
  CHECK(write(ring, "bb"));
  CHECK(at.bytes() == header + "aabb");
  CHECK(write(ring, "cccc", true));
  CHECK(at.bytes() == header + "aacccc");
  CHECK(write(ring, "d", true));  // shorter: the rest of the last one stays behind it
  CHECK(at.bytes() == header + "aadccc");
  CHECK(write(ring, "ee"));
  CHECK(at.bytes() == header + "aadeec");
  CHECK(write(ring, "fffffff", true));  // to the end
  CHECK(at.bytes() == header + "aadfffffff");
  CHECK(write(ring, "gggggggg", true));  // longer than the room from there
  CHECK(at.bytes() == header + "ggggggggff");
  CHECK(write(ring, "h", true));
  CHECK(at.bytes() == header + "hgggggggff");
}

TEST_CASE("ring_file: an existing file is replaced, and one that cannot be made is told",
          "[solvers][example]") {
  const TestPath at("replaced");
  std::ofstream(at.path()) << std::string(500, 'x');
  {
    RingFile ring = make_ring(at, 100);
    CHECK(ring.is_open());
    CHECK(at.bytes() == header);
  }
  CHECK(at.bytes() == header);
  const RingFile none;
  CHECK_FALSE(none.is_open());
  CHECK(none.room() == 0);
  const std::string folder = std::filesystem::temp_directory_path().string();
  for (const std::string& path : {folder, folder + "/carom_no_such_folder/file", std::string()}) {
    CHECK_FALSE(RingFile(path, bytes_of(header), header.size(), 100).is_open());
  }
  if (std::filesystem::exists("/dev/full")) {  // opens, and refuses each byte
    CHECK_FALSE(RingFile("/dev/full", bytes_of(header), header.size(), 100).is_open());
  }
}

TEST_CASE("ring_file: where it is moved, the file goes on", "[solvers][example]") {
  const TestPath at("moved");
  RingFile first = make_ring(at, header.size() + 6);
  CHECK(write(first, "aaa"));
  RingFile second = std::move(first);
  CHECK(write(second, "bbb"));
  CHECK(at.bytes() == header + "aaabbb");
  RingFile third;
  third = std::move(second);
  CHECK(third.is_open());
  CHECK(third.room() == 6);
  CHECK(write(third, "c"));
  CHECK(at.bytes() == header + "caabbb");
  third = {};
  CHECK_FALSE(third.is_open());
}

#if defined(__unix__)
TEST_CASE("ring_file: a write that fails in its middle is told, and its place is used again",
          "[solvers][example]") {
  // The largest size of a file that the system permits stands in for a full disk.
  const TestPath at("full");
  RingFile ring = make_ring(at, 1000);
  CHECK(write(ring, "first"));
  const std::string large(100, 'l');
  rlimit given{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &given) == 0);
  void (*const handler)(int) = std::signal(SIGXFSZ, SIG_IGN);
  rlimit tight = given;
  tight.rlim_cur = header.size() + 5 + 40;
  REQUIRE(setrlimit(RLIMIT_FSIZE, &tight) == 0);
  // Nothing is printed while the limit is in force: it is that of all files of this process.
  const bool cut = write(ring, large), again = write(ring, large), slight = write(ring, "slight");
  const bool over = write(ring, large, true);
  static_cast<void>(setrlimit(RLIMIT_FSIZE, &given));
  static_cast<void>(std::signal(SIGXFSZ, handler));
  CHECK_FALSE(cut);
  CHECK_FALSE(again);
  CHECK(slight);
  CHECK_FALSE(over);
  CHECK(ring.is_open());
  CHECK(at.bytes() == header + "first" + std::string(40, 'l'));
  CHECK(write(ring, "second"));
  CHECK(write(ring, "third"));
  CHECK(at.bytes() == header + "firstsecondthird" + std::string(40 - 11, 'l'));
}
#endif

}  // namespace ring_file_test
