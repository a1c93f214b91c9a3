"""Runs an ONNX model on random or given inputs and writes ONNX Runtime's outputs as the reference.

The .npz (uncompressed) holds `input:<name>`, `output:<name>` and `half_error:<name>`, the relative
error of the same graph with fp16 storage (half_storage.py): the bar for an engine that stores
fp16. Where few values carry the error's norm it is the largest of up to 16 draws. With `--tensors PLAN`
`tensor:<name>` and `half_error:<name>` follow for all that the plan's launches write and the model
has: the reference of `fmexec --verify-ops`.
"""

import argparse
import math
import os
import secrets
import sys

import numpy as np
import onnx
import yaml
from google.protobuf.message import DecodeError

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "models"))

import half_storage
from fill import LOCATION as SEEDED
from fill import write_whole
from model_shapes import bind_shapes, static_dims
from random_image import draw_image

IMAGE_HINTS = ("image", "img", "pixel", "photo")


def load_filled(path):
    """Loads a model with its weights; raises ValueError on a skeleton (models/README.md)."""
    for tensor in onnx.load(path, load_external_data=False).graph.initializer:
        if any(entry.value == SEEDED for entry in tensor.external_data):
            raise ValueError(f"{tensor.name} has no values: fill the skeleton by models/fill.py")
    return onnx.load(path)


def is_image(name, dims):
    """Whether an input looks like an image, by its name or its dims [N, 1 or 3, H, W]."""
    hinted = any(hint in name.lower() for hint in IMAGE_HINTS)
    return len(dims) == 4 and (hinted or dims[1] in (1, 3))


def index_limit(model, name):
    """Rows of the smallest table that integer input `name` chooses from, perhaps through reshapes."""
    sizes = {t.name: list(t.dims) for t in model.graph.initializer}
    values, limits = {name}, []
    for node in model.graph.node:
        if node.op_type in ("Reshape", "Identity") and node.input[0] in values:
            values.add(node.output[0])
        if node.op_type == "Gather" and node.input[1] in values and node.input[0] in sizes:
            axis = next((a.i for a in node.attribute if a.name == "axis"), 0)
            limits.append(sizes[node.input[0]][axis])
    if not limits:
        raise ValueError(f"input {name}: only float32 inputs and indices of a Gather can be drawn")
    return min(limits)


def draw_inputs(model, seed):
    """Returns {name: array} of random values for all inputs of a model with static shapes."""
    generator = np.random.default_rng(seed)
    inputs = {}
    for value in model.graph.input:
        dims = static_dims(value)
        if value.type.tensor_type.elem_type != onnx.TensorProto.FLOAT:
            kind = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
            inputs[value.name] = generator.integers(index_limit(model, value.name), size=dims).astype(kind)
        elif is_image(value.name, dims):
            inputs[value.name] = draw_image(generator, dims)
        else:
            inputs[value.name] = generator.standard_normal(dims).astype(np.float32)
    return inputs


def read_inputs(path, model):
    """Returns {name: array} for all inputs of a model with static shapes from `input:<name>` of an .npz."""
    with np.load(path) as file:
        given = {name.removeprefix("input:"): file[name] for name in file if name.startswith("input:")}
    wanted = {value.name: value for value in model.graph.input}
    if set(given) != set(wanted):
        raise ValueError(f"{path}: has inputs {', '.join(sorted(given))}, but the model wants "
                         f"{', '.join(sorted(wanted))}")
    for name, array in given.items():
        dims = static_dims(wanted[name])
        kind = onnx.helper.tensor_dtype_to_np_dtype(wanted[name].type.tensor_type.elem_type)
        if list(array.shape) != dims or array.dtype != kind:
            raise ValueError(f"{path}: input:{name} is {array.dtype} {list(array.shape)}, not {kind} {dims}")
    return given


def open_session(model, optimise):
    """Opens a model in ONNX Runtime on the CPU."""
    try:
        import onnxruntime
    except ImportError:
        sys.exit("onnxruntime is missing: pip install -r analysis/requirements.txt")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    if not optimise:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def written_by(plan_path, model):
    """{name of what a plan's launch writes: the model's value that it holds}; where the planner named a
    result itself, that is what the last of the launch's nodes computes."""
    with open(plan_path, encoding="utf-8") as file:
        plan = yaml.load(file, Loader=yaml.CSafeLoader)
    names = {tensor["id"]: tensor["name"] for tensor in plan["tensors"]}
    position = {node.name: i for i, node in enumerate(model.graph.node)}
    values = {name for node in model.graph.node for name in node.output} | {i.name for i in model.graph.input}
    held = {}
    for launch in plan["launches"]:
        last = max((position[node] for node in launch.get("nodes", []) if node in position), default=None)
        for argument in launch.get("arguments", []):
            name = names[argument["write"]] if "write" in argument else None
            if name in values:
                held[name] = name
            elif name is not None and last is not None:
                held[name] = model.graph.node[last].output[0]
    return held


def with_outputs(model, names):
    """A copy of the model that also gives those of these values that it computes."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    given = {output.name for output in result.graph.output}
    computed = {name for node in result.graph.node for name in node.output}
    for name in sorted((names & computed) - given):
        result.graph.output.append(onnx.helper.make_empty_tensor_value_info(name))
    return result


def run(session, inputs):
    """Returns {name: output}."""
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs)))


def relative_error(value, reference):
    """‖value − reference‖ / ‖reference‖ in double precision."""
    difference = np.linalg.norm(value.astype(np.float64) - reference.astype(np.float64))
    return difference / np.linalg.norm(reference.astype(np.float64))


def effective_count(values):
    """How many values carry the norm: n when all are equally large, 1 when one outweighs the rest."""
    squares = values.astype(np.float64).ravel() ** 2
    return squares.sum() ** 2 / (squares**2).sum() if squares.any() else 1.0


def draws_for(differences):
    """How often the fp16 error is drawn: a norm that few values carry is itself random. Those few are
    a sigmoid's pixels between 0 and 1, for instance, or all of a small output."""
    return math.ceil(np.clip(300 / min(map(effective_count, differences)), 1, 16))


def nudged(inputs, generator):
    """The inputs moved by up to an fp16 rounding step, which rolls all roundings anew."""
    return {
        name: value if value.dtype != np.float32 else
        value * (1 + generator.uniform(-1, 1, value.shape) * 2.0**-11).astype(np.float32)
        for name, value in inputs.items()
    }


def half_errors(model, inputs, session, extra=frozenset()):
    """Returns {output: relative error of fp16 storage}, the largest over draws_for() draws."""
    half_model = with_outputs(half_storage.with_half_storage(model), extra)
    half_session = open_session(half_model, optimise=False)
    generator = np.random.default_rng(0)
    errors, draws, done = {}, 1, 0
    while done < draws:
        exact, half = run(session, inputs), run(half_session, inputs)
        exact = {name: value for name, value in exact.items() if name in half and value.any()}
        if done == 0:
            draws = draws_for([half[name] - value for name, value in exact.items()])
        for name, value in exact.items():
            errors[name] = max(errors.get(name, 0.0), relative_error(half[name], value))
        inputs = nudged(inputs, generator)
        done += 1
    return errors


def reference_arrays(model, inputs, input_only=False):
    """Returns the arrays of the .npz for a model with static shapes and filled weights."""
    arrays = {"input:" + name: value for name, value in inputs.items()}
    if input_only:
        return arrays
    session = open_session(model, optimise=True)
    for name, value in run(session, inputs).items():
        arrays["output:" + name] = value
    for name, error in half_errors(model, inputs, session).items():
        arrays["half_error:" + name] = np.float64(error)
    return arrays


def tensor_arrays(model, inputs, held):
    """Returns tensor:<name> and half_error:<name> for {name: value of the model}."""
    names = set(held.values())
    session = open_session(with_outputs(model, names), optimise=False)
    values = inputs | run(session, inputs)
    errors = dict.fromkeys(inputs, 0.0) | half_errors(model, inputs, session, names)
    arrays = {}
    for name, value in held.items():
        if value in errors:
            arrays["tensor:" + name] = values[value]
            arrays["half_error:" + name] = np.float64(errors[value])
    return arrays


def save_npz(path, arrays):
    write_whole(path, lambda file: np.savez(file, **arrays))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        epilog="example: ort_reference.py --model out/vit.onnx --seed 3 -o out/vit.ref.npz",
    )
    parser.add_argument("--model", required=True)
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--seed", type=int, help="of random inputs (default: a fresh one)")
    source.add_argument("--inputs", metavar="NPZ", help="takes input:<name> of this file instead")
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=VALUE",
                        help="binds a symbolic dimension")
    parser.add_argument("--shape", action="append", default=[], metavar="INPUT=D,D,...",
                        help="sets an input's whole shape")
    parser.add_argument("--tensors", metavar="PLAN", help="also write what the plan's launches write, "
                        "for fmexec --verify-ops")
    parser.add_argument("--input-only", action="store_true", help="write only the inputs")
    parser.add_argument("-o", "--output", required=True)
    arguments = parser.parse_args()
    seed = secrets.randbits(32) if arguments.seed is None else arguments.seed
    try:
        model = bind_shapes(load_filled(arguments.model), arguments.shape, arguments.dim)
        inputs = read_inputs(arguments.inputs, model) if arguments.inputs else draw_inputs(model, seed)
        arrays = reference_arrays(model, inputs, arguments.input_only)
        if arguments.tensors:
            arrays = tensor_arrays(model, inputs, written_by(arguments.tensors, model)) | arrays
    except (OSError, ValueError, KeyError, DecodeError, yaml.YAMLError) as error:
        print(f"ort_reference.py: {arguments.model}: {error}", file=sys.stderr)
        sys.exit(2)
    save_npz(arguments.output, arrays)
    print(f"{arguments.output}: inputs of {arguments.inputs or f'seed {seed}'}")
    for name, value in arrays.items():
        if name.startswith("half_error:"):
            print(f"{name}: {float(value):.3e}")


if __name__ == "__main__":
    main()
