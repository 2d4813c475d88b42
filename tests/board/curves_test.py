#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The curves of error over time: fronts, who lies under whom, the page, what is kept, and an engine that crashes. The
measures of overlap and energy are found a second way where numpy is installed; the rest needs nothing but Python."""
import json
import math
import pathlib
import stat
import sys
import tempfile
import types
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
BOARD = ROOT / "benchmarks" / "board"
sys.path[:0] = [str(BOARD), str(BOARD / "engines")]

import costs  # noqa: E402
import curve_list  # noqa: E402
import curve_page  # noqa: E402
import curve_scenes  # noqa: E402
import curves  # noqa: E402
from worlds import Body, Plane, World, turned  # noqa: E402

try:
    import curve_measures
    import numpy
except ImportError:
    curve_measures = None


def row(curve, settings, time, **errors):
    engine = next(known.engine for known in curve_list.CURVES if known.name == curve)
    return {"scene": "wall_500", "curve": curve, "engine": engine, "settings": settings, "version": "1", "date": "2000-01-01",
            "bodies": 500, "contacts": 4000, "times": time, "errors": errors}


def exact(name, value):
    return {**curve_list.EXACT, name: value}


ROWS = [row("carom", exact("deadline", 1), {"solve": 2.0, "pose": 1.0, "step": 3.0, "first": 5.0}, drift=1.0, natural_map=0.1),
        row("carom", exact("tolerance", "1e-8"), {"solve": 10.0, "step": 11.0, "first": 50.0}, drift=1e-9, natural_map=1e-7),
        row("Bullet", {"iterations": 1, "solver": "bullet", "first": 1}, {"solve": 1.0, "step": 1.5, "first": 1.0}, drift=0.5, natural_map=0.3)]


class Fronts(unittest.TestCase):
    def test_only_what_no_quicker_row_matches(self):
        self.assertEqual(costs.front([(1, 5.0), (2, 6.0), (3, 1.0), (4, 1.0)], 0.1), [(1, 5.0), (3, 1.0)])

    def test_errors_below_the_floor_are_equal(self):
        self.assertEqual(costs.front([(1, 1e-9), (2, 1e-12)], 1e-6), [(1, 1e-6)])

    def test_carom_s_own_variants_are_no_rivals(self):
        fronts = {"carom": [(1, 1.0)], "carom, compliant": [(1, 0.5)], "Bullet": [(1, 2.0)]}
        self.assertEqual(list(curve_page.rivals(fronts)), ["Bullet"])


class Words(unittest.TestCase):
    def test_where_carom_is_least(self):
        fronts = {"carom": [(4, 1.0), (9, 0.01)], "Bullet": [(1, 2.0), (5, 0.5)], "Box3D": [(2, 3.0)]}
        self.assertEqual(curve_page.ranges(fronts), [(1, 4, {"Bullet", "Box3D"}), (4, 5, set()), (5, 9, {"Bullet"}), (9, None, set())])
        self.assertEqual(curve_page.words(fronts), "carom's curve lies under all others, or level with them, from 4 to 5 µs and from 9 µs "
                         "per contact up. Under it: from 1 to 4 µs Bullet and Box3D; from 5 to 9 µs Bullet.")

    def test_level_counts(self):
        fronts = {"carom": [(1, 1.0)], "Bullet": [(1, 1.0), (2, 1.0)]}
        self.assertIn("at every time", curve_page.words(fronts))

    def test_nowhere(self):
        self.assertIn("at no time. Under it: from 1 µs per contact up Bullet.", curve_page.words({"carom": [(1, 2.0)], "Bullet": [(1, 1.0)]}))

    def test_one_alone(self):
        for fronts in ({"carom": [(1, 1.0)]}, {"Bullet": [(1, 1.0)]}, {}):
            self.assertEqual(curve_page.words(fronts), "There is nothing to compare.")

    def test_tally(self):
        good, late = {"carom": [(1, 1.0)], "Bullet": [(1, 2.0)]}, {"carom": [(2, 1.0)], "Bullet": [(1, 2.0)]}
        bad = {"carom": [(1, 2.0)], "Bullet": [(1, 1.0)]}
        self.assertIn("Of 4 comparisons", curve_page.tally([good, late, bad, bad, {"Bullet": [(1, 1.0)]}]))
        self.assertIn("at every time in 1, from some time up in 1, and at the longest times not in 2.", curve_page.tally([good, late, bad, bad]))


class Times(unittest.TestCase):
    def test_each_measure_has_its_own(self):
        self.assertEqual(curve_page.time_of(ROWS, ROWS[0], "drift"), 2.0)
        self.assertEqual(curve_page.time_of(ROWS, ROWS[0], "natural_map"), 5.0)

    def test_iterations_of_an_engine_without_a_timer(self):
        rows = [row("PhysX TGS", {"tgs": True, "iterations": n}, {"step": 3.0 + 0.1 * n}, drift=0.1) for n in (4, 16, 64)]
        self.assertAlmostEqual(curve_page.time_of(rows, rows[0], "drift"), 0.4)
        self.assertIsNone(curve_page.time_of(rows[:2], rows[0], "drift"))


class Page(unittest.TestCase):
    def test_sections(self):
        text = curve_page.write([*ROWS, {**ROWS[2], "settings": {"iterations": 2, "solver": "bullet", "first": 1}, "fault": "crashed by <SIGSEGV>",
                                         "times": {}, "errors": {}}])
        self.assertIn('<section id="wall_500">', text)
        self.assertNotIn('id="pile_1000"', text)
        self.assertIn("crashed by &lt;SIGSEGV&gt;", text)
        self.assertEqual(text.count("<svg"), 3)  # a legend and two measures
        self.assertIn("Drift of what should rest: carom&#x27;s curve lies under all others, or level with them, from 10 µs", text)

    def test_no_rows(self):
        self.assertEqual(curve_page.write([]), "")

    def test_a_single_time_and_error_have_a_picture(self):
        self.assertIn("<circle", curve_page.picture({"Bullet": [(1.0, 0.0)]}, "drift", "x"))

    def test_kept_rows_are_of_the_list(self):
        rows = json.loads((ROOT / "docs" / "board" / "curves.json").read_text(encoding="utf-8"))
        self.assertTrue(rows)
        for kept in rows:
            self.assertTrue(curve_list.expects(kept["scene"], kept["curve"], kept["settings"]), kept)
            self.assertTrue("fault" in kept or all(math.isfinite(value) for value in kept["errors"].values()), kept)
        self.assertEqual(len(rows), len({json.dumps([r["scene"], r["curve"], r["settings"]], sort_keys=True) for r in rows}))


class Scenes(unittest.TestCase):
    def test_counts(self):
        self.assertEqual([len(scene.make().bodies) for scene in curve_scenes.SCENES], [500, 1015, 1000])

    def test_file(self):
        world = World([Body("sphere", (0.5,), 2.0, (1, 2, 3))], [Plane((0, 0, 0), (0, 0, 1))], step_count=7, sample_every=2)
        words = curve_scenes.text_of(world).split()
        self.assertEqual(words[:2], ["board-scene", "1"])
        self.assertEqual(words[7:11], ["7", "2", "1", "1"])
        self.assertEqual(words[17:22], ["sphere", "0.5", "0.5", "0.5", "2.0"])
        self.assertEqual(len(words), 17 + 5 + 13)


class Rows(unittest.TestCase):
    scene = curve_scenes.CurveScene("wall_500", "A ball", "", lambda: World(
        [Body("sphere", (0.5,), 2.0, (0, 0, 0.5))], [Plane((0, 0, 0), (0, 0, 1))], step_count=1, sample_every=1), True)

    def run_with(self, folder, script):
        program = pathlib.Path(folder) / "engine"
        program.write_text(f"#!{sys.executable}\nimport sys\nscene, settings, path = sys.argv[1:]\n{script}\n", encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        options = curves.read_arguments(["--program", f"box3d={program}", "--seconds", "20", "--output", folder])
        box3d = next(curve for curve in curve_list.CURVES if curve.name == "Box3D")
        return curves.run_row(options, box3d, self.scene, {"substeps": 4})

    def test_a_program_that_crashes(self):
        with tempfile.TemporaryDirectory() as folder:
            found, _ = self.run_with(folder, "import os; os.abort()")
            self.assertIn("crashed by SIGABRT", found["fault"])

    @unittest.skipUnless(curve_measures, "numpy is not installed")
    def test_a_program_that_writes_no_samples(self):
        with tempfile.TemporaryDirectory() as folder:
            found, _ = self.run_with(folder, "open(path, 'w').write('{}')")
            self.assertIn("samples", found["fault"])
            found, _ = self.run_with(folder, "open(path, 'w').write('{\"samples\": [[0, [], [], [], []], [1, [], [], [], []]]}')")
            self.assertIn("fault", found)

    @unittest.skipUnless(curve_measures, "numpy is not installed")
    def test_a_program_that_answers(self):
        script = """start = [0, [[0, 0, 0.5]], [[1, 0, 0, 0]], [[0, 0, 0]], [[0, 0, 0]]]
end = [0.1, [[0, 0, 0.4]], [[1, 0, 0, 0]], [[0, 0, -1]], [[0, 0, 0]]]
assert open(scene).read().startswith('board-scene 1') and settings == 'substeps=4'
import json; open(path, 'w').write(json.dumps({'samples': [start, end], 'solve': 2e-6, 'version': '9'}))"""
        with tempfile.TemporaryDirectory() as folder:
            found, _ = self.run_with(folder, script)
        self.assertEqual((found["version"], found["contacts"], found["times"]), ("9", 1, {"solve": 2.0}))
        for name, value in {"penetration": 0.1, "drift": 0.1, "kinetic": 1.0}.items():
            self.assertAlmostEqual(found["errors"][name], value)

    def test_a_program_that_is_not_there(self):
        options = types.SimpleNamespace(programs={})
        command, fault = curves.command_of(options, curve_list.CURVES[-1], self.scene, {}, None)
        self.assertIsNone(command)
        self.assertIn("no program box3d", fault)

    def test_rows_that_were_kept_stay(self):
        with tempfile.TemporaryDirectory() as folder:
            stale = {**ROWS[0], "settings": {"iterations": 3}}
            path = pathlib.Path(folder) / "curves.jsonl"
            path.write_text(json.dumps({"key": "a", **ROWS[2], "version": "2"}) + "\n", encoding="utf-8")
            found = curves.collect(pathlib.Path(folder), [*ROWS, stale])
            self.assertEqual(sorted((r["curve"], r["version"]) for r in found), [("Bullet", "2"), ("carom", "1"), ("carom", "1")])


@unittest.skipUnless(curve_measures, "numpy is not installed")
class Measures(unittest.TestCase):
    @staticmethod
    def depth(bodies, planes=()):
        sample = [0, [b.position for b in bodies], [b.orientation for b in bodies], [(0, 0, 0)] * len(bodies), [(0, 0, 0)] * len(bodies)]
        return curve_measures.penetration(World(bodies, list(planes)), sample)

    def test_overlaps_of_known_depth(self):
        cube = Body("box", (0.5, 0.5, 0.5), 1.0, (0, 0, 0))
        half, eighth = math.sqrt(0.5), turned((0, 0, 1), math.pi / 4)
        cases = [
            ([cube, Body("box", (0.5, 0.5, 0.5), 1.0, (0.9, 0.2, 0))], 0.1),
            ([cube, Body("box", (0.5, 0.5, 0.5), 1.0, (0.4 + half, 0, 0), eighth)], 0.1),  # an edge in a face
            ([Body("box", (0.5, 0.5, 0.5), 1.0, (0, 0, 0), turned((1, 0, 0), math.pi / 4)),
              Body("box", (0.5, 0.5, 0.5), 1.0, (0, 0, 2 * half - 0.1), turned((0, 1, 0), math.pi / 4))], 0.1),  # two edges
            ([cube, Body("sphere", (0.5,), 1.0, (0.95, 0, 0))], 0.05),
            ([cube, Body("sphere", (0.5,), 1.0, (0.5 + 0.4 * half, 0.5 + 0.4 * half, 0))], 0.1),
            ([cube, Body("sphere", (0.5,), 1.0, (0.3, 0, 0))], 0.7),
            ([Body("sphere", (0.5,), 1.0, (0, 0, 0)), Body("sphere", (0.25,), 1.0, (0, 0, 0.7))], 0.05),
            ([cube, Body("box", (0.5, 0.5, 0.5), 1.0, (1.1, 0, 0))], 0.0)]
        for bodies, depth in cases:
            self.assertAlmostEqual(self.depth(bodies), depth, msg=str(bodies))
            self.assertAlmostEqual(self.depth(bodies[::-1]), depth, msg=str(bodies))

    def test_planes(self):
        floor = Plane((0, 0, 0), (0, 0, 1))
        self.assertAlmostEqual(self.depth([Body("sphere", (0.5,), 1.0, (0, 0, 0.4))], [floor]), 0.1)
        tilted = Body("box", (0.5, 0.5, 0.5), 1.0, (0, 0, 0.6), turned((1, 0, 0), math.pi / 4))
        self.assertAlmostEqual(self.depth([tilted], [floor]), math.sqrt(0.5) - 0.6)

    def test_energy_of_a_turned_body(self):
        body = Body("box", (0.5, 0.1, 0.2), 3.0, (0, 0, 2), turned((0, 1, 0), math.pi / 2))
        sample = [0, [body.position], [body.orientation], [(1, 0, 2)], [(4, 0, 0)]]
        about = body.inertia()[2]  # the body's third axis points along x
        self.assertAlmostEqual(curve_measures.kinetic_energy(World([body], []), sample), 3 * 5 / 2 + about * 16 / 2)
        self.assertAlmostEqual(curve_measures.energy(World([body], []), sample), 7.5 + about * 8 + 3 * 9.81 * 2)

    def test_standing_scenes_touch_and_do_not_overlap(self):
        for scene, count in zip(curve_scenes.SCENES[:2], (3872, 5348)):
            world = scene.make()
            sample = [0, [b.position for b in world.bodies], [b.orientation for b in world.bodies]]
            self.assertLess(curve_measures.penetration(world, sample), 1.01 * curve_scenes.OVERLAP * 1.5)
            self.assertEqual(curve_measures.contact_count(world, sample), count)

    def test_counts_of_the_pyramid(self):
        # k² balls in a layer of edge k: 14² on the floor, 4 · 14 at planes, 2 k (k − 1) beside each other in the lowest and in
        # every layer, and 4 under each ball of the layers above.
        beside = sum(2 * k * (k - 1) for k in range(1, 15))
        under = 4 * sum(k * k for k in range(1, 14))
        self.assertEqual(14 * 14 + 4 * 14 + beside + under, 5348)


if __name__ == "__main__":
    unittest.main()
