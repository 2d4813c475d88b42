# SPDX-License-Identifier: BSD-3-Clause
"""How far long work is, on one line of a terminal or of a notebook."""
import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

WIDTH = 30
"""Characters of the bar."""
PATIENCE = 0.5
"""Seconds before anything is shown: shorter work needs no bar."""
PAUSE = 0.1
"""Seconds between two looks."""


class Bar:
    """A line that is written again and again, and wiped in the end."""

    def __init__(self, stream: TextIO, title: str) -> None:
        self._stream = stream
        self._title = title
        self._start = time.monotonic()
        self._next = self._start + PATIENCE
        self._length = 0

    def show(self, done: float | None) -> None:
        """done: share of the work, in [0, 1], or None where nobody knows."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + PAUSE
        spent = now - self._start
        text = f"{self._title} {spent:.0f} s"
        if done is not None:
            done = min(max(done, 0.0), 1.0)
            bar = "#" * int(WIDTH * done)
            text = f"{self._title} [{bar:.<{WIDTH}}] {100 * done:3.0f} %"
            if done > 0:
                text += f", {spent * (1 - done) / done:.0f} s to go"
        self._write("\r" + text.ljust(self._length))
        self._length = len(text)

    def close(self, complete: bool) -> None:
        """Wipes the line."""
        if self._length > 0:
            self._write("\r" + " " * self._length + "\r")
            self._length = 0

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except Exception:  # closed, or no stream at all: work goes on without
            self._next = float("inf")


class Calls:
    """Hands the share on to a function of the user."""

    def __init__(self, function: Callable[[float | None], Any]) -> None:
        self._function = function
        self._next = time.monotonic()

    def show(self, done: float | None) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + PAUSE
            self._function(done)

    def close(self, complete: bool) -> None:
        if complete:
            self._function(1.0)


def in_notebook() -> bool:
    """Whether a notebook runs this program."""
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"


def _is_terminal(stream: object) -> bool:
    """Whether somebody reads along; False of None, of what is closed and of what is no stream."""
    try:
        return bool(stream.isatty())  # type: ignore[attr-defined]
    except Exception:
        return False


def start(progress: object, title: str) -> Bar | Calls | None:
    """What shows the progress of some work, or None where nobody looks.

    progress: whether a bar is wanted, or a function of the share done, in [0, 1] or None.
    """
    if callable(progress):
        return Calls(progress)
    if not progress:
        return None
    if in_notebook():
        return Bar(sys.stdout, title)
    if _is_terminal(sys.stderr):
        return Bar(sys.stderr, title)
    return None
