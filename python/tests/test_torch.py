# SPDX-License-Identifier: BSD-3-Clause
"""carom.torch: gradients to 1e-8, batches, and what it refuses."""
import subprocess
import sys
import warnings

import numpy as np
import pytest

import carom
from carom._core import numbers_of
from conftest import build, random_numbers
from derivative_checks import (
    FIELDS,
    Moved,
    assert_gradients_are_slopes,
    bundled_problems,
    directions_of,
    random_problem,
    random_weights,
    scales_of,
)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # an older torch says that it was built for another numpy
    torch = pytest.importorskip("torch", reason="torch is not installed (Debian: python3-torch)")
import carom.torch  # noqa: E402

LAWS = ["convex", "coulomb"]


def tensor(numbers):
    return torch.from_dlpack(np.array(numbers, dtype=np.float64))


def as_tensors(numbers):
    return {
        name: [None if one is None else tensor(one) for one in value] if isinstance(value, list) else tensor(value)
        for name, value in numbers.items()
    }


def scaled_solve(problem, moved, options):
    """p (count, size) -> (v, gamma) in units of their own size, through tensors alone."""
    velocity_scale, impulse_scale = scales_of(carom.solve(problem, **options))
    arrays, scales = [tensor(a) for a in moved.arrays], [tensor(s) for s in moved.scales]

    def function(p):
        result, start = [], 0
        for array, scale in zip(arrays, scales):
            if moved.field == "regularization":
                part = p.reshape(len(p), -1, 2)[..., [0, 0, 1]]
            else:
                part = p[:, start : start + array.numel()].reshape(len(p), *array.shape)
                start += array.numel()
            if moved.field == "mass":
                part = (part + part.transpose(1, 2)) / 2
            result.append(array + part * scale)
        given = result[0]
        if moved.is_list:
            given = [None] * moved.length
            for place, one in zip(moved.places, result):
                given[place] = one
        answer = carom.torch.solve(problem, **{moved.field: given}, **options)
        return answer.velocity / velocity_scale, answer.impulse / impulse_scale

    return function


def test_importing_carom_imports_neither_torch_nor_jax():
    script = "import carom, sys; print('torch' in sys.modules, 'jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


@pytest.mark.parametrize("layer", ["torch", "jax"])
def test_a_layer_is_imported_when_it_is_first_used(layer):
    pytest.importorskip(layer)
    pytest.importorskip(f"carom.{layer}", exc_type=ImportError)
    script = f"import carom; print(carom.{layer}.solve.__module__, hasattr(carom, 'tensorflow'))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [f"carom.{layer}", "False"]


def test_a_call_gives_the_bits_of_solve():
    problem = build(random_numbers(0))
    for law in LAWS:
        alone = carom.solve(problem, law=law, tolerance=1e-12)
        velocity, impulse = carom.torch.solve(problem, law=law)
        assert np.array_equal(np.from_dlpack(velocity), alone.velocity) and velocity.dtype == torch.float64
        assert np.array_equal(np.from_dlpack(impulse), alone.impulse) and impulse.shape == (3, 3)


@pytest.mark.parametrize("law", LAWS)
def test_a_batch_has_the_bits_of_single_calls(law):
    """Forwards and backwards, for every tensor with the axis of the batch and for shared ones."""
    all_numbers = [random_numbers(seed) for seed in range(7)]
    pattern = build(all_numbers[0])
    names = ["free_velocity", "friction", "gap", "stiffness", "dissipation_time"]
    batched = {name: tensor([n[name] for n in all_numbers]).requires_grad_() for name in names}
    batched["mass"] = tensor([n["mass"] for n in all_numbers]).requires_grad_()
    for name in ["jacobian", "other_jacobian"]:
        items = [[n[name][c] for n in all_numbers] for c in range(3)]
        batched[name] = [None if one[0] is None else tensor(one).requires_grad_() for one in items]
    weights = tensor(np.random.default_rng(0).normal(size=(7, 12))), tensor(np.random.default_rng(1).normal(size=(7, 3, 3)))
    answer = carom.torch.solve(pattern, law=law, threads=3, report=True, **batched)
    assert answer.converged.all() and answer.residual.shape == (7,)
    ((answer.velocity * weights[0]).sum() + (answer.impulse * weights[1]).sum()).backward()
    for i, numbers in enumerate(all_numbers):
        single = as_tensors({name: np.array(numbers[name]) if name == "mass" else numbers[name] for name in batched})
        leaves = [one for value in single.values() for one in (value if isinstance(value, list) else [value]) if one is not None]
        for leaf in leaves:
            leaf.requires_grad_()
        velocity, impulse = carom.torch.solve(pattern, law=law, **single)
        assert torch.equal(velocity, answer.velocity[i]) and torch.equal(impulse, answer.impulse[i])
        ((velocity * weights[0][i]).sum() + (impulse * weights[1][i]).sum()).backward()
        found = [one for value in batched.values() for one in (value if isinstance(value, list) else [value]) if one is not None]
        for whole, part in zip(found, leaves):
            assert torch.equal(whole.grad[i], part.grad)


def test_a_tensor_shared_by_a_batch_has_the_sum_of_gradients():
    pattern = build(random_numbers(0))
    free = tensor([random_numbers(seed)["free_velocity"] for seed in range(5)])
    shared = tensor(random_numbers(0)["friction"]).requires_grad_()
    carom.torch.solve(pattern, free_velocity=free, friction=shared).velocity.sum().backward()
    separate = shared.detach().expand(5, 3).clone().requires_grad_()
    carom.torch.solve(pattern, free_velocity=free, friction=separate).velocity.sum().backward()
    assert torch.allclose(shared.grad, separate.grad.sum(0), rtol=1e-14, atol=0)


def test_floats_are_computed_as_doubles_and_come_back_as_floats():
    pattern = build(random_numbers(0))
    single = tensor(random_numbers(0)["friction"]).to(torch.float32).requires_grad_()
    double = single.detach().to(torch.float64).requires_grad_()
    answers = [carom.torch.solve(pattern, friction=one) for one in (single, double)]
    assert answers[0].velocity.dtype == answers[0].impulse.dtype == torch.float32
    assert torch.equal(answers[0].velocity, answers[1].velocity.to(torch.float32))
    for answer in answers:
        answer.velocity[0].backward()
    assert single.grad.dtype == torch.float32 and torch.equal(single.grad, double.grad.to(torch.float32))


def test_a_problem_without_an_answer_has_no_gradient_and_harms_no_other():
    """Two rigid contacts that ask for opposite speeds."""
    problem = carom.ContactProblem(0.01)
    problem.add_body(np.eye(3), [0, 0, -1.0])
    problem.add_contact(0, np.eye(3), friction=0.5, rigid=True)
    problem.add_contact(0, -np.eye(3), friction=0.5, rigid=True)
    bias = tensor([[[0, 0, 0], [0, 0, -2.0]], [[0, 0, 1.0], [0, 0, 1.0]]]).requires_grad_()
    answer = carom.torch.solve(problem, law="coulomb", bias=bias, report=True)
    assert answer.converged.tolist() == [True, False]
    answer.velocity.sum().backward()
    assert bias.grad[0].isfinite().all() and bias.grad[1].isnan().all()
    assert answer.velocity.isfinite().all()


def test_bars_that_are_not_finite_give_gradients_that_are_not():
    friction = tensor([[0.5] * 3] * 2).requires_grad_()
    velocity = carom.torch.solve(build(random_numbers(0)), friction=friction).velocity
    velocity.backward(torch.stack([torch.full((12,), float("inf"), dtype=torch.float64), torch.ones(12, dtype=torch.float64)]))
    assert friction.grad[0].isnan().all() and friction.grad[1].isfinite().all()


def test_views_and_the_graph_around_a_call():
    """Strides, a tensor that is the result of others, and gradients that arrive expanded."""
    pattern = build(random_numbers(0))
    base = tensor(np.repeat(random_numbers(0)["friction"], 2)).requires_grad_()
    carom.torch.solve(pattern, friction=base[::2] * 1.0).velocity.sum().backward()
    plain = base.detach()[::2].clone().requires_grad_()
    carom.torch.solve(pattern, friction=plain).velocity.backward(torch.ones(12, dtype=torch.float64))
    assert torch.equal(base.grad[::2], plain.grad) and not base.grad[1::2].any()
    with torch.no_grad():
        assert not carom.torch.solve(pattern, friction=plain).velocity.requires_grad


def test_a_second_derivative_is_refused():
    """Also where the loss has the velocity beside it, or weights that have a gradient of their own."""
    pattern = build(random_numbers(0))
    friction = tensor(random_numbers(0)["friction"]).requires_grad_()
    weights = torch.ones(12, dtype=torch.float64, requires_grad=True)
    for by_velocity, unknowns in [(lambda v: v[0], [friction]), (lambda v: (v * weights).sum(), [friction, weights])]:
        velocity = carom.torch.solve(pattern, friction=friction).velocity
        slope = torch.autograd.grad(by_velocity(velocity), friction, create_graph=True)[0][0]
        with pytest.raises(RuntimeError, match=r"^carom\.torch\.solve: .*second"):
            torch.autograd.grad(velocity[0] + 10 * slope**2, unknowns)


def test_a_tensor_that_is_overwritten_later_keeps_its_gradient():
    """As in a loop that writes each state into one buffer."""
    pattern = build(random_numbers(0))
    start = tensor(random_numbers(0)["free_velocity"]).requires_grad_()
    buffer = start * 1.0
    velocity = carom.torch.solve(pattern, free_velocity=buffer).velocity
    buffer[:] = 0.0
    expected = torch.autograd.grad(carom.torch.solve(pattern, free_velocity=start).velocity.sum(), start)[0]
    assert torch.equal(torch.autograd.grad(velocity.sum(), start)[0], expected)


def test_a_batch_of_no_problem_is_empty():
    pattern = build(random_numbers(0))
    friction = torch.zeros(0, 3, dtype=torch.float64, requires_grad=True)
    gap = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    mass = [torch.zeros(0, 6, 6, dtype=torch.float64, requires_grad=True), None]
    answer = carom.torch.solve(pattern, friction=friction, gap=gap, mass=mass, report=True)
    assert [tuple(one.shape) for one in answer] == [(0, 12), (0, 3, 3), (0,), (0,)]
    assert answer.converged.dtype == torch.bool
    (answer.velocity.sum() + answer.impulse.sum()).backward()
    assert friction.grad.shape == (0, 3) and mass[0].grad.shape == (0, 6, 6)
    assert torch.equal(gap.grad, torch.zeros(3, dtype=torch.float64))


BAD = {
    "shape": ({"friction": lambda: torch.zeros(4, dtype=torch.float64)}, r"^friction: expected shape \(3,\)"),
    "axes": ({"friction": lambda: torch.zeros(2, 2, 3, dtype=torch.float64)}, "^friction: expected one axis"),
    "batches": (
        {"friction": lambda: torch.zeros(2, 3, dtype=torch.float64), "gap": lambda: torch.zeros(4, 3, dtype=torch.float64)},
        "^gap: expected a batch of 2",
    ),
    "whole numbers": ({"friction": lambda: torch.zeros(3, dtype=torch.int64)}, "^friction: expected a tensor of float64"),
    "half": ({"friction": lambda: torch.zeros(3, dtype=torch.float16)}, "^friction: expected a tensor of float64"),
    "complex": ({"friction": lambda: torch.zeros(3, dtype=torch.complex128)}, "^friction: expected a tensor of float64"),
    "device": ({"friction": lambda: torch.zeros(3, dtype=torch.float64, device="meta")}, "^friction: expected a tensor on the cpu"),
    "sparse": ({"friction": lambda: torch.zeros(3, dtype=torch.float64).to_sparse()}, "^friction: expected a dense"),
    "nan": ({"friction": lambda: tensor([0.5, np.nan, 0.5])}, r"^contact 1: friction: expected a finite number"),
    "negative": ({"friction": lambda: tensor([[0.5] * 3, [0.5, 0.5, -0.2]])}, r"^problem 1: contact 2: friction"),
    "text": ({"gap": lambda: "a"}, "^gap: expected an array of real numbers, got one of type <U1"),
    "numbers in text": ({"gap": lambda: ["1", "2", "3"]}, "^gap: expected an array of real numbers, got one of type <U1"),
    "complex numbers": ({"gap": lambda: np.zeros(3) * 1j}, "^gap: expected an array of real numbers, got one of type complex128"),
    "object": ({"gap": lambda: object()}, "^gap: expected an array of real numbers, got one of type object"),
    "list": ({"mass": lambda: [tensor(np.eye(6))]}, "^mass: expected a list of 2"),
    "item": ({"jacobian": lambda: [None, tensor(np.zeros((3, 5))), None]}, r"^jacobian 1: expected shape \(3, 6\)"),
    "no second body": ({"other_jacobian": lambda: [tensor(np.zeros((3, 6))), None, None]}, "^other_jacobian 0: expected None"),
    "stacked": ({"other_jacobian": lambda: tensor(np.zeros((3, 3, 6)))}, "^other_jacobian: expected a list"),
    "asymmetric": ({"mass": lambda: [tensor(np.triu(np.ones((6, 6)))), None]}, "^body 0: momentum matrix"),
    "tensors in a list": ({"friction": lambda: [torch.ones(1, requires_grad=True)] * 3}, "^friction: expected an array of real numbers, got"),
    "law": ({"law": lambda: "viscous"}, "^law: expected"),
    "tolerance": ({"tolerance": lambda: torch.ones(1, requires_grad=True)}, "^tolerance: expected a finite number > 0, got a tensor that requires"),
    "no tolerance": ({"tolerance": lambda: "a"}, "^tolerance: expected a finite number > 0, got 'a'"),
    "threads": ({"threads": lambda: 0, "gap": lambda: torch.zeros(2, 3, dtype=torch.float64)}, "^threads: expected a whole number >= 1"),
    "threads of one": ({"threads": lambda: -1}, "^threads: expected a whole number >= 1 or None, got -1"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_a_value_error_with_its_address(name):
    arguments, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        carom.torch.solve(build(random_numbers(0)), **{key: make() for key, make in arguments.items()})


def torch_gradients(problem, numbers, fields, weights, options):
    """Gradients of <weights, (v, gamma)> by every field, through one backward pass."""
    given = as_tensors({field: numbers[field] for field in fields})
    leaves = [one for value in given.values() for one in (value if isinstance(value, list) else [value]) if one is not None]
    for leaf in leaves:
        leaf.requires_grad_()
    velocity, impulse = carom.torch.solve(problem, **given, **options)
    ((velocity * tensor(weights[0])).sum() + (impulse * tensor(weights[1])).sum()).backward()
    read = lambda one: None if one is None else np.from_dlpack(one.grad)  # noqa: E731
    return {field: [read(one) for one in value] if isinstance(value, list) else read(value) for field, value in given.items()}


def check_by_torch(problem, numbers, field, step, options):
    """torch.autograd.gradcheck along directions_of(), to 1e-8 of the largest slope, or of one.

    gradcheck takes (F(eps) - F(-eps)) / (2 eps), whose error is of the second order and above 1e-8.
    So it is given F(q) = 3/2 f(q) - 3/10 f(2 q) + 1/30 f(3 q): F has the gradient of f at zero, and
    that quotient is the difference of f of the sixth order.
    """
    moved = Moved(numbers, field, scales_of(carom.solve(problem, **options))[0])
    directions = tensor(directions_of(moved.size))
    function = scaled_solve(problem, moved, options)
    factors, weights = tensor([[1.0], [2.0], [3.0]]), tensor([3 / 2, -3 / 10, 1 / 30])

    def combined(q):
        return tuple(torch.tensordot(weights, values, dims=1) for values in function(factors * (q @ directions)))

    q = torch.zeros(len(directions), dtype=torch.float64, requires_grad=True)
    ends = zip(function(step * directions), function(-step * directions))
    largest = max(1.0, *(float((right - left).abs().max()) / (2 * step) for right, left in ends))
    assert torch.autograd.gradcheck(combined, (q,), eps=step, atol=1e-8 * largest, rtol=0)


def check_fields(problem, numbers, fields, options):
    solution = carom.solve(problem, **options)
    assert len(solution.one_sided) == 0
    weights = random_weights(problem, solution)
    fields = [field for field in fields if Moved(numbers, field).size > 0]
    gradients = torch_gradients(problem, numbers, fields, weights, options)
    for field in fields:
        step = assert_gradients_are_slopes(problem, numbers, field, gradients[field], weights, options)
        check_by_torch(problem, numbers, field, step, options)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", bundled_problems())
def test_gradients_of_bundled_problems(name, law):
    """By every field, to 1e-8: by gradcheck, and by differences of solves in C++ alone.

    No bundled problem has a contact on a boundary, where a difference would see both sides.
    """
    problem = bundled_problems()[name]
    check_fields(problem, numbers_of(problem), FIELDS, {"law": law, "tolerance": 1e-13})


@pytest.mark.parametrize("law, rigid", [("convex", False), ("convex", True), ("coulomb", False), ("coulomb", True)])
def test_gradients_by_physical_numbers(law, rigid):
    """Gap, stiffness, dissipation and all others of a problem that was made of them."""
    problem, numbers = random_problem()
    check_fields(problem, numbers, list(numbers), {"law": law, "rigid": rigid, "tolerance": 1e-13})


def test_what_is_no_problem_is_refused():
    with pytest.raises(ValueError, match="^problem: expected a ContactProblem"):
        carom.torch.solve(3)
