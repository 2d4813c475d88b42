// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "carom/impact/restitution.hpp"
#include "carom/variational/detail/evaluators.hpp"

namespace carom::cli {

/// A smart pointer whose copy contains a copy of its object.
template <typename Held>
class Cloned {
 public:
  explicit Cloned(std::unique_ptr<Held> held) : held_(std::move(held)) {}
  Cloned(const Cloned& other) : held_(other.held_->clone()) {}
  Cloned(Cloned&&) noexcept = default;
  Cloned& operator=(Cloned other) noexcept {
    held_ = std::move(other.held_);
    return *this;
  }
  ~Cloned() = default;
  [[nodiscard]] Held& operator*() const noexcept { return *held_; }
  [[nodiscard]] Held* operator->() const noexcept { return held_.get(); }

 private:
  std::unique_ptr<Held> held_;
};

/// Any mechanical system without constraints, as one type: the stepper of `carom simulate` is
/// compiled once and not once per system.
class AnySystem {
 public:
  using scalar_type = double;
  using Vector = VectorX<double>;
  using Matrix = MatrixX<double>;

  template <LagrangianSystemLike System>
  explicit AnySystem(const System& system) : faces_(std::make_unique<FacesOf<System>>(system)) {
    static_assert(!ConstrainedSystemLike<System>);
  }

  [[nodiscard]] Index size() const noexcept { return faces_->size(); }
  void write_lagrangian(const Vector& q, const Vector& v, double t,
                        LagrangianDerivatives<double>& out) const noexcept {
    faces_->write_lagrangian(q, v, t, out);
  }
  void write_lagrangian_curvature(const Vector& q, const Vector& v, double t,
                                  LagrangianDerivatives<double>& out) const noexcept {
    faces_->write_lagrangian_curvature(q, v, t, out);
  }
  void write_force(const Vector& q, const Vector& v, double t, Vector& out, Matrix& by_q,
                   Matrix& by_v) const noexcept {
    faces_->write_force(q, v, t, out, by_q, by_v);
  }
  [[nodiscard]] Index gap_count() const noexcept { return faces_->gap_count(); }
  void write_gaps(const Vector& q, Vector& out) const noexcept { faces_->write_gaps(q, out); }
  void write_gap_gradients(const Vector& q, Matrix& out) const noexcept {
    faces_->write_gap_gradients(q, out);
  }
  /// 0 for a system without friction.
  [[nodiscard]] double friction(Index contact) const noexcept { return faces_->friction(contact); }
  void write_tangents(const Vector& q, Index contact, Matrix& out) const noexcept {
    faces_->write_tangents(q, contact, out);
  }

 private:
  struct Faces {
    virtual ~Faces() = default;
    [[nodiscard]] virtual std::unique_ptr<Faces> clone() const = 0;
    [[nodiscard]] virtual Index size() const noexcept = 0;
    virtual void write_lagrangian(const Vector& q, const Vector& v, double t,
                                  LagrangianDerivatives<double>& out) noexcept = 0;
    virtual void write_lagrangian_curvature(const Vector& q, const Vector& v, double t,
                                            LagrangianDerivatives<double>& out) noexcept = 0;
    virtual void write_force(const Vector& q, const Vector& v, double t, Vector& out, Matrix& by_q,
                             Matrix& by_v) noexcept = 0;
    [[nodiscard]] virtual Index gap_count() const noexcept = 0;
    virtual void write_gaps(const Vector& q, Vector& out) noexcept = 0;
    virtual void write_gap_gradients(const Vector& q, Matrix& out) noexcept = 0;
    [[nodiscard]] virtual double friction(Index contact) const noexcept = 0;
    virtual void write_tangents(const Vector& q, Index contact, Matrix& out) const noexcept = 0;
  };

  /// The system, and the numbers that differentiate its functions.
  template <typename System>
  class FacesOf final : public Faces {
   public:
    explicit FacesOf(const System& system) : system_(system) {
      lagrangian_.prepare(system_);
      force_.prepare(system_);
      gaps_.prepare(system_);
    }
    [[nodiscard]] std::unique_ptr<Faces> clone() const override {
      return std::make_unique<FacesOf>(system_);
    }
    [[nodiscard]] Index size() const noexcept override { return system_.size(); }
    void write_lagrangian(const Vector& q, const Vector& v, double t,
                          LagrangianDerivatives<double>& out) noexcept override {
      lagrangian_.write_gradient(system_, q, v, t, out);
    }
    void write_lagrangian_curvature(const Vector& q, const Vector& v, double t,
                                    LagrangianDerivatives<double>& out) noexcept override {
      lagrangian_.write_curvature(system_, q, v, t, out);
    }
    void write_force(const Vector& q, const Vector& v, double t, Vector& out, Matrix& by_q,
                     Matrix& by_v) noexcept override {
      if constexpr (ForceEvaluator<System>::present) {
        force_.evaluate(system_, q, v, t);
        out = force_.value;
        by_q = force_.by_q;
        by_v = force_.by_v;
      } else {
        out.setZero();
        by_q.setZero();
        by_v.setZero();
      }
    }
    [[nodiscard]] Index gap_count() const noexcept override { return Gaps::count(system_); }
    void write_gaps(const Vector& q, Vector& out) noexcept override {
      gaps_.write_values(system_, q);
      out = gaps_.values;
    }
    void write_gap_gradients(const Vector& q, Matrix& out) noexcept override {
      gaps_.write_gradients(system_, q);
      out = gaps_.gradients;
    }
    [[nodiscard]] double friction(Index contact) const noexcept override {
      if constexpr (FrictionalSystemLike<System>) return system_.friction(contact);
      return 0;
    }
    void write_tangents(const Vector& q, Index contact, Matrix& out) const noexcept override {
      if constexpr (FrictionalSystemLike<System>) {
        system_.write_tangents(q, contact, out);
      } else {
        out.setZero();
      }
    }

   private:
    using Gaps = LevelFunctions<System, LevelKind::gaps>;
    System system_;
    LagrangianEvaluator<System> lagrangian_;
    ForceEvaluator<System> force_;
    Gaps gaps_;
  };

  Cloned<Faces> faces_;
};

/// Any impact law with a restitution R and an order of reflections, as one type: elastic if R = 1,
/// otherwise the blend with the plastic outcome.
class AnyImpactLaw {
 public:
  template <typename Order>
  AnyImpactLaw(double restitution, const Order& order) : law_(make(restitution, order)) {}

  void prepare(const ImpactProblem<double>& problem) { law_->prepare(problem); }
  ImpactReport<double> resolve(const ImpactProblem<double>& problem,
                               VectorX<double>& momentum) noexcept {
    return law_->resolve(problem, momentum);
  }
  [[nodiscard]] std::span<const double> impulses() const noexcept { return law_->impulses(); }

 private:
  struct Law {
    virtual ~Law() = default;
    [[nodiscard]] virtual std::unique_ptr<Law> clone() const = 0;
    virtual void prepare(const ImpactProblem<double>& problem) = 0;
    virtual ImpactReport<double> resolve(const ImpactProblem<double>& problem,
                                         VectorX<double>& momentum) noexcept = 0;
    [[nodiscard]] virtual std::span<const double> impulses() const noexcept = 0;
  };
  template <typename Resolver>
  struct LawOf final : Law {
    explicit LawOf(const Resolver& given) : resolver(given) {}
    [[nodiscard]] std::unique_ptr<Law> clone() const override {
      return std::make_unique<LawOf>(resolver);
    }
    void prepare(const ImpactProblem<double>& problem) override { resolver.prepare(problem); }
    ImpactReport<double> resolve(const ImpactProblem<double>& problem,
                                 VectorX<double>& momentum) noexcept override {
      return resolver.resolve(problem, momentum);
    }
    [[nodiscard]] std::span<const double> impulses() const noexcept override {
      return as_span(resolver.impulses());
    }
    Resolver resolver;
  };
  template <typename Order>
  [[nodiscard]] static std::unique_ptr<Law> make(double restitution, const Order& order) {
    if (restitution == 1) {
      using Elastic = ImpactResolver<double, Order>;
      return std::make_unique<LawOf<Elastic>>(Elastic({}, order));
    }
    using Blend = RestitutionImpact<double, Order>;
    return std::make_unique<LawOf<Blend>>(Blend(restitution, PlasticLaw::moreau, {}, order));
  }

  Cloned<Law> law_;
};

}  // namespace carom::cli
