# SPDX-License-Identifier: BSD-3-Clause
"""What carom.torch and carom.jax share: which arrays and settings a problem takes."""
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from carom import ContactProblem
from carom._core import shape_of as _shape_of

# In the order of BatchField in batch_interface.hpp.
FIELDS: Final = (
    "free_velocity",
    "friction",
    "gap",
    "stiffness",
    "dissipation_time",
    "regularization",
    "bias",
    "mass",
    "jacobian",
    "other_jacobian",
)


class Shape(NamedTuple):
    """How large the arrays of a problem are."""

    velocities: int
    contacts: int
    rows: int  # of all blocks
    bodies: list[int]  # velocities of each
    columns: list[int]  # of the Jacobian of each contact
    other_columns: list[int]  # of the second one, 0 where there is none
    first_rows: list[int]  # of each contact among the rows of all blocks


class Operand(NamedTuple):
    """An array of the caller, and what it stands for."""

    field: str
    item: int | None  # body or contact; None: all of them, or a field without items
    shape: tuple[int, ...]  # without the axes of the batch
    array: Any

    @property
    def name(self) -> str:
        return self.field if self.item is None else f"{self.field} {self.item}"


class Options(NamedTuple):
    """How to solve, checked."""

    law: str
    rigid: bool
    tolerance: float
    threads: int | None  # None: as many as the processor has


def describe(value: Any) -> str:
    """What was given, for a message."""
    if value is None:
        return "None"
    if getattr(value, "requires_grad", False) is True:
        return "a tensor that requires a gradient"
    if isinstance(value, (int, float, complex, str)):
        try:
            text = repr(value)
        except ValueError:  # too many digits
            return "a large number"
        return text if len(text) <= 40 else text[:40] + "..."
    return f"an object of type {type(value).__name__}"


def options_of(law: Any, rigid: Any, tolerance: Any, threads: Any) -> Options:
    """The settings as carom.solve_batch() takes them; ValueError where one makes no sense."""
    law = "coulomb" if law is None else law
    if not isinstance(law, str) or law not in ("convex", "coulomb"):
        raise ValueError(f"law: expected 'convex' or 'coulomb', got {describe(law)}")
    try:
        rigid = bool(rigid)
    except Exception:
        raise ValueError(f"rigid: expected True or False, got {describe(rigid)}") from None
    count = None if threads is None else _whole_number(threads)
    if threads is not None and (count is None or count < 1):
        raise ValueError(f"threads: expected a whole number >= 1 or None, got {describe(threads)}")
    return Options(law, rigid, _tolerance_of(tolerance), None if count is None else min(count, 256))


def _tolerance_of(value: Any) -> float:
    number = math.nan
    if getattr(value, "requires_grad", False) is not True:
        try:
            number = math.ldexp(value, 0)  # float() would also read text
        except Exception:
            pass
    if not 0 < number < math.inf:
        raise ValueError(f"tolerance: expected a finite number > 0, got {describe(value)}")
    return number


def _whole_number(value: Any) -> int | None:
    try:
        return operator.index(value)
    except Exception:
        return None


def doubles_of(name: str, value: Any) -> np.ndarray[Any, Any]:
    """Doubles in memory of their own, out of anything that numpy makes an array of real numbers.

    ValueError with the name where it is none: complex numbers, text, a tensor that requires a gradient.
    """
    if getattr(value, "requires_grad", False) is True:
        raise ValueError(f"{name}: expected an array of real numbers, got {describe(value)}")
    try:
        array = _array_of(value)
        kept = np.array(array, dtype=np.float64, order="C") if array.dtype.kind in "biuf" else None
    except Exception:
        raise ValueError(f"{name}: expected an array of real numbers, got {describe(value)}") from None
    if kept is None:
        raise ValueError(f"{name}: expected an array of real numbers, got one of type {array.dtype}")
    return kept


def _array_of(value: Any) -> np.ndarray[Any, Any]:
    """Through DLPack where numpy's own way fails, such as of tensors of a torch that was built for another numpy."""
    lends = hasattr(value, "__dlpack__")
    try:
        array = np.asarray(value)
    except Exception:
        if not lends:
            raise
        return np.from_dlpack(value)
    return np.from_dlpack(value) if lends and array.dtype.kind == "O" else array


def shape_of(problem: ContactProblem) -> Shape:
    """The shape of a problem; ValueError where it is not one."""
    if not isinstance(problem, ContactProblem):
        raise ValueError(f"problem: expected a ContactProblem, got an object of type {type(problem).__name__}")
    return Shape(*_shape_of(problem))


def operands_of(shape: Shape, arrays: Mapping[str, Any], read: Callable[[str, Any], Any]) -> list[Operand]:
    """The arrays that were given, one by one.

    read: makes an array out of what was given, under the name that messages use.
    """
    vectors: dict[str, tuple[int, ...]] = {"free_velocity": (shape.velocities,)}
    vectors |= dict.fromkeys(("friction", "gap", "stiffness", "dissipation_time"), (shape.contacts,))
    vectors |= dict.fromkeys(("regularization", "bias"), (shape.contacts, 3))
    matrices: dict[str, list[tuple[int, int]]] = {
        "mass": [(n, n) for n in shape.bodies],
        "jacobian": [(3, n) for n in shape.columns],
        "other_jacobian": [(3, n) for n in shape.other_columns],
    }
    found = []
    for field, value in arrays.items():
        if value is None:
            continue
        if field in vectors:
            found.append(Operand(field, None, vectors[field], read(field, value)))
        elif field in matrices:
            found += _matrices(field, matrices[field], value, read)
        else:
            raise ValueError(f"{field}: expected one of {', '.join(FIELDS)}, got something else")
    return found


def _matrices(field: str, sizes: Sequence[tuple[int, int]], value: Any, read: Callable[[str, Any], Any]) -> list[Operand]:
    if isinstance(value, (list, tuple)):
        if len(value) != len(sizes):
            raise ValueError(f"{field}: expected a list of {len(sizes)} arrays, got {len(value)}")
        found = []
        for item, (size, one) in enumerate(zip(sizes, value)):
            if one is None:
                continue
            if size[1] == 0:
                raise ValueError(f"{field} {item}: expected None, as this contact has no second body")
            found.append(Operand(field, item, size, read(f"{field} {item}", one)))
        return found
    if not sizes:
        raise ValueError(f"{field}: expected nothing in a problem without such items")
    if len(set(sizes)) > 1 or sizes[0][1] == 0:
        raise ValueError(f"{field}: expected a list with one array or None per item, as they differ in size, got one array")
    return [Operand(field, None, (len(sizes), *sizes[0]), read(field, value))]


def batch_axes(operand: Operand, given: Sequence[int]) -> tuple[int, ...]:
    """The leading axes of an array; ValueError where the others are not those of the operand."""
    leading = len(given) - len(operand.shape)
    if leading < 0 or tuple(given[leading:]) != operand.shape:
        raise ValueError(f"{operand.name}: expected shape {operand.shape} after the axes of a batch, got {tuple(given)}")
    return tuple(given[:leading])
