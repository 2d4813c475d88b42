// SPDX-License-Identifier: BSD-3-Clause
// The entry of a fuzz target without libFuzzer: runs the files and folders that it is given, or
// inputs drawn by seed. For valgrind, and for many drawn inputs in an optimised build.
//   carom_contact_fuzz FILE...
//   carom_contact_fuzz --drawn FIRST COUNT LENGTH
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
/// What libFuzzer would do for a custom mutator; nothing is mutated here.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t*, std::size_t size, std::size_t);
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t*, std::size_t size, std::size_t) {
  return size;
}

namespace {

int run_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  return 1;
}

std::vector<std::uint8_t> drawn;  ///< the input that runs

/// Keeps the input that breaks.
void keep_input(int signal) {
  std::signal(signal, SIG_DFL);  // so that the program ends
  if (std::FILE* const file = std::fopen("crash-drawn", "wb")) {
    std::fwrite(drawn.data(), 1, drawn.size(), file);
    std::fclose(file);
  }
}

int run_drawn(unsigned long first, unsigned long count, unsigned long length) {
  std::vector<std::uint8_t>& bytes = drawn;
  for (const int signal : {SIGABRT, SIGSEGV, SIGFPE}) std::signal(signal, keep_input);
  for (unsigned long seed = first; seed < first + count; ++seed) {
    std::mt19937_64 engine(seed);
    bytes.resize(1 + engine() % length);
    for (std::uint8_t& byte : bytes) byte = std::uint8_t(engine());
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  return int(count);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  int count = 0;
  if (words.size() == 4 && words[0] == "--drawn") {
    count = run_drawn(std::stoul(words[1]), std::stoul(words[2]), std::stoul(words[3]));
  } else {
    for (const std::string& word : words) {
      if (!std::filesystem::is_directory(word)) {
        count += run_file(word);
        continue;
      }
      for (const auto& entry : std::filesystem::directory_iterator(word))
        count += run_file(entry.path());
    }
  }
  std::printf("%d inputs\n", count);
  return count > 0 ? 0 : 2;
}
