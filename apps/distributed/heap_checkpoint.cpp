// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/heap_checkpoint.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <fcntl.h>
#include <hdf5.h>
#include <unistd.h>
#include <utility>

#include "carom/adapters/petsc_problem.hpp"

namespace carom::distributed {
namespace {

constexpr std::array<const char*, 5> names{"bodies", "layers", "shape", "law", "rigid"};

std::array<std::int64_t, 5> values(const HeapParameters& p) {
  return {p.bodies, p.layers, p.shape, p.law, p.rigid};
}

/// A handle of HDF5 that closes itself.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  [[nodiscard]] hid_t id() const noexcept { return id_; }
  [[nodiscard]] bool good() const noexcept { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

bool write_attribute(hid_t file, const char* name, std::int64_t value) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle attribute(
      H5Acreate2(file, name, H5T_STD_I64LE, space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  return attribute.good() && H5Awrite(attribute.id(), H5T_NATIVE_INT64, &value) >= 0;
}

bool read_attribute(hid_t file, const char* name, std::int64_t& value) {
  if (H5Aexists(file, name) <= 0) return false;
  const Handle attribute(H5Aopen(file, name, H5P_DEFAULT), H5Aclose);
  return attribute.good() && H5Aread(attribute.id(), H5T_NATIVE_INT64, &value) >= 0;
}

/// Rows of a set in the file and in memory.
struct Rows {
  hsize_t first, count, width;
};

/// Copies rows between a set and memory: H5Dwrite, or H5Dread.
template <typename Move>
bool move_rows(hid_t set, const Rows& rows, const Move& move) {
  if (rows.count == 0) return true;
  const hsize_t start[2] = {rows.first, 0}, count[2] = {rows.count, rows.width};
  const int rank = rows.width > 1 ? 2 : 1;
  const Handle there(H5Dget_space(set), H5Sclose),
      here(H5Screate_simple(rank, count, nullptr), H5Sclose);
  return there.good() && here.good() &&
         H5Sselect_hyperslab(there.id(), H5S_SELECT_SET, start, nullptr, count, nullptr) >= 0 &&
         move(here.id(), there.id()) >= 0;
}

/// The file that rank 0 writes.
class Writer {
 public:
  Writer(const std::string& path, hsize_t total)
      : file_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose),
        bodies_(make(file_.id(), "body", H5T_STD_I64LE, {total, 1}), H5Dclose),
        numbers_(make(file_.id(), "state", H5T_IEEE_F64LE, {total, HeapState::width}), H5Dclose) {}

  [[nodiscard]] bool good() const { return file_.good() && bodies_.good() && numbers_.good(); }
  bool write_header(const HeapParameters& parameters, std::int64_t step) const {
    bool good = write_attribute(file_.id(), "step", step);
    for (std::size_t k = 0; k < names.size(); ++k) {
      good = write_attribute(file_.id(), names[k], values(parameters)[k]) && good;
    }
    return good;
  }
  bool write(hsize_t first, const HeapState& state) const {
    const hsize_t count = state.bodies.size();
    return move_rows(bodies_.id(), {first, count, 1},
                     [&](hid_t here, hid_t there) {
                       return H5Dwrite(bodies_.id(), H5T_NATIVE_INT64, here, there, H5P_DEFAULT,
                                       state.bodies.data());
                     }) &&
           move_rows(numbers_.id(), {first, count, HeapState::width}, [&](hid_t here, hid_t there) {
             return H5Dwrite(numbers_.id(), H5T_NATIVE_DOUBLE, here, there, H5P_DEFAULT,
                             state.numbers.data());
           });
  }

 private:
  static hid_t make(hid_t file, const char* name, hid_t type, std::array<hsize_t, 2> size) {
    if (file < 0) return -1;
    const Handle space(H5Screate_simple(size[1] > 1 ? 2 : 1, size.data(), nullptr), H5Sclose);
    return H5Dcreate2(file, name, type, space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  }

  Handle file_, bodies_, numbers_;
};

/// Receives the state of a rank on rank 0.
HeapState receive(MPI_Comm communicator, int from) {
  HeapState state;
  std::int64_t count = 0;
  MPI_Recv(&count, 1, MPI_INT64_T, from, 0, communicator, MPI_STATUS_IGNORE);
  state.bodies.resize(std::size_t(count));
  state.numbers.resize(std::size_t(count) * HeapState::width);
  MPI_Recv(state.bodies.data(), int(count), MPI_INT64_T, from, 1, communicator, MPI_STATUS_IGNORE);
  MPI_Recv(state.numbers.data(), int(state.numbers.size()), MPI_DOUBLE, from, 2, communicator,
           MPI_STATUS_IGNORE);
  return state;
}

void send(MPI_Comm communicator, const HeapState& state) {
  const std::int64_t count = std::int64_t(state.bodies.size());
  MPI_Send(&count, 1, MPI_INT64_T, 0, 0, communicator);
  MPI_Send(state.bodies.data(), int(count), MPI_INT64_T, 0, 1, communicator);
  MPI_Send(state.numbers.data(), int(state.numbers.size()), MPI_DOUBLE, 0, 2, communicator);
}

/// Renames a file to its final name after it is written to the disk.
bool put_in_place(const std::string& from, const std::string& to) {
  const int file = ::open(from.c_str(), O_RDONLY | O_CLOEXEC);
  const bool kept = file >= 0 && ::fsync(file) == 0;
  if (file >= 0) ::close(file);
  return kept && std::rename(from.c_str(), to.c_str()) == 0;
}

}  // namespace

Fault HeapParameters::difference(const std::string& file, const HeapParameters& wanted) const {
  for (std::size_t k = 0; k < names.size(); ++k) {
    const std::int64_t here = values(*this)[k], there = values(wanted)[k];
    if (here == there) continue;
    return file + ": " + names[k] + ": expected " + std::to_string(there) + ", as asked for, got " +
           std::to_string(here);
  }
  return {};
}

bool HeapCheckpoint::exists() const {
  return ::access(path_.c_str(), F_OK) == 0;
}

void HeapCheckpoint::write(MPI_Comm communicator, const HeapParameters& parameters,
                           std::int64_t step, const HeapState& own) const {
  int rank = 0, rank_count = 1;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &rank_count);
  std::int64_t count = std::int64_t(own.bodies.size()), total = 0;
  MPI_Reduce(&count, &total, 1, MPI_INT64_T, MPI_SUM, 0, communicator);
  Fault fault;
  if (rank == 0) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    const std::string beside = path_ + ".new";
    bool good = false;
    {
      const Writer writer(beside, hsize_t(total));
      good = writer.good() && writer.write_header(parameters, step) && writer.write(0, own);
      hsize_t first = own.bodies.size();
      for (int from = 1; from < rank_count; ++from) {
        const HeapState state = receive(communicator, from);
        good = good && writer.write(first, state);
        first += state.bodies.size();
      }
    }
    if (!good || !put_in_place(beside, path_))
      fault = path_ + ": expected a file that can be written";
  } else {
    send(communicator, own);
  }
  reject_together(communicator, fault);
}

std::int64_t HeapCheckpoint::read(
    const HeapParameters& parameters, const std::function<bool(std::int64_t)>& wants,
    const std::function<void(std::int64_t, const double*)>& take) const {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const auto require = [&](bool good) {
    if (!good) carom::detail::reject_if(path_ + ": expected a checkpoint of a heap");
  };
  const Handle file(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  require(file.good());
  std::int64_t step = 0;
  std::array<std::int64_t, 5> found{};
  bool good = read_attribute(file.id(), "step", step);
  for (std::size_t k = 0; k < names.size(); ++k) {
    good = good && read_attribute(file.id(), names[k], found[k]);
  }
  require(good);
  carom::detail::reject_if(
      HeapParameters{found[0], found[1], found[2], found[3], found[4]}.difference(path_,
                                                                                  parameters));
  const Handle bodies(H5Dopen2(file.id(), "body", H5P_DEFAULT), H5Dclose);
  const Handle numbers(H5Dopen2(file.id(), "state", H5P_DEFAULT), H5Dclose);
  require(bodies.good() && numbers.good());
  const Handle space(H5Dget_space(bodies.id()), H5Sclose);
  const auto total = hsize_t(std::max<hssize_t>(0, H5Sget_simple_extent_npoints(space.id())));
  require(std::int64_t(total) == parameters.bodies);
  constexpr hsize_t piece = 1 << 16;  // rows in memory at a time
  HeapState state;
  for (hsize_t first = 0; first < total; first += piece) {
    const hsize_t count = std::min(piece, total - first);
    state.bodies.resize(count);
    state.numbers.resize(count * HeapState::width);
    require(move_rows(bodies.id(), {first, count, 1}, [&](hid_t here, hid_t there) {
      return H5Dread(bodies.id(), H5T_NATIVE_INT64, here, there, H5P_DEFAULT, state.bodies.data());
    }));
    require(move_rows(numbers.id(), {first, count, HeapState::width}, [&](hid_t here, hid_t there) {
      return H5Dread(numbers.id(), H5T_NATIVE_DOUBLE, here, there, H5P_DEFAULT,
                     state.numbers.data());
    }));
    for (hsize_t k = 0; k < count; ++k) {
      const std::int64_t body = state.bodies[k];
      if (!wants(body)) continue;
      const double* const row = state.numbers.data() + k * HeapState::width;
      for (int i = 0; i < HeapState::width; ++i) {
        if (carom::detail::is_finite(row[i])) continue;
        const char* const field = i < 6 ? ": velocity" : ": displacement";
        carom::detail::reject_if(carom::detail::fault(
            carom::detail::entry(path_ + ": body " + std::to_string(body) + field, i % 6),
            "a finite number", row[i]));
      }
      take(body, row);
    }
  }
  return step;
}

}  // namespace carom::distributed
