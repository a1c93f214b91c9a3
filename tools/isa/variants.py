"""Which twins are compiled: the parameters that decide a kernel's registers, over where its tensors lie.

What is left out changes only the end of a kernel, one texel at a time, beside the accumulators that the loop holds
anyway: bias, activation and residual are compiled in one form.
"""

import dataclasses
import itertools
import re

from translate import KERNELS

EPILOGUE = {"BIAS": "1", "ACTIVATION": "NONE", "RESIDUAL": "NONE"}
GROUP = {"GROUP": "64", "GROUP_LOG2": "6", "GROUP_ROWS": "1"}
TILES_M = ["1", "2", "4", "5", "6", "8"]
TILES_N4 = ["1", "2", "4", "8"]
ACTIVATIONS = ["NONE", "RELU", "GELU_ERF", "GELU_TANH", "SIGMOID", "SILU", "HARD_SWISH", "HARD_SIGMOID", "CLIP", "TANH",
               "LEAKY_RELU", "EXP", "SQRT", "ERF", "RECIPROCAL", "ELU", "SOFTPLUS"]
OPERATORS = ["ADD", "SUBTRACT", "MULTIPLY", "DIVIDE", "MAXIMUM", "MINIMUM", "POWER"]


def most_texels(isa):
    """Larger tiles of accumulators fill Mali's 64 registers several times over: they spill on every phone, their
    compilation takes minutes, and they keep the catalogue's estimate."""
    return 16 if isa == "adreno" else 8


@dataclasses.dataclass(frozen=True)
class Family:
    """One kernel: what varies, what is fixed, the local size; `weights`: a second tensor that may lie elsewhere."""

    kernel: str
    varied: dict
    fixed: dict
    local_size: tuple = (8, 8, 1)
    accumulates: bool = False
    weights: bool = False


FAMILIES = [
    Family("matmul", {"TILE_M": TILES_M, "TILE_N4": TILES_N4, "B_TRANSPOSED": ["0", "1"]}, EPILOGUE, accumulates=True,
           weights=True),
    Family("matmul_local", {"TILE_M": TILES_M, "TILE_N4": TILES_N4},
           {**EPILOGUE, "TILE_K4": "4", "GROUP_X": "8", "GROUP_Y": "8"}, accumulates=True, weights=True),
    Family("attention", {"TILE_Q": ["1", "2", "4", "8"], "TILE_K": ["1", "2"], "TILE_V": ["1", "2", "3", "4"],
                         "MASK": ["0", "1"], "HALF_LOCAL": ["0", "1"]},
           {"GROUP_X": "16", "GROUP_Y": "4", "DEPTH4": "16", "BAND": "0"}, (16, 4, 1)),
    Family("conv", {"TILE_W": ["1", "2", "4", "8"], "TILE_O4": ["1", "2", "4"], "POINTWISE": ["0", "1"]}, EPILOGUE,
           accumulates=True, weights=True),
    Family("depthwise", {"TILE_W": ["1", "2", "4", "8"]}, EPILOGUE, accumulates=True, weights=True),
    Family("transposed_conv", {}, EPILOGUE, accumulates=True, weights=True),
    Family("pool", {"KIND": ["MAXIMUM", "AVERAGE"]}, {"INCLUDE_PAD": "0"}),
    Family("softmax", {"MASK": ["0", "1"]}, GROUP, (64, 1, 1)),
    Family("layer_norm", {}, {**GROUP, "SHIFT": "1"}, (64, 1, 1)),
    Family("reduction", {"SPATIAL": ["0", "1"]}, {**GROUP, "OPERATOR": "MEAN"}, (64, 1, 1)),
    Family("unary", {"ACTIVATION": ACTIVATIONS}, {"RESIDUAL": "NONE"}),
    Family("binary", {"OPERATOR": OPERATORS, "MODE0": ["SAME"], "MODE1": ["SAME", "BROADCAST", "SPLAT"]},
           {"ACTIVATION": "NONE", "RESIDUAL": "NONE"}),
    Family("resize", {"MODE": ["NEAREST", "LINEAR"]}, {}),
    Family("move", {"X_LAYOUT": ["ROWS", "CHANNELS"], "Y_LAYOUT": ["ROWS", "CHANNELS"], "RANK": ["2", "3", "4"],
                    "WHOLE": ["0", "1"]}, {}),
    Family("place", {"LINEAR": ["0"]}, {}),
    Family("gather", {"LINEAR": ["0"]}, {"PER_ELEMENT": "0"}),
]

# Kernels of linear tensors only, which have no twins: they keep the catalogue's estimate.
LINEAR_KERNELS = {"scan", "scatter"}


@dataclasses.dataclass(frozen=True)
class Variant:
    """One twin. memory: where its tensors lie, `image`, `buffer`, or `buffer+image`, activations first."""

    family: Family
    parameters: tuple
    memory: str
    half: bool

    def words(self):
        return " ".join(f"{name}={value}" for name, value in self.parameters)

    def defines(self, isa="adreno"):
        first, _, second = self.memory.partition("+")
        # ir3 unpacks halves of a GLSL buffer by integer arithmetic, which its GPU need not: floats take as many registers.
        kinds = {"image": "image", "buffer": "buffer_float" if isa == "adreno" else "buffer_half"}
        defines = {**self.family.fixed, **dict(self.parameters)}
        for name in tensors(self.family.kernel):
            where = second if second and name in ("b", "filter") else first
            defines["FM_KIND_" + name] = "linear_int" if name == "indices" else kinds[where]
        return defines


def tensors(kernel):
    """Names of the tensor arguments in a kernel's source."""
    found = re.findall(r"FM_TEXELS_(?:READ|WRITE)\((\w+)\)", (KERNELS / f"{kernel}.cl").read_text())
    return list(dict.fromkeys(found + ["residual"]))


def tile_texels(parameters):
    tile = dict(parameters)
    rows = int(tile.get("TILE_M", tile.get("TILE_W", tile.get("TILE_Q", 1))))
    columns = int(tile.get("TILE_N4", tile.get("TILE_O4", tile.get("TILE_V", 1)))) + int(tile.get("TILE_K", 0))
    return rows * columns


def variants(isa="adreno", kernels=None):
    for family in FAMILIES:
        if kernels and family.kernel not in kernels:
            continue
        choices = [[(name, value) for value in values] for name, values in family.varied.items()]
        memories = ["image", "buffer"] + (["buffer+image"] if family.weights else [])
        for parameters in itertools.product(*choices):
            if tile_texels(parameters) > most_texels(isa):
                continue
            for memory in memories:
                for half in [False, True] if family.accumulates else [False]:
                    yield Variant(family, parameters, memory, half)
