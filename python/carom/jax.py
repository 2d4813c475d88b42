# SPDX-License-Identifier: BSD-3-Clause
"""carom as a function of jax, with gradients, under jit, grad and vmap.

    import carom, carom.jax, jax, jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    pattern = carom.ContactProblem(0.01)
    pattern.add_body(jnp.eye(3), [1.0, 0, -0.1])
    pattern.add_contact(0, jnp.eye(3), stiffness=1e5)
    speed = lambda friction: carom.jax.solve(pattern, friction=friction).velocity[0]
    jax.jit(jax.grad(speed))(jnp.array([0.5]))

XLA calls C++ itself, without Python in between. Gradients are those of the law at its solution, by
implicit differentiation. Under vmap the whole batch goes to C++ at once, forwards and backwards,
and is solved on several threads. On the processor only.
"""
import functools
import importlib
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

import jax
import jax.numpy as jnp

import carom
from carom._core import Pattern
from carom._operands import FIELDS, Options, batch_axes, doubles_of, operands_of, options_of, shape_of

try:
    _jax: Any = importlib.import_module("carom._jax")
except ImportError:
    raise ImportError(
        "carom.jax: expected a package that was built with the headers of jax, got one without; in a clone of carom run: "
        "pip install . -C cmake.define.CAROM_JAX_INCLUDE_DIR=\"$(python -c 'import jax; print(jax.ffi.include_dir())')\""
    ) from None

__all__ = ["Answer", "ReportedAnswer", "solve"]


@functools.cache
def _register() -> None:
    """Makes carom known to XLA, once.

    The processor's client of XLA is made first: what is registered before it exists it takes in an
    order of its own, calls before the types that they use.
    """
    jax.devices("cpu")
    jax.ffi.register_ffi_type("carom_pattern", {"type_id": _jax.type_id, "type_info": _jax.type_info}, platform="cpu")
    jax.ffi.register_ffi_target("carom_solve", {"instantiate": _jax.hold, "execute": _jax.solve}, platform="cpu")
    jax.ffi.register_ffi_target("carom_pull_back", {"instantiate": _jax.hold, "execute": _jax.pull_back}, platform="cpu")


class Answer(NamedTuple):
    """Velocities and impulses after a step."""

    velocity: jax.Array  # (..., nv) [m/s, rad/s]
    impulse: jax.Array  # (..., nc, 3) [N s]


class ReportedAnswer(NamedTuple):
    """An answer with how far to trust it."""

    velocity: jax.Array  # (..., nv) [m/s, rad/s]
    impulse: jax.Array  # (..., nc, 3) [N s]
    converged: jax.Array  # (...), bool
    residual: jax.Array  # (...) [-]


class _Handle(np.int64):
    """The number that XLA knows a pattern by. Whatever keeps the number keeps the pattern."""

    pattern: Pattern


class _Task(NamedTuple):
    """What the arrays of a call are for: what is fixed when a program is compiled."""

    pattern: _Handle
    fields: tuple[int, ...]
    items: tuple[int, ...]  # -1: all
    shapes: tuple[tuple[int, ...], ...]  # without the axes of the batch
    velocities: int
    rows: int
    coulomb: bool
    rigid: bool
    threads: int  # 0: as many as the processor has
    tolerance: float

    @property
    def attributes(self) -> dict[str, Any]:
        return {
            "pattern": self.pattern,
            "fields": np.array(self.fields, dtype=np.int64),
            "items": np.array(self.items, dtype=np.int64),
            "flags": np.array([self.coulomb, self.rigid, self.threads], dtype=np.int64),
            "tolerance": np.float64(self.tolerance),
        }

    def batch_of(self, arrays: tuple[jax.Array, ...]) -> tuple[int, ...]:
        return np.broadcast_shapes(*(array.shape[: array.ndim - len(shape)] for array, shape in zip(arrays, self.shapes)))


def _doubles(shapes: Iterable[tuple[int, ...]]) -> list[jax.ShapeDtypeStruct]:
    return [jax.ShapeDtypeStruct(shape, jnp.float64) for shape in shapes]  # type: ignore[no-untyped-call,unused-ignore]


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _solve(task: _Task, arrays: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
    """Velocity, impulses of all blocks, and the report: number of the status, residual, iterations."""
    batch = task.batch_of(arrays)
    kinds = _doubles((*batch, size) for size in (task.velocities, task.rows, 3))
    return tuple(jax.ffi.ffi_call("carom_solve", kinds, vmap_method="expand_dims")(*arrays, **task.attributes))


def _forward(task: _Task, arrays: tuple[jax.Array, ...]) -> tuple[tuple[jax.Array, ...], Any]:
    answers = _solve(task, arrays)
    return answers, (arrays, answers)


def _backward(task: _Task, kept: Any, bars: tuple[jax.Array, ...]) -> tuple[tuple[jax.Array, ...]]:
    arrays, answers = kept
    batch = task.batch_of(arrays)
    kinds = _doubles((*batch, *shape) for shape in task.shapes)
    call = jax.ffi.ffi_call("carom_pull_back", kinds, vmap_method="broadcast_all")
    gradients = call(*arrays, *answers, *bars[:2], **task.attributes)
    return (tuple(_sum_shared(gradient, array.shape) for gradient, array in zip(gradients, arrays)),)


def _sum_shared(gradient: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    """The sum over the axes of the batch that an array does not have of its own."""
    shared = tuple(axis for axis, (got, own) in enumerate(zip(gradient.shape, shape)) if got != own)
    return gradient.sum(axis=shared, keepdims=True) if shared else gradient


_solve.defvjp(_forward, _backward)
_solve_compiled = jax.jit(_solve, static_argnums=0)


def _read(name: str, value: Any) -> jax.Array:
    if not isinstance(value, jax.Array):
        # Where the processor is not what jax computes on unless told otherwise, it has to be told.
        device = None if jax.default_backend() == "cpu" else jax.devices("cpu")[0]
        return jax.device_put(doubles_of(name, value), device)
    if value.dtype not in (jnp.float64, jnp.float32):
        raise ValueError(f"{name}: expected an array of float64 or float32, got one of {value.dtype}")
    if not isinstance(value, jax.core.Tracer):
        for device in value.devices():
            if device.platform != "cpu":
                raise ValueError(f"{name}: expected an array on the cpu, got one on {device}; move it with jax.device_put")
    return value


def _task_of(problem: carom.ContactProblem, options: Options, given: dict[str, Any]) -> tuple[_Task, list[jax.Array]]:
    """The task and the arrays, which have all axes of the batch, of size 1 where they share."""
    if jnp.result_type(float) != jnp.float64:
        raise ValueError("jax: expected doubles; call jax.config.update('jax_enable_x64', True) first")
    _register()
    shape = shape_of(problem)
    operands = operands_of(shape, given, _read)
    if not operands:  # XLA wants an array
        operands = operands_of(shape, {"free_velocity": problem.free_velocity}, _read)
    axes = [batch_axes(operand, operand.array.shape) for operand in operands]
    batch: tuple[int, ...] = ()
    for operand, one in zip(operands, axes):
        try:
            batch = np.broadcast_shapes(batch, one)
        except ValueError:
            raise ValueError(f"{operand.name}: expected axes of the batch that go with {batch}, got {one}") from None
    arrays = [operand.array.reshape((1,) * (len(batch) - len(one)) + operand.array.shape) for operand, one in zip(operands, axes)]
    pattern = Pattern(problem)
    handle = _Handle(pattern.handle)
    handle.pattern = pattern
    task = _Task(
        pattern=handle,
        fields=tuple(FIELDS.index(operand.field) for operand in operands),
        items=tuple(-1 if operand.item is None else operand.item for operand in operands),
        shapes=tuple(operand.shape for operand in operands),
        velocities=shape.velocities,
        rows=shape.rows,
        coulomb=options.law == "coulomb",
        rigid=options.rigid,
        threads=options.threads or 0,
        tolerance=options.tolerance,
    )
    return task, arrays


def _rows_of(task_rows: int, first_rows: list[int]) -> np.ndarray[Any, Any] | None:
    """Where the impulses of contacts are among those of all blocks; None: they are all there is."""
    if task_rows == 3 * len(first_rows):
        return None
    return (np.array(first_rows, dtype=np.int64)[:, None] + np.arange(3)).ravel()


def solve(
    problem: carom.ContactProblem,
    *,
    law: str = "coulomb",
    rigid: bool = False,
    tolerance: float = 1e-12,
    threads: int | None = None,
    report: bool = False,
    free_velocity: Any = None,
    friction: Any = None,
    gap: Any = None,
    stiffness: Any = None,
    dissipation_time: Any = None,
    regularization: Any = None,
    bias: Any = None,
    mass: Any = None,
    jacobian: Any = None,
    other_jacobian: Any = None,
) -> Answer | ReportedAnswer:
    """Solves a step, or a batch of steps of one pattern, with gradients by the arrays.

    problem: the pattern; numbers that no array replaces are those of it, as they are when the call
    is traced. law, rigid, tolerance: as in carom.solve(), fixed when compiled. threads: None for as
    many as the processor has.

    Arrays have the shapes of the gradients of Solution.pull_back(): free_velocity (nv,); friction,
    gap, stiffness, dissipation_time (nc,); regularization, bias (nc, 3); mass a list of (n, n) or an
    array (bodies, n, n); jacobian, other_jacobian a list of (3, n) or None, or an array (nc, 3, n).
    Each may have the axes of a batch in front, which are broadcast; under vmap there are none.

    Keep one pattern and pass it arrays: each new or reset problem is compiled anew, and what was
    compiled is kept until jax.clear_caches().

    Numbers are computed as doubles, for which jax_enable_x64 must be set; where every array is
    float32 the answer is float32. Returns (velocity, impulse); with report=True (velocity, impulse,
    converged, residual). A problem that cannot be solved is no error: its answer is the best iterate
    and its gradients are NaN.

    A mass has the gradient of its symmetric part. The first two entries of a regularization are one
    number, whose gradient is the sum of both. Where two regions meet, such as stick and slide, the
    gradient is that of one side. There is no second derivative and no forward mode. ValueError for
    arrays of another shape, type or device, and for numbers that make no sense; under jit the latter
    are a JaxRuntimeError when the program runs. Ctrl-C ends no batch.
    """
    given = {
        "free_velocity": free_velocity,
        "friction": friction,
        "gap": gap,
        "stiffness": stiffness,
        "dissipation_time": dissipation_time,
        "regularization": regularization,
        "bias": bias,
        "mass": mass,
        "jacobian": jacobian,
        "other_jacobian": other_jacobian,
    }
    for name, value in (("law", law), ("rigid", rigid), ("tolerance", tolerance), ("threads", threads)):
        if isinstance(value, jax.core.Tracer):
            raise ValueError(f"{name}: expected what is fixed when compiled, got an array that is traced")
    task, arrays = _task_of(problem, options_of(law, rigid, tolerance, threads), given)
    given_types = {array.dtype for array in arrays}
    dtype = jnp.float32 if given_types == {jnp.dtype("float32")} else jnp.float64
    exact = tuple(array.astype(jnp.float64) for array in arrays)
    try:
        velocity, stacked, numbers = _solve_compiled(task, exact)
        if not any(isinstance(array, jax.core.Tracer) for array in exact):
            numbers.block_until_ready()
    except (ValueError, jax.errors.JaxRuntimeError) as fault:  # the latter where it comes late
        raise ValueError(_address_in(str(fault), bool(task.batch_of(exact)))) from None
    rows = _rows_of(task.rows, shape_of(problem).first_rows)
    impulse = stacked if rows is None else stacked[..., rows]
    answer = velocity.astype(dtype), impulse.reshape((*impulse.shape[:-1], impulse.shape[-1] // 3, 3)).astype(dtype)
    if not report:
        return Answer(*answer)
    numbers = jax.lax.stop_gradient(numbers)
    return ReportedAnswer(*answer, numbers[..., 0] == 0, numbers[..., 1])


def _address_in(text: str, batched: bool) -> str:
    """The sentence of carom in an error of XLA."""
    start = text.find("problem ")
    text = text[max(start, 0) :]
    return text if batched else text.removeprefix("problem 0: ")
