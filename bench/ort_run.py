"""One cold inference in ONNX Runtime, for comparison: ort_run.py MODEL.onnx IN.npz OUT.npy [THREADS]

IN.npz has the inputs as `input:<name>`. Prints the peak resident set in bytes.
"""

import sys

import numpy
import onnxruntime

from process_memory import peak_resident


def main():
    model, inputs, output = sys.argv[1:4]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(sys.argv[4]) if len(sys.argv) > 4 else 2
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    file = numpy.load(inputs)
    feeds = {value.name: file["input:" + value.name] for value in session.get_inputs()}
    numpy.save(output, session.run(None, feeds)[0])
    print(peak_resident())


if __name__ == "__main__":
    main()
