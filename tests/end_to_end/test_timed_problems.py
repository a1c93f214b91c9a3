"""models/sizes/write_timed_problems.py and `fmplan solve`: what the one writes the other reads and solves."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from pipeline import BIN, ROOT  # noqa: E402

WRITER = ROOT / "models/sizes/write_timed_problems.py"
MIB = 1024**2


class TimedProblems(unittest.TestCase):
    def written(self, network, *flags):
        """(path, problem)"""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        subprocess.run([sys.executable, WRITER, "-o", folder.name, *flags, network], check=True)
        path = pathlib.Path(folder.name) / f"{network}.yaml"
        return path, yaml.safe_load(path.read_text())

    def solved(self, path, *flags):
        done = subprocess.run([BIN / "fmplan", "solve", path, "--json", *flags], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_chunks_are_claimed_within_one_percent_of_the_bound(self):
        for network in ("ResNet50", "DepthA-S", "GPTN-S"):
            for disk in ("4GB/s", "1.5GB/s"):
                with self.subTest(network=network, disk=disk):
                    path, _ = self.written(network, "--disk-bandwidth", disk)
                    plan = self.solved(path)
                    self.assertLessEqual(plan["gap"], 0.01)
                    self.assertGreaterEqual(plan["latency_ns"], plan["lower_bound_ns"])

    def test_whole_claims_are_never_faster_than_chunks(self):
        chunks, _ = self.written("DepthA-S")
        whole, problem = self.written("DepthA-S", "--claims", "whole")
        self.assertIn("whole_claims", problem)
        self.assertTrue(any(weight.get("new_memory") is False for weight in problem["weights"]))
        self.assertGreaterEqual(self.solved(whole)["latency_ns"], self.solved(chunks)["lower_bound_ns"])

    def test_large_weights_are_slices_with_their_share_of_the_work(self):
        _, problem = self.written("GPTN-S")
        sizes = {weight["name"]: int(weight["bytes"].removesuffix(" B")) for weight in problem["weights"]}
        head = {name: size for name, size in sizes.items() if name.startswith("head.")}
        self.assertEqual(sum(head.values()), 50257 * 768 * 2)
        self.assertEqual(len(head), 10)
        self.assertLessEqual(max(head.values()), 8 * MIB)
        self.assertLessEqual(max(sizes.values()), 16 * MIB)

    def test_a_slower_disk_only_lengthens_reads(self):
        _, fast = self.written("ResNet50", "--disk-bandwidth", "4GB/s")
        _, slow = self.written("ResNet50", "--disk-bandwidth", "1.5GB/s")
        self.assertEqual(fast["launches"], slow["launches"])
        for at_fast, at_slow in zip(fast["weights"], slow["weights"]):
            self.assertLess(float(at_fast["read"].split()[0]), float(at_slow["read"].split()[0]))


if __name__ == "__main__":
    unittest.main()
