# SPDX-License-Identifier: BSD-3-Clause
"""Batches give the answers of single solves; threads and interrupts do no harm."""
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import carom
from conftest import build, random_mass, random_numbers


def same_bits(batch_solution, problems, **options):
    for i, problem in enumerate(problems):
        alone = carom.solve(problem, **options)
        assert np.array_equal(alone.velocity, batch_solution.velocity[i])
        assert np.array_equal(alone.impulse, batch_solution.impulse[i])
        assert alone.status == batch_solution.status[i]
        assert alone.residual == batch_solution.residual[i]


def chain(seed, bodies):
    """A ragged problem: bodies in a row, each touching the next."""
    rng = np.random.default_rng(seed)
    problem = carom.ContactProblem(0.01)
    for _ in range(bodies):
        problem.add_body(random_mass(rng, 6), rng.normal(size=6))
    for k in range(bodies - 1):
        problem.add_contact(k, rng.normal(size=(3, 6)), friction=0.4, gap=-1e-3, other=k + 1, other_jacobian=rng.normal(size=(3, 6)))
    for k in range(bodies):
        problem.add_contact(k, rng.normal(size=(3, 6)), friction=0.6, gap=-1e-3)
    return problem


@pytest.mark.parametrize("law, rigid", [("convex", False), ("coulomb", False), ("coulomb", True)])
@pytest.mark.parametrize("threads", [1, 2, 5, None])
def test_a_ragged_batch_has_the_bits_of_single_solves(law, rigid, threads):
    problems = [chain(seed, 1 + (7 * seed) % 5) for seed in range(24)]
    problems += [build(random_numbers(seed)) for seed in range(8)]
    solution = carom.solve_batch(carom.Batch(problems), law=law, rigid=rigid, threads=threads)
    assert len(solution) == len(problems) and isinstance(solution.velocity, list)
    same_bits(solution, problems, law=law, rigid=rigid)


def test_a_batch_of_one_pattern_has_the_bits_of_single_solves():
    rng = np.random.default_rng(0)
    numbers = [random_numbers(seed) for seed in range(40)]
    pattern = build(numbers[0])
    arrays = {name: np.array([n[name] for n in numbers]) for name in ["free_velocity", "friction", "gap", "stiffness", "dissipation_time"]}
    arrays["mass"] = np.array([n["mass"] for n in numbers])
    arrays["jacobian"] = [np.array([n["jacobian"][k] for n in numbers]) for k in range(3)]
    arrays["other_jacobian"] = [None, None, np.array([n["other_jacobian"][2] for n in numbers])]
    batch = carom.Batch.like(pattern, 40, **arrays)
    assert len(batch) == 40 and repr(batch) == "Batch(40 problems)"
    solution = carom.solve_batch(batch, threads=3)
    assert solution.velocity.shape == (40, 12) and solution.impulse.shape == (40, 3, 3)
    assert solution.converged.all() and solution.iterations.shape == (40,)
    same_bits(solution, [build(n) for n in numbers])
    gradients = solution[3].pull_back(rng.normal(size=12))
    assert gradients.friction.shape == (3,)
    same = carom.solve_batch(carom.Batch.like(pattern, 3))
    assert np.array_equal(same.velocity[0], same.velocity[2])


FIELDS = ["free_velocity", "friction", "gap", "stiffness", "dissipation_time", "regularization", "bias"]


def arrays_of(pattern, count, seed):
    """Numbers that may replace those of a pattern made by build(), per problem."""
    rng = np.random.default_rng(seed)
    velocities, contacts = pattern.velocity_count, pattern.contact_count
    weights = rng.uniform(1e-3, 1e-2, (count, contacts, 3))
    weights[:, :, 1] = weights[:, :, 0]
    return {
        "free_velocity": rng.normal(size=(count, velocities)),
        "friction": rng.uniform(0.1, 0.9, (count, contacts)),
        "gap": rng.uniform(-3e-3, 1e-3, (count, contacts)),
        "stiffness": rng.uniform(1e3, 1e5, (count, contacts)),
        "dissipation_time": rng.uniform(0, 0.02, (count, contacts)),
        "regularization": weights,
        "bias": rng.normal(size=(count, contacts, 3)),
        "mass": np.array([[random_mass(rng, 6), random_mass(rng, 6)] for _ in range(count)]),
        "jacobian": rng.normal(size=(count, contacts, 3, 6)),
        "other_jacobian": [None, None, rng.normal(size=(count, 3, 6))],
    }


@pytest.mark.parametrize(
    "fields",
    [[one] for one in [*FIELDS, "mass", "jacobian", "other_jacobian"]]
    + [["jacobian", "other_jacobian"], ["friction", "jacobian"], ["free_velocity", "gap", "mass"]]
    # R and v-hat stand in the place of what stiffness and gap lead to.
    + [[*(f for f in FIELDS if f not in out), "mass", "jacobian", "other_jacobian"] for out in ({"regularization", "bias"}, {"stiffness", "gap", "dissipation_time"})],
    ids=lambda fields: "-".join(fields) if len(fields) < 4 else "all" if "stiffness" in fields else "all by R",
)
def test_every_number_of_a_pattern_can_be_replaced_alone(fields):
    # The only problem of a batch is built; those after a first one are given other numbers in its place.
    law = carom.Motor(wanted_velocity=0.3, velocity_gain=1.0, effort_limit=1.0)
    pattern = build(random_numbers(0), constraints=[(0, np.eye(6)[:1], law)])
    given = {name: array for name, array in arrays_of(pattern, 9, 5).items() if name in fields}
    batch = carom.Batch.like(pattern, 9, **given)
    for options in [{}, {"law": "coulomb", "rigid": True}]:
        solution = carom.solve_batch(batch, tolerance=1e-12, threads=1, **options)
        gradients = solution.pull_back(np.ones((9, 12)), np.ones((9, 3, 3)), threads=1)
        assert options or gradients.faults == [""] * 9
        for i in range(9):
            one = {
                name: [None if part is None else part[i : i + 1] for part in array] if isinstance(array, list) else array[i : i + 1]
                for name, array in given.items()
            }
            alone = carom.solve_batch(carom.Batch.like(pattern, 1, **one), tolerance=1e-12, **options)[0]
            assert np.array_equal(alone.velocity, solution.velocity[i])
            assert np.array_equal(alone.impulse, solution.impulse[i])
            assert np.array_equal(alone.contact_velocity, solution.contact_velocity[i])
            for found in [solution[i], alone] if gradients.faults[i] == "" else []:
                own = found.pull_back(np.ones(12), np.ones((3, 3)))
                assert np.array_equal(own.stiffness, gradients.stiffness[i])
                assert np.array_equal(own.jacobian[2], gradients.jacobian[2][i])
                assert np.array_equal(own.mass[0], gradients.mass[0][i])


@pytest.mark.parametrize(
    "field, place, number, message",
    [
        ("free_velocity", (7,), np.nan, "body 1: free velocity"),
        ("friction", (2,), -0.2, "contact 2: friction: expected a finite number >= 0, got -0.2"),
        ("gap", (1,), np.inf, "contact 1: gap"),
        ("stiffness", (1,), 0.0, "contact 1: stiffness"),
        ("dissipation_time", (0,), -1.0, "contact 0: dissipation time"),
        ("regularization", (1, 2), -1.0, "contact 1: normal regularization"),
        ("regularization", (1, 1), 7.0, "contact 1: regularization"),
        ("bias", (2, 0), np.nan, "contact 2: bias velocity"),
        ("mass", (1, 2, 2), -1.0, "body 1: momentum matrix"),
        ("jacobian", (0, 1, 1), np.inf, "contact 0: Jacobian"),
    ],
)
def test_numbers_that_make_no_sense_are_refused_in_the_first_problem_that_has_them(field, place, number, message):
    pattern = build(random_numbers(0))
    count = 20_000  # several threads are at work before they come to the numbers
    array = np.concatenate([arrays_of(pattern, 100, 1)[field]] * (count // 100))
    array[(slice(15_437, None), *place)] = number  # several threads meet one at once
    with pytest.raises(ValueError, match=f"^problem 15437: {message}"):
        carom.Batch.like(pattern, count, **{field: array})
    array[15_437:-1] = array[0]
    with pytest.raises(ValueError, match=f"^problem 19999: {message}"):
        carom.Batch.like(pattern, count, **{field: array})


def test_a_batch_keeps_the_numbers_it_was_made_of():
    pattern = build(random_numbers(0))
    friction = np.full((4, 3), 0.5)
    batch = carom.Batch.like(pattern, 4, friction=friction)
    expected = carom.solve_batch(batch)
    velocity, first = expected.velocity, expected[0]
    friction[:] = 0.01
    pattern.reset(0.02)
    again = carom.solve_batch(batch)
    del batch
    assert np.array_equal(again.velocity, velocity) and np.array_equal(again[3].velocity, velocity[3])
    assert expected[0] is first and expected[-4] is first
    assert again[2].problem.friction.tolist() == [0.5] * 3


@pytest.mark.parametrize("law, rigid", [("convex", False), ("convex", True), ("coulomb", False), ("coulomb", True)])
@pytest.mark.parametrize("ragged", [False, True])
def test_gradients_of_a_batch_have_the_bits_of_single_ones(law, rigid, ragged):
    rng = np.random.default_rng(3)
    problems = [chain(seed, 1 + seed % 3) for seed in range(9)] if ragged else [build(random_numbers(seed)) for seed in range(9)]
    solution = carom.solve_batch(problems, law=law, rigid=rigid, tolerance=1e-12)
    by_velocity = [rng.normal(size=p.velocity_count) for p in problems]
    by_impulse = [rng.normal(size=(p.contact_count, 3)) for p in problems]
    bars = (by_velocity, by_impulse) if ragged else (np.array(by_velocity), np.array(by_impulse))
    gradients = solution.pull_back(*bars, threads=3)
    assert len(gradients) == 9 and gradients.faults == [""] * 9
    for i, problem in enumerate(problems):
        alone = carom.solve(problem, law=law, rigid=rigid, tolerance=1e-12).pull_back(by_velocity[i], by_impulse[i])
        for field in FIELDS:
            assert np.array_equal(getattr(alone, field), getattr(gradients, field)[i])
            assert np.array_equal(getattr(alone, field), getattr(gradients[i], field))
        for field in ["mass", "jacobian", "other_jacobian"]:
            for k, expected in enumerate(getattr(alone, field)):
                found = getattr(gradients, field)[i][k] if ragged else getattr(gradients, field)[k]
                assert (found is None) == (expected is None)
                if expected is not None:
                    assert np.array_equal(expected, found if ragged else found[i])


def test_a_problem_of_a_batch_without_gradients_says_why():
    problem = build(random_numbers(0))
    stopped = carom.solve_batch([problem] * 2, law="convex", iteration_limit=0).pull_back(np.ones((2, 12)))
    assert all("iteration_limit" in fault for fault in stopped.faults) and np.isnan(stopped.mass[0]).all()
    solution = carom.solve_batch([problem] * 2)
    assert not solution.pull_back().mass[1].any()
    infinite = np.ones((2, 12))
    infinite[1, 3] = np.inf
    gradients = solution.pull_back(infinite)
    assert gradients.faults[0] == "" and "velocity_bar" in gradients.faults[1] and np.isnan(gradients.gap[1]).all()
    for bars, message in [
        ((np.ones((3, 12)),), "^velocity_bar: expected an array whose first axis"),
        ((np.ones((2, 11)),), r"^problem 0: velocity_bar: expected shape \(12,\)"),
        (([np.ones(12)],), "^velocity_bar: expected 2 arrays"),
        (([np.ones(12), np.ones(5)],), r"^problem 1: velocity_bar: expected shape \(12,\)"),
        ((None, np.ones((2, 3))), "^problem 0: impulse_bar"),
        ((1.0,), "^velocity_bar"),
    ]:
        with pytest.raises(ValueError, match=message):
            solution.pull_back(*bars)
    with pytest.raises(IndexError):
        solution.pull_back()[2]


def test_regularization_and_bias_in_a_batch():
    pattern = build(random_numbers(1) | {"regularization": np.full((3, 3), 1e-3), "bias": np.zeros((3, 3)), "stiffness": [None] * 3})
    weights = np.array([1e-3, 1e-2])[:, None, None] * np.ones((2, 3, 3))
    solution = carom.solve_batch(carom.Batch.like(pattern, 2, regularization=weights, bias=np.ones((2, 3, 3))))
    assert not np.array_equal(solution.velocity[0], solution.velocity[1])
    with pytest.raises(IndexError):
        solution[2]
    assert np.array_equal(solution[-1].velocity, solution.velocity[1])


def test_threads_of_python_solve_and_change_at_once():
    shared = chain(0, 6)
    expected = carom.solve(shared).velocity
    solver = carom.Solver()
    faults = []

    def solve():
        try:
            for _ in range(60):
                if not np.array_equal(carom.solve(frozen).velocity, expected):
                    faults.append("changed")
                solution = solver.solve(shared)
                solution.pull_back(np.ones(len(solution.velocity)))
        except Exception as fault:  # noqa: BLE001
            faults.append(fault)

    def change():
        for k in range(200):
            if k % 3 == 2:
                shared.reset(0.01)
                shared.add_body(np.eye(6), np.ones(6))
            shared.add_contact(0, np.ones((3, 6)))

    frozen = chain(0, 6)
    team = [threading.Thread(target=solve) for _ in range(4)] + [threading.Thread(target=change)]
    for one in team:
        one.start()
    for one in team:
        one.join()
    assert not faults


def test_other_threads_run_while_one_solves():
    rng = np.random.default_rng(0)
    problem = carom.ContactProblem(0.01)
    for _ in range(150):
        problem.add_body(random_mass(rng, 6), rng.normal(size=6))
    for k in range(450):
        problem.add_contact(k % 150, rng.normal(size=(3, 6)), other=(k * 7 + 1) % 150 if (k * 7 + 1) % 150 != k % 150 else (k + 2) % 150, other_jacobian=rng.normal(size=(3, 6)))
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    ticker = threading.Thread(target=tick)
    ticker.start()
    start = time.perf_counter()
    solution = carom.solve(problem, law="coulomb", rigid=True, deadline=2.0)
    end = time.perf_counter()
    done.set()
    ticker.join()
    during = [t for t in ticks if start < t < end]
    assert end - start < 0.02 or len(during) > 3, (end - start, solution)


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_a_handler_of_a_signal_may_solve_while_a_solve_runs():
    script = """
import numpy as np, carom, signal, time
from test_batch import chain
big, small = chain(0, 60), chain(1, 3)
solver = carom.Solver(law="coulomb", rigid=True, tolerance=1e-15, deadline=0.3)
expected, seen = carom.solve(small).velocity, []
def handle(number, frame):
    seen.append(np.array_equal(carom.solve(small).velocity, expected))
    try:
        solver.solve(small)
    except ValueError as refused:
        seen.append(str(refused))
signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.08, 0.08)
end = time.perf_counter() + 1.0
while time.perf_counter() < end:
    carom.solve(big, law="coulomb", rigid=True, tolerance=1e-15, deadline=0.3)
    solver.solve(big)
signal.setitimer(signal.ITIMER_REAL, 0)
assert len(seen) > 3 and all(s is True or "one solve at a time" in s for s in seen), seen
print("done")
"""
    folder = os.path.dirname(__file__)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=folder, timeout=60)
    assert done.stdout.strip() == "done", done.stderr


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_an_interrupt_ends_a_batch_and_a_solve():
    # A shell that starts a job in the background has it ignore interrupts, and children inherit that.
    script = """
import numpy as np, carom, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)
problem = carom.ContactProblem(0.01)
for b in range(40):
    root = rng.normal(size=(6, 6))
    problem.add_body(root @ root.T + np.eye(6), rng.normal(size=6))
for k in range(200):
    problem.add_contact(k % 40, rng.normal(size=(3, 6)), friction=0.9, other=(k % 40 + 1 + k // 40) % 40, other_jacobian=rng.normal(size=(3, 6)))
batch = carom.Batch([problem] * 20000)
print("ready", flush=True)
try:
    if sys.argv[1] == "batch":
        carom.solve_batch(batch, law="coulomb", rigid=True, tolerance=1e-15)
    else:
        while True:
            carom.solve(problem, law="coulomb", rigid=True, tolerance=1e-15)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    for mode in ["batch", "solve"]:
        process = subprocess.Popen([sys.executable, "-c", script, mode], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None and process.stdout.readline().strip() == "ready"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        try:
            assert process.communicate(timeout=120)[0].strip() == "interrupted"
        finally:
            process.kill()
        assert process.returncode == 0
