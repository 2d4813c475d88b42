#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The frame of the board with engines that crash, hang, want all memory, print garbage and lie: each costs its own row,
which says what happened. Needs nothing but Python."""
import html
import json
import os
import pathlib
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
import judge  # noqa: E402
import machine  # noqa: E402
import page  # noqa: E402
import scene_list  # noqa: E402
from store import Store, key_of  # noqa: E402

SCENES = "slope_slides,wedge"


def run_board(folder, *arguments, **environment):
    command = [sys.executable, str(BOARD / "board.py"), "--adapters", str(FAKES), "--python", sys.executable,
               "--output", str(folder), "--megabytes", "600", *arguments]
    return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=240,
                          env=dict(os.environ, **environment))


class Frame(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="carom-board-test-")
        cls.path = pathlib.Path(cls.folder.name)
        cls.done = run_board(cls.path, "--scenes", "wedge", "--seconds", "1")
        cls.board = json.loads((cls.path / "board.json").read_text(encoding="utf-8"))
        cls.found = page.judged(cls.board)["wedge"]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def reason(self, engine, **settings):
        row = next(row for row in self.found[engine]["all"] if row["settings"] == settings)
        self.assertEqual(row["verdict"], "no answer")
        return row["reason"]

    def test_the_run_ends_well_and_has_every_row(self):
        self.assertEqual(self.done.returncode, 0, self.done.stderr)
        expected = sum(len(adapter.settings()) for adapter in adapters.all_of(FAKES))
        self.assertEqual(len(self.board["rows"]), expected)

    def test_rows_name_their_machine(self):
        self.assertEqual({row["machine"] for row in self.board["rows"]}, {machine.words()})
        self.assertRegex(machine.words(), r"^\d+ cores? of \S.*, \S")
        self.assertIn(machine.words(), html.unescape((self.path / "index.html").read_text(encoding="utf-8")))

    def test_crashes_are_told(self):
        self.assertIn("crashed by SIGSEGV", self.reason("crashing"))
        self.assertEqual(self.reason("crashing", how="status"), "ended with status 7")
        self.assertIn("the engine says no", self.reason("crashing", how="raises"))

    def test_hanging_is_stopped(self):
        self.assertEqual(self.reason("hanging"), "was stopped after 1 s of processor time")
        self.assertEqual(self.reason("hanging", how="asleep"), "was still at it after 3 s")

    def test_memory_is_limited(self):
        self.assertEqual(self.reason("greedy"), "wanted more than 600 MB of memory")

    def test_garbage_is_told(self):
        self.assertEqual(self.reason("garbling"), "wrote an answer that is not JSON")
        self.assertEqual(self.reason("garbling", how="deep"), "wrote an answer that is not JSON")
        self.assertEqual(self.reason("garbling", how="number"), "wrote an answer that is not an object")
        self.assertEqual(self.reason("garbling", how="none"), "ended without an answer")

    def test_garbage_beside_an_answer_does_not_matter(self):
        row = next(row for row in self.found["garbling"]["all"] if row["settings"] == {"how": "prints"})
        self.assertEqual(row["answers"], [0, 0])
        self.assertEqual(row["verdict"], "wrong")

    def test_bad_numbers_are_told(self):
        self.assertIn("case 0: positions: body 0 is at [nan", self.reason("lying"))
        self.assertIn("is at [inf", self.reason("lying", how="infinite"))
        self.assertIn("positions: expected 1 rows of 3, got [2]", self.reason("lying", how="width"))
        self.assertIn("positions: expected 1 rows of 3, got [3, 3]", self.reason("lying", how="count"))
        self.assertIn("could not convert", self.reason("lying", how="word"))
        self.assertIn("no finite number", self.reason("lying", how="answer"))

    def test_what_an_engine_cannot_express_is_told(self):
        row = next(row for row in self.found["lying"]["all"] if row["settings"] == {"how": "unable"})
        self.assertEqual((row["verdict"], row["reason"]), ("not expressible", "it is too small"))

    def test_tolerances_decide(self):
        words = [row["verdict"] for row in self.found["exact"]["all"]]
        self.assertEqual(words, ["right", "right", "near", "wrong"])

    def test_the_page_tells_all_of_it(self):
        text = (self.path / "index.html").read_text(encoding="utf-8")
        for words in ("crashed by SIGSEGV", "was stopped after 1 s", "wanted more than 600 MB", "not JSON",
                      "Right at its defaults: exact."):
            self.assertIn(words, text)
        self.assertNotIn("slope_slides", text)  # which was not run


class Summary(unittest.TestCase):
    """Sentences over all scenes, out of rows made here."""

    def found(self, **engines):
        """engine=(word, seconds) in each of two scenes of 1000 steps."""
        names = [scene.name for scene in scene_list.all_scenes()][:2]

        def row(word, seconds):
            return {"verdict": word, "reason": "x"} if word == "not expressible" else {"verdict": word, "error": 0.0, "seconds": seconds, "steps": 1000}
        return {scene: {name: dict.fromkeys(("default", "best"), row(*pairs[k])) for name, pairs in engines.items()} for k, scene in enumerate(names)}

    def test_counts_are_of_what_can_be_expressed(self):
        found = self.found(carom=[("right", 1), ("wrong", 1)], other=[("right", 1), ("not expressible", 1)], third=[("right", 1), ("right", 1)])
        self.assertEqual(page.right_counts(found, ["carom", "other", "third"], "best"), "third 2 of 2, carom 1 of 2, other 1 of 1")

    def test_losses_name_their_scenes(self):
        first, second = scene_list.all_scenes()[:2]
        found = self.found(carom=[("right", 1), ("near", 1)], other=[("right", 1), ("right", 1)])
        self.assertEqual(page.losses(found), f'carom loses in <a href="#{second.name}">{second.title}</a>.')
        found = self.found(carom=[("right", 1), ("right", 1)], other=[("wrong", 1), ("right", 1)])
        found[first.name]["carom"]["best"] = {"verdict": "right", "error": first.tolerance}
        found[first.name]["other"]["best"] = {"verdict": "wrong", "error": 100 * first.tolerance}
        self.assertEqual(page.losses(found), "With the best settings carom loses in no scene.")
        found[first.name]["other"]["best"] = {"verdict": "right", "error": 0.1 * first.tolerance}
        self.assertIn(f'both are right, in <a href="#{first.name}">', page.losses(found))

    def test_speeds_are_of_scenes_that_both_have_right_and_long_enough(self):
        found = self.found(carom=[("right", 6.0), ("right", 1.0)], other=[("right", 2.0), ("right", 4.0)], third=[("right", 1e-3), ("wrong", 1.0)])
        self.assertEqual(page.speeds(found, ["carom", "other", "third"]),
                         "Where both are right at their best settings, the time of carom’s calls in a step is, in the median, "
                         "1.62 times that of a step of other (0.25 to 3 in 2 scenes).")
        self.assertEqual(page.speeds(found, ["carom", "third"]), "")

    def test_machines_are_those_of_the_rows(self):
        self.assertEqual(page.machines([{"machine": "b"}, {"machine": "a"}, {"machine": "a"}]), "a; b")
        self.assertEqual(page.machines([{}, {}]), "a machine that these rows do not name")
        self.assertEqual(page.machines([{}, {"machine": "a"}]), "a; one that 1 of 2 rows do not name")


class Restart(unittest.TestCase):
    def test_what_is_done_is_not_done_again(self):
        with tempfile.TemporaryDirectory(prefix="carom-board-test-") as name:
            counted = pathlib.Path(name) / "counted"

            def runs(*arguments):
                counted.write_text("", encoding="utf-8")
                done = run_board(name, "--engines", "exact", *arguments, COUNTED=str(counted))
                self.assertEqual(done.returncode, 0, done.stderr)
                return len(counted.read_text(encoding="utf-8"))
            cases = sum(len(scene_list.find(scene).cases) for scene in SCENES.split(","))
            self.assertEqual(runs("--scenes", "wedge"), 4 * len(scene_list.find("wedge").cases))
            self.assertEqual(runs("--scenes", SCENES), 4 * (cases - len(scene_list.find("wedge").cases)))
            self.assertEqual(runs("--scenes", SCENES), 0)
            self.assertEqual(runs("--page"), 0)
            path = pathlib.Path(name) / "exact.jsonl"  # cut off within its last line
            path.write_bytes(path.read_bytes()[:-40])
            self.assertEqual(runs("--scenes", SCENES), len(scene_list.find("slope_slides").cases))
            self.assertEqual(runs("--scenes", SCENES), 0)
            board = json.loads((pathlib.Path(name) / "board.json").read_text(encoding="utf-8"))
            self.assertEqual(len(board["rows"]), 8)

    def test_a_line_that_is_no_row_is_passed_over(self):
        with tempfile.TemporaryDirectory() as name:
            path = pathlib.Path(name) / "rows.jsonl"
            path.write_bytes(b'{"key": "a"}\n[1]\n{"no": 1}\nnull\n\xff\n{"key": "b", "cut')
            store = Store(path)
            self.assertEqual(list(store.rows), ["a"])
            store.add({"key": "c"})
            self.assertEqual(list(Store(path).rows), ["a", "c"])

    def test_keys_tell_inputs_apart(self):
        self.assertEqual(key_of("a", {"x": 1, "y": 2}), key_of("a", {"y": 2, "x": 1}))
        self.assertNotEqual(key_of("a", {"x": 1}), key_of("a", {"x": 2}))

    def test_an_interpreter_that_is_not_there(self):
        with tempfile.TemporaryDirectory() as name:
            done = run_board(name, "--engines", "exact", "--python", "exact=/no/python")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("does not start: No such file or directory: /no/python", done.stdout)

    def test_names_that_are_not_there(self):
        with tempfile.TemporaryDirectory() as name:
            done = run_board(name, "--scenes", "nowhere")
            self.assertEqual(done.returncode, 2)
            self.assertIn("no scene is called nowhere", done.stderr)


class Words(unittest.TestCase):
    scene = scene_list.find("wedge")

    def line(self, **words):
        def row(word, error=0.0):
            return {"verdict": word, "reason": "x"} if word in ("no answer", "not expressible") else \
                {"verdict": word, "error": error}
        return judge.verdict_line(self.scene, {
            name: {"default": row(*default), "best": row(*best)} for name, (default, best) in words.items()})

    def test_carom_loses_in_words(self):
        line = self.line(carom=(("wrong", 1.0), ("wrong", 1.0)), other=(("right",), ("right",)))
        self.assertEqual(line, "Right at its defaults: other. Not right with any: carom. carom loses to other: it is wrong.")
        line = self.line(carom=(("right", 1e-3), ("right", 1e-3)), other=(("right", 1e-6), ("right", 1e-6)))
        self.assertIn("The smallest error is other's, 1.0e-6 m/s, beside carom's 0.001.", line)
        self.assertIn("carom cannot express it",
                      self.line(carom=(("not expressible",),) * 2, other=(("right",), ("right",))))

    def test_search_helps_in_words(self):
        line = self.line(carom=(("right",), ("right",)), other=(("wrong", 1.0), ("right", 1e-9)))
        self.assertEqual(line, "Right at its defaults: carom. Right with the best settings of the search also: other.")

    def test_answers_that_are_none(self):
        for answer, words in [({}, "no list"), ({"answers": 3}, "no list"), ({"answers": [1.0]}, "1 answers where 2"),
                              ({"answers": [1.0, True]}, "answer 1"), ({"answers": [1.0, 2.0]}, "no time"),
                              ({"answers": [1.0, 2.0], "seconds": -1}, "no time")]:
            self.assertIn(words, judge.fault_of(answer, 2))
        self.assertIsNone(judge.fault_of({"answers": [1.0, 2.0], "seconds": 0.5}, 2))

    def test_numbers(self):
        for value, text in [(0, "0"), (1.5, "1.5"), (1234.5, "1234"), (1e-7, "1.0e-7"), (-2.5e9, "-2.5e9")]:
            self.assertEqual(judge.number_text(value), text)


if __name__ == "__main__":
    unittest.main()
