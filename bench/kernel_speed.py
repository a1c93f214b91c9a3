"""Speed of kernels beside ONNX Runtime on this computer: MatMuls of ViT's shapes, and whole networks.

fmexec (PoCL, buffers, fp32) and ONNX Runtime take turns within a round, both with as many threads as
there are cores; figures are medians of the rounds' medians. The phone-shaped form runs the same
kernels and buffers with the tiles and work-groups that fmplan chooses for images of adreno-750.
Prints a table and writes it into docs/kernels.md.
"""

import argparse
import collections
import json
import os
import pathlib
import statistics
import sys
import time

import numpy
import onnx
import onnxruntime
import yaml
from onnx import TensorProto, helper

from cold_contestants import ROOT, Model, call

DOCUMENT = ROOT / "docs/kernels.md"
CONFIG, PHONE = "pocl-host", "adreno-750"
TILED = ("matmul", "conv", "depthwise")
Product = collections.namedtuple("Product", "batch rows depth columns transposed weight")


def product_of(launch, weights):
    """The matrix product of a matmul launch."""
    arguments = [next(iter(argument.values())) for argument in launch["arguments"]]
    rows, depth, columns, _, _, b_batch = [value for kind, value in pairs(launch) if kind == "int"][-6:]
    batch = launch["macs"] // (rows * depth * columns)
    return Product(batch if b_batch else 1, rows if b_batch else rows * batch, depth, columns,
                   launch["parameters"].get("B_TRANSPOSED", 0) == 1, arguments[2] in weights)


def pairs(launch):
    return [next(iter(argument.items())) for argument in launch["arguments"]]


def products_of(plan):
    """Distinct products of a plan -> how often it has them."""
    weights = {slice_["tensor"] for slice_ in plan["weights"]}
    return collections.Counter(product_of(launch, weights) for launch in plan["launches"]
                               if launch.get("kernel", "").startswith("matmul"))


def save_product(product, path):
    """One MatMul as a network; a weight is a constant of it, as networks have them."""
    lead = [] if product.batch == 1 else [product.batch]
    right = ["columns", "depth"] if product.transposed else ["depth", "columns"]
    shapes = {"a": [*lead, product.rows, product.depth],
              "b": [*lead, *(getattr(product, side) for side in right)],
              "c": [*lead, product.rows, product.columns]}
    inputs, constants = ["a"], []
    if product.weight:
        values = numpy.random.default_rng(1).standard_normal(shapes["b"]).astype(numpy.float32)
        constants.append(onnx.numpy_helper.from_array(values, "b"))
    else:
        inputs.append("b")
    nodes = [helper.make_node("MatMul", ["a", "turned" if product.transposed else "b"], ["c"])]
    if product.transposed:
        order = list(range(len(shapes["b"])))
        order[-2:] = reversed(order[-2:])
        nodes.insert(0, helper.make_node("Transpose", ["b"], ["turned"], perm=order))
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shapes[name])
    graph = helper.make_graph(nodes, "product", [value(name) for name in inputs], [value("c")], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=7), path)


class OnnxRuntime:
    """Median seconds of a network's runs in ONNX Runtime."""

    def __init__(self, model, options):
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = os.cpu_count()
        self.session = onnxruntime.InferenceSession(model, settings, providers=["CPUExecutionProvider"])
        generator = numpy.random.default_rng(1)
        self.feeds = {value.name: generator.standard_normal(value.shape).astype(numpy.float32)
                      for value in self.session.get_inputs()}
        self.repeat = options.repeat

    def save_reference(self, path):
        """Inputs and outputs, which fmexec must reproduce in every run."""
        outputs = self.session.run(None, self.feeds)
        numpy.savez(path, **{f"input:{name}": value for name, value in self.feeds.items()},
                    **{f"output:{value.name}": array
                       for value, array in zip(self.session.get_outputs(), outputs)})
        return path

    def seconds(self):
        self.session.run(None, self.feeds)  # as fmexec's --warmup
        times = []
        for _ in range(self.repeat):
            begin = time.perf_counter()
            self.session.run(None, self.feeds)
            times.append(time.perf_counter() - begin)
        return statistics.median(times)


class Fmexec:
    """Median seconds of a plan's executions, or of its one matmul; a wrong output ends the contest."""

    def __init__(self, plan, weights, reference, kernel, options):
        self.report = plan.with_suffix(".json")
        self.kernel = kernel
        self.command = [options.bin / "fmexec", "--plan", plan, "--weights", weights, "--verify", reference,
                        "--warmup", 1, "--repeat", options.repeat, "--json", "-o", self.report]

    def seconds(self):
        call(*self.command)
        result = json.loads(self.report.read_text())
        if not self.kernel:
            return result["latency"]["exec_ns"] / 1e9
        return sum(launch["end_ns"] - launch["start_ns"] for launch in result["launches"]
                   if launch["kernel"].startswith("matmul")) / 1e9


def loaded(path):
    return yaml.load(path.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def tiles_apart(launch):
    """(parameters that are its tile, the others)"""
    parts = {}, {}
    for name, value in launch["parameters"].items():
        parts[not (name.startswith("TILE_") or name in ("VECTOR", "BLOCK_M"))][name] = value
    return parts


class Contest:
    """One network in ONNX Runtime, in fmexec, and in fmexec with the phone's tiles."""

    def __init__(self, name, model, kernel, options):
        self.name, self.model, self.options, self.kernel = name, model, options, kernel
        self.plan = self.planned(CONFIG, "buffer")
        self.weights = self.plan.with_suffix(".fmw")
        call(options.bin / "fmplan", "pack", "--plan", self.plan, "--model", model, "-o", self.weights)
        ort = OnnxRuntime(model, options)
        reference = ort.save_reference(self.plan.with_suffix(".ref.npz"))
        self.contestants = {"ort": ort}
        for label, plan in (("fm", self.plan), ("phone", self.phone_shaped())):
            self.contestants[label] = Fmexec(plan, self.weights, reference, kernel, options)
        self.times = {label: [] for label in self.contestants}

    def planned(self, config, placement):
        plan = self.options.out / f"{self.name}.{config}.yaml"
        call(self.options.bin / "fmplan", "--model", self.model, "--config", config, "--placement", placement,
             "--storage", "f32", "--policy", "preload", "-o", plan)
        return plan

    def phone_shaped(self):
        """The plan with tiles and work-groups of the phone's plan, launch by launch (but where an image
        is too small for a weight, which the phone's plan splits)."""
        shapes = collections.defaultdict(list)
        for launch in loaded(self.planned(PHONE, "image2d"))["launches"]:
            shapes[(*launch["nodes"], launch["operation"])].append(launch)
        plan = loaded(self.plan)
        for launch in plan["launches"]:
            found = shapes[(*launch["nodes"], launch["operation"])]
            if launch.get("kernel") not in TILED or len(found) != 1 or found[0]["kernel"] != launch["kernel"]:
                continue
            (shape,) = found
            launch["parameters"] = {**tiles_apart(launch)[1], **tiles_apart(shape)[0]}
            launch.update({key: shape[key] for key in ("global", "local")})
        path = self.options.out / f"{self.name}.phone.yaml"
        path.write_text(yaml.safe_dump(plan, sort_keys=False))
        return path

    def play_round(self):
        for label, contestant in self.contestants.items():
            self.times[label].append(contestant.seconds())

    def median(self, label):
        return statistics.median(self.times[label])


def row(name, cells):
    return "| " + " | ".join([name, *cells]) + " |"


def rates(product, contest):
    flops = 2e-9 * product.batch * product.rows * product.depth * product.columns
    return {label: flops / contest.median(label) for label in contest.times}


def product_rows(contests):
    yield "| MatMul of ViT | launches | ONNX Runtime | fmexec | of ONNX Runtime | phone-shaped tile |"
    yield "|---|---|---|---|---|---|"
    flops, spent = 0, collections.Counter()
    for (product, count), contest in contests:
        rate = rates(product, contest)
        name = (f"{str(product.batch) + ' x ' if product.batch > 1 else ''}"
                f"{product.rows} x {product.depth} x {product.columns}"
                f"{' (B transposed)' if product.transposed else ''}")
        yield row(name, [str(count), f"{rate['ort']:.0f} GFLOP/s", f"{rate['fm']:.0f} GFLOP/s",
                         f"{100 * rate['fm'] / rate['ort']:.0f} %", f"{rate['phone']:.0f} GFLOP/s"])
        for label in rate:
            spent[label] += count * contest.median(label)
        flops += count * 2e-9 * product.batch * product.rows * product.depth * product.columns
    whole = {label: flops / seconds for label, seconds in spent.items()}
    yield row("**all of them, as often as ViT has them**",
              [str(sum(count for (_, count), _ in contests)), f"{whole['ort']:.0f} GFLOP/s",
               f"{whole['fm']:.0f} GFLOP/s", f"**{100 * whole['fm'] / whole['ort']:.0f} %** (bar: 60 %)",
               f"{whole['phone']:.0f} GFLOP/s"])


def network_rows(contests):
    yield "| network, execution | ONNX Runtime | fmexec | over ONNX Runtime | phone-shaped tiles |"
    yield "|---|---|---|---|---|"
    for contest in contests:
        ort, ours, phone = (contest.median(label) for label in ("ort", "fm", "phone"))
        yield row(contest.name, [f"{1e3 * ort:.1f} ms", f"{1e3 * ours:.1f} ms",
                                 f"**{ours / ort:.2f} x** (bar: 3 x)", f"{1e3 * phone:.1f} ms"])


def write_section(text):
    """Puts `text` between the markers of DOCUMENT."""
    begin, end = "<!-- speed: written by bench/kernel_speed.py -->\n", "<!-- /speed -->"
    head, rest = DOCUMENT.read_text().split(begin)
    DOCUMENT.write_text(head + begin + text + end + rest.split(end)[1])


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default="vit,resnet50")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=5, help="runs a round")
    parser.add_argument("--no-write", action="store_true", help="only print")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "out/kernel_speed")
    return parser.parse_args()


def main():
    options = parse()
    options.out.mkdir(parents=True, exist_ok=True)
    print("preparing ..", file=sys.stderr, flush=True)
    networks = [Contest(name, Model(name, options).onnx, False, options)
                for name in options.models.split(",")]
    products = []
    for number, item in enumerate(products_of(loaded(networks[0].plan)).items()):
        path = options.out / f"product{number}.onnx"
        save_product(item[0], path)
        products.append((item, Contest(path.stem, path, True, options)))
    for index in range(options.rounds):
        print(f"round {index + 1} of {options.rounds}", file=sys.stderr, flush=True)
        for contest in [*networks, *(contest for _, contest in products)]:
            contest.play_round()
    text = "\n".join([f"{os.cpu_count()} threads each, fp32, medians of {options.rounds} rounds of "
                      f"{options.repeat} runs.\n", *product_rows(products), "", *network_rows(networks)]) + "\n"
    print(text)
    if not options.no_write:
        write_section(text)


if __name__ == "__main__":
    main()
