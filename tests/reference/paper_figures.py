"""FlashMem (arXiv 2602.15379), table 6: million parameters, giga multiply-accumulates, operators."""

NETWORKS = {
    "GPTN-S": (164, 16, 606), "GPTN-1.3B": (1419, 170, 1110), "GPTN-2.7B": (2781, 342, 1446),
    "ResNet50": (25.6, 4.1, 141), "SAM-2": (215, 218, 1668), "ViT": (103, 21, 819),
    "DeepViT": (204, 42, 1395), "SD-UNet": (860, 78, 1271), "Whisper-M": (356, 55, 2026),
    "DepthA-S": (24.3, 14, 1108), "DepthA-L": (333, 180, 2007)}
