# SPDX-License-Identifier: BSD-3-Clause
"""Long work says how far it is, and an interrupt keeps what has been done."""
import io
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import carom
from carom import _progress

PENDULUM = {"angle": 1.0}


def test_a_function_hears_the_share_done():
    shares = []
    run = carom.simulate("pendulum", PENDULUM, 1e-4, 10.0, progress=shares.append)
    assert run.status == "converged" and shares[-1] == 1.0
    assert all(0 <= share <= 1 for share in shares) and sorted(shares) == shares


def test_short_work_is_told_as_done():
    heard = []
    carom.solve(block(), progress=heard.append)
    assert heard == [1.0]


def test_a_function_that_raises_ends_the_work_and_what_was_done_is_kept():
    def stop(share):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough") as raised:
        carom.simulate("pendulum", PENDULUM, 1e-5, 1e3, progress=stop)
    partial = raised.value.partial
    assert 0 < partial.time[-1] < 1e3 and partial.q.shape == (len(partial.time), 1)
    # It may be called again where it ended.
    again = carom.simulate("pendulum", PENDULUM, 1e-5, 10 * 1e-5, progress=False)
    assert np.array_equal(again.q, partial.q[: len(again.q)])


def block():
    problem = carom.ContactProblem(0.01)
    problem.add_body(np.eye(3), [1.0, 0, -0.1])
    problem.add_contact(0, np.eye(3))
    return problem


def test_a_batch_tells_how_far_it_is():
    shares = []
    answers = carom.solve_batch([block()] * 50_000, law="coulomb", threads=1, progress=shares.append)
    assert answers.converged.all() and shares[-1] == 1.0
    assert sorted(shares) == shares and all(0 <= share <= 1 for share in shares)
    carom.solve_batch([block()], progress=shares.append)  # one problem is solved on the calling thread
    assert shares[-2:] == [1.0, 1.0]


def test_what_a_batch_has_solved_is_kept():
    def stop(share):
        raise RuntimeError("enough")

    batch = carom.Batch([block()] * 100_000)
    with pytest.raises(RuntimeError, match="enough") as raised:
        carom.solve_batch(batch, law="coulomb", threads=1, progress=stop)
    partial = raised.value.partial
    assert isinstance(partial, carom.BatchSolution) and len(partial) == 100_000
    first, last = partial[0], partial[-1]
    assert first.converged and last.status == "deadline" and last.residual == np.inf
    assert last.velocity.tolist() == [1.0, 0, -0.1] and np.array_equal(last.contact_velocity, [last.velocity])


class Ctrl_C:
    """Presses Ctrl-C after a while, which does something even where a shell started the tests in the background."""

    def __enter__(self):
        self._handler = signal.signal(signal.SIGINT, signal.default_int_handler)
        self._timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        self._timer.start()

    def __exit__(self, *error):
        self._timer.cancel()
        self._timer.join()
        signal.signal(signal.SIGINT, self._handler)


def test_an_interrupted_simulation_is_kept():
    with pytest.raises(KeyboardInterrupt) as raised, Ctrl_C():
        carom.simulate("pendulum", PENDULUM, 1e-5, 1e3, progress=False)
    partial = raised.value.partial
    assert isinstance(partial, carom.Simulation)
    assert 0 < partial.time[-1] < 1e3 and np.isfinite(partial.velocity).all()


def test_an_interrupted_solve_keeps_the_best_iterate():
    rng = np.random.default_rng(0)
    problem = carom.ContactProblem(0.01)
    for body in range(100):
        problem.add_body(np.eye(6), rng.normal(size=6))
    for body in range(100):
        for other in rng.choice(100, 4):
            if other != body:
                problem.add_contact(body, rng.normal(size=(3, 6)), other=int(other), other_jacobian=rng.normal(size=(3, 6)))
    partial = None
    for _ in range(20):  # now and then the interrupt comes between two solves
        with pytest.raises(KeyboardInterrupt) as raised, Ctrl_C():
            for _ in range(10000):
                carom.solve(problem, law="coulomb", rigid=True, tolerance=1e-15)
        partial = getattr(raised.value, "partial", None)
        if partial is not None:
            break
    assert partial.status == "deadline" and partial.velocity.shape == (600,) and np.isfinite(partial.velocity).all()


ENDLESS = {
    "solve": "carom.solve(problem, law='coulomb')",
    "solver": "solver.solve(problem)",
    "batch": "carom.solve_batch(batch, law='coulomb')",
    "gradients": "carom.solve_batch(batch[:2]).pull_back([[1.0, 0, 0]] * 2)",
    "simulate": "carom.simulate('pendulum', {'angle': 1.0}, 1e-5, 1e3, progress=lambda share: sum(range(1000)))",
    "certify": "carom.certify(problem, impulse=[[0.0, 0, 0]])",
    "impact": "carom.outcomes(np.eye(4), np.eye(4), [-1.0] * 4)",
}


@pytest.mark.parametrize("call", ENDLESS.values(), ids=ENDLESS)
def test_an_interpreter_may_end_while_a_daemon_thread_works(call):
    program = f"""
import atexit, threading, time
atexit.register(lambda: print(carom.solve(problem).status))  # the thread that ends may still solve
import numpy as np
import carom
problem = carom.ContactProblem(0.01)
problem.add_body(np.eye(3), [1.0, 0, -0.1])
problem.add_contact(0, np.eye(3))
solver, batch = carom.Solver(), [problem] * 1000
def work():
    while True:
        {call}
for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
"""
    for _ in range(3):
        run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
        assert (run.returncode, run.stdout, run.stderr) == (0, "converged\n", "")


class Clock:
    """A clock that a test sets."""

    def __init__(self, monkeypatch):
        self.time = 0.0
        monkeypatch.setattr(_progress.time, "monotonic", lambda: self.time)


def test_a_bar_waits_counts_and_is_wiped(monkeypatch):
    clock, stream = Clock(monkeypatch), io.StringIO()
    bar = _progress.Bar(stream, "simulate")
    clock.time = 0.4
    bar.show(0.1)
    assert stream.getvalue() == ""  # short work shows nothing
    clock.time = 1.0
    bar.show(0.25)
    assert stream.getvalue() == "\rsimulate [#######.......................]  25 %, 3 s to go"
    clock.time = 1.05
    bar.show(0.3)
    clock.time = 2.0
    bar.show(1.0)
    lines = stream.getvalue().split("\r")
    assert len(lines) == 3 and "100 %" in lines[-1] and len(lines[-1]) >= len(lines[-2])
    bar.close(True)
    assert stream.getvalue().endswith("\r" + " " * len(lines[-1].rstrip()) + "\r")


def test_a_bar_of_work_without_known_end_shows_the_time(monkeypatch):
    clock, stream = Clock(monkeypatch), io.StringIO()
    bar = _progress.Bar(stream, "solve")
    clock.time = 12.0
    bar.show(None)
    assert stream.getvalue() == "\rsolve 12 s"


def test_a_closed_stream_stops_no_work(monkeypatch):
    clock, stream = Clock(monkeypatch), io.StringIO()
    bar = _progress.Bar(stream, "solve")
    stream.close()
    for clock.time in [1.0, 2.0]:
        bar.show(0.5)
    bar.close(True)


def test_nothing_is_shown_to_nobody(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert _progress.start(True, "x") is None and _progress.start(False, "x") is None
    monkeypatch.setattr(sys, "stderr", None)
    assert _progress.start(True, "x") is None


class Window:
    """What some programs put in the place of standard error."""

    def write(self, text):
        raise RuntimeError("no")


def closed():
    stream = io.StringIO()
    stream.close()
    return stream


@pytest.mark.parametrize("stream", [Window(), closed(), None], ids=["no isatty", "closed", "none"])
def test_work_goes_on_whatever_the_stream_is(stream, monkeypatch):
    shown = []

    def start(progress, title):
        shown.append(begin(progress, title))
        return shown[-1]

    begin = _progress.start
    monkeypatch.setattr(_progress, "start", start)
    monkeypatch.setattr(sys, "stderr", stream)
    run = carom.simulate("pendulum", PENDULUM, 1e-5, 2.0)
    assert run.status == "converged" and shown == [None]
    bar = _progress.Bar(stream, "solve")
    bar._write("text")
    assert bar._next == float("inf")


def test_a_notebook_gets_a_bar(monkeypatch):
    class ZMQInteractiveShell:
        pass

    class IPython:
        get_ipython = staticmethod(ZMQInteractiveShell)

    monkeypatch.setitem(sys.modules, "IPython", IPython)
    assert isinstance(_progress.start(True, "x"), _progress.Bar)
    monkeypatch.setattr(IPython, "get_ipython", staticmethod(lambda: None))
    assert not _progress.in_notebook()


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no terminals here")
def test_a_terminal_shows_a_bar():
    main, terminal = os.openpty()
    program = "import carom; carom.simulate('pendulum', {'angle': 1.0}, 1e-5, 40.0)"
    with subprocess.Popen([sys.executable, "-c", program], stderr=terminal, stdout=subprocess.PIPE) as process:
        os.close(terminal)
        seen = b""
        while True:
            try:
                piece = os.read(main, 4096)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            seen += piece
        assert process.stdout.read() == b""
    os.close(main)
    assert process.returncode == 0 and b"\rsimulate [" in seen and seen.endswith(b"\r")
