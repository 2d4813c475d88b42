# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program that may crash, hang, take all memory or print garbage, and says in a sentence what came of it."""

import json
import os
import pathlib
import resource
import signal
import subprocess
import tempfile
import time

LONGEST = 200  # of what a program says about its fault, in characters


def limits(seconds, megabytes):
    """What the child does to itself before it starts: processor time, address space, no core file."""

    def set_them():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    return set_them


def last_words(text):
    """The last line of an output that says something, made printable."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    word = lines[-1] if lines else ""
    return "".join(c if c.isprintable() else "?" for c in word)[:LONGEST]


def how_it_ended(status, errors, seconds, megabytes):
    """A sentence on an exit status that is not 0."""
    if status == -signal.SIGXCPU or status == -signal.SIGKILL:
        return f"was stopped after {seconds} s of processor time"
    word = last_words(errors)
    if "MemoryError" in errors or "bad_alloc" in errors or "Unable to allocate" in errors:
        return f"wanted more than {megabytes} MB of memory"
    if status < 0:
        try:
            name = signal.Signals(-status).name
        except ValueError:
            name = f"signal {-status}"
        return f"crashed by {name}" + (f" ({word})" if word else "")
    return f"ended with status {status}" + (f": {word}" if word else "")


def run(command, seconds=60, megabytes=4096, environment=None):
    """(answer, fault, wall time [s]): the JSON object that the program wrote to the file named last on its
    command line, or None and why there is none. What it prints is read and not believed."""
    with tempfile.TemporaryDirectory(prefix="carom-board-") as folder:
        path = pathlib.Path(folder) / "answer.json"
        begin = time.monotonic()
        with open(os.path.join(folder, "errors"), "w+b") as errors:
            try:
                process = subprocess.Popen(
                    [*command, str(path)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors,
                    cwd=folder, env=environment, preexec_fn=limits(int(seconds), megabytes), start_new_session=True)
            except OSError as reason:
                return None, f"does not start: {reason.strerror}: {command[0]}", 0.0
            try:
                status = process.wait(timeout=3 * seconds)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                try:
                    os.killpg(process.pid, signal.SIGKILL)  # and whatever it has started
                except ProcessLookupError:
                    pass
                process.wait()
            wall = time.monotonic() - begin
            errors.seek(max(0, errors.seek(0, os.SEEK_END) - 20000))
            said = errors.read().decode(errors="replace")
        if status is None:
            return None, f"was still at it after {3 * seconds:g} s", wall
        if status:
            return None, how_it_ended(status, said, seconds, megabytes), wall
        try:
            answer = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None, "ended without an answer", wall
        except (ValueError, UnicodeDecodeError, RecursionError):
            return None, "wrote an answer that is not JSON", wall
        if not isinstance(answer, dict):
            return None, "wrote an answer that is not an object", wall
        return answer, None, wall
