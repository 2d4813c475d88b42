// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/contact/delassus_form.hpp"
#include "carom/linalg/detail/block_lu.hpp"
#include "carom/linalg/detail/matrix_exponential.hpp"
#include "carom/linalg/detail/nonnegative_least_squares.hpp"
#include "carom/solvers/contact_solver.hpp"
#include "carom/solvers/coulomb_derivative.hpp"
#include "carom/solvers/gauss_seidel.hpp"
#include "carom/solvers/infeasibility.hpp"
#include "carom/solvers/infeasibility_ray.hpp"
#include "carom/solvers/projected_gradient.hpp"
#include "carom/solvers/sap_derivative.hpp"
#include "carom/solvers/soften.hpp"
#include "carom/solvers/solve_contact.hpp"
#include "carom/viscoelastic/free_body.hpp"
#include "carom/viscoelastic/stepper.hpp"

/// @file
/// The contents of the library targets `carom::compiled`, for double, and `carom::compiled_float`,
/// for float. The targets define CAROM_COMPILED and CAROM_COMPILED_FLOAT for the units that link
/// them. With either of the two, carom.hpp includes this header, and the unit uses these classes
/// and functions from the library instead of compiling them again.
namespace carom {
inline namespace CAROM_ABI {

// The lists are declared here and defined in src/.
// NOLINTBEGIN(bugprone-macro-parentheses): what a macro gets is a type
#define CAROM_COMPILE_CONTACT(prefix, Scalar)                                                \
  prefix class Bodies<Scalar>;                                                               \
  prefix class ContactProblem<Scalar>;                                                       \
  prefix class DelassusForm<Scalar>;                                                         \
  prefix class DelassusIslands<Scalar>;                                                      \
  prefix class DelassusProblem<Scalar>;                                                      \
  prefix bool factor_cholesky<Scalar>(Scalar*, Index, Index) noexcept;                       \
  prefix void solve_lower<Scalar>(const Scalar*, Index, Index, Scalar*, Index) noexcept;     \
  prefix void solve_lower_transposed<Scalar>(const Scalar*, Index, Index, Scalar*) noexcept; \
  prefix void multiply_lower_transposed<Scalar>(const Scalar*, Index, Index, Scalar*) noexcept

#define CAROM_COMPILE_FACTORS(prefix, Scalar)   \
  prefix class BlockCholesky<Scalar>;           \
  prefix class BlockIncompleteCholesky<Scalar>; \
  prefix class BlockLu<Scalar>;                 \
  prefix class BlockSymmetric<Scalar>

#define CAROM_COMPILE_CONVEX(prefix, Scalar)                                                     \
  prefix class SapSolver<Scalar>;                                                                \
  prefix RowNumbers<Scalar> nearest_impulse<Scalar>(                                             \
      const ImpulseSet<Scalar>&, const RowNumbers<Scalar>&, const RowNumbers<Scalar>&) noexcept; \
  prefix SquareMatrix<Scalar, 6> impulse_curvature<Scalar>(                                      \
      const ImpulseSet<Scalar>&, const RowNumbers<Scalar>&, const RowNumbers<Scalar>&) noexcept; \
  prefix ContactCertificate<Scalar> certify<Scalar>(                                             \
      const ContactProblem<Scalar>&, const VectorX<Scalar>&, const VectorX<Scalar>&);            \
  prefix ContactCertificate<Scalar> certify<Scalar>(const ContactProblem<Scalar>&,               \
                                                    const VectorX<Scalar>&);                     \
  prefix ContactCertificate<Scalar> detail::certify_pair<Scalar>(                                \
      const ContactProblem<Scalar>&, const VectorX<Scalar>&, const VectorX<Scalar>&,             \
      const detail::FixedRanges&);                                                               \
  prefix ContactCertificate<Scalar> detail::certify_velocity<Scalar>(                            \
      const ContactProblem<Scalar>&, const VectorX<Scalar>&, const detail::FixedRanges&)

#define CAROM_COMPILE_INTERIOR_POINT(prefix, Scalar)             \
  prefix class detail::IslandLaw<detail::BodySystem<Scalar>>;    \
  prefix class detail::IslandLaw<detail::ImpulseSystem<Scalar>>; \
  prefix class InteriorPointSolver<Scalar>

#define CAROM_COMPILE_COULOMB(prefix, Scalar) \
  prefix class ContactSolver<Scalar>;         \
  prefix class GaussSeidel<Scalar>;           \
  prefix class ProjectedGradient<Scalar>;     \
  prefix class ProximalSolver<Scalar>

#define CAROM_COMPILE_DERIVATIVES(prefix, Scalar)                           \
  prefix class detail::LinearizedAnswer<detail::LinearizedHessian<Scalar>>; \
  prefix class detail::LinearizedAnswer<detail::LinearizedLaw<Scalar>>;     \
  prefix class CoulombDerivative<Scalar>;                                   \
  prefix class SapDerivative<Scalar>

#define CAROM_COMPILE_INFEASIBILITY(prefix, Scalar)                                        \
  prefix InfeasibilityCertificate<Scalar> certify_infeasible<Scalar>(                      \
      const DelassusProblem<Scalar>&, FrictionLaw, const VectorX<Scalar>&,                 \
      const InfeasibilityOptions<Scalar>&);                                                \
  prefix InfeasibilityCertificate<Scalar> certify_infeasible<Scalar>(                      \
      const ContactProblem<Scalar>&, FrictionLaw, const VectorX<Scalar>&,                  \
      const InfeasibilityOptions<Scalar>&);                                                \
  prefix KnownSlide<Scalar> find_slide<Scalar>(const DelassusProblem<Scalar>&, Index,      \
                                               const Vector<Scalar, 2>&);                  \
  prefix KnownSlide<Scalar> find_slide<Scalar>(const ContactProblem<Scalar>&, Index,       \
                                               const Vector<Scalar, 2>&);                  \
  prefix VectorX<Scalar> refine_ray<Scalar>(const DelassusProblem<Scalar>&, FrictionLaw,   \
                                            const std::type_identity_t<VectorX<Scalar>>&); \
  prefix VectorX<Scalar> refine_ray<Scalar>(const ContactProblem<Scalar>&, FrictionLaw,    \
                                            const std::type_identity_t<VectorX<Scalar>>&); \
  prefix SoftenedAnswer<Scalar> soften<Scalar>(const ContactProblem<Scalar>&,              \
                                               const InteriorPointOptions<Scalar>&)

#define CAROM_COMPILE_VISCOELASTIC(prefix, Scalar) \
  prefix class AverageForces<Scalar>;              \
  prefix class ContactStep<Scalar>;                \
  prefix class ConvexSlip<Scalar>;                 \
  prefix class CoulombFallback<Scalar>;            \
  prefix class CoulombSlip<Scalar>;                \
  prefix class ExponentialAction<Scalar>;          \
  prefix class ForceCone<Scalar>;                  \
  prefix class FreeBody<Scalar>;                   \
  prefix class GeneralForces<Scalar>;              \
  prefix class MatrixExponential<Scalar>;          \
  prefix class ModalForces<Scalar>;                \
  prefix class NonnegativeLeastSquares<Scalar>;    \
  prefix class ViscoelasticStepper<FreeBody<Scalar>>
// NOLINTEND(bugprone-macro-parentheses)

#ifdef CAROM_COMPILED
CAROM_COMPILE_CONTACT(extern template, double);
CAROM_COMPILE_FACTORS(extern template, double);
CAROM_COMPILE_CONVEX(extern template, double);
CAROM_COMPILE_INTERIOR_POINT(extern template, double);
CAROM_COMPILE_COULOMB(extern template, double);
CAROM_COMPILE_DERIVATIVES(extern template, double);
CAROM_COMPILE_INFEASIBILITY(extern template, double);
CAROM_COMPILE_VISCOELASTIC(extern template, double);
#endif
#ifdef CAROM_COMPILED_FLOAT
CAROM_COMPILE_CONTACT(extern template, float);
CAROM_COMPILE_FACTORS(extern template, float);
CAROM_COMPILE_CONVEX(extern template, float);
CAROM_COMPILE_INTERIOR_POINT(extern template, float);
CAROM_COMPILE_COULOMB(extern template, float);
CAROM_COMPILE_DERIVATIVES(extern template, float);
CAROM_COMPILE_INFEASIBILITY(extern template, float);
CAROM_COMPILE_VISCOELASTIC(extern template, float);
#endif

}  // namespace CAROM_ABI
}  // namespace carom
