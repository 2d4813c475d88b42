# SPDX-License-Identifier: BSD-3-Clause
"""Many threads, and interpreters within an interpreter."""
import subprocess
import sys
import threading

import numpy as np
import pytest

import carom

SUB_INTERPRETER = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
{before}
code = '''
import sys
sys.path[:] = {path!r}
try:
    import carom
except ImportError as fault:
    print("refused:", fault)
else:
    print("imported")
'''
inner = interpreters.create()
getattr(interpreters, "run_string", getattr(interpreters, "exec", None))(inner, code)
"""


def slide(speed):
    """The velocity of a brick after a step, by a solver of its own."""
    problem = carom.ContactProblem(0.01)
    brick = problem.add_body(np.eye(3), [speed, 0, -0.1])
    problem.add_contact(brick, np.eye(3), friction=0.5)
    return carom.Solver().solve(problem).velocity.tobytes()


def test_a_thousand_threads_solve():
    expected = [slide(1 + k) for k in range(7)]
    answers = [None] * 1000

    def work(k):
        answers[k] = slide(1 + k % 7)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(answers))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(answer == expected[k % 7] for k, answer in enumerate(answers))


def test_threads_share_one_problem():
    """Solves do not change a problem."""
    problem = carom.ContactProblem(0.01)
    for k in range(20):
        brick = problem.add_body(np.eye(3), [0.1 * k, 0.2, -0.1])
        problem.add_contact(brick, np.eye(3), friction=0.5)
    expected = carom.solve(problem).velocity.tobytes()
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(carom.solve(problem).velocity.tobytes())) for _ in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [expected] * 64


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="the private module of sub-interpreters has another face")
@pytest.mark.parametrize("before", ["", "import carom"])
def test_sub_interpreters_are_refused_with_a_sentence(before):
    code = SUB_INTERPRETER.format(before=before, path=sys.path)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert "refused: carom works in the main interpreter" in done.stdout + done.stderr
