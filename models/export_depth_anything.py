#!/usr/bin/env python3
"""Exports DepthAnything (version 1) as weightless ONNX skeletons."""

import functools

import torch
import transformers

import skeleton

HEIGHT, WIDTH = 266, 308  # FlashMem's work (README.md)
# huggingface.co/LiheYoung/depth-anything-small-hf and -large-hf; the backbone is DINOv2's ViT-S/14, ViT-L/14.
NETWORKS = {
    "depth-anything-small": (dict(hidden_size=384, num_hidden_layers=12, num_attention_heads=6),
                             dict(neck_hidden_sizes=[48, 96, 192, 384], fusion_hidden_size=64)),
    "depth-anything-large": (dict(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16),
                             dict(neck_hidden_sizes=[256, 512, 1024, 1024], fusion_hidden_size=256)),
}


class Depth(torch.nn.Module):
    """Picture [1, 3, height, width] to its depth [1, height, width]."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, image):
        return self.network(image, return_dict=False)[0]


def exceptions(name, tensor):
    if name.endswith(("cls_token", "position_embeddings")):
        return 0.0, 0.5
    if "lambda1" in name:  # the scale of a residual branch
        return 1.0, 0.2
    if name.endswith("head.conv3.bias"):  # before the last ReLU: most of the picture has a depth
        return 1.0, 0.1
    return None


def build(backbone, head):
    layers = backbone["num_hidden_layers"]
    config = transformers.DepthAnythingConfig(
        backbone_config=transformers.Dinov2Config(
            image_size=(HEIGHT, WIDTH), patch_size=14, reshape_hidden_states=False, apply_layernorm=True,
            out_indices=list(range(layers - 3, layers + 1)), **backbone),
        reassemble_hidden_size=backbone["hidden_size"], **head)
    with skeleton.without_weights():
        module = Depth(transformers.DepthAnythingForDepthEstimation(config)).eval()
    # Interpolated from the checkpoint's once for a size of picture, so a constant of the network.
    embeddings = module.network.backbone.embeddings
    embeddings.interpolate_pos_encoding = lambda states, height, width: embeddings.position_embeddings
    return skeleton.Network(module, {"image": torch.zeros(1, 3, HEIGHT, WIDTH)}, ("depth",),
                            skeleton.usual_distributions(module, exceptions))


if __name__ == "__main__":
    skeleton.main(__doc__.splitlines()[0],
                  {name: functools.partial(build, *sizes) for name, sizes in NETWORKS.items()})
