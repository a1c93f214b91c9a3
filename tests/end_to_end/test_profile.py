"""`fmplan profile`: launches measured on a simulated phone and on this machine's device, kept in a file."""

import unittest

import onnx
import yaml

from tests.end_to_end import pipeline, tiny_models


class ProfileTest(unittest.TestCase):
    def setUp(self):
        self.folder = pipeline.temporary_folder(self, "profile")
        onnx.save(tiny_models.classifier(), self.folder / "tiny.onnx")
        self.plan = self.folder / "tiny.plan.yaml"
        pipeline.tool("fmplan", "--model", self.folder / "tiny.onnx", "--config", "adreno-750", "-o", self.plan)
        self.file = self.folder / "tiny.profile.yaml"

    def profile(self, on, *more, status=0):
        return pipeline.tool("fmplan", "profile", "--on", on, "--plan", self.plan, "-o", self.file, *more,
                             status=status)

    def entries(self):
        return yaml.safe_load(self.file.read_text())["entries"]

    def test_simulated_launches_are_measured_once_and_kept(self):
        self.profile("sim:adreno-750")
        entries = self.entries()
        self.assertEqual({entry["class"] for entry in entries}, {"elemental", "reusable", "hierarchical"})
        for entry in entries:
            self.assertGreater(entry["time_ns"], 0)
            self.assertEqual(len(entry["points"]), 0 if entry["class"] == "hierarchical" else 3, entry["launch"])
            amounts = [point["streamed_bytes"] for point in entry["points"]]
            self.assertEqual(amounts, sorted(amounts))
        before = self.file.read_text()
        self.assertIn("0 measured now", self.profile("sim:adreno-750").stdout)
        self.assertEqual(self.file.read_text(), before)
        refused = self.profile("sim:mali-g715", status=2)
        self.assertIn("is the profile of device 'adreno-750', not of 'mali-g715'", refused.stderr)

    def test_the_device_here_is_measured(self):
        launch = yaml.safe_load(self.plan.read_text())["launches"][0]["id"]
        self.profile("device:0", "--launch", launch)
        self.assertEqual(len(self.entries()), 1)
        self.assertGreater(self.entries()[0]["time_ns"], 0)

    def test_wrong_usage_says_what_is_right(self):
        for on, words in (("adreno-750", "must be sim:CONFIG or device:N"), ("sim:nokia", "nokia"),
                          ("device:99", "there is no such OpenCL device")):
            self.assertIn(words, self.profile(on, status=2).stderr)
        self.assertIn("no plan has such a launch", self.profile("sim:adreno-750", "--launch", "X", status=2).stderr)


if __name__ == "__main__":
    unittest.main()
