#!/usr/bin/env python3
"""Exports the vision transformers of vit-pytorch as weightless ONNX skeletons.

The sizes are those that give FlashMem's parameters and work (README.md).
"""

import functools

import torch
import vit_pytorch
import vit_pytorch.deepvit

import skeleton

SIZES = dict(image_size=224, patch_size=16, num_classes=1000, dim=1024, heads=16, mlp_dim=2048)
NETWORKS = {
    "vit-1024": (vit_pytorch.ViT, 12),
    "deepvit": (vit_pytorch.deepvit.DeepViT, 24),
}
PRODUCTS = {  # the Einsums of DeepViT's attention as matrix products
    "b h i d, b h j d -> b h i j": lambda queries, keys: queries @ keys.transpose(-1, -2),
    "b h i j, h g -> b g i j": lambda heads, mixing: (heads.permute(0, 2, 3, 1) @ mixing).permute(0, 3, 1, 2),
    "b h i j, b h j d -> b h i d": lambda scores, values: scores @ values,
}


def tokens(name, tensor):
    if name in ("cls_token", "pos_embedding"):
        return 0.0, 0.5
    return None


def build(network, depth):
    vit_pytorch.deepvit.einsum = lambda equation, *operands: PRODUCTS[equation](*operands)
    with skeleton.without_weights():
        module = network(depth=depth, **SIZES).eval()
    return skeleton.Network(module, {"image": torch.zeros(1, 3, 224, 224)}, ("logits",),
                            skeleton.usual_distributions(module, tokens))


if __name__ == "__main__":
    skeleton.main(__doc__.splitlines()[0],
                  {name: functools.partial(build, *arguments) for name, arguments in NETWORKS.items()})
