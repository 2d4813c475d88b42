# SPDX-License-Identifier: BSD-3-Clause
"""carom as a function of torch, with gradients.

    import carom, carom.torch, torch

    pattern = carom.ContactProblem(0.01)
    pattern.add_body(torch.eye(3), [1.0, 0, -0.1])
    pattern.add_contact(0, torch.eye(3), stiffness=1e5)
    friction = torch.tensor([0.5], requires_grad=True)
    velocity, impulse = carom.torch.solve(pattern, friction=friction)
    velocity[0].backward()                                     # friction.grad

Gradients are those of the law at its solution, by implicit differentiation. A whole batch goes to
C++ at once, forwards and backwards, and is solved on several threads.
"""
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.utils.dlpack import from_dlpack

import carom
from carom._operands import Operand, Options, Shape, batch_axes, doubles_of, operands_of, options_of, shape_of

__all__ = ["Answer", "ReportedAnswer", "solve"]


class Answer(NamedTuple):
    """Velocities and impulses after a step."""

    velocity: torch.Tensor  # (nv,) or (count, nv) [m/s, rad/s]
    impulse: torch.Tensor  # (nc, 3) or (count, nc, 3) [N s]


class ReportedAnswer(NamedTuple):
    """An answer with how far to trust it."""

    velocity: torch.Tensor  # (nv,) or (count, nv) [m/s, rad/s]
    impulse: torch.Tensor  # (nc, 3) or (count, nc, 3) [N s]
    converged: torch.Tensor  # () or (count,), bool
    residual: torch.Tensor  # () or (count,) [-]


class _Task(NamedTuple):
    """What the tensors of a call are for."""

    problem: carom.ContactProblem
    shape: Shape
    operands: list[Operand]  # without their arrays, which would outlive their use
    shared: list[bool]  # whether all problems share the tensor
    dtypes: list[torch.dtype]
    batch: int | None  # how many problems; None: one, without an axis for it
    options: Options

    @property
    def dtype(self) -> torch.dtype:
        """That of the answer: float32 where nothing is given in more digits."""
        single = bool(self.dtypes) and all(dtype == torch.float32 for dtype in self.dtypes)
        return torch.float32 if single else torch.float64


def _read(name: str, value: Any) -> torch.Tensor:
    if not isinstance(value, torch.Tensor):
        return from_dlpack(doubles_of(name, value))
    if value.device.type != "cpu":
        raise ValueError(f"{name}: expected a tensor on the cpu, got one on {value.device}; move it with .cpu()")
    if value.layout is not torch.strided:
        raise ValueError(f"{name}: expected a dense tensor, got one of layout {value.layout}")
    if value.dtype not in (torch.float64, torch.float32):
        raise ValueError(f"{name}: expected a tensor of float64 or float32, got one of {value.dtype}")
    return value


def _count_of(operands: list[Operand]) -> int | None:
    """The size of the batch, or None; ValueError where two tensors disagree."""
    count, first = None, ""
    for operand in operands:
        axes = batch_axes(operand, operand.array.shape)
        if len(axes) > 1:
            raise ValueError(f"{operand.name}: expected one axis of a batch at most, got {len(axes)}")
        if not axes:
            continue
        if count is not None and axes[0] != count:
            raise ValueError(f"{operand.name}: expected a batch of {count}, as that of {first}, got {axes[0]}")
        count, first = axes[0], operand.name
    return count


def _exact(tensor: torch.Tensor) -> torch.Tensor:
    """Its numbers as doubles in memory."""
    numbers: torch.Tensor = tensor.detach().to(torch.float64).resolve_neg()
    return numbers


def _numbers(task: _Task, tensors: tuple[torch.Tensor, ...]) -> dict[str, Any]:
    """The arguments of Batch.like, out of the tensors of a call."""
    count = 1 if task.batch is None else task.batch
    items = {"mass": len(task.shape.bodies), "jacobian": task.shape.contacts, "other_jacobian": task.shape.contacts}
    arrays: dict[str, Any] = {}
    for operand, tensor in zip(task.operands, tensors):
        numbers = _exact(tensor).expand(count, *operand.shape)
        if operand.item is None:
            arrays[operand.field] = numbers
        else:
            arrays.setdefault(operand.field, [None] * items[operand.field])[operand.item] = numbers
    return arrays


def _gradient(found: Any, operand: Operand, shared: bool) -> torch.Tensor:
    """The gradient by one tensor, out of that by the field for every problem."""
    if operand.item is not None:
        found = found[operand.item]
    elif isinstance(found, list):  # stacked over the items
        found = np.stack(found, axis=1)
    gradient: torch.Tensor = from_dlpack(found)
    if shared:
        gradient = gradient.sum(0) if len(gradient) != 1 else gradient[0]
    return gradient


def _solution_of(task: _Task, tensors: tuple[torch.Tensor, ...]) -> Any:
    """What C++ finds for every problem of the batch, or None where there is no problem."""
    if task.batch == 0:
        return None
    try:
        batch = carom.Batch.like(task.problem, task.batch or 1, **_numbers(task, tensors))
    except ValueError as fault:
        text = str(fault)
        raise ValueError(text.removeprefix("problem 0: ") if task.batch is None else text) from None
    return carom.solve_batch(batch, **task.options._asdict())


def _answers(task: _Task, solution: Any) -> list[Any]:
    """Velocity, impulse, whether it converged, as a number, and the residual."""
    if solution is None:
        shapes = ((0, task.shape.velocities), (0, task.shape.contacts, 3), (0,), (0,))
        return [np.zeros(shape) for shape in shapes]
    numbers = [np.asarray(solution.velocity), np.asarray(solution.impulse)]
    numbers += [solution.converged.astype(np.float64), solution.residual]
    if task.batch is None:
        numbers = [array[0:1].reshape(array.shape[1:]) for array in numbers]
    return numbers


class _Solve(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, task: _Task, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        ctx.task, ctx.solution = task, _solution_of(task, tensors)
        # Nobody reads their numbers again, which save_for_backward() would forbid to overwrite.
        ctx.tensors = [tensor for tensor, needed in zip(tensors, ctx.needs_input_grad[1:]) if needed]
        velocity, impulse, converged, residual = (from_dlpack(array) for array in _answers(task, ctx.solution))
        result = velocity.to(task.dtype), impulse.to(task.dtype), converged.bool(), residual
        ctx.mark_non_differentiable(*result[2:])
        return result

    @staticmethod
    def backward(ctx: Any, velocity_bar: torch.Tensor, impulse_bar: torch.Tensor, *_: Any) -> tuple[torch.Tensor | None, ...]:
        needed = ctx.needs_input_grad[1:]
        gradients = iter(_PullBack.apply(ctx.task, ctx.solution, needed, velocity_bar, impulse_bar, *ctx.tensors))
        return None, *(next(gradients) if one else None for one in needed)


class _PullBack(torch.autograd.Function):
    """Gradients as a function of the bars and of the tensors, which has no derivative of its own."""

    @staticmethod
    def forward(
        ctx: Any, task: _Task, solution: Any, needed: tuple[bool, ...], *bars_and_tensors: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        wanted = [(operand, shared) for operand, shared, one in zip(task.operands, task.shared, needed) if one]
        if solution is None:
            empty = [operand.shape if shared else (0, *operand.shape) for operand, shared in wanted]
            return tuple(torch.zeros(shape, dtype=torch.float64) for shape in empty)
        bars = [_exact(bar) for bar in bars_and_tensors[:2]]
        if task.batch is None:
            bars = [bar[None] for bar in bars]
        found = solution.pull_back(*bars, threads=task.options.threads)
        # Reading an array makes a copy.
        fields = {field: getattr(found, field) for field in {operand.field for operand, _ in wanted}}
        # torch itself gives a gradient the type of its tensor.
        return tuple(_gradient(fields[operand.field], operand, shared) for operand, shared in wanted)

    @staticmethod
    def backward(ctx: Any, *bars: Any) -> Any:
        raise RuntimeError("carom.torch.solve: expected a first derivative, got a request for a second one, of which there is none")


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
    """Solves a step, or a batch of steps of one pattern, with gradients by the tensors.

    problem: the pattern; numbers that no tensor replaces are those of it, as they are now.
    law, rigid, tolerance: as in carom.solve(). threads: None for as many as the processor has.

    Tensors have the shapes of the gradients of Solution.pull_back(): free_velocity (nv,); friction,
    gap, stiffness, dissipation_time (nc,); regularization, bias (nc, 3); mass a list of (n, n) or a
    tensor (bodies, n, n); jacobian, other_jacobian a list of (3, n) or None, or a tensor
    (nc, 3, n). Each may have one more axis in front, that of a batch: the answers then have it too,
    and tensors without it are shared by all problems.

    Numbers are computed as doubles; where every tensor is float32 the answer is float32. Returns
    (velocity, impulse); with report=True (velocity, impulse, converged, residual). A problem that
    cannot be solved is no error: its answer is the best iterate and its gradients are NaN.

    A mass has the gradient of its symmetric part. The first two entries of a regularization are one
    number, whose gradient is the sum of both. Where two regions meet, such as stick and slide, the
    gradient is that of one side; Solution.one_sided names such contacts. A second derivative is
    refused by a RuntimeError of backward(). ValueError for tensors of another shape, type, layout or
    device, and for numbers that make no sense.
    """
    options = options_of(law, rigid, tolerance, threads)
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
    shape = shape_of(problem)
    operands = operands_of(shape, given, _read)
    count = _count_of(operands)
    tensors = [operand.array for operand in operands]
    task = _Task(
        problem=problem,
        shape=shape,
        operands=[operand._replace(array=None) for operand in operands],
        shared=[operand.array.dim() == len(operand.shape) for operand in operands],
        dtypes=[tensor.dtype for tensor in tensors],
        batch=count,
        options=options if count is not None else options._replace(threads=1),
    )
    answers = _Solve.apply(task, *tensors)
    return ReportedAnswer(*answers) if report else Answer(*answers[:2])
