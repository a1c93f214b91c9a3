#!/usr/bin/env python3
"""Exports GPT-Neo as a weightless ONNX skeleton.

Runs on Debian 12's python3-torch and python3-onnx with transformers from PyPI (see README.md);
nothing else in the project needs either. The network computes the logits of one sequence of fixed
length, without a cache of keys and values.
"""

import argparse
import math
import os

import onnx
import torch
import transformers

import export_torchvision

# Hyperparameters of https://huggingface.co/EleutherAI/gpt-neo-125m; the rest are GPTNeoConfig's defaults.
NETWORKS = {
    "gpt-neo-small": dict(num_layers=12, hidden_size=768, num_heads=12,
                          attention_types=[[["global", "local"], 6]], window_size=256,
                          vocab_size=50257, max_position_embeddings=2048),
}


class Logits(torch.nn.Module):
    """Token ids [1, tokens] to logits [1, tokens, vocabulary]."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, ids):
        return self.network(input_ids=ids, use_cache=False, return_dict=False)[0]


def draw_parameters(network):
    """Draws every parameter and returns {parameter name: (mean, half_range)}.

    As for the other networks (README.md). GPT-Neo does not scale its attention scores: queries' and
    keys' matrices are drawn smaller by the fourth root of a head's size instead, so that a softmax
    spreads over the tokens.
    """
    generator = torch.Generator().manual_seed(0)
    head_size = network.config.hidden_size // network.config.num_heads
    distributions = {}
    for name, tensor in network.named_parameters():
        if tensor.dim() == 2:
            half_range = math.sqrt(3.0 / tensor.shape[1])
            if "q_proj" in name or "k_proj" in name:
                half_range /= head_size ** 0.25
            distribution = 0.0, half_range
        elif ".ln_" in name and name.endswith("weight"):
            distribution = 1.0, 0.2
        else:
            distribution = 0.0, 0.1
        distributions["network." + name] = export_torchvision.uniform(tensor, *distribution, generator)
    return distributions


def tie_head(graph, folded):
    """Reads the head's matrix from the embedding by a Transpose, as the network does.

    The exporter folds the transpose away, and with it that both are one tensor.
    """
    tied = [name for name, parameter in folded.items() if parameter.endswith("wte.weight")]
    for name in tied:
        graph.initializer.remove(next(t for t in graph.initializer if t.name == name))
        reader = next(i for i, node in enumerate(graph.node) if name in node.input)
        graph.node.insert(reader, onnx.helper.make_node(
            "Transpose", [folded.pop(name)], [name], name="/head/Transpose", perm=[1, 0]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="*", default=list(NETWORKS), metavar="NETWORK",
                        help=", ".join(NETWORKS))
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--opset", type=int, default=14)
    parser.add_argument("--folder", default=os.path.dirname(os.path.abspath(__file__)))
    arguments = parser.parse_args()
    for name in arguments.networks:
        if name not in NETWORKS:
            parser.error(f"unknown network {name!r}; known: {', '.join(NETWORKS)}")
        network = transformers.GPTNeoForCausalLM(transformers.GPTNeoConfig(**NETWORKS[name])).eval()
        distributions = draw_parameters(network)
        model = export_torchvision.export_graph(
            Logits(network).eval(), torch.zeros(1, arguments.tokens, dtype=torch.long), "ids", arguments.opset)
        parameters = {"network." + key: value.detach() for key, value in network.named_parameters()}
        folded = export_torchvision.rename_folded_weights(model.graph, parameters)
        tie_head(model.graph, folded)
        export_torchvision.strip_weights(model.graph, distributions, folded)
        model.graph.name = name
        path = os.path.join(arguments.folder, name + ".onnx")
        export_torchvision.save(model, path)
        print(f"{path}: {len(model.graph.node)} nodes, {os.path.getsize(path)} bytes")


if __name__ == "__main__":
    main()
