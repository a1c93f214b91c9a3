"""`fmplan solve` against OR-Tools CP-SAT, the paper's own solver, on the same problems."""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import lc_opg_cp_sat  # noqa: E402

FMPLAN = pathlib.Path(os.environ.get("FM_BIN", ROOT / "build/release/bin")) / "fmplan"


def random_problem(generator, layers, weights, capacity, chunks):
    return {
        "capacity": [generator.choice([0, generator.randint(0, capacity)]) for _ in range(layers)],
        "m_peak": capacity if generator.random() < 0.7 else max(1, capacity // 2),
        "lambda_tenths": generator.choice([1, 5, 7, 9, 9, 9]),
        "weights": [(generator.randrange(layers), generator.randint(1, chunks),
                     generator.random() < 0.05) for _ in range(weights)]}


def problem_yaml(problem):
    lines = ["lc_opg: 1", "name: random", "chunk_bytes: 1 KiB",
             f"m_peak: {problem['m_peak']} KiB", f"lambda: {problem['lambda_tenths'] / 10}",
             "layers:"]
    lines += [f"  - {{name: l{i}, capacity: {c}}}" for i, c in enumerate(problem["capacity"])]
    lines.append("weights:")
    lines += [f"  - {{name: w{i}, layer: l{consumer}, bytes: {chunks} KiB, "
              f"preload: {'true' if forced else 'false'}}}"
              for i, (consumer, chunks, forced) in enumerate(problem["weights"])]
    return "\n".join(lines) + "\n"


def objective_of(problem, plan):
    """Ten times the objective of the plan, recomputed from its pieces; every constraint checked."""
    total = 0
    used = [0] * len(problem["capacity"])
    for (consumer, chunks, forced), weight in zip(problem["weights"], plan["weights"]):
        if weight["preloaded"]:
            total += problem["lambda_tenths"] * chunks
            continue
        assert consumer > 0 and not forced
        next_chunk = 0
        for piece in weight["pieces"]:
            assert piece["first_chunk"] == next_chunk
            next_chunk += piece["chunk_count"]
            layer = int(piece["layer"][1:])
            assert layer < consumer
            used[layer] += piece["chunk_count"]
        assert next_chunk == chunks
        total += (10 - problem["lambda_tenths"]) * (consumer - int(weight["pieces"][0]["layer"][1:]))
    for amount, capacity in zip(used, problem["capacity"]):
        assert amount <= min(capacity, problem["m_peak"])
    return total


class LcOpgAgainstCpSat(unittest.TestCase):
    def compare(self, problem, effort, label, flags=()):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(problem_yaml(problem))
            file.flush()
            run = subprocess.run([FMPLAN, "solve", file.name, "--json", *flags],
                                 capture_output=True, text=True, check=True)
        plan = json.loads(run.stdout)
        ours = objective_of(problem, plan)
        self.assertAlmostEqual(plan["objective"] * 10, ours, places=6, msg=label)
        status, theirs, bound = lc_opg_cp_sat.solve(problem, effort)
        if status == "OPTIMAL":
            self.assertEqual(ours, round(theirs), label)
        elif status == "FEASIBLE":
            self.assertLessEqual(ours, round(theirs), label)
        self.assertLessEqual(plan["lower_bound"] * 10, round(theirs) + 1e-6, label)
        self.assertGreaterEqual(ours + 1e-6, bound, label)
        return status

    def test_small_problems_have_the_same_optimum(self):
        generator = random.Random(1)
        proved = 0
        for index in range(60):
            problem = random_problem(generator, generator.randint(2, 14), generator.randint(1, 9),
                                     generator.randint(1, 5), generator.randint(1, 12))
            proved += self.compare(problem, 20, f"small {index}: {problem}",
                                   ["--prove"]) == "OPTIMAL"
        self.assertGreater(proved, 55)

    def test_larger_problems_are_never_worse(self):
        generator = random.Random(2)
        for index in range(5):
            problem = random_problem(generator, 40 + 10 * index, 12 + 4 * index, 4, 14)
            self.compare(problem, 5, f"larger {index}")


if __name__ == "__main__":
    unittest.main()
