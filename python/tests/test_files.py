# SPDX-License-Identifier: BSD-3-Clause
"""Files: the answers of the carom program, bit for bit back and forth."""
import json
import subprocess

import numpy as np
import pytest

import carom
from conftest import DATA, build, random_numbers

TEXTS = ["pile_n10_s60.txt", "robot_30x16.txt", "mujoco_box_10.txt", "wall_n10.txt", "constraints/arm_and_boxes.txt"]
IMPULSES = ["fclib/FC3D_Example1.cpf", "fclib/OneObject-i1028-138.cpf", "fclib/table-r100-s00070-nc00014.cpf"]
HDF5 = ["fclib/rolling_incline_rolls.hdf5", "fclib/LMGC_GFC3D_CubeH8.hdf5"]


def run_program(program, *arguments):
    done = subprocess.run([program, "solve", *map(str, arguments), "--json"], capture_output=True, text=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("law, rigid", [("convex", False), ("coulomb", False), ("coulomb", True)])
def test_answers_are_those_of_the_program(program, name, law, rigid):
    problem = carom.read(DATA / name)
    printed = run_program(program, DATA / name, "--law", law, *(["--rigid"] if rigid else []))
    solution = carom.solve(problem, law=law, rigid=rigid)
    assert solution.status == printed["status"]
    scale = np.abs(printed["velocity"]).max()
    assert np.allclose(solution.velocity, printed["velocity"], rtol=0, atol=1e-6 * scale)
    if law == "convex":
        assert np.allclose(solution.velocity, printed["velocity"], rtol=0, atol=1e-10 * scale)
        assert solution.iterations == printed["iterations"]
        printed_impulse = np.array(printed["impulse"])
        assert np.allclose(solution.stacked_impulse, printed_impulse, rtol=0, atol=1e-9 * np.abs(printed_impulse).max())


@pytest.mark.parametrize("name", IMPULSES)
def test_problems_in_impulses_are_solved_as_the_program_does(program, name):
    problem = carom.read(str(DATA / name))
    assert isinstance(problem, carom.ImpulseProblem)
    solution = carom.solve(problem)
    printed = run_program(program, DATA / name)
    assert solution.status == printed["status"] and solution.law == printed["law"] == "coulomb"
    normal_first = np.array(printed["impulse"]).reshape(-1, problem.dimension)
    certificate = carom.certify(problem, impulse=solution.impulse)
    assert certificate.law == "coulomb" and certificate.natural_map_error == pytest.approx(solution.residual, rel=1e-6, abs=1e-14)
    # Impulses that press against each other are not unique, and the program may be built in another way: its impulses are
    # an answer here, with the same error and the same velocities.
    again = carom.solve(problem, guess=np.roll(normal_first, -1, axis=1))
    assert again.converged and again.iterations == 0
    assert again.residual == pytest.approx(printed["certificate"]["natural_map_error"], rel=1e-6, abs=1e-14)
    velocity = np.roll(np.array(printed["contact_velocity"]).reshape(-1, problem.dimension), -1, axis=1)
    assert np.allclose(again.contact_velocity, velocity, rtol=1e-9, atol=1e-12 * np.abs(normal_first).max())


def test_a_problem_comes_back_bit_for_bit(tmp_path):
    numbers = random_numbers(0)
    problem = build(numbers, constraints=[(0, np.ones(6), carom.Motor(velocity_gain=1.0))])
    carom.write(problem, tmp_path / "step.txt")
    back = carom.read(tmp_path / "step.txt")
    assert (back.contact_count, back.constraint_count, back.time_step) == (3, 1, 0.01)
    assert np.array_equal(back.free_velocity, problem.free_velocity)
    first, second = carom.solve(problem), carom.solve(back)
    assert np.array_equal(first.velocity, second.velocity) and np.array_equal(first.impulse, second.impulse)
    assert np.array_equal(back.guess, problem.free_velocity) and problem.guess is None


@pytest.mark.parametrize("name", IMPULSES)
def test_a_problem_in_impulses_comes_back(tmp_path, name):
    problem = carom.read(DATA / name)
    carom.write(problem, tmp_path / "copy.cpf")
    again = carom.read(tmp_path / "copy.cpf")
    assert np.array_equal(carom.solve(problem).impulse, carom.solve(again).impulse)
    assert repr(again).startswith("ImpulseProblem(contacts=")


@pytest.mark.parametrize("name", HDF5)
def test_hdf5_is_read_or_refused_with_a_sentence(tmp_path, name):
    try:
        import carom._fclib  # noqa: F401
    except ImportError:
        with pytest.raises(ValueError, match="libhdf5-dev"):
            carom.read(DATA / name)
        return
    problem = carom.read(DATA / name)
    solution = carom.solve(problem)
    assert solution.converged and solution.impulse.shape == (problem.contact_count, problem.dimension)
    carom.write(problem, tmp_path / "copy.hdf5")
    assert np.array_equal(carom.solve(carom.read(tmp_path / "copy.hdf5")).impulse, solution.impulse)


@pytest.mark.parametrize("content", [b"", b"hello", b"carom-problem 3", b"CPF1\nkind x\n", b"\x89HDF\r\n\x1a\nxx", b"carom-problem 1\ntime_step -1"])
def test_broken_files_are_refused_with_their_path(tmp_path, content):
    file = tmp_path / "broken"
    file.write_bytes(content)
    with pytest.raises(ValueError, match="broken|HDF5"):
        carom.read(file)
