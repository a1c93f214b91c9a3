#!/usr/bin/env python3
"""Exports GPT-Neo as weightless ONNX skeletons.

Runs on Debian 12's python3-torch and python3-onnx with transformers from PyPI (see README.md);
nothing else in the project needs either. A network computes the logits of one sequence of fixed
length, without a cache of keys and values.
"""

import functools
import math

import torch
import transformers

import skeleton

TOKENS = 128
# Hyperparameters of https://huggingface.co/EleutherAI/gpt-neo-125m, -1.3B and -2.7B; the rest are
# GPTNeoConfig's defaults.
NETWORKS = {
    "gpt-neo-small": dict(num_layers=12, hidden_size=768, num_heads=12),
    "gpt-neo-1.3b": dict(num_layers=24, hidden_size=2048, num_heads=16),
    "gpt-neo-2.7b": dict(num_layers=32, hidden_size=2560, num_heads=20),
}


class Logits(torch.nn.Module):
    """Token ids [1, tokens] to logits [1, tokens, vocabulary]."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, ids):
        return self.network(input_ids=ids, use_cache=False, return_dict=False)[0]


def build(sizes):
    config = transformers.GPTNeoConfig(
        attention_types=[[["global", "local"], sizes["num_layers"] // 2]], window_size=256,
        vocab_size=50257, max_position_embeddings=2048, **sizes)
    head_size = config.hidden_size // config.num_heads

    def smaller_scores(name, tensor):
        """GPT-Neo does not scale its attention scores: queries' and keys' matrices are drawn smaller by
        the fourth root of a head's size instead, so that a softmax spreads over the tokens."""
        if "q_proj" in name or "k_proj" in name:
            return 0.0, math.sqrt(3.0 / tensor.shape[1]) / head_size**0.25
        return None

    with skeleton.without_weights():
        module = Logits(transformers.GPTNeoForCausalLM(config)).eval()
    return skeleton.Network(
        module, {"ids": torch.zeros(1, TOKENS, dtype=torch.long)}, ("logits",),
        skeleton.usual_distributions(module, smaller_scores))


if __name__ == "__main__":
    skeleton.main(__doc__.splitlines()[0],
                  {name: functools.partial(build, sizes) for name, sizes in NETWORKS.items()})
