// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <complex>

namespace carom::examples {

/// A mass pressed onto a plane by its weight, on a spring and a damper that slide under Coulomb's
/// law, pulled along by F(t) = F₀ + F₁ sin Ωt.
struct SlidingMass {
  double mass = 1;         ///< m [kg], > 0.
  double stiffness = 1e5;  ///< K [N/m], > 0; K, B, m not critically damped.
  double damping = 300;    ///< B [N·s/m], > 0.
  double friction = 0.5;   ///< μ [-]
  double pull = 0;         ///< F₀ [N]
  double swing = 0;        ///< F₁ [N]
  double frequency = 1;    ///< Ω [rad/s], > 0.
  double gravity = 9.81;   ///< [m/s²]

  [[nodiscard]] double force(double time) const {
    return pull + swing * std::sin(frequency * time);
  }
  /// Mean of F between two times [N].
  [[nodiscard]] double mean_force(double from, double to) const {
    const double middle = frequency * (from + to) / 2, half = frequency * (to - from) / 2;
    return pull + swing * std::sin(middle) * (half == 0 ? 1 : std::sin(half) / half);
  }
  /// Largest force of friction [N].
  [[nodiscard]] double reach() const { return friction * mass * gravity; }
};

/// The exact motion of a SlidingMass from x = 0, anchor at 0: closed forms between the instants at
/// which it starts and stops to slide.
///
/// In stick m ẍ = F(t) − K e − B ẋ with the stretch e = x − x₀ of the spring. In slide the contact
/// carries λ = ∓μ m g, the stretch follows B ė = −(λ + K e), and the anchor moves at ẋ − ė against
/// λ until that vanishes.
class SlidingMotion {
 public:
  struct State {
    double time = 0;     ///< [s]
    double x = 0;        ///< [m]
    double v = 0;        ///< [m/s]
    double stretch = 0;  ///< e [m]
    [[nodiscard]] double anchor() const noexcept { return x - stretch; }
  };

  explicit SlidingMotion(const SlidingMass& mass, double velocity = 0) : mass_(mass) {
    start_.v = velocity;
    enter(start_);
  }

  /// State at a time, not before that of the last call.
  State at(double time) {
    constexpr double grid = 1e-5;  // far below a period: no instant between its points is missed
    while (searched_ < time) {
      const double next = std::fmin(searched_ + grid, time);
      if (margin(after(next - start_.time)) >= 0) {
        searched_ = next;
        continue;
      }
      enter(after(event(searched_ - start_.time, next - start_.time)));
      ++events_;
    }
    return after(time - start_.time);
  }
  /// Whether it slid at the last time asked for.
  [[nodiscard]] bool slides() const noexcept { return side_ != 0; }
  /// Instants so far at which it started or stopped to slide, and the last of them [s].
  [[nodiscard]] int event_count() const noexcept { return events_; }
  [[nodiscard]] double last_event() const noexcept { return start_.time; }

 private:
  using Complex = std::complex<double>;

  /// Force of the contact in stick [N].
  [[nodiscard]] double held(const State& s) const {
    return -mass_.stiffness * s.stretch - mass_.damping * s.v;
  }
  /// > 0 while the phase goes on: force left in stick, speed of the anchor against λ in slide.
  [[nodiscard]] double margin(const State& s) const {
    return side_ == 0 ? mass_.reach() - std::abs(held(s))
                      : (side_ * held(s) - mass_.reach()) / mass_.damping;
  }
  [[nodiscard]] double event(double low, double high) const {
    for (int k = 0; k < 80; ++k) {
      const double middle = low + (high - low) / 2;
      (margin(after(middle)) < 0 ? high : low) = middle;
    }
    return high;
  }
  /// Begins a phase: slide where the force that holds the mass is too large, stick after a slide.
  void enter(const State& s) {
    start_ = s;
    searched_ = s.time;
    const double force = held(s);
    const bool starts = side_ == 0 && std::abs(force) >= mass_.reach() * (1 - 1e-12);
    side_ = starts ? (force > 0 ? 1 : -1) : 0;
  }

  [[nodiscard]] State after(double t) const { return side_ == 0 ? stuck(t) : slid(t); }

  [[nodiscard]] State stuck(double t) const {
    const double m = mass_.mass, b = mass_.damping, k = mass_.stiffness, w = mass_.frequency;
    const Complex i(0, 1), root = std::sqrt(Complex(b * b - 4 * m * k));
    const Complex r1 = (-b + root) / (2 * m), r2 = (-b - root) / (2 * m);
    const Complex answer = mass_.swing / (k - m * w * w + i * b * w);  // to F₁ exp(iΩt)
    const auto steady = [&](double time) { return answer * std::exp(i * w * time); };
    const double e0 = start_.stretch - mass_.pull / k - steady(start_.time).imag();
    const double v0 = start_.v - (i * w * steady(start_.time)).imag();
    const Complex c1 = (v0 - r2 * e0) / (r1 - r2), c2 = (r1 * e0 - v0) / (r1 - r2);
    State s;
    s.time = start_.time + t;
    s.stretch = mass_.pull / k + steady(s.time).imag() +
                (c1 * std::exp(r1 * t) + c2 * std::exp(r2 * t)).real();
    s.v = (i * w * steady(s.time)).imag() +
          (c1 * r1 * std::exp(r1 * t) + c2 * r2 * std::exp(r2 * t)).real();
    s.x = start_.anchor() + s.stretch;
    return s;
  }

  [[nodiscard]] State slid(double t) const {
    const double m = mass_.mass, w = mass_.frequency, force = side_ * mass_.reach();
    const double a = (mass_.pull + force) / m, p = mass_.swing / (m * w), t0 = start_.time;
    const double cosine = std::cos(w * t0);
    State s;
    s.time = t0 + t;
    s.v = start_.v + a * t + p * (cosine - std::cos(w * s.time));
    s.x = start_.x + start_.v * t + a * t * t / 2 + p * cosine * t -
          p / w * (std::sin(w * s.time) - std::sin(w * t0));
    const double rest = -force / mass_.stiffness;
    s.stretch = rest + (start_.stretch - rest) * std::exp(-mass_.stiffness * t / mass_.damping);
    return s;
  }

  SlidingMass mass_;
  State start_;
  int side_ = 0;  ///< Sign of λ in slide; 0 in stick.
  int events_ = 0;
  double searched_ = 0;
};

}  // namespace carom::examples
