# SPDX-License-Identifier: BSD-3-Clause
"""The rows of the board: one file of JSON lines per engine, so that a run that was cut off goes on where it was."""

import hashlib
import json
import os


def key_of(*inputs):
    """Names the inputs of a row: equal inputs, equal key."""
    text = json.dumps(inputs, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Store:
    """Rows by key. A line that is not a row, as a killed program leaves it, is passed over."""

    def __init__(self, path):
        self.path = path
        self.rows = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
                try:
                    row = json.loads(line)
                    self.rows[row["key"]] = row
                except (ValueError, KeyError, TypeError):
                    continue

    def add(self, row):
        """Written at once; what was cut off before it ends with a line of its own."""
        self.rows[row["key"]] = row
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "ab") as file:
            if file.tell() and not self._ends_a_line():
                file.write(b"\n")
            file.write(json.dumps(row, allow_nan=False).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def _ends_a_line(self):
        with open(self.path, "rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) == b"\n"
