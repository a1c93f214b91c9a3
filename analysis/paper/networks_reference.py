"""ONNX Runtime's outputs of a network of any size, and how long it takes: networks_reference.py MODEL OUT.npz THREADS RUNS

Writes input:<name> and output:<name> arrays; prints {"seconds": the median run, "peak_bytes": resident}. The file is opened
by ONNX Runtime itself, as models over 2 GiB keep their weights in a second one.
"""

import json
import os
import pathlib
import statistics
import sys
import time

import numpy
import onnx
import onnxruntime

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/reference"), str(ROOT / "bench")]

from ort_reference import draw_inputs  # noqa: E402
from process_memory import peak_resident  # noqa: E402


def options_for(model, threads):
    """Those that make no second copy of the weights, which is what preparing them for speed does, where there is no room."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    weights = sum(path.stat().st_size for path in pathlib.Path(model).parent.glob(pathlib.Path(model).stem + ".onnx*"))
    if weights > os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 4:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.add_session_config_entry("session.disable_prepacking", "1")
    return options


def main():
    model, output, threads, runs = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    inputs = draw_inputs(onnx.load(model, load_external_data=False), seed=1)
    session = onnxruntime.InferenceSession(model, options_for(model, threads), providers=["CPUExecutionProvider"])
    names = [value.name for value in session.get_outputs()]
    seconds = []
    for _ in range(runs):
        begin = time.perf_counter()
        outputs = session.run(names, inputs)
        seconds.append(time.perf_counter() - begin)
    numpy.savez(output, **{f"input:{name}": value for name, value in inputs.items()},
                **{f"output:{name}": value for name, value in zip(names, outputs)})
    print(json.dumps({"seconds": statistics.median(seconds), "peak_bytes": peak_resident()}))


if __name__ == "__main__":
    main()
