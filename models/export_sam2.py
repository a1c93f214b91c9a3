#!/usr/bin/env python3
"""Exports Segment Anything 2 (Hiera-L) as weightless ONNX skeletons: image encoder, mask decoder.

Runs with PyTorch and sam2 from PyPI (see README.md), as sam2 needs a newer PyTorch than Debian has.
"""

import math
import os
import sys

import torch
from sam2.modeling.backbones.hieradet import Hiera
from sam2.modeling.backbones.image_encoder import FpnNeck, ImageEncoder
from sam2.modeling.position_encoding import PositionEmbeddingSine
from sam2.modeling.sam.mask_decoder import MaskDecoder
from sam2.modeling.sam.transformer import TwoWayTransformer

import skeleton

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "reference"))
from onnx_totals import fold_once  # noqa: E402

PIXELS = 512  # on a side: FlashMem's work (README.md)
WIDTH = 256
PROMPTS = 2  # a point, and the one that pads it
# sam2/configs/sam2.1/sam2.1_hiera_l.yaml
TRUNK = dict(embed_dim=144, num_heads=2, stages=(2, 6, 36, 4), global_att_blocks=(23, 33, 43),
             window_pos_embed_bkg_spatial_size=(7, 7), window_spec=(8, 4, 16, 8))
DECODER = dict(use_high_res_features=True, iou_prediction_use_sigmoid=True, pred_obj_scores=True,
               pred_obj_scores_mlp=True, use_multimask_token_for_obj_ptr=True)


def written_out_attention(queries, keys, values, dropout_p=0.0):
    scores = (queries @ keys.transpose(-1, -2)) / math.sqrt(queries.shape[-1])
    return scores.softmax(-1) @ values


def mask_decoder():
    transformer = TwoWayTransformer(depth=2, embedding_dim=WIDTH, num_heads=8, mlp_dim=2048)
    return MaskDecoder(transformer_dim=WIDTH, transformer=transformer, **DECODER)


class Encoder(torch.nn.Module):
    """Picture to the features that the mask decoder reads: at a 16th, an eighth and a quarter of its size."""

    def __init__(self):
        super().__init__()
        trunk = Hiera(**TRUNK)
        neck = FpnNeck(PositionEmbeddingSine(WIDTH), WIDTH, trunk.channel_list,
                       fpn_top_down_levels=[2, 3], fpn_interp_model="nearest")
        self.encoder = ImageEncoder(trunk, neck, scalp=1)
        decoder = mask_decoder()
        self.eighth, self.quarter = decoder.conv_s1, decoder.conv_s0
        # Interpolated from the checkpoint's once for a size of picture, so a constant of the network.
        self.positions = torch.nn.Parameter(torch.zeros(1, PIXELS // 4, PIXELS // 4, TRUNK["embed_dim"]))
        trunk._get_pos_embed = lambda size: self.positions

    def forward(self, image):
        quarter, eighth, sixteenth = self.encoder(image)["backbone_fpn"]
        return sixteenth, self.eighth(eighth), self.quarter(quarter)


class Decoder(torch.nn.Module):
    """Features of a picture and embedded prompts to three masks, and how good it takes each for."""

    def __init__(self):
        super().__init__()
        self.decoder = mask_decoder()
        side = PIXELS // 16
        self.positions = torch.nn.Parameter(torch.zeros(1, WIDTH, side, side))  # constant, as the encoder's
        self.no_mask = torch.nn.Parameter(torch.zeros(1, WIDTH, 1, 1))  # stands for a prompt that is a mask

    def forward(self, sixteenth, eighth, quarter, prompts):
        dense = self.no_mask.expand_as(sixteenth)
        return self.decoder(sixteenth, self.positions, prompts, dense, multimask_output=True, repeat_image=False,
                            high_res_features=[quarter, eighth])[:2]


def exceptions(name, tensor):
    if name.endswith("positions") or "token" in name or name == "no_mask":
        return 0.0, 0.5
    if "output_upscaling.1.weight" in name or ("norm" in name and name.endswith("weight")):
        return 1.0, 0.2  # of the library's own layer normalisation too
    return None


def build(part):
    torch.nn.functional.scaled_dot_product_attention = written_out_attention
    torch.repeat_interleave = lambda tensor, repeats, dim: tensor  # one prompt: repeated once
    with skeleton.without_weights():
        module = part().eval()
    features = {"sixteenth": torch.zeros(1, WIDTH, PIXELS // 16, PIXELS // 16),
                "eighth": torch.zeros(1, WIDTH // 4, PIXELS // 8, PIXELS // 8),
                "quarter": torch.zeros(1, WIDTH // 8, PIXELS // 4, PIXELS // 4)}
    if part is Encoder:
        inputs, outputs = {"image": torch.zeros(1, 3, PIXELS, PIXELS)}, tuple(features)
    else:
        inputs, outputs = {**features, "prompts": torch.zeros(1, PROMPTS, WIDTH)}, ("masks", "quality")
    return skeleton.Network(module, inputs, outputs, skeleton.usual_distributions(module, exceptions))


def fold_shapes(model):
    """Folds what tracing left of the sizes of windows: more than half of the nodes."""
    while fold_once(model):
        pass
    graph = model.graph
    read = {name for node in graph.node for name in node.input}
    tensors = [tensor for tensor in graph.initializer if tensor.name in read]
    nodes = [node for node in graph.node if node.op_type != "Constant" or node.output[0] in read]
    for field, kept in (("initializer", tensors), ("node", nodes)):
        copies = [type(value).FromString(value.SerializeToString()) for value in kept]
        graph.ClearField(field)
        getattr(graph, field).extend(copies)


if __name__ == "__main__":
    skeleton.main(__doc__.splitlines()[0], {
        "sam2-image-encoder": lambda: build(Encoder), "sam2-mask-decoder": lambda: build(Decoder)}, fold_shapes)
