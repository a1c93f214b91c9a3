"""The networks of models/sizes against what is published about them."""

import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "models/sizes"))
import write_problems  # noqa: E402
from paper_figures import NETWORKS as PAPER  # noqa: E402

# huggingface.co model cards and Llama 2 (arXiv 2307.09288): parameters of the checkpoints.
CHECKPOINTS = {"Llama2-13B": 13_015_864_320, "Llama2-70B": 68_976_648_192}


class NetworkSizes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.networks = {network.key: network for network in write_problems.networks()}

    def test_parameters_and_work_are_about_the_papers(self):
        for key, (millions, macs, operators) in PAPER.items():
            network = self.networks[key]
            self.assertAlmostEqual(network.parameters / 1e6 / millions, 1, delta=0.03, msg=key)
            self.assertAlmostEqual(network.macs / 1e9 / macs, 1, delta=0.17, msg=key)
            network.pad_to(operators)
            self.assertEqual(len(network.operators), operators, key)

    def test_llama_has_the_checkpoints_parameters(self):
        for key, parameters in CHECKPOINTS.items():
            self.assertEqual(self.networks[key].parameters, parameters, key)

    def test_names_are_unique(self):
        for network in self.networks.values():
            names = [operator.name for operator in network.operators]
            self.assertEqual(len(names), len(set(names)), network.key)


if __name__ == "__main__":
    unittest.main()
