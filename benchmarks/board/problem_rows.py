# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the bundled problems: time to a residual."""

from store import Store


def collect(folder):
    return list(Store(folder / "problems.jsonl").rows.values())
