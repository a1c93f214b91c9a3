"""fmexec --check-bounds: kernels that compare every index with its tensor's extent."""

import re
import unittest

from tests.end_to_end import pipeline
from tests.end_to_end.tiny_models import classifier, products, save
from tests.end_to_end.test_launch_cap import tall
from tests.end_to_end.test_verify_ops import parts, reordered

DONE, DIFFERS = 0, 4


class CheckBounds(unittest.TestCase):
    def setUp(self):
        self.folder = pipeline.temporary_folder(self, "bounds")

    def prepare(self, model, *options):
        self.plan, self.weights, self.reference = (self.folder / name for name in ("p.yaml", "w.fmw", "ref.npz"))
        onnx = save(model, self.folder / "m.onnx")
        pipeline.tool("fmplan", "--model", onnx, "--config", "adreno-750", *options, "-o", self.plan)
        pipeline.tool("fmplan", "pack", "--plan", self.plan, "--model", onnx, "-o", self.weights)
        pipeline.reference_tool("ort_reference.py", "--model", onnx, "--seed", 4, "-o", self.reference)

    def checked(self, plan, *options, status=DONE):
        return pipeline.tool("fmexec", "--plan", plan, "--weights", self.weights, "--check-bounds", *options,
                             status=status)

    def test_right_plans_pass_and_compute_the_same(self):
        for model, options in ((classifier(), ["--placement", "image2d"]), (classifier(), ["--placement", "buffer"]),
                               (parts(), ["--placement", "buffer", "--storage", "f32"]),
                               (reordered(), ["--placement", "image2d"]), (reordered(), ["--placement", "buffer"]),
                               (tall(layers=5, width=256), ["--placement", "image2d", "--policy", "lc-opg"]),
                               (products(), ["--placement", "image2d", "--policy", "always-next"])):
            with self.subTest(options=options):
                self.prepare(model, *options)
                if "lc-opg" in options:
                    self.assertIn("STREAMS", self.plan.read_text())
                launches = len(re.findall("kind: kernel", self.plan.read_text()))
                done = self.checked(self.plan, "--verify", self.reference)
                self.assertIn(f"bounds               {launches} launches, no access outside", done.stdout)

    def changed(self, launch, position, value):
        """The plan with another integer as the launch's argument of this position, counting integers only."""
        head, launches = self.plan.read_text().split("\nlaunches:")
        texts = re.split(r"(?m)^(?=  - id: )", launches)
        integers = list(re.finditer(r"\{int: \d+\}", texts[launch + 1]))
        at = integers[position]
        texts[launch + 1] = texts[launch + 1][:at.start()] + f"{{int: {value}}}" + texts[launch + 1][at.end():]
        path = self.folder / "changed.yaml"
        path.write_text(head + "\nlaunches:" + "".join(texts))
        return path

    def integers(self):
        """(launch, position, value) of all integer arguments."""
        launches = self.plan.read_text().split("\nlaunches:")[1]
        for launch, text in enumerate(re.split(r"(?m)^(?=  - id: )", launches)[1:]):
            for position, value in enumerate(re.findall(r"\{int: (\d+)\}", text)):
                yield launch, position, int(value)

    def test_a_wrong_argument_is_named_by_what_it_leads_to(self):
        """No integer of the plan is right by chance: wrong ones are found, or reach nothing that is outside."""
        self.prepare(classifier(), "--placement", "buffer")
        found = set()
        for launch, position, value in self.integers():
            plan = self.changed(launch, position, 3 * value + 5)
            done = pipeline.call(pipeline.BIN / "fmexec", "--plan", plan, "--weights", self.weights,
                                 "--check-bounds", status=None)
            if done.returncode == DONE:
                continue
            self.assertEqual(done.returncode, DIFFERS, done.stderr)
            said = re.match(r"fmexec: error: launch L(\d) \((\w+), \w+ of nodes? `.*\) (reads|writes) outside "
                            r"(tensor|weight) t\d+ \(.*\): (texel \(-?\d+, -?\d+\)|element -?\d+).* of [\dx ]+, "
                            r"by work-item \[\d+, \d+, \d+\] of group \[\d+, \d+, \d+\] at `.+` "
                            r"\(the first of \d+ such accesses\)\n$", done.stderr)
            self.assertTrue(said, done.stderr)
            self.assertGreaterEqual(int(said[1]), launch)
            found.add((said[2], said[3]))
        self.assertLessEqual({("move", "reads"), ("move", "writes"), ("conv", "reads"), ("conv", "writes"),
                              ("reduction", "reads"), ("matmul", "reads")}, found)

    def test_an_image_is_not_clamped(self):
        """Plain kernels would read the edge instead, and nobody would see."""
        self.prepare(classifier(), "--placement", "image2d")
        kernels = re.findall(r"kernel: (\w+)\n", self.plan.read_text())
        wide = next((launch, position, value) for launch, position, value in self.integers()
                    if kernels[launch] == "reduction" and value == 64)
        done = self.checked(self.changed(wide[0], wide[1], 1000), status=DIFFERS)
        self.assertRegex(done.stderr, r"reads outside tensor t\d+ \(r\): texel \(\d+, \d+\) of 16 x 8")


if __name__ == "__main__":
    unittest.main()
