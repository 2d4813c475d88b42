# SPDX-License-Identifier: BSD-3-Clause
"""Many bodies and contacts in one call: the same bits as one by one, and all or none of them."""
import carom
import numpy as np
import pytest


def rotation_of(q):
    """The matrix of a unit quaternion, by its formula."""
    w, x, y, z = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def draw(seed, bodies=7, contacts=23):
    rng = np.random.default_rng(seed)
    q = rng.normal(size=(bodies, 4))
    first = rng.integers(0, bodies, contacts)
    other = (first + 1 + rng.integers(0, bodies - 1, contacts)) % bodies
    other[::4] = -1
    return {"mass": rng.uniform(0.5, 2, bodies), "inertia": rng.uniform(0.5, 1, (bodies, 3)), "free": rng.normal(size=(bodies, 6)),
            "position": rng.normal(size=(bodies, 3)), "rotation": q / np.linalg.norm(q, axis=1)[:, None], "first": first,
            "other": other, "point": rng.normal(size=(contacts, 3)), "normal": rng.normal(size=(contacts, 3)),
            "friction": rng.uniform(0, 1, contacts), "gap": rng.uniform(0, 1e-3, contacts), "rng": rng}


def solved(problem):
    return carom.solve(problem, tolerance=1e-10)


def same(a, b):
    x, y = solved(a), solved(b)
    assert a.contact_bodies == b.contact_bodies
    assert np.array_equal(x.velocity, y.velocity) and np.array_equal(x.impulse, y.impulse)


OPTIONS = [{}, {"stiffness": 1e5, "dissipation_time": "each"}, {"stiffness": "each"}, {"compliance": "step"},
           {"restitution": "each", "approach": 0.3}, {"regularization": "triples", "bias": "triples"}, {"regularization": 0.1},
           {"surface_velocity": "triples"}, {"surface_velocity": [0.1, 0, 0], "correction": "each"}]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("size", [6, 4])
def test_the_same_bits_as_one_by_one(options, size):
    given = draw(3)
    rng, count = given["rng"], len(given["first"])
    mass = np.array([np.eye(size) * m + 0.1 for m in given["mass"]])
    free = given["free"][:, :size]
    rows, other_rows = rng.normal(size=(2, count, 3, size))
    drawn = {name: rng.uniform(0.1, 0.9, count) if value == "each" else rng.uniform(0.1, 0.2, (count, 3)) if value == "triples" else value
             for name, value in options.items()}
    if isinstance(drawn.get("stiffness"), np.ndarray):
        drawn["stiffness"] = drawn["stiffness"] * 1e5
    if isinstance(drawn.get("regularization"), np.ndarray):
        drawn["regularization"][:, 1] = drawn["regularization"][:, 0]
    gap = None if "bias" in options else given["gap"]
    one, many = carom.ContactProblem(0.01), carom.ContactProblem(0.01)
    for m, v in zip(mass, free):
        one.add_body(m, v, velocity=2 * v)
    assert many.add_bodies(mass, free, velocity=2 * free).tolist() == list(range(len(mass)))
    for i in range(count):
        each = {name: value[i] if isinstance(value, np.ndarray) else value for name, value in drawn.items()}
        world = given["other"][i] < 0
        one.add_contact(given["first"][i], rows[i], given["friction"][i], None if gap is None else gap[i],
                        other=None if world else given["other"][i], other_jacobian=None if world else other_rows[i], **each)
    numbers = many.add_contacts(given["first"], rows, given["friction"], gap, other=given["other"],
                                other_jacobian=np.asfortranarray(other_rows), **drawn)
    assert numbers.tolist() == list(range(count))
    same(one, many)


@pytest.mark.parametrize("seed", range(3))
def test_rigid_bodies_points_and_normals(seed):
    given = draw(seed)
    one, many = carom.ContactProblem(0.01), carom.ContactProblem(0.01)
    turns = np.array([rotation_of(q) for q in given["rotation"]])
    many.add_rigid_bodies(given["mass"], given["inertia"], given["free"], given["position"], rotation=given["rotation"])
    for m, moments, turn, v in zip(given["mass"], given["inertia"], turns, given["free"]):
        matrix = np.diag([m, m, m, 0, 0, 0])
        matrix[3:, 3:] = turn @ np.diag(moments) @ turn.T
        one.add_body((matrix + matrix.T) / 2, v)
    many.add_contacts(given["first"], friction=given["friction"], gap=given["gap"], other=given["other"], point=given["point"],
                      normal=given["normal"])
    frames = carom.ContactProblem.contact_frames(given["normal"])
    unit = given["normal"] / np.linalg.norm(given["normal"], axis=1)[:, None]
    assert np.allclose(frames[:, 2], unit, rtol=0, atol=1e-15)
    assert np.allclose(frames @ frames.transpose(0, 2, 1), np.eye(3), rtol=0, atol=1e-14)
    assert np.allclose(np.cross(frames[:, 2], frames[:, 0]), frames[:, 1], rtol=0, atol=1e-14)

    def rows(i, body):
        lever = given["point"][i] - given["position"][body]
        return np.hstack([frames[i], np.cross(lever, frames[i])])

    for i, (first, other) in enumerate(zip(given["first"], given["other"])):
        world = other < 0
        one.add_contact(first, rows(i, first), given["friction"][i], given["gap"][i], other=None if world else other,
                        other_jacobian=None if world else -rows(i, other))
    a, b = solved(one), solved(many)
    assert np.allclose(a.velocity, b.velocity, rtol=0, atol=1e-8)
    by_matrices = carom.ContactProblem(0.01)
    by_matrices.add_rigid_bodies(given["mass"], np.array([np.diag(m) for m in given["inertia"]]), given["free"], given["position"],
                                 rotation=turns)
    by_matrices.add_contacts(given["first"], friction=given["friction"], gap=given["gap"], other=given["other"], point=given["point"],
                             normal=3 * given["normal"])
    assert np.allclose(solved(by_matrices).velocity, b.velocity, rtol=0, atol=1e-8)


def some_problem():
    problem = carom.ContactProblem(0.01)
    problem.add_rigid_bodies([1.0, 2.0], np.ones((2, 3)), np.full((2, 6), -0.1), [[0, 0, 0.1], [0, 0, 0.3]])
    problem.add_contact(0, np.eye(3, 6), friction=0.4)
    problem.add_constraint(0, [0, 0, 0, 0, 0, 1.0], carom.DryFriction(0.1))
    return problem


POINTS = {"point": np.zeros((4, 3)), "normal": np.tile([0, 0, 1.0], (4, 1))}


@pytest.mark.parametrize("change, message", [
    ({"friction": [0.5, 0.5, -1, 0.5]}, "contact 3: friction: expected"),
    ({"gap": [0, 0, 0, np.nan]}, "contact 4: gap: expected"),
    ({"stiffness": [1e5, -1, 1e5, 1e5]}, "contact 2: stiffness: expected"),
    ({"body": [0, 1, 0, 7]}, "contact 4: "),
    ({"other": [1, 0, 1, -2]}, "contact 4: second body: expected"),
    ({"other": [1, 0, 0, -1]}, "contact 3: "),
    ({"normal": [[0, 0, 1], [0, 0, 0], [0, 0, 1], [0, 0, 1]]}, "contact 2: normal: expected"),
    ({"point": np.zeros((3, 3))}, "contacts: point: expected"),
    ({"body": [0, 0.5, 1, 1]}, "contacts: body"),
    ({"gap": [0, 0, 1e-3, 0], "bias": [0, 0, 0.1]}, "contact 3: gap: expected none"),
    ({"jacobian": np.zeros((4, 3, 6))}, "contacts: expected either"),
    ({"restitution": [0.5, 0.5, 2, 0.5], "approach": 1.0}, "contact 3: restitution: expected")])
def test_where_one_is_refused_none_is_added(change, message):
    problem, fresh = some_problem(), some_problem()
    with pytest.raises(ValueError, match=message):
        problem.add_contacts(**({"body": [0, 1, 0, 1], "friction": 0.5} | POINTS | change))
    same(problem, fresh)
    arguments = {"body": [0, 1, 0, 1], "other": [1, -1, -1, 0], "friction": 0.5} | POINTS
    assert problem.add_contacts(**arguments).tolist() == [1, 2, 3, 4]
    fresh.add_contacts(**arguments)
    same(problem, fresh)


@pytest.mark.parametrize("change, message", [
    ({"mass": [1, -1]}, "body 3: momentum matrix"), ({"rotation": np.zeros((2, 4))}, "body 2: rotation: expected"),
    ({"rotation": -np.array([np.eye(3)] * 2)}, "body 2: rotation: expected"),
    ({"free_velocity": np.full((2, 6), np.inf)}, "body 2: free velocity"),
    ({"position": [[0, 0, 0], [0, 0, np.nan]]}, "body 3: position: expected"), ({"inertia": np.ones((3, 3))}, "bodies: inertia")])
def test_where_a_body_is_refused_none_is_added(change, message):
    problem, fresh = some_problem(), some_problem()
    arguments = {"mass": 1.0, "inertia": np.ones((2, 3)), "free_velocity": np.zeros((2, 6)), "position": np.zeros((2, 3))}
    with pytest.raises(ValueError, match=message):
        problem.add_rigid_bodies(**(arguments | change))
    same(problem, fresh)
    assert problem.add_rigid_bodies(**arguments).tolist() == [2, 3]


def test_points_need_a_position():
    problem = carom.ContactProblem(0.01)
    problem.add_body(np.eye(6), np.zeros(6))
    with pytest.raises(ValueError, match="contact 0: point: expected bodies from add_rigid_bodies"):
        problem.add_contacts([0], point=[[0, 0, 0]], normal=[[0, 0, 1]])
    problem.reset(0.01)
    problem.add_rigid_bodies(1.0, np.ones((1, 3)), np.zeros((1, 6)), np.zeros((1, 3)))
    copy = problem.copy()
    copy.add_contacts([0], point=[[0, 0, 0]], normal=[[0, 0, 1]])
    assert (problem.contact_count, copy.contact_count) == (0, 1)
    problem.reset(0.01)
    problem.add_body(np.eye(6), np.zeros(6))
    with pytest.raises(ValueError, match="contact 0: point"):
        problem.add_contacts([0], point=[[0, 0, 0]], normal=[[0, 0, 1]])


def test_none_of_them():
    problem = carom.ContactProblem(0.01)
    assert problem.add_bodies(np.zeros((0, 6, 6)), np.zeros((0, 6))).size == 0
    assert problem.add_contacts(np.zeros(0), np.zeros((0, 3, 6))).size == 0


@pytest.mark.parametrize("law", ["coulomb", "convex"])
def test_certificates_do_not_depend_on_threads(law):
    """A row of blocks on the ground, enough of them for threads."""
    rng = np.random.default_rng(3)
    count = 1200
    problem = carom.ContactProblem(0.01)
    problem.add_bodies(np.broadcast_to(2 * np.eye(3), (count, 3, 3)), rng.normal(size=(count, 3)))
    problem.add_contacts(np.arange(count), np.broadcast_to(np.eye(3), (count, 3, 3)), friction=0.5)
    solution = carom.solve(problem, law=law)
    alone, shared = (carom.certify(problem, solution.velocity, solution.impulse, law=law, threads=threads) for threads in (1, 3))
    names = ["residual", "momentum_residual", "natural_map_error", "cone_violation", "complementarity", "error_bound",
             "duality_gap", "signorini", "dissipation_angle", "worst_contact"]
    assert [getattr(alone, name) for name in names] == [getattr(shared, name) for name in names]
    assert alone.residual <= 1e-8
    with pytest.raises(ValueError, match="threads"):
        carom.certify(problem, solution.velocity, solution.impulse, threads=0)
