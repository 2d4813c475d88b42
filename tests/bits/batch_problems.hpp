// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <carom/batch/solve_batch.hpp>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

#include <Eigen/Core>

namespace carom::bits {

/// Whole numbers that are the same everywhere.
class Integers {
 public:
  /// @return  a number from −size to size.
  int next(int size) {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return int((state_ >> 33) % unsigned(2 * size + 1)) - size;
  }

 private:
  std::uint64_t state_ = 1;
};

/// The pattern of bodies of these sizes and of contacts between two of them, or of one with the
/// ground, −1.
BatchPattern make_pattern(std::initializer_list<int> sizes,
                          std::initializer_list<std::pair<int, int>> contacts) {
  ContactProblem<double> problem(0.01);
  std::vector<Eigen::MatrixXd> rows;
  for (const int size : sizes) {
    rows.push_back(Eigen::MatrixXd::Ones(3, size));
    problem.add_body(Eigen::MatrixXd::Identity(size, size), Eigen::VectorXd::Zero(size));
  }
  const WeightedContact<double> law{0.5, {0.25, 1}, Eigen::Vector3d::Zero()};
  for (const auto& [body, other] : contacts) {
    if (other < 0) {
      problem.add_contact(body, rows[std::size_t(body)], law);
    } else {
      problem.add_contact(body, rows[std::size_t(body)], other, rows[std::size_t(other)], law);
    }
  }
  return BatchPattern(problem);
}

/// Numbers of problems, one problem's after the other's.
template <typename Scalar>
struct Ragged {
  std::vector<Scalar> numbers;
  std::vector<Index> offsets;

  void begin_problem() { offsets.push_back(Index(numbers.size())); }
  void add(int numerator, int denominator) {
    numbers.push_back(Scalar(numerator) / Scalar(denominator));
  }
  [[nodiscard]] BatchArray<const Scalar> view() const {
    return {numbers.data(), 0, offsets.data()};
  }
};

/// Problems of two patterns by turns, with room for their answers.
template <typename Scalar>
class Problems {
 public:
  Problems() {
    patterns_.push_back(make_pattern({6}, {{0, -1}, {0, -1}, {0, -1}}));
    patterns_.push_back(make_pattern({2, 3, 1}, {{0, -1}, {0, 1}, {1, 2}, {2, -1}}));
    for (int i = 0; i < 30; ++i) {
      numbers_.push_back(i % 5 == 2);
      add(patterns_[std::size_t(numbers_.back())], numbers_.back() == 0 ? sizes_a : sizes_b);
    }
    velocity_.resize(free_.numbers.size());
    impulse_.resize(bias_.numbers.size());
    reports_.resize(numbers_.size());
  }
  [[nodiscard]] BatchView<Scalar> view() const {
    BatchView<Scalar> view;
    view.count = Index(numbers_.size());
    view.patterns = patterns_.data();
    view.pattern_numbers = numbers_.data();
    view.pattern_count = int(patterns_.size());
    view.mass = mass_.view();
    view.free_velocity = free_.view();
    view.jacobian = jacobian_.view();
    view.friction = friction_.view();
    view.regularization = weights_.view();
    view.bias = bias_.view();
    return view;
  }
  [[nodiscard]] BatchAnswers<Scalar> answers() {
    return {{velocity_.data(), 0, free_.offsets.data()},
            {impulse_.data(), 0, bias_.offsets.data()},
            reports_.data()};
  }
  /// FNV-1a of the answers' bits and of the reports.
  [[nodiscard]] std::uint64_t checksum() const {
    std::uint64_t hash = 0xcbf29ce484222325ull;
    const auto take = [&hash](std::uint64_t word) { hash = (hash ^ word) * 0x100000001b3ull; };
    using Word = std::conditional_t<sizeof(Scalar) == 4, std::uint32_t, std::uint64_t>;
    const auto take_bits = [&](const Scalar& number) { take(std::bit_cast<Word>(number)); };
    for (const Scalar& number : velocity_) take_bits(number);
    for (const Scalar& number : impulse_) take_bits(number);
    for (const auto& report : reports_) {
      take(std::uint64_t(report.status));
      take(std::uint64_t(report.iterations));
      take_bits(report.residual);
      take_bits(report.error_bound);
    }
    return hash;
  }

 private:
  static constexpr std::initializer_list<int> sizes_a = {6}, sizes_b = {2, 3, 1};

  void add(const BatchPattern& pattern, const std::initializer_list<int>& sizes) {
    for (Ragged<Scalar>* list : {&mass_, &free_, &jacobian_, &friction_, &weights_, &bias_}) {
      list->begin_problem();
    }
    for (const int size : sizes) {  // a symmetric matrix whose diagonal exceeds its row
      std::vector<int> lower;
      for (int i = 0; i < size * size; ++i) lower.push_back(integers_.next(7));
      for (int i = 0; i < size * size; ++i) {
        const int row = i / size, column = i % size;
        const int place = row > column ? i : column * size + row;
        mass_.add(lower[std::size_t(place)] + (row == column ? 60 : 0), 32);
      }
      for (int i = 0; i < size; ++i) free_.add(integers_.next(100), 64);
    }
    for (int i = 0; i < pattern.jacobian_count(); ++i) jacobian_.add(integers_.next(100), 64);
    for (int k = 0; k < pattern.contact_count(); ++k) {
      friction_.add(9 + integers_.next(8), 16);
      weights_.add(1, 4096);
      weights_.add(1, 1024);
      for (int i = 0; i < 3; ++i) bias_.add(integers_.next(8), 64);
    }
  }

  Integers integers_;
  std::vector<BatchPattern> patterns_;
  std::vector<int> numbers_;
  Ragged<Scalar> mass_, free_, jacobian_, friction_, weights_, bias_;
  std::vector<Scalar> velocity_, impulse_;
  std::vector<BatchProblemReport<Scalar>> reports_;
};

}  // namespace carom::bits
