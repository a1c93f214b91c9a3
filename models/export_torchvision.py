#!/usr/bin/python3
"""Exports torchvision networks as weightless ONNX skeletons.

Runs on Debian 12's python3-torch, python3-torchvision and python3-onnx (see README.md); nothing
else in the project needs PyTorch. A skeleton keeps the exported graph as it is, but each
floating-point parameter is replaced by the distribution its values are drawn from (README.md).
"""

import argparse
import functools
import io
import math
import os
import tempfile

import numpy
import onnx
import onnx.numpy_helper
import torch
import torchvision

from random_image import draw_image

NETWORKS = {
    "vit": torchvision.models.vit_b_16,
    "resnet50": torchvision.models.resnet50,
}
LOCATION = "seeded-weights"

def uniform(tensor, mean, half_range, generator):
    """Draws a tensor of the network in place from the distribution the skeleton will name."""
    with torch.no_grad():
        tensor.copy_(mean + half_range * (2 * torch.rand(tensor.shape, generator=generator) - 1))
    return mean, half_range


def batch_norm_affine(name):
    """Returns the (mean, half_range) of a batch normalisation's scale and of its bias.

    A bias below zero before a ReLU makes the features sparse, which keeps a deep random ResNet's
    logits from becoming the same for every input; halving the branch before a residual addition
    keeps the sum from growing with depth.
    """
    if name.endswith("bn3"):
        return (0.5, 0.1), (-0.1, 0.1)
    if "downsample" in name:
        return (1.0, 0.2), (0.0, 0.1)
    return (1.0, 0.2), (-0.5, 0.1)


def calibrate_batch_norms(network, generator):
    """Returns distributions of the running statistics that give each normalisation unit output.

    Layers are set in the order of execution while four pictures pass through the network. The
    variance is rounded to two digits, so that the result does not hang on the CPU's arithmetic.
    """
    distributions = {}

    def set_statistics(name, module, inputs):
        power = float(f"{inputs[0].square().mean().item():.2g}")
        distributions[name + ".running_mean"] = uniform(
            module.running_mean, 0.0, 0.1 * math.sqrt(power), generator)
        distributions[name + ".running_var"] = uniform(
            module.running_var, power, 0.3 * power, generator)

    hooks = [
        module.register_forward_pre_hook(functools.partial(set_statistics, name))
        for name, module in network.named_modules()
        if isinstance(module, torch.nn.BatchNorm2d)
    ]
    if hooks:
        with torch.no_grad():
            pictures = draw_image(numpy.random.default_rng(0), (4, 3, 224, 224))
            network(torch.from_numpy(pictures))
    for hook in hooks:
        hook.remove()
    return distributions


def draw_parameters(network):
    """Draws every parameter and returns {parameter name: (mean, half_range)}.

    Matrices and filters keep the variance of their input (half_range sqrt(3 / fan_in)), so that
    activations neither vanish nor explode; scales stay near 1 and biases near 0.
    """
    generator = torch.Generator().manual_seed(0)
    distributions = {}
    modules = dict(network.named_modules())
    for name, tensor in network.named_parameters():
        owner, _, role = name.rpartition(".")
        module = modules[owner]
        if isinstance(module, torch.nn.BatchNorm2d):
            mean, half_range = batch_norm_affine(owner)[role == "bias"]
        elif isinstance(module, torch.nn.LayerNorm) and role == "weight":
            mean, half_range = 1.0, 0.2
        elif role in ("class_token", "pos_embedding"):
            mean, half_range = 0.0, 0.5
        elif role.endswith("weight"):
            mean, half_range = 0.0, math.sqrt(3.0 / tensor[0].numel())
        else:
            mean, half_range = 0.0, 0.1
        distributions[name] = uniform(tensor, mean, half_range, generator)
    distributions.update(calibrate_batch_norms(network, generator))
    return distributions


def export_graph(network, example, input_name, opset):
    """Returns the ONNX model of a network in eval mode, traced with one example input.

    All parameters hold distinct values: equal ones would be merged. They keep requires_grad, so
    that attention is traced as MatMul and Softmax instead of PyTorch's fused kernel, and
    TrainingMode.PRESERVE keeps batch normalisations as nodes of their own.
    """
    buffer = io.BytesIO()
    torch.onnx.export(
        network,
        example,
        buffer,
        opset_version=opset,
        input_names=[input_name],
        output_names=["logits"],
        training=torch.onnx.TrainingMode.PRESERVE,
        do_constant_folding=True,
    )
    return onnx.load_from_string(buffer.getvalue())


def rename_folded_weights(graph, parameters):
    """Renames weights the exporter transposed from a counter to `<parameter>_transposed`.

    Returns {new name: parameter name}.
    """
    matrices = {name: tensor.t() for name, tensor in parameters.items() if tensor.dim() == 2}
    new_names = {}
    for tensor in graph.initializer:
        if tensor.name in parameters or tensor.data_type != onnx.TensorProto.FLOAT:
            continue
        value = torch.from_numpy(onnx.numpy_helper.to_array(tensor).copy())
        matches = [n for n, m in matrices.items() if m.shape == value.shape and m.equal(value)]
        if len(matches) != 1:
            raise SystemExit(f"initializer {tensor.name} is no transposed parameter")
        new_names[tensor.name] = matches[0] + "_transposed"
        tensor.name = new_names[tensor.name]
    for node in graph.node:
        node.input[:] = [new_names.get(name, name) for name in node.input]
    return {name: name[: -len("_transposed")] for name in new_names.values()}


def as_decimal(value):
    """Shortest text from which every float32 parser gets the same value back."""
    return str(numpy.float32(value))


def strip_weights(graph, distributions, folded):
    """Replaces the values of each parameter by the distribution they are drawn from."""
    for tensor in graph.initializer:
        if tensor.data_type != onnx.TensorProto.FLOAT:
            continue
        mean, half_range = distributions[folded.get(tensor.name, tensor.name)]
        tensor.ClearField("raw_data")
        tensor.ClearField("float_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        for key, value in (
            ("location", LOCATION),
            ("mean", as_decimal(mean)),
            ("half_range", as_decimal(half_range)),
        ):
            entry = tensor.external_data.add()
            entry.key, entry.value = key, value


def save(model, path):
    folder = os.path.dirname(os.path.abspath(path))
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
        file.write(model.SerializeToString())
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="*", default=list(NETWORKS), metavar="NETWORK",
                        help="vit, resnet50 (default: both)")
    parser.add_argument("--opset", type=int, default=14)
    parser.add_argument("--folder", default=os.path.dirname(os.path.abspath(__file__)))
    arguments = parser.parse_args()
    for name in arguments.networks:
        if name not in NETWORKS:
            parser.error(f"unknown network {name!r}; known: {', '.join(NETWORKS)}")
        network = NETWORKS[name](weights=None).eval()
        distributions = draw_parameters(network)
        model = export_graph(network, torch.zeros(1, 3, 224, 224), "image", arguments.opset)
        folded = rename_folded_weights(model.graph, network.state_dict())
        strip_weights(model.graph, distributions, folded)
        model.graph.name = name
        path = os.path.join(arguments.folder, name + ".onnx")
        save(model, path)
        print(f"{path}: {len(model.graph.node)} nodes, {os.path.getsize(path)} bytes")


if __name__ == "__main__":
    main()
