# SPDX-License-Identifier: BSD-3-Clause
"""What ContactProblem.draw and Solution.plot show, by the data of their artists."""
import sys

import numpy as np
import pytest

import carom


def stack():
    """Two boxes on each other beside a box on a motor, and one that flies."""
    problem = carom.ContactProblem(0.01)
    for _ in range(4):
        problem.add_body(np.eye(3), [1.0, 0, -0.0981])
    problem.add_contact(0, np.eye(3), friction=0.25)
    problem.add_contact(0, 2 * np.eye(3), friction=0.5, gap=-1e-3)
    problem.add_contact(1, np.eye(3), friction=0.75, other=0, other_jacobian=-np.eye(3))
    problem.add_constraint(2, [1.0, 0, 0], carom.Motor(velocity_gain=1.0))
    return problem


def position(axes, label):
    return next(text.xy for text in axes.texts if text.get_text() == label)


def test_what_a_problem_is_made_of_can_be_read():
    problem = stack()
    assert problem.contact_bodies == [(0, None), (0, None), (1, 0)]
    assert problem.constraint_bodies == [(2, None)] and problem.constraint_kinds == ["Motor"]
    assert problem.friction.tolist() == [0.25, 0.5, 0.75] and problem.gap.tolist() == [0, -1e-3, 0]


def test_a_solution_keeps_its_problem():
    problem = stack()
    solution = carom.solve(problem, rigid=True)
    problem.add_body(np.eye(2), np.zeros(2))
    assert solution.problem.body_count == 4 and solution.rigid and not carom.solve(problem).rigid
    assert np.array_equal(carom.solve(solution.problem, rigid=True).velocity, solution.velocity)
    copy = solution.problem
    copy.add_body(np.eye(2), np.zeros(2))
    assert copy.body_count == 5 and solution.problem.body_count == 4


@pytest.fixture
def axes():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot.subplots()[1]
    pyplot.close("all")


def test_a_drawing_shows_bodies_islands_and_blocks(axes):
    problem = stack()
    assert problem.draw(axes) is axes
    nodes = axes.collections[0]
    heights = nodes.get_offsets()[:, 1].tolist()
    assert heights == [1, 2, 1, 1]  # the second box stands on the first
    colours = [tuple(colour) for colour in nodes.get_facecolors()]
    assert colours[0] == colours[1] and len(set(colours)) == 3
    texts = [text.get_text() for text in axes.texts]
    assert texts == ["2 × µ 0.25…0.5\ngap -0.001…0 m", "µ 0.75", "Motor", "0", "1", "2", "3"]
    places = nodes.get_offsets()
    ends = [line.get_xydata().tolist() for line in axes.lines]
    assert ends[0] == [places[0].tolist(), [places[0][0], 0.0]]
    assert ends[1] == [places[0].tolist(), places[1].tolist()]
    assert [line.get_linestyle() for line in axes.lines[:3]] == ["-", "-", "--"]
    assert axes.get_title() == "4 bodies in 3 islands, 3 contacts, 1 constraints"


def test_labels_of_contacts_and_constraints_of_one_pair_stand_apart(axes):
    problem = stack()
    problem.add_contact(2, np.eye(3), friction=0.9, gap=-0.0)
    problem.draw(axes)
    assert abs(position(axes, "µ 0.9")[1] - position(axes, "Motor")[1]) > 0.2
    first, second = (line.get_xdata()[0] for line in axes.lines[2:4])
    assert first != second


def test_no_two_bodies_are_drawn_at_one_place(axes):
    rng = np.random.default_rng(0)
    problem = carom.ContactProblem(0.01)
    for _ in range(30):
        problem.add_body(np.eye(3), np.zeros(3))
    for _ in range(30):
        first, second = rng.choice(30, 2, replace=False).tolist()
        problem.add_contact(first, np.eye(3), other=second, other_jacobian=-np.eye(3))
    problem.draw(axes)
    places = axes.collections[0].get_offsets()
    assert len({tuple(place) for place in places}) == 30
    assert places[:, 1].min() == 1


def test_an_empty_problem_is_drawn(axes):
    problem = carom.ContactProblem(0.01)
    assert problem.draw(axes).get_title() == "0 bodies in 0 islands, 0 contacts"
    assert carom.solve(problem).plot().get_title().startswith("coulomb: converged")


def test_a_plot_shows_impulses_in_their_cone(axes):
    problem = carom.ContactProblem(0.01)
    speeds = {"stick": [0.1, 0, -1.0], "slide": [3.0, 4.0, -1.0], "open": [0, 0, 1.0], "frictionless": [1.0, 0, -2.0]}
    for body, (region, velocity) in enumerate(speeds.items()):
        problem.add_body(np.eye(3), velocity)
        problem.add_contact(body, np.eye(3), friction=0.0 if region == "frictionless" else 0.5, rigid=True)
    solution = carom.solve(problem, law="coulomb", tolerance=1e-12)
    assert solution.plot(axes) is axes
    shown = {c.get_label(): np.array(c.get_offsets()) for c in axes.collections if c.get_label()[0] != "_"}
    assert set(shown) == {"stick: 1", "slide: 2", "open: 1"}
    assert shown["stick: 1"] == pytest.approx(np.array([[0.2, 1.0]]), abs=1e-9)
    assert shown["slide: 2"] == pytest.approx(np.array([[1.0, 1.0], [0.0, 2.0]]), abs=1e-9)
    assert shown["open: 1"] == pytest.approx(np.array([[0.0, 0.0]]), abs=1e-9)
    assert axes.get_title() == f"coulomb: converged, residual {solution.residual:.1e}"
    cone = axes.lines[0].get_xydata()
    assert np.array_equal(cone[:, 0], cone[:, 1]) and cone[0, 0] == 0 and cone[1, 0] > 2


def test_without_axes_there_are_new_ones(axes):
    assert stack().draw() is not axes
    assert carom.solve(stack()).plot() is not axes


def test_without_matplotlib_one_sentence_says_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for picture in [stack().draw, carom.solve(stack()).plot]:
        with pytest.raises(ImportError, match="pip install matplotlib"):
            picture()
