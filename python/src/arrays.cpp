// SPDX-License-Identifier: BSD-3-Clause
#include "arrays.hpp"

#include <algorithm>
#include <cstdint>
#include <nanobind/stl/string.h>
#include <stdexcept>
#include <utility>

namespace carom::python {
namespace {

/// Ends with the message unless what went wrong is no fault of the value: an interrupt, no memory.
void pass_on_unless_fault(nb::python_error& error) {
  const bool fault = error.matches(PyExc_Exception) && !error.matches(PyExc_MemoryError);
  if (!fault) throw std::move(error);
}

/// str(object).
std::string text_of(nb::handle object) {
  const nb::object text = nb::steal(PyObject_Str(object.ptr()));
  if (!text.is_valid()) throw nb::python_error();
  return nb::cast<std::string>(text);
}

nb::object numpy() {
  return nb::module_::import_("numpy");
}

/// What an array of numpy holds, as one letter: f, i, u, b, c, O, U and others.
std::string kind_of(const nb::object& array) {
  const nb::object type = array.attr("dtype"), kind = type.attr("kind");
  return text_of(kind);
}

/// Doubles of the processor in C order, out of anything that numpy makes an array of real numbers.
nb::object copy_of(nb::handle value, const std::string& item) {
  try {
    nb::object array = numpy().attr("asarray")(value);
    if (kind_of(array) == "O" && nb::hasattr(value, "__dlpack__")) {
      array = numpy().attr("from_dlpack")(value);
    }
    const auto kind = kind_of(array);
    if (std::string("biuf").find(kind) == std::string::npos) {
      const nb::object type = array.attr("dtype");
      refuse(item, "an array of real numbers", "one of type " + text_of(type));
    }
    return numpy().attr("array")(array, nb::arg("dtype") = "float64", nb::arg("order") = "C");
  } catch (nb::python_error& error) {
    pass_on_unless_fault(error);
    refuse(item, "an array of real numbers", describe(value));
  }
}

template <typename Number>
nb::object fresh_array(const Number* numbers, const std::vector<Index>& shape) {
  std::size_t count = 1;
  std::vector<std::size_t> sizes;
  for (const Index size : shape) {
    sizes.push_back(std::size_t(size));
    count *= std::size_t(size);
  }
  Number* const fresh = new Number[std::max<std::size_t>(count, 1)];
  const nb::capsule owner(fresh,
                          [](void* memory) noexcept { delete[] static_cast<Number*>(memory); });
  std::copy_n(numbers, count, fresh);
  return nb::cast(nb::ndarray<nb::numpy, Number>(fresh, sizes.size(), sizes.data(), owner));
}

}  // namespace

void refuse(const std::string& item, const std::string& expected, const std::string& got) {
  throw std::invalid_argument(item + ": expected " + expected + ", got " + got);
}

std::string describe(nb::handle value) {
  constexpr std::size_t most = 40;
  try {
    if (value.is_none()) return "None";
    if (nb::hasattr(value, "shape") && nb::hasattr(value, "dtype")) {
      const nb::object shape = value.attr("shape"), type = value.attr("dtype");
      return "an array of shape " + text_of(shape) + " and type " + text_of(type);
    }
    const bool plain = PyLong_Check(value.ptr()) || PyFloat_Check(value.ptr()) ||
                       PyUnicode_Check(value.ptr()) || PyComplex_Check(value.ptr());
    if (!plain) {
      const nb::object name = value.type().attr("__name__");
      return "an object of type " + text_of(name);
    }
    const std::string text = nb::repr(value).c_str();
    return text.size() > most ? text.substr(0, most) + "..." : text;
  } catch (nb::python_error& error) {
    pass_on_unless_fault(error);
    return "something that cannot be shown";
  } catch (const nb::cast_error&) {
    return "something that cannot be shown";
  }
}

std::string shape_text(const std::vector<Index>& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i > 0 ? ", " : "") + (shape[i] < 0 ? std::string("any") : std::to_string(shape[i]));
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

double read_number(nb::handle value, const std::string& item) {
  const double number = PyFloat_AsDouble(value.ptr());
  if (number == -1 && PyErr_Occurred()) {
    nb::python_error error;
    pass_on_unless_fault(error);
    refuse(item, "a number", describe(value));
  }
  return number;
}

Index read_index(nb::handle value, const std::string& item) {
  const nb::object whole = nb::steal(PyNumber_Index(value.ptr()));
  const long long number = whole.is_valid() ? PyLong_AsLongLong(whole.ptr()) : -1;
  if (number == -1 && PyErr_Occurred()) {
    nb::python_error error;
    pass_on_unless_fault(error);
    refuse(item, "a whole number", describe(value));
  }
  return Index(number);
}

GivenArray::GivenArray(nb::handle value, std::string item) : item_(std::move(item)) {
  bool usable = nb::try_cast<Array>(value, array_, false);
  if (usable) {
    usable = reinterpret_cast<std::uintptr_t>(array_.data()) % alignof(double) == 0;
    for (std::size_t axis = 0; axis < array_.ndim(); ++axis) {
      usable = usable && array_.stride(axis) >= 0;
    }
  }
  if (usable) return;
  const nb::object copy = copy_of(value, item_);
  if (!nb::try_cast<Array>(copy, array_, false)) {
    refuse(item_, "an array of real numbers", describe(value));
  }
}

std::vector<Index> GivenArray::shape() const {
  std::vector<Index> sizes;
  for (Index axis = 0; axis < rank(); ++axis) sizes.push_back(size(axis));
  return sizes;
}

void GivenArray::require_rank(Index wanted) const {
  if (rank() == wanted) return;
  refuse(item_, "an array of " + std::to_string(wanted) + (wanted == 1 ? " axis" : " axes"),
         "one of shape " + shape_text(shape()));
}

void GivenArray::require_shape(const std::vector<Index>& wanted) const {
  bool same = rank() == Index(wanted.size());
  for (Index axis = 0; same && axis < rank(); ++axis) {
    same = wanted[std::size_t(axis)] < 0 || wanted[std::size_t(axis)] == size(axis);
  }
  if (!same) refuse(item_, "shape " + shape_text(wanted), shape_text(shape()));
}

GivenMatrix GivenArray::matrix() const {
  require_rank(2);
  return {data(), size(0), size(1),
          Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>(stride(1), stride(0))};
}

GivenMatrix GivenArray::rows() const {
  if (rank() != 1) return matrix();
  return {data(), 1, size(0), Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>(stride(0), 1)};
}

GivenVector GivenArray::vector() const {
  require_rank(1);
  return {data(), size(0), Eigen::InnerStride<Eigen::Dynamic>(stride(0))};
}

VectorX<double> GivenArray::flat() const {
  VectorX<double> numbers(count());
  std::vector<Index> at(std::size_t(rank()), 0);
  for (Index i = 0; i < numbers.size(); ++i) {
    Index place = 0;
    for (Index axis = 0; axis < rank(); ++axis) place += at[std::size_t(axis)] * stride(axis);
    numbers(i) = data()[place];
    for (Index axis = rank(); axis-- > 0;) {
      if (++at[std::size_t(axis)] < size(axis)) break;
      at[std::size_t(axis)] = 0;
    }
  }
  return numbers;
}

nb::object make_array(const double* numbers, const std::vector<Index>& shape) {
  return fresh_array(numbers, shape);
}
nb::object make_array(const VectorX<double>& numbers) {
  return fresh_array(numbers.data(), {numbers.size()});
}
nb::object make_array(const MatrixX<double>& numbers) {
  const MatrixX<double> by_rows = numbers.transpose();
  return fresh_array(by_rows.data(), {numbers.rows(), numbers.cols()});
}
nb::object make_index_array(const std::vector<Index>& numbers) {
  const std::vector<std::int64_t> wide(numbers.begin(), numbers.end());
  return fresh_array(wide.data(), {Index(wide.size())});
}

}  // namespace carom::python
