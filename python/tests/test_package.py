# SPDX-License-Identifier: BSD-3-Clause
"""What the package shows of itself: texts of objects, stubs, snippets of the guide."""
import inspect
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import carom
from conftest import ROOT, build, random_numbers


def test_objects_say_what_they_are():
    problem = build(random_numbers(0))
    solution = carom.solve(problem)
    texts = {
        repr(problem): "ContactProblem(time_step=0.01, bodies=2, velocities=12, contacts=3)",
        repr(solution): "Solution(status='converged', law='coulomb', contacts=3, iterations=",
        repr(carom.Solver(law="coulomb")): "Solver(law='coulomb', rigid=False, tolerance=1e-08)",
        repr(carom.Motor(velocity_gain=2.0)): "Motor(position_error=0, wanted_velocity=0, position_gain=0, velocity_gain=2, effort_limit=inf)",
        repr(carom.JointLimit(0.1)): "JointLimit(gap=0.1, stiffness=inf",
        repr(carom.DryFriction(3)): "DryFriction(effort_limit=3)",
        repr(carom.Tendon(0.1)): "Tendon(stretch=0.1",
        repr(carom.Bilateral(error=[1.0, 2.0])): "Bilateral(rows=2, stiffness=inf)",
        repr(carom.WrenchContact()): "WrenchContact(shape='rolling', friction=0.5",
        repr(carom.FrictionCone(0.5)): "FrictionCone(0.5)",
        repr(carom.FrictionCone([0.5, 1])): "FrictionCone(shape=(2,))",
        repr(solution.pull_back(np.ones(12))): "Gradients(velocities=12, contacts=3)",
        repr(carom.certify(problem, solution.velocity, law="convex")): "Certificate(law='convex', residual=",
        repr(carom.solve_batch([problem] * 2)): "BatchSolution(2 problems, 2 converged)",
        repr(carom.solve_batch([problem] * 2).pull_back()): "BatchGradients(2 problems)",
        repr(carom.impact([1, 1], [[-1, 1]], [1, 0])): "Impact(status='resolved', kinetic_energy=0.5, reflections=1)",
        repr(carom.outcomes([1, 1], [[-1, 1]], [1, 0])): "Outcomes(1 outcomes, complete=True)",
        repr(carom.classify([1, 1], [[-1, 1]])): "Uniqueness(unique=True, reason='orthogonal')",
        repr(carom.simulate("pendulum", {"angle": 0.1}, 0.1, 1, progress=False)): "Simulation(status='converged', time=1",
    }
    for got, expected in texts.items():
        assert got.startswith(expected)


def test_every_public_name_has_a_docstring():
    for name in carom.__all__:
        if name == "__version__":
            assert re.fullmatch(r"\d+\.\d+\.\d+", carom.__version__)
            continue
        thing = getattr(carom, name)
        assert inspect.getdoc(thing), name


def test_the_stubs_satisfy_mypy(tmp_path):
    package = pathlib.Path(carom.__file__).parent
    assert (package / "py.typed").exists() and (package / "_core.pyi").exists()
    program = tmp_path / "typed.py"
    program.write_text(
        "import pathlib\n"
        "import numpy as np\n"
        "import carom\n"
        "problem = carom.ContactProblem(0.01)\n"
        "body: int = problem.add_body([[1.0]], np.ones(1))\n"
        "problem.add_constraint(body, [1.0], carom.Motor(velocity_gain=1.0))\n"
        "solution = carom.solve(problem, law='coulomb', guess=np.zeros(1))\n"
        "velocity: np.ndarray = solution.velocity\n"
        "status: str = solution.status\n"
        "gradient: list[np.ndarray] = list(solution.pull_back(velocity).mass)\n"
        "first: carom.Solution = carom.solve_batch(carom.Batch.like(problem, 2))[0]\n"
        "carom.write(problem, pathlib.Path('x'))\n"
        "print(carom.impact(np.eye(2), [[1, 0]], [1, 0], order=[0]).sequence)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(program)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import carom\ncarom.solve(3)\nx: int = carom.ContactProblem(0.01).free_velocity\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), str(wrong)], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stdout.count("error:") == 2, done.stdout


def snippets():
    found = []
    guides = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs/guides/python").glob("*.md"))
    for page in ["docs/guides/python.md", *guides, "python/README.md", "README.md"]:
        text = (ROOT / page).read_text(encoding="utf-8")
        for number, code in enumerate(re.findall(r"```python\n(.*?)```", text, flags=re.S)):
            found.append(pytest.param(page, code, id=f"{page}-{number}"))
    return found


@pytest.mark.parametrize("page, code", snippets())
def test_snippets_of_the_documents_run(page, code, monkeypatch, tmp_path):
    for layer in ["torch", "jax", "mujoco", "newton", "pinocchio"]:
        if f"import carom.{layer}" in code:
            pytest.importorskip(layer)
            pytest.importorskip(f"carom.{layer}", exc_type=ImportError)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, page, "exec"), {"__name__": "snippet"})
