// SPDX-License-Identifier: BSD-3-Clause
// The sets and contact laws of the cones, products aside, projected onto by a kernel. Compiled only, where nvcc is
// installed, with calls of unmarked functions as errors.
#include <Eigen/Core>

#include "carom/cones/box.hpp"
#include "carom/cones/convex_contact.hpp"
#include "carom/cones/coulomb_contact.hpp"
#include "carom/cones/ellipsoidal_cone.hpp"
#include "carom/cones/friction_cone.hpp"
#include "carom/cones/friction_pyramid.hpp"
#include "carom/cones/planar_cone.hpp"
#include "carom/cones/wrench_cone.hpp"


template <typename Set>
__device__ void project_one(const Set& set, typename Set::scalar_type* numbers) {
  using Vector = carom::SetVector<Set>;
  Eigen::Map<Vector> y(numbers);
  const Vector weights = Vector::Ones(), given = y;
  const carom::SetMatrix<Set> slope = projection_derivative(set, weights, given);
  const auto answer = project(set, weights, given);
  y = answer.point + slope.col(0);
}

template <typename Scalar>
__global__ void project_all(Scalar* numbers) {
  const Scalar mu(0.5);
  project_one(carom::FrictionCone<Scalar>{mu}, numbers);
  project_one(carom::PlanarCone<Scalar>{mu}, numbers);
  project_one(carom::FrictionPyramid<Scalar>{mu}, numbers);
  project_one(carom::TorsionalCone<Scalar>{mu, mu}, numbers);
  project_one(carom::RollingCone<Scalar>{mu, mu}, numbers);
  project_one(carom::EllipticCone<Scalar>{{mu, Scalar(0.8)}}, numbers);
  using Interval = carom::Box<Scalar, 1>;
  project_one(Interval{carom::Vector<Scalar, 1>(-mu), carom::Vector<Scalar, 1>(mu)}, numbers);
}

template <typename Scalar>
__global__ void solve_contacts(Scalar* numbers) {
  using Vector = carom::Vector3<Scalar>;
  using Matrix = carom::SquareMatrix<Scalar, 3>;
  Eigen::Map<Vector> velocity(numbers);
  const Eigen::Map<const Matrix> inverse_mass(numbers + 3);
  const Matrix w = inverse_mass;
  const Vector free = velocity;
  velocity = carom::ConvexInverseMass<Scalar>(w).solve(free, Scalar(0.5)).impulse;
  velocity += carom::CoulombInverseMass<Scalar>(w).solve(free, Scalar(0.5)).impulse;
  velocity += carom::CoulombGain<Scalar>(w).solve(free, Scalar(0.5)).impulse;
  velocity += carom::ConvexGain<Scalar>(w).solve(free, Scalar(0.5)).impulse;
}

template __global__ void project_all<float>(float*);
template __global__ void project_all<double>(double*);
template __global__ void solve_contacts<float>(float*);
template __global__ void solve_contacts<double>(double*);
