#!/usr/bin/env python3
"""Exports Whisper-medium as weightless ONNX skeletons: the encoder, and one step of the decoder.

The encoder also computes the keys and values that the decoder's cross-attention reads in every
step, so that its outputs are inputs of the decoder's.
"""

import torch
import transformers

import skeleton

FRAMES = 300  # of the log-mel spectrogram: three seconds, which is FlashMem's work (README.md)
PAST = 127  # tokens decoded before the step
CONFIG = transformers.WhisperConfig(  # huggingface.co/openai/whisper-medium
    vocab_size=51865, d_model=1024, encoder_layers=24, decoder_layers=24,
    encoder_attention_heads=16, decoder_attention_heads=16, encoder_ffn_dim=4096, decoder_ffn_dim=4096,
    max_source_positions=FRAMES // 2)
ROLES = ("key", "value")


def names(kind, part):
    return [f"{kind}.{layer}.{part}.{role}" for layer in range(CONFIG.decoder_layers) for role in ROLES]


class Encoder(torch.nn.Module):
    """Log-mel frames [1, 80, frames] to each decoder layer's cross-attention keys and values."""

    def __init__(self, network):
        super().__init__()
        self.encoder = network.model.encoder
        self.attentions = torch.nn.ModuleList(layer.encoder_attn for layer in network.model.decoder.layers)

    def forward(self, frames):
        states = self.encoder(frames, return_dict=False)[0]
        return tuple(attention._shape(project(states), -1, 1) for attention in self.attentions
                     for project in (attention.k_proj, attention.v_proj))


class DecoderStep(torch.nn.Module):
    """The token [1, 1] at position PAST to its logits [1, 1, vocabulary] and the grown cache.

    After the token come each layer's keys and values of self-attention, then those of cross-attention.
    """

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, token, *cache):
        pairs = list(zip(cache[::2], cache[1::2]))
        half = len(pairs) // 2
        past = tuple(own + cross for own, cross in zip(pairs[:half], pairs[half:]))
        # Of the encoder's states only the shape is read, as cross-attention finds its keys in the cache.
        states = torch.zeros(1, CONFIG.max_source_positions, CONFIG.d_model)
        hidden, present = self.network.model.decoder(
            input_ids=token, encoder_hidden_states=states, past_key_values=past, use_cache=True,
            return_dict=False)[:2]
        return (self.network.proj_out(hidden), *(tensor for layer in present for tensor in layer[:2]))


def positions(name, tensor):
    return (0.0, 0.5) if "embed_positions" in name else None


def build(part):
    with skeleton.without_weights():
        module = part(transformers.WhisperForConditionalGeneration(CONFIG)).eval()
    head_size = CONFIG.d_model // CONFIG.decoder_attention_heads
    shape = 1, CONFIG.decoder_attention_heads, -1, head_size
    if part is Encoder:
        inputs = {"frames": torch.zeros(1, 80, FRAMES)}
        outputs = names("present", "encoder")
    else:
        own = torch.zeros(PAST * CONFIG.d_model).view(shape)
        cross = torch.zeros(CONFIG.max_source_positions * CONFIG.d_model).view(shape)
        inputs = {"token": torch.zeros(1, 1, dtype=torch.long)}
        inputs.update({name: own for name in names("past", "decoder")})
        inputs.update({name: cross for name in names("present", "encoder")})
        outputs = ["logits"] + names("present", "decoder")
    return skeleton.Network(module, inputs, tuple(outputs), skeleton.usual_distributions(module, positions))


if __name__ == "__main__":
    skeleton.main(__doc__.splitlines()[0], {
        "whisper-medium-encoder": lambda: build(Encoder),
        "whisper-medium-decoder": lambda: build(DecoderStep)})
