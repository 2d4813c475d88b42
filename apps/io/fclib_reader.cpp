// SPDX-License-Identifier: BSD-3-Clause
#include "io/bad_input.hpp"
#include "io/fclib_file.hpp"
#include "io/file_text.hpp"

#ifdef CAROM_WITH_HDF5

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "io/hdf5_memory.hpp"

namespace carom::files {

namespace {

using detail::Hdf5Handle;

[[noreturn]] void fail(const std::string& place, const std::string& expected,
                       const std::string& got) {
  throw BadInput(place + ": expected " + expected + ", got " + got);
}

/// Any text as one line: characters that cannot be printed become spaces, without spaces at the
/// ends.
std::string one_line(std::string text) {
  text = text.substr(0, text.find('\0'));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 32) c = ' ';
  }
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

class FclibReader {
 public:
  explicit FclibReader(std::string_view bytes)
      : byte_count_(bytes.size()), file_(detail::open_in_memory(bytes)) {}

  FrictionProblem read() {
    FrictionProblem problem;
    const bool plain = exists("fclib_local") || exists("fclib_global");
    const bool rolling = exists("fclib_local_rolling") || exists("fclib_global_rolling");
    if (!plain && !rolling) {
      fail("HDF5 file", "a group 'fclib_local' or 'fclib_global', or one of them with '_rolling'",
           "none of them");
    }
    if (plain && rolling) fail("HDF5 file", "contacts that roll or others", "groups of both");
    local_ = rolling ? "fclib_local_rolling" : "fclib_local";
    global_ = rolling ? "fclib_global_rolling" : "fclib_global";
    rolling_ = rolling;
    const bool local = exists(local_), global = exists(global_);
    if (local) read_local(problem);
    if (global) read_global(problem, local);
    if (exists("guesses/1")) problem.guess = state("guesses/1", problem);
    if (exists("solution")) problem.solution = state("solution", problem);
    read_info((local ? local_ : global_) + "/info", problem);
    if (const Fault fault = friction_problem_fault(problem); !fault.empty()) throw BadInput(fault);
    return problem;
  }

 private:
  void read_local(FrictionProblem& problem) {
    read_contacts(local_, local_ + "/W/m", problem);
    const Index rows = problem.row_count();
    LocalForm& form = problem.local.emplace();
    form.velocity = numbers(local_ + "/vectors/q", rows);
    form.delassus = matrix(local_ + "/W", rows, rows);
    const Index count = equality_count(local_ + "/V");
    if (const Index other = equality_count(local_ + "/R"); other != count) {
      fail(local_ + "/R/n", std::to_string(count) + ", as V has columns", std::to_string(other));
    }
    if (count == 0) return;
    LocalEqualities& equalities = problem.local_equalities.emplace();
    equalities.velocity = numbers(local_ + "/vectors/s", count);
    equalities.coupling = matrix(local_ + "/V", rows, count);
    equalities.delassus = matrix(local_ + "/R", count, count);
  }

  void read_global(FrictionProblem& problem, bool is_second) {
    const Index dimension = problem.dimension;
    const VectorX<double> friction = problem.friction, rolling = problem.rolling_friction;
    read_contacts(global_, global_ + "/H/n", problem);
    const auto differ = [](const VectorX<double>& a, const VectorX<double>& b) {
      return a.size() != b.size() || a != b;
    };
    if (is_second && (dimension != problem.dimension || differ(friction, problem.friction))) {
      fail(global_ + "/vectors/mu", "the contacts of " + local_, "others");
    }
    if (is_second && differ(rolling, problem.rolling_friction)) {
      fail(global_ + "/vectors/mu_r", "the contacts of " + local_, "others");
    }
    const Index rows = problem.row_count();
    const auto size = Index(number(global_ + "/M/m"));
    GlobalForm& form = problem.global.emplace();
    form.momentum = numbers(global_ + "/vectors/f", size);
    form.velocity = numbers(global_ + "/vectors/w", rows);
    form.mass = matrix(global_ + "/M", size, size);
    form.directions = matrix(global_ + "/H", size, rows);
    const Index count = equality_count(global_ + "/G");
    if (count == 0) return;
    GlobalEqualities& equalities = problem.global_equalities.emplace();
    equalities.velocity = numbers(global_ + "/vectors/b", count);
    equalities.directions = matrix(global_ + "/G", size, count);
  }

  /// @param row_count  the place in the file of the count of rows of all contacts.
  void read_contacts(const std::string& group, const std::string& row_count,
                     FrictionProblem& problem) {
    problem.friction = numbers(group + "/vectors/mu", {});
    problem.contact_count = problem.friction.size();
    if (problem.contact_count > std::numeric_limits<int>::max() / 5) {
      fail(group + "/vectors/mu", "fewer entries", std::to_string(problem.contact_count));
    }
    std::int64_t dimension = number(group + "/spacedim");
    // FCLIB counts the rows of a contact; three, of space alone, with five rows each is clear, too.
    if (rolling_ && dimension == 3 && number(row_count) == 5 * problem.contact_count &&
        problem.contact_count > 0) {
      dimension = 5;
    }
    if (rolling_ ? dimension != 5 : dimension != 2 && dimension != 3) {
      fail(group + "/spacedim", rolling_ ? "5, (n, t1, t2, m1, m2)" : "2 or 3",
           std::to_string(dimension));
    }
    problem.dimension = Index(dimension);
    if (rolling_) {
      problem.rolling_friction = numbers(group + "/vectors/mu_r", problem.contact_count);
    }
  }

  [[nodiscard]] Index equality_count(const std::string& group) const {
    return exists(group) ? Index(number(group + "/n")) : 0;
  }

  FrictionState state(const std::string& group, const FrictionProblem& problem) {
    const Index rows = problem.row_count(), size = problem.velocity_count().value_or(0);
    const Index count = problem.equality_count();
    FrictionState state{numbers(group + "/r", rows), {}, {}};
    if (exists(group + "/u")) state.contact_velocity = numbers(group + "/u", rows);
    if (size > 0 && exists(group + "/v")) state.velocity = numbers(group + "/v", size);
    if (count > 0 && exists(group + "/l")) state.multiplier = numbers(group + "/l", count);
    return state;
  }

  void read_info(const std::string& group, FrictionProblem& problem) {
    if (!exists(group)) return;
    for (const char* key : {"title", "description", "math_info"}) {
      std::string value = text(group + '/' + key);
      if (!value.empty()) problem.metadata.emplace_back(key, std::move(value));
    }
  }

  // --- matrices ---

  SparseMatrix matrix(const std::string& group, Index rows, Index columns) {
    for (const auto& [name, expected] : {std::pair("/m", rows), std::pair("/n", columns)}) {
      const std::int64_t got = number(group + name);
      if (got != expected) fail(group + name, std::to_string(expected), std::to_string(got));
    }
    const std::int64_t form = number(group + "/nz", -2);  // or the count of triplets
    std::vector<std::int64_t> indices = integers(group + "/i", {});
    std::vector<std::int64_t> others =
        integers(group + "/p", form >= 0 ? Index(form) : (form == -1 ? columns : rows) + 1);
    if (form < 0) others = expand(group + "/p", others, std::int64_t(indices.size()));
    const auto count = Index(others.size());
    const VectorX<double> values = numbers(group + "/x", {});
    require_entries(group + "/i", count, Index(indices.size()));
    require_entries(group + "/x", count, values.size());
    indices.resize(others.size());
    // Triplets: the library's code uses i for rows, its documentation p. If the indices fit only
    // the second convention, that one is used.
    const bool rows_in_p = form == -2 || (form >= 0 && !fit(indices, rows, others, columns) &&
                                          fit(others, rows, indices, columns));
    std::vector<Eigen::Triplet<double>> entries;
    entries.reserve(others.size());
    for (Index k = 0; k < count; ++k) {
      const int i = index(group + "/i", k, indices, rows_in_p ? columns : rows);
      const int p = index(group + "/p", k, others, rows_in_p ? rows : columns);
      entries.emplace_back(rows_in_p ? p : i, rows_in_p ? i : p, values(k));
    }
    SparseMatrix result(rows, columns);
    result.setFromTriplets(entries.begin(), entries.end());
    return result;
  }

  /// Converts the starts of columns or rows to the column or row of each entry.
  static std::vector<std::int64_t> expand(const std::string& name,
                                          const std::vector<std::int64_t>& starts,
                                          std::int64_t most) {
    std::vector<std::int64_t> indices;
    for (std::size_t k = 0; k < starts.size(); ++k) {
      if (k == 0 ? starts[0] != 0 : starts[k] < starts[k - 1] || starts[k] > most) {
        fail(name + " entry " + std::to_string(k),
             "numbers that ascend from 0 to at most " + std::to_string(most),
             std::to_string(starts[k]));
      }
      if (k > 0) indices.resize(std::size_t(starts[k]), std::int64_t(k) - 1);
    }
    return indices;
  }

  static void require_entries(const std::string& name, Index count, Index got) {
    if (got < count) {
      fail(name, "at least " + std::to_string(count) + " entries", std::to_string(got));
    }
  }
  static bool fit(const std::vector<std::int64_t>& row_indices, Index rows,
                  const std::vector<std::int64_t>& column_indices, Index columns) noexcept {
    const auto below = [](Index end) {
      return [end](std::int64_t k) { return k >= 0 && k < end; };
    };
    return std::all_of(row_indices.begin(), row_indices.end(), below(rows)) &&
           std::all_of(column_indices.begin(), column_indices.end(), below(columns));
  }
  static int index(const std::string& name, Index k, const std::vector<std::int64_t>& indices,
                   Index end) {
    const std::int64_t got = indices[std::size_t(k)];
    if (got < 0 || got >= end) {
      fail(name + " entry " + std::to_string(k), "an index in [0, " + std::to_string(end) + ")",
           std::to_string(got));
    }
    return int(got);
  }

  // --- data sets ---

  /// Whether an object exists at a path, including its groups.
  [[nodiscard]] bool exists(const std::string& path) const {
    for (std::size_t end = path.find('/');; end = path.find('/', end + 1)) {
      if (H5Lexists(file_.id(), path.substr(0, end).c_str(), H5P_DEFAULT) <= 0) return false;
      if (end == std::string::npos) break;
    }
    return H5Oexists_by_name(file_.id(), path.c_str(), H5P_DEFAULT) > 0;
  }

  /// Opens a data set of the expected class of numbers and returns the count of its numbers.
  Hdf5Handle open(const std::string& path, H5T_class_t expected_class, Index& count) const {
    if (!exists(path)) fail(path, "a data set", "none");
    Hdf5Handle set(H5Dopen2(file_.id(), path.c_str(), H5P_DEFAULT), H5Dclose);
    if (!set.valid()) fail(path, "a data set", "something else");
    const Hdf5Handle type(H5Dget_type(set.id()), H5Tclose);
    if (!type.valid() || H5Tget_class(type.id()) != expected_class) {
      fail(path,
           expected_class == H5T_INTEGER ? "whole numbers"
           : expected_class == H5T_FLOAT ? "real numbers"
                                         : "text",
           "another type");
    }
    // HDF5 allocates memory for numbers of the length in the file, up to 4 GB each.
    constexpr std::size_t longest_number = 16;
    const std::size_t length = H5Tget_size(type.id());
    if (expected_class != H5T_STRING && length > longest_number) {
      fail(path, "numbers of at most 16 bytes", std::to_string(length));
    }
    const Hdf5Handle space(H5Dget_space(set.id()), H5Sclose);
    const hssize_t points = space.valid() ? H5Sget_simple_extent_npoints(space.id()) : -1;
    // No compression of HDF5 expands a byte to more than this; zeros may not be stored at all.
    constexpr std::uint64_t most_of_a_byte = 1032;
    const std::uint64_t stored = H5Dget_storage_size(set.id());
    const bool held = stored <= byte_count_ && (std::uint64_t(points) <= byte_count_ ||
                                                std::uint64_t(points) / most_of_a_byte <= stored);
    if (points < 0 || !held) {
      fail(path, "as many entries as the file can hold", std::to_string(points));
    }
    count = Index(points);
    return set;
  }

  template <typename Number>
  void read_set(const Hdf5Handle& set, hid_t type, const std::string& path, Number* values) const {
    if (H5Dread(set.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) {
      fail(path, "data that can be read", "damaged ones");
    }
  }

  std::vector<std::int64_t> integers(const std::string& path, std::optional<Index> expected) const {
    Index count = 0;
    const Hdf5Handle set = open(path, H5T_INTEGER, count);
    if (expected && count != *expected) {
      fail(path, std::to_string(*expected) + " entries", std::to_string(count));
    }
    std::vector<std::int64_t> values(std::size_t(count) + 1);  // so that data() is not null
    read_set(set, H5T_NATIVE_INT64, path, values.data());
    values.pop_back();
    return values;
  }
  [[nodiscard]] std::int64_t number(const std::string& path, std::int64_t least = 0) const {
    const std::int64_t value = integers(path, 1)[0];
    constexpr std::int64_t most = std::numeric_limits<int>::max() - 1;
    if (value < least || value > most) {
      fail(path, "a number in [" + std::to_string(least) + ", " + std::to_string(most) + "]",
           std::to_string(value));
    }
    return value;
  }
  [[nodiscard]] VectorX<double> numbers(const std::string& path,
                                        std::optional<Index> expected) const {
    Index count = 0;
    const Hdf5Handle set = open(path, H5T_FLOAT, count);
    if (expected && count != *expected) {
      fail(path, std::to_string(*expected) + " entries", std::to_string(count));
    }
    VectorX<double> values(count);
    double nothing = 0;
    read_set(set, H5T_NATIVE_DOUBLE, path, count > 0 ? values.data() : &nothing);
    const Fault fault = carom::detail::finite_fault(path, values);
    if (!fault.empty()) throw BadInput(fault);
    return values;
  }
  [[nodiscard]] std::string text(const std::string& path) const {
    if (!exists(path)) return {};
    Index count = 0;
    const Hdf5Handle set = open(path, H5T_STRING, count);
    const Hdf5Handle type(H5Dget_type(set.id()), H5Tclose);
    const std::size_t size = H5Tget_size(type.id());
    if (count != 1 || H5Tis_variable_str(type.id()) != 0 || size > byte_count_) return {};
    std::string value(size + 1, '\0');
    read_set(set, type.id(), path, value.data());
    return one_line(value);
  }

  std::size_t byte_count_;
  Hdf5Handle file_;
  std::string local_, global_;  ///< Groups of the two forms.
  bool rolling_ = false;
};

}  // namespace

bool has_fclib() noexcept {
  return true;
}

FrictionProblem parse_fclib(std::string_view bytes) {
  const detail::Hdf5Silence silence;
  return FclibReader(bytes).read();
}

}  // namespace carom::files

#else

namespace carom::files {

bool has_fclib() noexcept {
  return false;
}

FrictionProblem parse_fclib(std::string_view /*bytes*/) {
  throw BadInput("expected a program that knows HDF5, got one built without it");
}

}  // namespace carom::files

#endif

namespace carom::files {

FrictionProblem read_fclib(const std::string& path) {
  const std::string bytes = read_file(path);
  try {
    return parse_fclib(bytes);
  } catch (const BadInput& fault) {
    throw BadInput(path + ": " + fault.what());
  }
}

}  // namespace carom::files
