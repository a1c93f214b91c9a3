"""`./fm correlate` on a config that is there and a few random layers."""

import pathlib
import sys
import tempfile
import unittest

from tests.end_to_end import pipeline

CORRELATE = pipeline.ROOT / "analysis/correlation/correlate.py"


class Correlate(unittest.TestCase):
    def test_layers_are_planned_simulated_and_run(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            done = pipeline.call(sys.executable, CORRELATE, "--config", "pocl-host", "--only", "layers", "--layers", 3,
                                 "--rounds", 2, "--placement", "buffer", "--folder", folder / "made",
                                 "-o", folder / "page.md")
            page = (folder / "page.md").read_text()
            self.assertIn("3 plans, medians of 2 rounds", page)
            self.assertIn("| buffers: random layers |", page)
            self.assertIn("| buffers: random layers |", done.stdout)
            self.assertIn("<svg", (folder / "page.svg").read_text())

    def test_wrong_configs_and_bases_are_said(self):
        with tempfile.TemporaryDirectory() as folder:
            for option in ("--config", "--base"):
                done = pipeline.call(sys.executable, CORRELATE, option, "no-such-phone", "--folder", folder,
                                     "-o", f"{folder}/page.md", status=2)
                self.assertIn("no-such-phone", done.stderr)
                self.assertFalse(pathlib.Path(folder, "page.md").exists())


if __name__ == "__main__":
    unittest.main()
