# SPDX-License-Identifier: BSD-3-Clause
"""carom.Recorder: what it writes, how large the file gets, and what it refuses; `carom replay`, where the program is installed,
finds the same bits."""
import json
import pathlib
import shutil
import subprocess
import sysconfig
import threading

import carom
import numpy as np
import pytest


def make_problem(step, count=3, **contact):
    problem = carom.ContactProblem(0.01)
    for i in range(count):
        body = problem.add_body((1 + i) * np.eye(3), [0.02 * step, 0.01 * i, -0.0981])
        problem.add_contact(body, np.eye(3), friction=0.5, **contact)
    return problem


def program():
    """The program of the same package, or None."""
    beside = pathlib.Path(sysconfig.get_path("scripts"), "carom")
    return str(beside) if beside.exists() else shutil.which("carom")


def replay(path):
    carom_program = program()
    if carom_program is None:
        pytest.skip("the program carom is not installed")
    result = subprocess.run([carom_program, "replay", str(path), "--json"], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr + result.stdout
    return json.loads(result.stdout)


@pytest.mark.parametrize("options, contact", [
    ({}, {}), ({"law": "convex"}, {"stiffness": 1e4}), ({"law": "convex"}, {}), ({"rigid": True}, {"stiffness": 1e4}),
    ({"tolerance": 1e-3, "iteration_limit": 7}, {"stiffness": 1e5})])
def test_replay_has_the_same_bits(tmp_path, options, contact):
    path = tmp_path / "run.carom-record"
    with carom.Recorder(path) as recorder:
        solver = carom.Solver(**options, recorder=recorder)
        for step in range(10):
            solver.solve(make_problem(step, 1 + step % 4, **contact))
        solver.solve(make_problem(3, **contact), guess=np.ones(9))
        carom.solve(make_problem(5, **contact), **options, recorder=recorder)
        assert (recorder.step_count, recorder.lost_count, recorder.left_out_count, recorder.fault) == (12, 0, 0, "")
    found = replay(path)
    assert (found["steps"], found["equal"], found["different"]) == (12, 12, 0)
    assert found["first_difference"] is None and found["missing"] == 0


def test_answers_do_not_depend_on_recording(tmp_path):
    with carom.Recorder(tmp_path / "run") as recorder:
        recorded, plain = carom.Solver(recorder=recorder), carom.Solver()
        for step in range(5):
            problem = make_problem(step)
            a, b = recorded.solve(problem), plain.solve(problem)
            assert np.array_equal(a.velocity, b.velocity) and np.array_equal(a.impulse, b.impulse)
            assert (a.status, a.iterations, a.residual) == (b.status, b.iterations, b.residual)


def test_each_step_is_in_the_file_at_once_and_the_file_is_bounded(tmp_path):
    path = tmp_path / "ring"
    recorder = carom.Recorder(path, capacity=8192)
    solver = carom.Solver(recorder=recorder)
    sizes = []
    for step in range(30):
        solver.solve(make_problem(step))
        sizes.append(path.stat().st_size)
    assert sizes[0] > 128 and sizes[1] > sizes[0] and max(sizes) <= 8192 and sizes[-1] > 4096
    found = replay(path)
    assert found["last"] == 29 and 0 < found["first"] < 29 and found["different"] == 0


def test_a_closed_recorder_solves_on(tmp_path):
    recorder = carom.Recorder(tmp_path / "closed")
    recorder.close()
    recorder.close()
    solution = carom.solve(make_problem(1), recorder=recorder)
    assert solution.converged and recorder.step_count == 0


def test_threads_share_a_recorder(tmp_path):
    path = tmp_path / "threads"
    with carom.Recorder(path) as recorder:
        def work(count):
            solver = carom.Solver(recorder=recorder)
            for step in range(20):
                solver.solve(make_problem(step, count))

        threads = [threading.Thread(target=work, args=(count,)) for count in (1, 2, 3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert recorder.step_count == 60
    found = replay(path)
    assert found["steps"] == 60 and found["equal"] == 60


def test_a_deadline_is_told(tmp_path):
    path = tmp_path / "deadline"
    with carom.Recorder(path) as recorder:
        carom.solve(make_problem(1), deadline=10, recorder=recorder)
        carom.solve(make_problem(1), recorder=recorder)
    found = replay(path)
    assert found["with_deadline"] == 1 and any("deadline" in note for note in found["notes"])


def test_what_it_refuses(tmp_path):
    with pytest.raises(ValueError, match="expected a file that can be written"):
        carom.Recorder(tmp_path)
    with pytest.raises(ValueError, match="expected a file that can be written"):
        carom.Recorder(tmp_path / "no" / "folder")
    for capacity in (4095, 2**31, -1):
        with pytest.raises(ValueError, match="capacity"):
            carom.Recorder(tmp_path / "x", capacity=capacity)
    for path in (None, 7, "a\0b"):
        with pytest.raises(ValueError, match="path"):
            carom.Recorder(path)
    for given in ("run", 1, carom.Solver()):
        with pytest.raises(ValueError, match="recorder: expected a Recorder or None"):
            carom.Solver(recorder=given)
        with pytest.raises(ValueError, match="recorder: expected a Recorder or None"):
            carom.solve(make_problem(1), recorder=given)
    assert not (tmp_path / "x").exists()


def test_it_says_what_it_is(tmp_path):
    path = tmp_path / "named"
    recorder = carom.Recorder(str(path), before_solve=True)
    assert repr(recorder) == f"Recorder('{path}')" and recorder.path == str(path)
    carom.solve(make_problem(0), recorder=recorder)
    del recorder
    assert path.read_bytes()[:8] == b"CAROMREC"
