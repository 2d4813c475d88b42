// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <mpi.h>
#include <string>
#include <vector>

#include "carom/core/invalid_input.hpp"
#include "carom/core/scalar.hpp"

namespace carom::distributed {

/// The parameters that identify the run of a checkpoint. A run continues only from one of its own.
struct HeapParameters {
  std::int64_t bodies = 0, layers = 0;
  std::int64_t shape = 0;  ///< examples::PileBodies
  std::int64_t law = 0;    ///< FrictionLaw
  std::int64_t rigid = 0;

  /// The first parameter that differs between a file and this run; empty if there is none.
  [[nodiscard]] Fault difference(const std::string& file, const HeapParameters& wanted) const;
};

/// The state of bodies, by their indices: velocity and displacement, six numbers each.
struct HeapState {
  static constexpr int width = 12;

  std::vector<std::int64_t> bodies;
  std::vector<double> numbers;  ///< width per body
};

/// The state of a heap in an HDF5 file, written by any number of ranks and read by any other.
///
/// The file has the attributes of HeapParameters and `step`, the last solved step. It has the sets
/// `body`, N numbers, and `state`, N × 12, in the order of the ranks that wrote it. It is written
/// under another name and then renamed, so that it is always complete, also if a process is killed.
class HeapCheckpoint {
 public:
  explicit HeapCheckpoint(std::string path) : path_(std::move(path)) {}

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] bool exists() const;

  /// Writes the own bodies of all ranks, one rank after the other, by rank 0. All ranks call it. If
  /// the file cannot be written, all throw std::invalid_argument.
  void write(MPI_Comm communicator, const HeapParameters& parameters, std::int64_t step,
             const HeapState& own) const;

  /// Reads the numbers that a rank wants, in pieces, on this rank only. Throws
  /// std::invalid_argument if the file is not a checkpoint of the run, or contains numbers that are
  /// not finite.
  /// @param wants  whether the numbers of a body are wanted.
  /// @param take   take(body, numbers) is called for each such body, with HeapState::width numbers.
  /// @return  the last solved step.
  std::int64_t read(const HeapParameters& parameters,
                    const std::function<bool(std::int64_t)>& wants,
                    const std::function<void(std::int64_t, const double*)>& take) const;

 private:
  std::string path_;
};

}  // namespace carom::distributed
