# SPDX-License-Identifier: BSD-3-Clause
"""carom.jax: gradients to 1e-8, jit, grad, vmap, and what it refuses."""
import gc
import subprocess
import sys

import numpy as np
import pytest

import carom
from carom._core import numbers_of, pattern_count
from conftest import build, random_numbers
from derivative_checks import (
    FIELDS,
    Moved,
    assert_gradients_are_slopes,
    bundled_problems,
    random_problem,
    random_weights,
)

jax = pytest.importorskip("jax", reason="jax is not installed (pip install jax)")
try:
    import carom.jax
except ImportError as left_out:
    pytest.skip(str(left_out), allow_module_level=True)
import jax.numpy as jnp  # noqa: E402

jax.config.update("jax_enable_x64", True)
LAWS = ["convex", "coulomb"]
NAMES = ["free_velocity", "friction", "gap", "stiffness", "dissipation_time", "mass", "jacobian", "other_jacobian"]


def arrays_of(numbers, names=NAMES):
    as_array = lambda one: None if one is None else jnp.asarray(one)  # noqa: E731
    return {name: [as_array(one) for one in numbers[name]] if isinstance(numbers[name], list) else as_array(numbers[name]) for name in names}


def weighted(problem, weights, options):
    """numbers -> <weights, (v, gamma)>."""

    def value(given):
        answer = carom.jax.solve(problem, **given, **options)
        return (answer.velocity * weights[0]).sum() + (answer.impulse * weights[1]).sum()

    return value


def same(first, second, exactly=True):
    leaves = zip(jax.tree_util.tree_leaves(first), jax.tree_util.tree_leaves(second), strict=True)
    for one, other in leaves:
        if exactly:
            assert np.array_equal(one, other)
        else:
            assert np.allclose(one, other, rtol=1e-12, atol=1e-12 * np.abs(other).max())


def check_fields(problem, numbers, fields, options):
    solution = carom.solve(problem, **options)
    assert len(solution.one_sided) == 0
    weights = random_weights(problem, solution)
    fields = [field for field in fields if Moved(numbers, field).size > 0]
    gradients = jax.jit(jax.grad(weighted(problem, weights, options)))(arrays_of(numbers, fields))
    for field in fields:
        assert_gradients_are_slopes(problem, numbers, field, gradients[field], weights, options)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", bundled_problems())
def test_gradients_of_bundled_problems(name, law):
    """By every field, to 1e-8, through jit and grad."""
    problem = bundled_problems()[name]
    check_fields(problem, numbers_of(problem), FIELDS, {"law": law, "tolerance": 1e-13})


@pytest.mark.parametrize("law, rigid", [("convex", False), ("convex", True), ("coulomb", False), ("coulomb", True)])
def test_gradients_by_physical_numbers(law, rigid):
    problem, numbers = random_problem()
    check_fields(problem, numbers, list(numbers), {"law": law, "rigid": rigid, "tolerance": 1e-13})


def test_gradients_satisfy_check_grads():
    from jax.test_util import check_grads

    problem, numbers = random_problem()
    weights = random_weights(problem, carom.solve(problem))
    value = weighted(problem, weights, {"law": "coulomb", "tolerance": 1e-13})
    given = arrays_of(numbers, ["free_velocity", "friction", "dissipation_time", "jacobian"])
    check_grads(value, (given,), order=1, modes=["rev"], atol=1e-6, rtol=1e-6, eps=1e-5)


@pytest.mark.parametrize("law", LAWS)
def test_a_call_gives_the_bits_of_solve(law):
    problem = build(random_numbers(0))
    alone = carom.solve(problem, law=law, tolerance=1e-12)
    for call in [carom.jax.solve, jax.jit(carom.jax.solve, static_argnums=0, static_argnames=("law", "report"))]:
        answer = call(problem, law=law, report=True)
        assert np.array_equal(answer.velocity, alone.velocity) and np.array_equal(answer.impulse, alone.impulse)
        assert bool(answer.converged) and float(answer.residual) == alone.residual


@pytest.mark.parametrize("law", LAWS)
def test_transformations_agree_with_single_calls(law):
    """jit(grad), vmap(grad), grad(vmap), an explicit batch: the bits of single calls."""
    all_numbers = [random_numbers(seed) for seed in range(5)]
    pattern = build(all_numbers[0])
    value = weighted(pattern, (np.linspace(-1, 1, 12), np.ones((3, 3))), {"law": law})
    singles = [arrays_of(numbers) for numbers in all_numbers]
    stacked = jax.tree_util.tree_map(lambda *parts: jnp.stack(parts), *singles)
    values, gradients = [], []
    for given in singles:
        value_alone, gradient_alone = jax.value_and_grad(value)(given)
        values.append(value_alone)
        gradients.append(gradient_alone)
        same(jax.jit(jax.grad(value))(given), gradient_alone)
    expected = jax.tree_util.tree_map(lambda *parts: jnp.stack(parts), *gradients)
    same(jax.vmap(value)(stacked), jnp.stack(values), exactly=False)
    for batched in [jax.vmap(jax.grad(value)), jax.jit(jax.vmap(jax.grad(value))), jax.grad(lambda given: jax.vmap(value)(given).sum())]:
        same(batched(stacked), expected)
    answers = [carom.jax.solve(pattern, law=law, **given) for given in singles]
    for whole in [carom.jax.solve(pattern, law=law, **stacked), jax.vmap(lambda given: carom.jax.solve(pattern, law=law, **given))(stacked)]:
        same(whole, jax.tree_util.tree_map(lambda *parts: jnp.stack(parts), *answers))


def test_arrays_that_a_batch_shares():
    """vmap over one array alone, two axes of a batch, and arrays that are broadcast."""
    problem, numbers = random_problem()
    free = jnp.stack([random_numbers(seed)["free_velocity"] for seed in range(4)])
    friction = jnp.stack([jnp.asarray(numbers["friction"]) * factor for factor in (0.5, 1.0, 1.5)])

    def value(velocity, mu, jacobian):
        return carom.jax.solve(problem, free_velocity=velocity, friction=mu, jacobian=jacobian).velocity[0]

    jacobian = [jnp.asarray(one) for one in numbers["jacobian"]]
    grid = jax.vmap(jax.vmap(value, (None, 0, None)), (0, None, None))(free, friction, jacobian)
    whole = carom.jax.solve(problem, free_velocity=free[:, None], friction=friction, jacobian=jacobian).velocity
    assert whole.shape == (4, 3, 12) and np.array_equal(grid, whole[..., 0])
    for i in range(4):
        for k in range(3):
            assert grid[i, k] == value(free[i], friction[k], jacobian)

    def total(velocity, mu, jacobian):
        return carom.jax.solve(problem, free_velocity=velocity[:, None], friction=mu, jacobian=jacobian).velocity[..., 0].sum()

    gradients = jax.grad(total, argnums=(0, 1, 2))(free, friction, jacobian)
    one = jax.grad(value, argnums=(0, 1, 2))
    sums = [[one(free[i], friction[k], jacobian) for k in range(3)] for i in range(4)]
    same(gradients[0], jnp.stack([sum(part[0] for part in row) for row in sums]), exactly=False)
    same(gradients[1], jnp.stack([sum(row[k][1] for row in sums) for k in range(3)]), exactly=False)
    same(gradients[2][1], sum(part[2][1] for row in sums for part in row), exactly=False)


def test_jacobians_are_stacked_gradients():
    problem, numbers = random_problem()
    friction = jnp.asarray(numbers["friction"])
    velocity = lambda mu: carom.jax.solve(problem, friction=mu).velocity  # noqa: E731
    rows = [jax.grad(lambda mu, row=row: velocity(mu)[row])(friction) for row in range(12)]
    same(jax.jacrev(velocity)(friction), jnp.stack(rows))
    stacked = carom.jax.solve(problem, mass=jnp.asarray(np.array(numbers["mass"]))).velocity
    assert np.array_equal(stacked, velocity(friction))


def test_floats_are_computed_as_doubles_and_come_back_as_floats():
    problem, numbers = random_problem()
    single = jnp.asarray(numbers["friction"], dtype=jnp.float32)
    value = lambda mu: carom.jax.solve(problem, friction=mu).velocity[0]  # noqa: E731
    assert value(single).dtype == jnp.float32 and jax.grad(value)(single).dtype == jnp.float32
    exact = value(single.astype(jnp.float64))
    assert exact.dtype == jnp.float64 and value(single) == exact.astype(jnp.float32)


def test_a_problem_without_an_answer_has_no_gradient_and_harms_no_other():
    problem = carom.ContactProblem(0.01)
    problem.add_body(np.eye(3), [0, 0, -1.0])
    problem.add_contact(0, np.eye(3), friction=0.5, rigid=True)
    problem.add_contact(0, -np.eye(3), friction=0.5, rigid=True)
    bias = jnp.array([[[0, 0, 0], [0, 0, -2.0]], [[0, 0, 1.0], [0, 0, 1.0]]])
    answer = carom.jax.solve(problem, law="coulomb", bias=bias, report=True)
    assert answer.converged.tolist() == [True, False] and np.isfinite(answer.velocity).all()
    gradient = jax.grad(lambda b: carom.jax.solve(problem, law="coulomb", bias=b).velocity.sum())(bias)
    assert np.isfinite(gradient[0]).all() and np.isnan(gradient[1]).all()


def test_a_pattern_lives_as_long_as_a_program_and_no_longer():
    jax.clear_caches()
    gc.collect()
    before = pattern_count()

    def value(friction):
        problem = carom.ContactProblem(0.01)
        problem.add_body(2 * np.eye(3), [1.0, 0, -0.1])
        problem.add_contact(0, np.eye(3), stiffness=1e5)
        return carom.jax.solve(problem, friction=friction).velocity[0]

    compiled = jax.jit(jax.value_and_grad(value))
    first = compiled(jnp.array([0.5]))
    gc.collect()
    same(compiled(jnp.array([0.5])), first)
    assert pattern_count() == before + 1
    del compiled
    jax.clear_caches()
    gc.collect()
    assert pattern_count() == before


def test_a_problem_that_changes_after_a_trace_changes_no_program():
    problem = carom.ContactProblem(0.01)
    problem.add_body(2 * np.eye(3), [1.0, 0, -0.1])
    problem.add_contact(0, np.eye(3))
    program = jax.jit(lambda friction: carom.jax.solve(problem, friction=friction).velocity)
    before = program(jnp.array([0.5]))
    problem.reset(0.01)
    problem.add_body(1 * np.eye(3), [5.0, 0, -0.1])
    problem.add_contact(0, np.eye(3))
    assert np.array_equal(program(jnp.array([0.5])), before)
    assert carom.jax.solve(problem, friction=jnp.array([0.5])).velocity[0] > 3


def test_a_batch_of_no_problem_is_empty():
    problem, _ = random_problem()
    solve = lambda friction, gap: carom.jax.solve(problem, friction=friction, gap=gap, report=True)  # noqa: E731
    friction, gap = jnp.zeros((0, 3)), jnp.zeros(3)
    for call in [solve, jax.jit(solve), jax.vmap(solve, (0, None))]:
        assert [one.shape for one in call(friction, gap)] == [(0, 12), (0, 3, 3), (0,), (0,)]
        gradients = jax.grad(lambda mu, d, call=call: call(mu, d).velocity.sum(), argnums=(0, 1))(friction, gap)
        assert gradients[0].shape == (0, 3) and np.array_equal(gradients[1], np.zeros(3))
    assert solve(jnp.zeros((2, 0, 3)), gap).velocity.shape == (2, 0, 12)


def test_what_numpy_holds_goes_to_the_processor(monkeypatch):
    """Also where jax computes on something else unless told otherwise."""
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    array = carom.jax._read("gap", [1.0, 2.0])
    assert array.committed and {device.platform for device in array.devices()} == {"cpu"}


def test_settings_are_read_as_carom_reads_them():
    problem, _ = random_problem()
    alone = carom.solve(problem, tolerance=1e-12)
    for options in [{"law": None}, {"rigid": None}, {"threads": None}, {"threads": np.int64(3)}, {"tolerance": np.array(1e-12)}]:
        assert np.array_equal(carom.jax.solve(problem, **options).velocity, alone.velocity)
    with pytest.raises(ValueError, match="^tolerance: expected what is fixed when compiled"):
        jax.jit(lambda t: carom.jax.solve(problem, tolerance=t).velocity)(1e-9)


def test_a_tensor_of_torch_that_requires_a_gradient_is_refused():
    """Its gradient would not come back."""

    class Tensor:
        requires_grad = True

    problem, _ = random_problem()
    with pytest.raises(ValueError, match="^friction: expected an array of real numbers, got a tensor that requires a gradient"):
        carom.jax.solve(problem, friction=Tensor())


BAD = {
    "shape": ({"friction": np.zeros(4)}, r"^friction: expected shape \(3,\)"),
    "axes": ({"friction": np.zeros((2, 3)), "gap": np.zeros((4, 3))}, "^gap: expected axes of the batch"),
    "whole numbers": ({"friction": jnp.zeros(3, dtype=jnp.int32)}, "^friction: expected an array of float64"),
    "complex": ({"friction": jnp.zeros(3, dtype=jnp.complex128)}, "^friction: expected an array of float64"),
    "nan": ({"friction": jnp.array([0.5, np.nan, 0.5])}, "^contact 1: friction: expected a finite number"),
    "negative": ({"friction": jnp.array([[0.5] * 3, [0.5, 0.5, -0.2]])}, "^problem 1: contact 2: friction"),
    "text": ({"gap": "a"}, "^gap: expected an array of real numbers, got one of type <U1"),
    "numbers in text": ({"gap": ["1", "2", "3"]}, "^gap: expected an array of real numbers, got one of type <U1"),
    "complex numbers": ({"gap": np.zeros(3) * 1j}, "^gap: expected an array of real numbers, got one of type complex128"),
    "list": ({"mass": [np.eye(6)]}, "^mass: expected a list of 2"),
    "item": ({"jacobian": [None, np.zeros((3, 5)), None]}, r"^jacobian 1: expected shape \(3, 6\)"),
    "no second body": ({"other_jacobian": [np.zeros((3, 6)), None, None]}, "^other_jacobian 0: expected None"),
    "stacked": ({"other_jacobian": np.zeros((3, 3, 6))}, "^other_jacobian: expected a list"),
    "law": ({"law": "viscous"}, "^law: expected"),
    "tolerance": ({"tolerance": -1.0}, "^tolerance: expected a finite number > 0, got -1.0"),
    "no tolerance": ({"tolerance": "a"}, "^tolerance: expected a finite number > 0, got 'a'"),
    "infinite tolerance": ({"tolerance": np.inf}, "^tolerance: expected a finite number > 0, got inf"),
    "threads": ({"threads": -1}, "^threads: expected a whole number >= 1 or None, got -1"),
    "parts of threads": ({"threads": 1.5}, "^threads: expected a whole number >= 1 or None, got 1.5"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_a_value_error_with_its_address(name):
    arguments, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        carom.jax.solve(build(random_numbers(0)), **arguments)


def test_bad_numbers_in_a_compiled_program_are_an_error_that_says_where():
    program = jax.jit(lambda mu: carom.jax.solve(build(random_numbers(0)), friction=mu).velocity)
    with pytest.raises((ValueError, jax.errors.JaxRuntimeError), match="contact 1: friction: expected a finite number"):
        jax.block_until_ready(program(jnp.array([0.5, -1.0, 0.5])))
    assert np.isfinite(program(jnp.array([0.5, 0.5, 0.5]))).all()


def test_a_build_without_the_headers_of_jax_says_how_to_build_it():
    script = "import sys; sys.modules['carom._jax'] = None; import carom.jax"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "ImportError: carom.jax: expected a package that was built with the headers of jax" in done.stderr
    assert "CAROM_JAX_INCLUDE_DIR" in done.stderr


def test_without_doubles_it_says_what_to_set():
    jax.config.update("jax_enable_x64", False)
    try:
        with pytest.raises(ValueError, match="jax_enable_x64"):
            carom.jax.solve(build(random_numbers(0)))
    finally:
        jax.config.update("jax_enable_x64", True)


def test_what_is_no_problem_is_refused():
    with pytest.raises(ValueError, match="^problem: expected a ContactProblem"):
        carom.jax.solve(3)
