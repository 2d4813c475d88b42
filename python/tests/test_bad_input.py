# SPDX-License-Identifier: BSD-3-Clause
"""Whatever is passed is refused with a sentence that names the item, and nothing crashes."""
import contextlib
import decimal
import fractions
import tempfile

import numpy as np
import pytest

import carom
from conftest import build, random_numbers

EYE = np.eye(3)


def problem():
    made = carom.ContactProblem(0.01)
    made.add_body(2 * EYE, [0.0, 0.0, -0.1])
    made.add_body(EYE, [0.0, 0.0, 0.1])
    made.add_contact(0, EYE)
    return made


class Liar:
    """Claims to be an array and is none."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("no")


class NoNumber:
    def __float__(self):
        raise OSError("no")

    def __index__(self):
        raise OSError("no")


def closed_file():
    with tempfile.TemporaryFile() as file:
        pass
    return file


def released_memory():
    memory = memoryview(np.zeros(3))
    memory.release()
    return memory


cyclic: list = []
cyclic.append(cyclic)

BAD_BODIES = [
    ("body 2: momentum matrix", (np.ones(3), np.zeros(3))),
    ("body 2: momentum matrix", (np.ones((2, 2, 2)), np.zeros(3))),
    ("body 2: momentum matrix rows: expected at least 1, got 0", (np.zeros((0, 0)), np.zeros(0))),
    ("body 2: momentum matrix columns: expected as many as rows, got 2", (np.ones((3, 2)), np.zeros(3))),
    (r"body 2: momentum matrix entry \(0, 0\): expected a number > 0, got 0", (np.zeros((3, 3)), np.zeros(3))),
    (r"body 2: momentum matrix entry \(0, 0\): expected a number > 0, got -1", (-EYE, np.zeros(3))),
    ("body 2: momentum matrix.*indefinite", ([[1, 2], [2, 1]], np.zeros(2))),
    (r"body 2: momentum matrix entry \(1, 0\).*mirror", ([[1, 0], [0.5, 1]], np.zeros(2))),
    ("body 2: momentum matrix.*finite.*nan", (np.full((3, 3), np.nan), np.zeros(3))),
    ("body 2: momentum matrix.*finite.*inf", (np.diag([1, np.inf, 1]), np.zeros(3))),
    ("body 2: free velocity entries: expected as many as momentum matrix rows, got 4", (EYE, np.zeros(4))),
    ("body 2: free velocity entry 1: expected a finite number, got nan", (EYE, [0, np.nan, 0])),
    ("body 2: free velocity", (EYE, np.zeros((3, 1)))),
    ("body 2: free velocity", (EYE, None)),
    ("body 2: free velocity", (EYE, "abc")),
    ("body 2: free velocity", (EYE, {"a": 1})),
    ("body 2: momentum matrix.*complex128", (EYE * 1j, np.zeros(3))),
    ("body 2: momentum matrix.*object", (np.array([[object()]]), [1])),
    ("body 2: free velocity", (EYE, np.array([0, None, 0], dtype=object))),
    ("body 2: free velocity", (EYE, np.array([0, "a", 0], dtype=object))),
    ("body 2: free velocity", (EYE, released_memory())),
    ("body 2: free velocity", (EYE, (x for x in range(3)))),
    ("body 2: free velocity entry 0: expected a finite number, got nan", (EYE, np.broadcast_to(np.nan, 3))),
    ("body 2: momentum matrix", ([[1, 2], [3]], [1])),
    ("body 2: momentum matrix", (Liar(), [1])),
    ("body 2: momentum matrix", (cyclic, [1])),
    ("body 2: momentum matrix", (None, [1])),
    ("body 2: momentum matrix", (np.array([["a"]]), [1])),
    ("body 2: momentum matrix", (np.zeros((1, 1), dtype="datetime64[s]"), [1])),
    ("body 2: momentum matrix", (np.zeros((1, 1), dtype=[("a", float)]), [1])),
]

BAD_CONTACTS = [
    (r"contact 1: body: expected an index in \[0, 2\), got 2", (2, EYE), {}),
    (r"contact 1: body: expected an index in \[0, 2\), got -1", (-1, EYE), {}),
    ("contact 1: body: expected a whole number, got 1000", (10**30, EYE), {}),
    ("contact 1: body: expected a whole number, got 0.5", (0.5, EYE), {}),
    ("contact 1: body: expected a whole number, got None", (None, EYE), {}),
    ("contact 1: body: expected a whole number", (NoNumber(), EYE), {}),
    ("contact 1: Jacobian rows: expected 3, got 2", (0, np.eye(2)), {}),
    ("contact 1: Jacobian columns: expected 3, got 4", (0, np.ones((3, 4))), {}),
    (r"contact 1: Jacobian entry \(2, 1\): expected a finite number, got inf", (0, [[1, 0, 0], [0, 1, 0], [0, np.inf, 1]]), {}),
    ("contact 1: Jacobian", (0, "x"), {}),
    ("contact 1: Jacobian", (0, 3.0), {}),
    ("contact 1: friction: expected a finite number >= 0, got -0.2", (0, EYE), {"friction": -0.2}),
    ("contact 1: friction: expected a finite number >= 0, got nan", (0, EYE), {"friction": np.nan}),
    ("contact 1: friction: expected a finite number >= 0, got inf", (0, EYE), {"friction": np.inf}),
    ("contact 1: friction: expected a number, got 'a'", (0, EYE), {"friction": "a"}),
    ("contact 1: friction: expected a number, got None", (0, EYE), {"friction": None}),
    ("contact 1: friction: expected a number", (0, EYE), {"friction": NoNumber()}),
    ("contact 1: friction: expected a number", (0, EYE), {"friction": [0.5, 0.5]}),
    ("contact 1: friction: expected a number", (0, EYE), {"friction": 1j}),
    ("contact 1: gap: expected a finite number, got nan", (0, EYE), {"gap": np.nan}),
    ("contact 1: gap: expected a number", (0, EYE), {"gap": 10**400}),
    ("contact 1: stiffness: expected a number > 0, got 0", (0, EYE), {"stiffness": 0}),
    ("contact 1: stiffness: expected a number > 0, got -5", (0, EYE), {"stiffness": -5}),
    ("contact 1: dissipation time: expected a finite number >= 0", (0, EYE), {"dissipation_time": -1}),
    ("contact 1: near-rigid factor", (0, EYE), {"near_rigid": -1}),
    ("contact 1: relative slip", (0, EYE), {"relative_slip": 0}),
    ("contact 1: restitution", (0, EYE), {"restitution": 2, "rigid": True}),
    ("contact 1: regularization entry 1: expected the same", (0, EYE), {"regularization": [1, 2, 3]}),
    (r"contact 1: regularization: expected shape \(3,\), got \(2,\)", (0, EYE), {"regularization": [1, 2]}),
    ("contact 1: .*regularization: expected a finite number > 0, got 0", (0, EYE), {"regularization": 0.0}),
    ("contact 1: bias velocity", (0, EYE), {"bias": [1, 2]}),
    ("contact 1: bias velocity entry 2: expected a finite number", (0, EYE), {"bias": [0, 0, np.nan]}),
    ("contact 1: second body", (0, EYE), {"other": 1}),
    ("contact 1: second body", (0, EYE), {"other_jacobian": EYE}),
    ("contact 1: second body: expected a body other than the first, got 0", (0, EYE), {"other": 0, "other_jacobian": EYE}),
    ("contact 1: second Jacobian", (0, EYE), {"other": 1, "other_jacobian": "x"}),
]

BAD_CONSTRAINTS = [
    ("constraint 0: law", (0, [1, 0, 0], None)),
    ("constraint 0: law", (0, [1, 0, 0], "Motor")),
    ("constraint 0: law", (0, [1, 0, 0], carom.Motor)),
    ("constraint 0: velocity gain", (0, [1, 0, 0], carom.Motor())),
    ("constraint 0: position gain", (0, [1, 0, 0], carom.Motor(position_gain=-1))),
    ("constraint 0: Jacobian rows: expected 1, got 2", (0, np.eye(3)[:2], carom.Motor(velocity_gain=1))),
    ("constraint 0: Jacobian row 0: expected a non-zero row", (0, [0, 0, 0], carom.JointLimit(0.0))),
    ("constraint 0: gap", (0, [1, 0, 0], carom.JointLimit(np.nan))),
    ("constraint 0: stiffness", (0, [1, 0, 0], carom.Tendon(0.1, stiffness=-1))),
    ("constraint 0: Jacobian rows", (0, np.ones((7, 3)), carom.Bilateral())),
    ("constraint 0: Jacobian rows: expected 2", (0, EYE, carom.Bilateral(error=[0.0, 0.0]))),
    ("constraint 0: Jacobian rows: expected 6, got 3", (0, EYE, carom.WrenchContact())),
    ("constraint 0: bond", (0, EYE, carom.WrenchContact(shape="friction", bond=-1))),
]

BAD_CALLS = [
    ("time step", lambda: carom.ContactProblem(0)),
    ("time step", lambda: carom.ContactProblem("a")),
    ("time step", lambda: carom.ContactProblem(np.inf)),
    ("time step", lambda: problem().reset(-1.0)),
    ("law: expected 'convex' or 'coulomb', got 'x'", lambda: carom.solve(problem(), law="x")),
    ("law: expected 'convex' or 'coulomb', got 3", lambda: carom.solve(problem(), law=3)),
    ("tolerance", lambda: carom.solve(problem(), tolerance=0)),
    ("tolerance", lambda: carom.solve(problem(), tolerance=np.nan)),
    ("tolerance", lambda: carom.solve(problem(), tolerance="a")),
    ("deadline", lambda: carom.solve(problem(), deadline=-1)),
    ("deadline", lambda: carom.solve(problem(), deadline=np.nan)),
    ("iteration limit", lambda: carom.solve(problem(), iteration_limit=-1)),
    ("iteration limit", lambda: carom.solve(problem(), iteration_limit=1.5)),
    (r"guess: expected shape \(6,\), got \(2,\)", lambda: carom.solve(problem(), guess=[1, 2])),
    ("guess entry 0: expected a finite number", lambda: carom.solve(problem(), guess=[np.nan] * 6)),
    ("guess", lambda: carom.solve(problem(), guess="a")),
    ("velocity_bar", lambda: carom.solve(problem()).pull_back(np.array([None] * 6, dtype=object))),
    ("impulse_bar", lambda: carom.solve(problem()).pull_back(impulse_bar=np.ones((2, 3)))),
    ("gap entry 0", lambda: carom.solve(problem()).push_forward(gap=[np.inf])),
    ("jacobian 0", lambda: carom.solve(problem()).push_forward(jacobian=[np.ones((2, 3))])),
    ("jacobian", lambda: carom.solve(problem()).push_forward(jacobian=5)),
    ("law", lambda: carom.Solver(law="x")),
    ("velocity", lambda: carom.certify(problem(), velocity=[1])),
    ("impulse", lambda: carom.certify(problem(), impulse=np.ones((2, 3)))),
    ("certify", lambda: carom.certify(problem())),
    ("impulse", lambda: carom.certify(problem(), velocity=np.zeros(6), law="coulomb")),
    ("friction", lambda: carom.FrictionCone(-1)),
    ("friction entry 1", lambda: carom.FrictionCone([0.5, np.nan])),
    ("y", lambda: carom.project(carom.FrictionCone(1), None, [1, 2])),
    (r"y entry \(1, 2\)", lambda: carom.project(carom.FrictionCone(1), None, [[1, 2, 3], [1, 2, np.inf]])),
    ("y", lambda: carom.project(carom.FrictionCone(1), None, None)),
    ("weights", lambda: carom.project(carom.FrictionCone(1), [1, -1], [1, 2, 3])),
    ("weights", lambda: carom.project(carom.FrictionCone(1), [1, 2, 3], [1, 2, 3])),
    ("weights", lambda: carom.project(carom.FrictionCone(1), [1, 2, 3, 4], [1, 2, 3])),
    ("cone, weights, y", lambda: carom.project(carom.FrictionCone([1, 2]), None, np.ones((3, 3)))),
    ("problem 1: expected a ContactProblem", lambda: carom.Batch([problem(), 3])),
    ("problems", lambda: carom.Batch(3)),
    ("count", lambda: carom.Batch.like(problem(), -1)),
    (r"friction: expected shape \(2, 1\)", lambda: carom.Batch.like(problem(), 2, friction=[1.0, 2.0])),
    ("problem 1: contact 0: friction.*got -1", lambda: carom.Batch.like(problem(), 2, friction=[[1.0], [-1.0]])),
    ("mass", lambda: carom.Batch.like(problem(), 2, mass=np.ones(3))),
    ("mass", lambda: carom.Batch.like(problem(), 2, mass=[None])),
    ("threads", lambda: carom.solve_batch([problem()], threads=0)),
    ("threads", lambda: carom.solve_batch([problem()], threads="a")),
    ("mass matrix", lambda: carom.impact([1, -1], [[1, 0]], [1, 0])),
    ("mass matrix", lambda: carom.impact(np.full((2, 2), np.nan), [[1, 0]], [1, 0])),
    (r"normals: expected shape \(any, 2\)", lambda: carom.impact([1, 1], [[1, 0, 0]], [1, 0])),
    ("contact 0: gradient", lambda: carom.impact([1, 1], [[0, 0]], [1, 0])),
    ("velocity", lambda: carom.impact([1, 1], [[1, 0]], [1, np.nan])),
    ("law", lambda: carom.impact([1, 1], [[1, 0]], [1, 0], law="x")),
    ("restitution", lambda: carom.impact([1, 1], [[1, 0]], [1, 0], restitution=2)),
    ("order", lambda: carom.impact([1, 1], [[1, 0]], [1, 0], order=[7])),
    ("order", lambda: carom.impact([1, 1], [[1, 0]], [1, 0], order=[])),
    ("order", lambda: carom.impact([1, 1], [[1, 0]], [1, 0], order="x")),
    ("state limit", lambda: carom.outcomes([1, 1], [[1, 0]], [1, 0], state_limit=0)),
    ("tolerance", lambda: carom.classify([1, 1], [[1, 0]], tolerance=-1)),
    ("path", lambda: carom.read(None)),
    ("path", lambda: carom.read(3)),
    ("path", lambda: carom.read(closed_file())),
    ("path", lambda: carom.write(problem(), closed_file())),
    ("path", lambda: carom.read("a\0b")),
    ("found none", lambda: carom.read("no-such-file")),
    ("a directory", lambda: carom.read("/")),
    ("writ", lambda: carom.write(problem(), "/no-such-folder/file")),
    ("system", lambda: carom.simulate("no", {}, 0.1, 1.0, progress=False)),
    ("parameters", lambda: carom.simulate("cradle", {"masses": object()}, 0.1, 1.0, progress=False)),
    ("parameters.masses", lambda: carom.simulate("cradle", {}, 0.1, 1.0, progress=False)),
    ("time_step", lambda: carom.simulate("cradle", {}, 0.0, 1.0, progress=False)),
    ("WrenchContact: shape", lambda: carom.WrenchContact(shape="x")),
    ("Bilateral: error", lambda: carom.Bilateral(error=np.zeros(7))),
    ("Motor: velocity gain", lambda: carom.Motor(velocity_gain="a")),
]


@pytest.mark.parametrize("message, arguments", BAD_BODIES)
def test_a_bad_body_is_refused(message, arguments):
    made = problem()
    before = repr(made)
    with pytest.raises(ValueError, match=f"^{message}"):
        made.add_body(*arguments)
    assert repr(made) == before


@pytest.mark.parametrize("message, arguments, options", BAD_CONTACTS)
def test_a_bad_contact_is_refused(message, arguments, options):
    made = problem()
    with pytest.raises(ValueError, match=f"^{message}"):
        made.add_contact(*arguments, **options)
    assert made.contact_count == 1 and carom.solve(made).converged


@pytest.mark.parametrize("message, arguments", BAD_CONSTRAINTS)
def test_a_bad_constraint_is_refused(message, arguments):
    made = problem()
    with pytest.raises(ValueError, match=f"^{message}"):
        made.add_constraint(*arguments)
    assert made.constraint_count == 0 and carom.solve(made).converged


@pytest.mark.parametrize("message, call", BAD_CALLS)
def test_a_bad_call_is_refused(message, call):
    with pytest.raises(ValueError, match=message):
        call()


def test_an_array_that_changes_while_it_is_read_changes_nothing_else():
    """Conversions run code of Python, which may change the problem that is being built."""

    class Changes:
        def __init__(self, made):
            self.made = made

        def __array__(self, dtype=None, copy=None):
            self.made.reset(0.5)
            self.made.add_body(np.eye(2), np.zeros(2))
            return np.zeros(3)

    for use in [
        lambda made: made.add_body(EYE, Changes(made)),
        lambda made: made.add_contact(0, EYE, bias=Changes(made)),
        lambda made: carom.solve(made, guess=Changes(made)),
        lambda made: carom.certify(made, velocity=Changes(made), law="convex"),
        lambda made: carom.solve(made).pull_back(Changes(made)),
    ]:
        made = problem()
        with contextlib.suppress(ValueError):
            use(made)
        assert carom.solve(made).converged and made.time_step == 0.5


def test_objects_of_the_wrong_class_are_type_errors():
    for call in [
        lambda: carom.solve(None),
        lambda: carom.solve(np.eye(3)),
        lambda: carom.solve(carom.ContactProblem),
        lambda: carom.certify(3),
        lambda: carom.project(0.5, None, [1, 2, 3]),
        lambda: carom.Solver().solve("a"),
        lambda: carom.Solution(),
        lambda: carom.solve(problem(), no_such_option=1),
    ]:
        with pytest.raises(TypeError):
            call()


@pytest.mark.filterwarnings("ignore:nanobind")
def test_an_object_without_init_is_refused():
    for kind, use in [
        (carom.ContactProblem, carom.solve),
        (carom.Batch, len),
        (carom.Solver, lambda empty: empty.solve(problem())),
        (carom.FrictionCone, lambda empty: carom.project(empty, None, [1, 2, 3])),
    ]:
        with pytest.raises(TypeError):
            use(kind.__new__(kind))


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e-20, 1e20, 1e150, 1e300])
def test_numbers_of_any_size_end_in_a_status(scale):
    for law in ["convex", "coulomb"]:
        for data in [(scale, 1, 1), (1, scale, 1), (1, 1, scale), (scale, scale, scale)]:
            made = carom.ContactProblem(0.01)
            try:
                made.add_body(data[0] * EYE, data[1] * np.array([1.0, 0, -1]))
                made.add_contact(0, data[2] * EYE, friction=0.5, gap=-1e-3, stiffness=1e6)
            except ValueError:
                continue
            solution = carom.solve(made, law=law)
            assert isinstance(solution.status, str) and solution.velocity.shape == (3,)


def test_arrays_of_any_layout_are_read():
    velocity = np.arange(3.0)
    expected = carom.ContactProblem(0.01)
    expected.add_body(2 * EYE, velocity)
    wide = np.zeros((6, 6))
    wide[::2, ::2] = 2 * EYE
    pair = np.zeros(3, dtype=[("tag", "u1"), ("number", "f8")])
    pair["number"] = velocity
    read_only = velocity.copy()
    read_only.flags.writeable = False
    masses = [
        np.asfortranarray(2 * EYE),
        wide[::2, ::2],
        (2 * EYE)[::-1, ::-1],
        (2 * EYE).astype(np.float32),
        (2 * EYE).astype(int),
        (2 * EYE).astype(">f8"),
        (2 * EYE).tolist(),
        np.broadcast_to(2.0, (1, 1)),
        (2 * EYE).astype(np.float16),
        memoryview(2 * EYE),
    ]
    velocities = [pair["number"], read_only, velocity[::-1][::-1], velocity.astype(bool) * velocity, range(3), list(velocity)]
    for mass in masses:
        made = carom.ContactProblem(0.01)
        made.add_body(mass, np.arange(len(mass), dtype=float))
        assert made.velocity_count == len(mass)
    for given in velocities:
        made = carom.ContactProblem(0.01)
        made.add_body(2 * EYE, given)
        assert np.array_equal(made.free_velocity, velocity)
    made = carom.ContactProblem(decimal.Decimal("0.01"))
    made.add_body(2 * EYE, velocity)
    made.add_contact(np.int8(0), EYE, friction=fractions.Fraction(1, 2), gap=np.float32(0))
    assert carom.solve(made, tolerance=np.float64(1e-9)).converged


def test_an_array_by_dlpack_or_by_its_own_word_is_read():
    class Own:
        def __array__(self, dtype=None, copy=None):
            return np.arange(3.0)

    class Packed:
        def __dlpack__(self, **options):
            return np.arange(3.0).__dlpack__()

        def __dlpack_device__(self):
            return (1, 0)

    for given in [Own(), Packed()]:
        made = carom.ContactProblem(0.01)
        made.add_body(EYE, given)
        assert np.array_equal(made.free_velocity, np.arange(3.0))


def test_empty_problems_are_solved():
    made = carom.ContactProblem(0.01)
    for law in ["convex", "coulomb"]:
        solution = carom.solve(made, law=law)
        assert solution.converged and solution.velocity.shape == (0,) and solution.impulse.shape == (0, 3)
    made.add_body(EYE, [1, 2, 3])
    for law in ["convex", "coulomb"]:
        solution = carom.solve(made, law=law)
        assert np.array_equal(solution.velocity, [1, 2, 3])
    assert carom.solve(made).pull_back(np.ones(3)).free_velocity.tolist() == [1, 1, 1]
    assert len(carom.solve_batch([])) == 0


def test_a_refused_item_leaves_a_usable_problem():
    numbers = random_numbers(0)
    clean, dirty = build(numbers), carom.ContactProblem(0.01)
    for mass, start in zip(numbers["mass"], [0, 6]):
        with pytest.raises(ValueError):
            dirty.add_body(-mass, np.zeros(6))
        dirty.add_body(mass, numbers["free_velocity"][start : start + 6])
    for k in range(3):
        other = numbers["other_jacobian"][k]
        both = {} if other is None else {"other": 1, "other_jacobian": other}
        body = k % 2 if other is None else 0
        options = {name: numbers[name][k] for name in ["friction", "gap", "stiffness", "dissipation_time"]}
        with pytest.raises(ValueError):
            dirty.add_contact(body, numbers["jacobian"][k], **(options | both | {"friction": -1}))
        dirty.add_contact(body, numbers["jacobian"][k], **options, **both)
    assert np.array_equal(carom.solve(clean).velocity, carom.solve(dirty).velocity)
