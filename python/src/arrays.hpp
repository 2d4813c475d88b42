// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <initializer_list>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <string>
#include <vector>

#include "carom/core/scalar.hpp"

/// @file
/// Numbers on their way between Python and carom. What cannot be read is a std::invalid_argument,
/// which Python sees as ValueError, with the item in front: "body 3: free velocity: expected ...".
namespace carom::python {

namespace nb = nanobind;

/// A matrix in memory of the caller, whatever its strides.
using GivenMatrix = Eigen::Map<const MatrixX<double>, Eigen::Unaligned,
                               Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;
/// The Jacobian of a contact on a body of six velocities, rows one after the other.
using GivenBodyRows = Eigen::Map<const Eigen::Matrix<double, 3, 6, Eigen::RowMajor>>;
using GivenVector =
    Eigen::Map<const VectorX<double>, Eigen::Unaligned, Eigen::InnerStride<Eigen::Dynamic>>;

/// Refuses a value: "item: expected ..., got ...".
[[noreturn]] void refuse(const std::string& item, const std::string& expected,
                         const std::string& got);
/// What a Python object is, short enough for a message.
[[nodiscard]] std::string describe(nb::handle value);
/// "(3, 4)".
[[nodiscard]] std::string shape_text(const std::vector<Index>& shape);

/// A number out of anything that has __float__ or __index__.
[[nodiscard]] double read_number(nb::handle value, const std::string& item);
/// A whole number out of anything that has __index__.
[[nodiscard]] Index read_index(nb::handle value, const std::string& item);

/// Doubles of any array-like object: in its own memory where that holds doubles of the processor
/// with strides that are not negative, else in a copy.
class GivenArray {
 public:
  /// @param item  the name in messages.
  GivenArray(nb::handle value, std::string item);

  [[nodiscard]] Index rank() const noexcept { return Index(array_.ndim()); }
  [[nodiscard]] Index size(Index axis) const noexcept { return Index(array_.shape(axis)); }
  [[nodiscard]] Index stride(Index axis) const noexcept { return Index(array_.stride(axis)); }
  [[nodiscard]] const double* data() const noexcept { return array_.data(); }
  [[nodiscard]] const std::string& item() const noexcept { return item_; }
  [[nodiscard]] std::vector<Index> shape() const;
  /// The number of all entries.
  [[nodiscard]] Index count() const noexcept { return Index(array_.size()); }

  /// Refuses another rank.
  void require_rank(Index rank) const;
  /// Refuses another shape; −1 stands for any size.
  void require_shape(const std::vector<Index>& shape) const;
  /// Two axes as a matrix.
  [[nodiscard]] GivenMatrix matrix() const;
  /// Two axes, or one as a matrix of one row.
  [[nodiscard]] GivenMatrix rows() const;
  /// One axis as a vector.
  [[nodiscard]] GivenVector vector() const;
  /// All entries in C order.
  [[nodiscard]] VectorX<double> flat() const;

 private:
  using Array = nb::ndarray<const double, nb::device::cpu>;
  Array array_;
  std::string item_;
};

/// A fresh numpy array of that shape in C order.
[[nodiscard]] nb::object make_array(const double* numbers, const std::vector<Index>& shape);
[[nodiscard]] nb::object make_array(const VectorX<double>& numbers);
[[nodiscard]] nb::object make_array(const MatrixX<double>& numbers);
[[nodiscard]] nb::object make_index_array(const std::vector<Index>& numbers);

}  // namespace carom::python
