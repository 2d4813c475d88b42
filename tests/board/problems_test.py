#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The residual by which the board measures answers to the bundled problems, and how it reads them. Skipped, by exit code 77,
where numpy is not installed."""
import math
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "board"))

try:
    import numpy as np
    import problem_data
except ImportError:
    print("skipped: numpy is not installed")
    sys.exit(77)

import problem_page  # noqa: E402
import problem_rows  # noqa: E402

TEXT = """carom-problem 1
time_step 0.01
bodies 1
body 3
2 0 0
0 2 0
0 0 2
{speed} 0 -0.1
0 0 0
contacts 1
contact weighted 1 0 0.5 0 0 0 0 0
1 0 0
0 1 0
0 0 1
"""


def read(text):
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name) / "step.txt"
        path.write_text(text, encoding="utf-8")
        return problem_data.read(path)


class Residual(unittest.TestCase):
    def test_a_block_that_sticks(self):
        problem = read(TEXT.format(speed=0.04))
        self.assertLess(problem_data.residual(problem, np.array([-0.08, 0, 0.2])), 1e-15)
        self.assertGreater(problem_data.residual(problem, np.array([-0.08, 0, 0.21])), 1e-2)

    def test_a_block_that_slides(self):
        # The nearest point of the cone to m (-1, 0, 0.1), as the law is convex.
        problem = read(TEXT.format(speed=1.0))
        height = (0.5 * 2 + 0.2) / 1.25
        answer = np.array([-0.5 * height, 0, height])
        self.assertLess(problem_data.residual(problem, answer), 1e-15)
        for k in range(3):
            wrong = answer.copy()
            wrong[k] += 1e-3
            self.assertGreater(problem_data.residual(problem, wrong), 1e-4)

    def test_bad_answers(self):
        problem = read(TEXT.format(speed=1.0))
        for bad in ([0, 0], [0, 0, math.nan], [math.inf, 0, 0], np.zeros((1, 3))):
            self.assertEqual(problem_data.residual(problem, np.array(bad)), math.inf)

    def test_projection_is_the_nearest_point(self):
        draw = np.random.default_rng(7)
        points, friction = draw.normal(size=(200, 3)), draw.uniform(0, 2, 200)
        near = problem_data.projected(points, friction)
        self.assertTrue((np.hypot(near[:, 0], near[:, 1]) <= friction * near[:, 2] + 1e-12).all())
        rest = points - near  # Moreau: at right angles, and in the polar cone
        self.assertLess(np.abs((rest * near).sum(axis=1)).max(), 1e-12)
        self.assertTrue((friction * np.hypot(rest[:, 0], rest[:, 1]) <= -rest[:, 2] + 1e-12).all())

    def test_compliance_of_a_bundled_file(self):
        problem = problem_data.read(ROOT / "examples" / "data" / "pile_n1_s30.txt")
        self.assertEqual(problem.bias.size, 3)
        gap, step, tau, stiffness = -0.00012547031932318153, 0.01, 0.02, 1e5
        weight = np.linalg.norm(problem.delassus) / 3  # the mass matrix is diagonal
        self.assertAlmostEqual(problem.compliance[0], 1e-3 * weight)
        self.assertAlmostEqual(problem.compliance[2], max(weight / (4 * math.pi**2), 1 / (step * stiffness * (step + tau))))
        self.assertAlmostEqual(problem.bias[2], -0.09809093078399499 + gap / (step + tau))

    def test_bundled_files_are_read(self):
        for path in problem_rows.files():
            if path.stat().st_size > 200000:
                continue  # as the others, and slow
            problem = problem_data.read(path)
            self.assertEqual(problem.delassus.shape, (problem.bias.size,) * 2, path.name)
            self.assertGreater(problem_data.residual(problem, np.zeros(problem.bias.size)), 1e-9, path.name)


class Words(unittest.TestCase):
    def test_rows_of_bad_children(self):
        self.assertEqual(problem_rows.row_of({"missed": 0.1}, None), {"reason": "gets to 0.1"})
        self.assertEqual(problem_rows.row_of({"missed": None}, None), {"reason": "gives no finite impulses"})
        self.assertEqual(problem_rows.row_of({"seconds": "soon"}, None), {"reason": "gave no time"})
        self.assertEqual(problem_rows.row_of(None, "crashed"), {"reason": "crashed"})

    def test_verdict_counts(self):
        def row(solver, target, **more):
            return {"problem": "p", "solver": solver, "target": target} | more
        rows = [row("carom", "1e-4", seconds=1.0), row("other", "1e-4", seconds=0.5), row("carom", "1e-8", reason="x"),
                row("other", "1e-8", seconds=1.0)]
        self.assertEqual(problem_page.verdict(rows, ["p"], ["carom", "other"], ["1e-4", "1e-8"]),
                         "Solved of 1, to 1e-4: carom 1, other 1; to 1e-8: carom 0, other 1. "
                         "Where both solve it, the faster is carom 0 times, other 1 times.")


if __name__ == "__main__":
    unittest.main()
