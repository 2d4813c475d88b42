# SPDX-License-Identifier: BSD-3-Clause
"""What every answer prints and returns: rows with the right value, carom's, and those of other programs."""

import dataclasses


@dataclasses.dataclass
class Row:
    """One number of a scene.

    what: which one, with its unit. right: in closed form, or computed independently of carom. carom: carom's.
    others: more numbers by name, such as what another program gives here, measured when the script runs.
    """

    what: str
    right: float
    carom: float
    others: dict[str, float] = dataclasses.field(default_factory=dict)


def show(title: str, rows: list[Row]) -> list[Row]:
    """Prints the rows as a table under a title, and returns them."""
    names = list(dict.fromkeys(name for row in rows for name in row.others))
    width = max(len(row.what) for row in rows)
    columns = [max(12, len(name)) for name in names]
    print(title)
    print(" " * width, f"{'right':>12} {'carom':>12}", *(f"{name:>{w}}" for name, w in zip(names, columns)))
    for row in rows:
        values = [f"{row.others[name]:>{w}.5g}" if name in row.others else " " * w for name, w in zip(names, columns)]
        print(f"{row.what:<{width}} {row.right:>12.6g} {row.carom:>12.6g}", *values)
    return rows
