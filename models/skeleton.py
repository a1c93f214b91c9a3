"""Turns a PyTorch network into a weightless ONNX skeleton (README.md), whatever its size.

No weight is ever held: while the network is traced, every parameter is one number shown at all of
its positions. The number tells which parameter a tensor of the exported graph came from.
"""

import argparse
import contextlib
import dataclasses
import io
import math
import os

import numpy
import onnx
import onnx.numpy_helper
import torch

from fill import LOCATION, save

NORMALISATIONS = (torch.nn.LayerNorm, torch.nn.GroupNorm, torch.nn.BatchNorm2d)


@dataclasses.dataclass
class Network:
    """What to export: a module in eval mode, an example of each input, and how weights are drawn."""

    module: torch.nn.Module
    inputs: dict  # {name: example tensor}
    outputs: tuple  # names
    distributions: dict  # {parameter or buffer name: (mean, half_range)}


@contextlib.contextmanager
def without_weights():
    """Modules built in this context get parameters that have a shape and no memory."""
    register = torch.nn.Module.register_parameter

    def register_shape(module, name, parameter):
        if parameter is not None and parameter.device.type != "meta":
            parameter = torch.nn.Parameter(parameter.data.to("meta"), parameter.requires_grad)
        register(module, name, parameter)

    torch.nn.Module.register_parameter = register_shape
    try:
        yield
    finally:
        torch.nn.Module.register_parameter = register


def usual_distribution(module, role, tensor):
    """(mean, half_range) of a parameter by its role in its module.

    Matrices and filters keep the variance of their input (half_range sqrt(3 / fan_in)), so that
    activations neither vanish nor explode; scales stay near 1 and biases near 0.
    """
    if tensor.dim() >= 2:
        swapped = isinstance(module, torch.nn.ConvTranspose2d)  # its filter begins with the input channels
        fan_in = tensor.shape[0] if swapped else tensor[0].numel()
        return 0.0, math.sqrt(3.0 / fan_in)
    if isinstance(module, NORMALISATIONS) and role == "weight":
        return 1.0, 0.2
    return 0.0, 0.1


def usual_distributions(module, exceptions=lambda name, tensor: None):
    """{parameter name: (mean, half_range)}; `exceptions` returns those that are not usual."""
    owners = dict(module.named_modules())
    distributions = {}
    for name, tensor in module.named_parameters():
        owner, _, role = name.rpartition(".")
        distributions[name] = exceptions(name, tensor) or usual_distribution(owners[owner], role, tensor)
    return distributions


def number_weights(module, names):
    """Replaces the named tensors by a number each, without memory; returns {number: name}.

    The numbers differ, for the exporter merges equal tensors. Parameters keep requires_grad, so that
    attention is traced as MatMul and Softmax instead of PyTorch's fused kernel.
    """
    numbered, replacements = {}, {}

    def replacement(name, tensor):
        number = (len(numbered) + 1) * 2.0**-20
        numbered[number] = name
        shown = torch.full((), number).expand(tensor.shape)
        if isinstance(tensor, torch.nn.Parameter):
            shown = torch.nn.Parameter(shown, tensor.requires_grad)
        return shown

    for path, owner in module.named_modules():
        for table in (owner._parameters, owner._buffers):
            for role, tensor in table.items():
                name = f"{path}.{role}" if path else role
                if tensor is not None and id(tensor) in replacements:  # tied
                    table[role] = replacements[id(tensor)][1]
                elif name in names:
                    replacements[id(tensor)] = tensor, replacement(name, tensor)
                    table[role] = replacements[id(tensor)][1]
    return numbered


@contextlib.contextmanager
def captured_tensors():
    """Yields a dict that receives {name: tensor} of the constants of the graph exported meanwhile.

    Exporting without parameters makes them inputs without values, also those that were folded.
    """
    original, tensors = torch.onnx.utils._model_to_graph, {}

    def capture(*arguments, **options):
        result = original(*arguments, **options)
        tensors.update(result[1])
        return result

    torch.onnx.utils._model_to_graph = capture
    try:
        yield tensors
    finally:
        torch.onnx.utils._model_to_graph = original


def export_graph(network, opset):
    """Returns the ONNX model, with constants as further inputs, and {name: tensor} of those.

    TrainingMode.PRESERVE keeps batch normalisations as nodes of their own.
    """
    buffer = io.BytesIO()
    with captured_tensors() as tensors:
        torch.onnx.export(
            network.module,
            tuple(network.inputs.values()),
            buffer,
            export_params=False,
            opset_version=opset,
            input_names=list(network.inputs),
            output_names=list(network.outputs),
            training=torch.onnx.TrainingMode.PRESERVE,
            do_constant_folding=True,
        )
    return onnx.load_from_string(buffer.getvalue()), tensors


def as_decimal(value):
    """Shortest text from which every float32 parser gets the same value back."""
    return str(numpy.float32(value))


def seeded_tensor(name, dims, distribution):
    tensor = onnx.TensorProto(name=name, dims=dims, data_type=onnx.TensorProto.FLOAT,
                              data_location=onnx.TensorProto.EXTERNAL)
    mean, half_range = distribution
    for key, value in (("location", LOCATION), ("mean", as_decimal(mean)), ("half_range", as_decimal(half_range))):
        entry = tensor.external_data.add()
        entry.key, entry.value = key, value
    return tensor


def parameter_of(tensor, numbered):
    """Name of the parameter that a tensor shows or shows parts of; None for other constants."""
    if tensor.numel() == 0 or not tensor.is_floating_point():
        return None
    return numbered.get(tensor[(0,) * tensor.dim()].item())


def new_name(parameter, shape, shown, taken):
    """Name of a constant folded from a parameter: what the exporter calls by a counter."""
    transposed = len(shape) == 2 and list(shown) == list(shape)[::-1]
    name = parameter + ("_transposed" if transposed else "_part")
    candidates = [name] + [f"{name}_{i}" for i in range(len(taken))]
    return next(candidate for candidate in candidates if candidate not in taken)


def bring_constants_in(model, inputs, tensors, numbered, distributions, shapes):
    """Turns inputs that are no inputs into initializers, seeded where they are parameters.

    Returns {initializer name: parameter name} of those folded from a parameter.
    """
    graph, folded, renamed, taken = model.graph, {}, {}, set()
    for value in list(graph.input)[len(inputs):]:
        graph.input.remove(value)
        tensor = tensors[value.name].detach()
        parameter = parameter_of(tensor, numbered)
        if parameter is None:
            graph.initializer.append(onnx.numpy_helper.from_array(tensor.contiguous().numpy(), value.name))
            continue
        name = value.name if value.name == parameter else new_name(parameter, shapes[parameter], tensor.shape, taken)
        taken.add(name)
        if name != value.name:
            renamed[value.name], folded[name] = name, parameter
        graph.initializer.append(seeded_tensor(name, tensor.shape, distributions[parameter]))
    for node in graph.node:
        node.input[:] = [renamed.get(name, name) for name in node.input]
    return folded


def tie(graph, folded):
    """Reads a transposed copy from the parameter by a Transpose, where the graph holds that too.

    The exporter folds the transpose of a head that is tied to the embedding, and with it that both
    are one tensor.
    """
    present = {tensor.name: tensor for tensor in graph.initializer}
    for name, parameter in folded.items():
        if name.endswith("_transposed") and parameter in present:
            graph.initializer.remove(present[name])
            reader = next(i for i, node in enumerate(graph.node) if name in node.input)
            graph.node.insert(reader, onnx.helper.make_node(
                "Transpose", [parameter], [name], name="/head/Transpose", perm=[1, 0]))


def make_skeleton(network, name, opset):
    """Returns the ONNX model of a network, without weights."""
    shapes = {key: value.shape for key, value in network.module.state_dict().items()}
    numbered = number_weights(network.module, network.distributions)
    model, tensors = export_graph(network, opset)
    folded = bring_constants_in(model, network.inputs, tensors, numbered, network.distributions, shapes)
    tie(model.graph, folded)
    model.graph.name = name
    return model


def main(description, builders, finish=lambda model: None):
    """The command line of an export script. `builders` is {network name: function returning a Network}."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("networks", nargs="*", default=list(builders), metavar="NETWORK",
                        help=f"{', '.join(builders)} (default: all)")
    parser.add_argument("--opset", type=int, default=14)
    parser.add_argument("--folder", default=os.path.dirname(os.path.abspath(__file__)))
    arguments = parser.parse_args()
    for name in arguments.networks:
        if name not in builders:
            parser.error(f"unknown network {name!r}; known: {', '.join(builders)}")
        model = make_skeleton(builders[name](), name, arguments.opset)
        finish(model)
        path = os.path.join(arguments.folder, name + ".onnx")
        save(model, path)
        print(f"{path}: {len(model.graph.node)} nodes, {os.path.getsize(path)} bytes")
