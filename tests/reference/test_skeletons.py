"""The skeletons of models/ against README.md's tables, the paper's figures and their own format."""

import pathlib
import sys
import unittest

import onnx

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "models"))
import describe  # noqa: E402
import fill  # noqa: E402
from paper_figures import NETWORKS  # noqa: E402

SKELETONS = sorted((ROOT / "models").glob("*.onnx"))
MACS_OFF = {"stable-diffusion-unet": 0.16}  # no size of latent that the network divides gives the paper's


class Skeletons(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.models = {path.stem: onnx.load(path, load_external_data=False) for path in SKELETONS}
        cls.measured = describe.measure()

    def test_every_one_is_described(self):
        described = {pathlib.Path(path).name for path, _ in describe.MODELS if path.startswith("models/")}
        self.assertEqual(described, {path.name for path in SKELETONS})

    def test_readme_has_the_tables_that_are_printed(self):
        text = (ROOT / "models/README.md").read_text(encoding="utf-8")
        for table in describe.tables(self.measured):
            self.assertIn("\n".join(table), text)

    def test_parameters_and_work_are_the_papers(self):
        for name, (key, tied) in describe.PUBLISHED.items():
            result, (millions, macs, _) = self.measured[f"models/{name}.onnx"][1], NETWORKS[key]
            parameters = (result["weight_elements"] + tied) / 1e6
            self.assertAlmostEqual(parameters / millions, 1, delta=0.01, msg=name)
            self.assertAlmostEqual(result["macs"] / 1e9 / macs, 1, delta=MACS_OFF.get(name, 0.02), msg=name)

    def test_small_and_in_a_supported_opset(self):
        for path in SKELETONS:
            self.assertLessEqual(path.stat().st_size, 1_000_000, path.name)
            self.assertEqual([(o.domain, 9 <= o.version <= 17) for o in self.models[path.stem].opset_import],
                             [("", True)], path.name)

    def test_every_float_initializer_is_seeded(self):
        for name, model in self.models.items():
            for tensor in model.graph.initializer:
                if tensor.data_type == onnx.TensorProto.FLOAT:
                    facts = {entry.key: entry.value for entry in tensor.external_data}
                    self.assertEqual(facts["location"], fill.LOCATION, f"{name}: {tensor.name}")
                    self.assertGreater(float(facts["half_range"]), 0, f"{name}: {tensor.name}")

    def test_the_decoder_step_reads_what_the_encoder_writes(self):
        encoder, step = (self.models[f"whisper-medium-{part}"].graph for part in ("encoder", "decoder"))
        inputs = {value.name: value.type for value in step.input}
        for output in encoder.output:
            self.assertEqual(inputs[output.name], output.type)


if __name__ == "__main__":
    unittest.main()
