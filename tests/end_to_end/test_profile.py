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
            self.assertEqual(len(entry["points"]), 0 if entry["class"] == "hierarchical" else 4, entry["launch"])
            amounts = [point["streamed_bytes"] for point in entry["points"]]
            self.assertEqual(amounts, sorted(amounts))
        before = self.file.read_text()
        self.assertIn("0 measured now", self.profile("sim:adreno-750").stdout)
        self.assertEqual(self.file.read_text(), before)
        refused = self.profile("sim:mali-g715", status=2)
        self.assertIn("is the profile of device 'adreno-750', not of 'mali-g715'", refused.stderr)

    def test_shapes_and_other_devices_are_learnt_from(self):
        recordings = self.folder / "recordings"
        recordings.mkdir()
        other = self.folder / "other.profile.yaml"

        def sampled(on, file, *more):
            return pipeline.tool("fmplan", "profile", "--on", on, "--shapes", "4", "--recordings", recordings,
                                 "-o", file, *more)
        sampled("sim:adreno-740", other)
        kept = sorted(recordings.iterdir())
        done = sampled("sim:adreno-750", self.file, "--learn-from", other)
        self.assertEqual(sorted(recordings.iterdir()), kept, "a recording serves all configs")
        self.assertIn("bare time, whole profile held out", done.stdout)
        written = yaml.safe_load(self.file.read_text())
        self.assertEqual(len(written["entries"]), 4)
        errors = {result["what"]: result["predictions"] for result in written["held_out"]}
        self.assertEqual(errors["bare time, whole profile held out"], 4)
        self.assertEqual(list(written["margins"]), ["measured", "bare_known", "learnt"])
        self.assertGreater(written["margins"]["learnt"]["reusable"], 0)
        model, plan = self.folder / "tiny.onnx", self.folder / "learnt.plan.yaml"
        common = ("--model", model, "--config", "adreno-750", "--policy", "lc-opg", "-o", plan)
        self.assertIn("learnt from", pipeline.tool("fmplan", *common, "--profile", self.file, "--learn-from", other).stdout)
        refused = pipeline.tool("fmplan", *common, "--profile", other, status=2)
        self.assertIn("is of device 'adreno-740', not of 'adreno-750'", refused.stderr)
        pipeline.tool("fmplan", *common, "--learn-from", other)
        other.write_text(other.read_text()[:700])
        self.assertIn("other.profile.yaml", pipeline.tool("fmplan", *common, "--learn-from", other, status=2).stderr)

    def test_the_device_here_is_measured(self):
        launch = yaml.safe_load(self.plan.read_text())["launches"][0]["id"]
        self.profile("device:0", "--launch", launch)
        self.assertEqual(len(self.entries()), 1)
        self.assertGreater(self.entries()[0]["time_ns"], 0)
        self.file.unlink()
        self.profile("device:0", "--launch", launch, "--config", "pocl-host")
        self.assertEqual(yaml.safe_load(self.file.read_text())["device"], "pocl-host")

    def test_wrong_usage_says_what_is_right(self):
        for on, words in (("adreno-750", "must be sim:CONFIG or device:N"), ("sim:nokia", "nokia"),
                          ("device:99", "there is no such OpenCL device")):
            self.assertIn(words, self.profile(on, status=2).stderr)
        without = pipeline.tool("fmplan", "profile", "--on", "sim:adreno-750", "-o", self.file, status=2)
        self.assertIn("--plan or --shapes is missing", without.stderr)
        for more, words in ((("--recordings", self.folder / "no"), "there is no such folder"),
                            (("--config", "adreno-750"), "--config goes with --on device:N"),
                            (("--learn-from", self.plan), "tiny.plan.yaml")):
            self.assertIn(words, self.profile("sim:adreno-750", *more, status=2).stderr)
        self.assertIn("no plan has such a launch", self.profile("sim:adreno-750", "--launch", "X", status=2).stderr)


if __name__ == "__main__":
    unittest.main()
