"""One cold inference in ONNX Runtime, for comparison: python bench/ort_run.py MODEL.onnx [THREADS]"""

import sys
import time

import numpy
import onnxruntime


def main():
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
    random = numpy.random.default_rng(1)
    inputs = {value.name: random.standard_normal(value.shape).astype(numpy.float32)
              for value in session.get_inputs()}
    begin = time.perf_counter()
    session.run(None, inputs)
    print(f"{(time.perf_counter() - begin) * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
