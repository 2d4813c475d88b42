# SPDX-License-Identifier: BSD-3-Clause
"""What carom.torch and carom.jax share: which arrays a problem takes, and of which shape."""
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

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
