# SPDX-License-Identifier: BSD-3-Clause
"""The examples do what they say, as scripts and as notebooks."""
import importlib.util
import json

import numpy as np
import pytest

from conftest import ROOT

FOLDER = ROOT / "examples" / "python"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def load(name):
    """A script as a module."""
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_pushed_box_gives_away_its_mass_and_friction():
    pytest.importorskip("scipy")
    box = load("identify_box")
    _, exact = box.simulate(2.3, 0.35)
    assert box.identify(exact, 2e-3)[0] == pytest.approx([2.3, 0.35], rel=1e-4)
    mass, friction = box.main()  # through the noise, which is the same in every run
    assert mass == pytest.approx(2.3, rel=0.01) and friction == pytest.approx(0.35, rel=0.01)


def test_the_gradient_through_the_trajectory_is_that_of_differences():
    pytest.importorskip("scipy")
    box = load("identify_box")
    _, measured = box.simulate(2.3, 0.35)
    for parameters in [(1.0, 0.1), (3.0, 0.5)]:
        _, gradient = box.distance(parameters, measured, 2e-3)
        for k, step in enumerate([1e-6, 1e-7]):
            ends = []
            for sign in (1, -1):
                moved = np.array(parameters)
                moved[k] += sign * step
                ends.append(box.distance(moved, measured, 2e-3)[0])
            assert (ends[0] - ends[1]) / (2 * step) == pytest.approx(gradient[k], rel=1e-4)


def test_a_puck_is_shoved_to_the_target():
    torch = pytest.importorskip("torch")
    throw = load("throw")
    assert throw.main() == pytest.approx(throw.TARGET, abs=2e-3)
    forces = torch.linspace(5, 7, throw.PUSHES, dtype=torch.float64).requires_grad_()
    throw.cost(forces).backward()
    for k in [0, 7, 15]:
        ends = []
        for sign in (1, -1):
            moved = forces.detach().clone()
            moved[k] += sign * 1e-4
            ends.append(float(throw.cost(moved)))
        assert (ends[0] - ends[1]) / 2e-4 == pytest.approx(float(forces.grad[k]), rel=1e-4, abs=1e-7)


def test_notebooks_are_those_of_the_scripts():
    maker = load("make_notebooks")
    assert [path.stem for path in NOTEBOOKS] == sorted(maker.NAMES)
    for path in NOTEBOOKS:
        script = path.with_suffix(".py").read_text(encoding="utf-8")
        assert path.read_text(encoding="utf-8") == maker.notebook_of(script), f"{path.name}: run examples/python/make_notebooks.py"
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        told = [line for line in script.splitlines() if line and not line.startswith("#")]
        assert [line for line in code.splitlines() if line and not line.startswith("#")] == told


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path):
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("torch" if path.stem == "throw" else "scipy")
    book = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(book, timeout=300, kernel_name="python3").execute()
    printed = [output["text"] for cell in book.cells if cell.cell_type == "code" for output in cell.outputs if output.output_type == "stream"]
    assert printed and "true" in printed[-1] or "target" in printed[-1]
