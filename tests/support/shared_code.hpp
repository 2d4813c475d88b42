// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Eigen/Dense>

#include "carom/carom.hpp"

#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"

/// @file
/// Templates that most test files use. Where the precompiled header brings its own code along
/// (clang++), each is compiled here, once, and not in every file again. Nothing calls these
/// functions; a use that is missing here costs time and nothing else.
namespace carom::testing {

template <typename Scalar>
Scalar use_vectors(Index n) {
  using V = VectorX<Scalar>;
  V a = V::Zero(n), b = V::Ones(n), c = V::Constant(n, Scalar(2)), d = V::Random(n);
  const V fixed = b;
  const Scalar two(2);
  a += b, a -= b, a *= two, a /= two;
  a = a + b, a = a - b, a = -a, a = two * a, a = a * two, a = a / two;
  a = a + two * b, a = a - two * b, a += two * b, a -= two * b;
  V e = a - b, f = a + b, g = two * a;
  a = a.cwiseProduct(b), a = a.cwiseQuotient(b), a = a.cwiseAbs(), a = a.cwiseMax(b),
  a = a.cwiseMin(b);
  a.head(2) = b.head(2), a.tail(2) = b.tail(2), a.segment(1, 2) = b.segment(1, 2);
  a.template head<3>() = b.template head<3>();
  a.template segment<3>(0) = b.template segment<3>(0);
  Vector3<Scalar> v = fixed.template segment<3>(0), w = fixed.template head<3>();
  v = a.template segment<3>(0), a.template segment<3>(0) = w, a.template segment<3>(0) += w;
  a.setZero(), a.setZero(n), a.setRandom(), a.setConstant(two), a.resize(n);
  Scalar s = a.dot(b) + a.norm() + a.squaredNorm() + a.sum() + a.maxCoeff() + a.minCoeff();
  s += (a - b).norm() + (a - b).squaredNorm() + (a - b).cwiseAbs().maxCoeff() +
       a.cwiseAbs().maxCoeff() + (a + b).norm() + a.cwiseAbs().sum() +
       a.template lpNorm<Eigen::Infinity>();
  s += fixed.segment(0, 2).norm() + fixed.head(2).dot(b.head(2)) + fixed.head(2).norm() +
       fixed.template segment<3>(0).norm() + (a.head(2) - b.head(2)).norm();
  s += Scalar(a.isApprox(b)) + Scalar(a == b) + Scalar(a != b) + Scalar(a.isZero(Scalar(0))) +
       Scalar(a.isZero()) + Scalar(a.allFinite());
  return s;
}

template <typename Scalar>
Scalar use_matrices(Index n) {
  using V = VectorX<Scalar>;
  using M = MatrixX<Scalar>;
  V a = V::Zero(n), b = V::Ones(n);
  M A = M::Identity(n, n), B = M::Zero(n, n), C = M::Random(n, n);
  const Scalar two(2);
  a = A * b, a = A.transpose() * b, a = A * b - a, a = A * b + a;
  a.noalias() = A * b, a.noalias() += A * b, a += A * b, a -= A * b, a += A.transpose() * b;
  M D = A * B, E = A.transpose() * B, F = A * B.transpose(), G = A + B, H = A - B, I = two * A;
  D += A, D -= A, D *= two, D = A * B * C, D = A.transpose() * B * A, D = A * B * A.transpose();
  D = A + B, D = A - B, D = two * A, D = A.transpose(), D = A * B + C;
  A.col(0) = a, A.row(0) = a.transpose(), A.block(0, 0, 2, 2) = B.block(0, 0, 2, 2);
  a = A.col(0), a = A.row(0).transpose(), A.diagonal() = a, A += a * b.transpose();
  A.diagonal().array() += Scalar(1), A.topRows(2) = B.topRows(2);
  A.setZero(), A.setZero(n, n), A.setIdentity(), A.setIdentity(n, n), A.resize(n, n);
  return A.norm() + (A - B).norm() + (A - B).cwiseAbs().maxCoeff() + A.cwiseAbs().maxCoeff() +
         A.trace() + a.dot(A * b) + Scalar(A.isApprox(B)) + Scalar(A == B) + Scalar(A.allFinite()) +
         A.col(0).norm() + A.maxCoeff() + A.row(0).dot(a);
}

// Few tests factor a matrix of float.
inline double use_factors(Index n) {
  using V = VectorX<double>;
  using M = MatrixX<double>;
  V a = V::Zero(n), b = V::Ones(n);
  M A = M::Identity(n, n), B = M::Zero(n, n), D;
  a = A.llt().solve(b), a = A.ldlt().solve(b), a = A.partialPivLu().solve(b);
  a = A.fullPivLu().solve(b), a = A.colPivHouseholderQr().solve(b), A = A.inverse();
  D = A.llt().solve(B), D = A.llt().solve(B.transpose()), D = A.ldlt().solve(B);
  D = A.partialPivLu().solve(B);
  const Eigen::SelfAdjointEigenSolver<M> spectrum(A);
  D = spectrum.eigenvectors();
  D = A.llt().matrixL();
  return A.determinant() + spectrum.eigenvalues().minCoeff() + spectrum.eigenvalues()(0);
}

template <typename Scalar>
Scalar use_triples() {
  using V = Vector3<Scalar>;
  using M = SquareMatrix<Scalar, 3>;
  V a = V::Zero(), b = V::UnitX(), c(1, 2, 3), d = V::Random(), e = V::Constant(Scalar(1)),
    f = V::Ones(), g = V::UnitY(), h = V::UnitZ();
  M A = M::Identity(), B = M::Zero(), C = M::Random();
  const Scalar two(2);
  a = a + b, a = a - b, a += b, a -= b, a = two * a, a = a * two, a *= two, a /= two, a = -a;
  a = a + two * b, a = a - two * b, a += two * b, a -= two * b, a = a / two, a = a.cross(b);
  a = A * b, a = A.transpose() * b, a = A * a + b, a.normalize(), a = a.normalized();
  a = a.cwiseProduct(b), a.template head<2>() = b.template head<2>(), a << 1, 2, 3;
  a.setZero(), a.setConstant(two);
  B = A * C, B = A.transpose() * C, B = A * C * A.transpose(), B = A + C, B = A - C, B = two * A;
  B += A, A = a * b.transpose(), A = A.inverse(), A = a.asDiagonal(), A.diagonal() = b;
  B = A.llt().matrixL(), a = A.llt().solve(b);
  return a.dot(b) + a.norm() + a.squaredNorm() + a.sum() + (a - b).norm() + a.maxCoeff() +
         a.cwiseAbs().maxCoeff() + (a - b).cwiseAbs().maxCoeff() + (A - B).norm() + A.norm() +
         a.template head<2>().norm() + a.template head<2>().squaredNorm() +
         a.template tail<2>().norm() + (a + b).norm() + Scalar(a.isApprox(b)) + Scalar(a == b) +
         Scalar(a.isZero(Scalar(0))) + Scalar(a.allFinite()) + a.minCoeff();
}

template <typename Scalar>
void use_problems() {
  VectorSource<double> source(1u);
  auto problem = draw_bodies<Scalar>(source, 3);
  const MatrixX<Scalar> mass = MatrixX<Scalar>::Identity(3, 3);
  const VectorX<Scalar> free = VectorX<Scalar>::Zero(3);
  const SquareMatrix<Scalar, 3> unit = SquareMatrix<Scalar, 3>::Identity();
  const Vector3<Scalar> triple = Vector3<Scalar>::Zero();
  problem.add_body(mass, free);
  problem.add_body(unit, triple);
  problem.add_contact(0, unit, RigidContact<Scalar>{});
  problem.for_each_block([](const auto&) {});
  VectorX<Scalar> velocity = problem.free_velocity();
  ContactSolver<Scalar> solver;
  static_cast<void>(solver.solve(problem, velocity));
  static_cast<void>(solver.solve_from(problem, solver.impulse(), velocity));
  SapSolver<Scalar> sap;
  static_cast<void>(sap.solve(problem, velocity));
  static_cast<void>(certify(problem, velocity, VectorX<Scalar>(sap.impulse())));
  DelassusForm<Scalar> form;
  DelassusProblem<Scalar> dual;
  form.write(problem, dual);
  VectorX<Scalar> impulse = VectorX<Scalar>::Zero(dual.row_count());
  static_cast<void>(certify(dual, impulse, FrictionLaw::coulomb));
  static_cast<void>(judge_answer(problem, FrictionLaw::coulomb, velocity, impulse));
  write_velocity(problem, impulse, velocity);
}

inline void use_shared_code() {
  static_cast<void>(use_vectors<double>(3) + double(use_vectors<float>(3)));
  static_cast<void>(use_matrices<double>(3) + double(use_matrices<float>(3)));
  static_cast<void>(use_factors(3));
  static_cast<void>(use_triples<double>() + double(use_triples<float>()));
  use_problems<double>();
  use_problems<float>();
}

}  // namespace carom::testing
