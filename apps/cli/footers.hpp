// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace carom::cli {

/// @file
/// The text of `carom COMMAND --help` below the options: the file, the output, an example.

inline constexpr const char* certify_footer =
    R"(Output with --json; null where the law or the data do not define a measure:
  law                   that was judged by: --law, coulomb unless told otherwise
  velocity_error_bound  proven to be no less than the distance to the exact velocity in the norm
                        of A, with all rounding included [J^(1/2)]; convex law, compliant contact
  duality_gap           an upper bound, rounding included [J]; convex law, compliant contact
  residual              convex law, compliant contact: the gradient as --tolerance of `carom solve`
                        takes it; else the natural map error
  natural_map_error     an upper bound, rounding included; of the impulses alone
  cone_violation        largest distance of a contact's impulse from its cone [N s]
  complementarity       largest product of impulse and velocity that should be zero [J]
  signorini             largest violation of Signorini's condition [m/s]
  friction_direction    largest angle between friction and what opposes the slip [rad]
  momentum_residual     distance of the velocity from that of the impulses, where both are given
  worst                 contact that is farthest off, counted from 0, and in which measure
  verdict               one sentence
  index                 of an answer under Coulomb's law: 1 or -1, 0 where a contact is on a
                        boundary of two regions; -1 means that there are at least two other
                        answers if contacts are soft
  ray                   of an answer with a ray: infeasible says whether it proves that there is no
                        answer, see docs/derivations/infeasibility.md for the measures

The impulses of a velocity alone are those that compliant contact answers with. A velocity alone
says nothing of rigid contact. Exit code 0, whatever the verdict; with --tolerance T 3 where a
residual exceeds T, or where the velocity and the impulses do not belong together by more.

Example: carom solve problem.txt --json > answer.json; carom certify problem.txt answer.json)";

inline constexpr const char* replay_footer =
    R"(All steps in the file are solved again, in their order, by the solvers and from the guesses
that are recorded with them. A cut or damaged file is read as far as it holds.

Output with --json:
  steps, first, last  count of steps in the file, and the numbers of the first and the last one
  missing             steps between these that are not in the file
  left_out            steps of which the file has no problem, because they are larger than it may be
  without_answer      steps in whose solve the program ended
  damaged_places      places of the file that belong to no whole step
  unfinished_bytes    bytes behind the newest step: of a step that was not written to its end, or
                      of an old one that is partly overwritten
  replayed            steps that were solved again
  equal, different    of these, steps with the recorded bits, and with others; steps with a deadline
                      and those of solvers outside of carom are not counted as different
  with_deadline       steps whose bits depend on the clock
  first_difference    null, or the step and the block and row of the impulse, or the body and
                      coordinate of the velocity, where the first bit differs, with both numbers;
                      equal_with_new_solver: whether a solver that has solved nothing before has
                      the recorded bits
  certified           certificates of the recorded answer and of the replayed one, of the first
                      step that differs, or of the last step if none does; measures are those of
                      `carom certify`, residual is the largest error of a block
  build               of the program that recorded
  notes               sentences on the file and the run

Exit code 0: no bit differs; 3: a bit differs.

Example: carom replay run.carom-record; carom replay run.carom-record --cut 42 step.txt)";

inline constexpr const char* impact_footer = R"(Input (SI units):
  mass_matrix  symmetric, positive definite, n x n
  normals      gradients of the gaps of all closed contacts, resting ones too, n numbers each;
               their lengths do not matter, but impulses belong to them as given. A normal
               that repeats another acts through its twin; a note on standard error says so
  velocity     n numbers before the impact; or momentum instead (mass matrix times velocity)
  restitution  R in [0, 1], 1 if missing: R^2 of the energy a plastic impact loses is kept;
               1 is elastic, 0 plastic

Output with --json:
  outcomes           one; with --order all every distinct one. Each has velocity, momentum,
                     sequence (the contacts that reflected, counted from 0, those at once one
                     behind the other; of the elastic impact where R < 1; empty if plastic),
                     impulses (one sum per contact, momentum after = before + sum of
                     impulses[i] * normals[i]), kinetic_energy
  unique             whether every order of reflections ends the same, and so does the outcome
                     that was asked for
  reason             certified by the normals alone, for every momentum: orthogonal,
                     dihedral m=4, Coxeter A3 x A1, ...; by search, for this momentum:
                     enumerated (all orders end the same), not unique; plastic: this law takes
                     no order; unknown: the search ended at its budget; wedged: no motion opens
                     all contacts, reflections would never end, the outcome is the plastic one
  indeterminacy      largest distance of two outcomes by this law, whichever are printed,
                     relative to the momentum before; a lower bound if the budget ended the
                     search, 0 if wedged
  reflections_bound  reflections needed at most; -1 if not known (certified impacts and two
                     contacts have one)
  plastic            the plastic outcome, whatever the law

Exit code 3: contacts still close (an order that leaves some out), wedged, or --order all could
not find all; the best answer is printed.

Example, Newton's cradle of three balls:
  {"mass_matrix":[[1,0,0],[0,1,0],[0,0,1]], "normals":[[-1,1,0],[0,-1,1]], "velocity":[1,0,0]})";

inline constexpr const char* viscoelastic_footer = R"(Input (SI units), n contacts, v velocities:
  time_step          t > 0
  mass_matrix        symmetric, positive definite, v x v
  jacobian           3n x v, rows (t1, t2, n) per contact: velocity of the points is J v
  velocity           v numbers
  free_acceleration  v numbers, without contact
  drift              3n numbers, J' v: acceleration of the points at constant velocity
  stiffness, damping 3n numbers >= 0, N/m and N s/m
  friction           n numbers >= 0
  points, anchors    3n numbers, m; the force is K (anchor - point) + B (their rates)

Output with --json:
  average_force, average_force2  over the step with anchors at rest, no cone: (1/t) int lambda,
                   (2/t^2) int int lambda
  gain             change of average_force with the velocity of the anchors, 3n x 3n
  force            in the friction cones: average_force + gain anchor_velocity
  anchor_velocity  by which anchors slide
  modes            stick, slide or open
  velocity         after the step
  displacement     of the coordinates
  anchors          after the step, for points that moved by J displacement + t^2/2 drift
  status           converged, or why not

Methods: coulomb, contacts coupled, anchors stay on the surface; convex, the associated law;
radial, each force cut to its cone; document_qp, least anchor velocity, inner pyramid; stick, no cone.)";

inline constexpr const char* simulate_footer =
    R"(Systems and their parameters (SI units); [=x] may be left out:
  bouncing_ball    height, gravity [=9.81], mass [=1]
  pendulum         angle, rate [=0], length [=1], mass [=1], gravity [=9.81]; from hanging down
  double_pendulum  lengths, masses, angles, rates [=0, 0], gravity [=9.81]; angles to the vertical
  oscillator       position, velocity [=0], mass [=1], stiffness [=1]
  cradle           masses, velocities, radius [=0], gaps [=0..], walls left, right [=none]; the
                   first ball's centre starts at 0
  billiards        masses, radii, positions [[x,y]..], velocities, table [w,h] [=none]
  galperin         exponent k, 0 to 5: a wall, a ball of mass 1, one of mass 100^k that comes in
  rocking_block    width, height, angle, mass [=1], gravity [=9.81]; Housner's: each impact turns
                   on at 1 - 1.5 sin^2(atan(width/height)) of the rate, times the restitution
  kepler           eccentricity in [0, 1); half axis 1, period 2 pi, from the nearest point
  trex             stance [=optimized], initial or straight; drop [=0.17]; order [=foot_first] or
                   tail_first: which contact reflects first. Its dampers take energy

Input: restitution R in [0, 1], 1 if missing: R^2 of the energy a plastic impact loses is kept.

Output: one line of JSON
  impact_times        instants [s]; contacts that close together count once
  reflections         single reflections, all contacts
  energy_error_max    largest change of energy between impacts if they lose any, else over all,
                      relative to the largest energy; null with dampers
  momentum_error_max  of the momentum that a symmetry keeps, relative; null without one
  final               time, q, velocity of the last good step
  status              converged, or why a step could not be made (exit code 3)
Rows of --csv: time, q.., p.. (momentum), energy, event: contacts that closed since the row before,
with ';' between them. Times are multiples of time_step and the duration. Contacts by number:
  bouncing_ball, rocking_block   0: with the ground
  cradle, galperin               i: ball i with ball i + 1, for n balls up to n - 2; then the left
                                 wall, then the right one, where there are any
  billiards                      pairs of balls, (0,1), (0,2) .. (1,2) ..; with a table then four of
                                 each ball, with the cushions x = 0, x = w, y = 0, y = h
  trex                           0 right foot, 1 left foot, 2 tip of the tail
  the others                     none

Example, Newton's cradle:
  {"system":"cradle", "parameters":{"masses":[1,1,1], "radius":0.1, "velocities":[1,0,0],
   "gaps":[0.5,0]}, "time_step":0.1, "duration":1})";

inline constexpr const char* heap_footer =
    R"(The heap has ten layers, each body in the hollow between four of the layer below. Bodies are
10 cm wide and weigh 0.5 to 1.1 kg; friction is 0.5. Before the first step they move at random,
up to 5 cm/s. From step to step the gaps follow the velocities; points and normals of the contacts
stay, so steps are right as long as bodies move by much less than their width.

Output with --json:
  bodies, contacts   of the heap
  make_seconds       to make the problem [s]
  seconds            of each step's solve [s]; the first one also makes the solver's memory
  iterations         of each step
  residual           of each step, computed anew from the answer. Compliant contact, convex law:
                     |grad|_{A^-1} relative to max(|v*|_A, |J' gamma|_{A^-1}); else the larger of
                     the natural map error and the balance of momentum
  peak_memory_bytes  largest resident memory of the program
  threads            as asked for
  status             converged, or why the last step is not, after which no other one follows

A heap that does not fit in memory is refused with the bytes that it needs before it is made.

Example: carom heap --bodies 10000 --steps 3)";

}  // namespace carom::cli
