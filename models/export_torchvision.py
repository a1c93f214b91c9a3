#!/usr/bin/python3
"""Exports torchvision networks as weightless ONNX skeletons.

Runs on Debian 12's python3-torch, python3-torchvision and python3-onnx (see README.md); nothing
else in the project needs PyTorch. A skeleton keeps the exported graph as it is, but each
floating-point parameter is replaced by the distribution its values are drawn from (README.md).
"""

import functools
import math

import numpy
import torch
import torchvision

import skeleton
from random_image import draw_image

NETWORKS = {
    "vit": torchvision.models.vit_b_16,
    "resnet50": torchvision.models.resnet50,
}


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
    """Draws every parameter, as calibration needs values, and returns {name: (mean, half_range)}."""
    generator = torch.Generator().manual_seed(0)
    distributions = {}
    modules = dict(network.named_modules())
    for name, tensor in network.named_parameters():
        owner, _, role = name.rpartition(".")
        module = modules[owner]
        if isinstance(module, torch.nn.BatchNorm2d):
            mean, half_range = batch_norm_affine(owner)[role == "bias"]
        elif role in ("class_token", "pos_embedding"):
            mean, half_range = 0.0, 0.5
        else:
            mean, half_range = skeleton.usual_distribution(module, role, tensor)
        distributions[name] = uniform(tensor, mean, half_range, generator)
    distributions.update(calibrate_batch_norms(network, generator))
    return distributions


def build(make):
    module = make(weights=None).eval()
    distributions = draw_parameters(module)
    return skeleton.Network(module, {"image": torch.zeros(1, 3, 224, 224)}, ("logits",), distributions)


if __name__ == "__main__":
    skeleton.main(__doc__.splitlines()[0],
                  {name: functools.partial(build, make) for name, make in NETWORKS.items()})
