"""Writes tests/data/seeded_weights.csv: values that every implementation of the generator must
reproduce bit for bit (README.md has the definition)."""

import csv
import os
import tempfile

import numpy as np

from fill import draw

TENSORS = (
    # name, mean, half_range as in skeletons
    ("conv_proj.weight", "0.0", "0.0625"),
    ("encoder.layers.encoder_layer_0.mlp.0.weight_transposed", "0.0", "0.0625"),
    ("encoder.ln.weight", "1.0", "0.2"),
    ("layer1.0.bn1.bias", "-0.5", "0.1"),
    ("", "0.3", "1e-05"),
    ("größe", "-123.456", "7.1"),
)
SEEDS = (0, 1, 2, 12345678901234567890, 2**64 - 1)
INDICES = (0, 1, 2, 63, 1000003, 2**33 + 5)
COLUMNS = ("name", "seed", "index", "mean", "half_range", "float32_bits")


def rows():
    indices = np.array(INDICES, dtype=np.uint64)
    for name, mean, half_range in TENSORS:
        for seed in SEEDS:
            values = draw(seed, name, indices, float(mean), float(half_range))
            for index, bits in zip(INDICES, values.view(np.uint32)):
                yield name, seed, index, mean, half_range, f"{bits:08x}"


def main():
    data = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "data")
    with tempfile.NamedTemporaryFile(
        "w", dir=data, delete=False, newline="", encoding="utf-8"
    ) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows())
    os.chmod(file.name, 0o644)
    os.replace(file.name, os.path.join(data, "seeded_weights.csv"))


if __name__ == "__main__":
    main()
