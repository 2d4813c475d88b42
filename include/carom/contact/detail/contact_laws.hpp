// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "carom/cones/friction_cone_batch.hpp"
#include "carom/contact/compliance.hpp"

namespace carom::inline CAROM_ABI::detail {

/// The laws of a problem's contacts, number by number in arrays, for batches.
/// @note  Keeps its memory: no allocation for as many contacts as there were before.
template <RealScalar Scalar>
class ContactLaws {
 public:
  void clear() noexcept {
    for (std::vector<Scalar>* numbers : arrays()) numbers->clear();
    rigid_.clear();
    rigid_count_ = 0;
  }
  void append(const WeightedContact<Scalar>& law) {
    for (std::vector<Scalar>* numbers : arrays()) numbers->push_back(Scalar(0));
    rigid_.push_back(0);
    set(Index(rigid_.size()) - 1, law);
  }
  void set(Index contact, const WeightedContact<Scalar>& law) noexcept {
    const auto& [mu, weights, bias, rigid] = law;
    const Scalar numbers[] = {mu, weights.tangent, weights.normal, bias(0), bias(1), bias(2)};
    const auto all = arrays();
    for (std::size_t k = 0; k < all.size(); ++k) (*all[k])[std::size_t(contact)] = numbers[k];
    unsigned char& mark = rigid_[std::size_t(contact)];
    rigid_count_ += Index(rigid) - Index(mark);
    mark = rigid ? 1 : 0;
  }
  void make_rigid() noexcept {
    for (unsigned char& rigid : rigid_) rigid = 1;
    rigid_count_ = Index(rigid_.size());
  }

  [[nodiscard]] WeightedContact<Scalar> law(Index contact) const noexcept {
    const auto i = std::size_t(contact);
    return {friction_[i],
            {tangent_regularization_[i], normal_regularization_[i]},
            {bias_tangent1_[i], bias_tangent2_[i], bias_normal_[i]},
            rigid_[i] != 0};
  }
  [[nodiscard]] Index rigid_count() const noexcept { return rigid_count_; }

  [[nodiscard]] PerContact<Scalar> frictions() const noexcept { return {friction_.data()}; }
  [[nodiscard]] PerContact<Scalar> tangent_regularizations() const noexcept {
    return {tangent_regularization_.data()};
  }
  [[nodiscard]] PerContact<Scalar> normal_regularizations() const noexcept {
    return {normal_regularization_.data()};
  }
  [[nodiscard]] TripleArrays<const Scalar> bias_velocities() const noexcept {
    return {bias_tangent1_.data(), bias_tangent2_.data(), bias_normal_.data()};
  }

 private:
  [[nodiscard]] std::array<std::vector<Scalar>*, 6> arrays() noexcept {
    return {&friction_,      &tangent_regularization_, &normal_regularization_,
            &bias_tangent1_, &bias_tangent2_,          &bias_normal_};
  }

  std::vector<Scalar> friction_, tangent_regularization_, normal_regularization_;
  std::vector<Scalar> bias_tangent1_, bias_tangent2_, bias_normal_;
  std::vector<unsigned char> rigid_;
  Index rigid_count_ = 0;
};

}  // namespace carom::inline CAROM_ABI::detail
