# SPDX-License-Identifier: BSD-3-Clause
"""The public names of the package are those of public_names.txt: none goes without a word (docs/promises.md).

    python python/tests/test_public_names.py    writes the list anew
"""
import inspect
import pathlib

import carom

LIST = pathlib.Path(__file__).with_name("public_names.txt")


def public_names():
    """carom's names, and those of the members of its classes."""
    names = set()
    for name in carom.__all__:
        thing = getattr(carom, name)
        names.add(name)
        if inspect.isclass(thing):
            names |= {f"{name}.{member}" for member in vars(thing) if not member.startswith("_")}
    return sorted(names)


def test_public_names_are_those_of_the_list():
    known = LIST.read_text(encoding="utf-8").split()
    found = public_names()
    assert sorted(set(known) - set(found)) == [], "gone; until 1.0 CHANGELOG.md says what to write instead"
    assert sorted(set(found) - set(known)) == [], "not listed: run this file"


if __name__ == "__main__":
    LIST.write_text("\n".join(public_names()) + "\n", encoding="utf-8")
