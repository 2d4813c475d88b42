#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the board measures beside answers: derivatives by differences or by an engine's own, comparison at equal cost, and
classes of problems. Needs nothing but Python."""
import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
BOARD = ROOT / "benchmarks" / "board"
FAKES = pathlib.Path(__file__).resolve().parent / "fakes"
sys.path.insert(0, str(BOARD))

import adapters  # noqa: E402
import board  # noqa: E402
import costs  # noqa: E402
import problem_classes  # noqa: E402
import problem_page  # noqa: E402
import scene_list  # noqa: E402

OWN = '''"""Gradients that are as told."""


def derivative(scene, case, settings):
    return {"friction": -1.0, "speed": 2.0, "mass": settings.get("off", 0.0)}[case], 0.25, 7
'''


class Derivatives(unittest.TestCase):
    def setUp(self):
        self.held = tempfile.TemporaryDirectory(prefix="carom-board-test-")
        self.folder = pathlib.Path(self.held.name)
        shutil.copy(FAKES / "gliding_adapter.py", self.folder)

    def tearDown(self):
        self.held.cleanup()

    def answers(self, settings="{}"):
        path = self.folder / "answer.json"
        command = [sys.executable, str(BOARD / "run_row.py"), str(self.folder), "gradient_stopped", "gliding", settings, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(path.read_text(encoding="utf-8"))

    def test_differences(self):
        answer = self.answers()
        exact = 1 / (2 * 0.25 * 9.81)  # the way that counts as 1
        for value, truth in zip(answer["answers"], (0.0, 0.6 / exact, 0.0)):
            self.assertAlmostEqual(value, truth)
        self.assertEqual(answer["steps"], 3 * 2 * 1200)

    def test_finer(self):
        self.assertEqual(self.answers('{"finer": 4}')["steps"], 4 * 3 * 2 * 1200)

    def test_own_gradients_count(self):
        (self.folder / "gliding_gradients.py").write_text(OWN, encoding="utf-8")
        answer = self.answers('{"off": 0.5}')
        self.assertEqual((answer["answers"], answer["seconds"], answer["steps"]), ([-1.0, 2.0, 0.5], 0.75, 21))

    def test_keys_know_them(self):
        def keys():
            adapter = adapters.read(self.folder / "gliding_adapter.py")
            return [board.key_of_row(scene_list.find(name), adapter, "1", {}) for name in ("gradient_stopped", "wedge")]
        before = keys()
        (self.folder / "gliding_gradients.py").write_text(OWN, encoding="utf-8")
        after = keys()
        self.assertNotEqual(before[0], after[0])
        self.assertEqual(before[1], after[1])
        self.assertEqual(len(adapters.all_of(self.folder)), 1)


class Costs(unittest.TestCase):
    scene = scene_list.find("pile_overlap")  # of 1000 steps

    def pairs(self):
        def rows(*points):
            return {"all": [{"seconds": seconds, "error": error} for seconds, error in points] + [{"reason": "no answer"}]}
        return {"quick": rows((0.1, 0.5), (0.2, 0.7), (1.0, 0.1)), "slow": rows((20.0, 0.01)), "none": rows()}

    def test_fronts(self):
        self.assertEqual(costs.fronts(self.scene, self.pairs()), {"quick": [(0.1, 0.5), (1.0, 0.1)], "slow": [(20.0, 0.01)]})

    def test_words(self):
        self.assertEqual(costs.words(self.scene, self.pairs()), "The least error for at most 0.3 ms quick's, 0.5 mm, "
                         "for 3 ms quick's, 0.1 mm, for 30 ms slow's, 0.01 mm per step.")
        self.assertIn("0.3 ms nobody's", costs.words(self.scene, {"slow": self.pairs()["slow"]}))

    def test_picture(self):
        text = costs.picture(self.scene, self.pairs(), {"quick": 0, "slow": 1}.get)
        self.assertEqual((text.count("<circle"), text.count('class="curve e1"')), (3, 2))
        self.assertEqual(costs.picture(self.scene, {"none": self.pairs()["none"]}, None), "")


class Classes(unittest.TestCase):
    def test_counts(self):
        counted = {}
        for name, sizes in problem_classes.CLASSES.items():
            for size in sizes:
                problem = problem_classes.Problem(0)
                problem_classes.MAKERS[name](problem, size)
                counted[name, size] = (len(problem.bodies), len(problem.contacts))
        # Layers of 9, 4 and 1 balls: 9 on the ground, 12 + 4 pairs beside each other, 4 under each of the 5 upper ones.
        self.assertEqual(counted["packing", 3], (14, 9 + 12 + 4 + 20))
        # Rows of 4, 3, 2, 1 logs: 4 on the ground, 3 + 2 + 1 beside, 2 under each of 6; two points each.
        self.assertEqual(counted["logs", 4], (10, 2 * (4 + 6 + 12)))
        self.assertEqual((counted["stack", 12], counted["chain", 24]), ((12, 48), (24, 24)))

    def test_jacobians(self):
        """Axes are orthonormal, what moves as one does not slip, and what parts opens, but for hooks."""
        for name, (size, _) in problem_classes.CLASSES.items():
            problem = problem_classes.Problem(1)
            problem_classes.MAKERS[name](problem, size)
            for friction, soft, blocks in problem.contacts:
                axes = [row[:3] for row in blocks[0][1]]
                for i in range(3):
                    for j in range(3):
                        self.assertAlmostEqual(sum(a * b for a, b in zip(axes[i], axes[j])), float(i == j))
                first, second = (blocks * 2)[:2]  # of one body: itself
                apart = [p - q for p, q in zip(problem.bodies[first[0]][2], problem.bodies[second[0]][2])]
                along = axes[2][2] if len(blocks) == 1 else sum(a * b for a, b in zip(axes[2], apart))
                self.assertEqual(along > 0, name != "chain" or len(blocks) == 1)
                self.assertTrue(0 < friction < 1 and 0 < soft < 1e-3)
                if len(blocks) == 2:
                    spin, about = (0.3, -0.7, 0.2), (0.1, 0.2, 0.3)  # of both bodies, as one
                    for i in range(3):
                        total = 0.0
                        for number, rows in blocks:
                            arm = [p - q for p, q in zip(problem.bodies[number][2], about)]
                            speed = (spin[1] * arm[2] - spin[2] * arm[1], spin[2] * arm[0] - spin[0] * arm[2],
                                     spin[0] * arm[1] - spin[1] * arm[0])
                            total += sum(a * b for a, b in zip(rows[i], (*speed, *spin)))
                        self.assertAlmostEqual(total, 0.0)

    def test_softness(self):
        problem = problem_classes.Problem(2)
        ball = problem.body(2.0, (0.1,) * 3, (0.0, 0.0, 0.5), 0.5)
        problem.touch(ball, None, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 0.4)
        # 1/m of each row, and r^2 / I of the two across.
        self.assertAlmostEqual(problem.contacts[0][1] * 1e6, (3 / 2.0 + 2 * 0.25 / 0.1) / 3)
        self.assertTrue(all(math.isfinite(value) for value in problem.bodies[0][3]))

    def test_files_are_the_same_each_time(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            first = {path.name: path.read_bytes() for path in problem_classes.write(folder)}
            (folder / "stack_4.txt").write_text("cut off", encoding="utf-8")
            self.assertEqual({path.name: path.read_bytes() for path in problem_classes.write(folder)}, first)
            self.assertEqual(len(set(first.values())), sum(map(len, problem_classes.CLASSES.values())))

    def test_page_keeps_them_apart(self):
        rows = [{"problem": "p", "solver": "carom", "target": "1e-4", "reason": "x"},
                {"problem": "stack_4", "solver": "carom", "target": "1e-4", "reason": "x", "origin": "class"}]
        text = problem_page.write(rows)
        self.assertIn('<section id="classes">', text)
        self.assertLess(text.index(">p<"), text.index('id="classes"'))
        self.assertGreater(text.index(">stack_4<"), text.index('id="classes"'))
        self.assertNotIn('id="classes"', problem_page.write(rows[:1]))


if __name__ == "__main__":
    unittest.main()
