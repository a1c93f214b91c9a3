#!/usr/bin/env python3
"""Exports the denoising network (UNet) of Stable Diffusion 1.x as a weightless ONNX skeleton."""

import diffusers
import torch

import skeleton

LATENT = 32  # on a side: a picture of 256 x 256, which is FlashMem's work (README.md)
TEXT = 77, 768  # tokens and width of the text encoder


class WrittenOutAttention:
    """Attention as products and a softmax; the library's adds a matrix of zeros to the scores."""

    def __call__(self, attention, states, encoder_hidden_states=None, attention_mask=None, temb=None):
        context = states if encoder_hidden_states is None else encoder_hidden_states

        def heads(tensor):
            width = attention.to_q.out_features // attention.heads
            return tensor.view(1, -1, attention.heads, width).transpose(1, 2)

        queries = heads(attention.to_q(states))
        keys, values = heads(attention.to_k(context)), heads(attention.to_v(context))
        scores = (queries @ keys.transpose(-1, -2)) * attention.scale
        mixed = (scores.softmax(-1) @ values).transpose(1, 2).flatten(2)
        return attention.to_out[0](mixed)


class Noise(torch.nn.Module):
    """Latent picture, time step and encoded text to the noise in the picture."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, latent, step, text):
        return self.network(latent, step, text, return_dict=False)[0]


def build():
    with skeleton.without_weights():  # the defaults are those of version 1 but for:
        network = diffusers.UNet2DConditionModel(
            sample_size=LATENT, cross_attention_dim=TEXT[1], attention_head_dim=8)
    network.set_attn_processor(WrittenOutAttention())
    module = Noise(network).eval()
    inputs = {"latent": torch.zeros(1, 4, LATENT, LATENT), "step": torch.zeros(1), "text": torch.zeros(1, *TEXT)}
    return skeleton.Network(module, inputs, ("noise",), skeleton.usual_distributions(module))


if __name__ == "__main__":
    skeleton.main(__doc__.splitlines()[0], {"stable-diffusion-unet": build})
