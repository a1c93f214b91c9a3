"""Networks with stages of different shapes."""

from network import Network
from transformers import attention


def resnet50():
    net = Network("ResNet50", "ResNet50", "torchvision resnet50 (models/resnet50.onnx), batch "
                                          "normalisation folded")
    net.conv("conv1", 112, 3, 64, 7, 2)
    net.elementwise("relu", 112 * 112 * 64)
    net.elementwise("maxpool", 112 * 112 * 64)
    inputs = 64
    for stage, (width, blocks, size) in enumerate([(64, 3, 56), (128, 4, 28), (256, 6, 14),
                                                   (512, 3, 7)], start=1):
        for i in range(blocks):
            name = f"layer{stage}.{i}"
            stride = 2 if i == 0 and stage > 1 else 1
            net.conv(name + ".conv1", size * stride, inputs, width, 1)
            net.elementwise(name + ".relu1", (size * stride) ** 2 * width)
            net.conv(name + ".conv2", size, width, width, 3, stride)
            net.elementwise(name + ".relu2", size * size * width)
            net.conv(name + ".conv3", size, width, 4 * width, 1)
            if i == 0:
                net.conv(name + ".downsample", size, inputs, 4 * width, 1, stride)
            net.elementwise(name + ".add", size * size * 4 * width, 2)
            net.elementwise(name + ".relu3", size * size * 4 * width)
            inputs = 4 * width
    net.normalise("avgpool", 49 * 2048, 0)
    net.matmul("fc", 1, 2048, 1000)
    return net


def sam2():
    """Hiera-L and its feature pyramid, without mask decoder and memory; 512 x 512: with that the
    multiply-accumulates are about the paper's."""
    net = Network("SAM-2", "Segment Anything 2",
                  "github.com/facebookresearch/sam2 sam2_hiera_l.yaml (image encoder: the rest is "
                  "below 5 % of the parameters), Hiera: arXiv 2306.00989")
    size, hidden, heads = 128, 144, 2
    net.conv("patch", size, 3, hidden, 7, 4)
    net.elementwise("position", size * size * hidden)
    windows = [8, 4, 16, 8]
    index = 0
    for stage, blocks in enumerate([2, 6, 36, 4]):
        for i in range(blocks):
            name, inputs, before = f"blocks{index}", hidden, size
            if stage > 0 and i == 0:
                hidden, heads, size = 2 * hidden, 2 * heads, size // 2
            tokens, window = size * size, windows[stage] ** 2
            everywhere = index in (23, 33, 43)  # blocks of global attention
            keys = tokens if everywhere else window
            net.normalise(name + ".norm1", before * before * inputs, inputs)
            if inputs != hidden:
                net.matmul(name + ".proj", before * before, inputs, hidden)
                net.elementwise(name + ".pool", before * before * hidden)
            net.matmul(name + ".qkv", before * before, inputs, 3 * hidden)
            net.product(name + ".scores", heads, tokens, hidden // heads, keys)
            net.softmax(name + ".softmax", heads * tokens * keys)
            net.product(name + ".context", heads, tokens, keys, hidden // heads)
            net.matmul(name + ".out", tokens, hidden, hidden)
            net.elementwise(name + ".add1", tokens * hidden, 2)
            net.normalise(name + ".norm2", tokens * hidden, hidden)
            net.matmul(name + ".fc1", tokens, hidden, 4 * hidden)
            net.elementwise(name + ".gelu", tokens * 4 * hidden)
            net.matmul(name + ".fc2", tokens, 4 * hidden, hidden)
            net.elementwise(name + ".add2", tokens * hidden, 2)
            index += 1
    for level, width in enumerate([1152, 576, 288, 144]):
        net.conv(f"neck{level}", 16 << level, width, 256, 1)
    return net


def resnet_block(net, name, size, inputs, outputs):
    net.normalise(name + ".norm1", size * size * inputs, inputs)
    net.elementwise(name + ".silu1", size * size * inputs)
    net.conv(name + ".conv1", size, inputs, outputs, 3)
    net.elementwise(name + ".time.silu", 1280)
    net.matmul(name + ".time", 1, 1280, outputs)
    net.elementwise(name + ".time.add", size * size * outputs, 2)
    net.normalise(name + ".norm2", size * size * outputs, outputs)
    net.elementwise(name + ".silu2", size * size * outputs)
    net.conv(name + ".conv2", size, outputs, outputs, 3)
    if inputs != outputs:
        net.conv(name + ".shortcut", size, inputs, outputs, 1)
    net.elementwise(name + ".add", size * size * outputs, 2)


def transformer_block(net, name, size, width):
    tokens, heads, text = size * size, 8, (77, 768)
    net.normalise(name + ".norm", tokens * width, width)
    net.conv(name + ".proj_in", size, width, width, 1)
    for which, context in (("self", None), ("cross", text)):
        net.normalise(f"{name}.{which}.norm", tokens * width, width)
        attention(net, f"{name}.{which}", tokens, width, heads, context, bias=False)
        net.elementwise(f"{name}.{which}.add", tokens * width, 2)
    net.normalise(name + ".ff.norm", tokens * width, width)
    net.matmul(name + ".ff.in", tokens, width, 8 * width)
    net.elementwise(name + ".ff.geglu", tokens * 4 * width, 2)
    net.matmul(name + ".ff.out", tokens, 4 * width, width)
    net.elementwise(name + ".ff.add", tokens * width, 2)
    net.conv(name + ".proj_out", size, width, width, 1)
    net.elementwise(name + ".add", tokens * width, 2)


def sd_unet():
    """Latents of 32 x 32 (images of 256 x 256): with them the multiply-accumulates are about the
    paper's."""
    net = Network("SD-UNet", "Stable Diffusion UNet",
                  "huggingface.co/runwayml/stable-diffusion-v1-5 unet/config.json, diffusers "
                  "UNet2DConditionModel")
    size = 32
    net.matmul("time1", 1, 320, 1280)
    net.elementwise("time.silu", 1280)
    net.matmul("time2", 1, 1280, 1280)
    net.conv("conv_in", size, 4, 320, 3)
    skips, width = [320], 320
    channels = [320, 640, 1280, 1280]
    for level, outputs in enumerate(channels):
        for i in range(2):
            resnet_block(net, f"down{level}.res{i}", size, width, outputs)
            width = outputs
            if level < 3:
                transformer_block(net, f"down{level}.attn{i}", size, width)
            skips.append(width)
        if level < 3:
            size //= 2
            net.conv(f"down{level}.downsample", size, width, width, 3, 2)
            skips.append(width)
    resnet_block(net, "mid.res0", size, width, width)
    transformer_block(net, "mid.attn", size, width)
    resnet_block(net, "mid.res1", size, width, width)
    for level, outputs in enumerate(reversed(channels)):
        for i in range(3):
            resnet_block(net, f"up{level}.res{i}", size, width + skips.pop(), outputs)
            width = outputs
            if level > 0:
                transformer_block(net, f"up{level}.attn{i}", size, width)
        if level < 3:
            size *= 2
            net.conv(f"up{level}.upsample", size, width, width, 3)
    net.normalise("norm_out", size * size * width, width)
    net.elementwise("silu_out", size * size * width)
    net.conv("conv_out", size, width, 4, 3)
    return net
