"""One inference in MNN, for comparison: mnn_run.py MODEL.mnn IN.npz OUT.npy [THREADS [BACKEND]]

The converted model's folder holds it as MODEL.mnn; IN.npz has the one input as `input:<name>`.
"""

import sys

import numpy
import MNN.expr
import MNN.nn

from process_memory import peak_resident


def main():
    model, inputs, output = sys.argv[1:4]
    threads = int(sys.argv[4]) if len(sys.argv) > 4 else 2
    backend = sys.argv[5] if len(sys.argv) > 5 else "CPU"
    file = numpy.load(inputs)
    (key,) = [name for name in file.files if name.startswith("input:")]
    values = file[key]
    kind = MNN.expr.float
    if values.dtype != numpy.float32:
        values, kind = values.astype(numpy.int32), MNN.expr.int
    manager = MNN.nn.create_runtime_manager(
        ({"backend": backend, "precision": "normal", "numThread": threads},))
    module = MNN.nn.load_module_from_file(model, [key[len("input:"):]], ["logits"],
                                          runtime_manager=manager)
    placed = MNN.expr.const(values, list(values.shape), MNN.expr.NCHW, kind)
    numpy.save(output, numpy.array(module.forward([placed])[0].read()))
    print(peak_resident())


if __name__ == "__main__":
    main()
