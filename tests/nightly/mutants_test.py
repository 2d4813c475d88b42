#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/mutants.py on a small header: every change it can make is made, one at a time, and does what it says.

The header is compiled once with all of its mutants. Exits with 77 where libclang for Python is missing.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
sys.dont_write_bytecode = True
import mutants  # noqa: E402

HEADER = """// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <Eigen/Core>
namespace carom {
inline constexpr int fixed = 3 + 4;
template <int N = 2>
double sum_of(const Eigen::Matrix<double, N, 1>& a, const Eigen::Matrix<double, N, 1>& b) {
  static_assert(N > 1);
  return (a - b).template head<2>().sum();
}
template <typename T>
T work(T x, T y) {  // x < y is a comment
  const T both[2] = {x, y};
  T all = T(5) * both[0];
  if (x < y && y > T(0.5)) all += y;
  for (int i = 0; i < 3; ++i) all = all + y;
  return (std::max)(all, -x);
}
}  // namespace carom
"""
SOURCE = """#include <cstdio>
#include "carom/core/small.hpp"
int main() {
  const Eigen::Vector2d a(1, 2), b(3, 5);
  std::printf("%g %g %g %g", carom::work(2.0, 4.0), carom::work(0.1, 0.25), carom::work(-1.0, -2.0), carom::sum_of<2>(a, b));
}
"""


class Small(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        folder = cls.folder = pathlib.Path(cls.scratch.name)
        header = folder / "include/carom/core/small.hpp"
        header.parent.mkdir(parents=True)
        header.write_text(HEADER, encoding="utf-8")
        (folder / "scripts").mkdir()
        shutil.copy(ROOT / "scripts/mutant.hpp", folder / "scripts")
        (folder / "main.cpp").write_text(SOURCE, encoding="utf-8")
        cls.found = mutants.all_mutants(folder)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def changes(self, kind):
        return sorted((mutant.before, mutant.after) for mutant in self.found if mutant.kind == kind)

    def results(self, chosen):
        """What the program prints without a mutant and with each of the chosen ones; and the notes."""
        data = mutants.written(HEADER.encode(), list(enumerate(chosen)))
        changed = self.folder / "changed/carom/core/small.hpp"
        changed.parent.mkdir(parents=True, exist_ok=True)
        changed.write_bytes(data)
        shutil.copy(ROOT / "scripts/mutant.hpp", self.folder / "changed")
        program = self.folder / "main"
        subprocess.run(["clang++", "-std=c++20", "-w", f"-I{self.folder / 'changed'}", "-isystem", "/usr/include/eigen3",
                        self.folder / "main.cpp", "-o", program], check=True)
        outputs = []
        for number in [-1, *range(len(chosen))]:
            note = self.folder / "note"
            note.write_text("")
            done = subprocess.run([program], check=True, capture_output=True, text=True, timeout=20, env={
                **os.environ, "CAROM_MUTANT": str(number), "CAROM_MUTANT_NOTE": str(note)})
            outputs.append((done.stdout, note.read_text()))
        return outputs[0], outputs[1:]

    def test_what_is_found(self):
        self.assertEqual(self.changes("arithmetic"), [("*", "/"), ("+", "-"), ("-", "+")])
        self.assertEqual(self.changes("relation"), [("<", "<="), ("<", "<="), (">", ">=")])
        self.assertEqual(self.changes("logic"), [("&&", "||")])
        self.assertEqual(self.changes("condition"), [("x < y && y > T(0.5)", "!(x < y && y > T(0.5))")])
        self.assertEqual(self.changes("constant"), [("0", "1"), ("0", "1"), ("0.5", "0.0"), ("0.5", "1.5"), ("3", "0"), ("3", "4"),
                                                    ("5", "0"), ("5", "6")])
        self.assertEqual(self.changes("loop bound"), [("3", "3 - 1")])
        self.assertEqual(self.changes("assignment"), [("+=", "-=")])
        self.assertEqual(self.changes("sign"), [("-", "")])
        self.assertEqual(self.changes("choice"), [("max", "min")])
        self.assertEqual(self.changes("statement"), [("all += y;", ";"), ("all = all + y;", ";")])
        self.assertEqual(len(self.changes("return")), 2)

    def test_each_change_works_alone(self):
        chosen = mutants.chosen(self.found, 100, 1)
        self.assertGreater(len(chosen), 15)
        (usual, note), changed = self.results(chosen)
        self.assertEqual((usual, note), ("26 1.25 1 -5", ""))
        # No number is at the border of a relation, but the loop's.
        borders = [mutant for mutant in chosen if mutant.kind == "relation" and "i < 3" not in HEADER[mutant.start:mutant.end]]
        for mutant, (output, note) in zip(chosen, changed):
            with self.subTest(change=(mutant.kind, mutant.before, mutant.after)):
                self.assertEqual(note, "r")
                if mutant not in borders and (mutant.before, mutant.after) != ("0.5", "1.5"):
                    self.assertNotEqual(output, usual)

    def test_one_change_is_the_one_that_is_named(self):
        picked = [mutant for mutant in self.found if (mutant.kind, mutant.before, mutant.after) in {
            ("arithmetic", "-", "+"), ("logic", "&&", "||"), ("statement", "all += y;", ";"), ("choice", "max", "min")}]
        _, changed = self.results(picked)
        by_kind = {mutant.kind: output for mutant, (output, _) in zip(picked, changed)}
        self.assertEqual(by_kind, {"arithmetic": "26 1.25 1 11", "logic": "26 1.5 1 -5",
                                   "statement": "22 1.25 1 -5", "choice": "-2 -0.1 -11 -5"})

    def test_the_draw_depends_on_the_seed_alone(self):
        first, second, other = (mutants.chosen(self.found, 8, seed) for seed in (1, 1, 2))
        self.assertEqual([mutant.key for mutant in first], [mutant.key for mutant in second])
        self.assertNotEqual([mutant.key for mutant in first], [mutant.key for mutant in other])


if __name__ == "__main__":
    try:
        import clang.cindex  # noqa: F401
    except ImportError:
        print("libclang for Python is not installed")
        sys.exit(77)
    unittest.main()
