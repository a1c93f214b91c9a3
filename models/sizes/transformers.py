"""Transformers whose blocks all have one shape."""

from network import Network


def attention(net, block, tokens, hidden, heads, context=None, kv_hidden=None, fused=False,
              bias=True, out_bias=True):
    """Self-attention, or cross-attention over `context` = (tokens, width)."""
    context_tokens, context_width = context or (tokens, hidden)
    kv_hidden = kv_hidden or hidden
    if fused:
        net.matmul(block + ".qkv", tokens, hidden, 3 * hidden, bias)
    else:
        net.matmul(block + ".q", tokens, hidden, hidden, bias)
        net.matmul(block + ".k", context_tokens, context_width, kv_hidden, bias)
        net.matmul(block + ".v", context_tokens, context_width, kv_hidden, bias)
    head = hidden // heads
    net.product(block + ".scores", heads, tokens, head, context_tokens)
    net.softmax(block + ".softmax", heads * tokens * context_tokens)
    net.product(block + ".context", heads, tokens, context_tokens, head)
    net.matmul(block + ".out", tokens, hidden, hidden, out_bias)


def mlp(net, block, tokens, hidden, inner):
    net.matmul(block + ".fc1", tokens, hidden, inner)
    net.elementwise(block + ".gelu", tokens * inner)
    net.matmul(block + ".fc2", tokens, inner, hidden)


def encoder_block(net, block, tokens, hidden, heads, fused, inner=None):
    net.normalise(block + ".norm1", tokens * hidden, hidden)
    attention(net, block, tokens, hidden, heads, fused=fused)
    net.elementwise(block + ".add1", tokens * hidden, 2)
    net.normalise(block + ".norm2", tokens * hidden, hidden)
    mlp(net, block, tokens, hidden, inner or 4 * hidden)
    net.elementwise(block + ".add2", tokens * hidden, 2)


def gpt_neo(key, name, hidden, blocks, heads):
    """128 tokens: with them the multiply-accumulates are the paper's."""
    tokens, vocabulary, positions = 128, 50257, 2048
    net = Network(key, name, "huggingface.co/EleutherAI/gpt-neo-{125m,1.3B,2.7B} config.json; the "
                             "language head untied, as the paper's parameter counts have it")
    net.gathered((vocabulary + positions) * hidden)
    net.elementwise("embed", tokens * hidden, 2)
    for i in range(blocks):
        block = f"h{i}"
        net.normalise(block + ".ln1", tokens * hidden, hidden)
        attention(net, block, tokens, hidden, heads, bias=False)
        net.elementwise(block + ".add1", tokens * hidden, 2)
        net.normalise(block + ".ln2", tokens * hidden, hidden)
        mlp(net, block, tokens, hidden, 4 * hidden)
        net.elementwise(block + ".add2", tokens * hidden, 2)
    net.normalise("ln_f", tokens * hidden, hidden)
    net.matmul("head", tokens, hidden, vocabulary, bias=False)
    return net


def llama2(key, name, hidden, blocks, heads, kv_heads, inner):
    """128 tokens, as the GPT-Neo of the paper; every operator that PyTorch's LlamaDecoderLayer has."""
    tokens, vocabulary = 128, 32000
    net = Network(key, name, "Llama 2 (arXiv 2307.09288) and huggingface.co/meta-llama/"
                             "Llama-2-{13b,70b}-hf config.json")
    net.gathered(vocabulary * hidden)
    net.elementwise("embed", tokens * hidden)
    kv_hidden = hidden // heads * kv_heads
    for i in range(blocks):
        block = f"layers{i}"

        def rms_norm(which):
            for part in ("square", "rsqrt", "scale", "gamma"):
                net.elementwise(f"{block}.{which}.{part}", tokens * hidden)
            net.normalise(f"{block}.{which}.mean", tokens * hidden, hidden // 2)

        rms_norm("norm1")
        net.matmul(block + ".q", tokens, hidden, hidden, bias=False)
        net.matmul(block + ".k", tokens, hidden, kv_hidden, bias=False)
        net.matmul(block + ".v", tokens, hidden, kv_hidden, bias=False)
        for which, width in (("q", hidden), ("k", kv_hidden)):
            for part in ("transpose", "cos", "rotate", "sin", "sum"):
                net.elementwise(f"{block}.{which}.rotary.{part}", tokens * width)
        net.product(block + ".scores", heads, tokens, hidden // heads, tokens)
        net.elementwise(block + ".mask", heads * tokens * tokens, 2)
        net.softmax(block + ".softmax", heads * tokens * tokens)
        net.product(block + ".context", heads, tokens, tokens, hidden // heads)
        net.elementwise(block + ".merge", tokens * hidden)
        net.matmul(block + ".o", tokens, hidden, hidden, bias=False)
        net.elementwise(block + ".add1", tokens * hidden, 2)
        rms_norm("norm2")
        net.matmul(block + ".gate", tokens, hidden, inner, bias=False)
        net.elementwise(block + ".silu", tokens * inner)
        net.matmul(block + ".up", tokens, hidden, inner, bias=False)
        net.elementwise(block + ".gated", tokens * inner, 2)
        net.matmul(block + ".down", tokens, inner, hidden, bias=False)
        net.elementwise(block + ".add2", tokens * hidden, 2)
    net.normalise("norm", tokens * hidden, hidden)
    net.matmul("head", tokens, hidden, vocabulary, bias=False)
    return net


def vit(key, name, source, hidden, blocks, heads, tokens=197, patch=16, classes=1000):
    net = Network(key, name, source)
    net.conv("patch", round((tokens - 1) ** 0.5), 3, hidden, patch, patch)
    net.parameters += (tokens + 1) * hidden
    net.elementwise("position", tokens * hidden)
    for i in range(blocks):
        encoder_block(net, f"blocks{i}", tokens, hidden, heads, fused=False)
    net.normalise("norm", tokens * hidden, hidden)
    net.matmul("head", 1, hidden, classes)
    return net


def whisper_medium():
    """150 of the encoder's 1500 frames: with them the multiply-accumulates are about the paper's."""
    frames, hidden, vocabulary = 150, 1024, 51865
    net = Network("Whisper-M", "Whisper medium",
                  "github.com/openai/whisper model.py, dimensions of `medium`: 24 encoder blocks and "
                  "the head over the vocabulary; the paper's 356 M parameters are these, its "
                  "decoder blocks are not among them")
    net.conv("conv1", 16, 80, hidden, 3)
    net.conv("conv2", 12, hidden, hidden, 3, 2)
    net.elementwise("position", frames * hidden)
    for i in range(24):
        encoder_block(net, f"blocks{i}", frames, hidden, 16, fused=False)
    net.normalise("norm", frames * hidden, hidden)
    net.matmul("head", frames, hidden, vocabulary, bias=False)
    return net


def depth_anything(key, name, hidden, blocks, heads, features, channels):
    """DINOv2 backbone and DPT head; 266 x 266: with that the multiply-accumulates are about the
    paper's."""
    grid = 19  # patches of 14
    tokens = grid * grid + 1
    net = Network(key, name, "github.com/LiheYoung/Depth-Anything (DPT head), "
                             "github.com/facebookresearch/dinov2 (backbone)")
    net.conv("patch", grid, 3, hidden, 14, 14)
    net.parameters += (tokens + 1) * hidden
    net.elementwise("position", tokens * hidden)
    for i in range(blocks):
        encoder_block(net, f"blocks{i}", tokens, hidden, heads, fused=True)
    sizes = [grid * 4, grid * 2, grid, grid // 2 + 1]
    for i, (size, width) in enumerate(zip(sizes, channels)):
        net.normalise(f"norm{i}", tokens * hidden, hidden)
        net.conv(f"project{i}", grid, hidden, width, 1)
        if size > grid:
            factor = size // grid
            net.matmul(f"resize{i}", grid * grid, width, width * factor * factor)
        elif size < grid:
            net.conv(f"resize{i}", size, width, width, 3, 2)
        net.conv(f"layer{i}_rn", size, width, features, 3, bias=False)
    for i in reversed(range(4)):
        for unit in ("a", "b") if i < 3 else ("b",):
            for conv in ("conv1", "conv2"):
                net.elementwise(f"refine{i}.{unit}.{conv}.relu", sizes[i] ** 2 * features)
                net.conv(f"refine{i}.{unit}.{conv}", sizes[i], features, features, 3)
            net.elementwise(f"refine{i}.{unit}.add", sizes[i] ** 2 * features, 2)
        net.conv(f"refine{i}.out", sizes[i] * 2, features, features, 1)
    net.conv("output1", sizes[0] * 2, features, features // 2, 3)
    net.conv("output2", 14 * grid, features // 2, 32, 3)
    net.conv("output3", 14 * grid, 32, 1, 1)
    return net
