# SPDX-License-Identifier: BSD-3-Clause
"""What is known of an engine's adapter without running it: its package, its settings, its source."""

import ast
import dataclasses
import hashlib
import pathlib


@dataclasses.dataclass
class Adapter:
    name: str
    package: str  #: as pip calls it
    search: list  #: settings beside the default, {}
    source: str  #: hash of the adapter and of the files beside it that it imports
    gradients: str = ""  #: the same of the engine's own gradients, where there are any

    def settings(self):
        return [{}, *self.search]


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def source_hash(path, seen):
    if path in seen or not path.exists():
        return
    seen[path] = hashlib.sha256(path.read_bytes()).hexdigest()
    for name in imported(ast.parse(path.read_text(encoding="utf-8"))):
        source_hash(path.parent / f"{name}.py", seen)


def read(path):
    """Reads PACKAGE and SEARCH, which are literals."""
    found = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in ("PACKAGE", "SEARCH"):
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                break
    for name in ("PACKAGE", "SEARCH"):
        if name not in found:
            raise SystemExit(f"{path}: expected {name} = a literal, got none")
    seen = {}
    source_hash(path, seen)
    name = path.name.removesuffix("_adapter.py")
    return Adapter(name, found["PACKAGE"], found["SEARCH"], "".join(sorted(seen.values())), own_gradients(path))


def own_gradients(path):
    seen = {}
    source_hash(path.parent / f"{path.name.removesuffix('_adapter.py')}_gradients.py", seen)
    return "".join(sorted(seen.values()))


def all_of(folder):
    return [read(path) for path in sorted(pathlib.Path(folder).glob("*_adapter.py"))]


def settings_text(settings):
    return ", ".join(f"{key} {value}" for key, value in settings.items()) or "default"
