"""Fills a weightless ONNX skeleton with values drawn from a seed (README.md has the definition)."""

import argparse
import os
import sys
import tempfile

import numpy as np
import onnx
from google.protobuf.message import DecodeError

LOCATION = "seeded-weights"
GOLDEN_GAMMA = 0x9E3779B97F4A7C15
MASK_64 = (1 << 64) - 1
CHUNK = 1 << 18  # elements drawn at a time, so that the temporaries stay in the cache


def fnv1a_64(text):
    """FNV-1a hash (64 bits) of the UTF-8 bytes of `text`."""
    value = 0xCBF29CE484222325
    for byte in text.encode("utf-8"):
        value = ((value ^ byte) * 0x100000001B3) & MASK_64
    return value


def mix(z):
    """SplitMix64's finaliser; `z` is an array of uint64 and is overwritten."""
    z ^= z >> np.uint64(30)
    z *= np.uint64(0xBF58476D1CE4E5B9)
    z ^= z >> np.uint64(27)
    z *= np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return z


def stream_key(seed, name):
    """The 64-bit key of a tensor's stream of values."""
    seed_hash = int(mix(np.array([(seed + GOLDEN_GAMMA) & MASK_64], dtype=np.uint64))[0])
    return fnv1a_64(name) ^ seed_hash


def draw(seed, name, indices, mean, half_range):
    """Values (float32) of the elements `indices` (array of uint64) of tensor `name`."""
    counter = (indices + np.uint64(1)) * np.uint64(GOLDEN_GAMMA)
    bits = mix(counter + np.uint64(stream_key(seed, name))) >> np.uint64(40)
    centred = (bits.astype(np.int32) - np.int32(1 << 23)).astype(np.float32)
    centred *= np.float32(2.0**-23)
    centred *= np.float32(half_range)
    centred += np.float32(mean)
    return centred


def fill_tensor(tensor, seed):
    """Gives one seeded initializer its values; other initializers stay as they are."""
    facts = {entry.key: entry.value for entry in tensor.external_data}
    if facts.get("location") != LOCATION:
        return
    if tensor.data_type != onnx.TensorProto.FLOAT:
        raise ValueError(f"{tensor.name}: seeded weights must be float32")
    count = int(np.prod(tensor.dims, dtype=np.int64))
    values = np.empty(count, dtype="<f4")
    for start in range(0, count, CHUNK):
        stop = min(start + CHUNK, count)
        indices = np.arange(start, stop, dtype=np.uint64)
        values[start:stop] = draw(
            seed, tensor.name, indices, float(facts["mean"]), float(facts["half_range"])
        )
    del tensor.external_data[:]
    tensor.ClearField("data_location")
    tensor.raw_data = values.tobytes()


def fill(model, seed):
    """Fills all seeded initializers of `model` in place."""
    for tensor in model.graph.initializer:
        fill_tensor(tensor, seed)
    return model


def write_whole(path, write):
    """Calls write(file) on a file that then takes the path; devices and pipes are written in place."""
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:
            write(file)
        return
    folder = os.path.dirname(os.path.abspath(path))
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
        write(file)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)


def save(model, path):
    write_whole(path, lambda file: file.write(model.SerializeToString()))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, epilog="example: fill.py --seed 1 models/vit.onnx -o out/vit.onnx"
    )
    parser.add_argument("skeleton")
    parser.add_argument("--seed", type=int, default=1, help="0 to 2^64-1 (default: 1)")
    parser.add_argument("-o", "--output", required=True)
    arguments = parser.parse_args()
    if not 0 <= arguments.seed <= MASK_64:
        parser.error(f"--seed {arguments.seed}: must be in 0 to 2^64-1")
    try:
        model = fill(onnx.load(arguments.skeleton, load_external_data=False), arguments.seed)
    except (OSError, ValueError, DecodeError) as error:
        print(f"fill.py: {arguments.skeleton}: {error}", file=sys.stderr)
        sys.exit(2)
    save(model, arguments.output)


if __name__ == "__main__":
    main()
