"""Tiles measured on the device: `fmexec tune` and `fmplan --tiles`."""

import pathlib
import re
import tempfile
import unittest

import yaml

from tests.end_to_end import pipeline
from tests.end_to_end.test_bad_input import BadInput
from tests.end_to_end.tiny_models import classifier, products, save

TILE_PARAMETERS = ("TILE_M", "TILE_N4", "TILE_W", "TILE_O4", "VECTOR", "BLOCK_M")


def without_tiles(path):
    """The plan, but for what its launches' tiles decide."""
    plan = yaml.safe_load(path.read_text())
    for launch in plan["launches"]:
        del launch["global"], launch["local"]
        for name in TILE_PARAMETERS:
            launch.get("parameters", {}).pop(name, None)
    return plan


class Tune(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="flashmem-tune-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.tiles = self.folder / "tiles.yaml"

    def plan(self, model, *options, name="m"):
        path = self.folder / f"{name}.plan.yaml"
        pipeline.tool("fmplan", "--model", model, "--config", "pocl-host", *options, "-o", path)
        return path

    def tune(self, plan, *options, env=None):
        return pipeline.tool("fmexec", "tune", "--plan", plan, *(options or ("-o", self.tiles)), env=env)

    def test_tiles_go_to_devices_and_standard_output_too(self):
        plan = self.plan(save(products(width=16, layers=1), self.folder / "m.onnx"), "--placement", "buffer")
        for path in ("/dev/null", "-"):
            done = self.tune(plan, "-o", path)
            self.assertIn("1 of 1 kinds of launches to measure", done.stdout + done.stderr)
        self.assertIn("tiles:", done.stdout)
        self.assertTrue(pathlib.Path("/dev/null").is_char_device())

    def verify(self, model, plan):
        reference, weights = self.folder / "ref.npz", self.folder / "m.fmw"
        pipeline.reference_tool("ort_reference.py", "--model", model, "--seed", 5, "-o", reference)
        pipeline.tool("fmplan", "pack", "--plan", plan, "--model", model, "-o", weights)
        pipeline.tool("fmexec", "--plan", plan, "--weights", weights, "--verify", reference)

    def test_outputs_are_those_of_onnx_runtime_and_the_plan_differs_in_tiles_only(self):
        for placement, storage in (("buffer", "f32"), ("image2d", "f16")):
            with self.subTest(placement):
                self.tiles = self.folder / f"{placement}.tiles.yaml"
                options = ["--placement", placement, "--storage", storage]
                model = save(classifier(), self.folder / "m.onnx")
                plain = self.plan(model, *options)
                self.tune(plain)
                entries = yaml.safe_load(self.tiles.read_text())["tiles"]
                self.assertEqual({subject.split()[0] for subject in entries}, {"conv", "matmul"})
                # Whatever was fastest, the convolution takes what the file says.
                subject, tile = next(item for item in entries.items() if item[0].startswith("conv"))
                self.assertLessEqual(tile["tile_ns"], tile["default_ns"])
                tuned = self.plan(model, *options, "--tiles", self.tiles, name="tuned")
                convolution = next(launch for launch in yaml.safe_load(tuned.read_text())["launches"]
                                   if launch["kernel"] == "conv")
                self.assertEqual(int(convolution["parameters"]["TILE_W"]), tile["rows"])
                self.assertEqual(list(convolution["local"]), tile["local"])
                self.verify(model, tuned)
                self.assertEqual(without_tiles(tuned), without_tiles(plain))

    def test_equal_launches_are_measured_once_and_known_ones_not_again(self):
        model = save(products(width=64), self.folder / "m.onnx")
        plan = self.plan(model, "--placement", "buffer")
        self.assertIn("1 of 1 kinds", self.tune(plan).stdout)
        before = self.tiles.read_text()
        self.assertIn("0 of 1 kinds", self.tune(plan).stdout)
        self.assertEqual(self.tiles.read_text(), before)
        self.tiles.write_text(re.sub("driver: .*", 'driver: "0"', before))
        again = self.tune(plan)
        self.assertIn("1 of 1 kinds", again.stdout)
        self.assertIn("another driver", again.stderr)

    def test_the_default_file_lies_in_the_cache(self):
        plan = self.plan(save(products(width=16), self.folder / "m.onnx"), "--placement", "buffer")
        self.tune(plan, "--device", "0", env={"XDG_CACHE_HOME": str(self.folder)})
        self.assertEqual(len(list((self.folder / "flashmem/tiles").glob("*.yaml"))), 1)


class BadTiles(BadInput):
    def setUp(self):
        super().setUp()
        self.model = self.save(products(width=64), "m.onnx")
        plan, tiles = self.folder / "m.plan.yaml", self.folder / "tiles.yaml"
        pipeline.tool("fmplan", "--model", self.model, "--config", "pocl-host", "--placement", "buffer",
                      "-o", plan)
        pipeline.tool("fmexec", "tune", "--plan", plan, "-o", tiles)
        self.good_plan, self.good = plan, tiles.read_text()

    def refused_tiles(self, text, *words):
        self.plan(self.model, "--placement", "buffer", "--tiles", self.file("bad.yaml", text),
                  config="pocl-host", words=words)

    def test_files_that_are_none(self):
        self.refused_tiles("", "bad.yaml")
        self.refused_tiles(self.good[: len(self.good) // 3], "bad.yaml")
        self.refused_tiles(self.good.replace("tile_file: 1", "tile_file: 7"), "bad.yaml:1:")
        self.plan(self.model, "--tiles", self.folder / "none.yaml", words=["none.yaml"])

    def test_tiles_that_no_kernel_serves(self):
        for pattern, value, word in ((r"rows: \d+", "rows: 7", "TILE_M"),
                                     (r"vector: \d+", "vector: 5", "VECTOR"),
                                     (r"rows: \d+", "rows: many", "rows"),
                                     (r"local: \[1", "local: [0", "local")):
            with self.subTest(value):
                text, count = re.subn(pattern, value, self.good)
                self.assertGreaterEqual(count, 1)
                self.refused_tiles(text, "bad.yaml:7:", word)

    def test_tiles_of_other_kernels_and_devices(self):
        text = re.sub("kernels: .*", 'kernels: "xxh3:0"', self.good)
        self.refused_tiles(text, "bad.yaml", "fmexec tune")
        other = self.file("other.yaml", re.sub("device: .*", 'device: "Voodoo"', self.good))
        self.refused("fmexec", "tune", "--plan", self.good_plan, "-o", other, words=["Voodoo"])

    def test_wrong_usage(self):
        self.refused("fmexec", "tune", words=["--plan"])
        self.refused("fmexec", "tune", "--plan", self.good_plan, "-o", self.good_plan,
                     words=["m.plan.yaml"])
        self.refused("fmexec", "tune", "--plan", self.folder / "none.yaml", words=["none.yaml"])


# What it is derived from is tested by its own module.
del BadInput

if __name__ == "__main__":
    unittest.main()
