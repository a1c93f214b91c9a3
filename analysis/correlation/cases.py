"""What is run and simulated: networks and random layers, planned, packed and recorded."""

import json
import pathlib
import statistics

import onnx

from agreement import Launch
from random_layers import draw_layers

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Network -> its file and the shapes that bind its dynamic dimensions.
NETWORKS = {
    "resnet50": ("models/resnet50.onnx", []),
    "vit": ("models/vit.onnx", []),
    "ocr-det": ("tests/data/ch_PP-OCRv4_det_infer.onnx", ["--shape", "x=1,3,320,320"]),
    "ocr-cls": ("tests/data/ch_ppocr_mobile_v2.0_cls_infer.onnx", ["--shape", "x=1,3,48,192"]),
}


class Case:
    """One plan of one model on one device config."""

    def __init__(self, tools, folder, config, name, placement, device):
        self.tools, self.config, self.name, self.placement = tools, config, name, placement
        self.stem = folder / f"{name}.{placement}"
        self.device = ["--device", device] if device else []
        self.times = []  # of every round, by launch

    def file(self, suffix):
        return self.stem.parent / f"{self.stem.name}.{suffix}"

    @property
    def files(self):
        return ["--plan", self.file("plan.yaml"), "--weights", self.file("fmw")]

    def prepare(self, model, shapes):
        """Plans, packs and records. Raises Refused where the config cannot hold the model so placed."""
        self.tools.run("fmplan", "--model", model, "--config", self.config, "--policy", "preload", "--storage", "f32",
                       "--placement", self.placement, *shapes, "-o", self.file("plan.yaml"))
        self.tools.run("fmplan", "pack", "--plan", self.file("plan.yaml"), "--model", model, "-o", self.file("fmw"))
        self.tools.run("fmexec", *self.files, *self.device, "--record", self.file("trace"))

    def simulate(self):
        self.tools.run("fmsim", "--config", self.config, "--trace", self.file("trace"), "--sample", "auto", "--json",
                       "-o", self.file("sim.json"))

    def play_round(self):
        self.tools.run("fmexec", *self.files, *self.device, "--warmup", 1, "--json", "-o", self.file("run.json"))
        self.times.append([launch["end_ns"] - launch["start_ns"] for launch in self.loaded("run")["launches"]])

    def loaded(self, what):
        return json.loads(self.file(f"{what}.json").read_text())

    def launches(self):
        """A device's event starts when the kernel does; what comes before is the config's host.launch_overhead."""
        result = self.loaded("sim")
        before = nanoseconds(result["config"]["host"]["launch_overhead"]["value"])
        for launch, times in zip(result["launches"], zip(*self.times), strict=True):
            measured = statistics.median(times)
            simulated = launch["end_ns"] - launch["start_ns"] - before
            if measured > 0 and simulated > 0:
                deviation = statistics.median(abs(time - measured) for time in times)
                yield Launch(self.name, self.placement, launch["kernel"], measured, deviation / measured, simulated)


def nanoseconds(text):
    number, unit = text.split()
    return float(number) * {"ps": 1e-3, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[unit]


def models(tools, folder, options):
    """(name, file, shape options) of everything asked for, made where it is not there."""
    for name, (source, shapes) in NETWORKS.items():
        if options.only and name not in options.only:
            continue
        model = ROOT / source
        if source.startswith("models/"):
            model = folder / f"{name}.onnx"
            if not model.exists():
                tools.run("fmplan", "fill", "--model", ROOT / source, "--seed", 1, "-o", model)
        yield name, model, shapes
    if options.only and "layers" not in options.only:
        return
    for number, layer in enumerate(draw_layers(options.layers, options.seed)):
        name = f"layer{number:02}"
        model = folder / f"{name}.onnx"
        onnx.save(layer.model(number), model)
        yield name, model, []
