# SPDX-License-Identifier: BSD-3-Clause
"""The examples do what they say, as scripts and as notebooks."""
import importlib.util
import json
import sys

import numpy as np
import pytest

from conftest import ROOT

FOLDER = ROOT / "examples" / "python"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def load(name):
    """A script as a module, which finds those beside it."""
    if str(FOLDER) not in sys.path:
        sys.path.append(str(FOLDER))
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
    pytest.importorskip("scipy")
    throw = load("throw")
    assert throw.main() == pytest.approx(throw.TARGET, abs=2e-3)
    forces = np.linspace(5, 7, throw.PUSHES)
    _, gradient = throw.cost(forces)
    for k in range(throw.PUSHES):
        ends = []
        for sign in (1, -1):
            moved = forces.copy()
            moved[k] += sign * 1e-4
            ends.append(throw.cost(moved)[0])
        assert (ends[0] - ends[1]) / 2e-4 == pytest.approx(gradient[k], rel=1e-4, abs=1e-7)


def test_torch_shoves_the_puck_in_the_same_way():
    torch = pytest.importorskip("torch")
    pytest.importorskip("scipy")
    by_hand, throw = load("throw"), load("throw_torch")
    assert throw.main() == pytest.approx(throw.TARGET, abs=2e-3)
    value, gradient = by_hand.cost(np.linspace(5, 7, throw.PUSHES))
    forces = torch.linspace(5, 7, throw.PUSHES, dtype=torch.float64).requires_grad_()
    throw.cost(forces).backward()
    for k in [0, 7, 15]:
        ends = []
        for sign in (1, -1):
            moved = forces.detach().clone()
            moved[k] += sign * 1e-4
            ends.append(float(throw.cost(moved)))
        assert (ends[0] - ends[1]) / 2e-4 == pytest.approx(float(forces.grad[k]), rel=1e-4, abs=1e-7)
    assert float(throw.cost(forces)) == pytest.approx(value, rel=1e-9)
    assert forces.grad.tolist() == pytest.approx(gradient, rel=1e-6, abs=1e-9)


def overlap(pile, boxes):
    """How deep the deepest of 26 points of each box lies in another box or in the ground [m]: nothing of the script's own code."""
    grid = np.array([(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if x or y or z])
    points = boxes.position[:, None] + np.einsum("nij,nkj->nki", boxes.turn, grid * boxes.half[:, None])
    deepest = -points[:, :, 2].min()
    for i, (middle, turn, half) in enumerate(zip(boxes.position, boxes.turn, boxes.half)):
        within = half - np.abs((np.delete(points, i, axis=0) - middle) @ turn)
        deepest = max(deepest, within.min(axis=2).max())
    return deepest


def test_thirty_boxes_fall_into_a_pile():
    pile = load("pile")
    boxes, solver = pile.make_pile(seed=2), pile.carom.Solver()  # in which pushing overlaps out would show
    assert overlap(pile, boxes) < 0
    before, weight = boxes.energy(), pile.GRAVITY * boxes.mass.sum()
    start = before
    for k in range(pile.STEPS):
        solution, contacts = pile.step(boxes, solver)
        energy = boxes.energy()
        assert solution.converged and energy <= before + 1e-10 * start, k
        before = energy
        if k % 10 == 0:
            assert overlap(pile, boxes) < 5e-3, k
    assert np.abs(boxes.velocity).max() < 1e-6 and energy < 0.3 * start
    assert pile.carried(solution, contacts) == pytest.approx(weight, rel=1e-7)
    assert np.abs(boxes.turn @ boxes.turn.transpose(0, 2, 1) - np.eye(3)).max() < 1e-12
    heights = boxes.position[:, 2]
    assert heights.max() > 2 * boxes.half.max() and heights.min() > boxes.half.min() - 5e-3  # boxes on boxes


@pytest.mark.parametrize("x, y, corners", [
    (0.02, 0.01, {(0.07, 0.07), (0.07, -0.05), (-0.03, 0.07), (-0.03, -0.05)}),  # on the face
    (0.08, -0.07, {(0.1, -0.1), (0.1, -0.01), (0.03, -0.1), (0.03, -0.01)}),  # over two of its edges
    (-0.08, 0.07, {(-0.1, 0.1), (-0.1, 0.01), (-0.03, 0.1), (-0.03, 0.01)})])  # over the other two
def test_boxes_of_the_pile_touch_by_their_faces(x, y, corners):
    pile = load("pile")
    half = np.array([[0.1, 0.1, 0.1], [0.05, 0.06, 0.07]])
    high = np.array([[0, 0, 5.0], [x, y, 5.0 + 0.1 + 0.07 + 0.01]])
    flat = pile.find_contacts(pile.Boxes(half, high, np.array([np.eye(3)] * 2)))
    assert len(flat) == 4  # the lower face of the small box, 1 cm over the upper one of the other
    for first, other, point, normal, gap in flat:
        assert (first, other) == (0, 1) and np.allclose(normal, [0, 0, -1]) and gap == pytest.approx(0.01)
    assert {tuple(np.round(point[:2], 9)) for _, _, point, *_ in flat} == corners


def test_boxes_of_the_pile_touch_by_their_edges():
    """Two cubes on edge, crosswise: the edges cross 1 cm apart, where the axes pass."""
    pile = load("pile")
    eighth = np.pi / 4
    turns = pile.rotation(np.array([[eighth, 0, 0], [0, eighth, 0]]))
    cubes = pile.Boxes(np.full((2, 3), 0.1), np.array([[0, 0, 5.0], [0.03, 0.02, 5.01 + 0.2 * np.sqrt(2)]]), turns)
    crossing = [found for found in pile.find_contacts(cubes) if found[4] == pytest.approx(0.01)]
    first, other, point, normal, _ = crossing[0]
    assert (first, other) == (0, 1) and np.allclose(normal, [0, 0, -1])
    assert np.allclose(point, [0.03, 0, 5.005 + 0.1 * np.sqrt(2)])


def test_a_box_spins_without_gaining_energy():
    pile = load("pile")
    pile.TIME_STEP = 0.05
    boxes = pile.Boxes(np.array([[0.05, 0.1, 0.2]]), np.zeros((1, 3)), pile.rotation(np.array([[0.3, 0.2, 0.1]])))
    boxes.velocity[:, 3:] = [[1.0, 9.0, 0.5]]  # about the middle axis, where spins tumble

    def energy(velocity):
        spin = boxes.turn[0].T @ velocity[0, 3:]
        return 0.5 * boxes.moments[0] @ spin**2

    for _ in range(200):
        free = pile.free_velocity(boxes)
        assert energy(free) <= energy(boxes.velocity) * (1 + 1e-14)
        spin = boxes.turn[0].T @ np.stack([boxes.velocity[0, 3:], free[0, 3:]], axis=1)
        moments = boxes.moments[0]
        left = moments * (spin[:, 1] - spin[:, 0]) + 0.05 * np.cross(spin[:, 1], moments * spin[:, 1])
        assert np.abs(left).max() < 1e-12  # Euler's equations at the end of the step
        boxes.velocity[:, 3:] = free[:, 3:]
        boxes.turn = pile.rotation(0.05 * free[:, 3:]) @ boxes.turn


def test_the_energy_of_the_pile_is_drawn(tmp_path):
    pytest.importorskip("matplotlib").use("agg")
    pile = load("pile")
    pile.STEPS = 3
    pile.main(tmp_path / "pile.svg")
    assert "energy [J]" in (tmp_path / "pile.svg").read_text(encoding="utf-8")


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
    for needed in {"identify_box": ["scipy"], "throw": ["scipy"], "throw_torch": ["scipy", "torch"]}.get(path.stem, []):
        pytest.importorskip(needed)
    book = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(book, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(FOLDER)}}).execute()
    printed = [output["text"] for cell in book.cells if cell.cell_type == "code" for output in cell.outputs if output.output_type == "stream"]
    assert printed and "true" in printed[-1] or "target" in printed[-1]
