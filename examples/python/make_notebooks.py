# SPDX-License-Identifier: BSD-3-Clause
"""Writes the notebook of each script beside this file: `# %%` begins a cell, `# %% [markdown]` one of text.

    python3 examples/python/make_notebooks.py

Notebooks hold no outputs. A test says when they are not those of the scripts.
"""
import json
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent
NAMES = ["identify_box", "pile", "throw", "throw_torch"]


def cells_of(script: str) -> list[tuple[bool, list[str]]]:
    """(whether it is text, lines) of each cell; what stands before the first one is left out."""
    cells: list[tuple[bool, list[str]]] = []
    for line in script.splitlines():
        if line.startswith("# %%"):
            cells.append((line == "# %% [markdown]", []))
        elif cells:
            cells[-1][1].append(line)
    return cells


def strip(lines: list[str]) -> list[str]:
    """Without empty lines at both ends."""
    text = "\n".join(lines).strip("\n")
    return text.split("\n") if text else []


def notebook_of(script: str) -> str:
    """The notebook as a file has it."""
    cells = []
    for is_text, lines in cells_of(script):
        lines = strip([line.removeprefix("#").removeprefix(" ") for line in lines] if is_text else lines)
        if not lines:
            continue
        source = [line + "\n" for line in lines[:-1]] + lines[-1:]
        if is_text:
            cells.append({"cell_type": "markdown", "metadata": {}, "source": source})
        else:
            cells.append({"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    book = {"cells": cells, "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 4}
    return json.dumps(book, indent=1, ensure_ascii=False) + "\n"


def main() -> None:
    for name in NAMES:
        script = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
        (FOLDER / f"{name}.ipynb").write_text(notebook_of(script), encoding="utf-8")


if __name__ == "__main__":
    main()
