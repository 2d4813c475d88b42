#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/branches.py on a small header whose branches are known: what clang writes is counted rightly.

Exits with 77 where clang's coverage tools are missing.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
sys.dont_write_bytecode = True
import branches  # noqa: E402

HEADER = """#pragma once
#include <cstdlib>
#define CAROM_EXPECTS(condition) \\
  do {                           \\
    if (!(condition)) {          \\
      std::abort();              \\
    }                            \\
  } while (false)
namespace carom {
template <typename T>
int sign(T x) {
  CAROM_EXPECTS(x > -100 && x < 100);
  if constexpr (sizeof(T) > 4) return 7;
  if (x > 0) return 1;
  return x < 0 ? -1 : 0;
}
inline int among(const int (&all)[2], int limit) {
  int count = 0;
  for (int one : all) count += one > 0 && one < limit;
  while (true) return count;
}
}  // namespace carom
"""
SOURCE = """#include "carom/core/sign.hpp"
int main(int count, char**) {
  const int all[2] = {1, -1};
  if (count > 1) return carom::sign(-short(count));
  return carom::sign(count) + carom::sign(8.0) + carom::among(all, 5) == 9 ? 0 : 1;
}
"""


def tool(name):
    return shutil.which(f"{name}-14") or shutil.which(name)


class Small(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        folder = cls.folder = pathlib.Path(cls.scratch.name)
        header = folder / "include/carom/core/sign.hpp"
        header.parent.mkdir(parents=True)
        header.write_text(HEADER, encoding="utf-8")
        (folder / "main.cpp").write_text(SOURCE, encoding="utf-8")
        subprocess.run(["clang++", "-std=c++20", "-fprofile-instr-generate", "-fcoverage-mapping",
                        f"-I{folder / 'include'}", folder / "main.cpp", "-o", folder / "main"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def counted(self, *runs):
        """The counts after runs of the program with these arguments."""
        counts = branches.Counts(self.folder)
        for number, arguments in enumerate(runs):
            raw, data = self.folder / f"{number}.profraw", self.folder / f"{number}.profdata"
            subprocess.run([self.folder / "main", *arguments], check=False, env={"LLVM_PROFILE_FILE": str(raw)})
            subprocess.run([tool("llvm-profdata"), "merge", raw, "-o", data], check=True)
            export = subprocess.run([tool("llvm-cov"), "export", f"-instr-profile={data}", self.folder / "main"],
                                    check=True, capture_output=True, text=True)
            counts.add(json.loads(export.stdout))
        return counts

    def missing(self, *runs):
        counts = self.counted(*runs)
        return {(counts.text(condition), outcome) for condition, outcome, taken in counts.outcomes()
                if not taken and not counts.is_precondition(condition)}

    def test_what_one_run_does_not_take(self):
        self.assertEqual(self.missing([]), {("x > 0", False), ("x < 0", True), ("x < 0", False), ("one < limit", False)})

    def test_instantiations_and_programs_are_taken_together(self):
        self.assertEqual(self.missing([], ["more"]), {("x < 0", False), ("one < limit", False)})

    def test_what_the_compiler_decides_is_no_branch(self):
        texts = {condition for condition in self.counted([]).taken}
        counts = self.counted([])
        kept = {counts.text(condition) for condition, _, _ in counts.outcomes()}
        self.assertGreater(len(texts), len(kept))
        self.assertFalse({"sizeof(T) > 4", "true"} & kept)

    def test_preconditions_are_counted_apart(self):
        counts = self.counted([])
        lines, rows = branches.report(counts)
        self.assertFalse([entry for entry in rows if "CAROM_EXPECTS" in entry])
        # Two operands with two outcomes each; a false one ends the program.
        self.assertRegex(lines[-1], r"^preconditions +2 +4 ")
        self.assertRegex(lines[1], r"^core +6 +10 ")

    def test_a_page_lists_what_is_missing(self):
        counts = self.counted([])
        _, rows = branches.report(counts)
        page = "\n".join(entry.replace("| 14 |", "| 15 |") + " a reason |" for entry in rows)
        listed = branches.listed_rows(page)
        self.assertEqual(len(listed), 4)
        self.assertTrue(all(branches.listed_rows(entry) <= listed for entry in rows))
        self.assertFalse(branches.listed_rows(rows[0].replace("x > 0", "x > 1")) <= listed)


if __name__ == "__main__":
    if not (tool("llvm-cov") and tool("llvm-profdata") and shutil.which("clang++")):
        print("clang's coverage tools are not installed")
        sys.exit(77)
    unittest.main()
