"""What a user can get wrong, through the tools: status 2 or 3, file and place named, nothing written."""

import os
import pathlib
import random
import re
import struct
import subprocess
import tempfile
import unittest

import numpy as np

from tests.end_to_end import pipeline
from tests.end_to_end.tiny_models import classifier, integers, model_of, node, save, weight

CONFIGS = pipeline.ROOT / "configs"
USER, DEVICE = 2, 3


class Products:
    """A tiny network with its plan, weights and trace, made once."""

    _made = None

    @classmethod
    def get(cls):
        if cls._made is None:
            cls._made = cls()
        return cls._made

    def __init__(self):
        folder = pipeline.temporary_folder(self, "bad-input")
        self.onnx = save(classifier(), folder / "good.onnx")
        self.plan, self.weights = folder / "good.plan.yaml", folder / "good.fmw"
        self.trace = folder / "good.trace"
        pipeline.tool("fmplan", "--model", self.onnx, "--config", "mali-g715", "--placement", "buffer",
                      "-o", self.plan)
        pipeline.tool("fmplan", "pack", "--plan", self.plan, "--model", self.onnx, "-o", self.weights)
        pipeline.tool("fmexec", "--plan", self.plan, "--weights", self.weights, "--record", self.trace,
                      "-o", folder / "measured.json")


class BadInput(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="flashmem-bad-input-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def save(self, model, name="bad.onnx"):
        return save(model, self.folder / name)

    def refused(self, name, *arguments, words=(), status=USER, env=None):
        """The tool ends with `status`, one message that has all `words`, and writes nothing."""
        before = {path: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}
        done = subprocess.run([str(pipeline.BIN / name), *map(str, arguments)], capture_output=True,
                              text=True, timeout=60, cwd=pipeline.ROOT,
                              env={**os.environ, **(env or {})})
        said = f"{name} {' '.join(map(str, arguments))}\n{done.stdout}{done.stderr}"
        self.assertEqual(done.returncode, status, said)
        self.assertEqual(done.stdout, "", said)
        self.assertRegex(done.stderr, rf"^{name}: error: ", said)
        self.assertNotRegex(done.stderr, r"terminate called|std::|what\(\)|AddressSanitizer", said)
        for word in words:
            self.assertIn(str(word), done.stderr, said)
        after = {path: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}
        self.assertEqual(after, before, said)
        return done.stderr

    def plan(self, model, *options, words=(), config="mali-g715"):
        return self.refused("fmplan", "--model", model, "--config", config, *options, "-o",
                            self.folder / "out.plan.yaml", words=words)

    def execute(self, plan, weights, *options, **expected):
        return self.refused("fmexec", "--plan", plan, "--weights", weights, "-o",
                            self.folder / "out.json", "--record", self.folder / "out.trace", *options,
                            **expected)

    def simulate(self, trace, *options, config="mali-g715", words=()):
        return self.refused("fmsim", "--config", config, "--trace", trace, *options, "--json", "-o",
                            self.folder / "out.json", words=words)


class Models(BadInput):
    def test_missing_empty_truncated_and_foreign_files(self):
        whole = classifier().SerializeToString()
        self.plan(self.folder / "none.onnx", words=["none.onnx"])
        self.plan(self.folder, words=[self.folder])
        self.plan(self.file("empty.onnx", b""), words=["empty.onnx"])
        self.plan(self.file("text.onnx", "not a model\n" * 40), words=["text.onnx"])
        for size in (len(whole) // 3, len(whole) // 2, len(whole) - 1):
            self.plan(self.file("cut.onnx", whole[:size]), words=["cut.onnx"])

    def test_unsupported_operator_is_named_with_node_and_opset(self):
        model = model_of([node("Relu", "x", "r"), node("Det", "r", "y")], [4, 4], [], opset=11)
        self.plan(self.save(model), words=["bad.onnx", "Det", "y_node", "opset 11"])

    def test_operator_of_another_domain(self):
        model = classifier()
        model.graph.node[1].domain = "com.example"
        self.plan(self.save(model), words=["bad.onnx", "com.example", "r_node"])

    def test_opset_out_of_range(self):
        for opset in (18, 99):
            model = classifier()
            model.opset_import[0].version = opset
            self.plan(self.save(model), words=["bad.onnx", f"opset {opset}"])

    def test_shapes_that_do_not_fit(self):
        product = model_of([node("MatMul", "x w", "y")], [3, 4], [weight("w", 5, 6)])
        self.plan(self.save(product), words=["bad.onnx", "y_node", "MatMul", "4", "5"])
        addition = model_of([node("Add", "x w", "y")], [3, 4], [weight("w", 3, 5)])
        self.plan(self.save(addition), words=["bad.onnx", "y_node", "Add"])
        channels = model_of([node("Conv", "x k", "y")], [1, 3, 8, 8], [weight("k", 8, 4, 3, 3)])
        self.plan(self.save(channels), words=["bad.onnx", "y_node", "Conv"])
        form = model_of([node("Reshape", "x s", "y")], [3, 4], [integers("s", 5, 2)])
        self.plan(self.save(form), words=["bad.onnx", "y_node", "Reshape"])

    def test_dimension_left_open_and_wrong_bindings(self):
        model = self.save(model_of([node("Relu", "x", "y")], ["batch", 4], []))
        self.plan(model, words=["x", "batch", "--shape"])
        self.plan(model, "--shape", "x=1,2,3", words=["x"])
        self.plan(model, "--shape", "x=2,5", words=["x", "4", "5"])
        self.plan(model, "--shape", "z=2,4", words=["z"])
        self.plan(model, "--shape", "x=2,four", words=["--shape", "four"])
        self.plan(model, "--shape", "x=2,-4", words=["--shape", "-4"])

    def test_weight_without_values_and_external_file_that_is_missing(self):
        model = classifier()
        tensor = model.graph.initializer[0]
        tensor.ClearField("raw_data")
        self.plan(self.save(model), words=["bad.onnx", "k"])
        tensor.data_location = tensor.EXTERNAL
        entry = tensor.external_data.add()
        entry.key, entry.value = "location", "elsewhere.bin"
        path = self.file("external.onnx", model.SerializeToString())
        self.refused("fmplan", "--model", path, "--config", "mali-g715", "-o", self.folder / "p",
                     words=["external.onnx", "elsewhere.bin"])

    def test_unconnected_value(self):
        model = classifier()
        model.graph.node[1].input[0] = "nowhere"
        self.plan(self.save(model), words=["bad.onnx", "nowhere"])

    def test_wrong_usage(self):
        good = Products.get().onnx
        self.plan(good, "--placement", "imag2d", words=["imag2d", "image2d"])
        self.plan(good, "--policy", "preloaded", words=["preloaded", "preload"])
        self.plan(good, "--slices", "big", words=["--slices", "big", "whole"])
        self.plan(good, "--frobnicate", words=["--frobnicate"])
        self.refused("fmplan", words=["--help"])
        self.refused("fmplan", "--model", good, "--config", "mali-g715", "-o",
                     self.folder / "none" / "p.yaml", words=["none/p.yaml"])


class Plans(BadInput):
    def setUp(self):
        super().setUp()
        self.good = Products.get()

    def pack(self, plan, model, words):
        self.refused("fmplan", "pack", "--plan", plan, "--model", model, "-o",
                     self.folder / "out.fmw", words=words)

    def test_weights_of_a_model_that_is_not_the_plans(self):
        other = self.save(classifier(seed=2), "other.onnx")
        self.pack(self.good.plan, other, ["other.onnx", "digest"])

    def test_missing_truncated_and_foreign_plans(self):
        text = self.good.plan.read_text()
        for plan in (self.folder / "none.yaml", self.file("empty.yaml", ""),
                     self.file("cut.yaml", text[: len(text) // 2]), self.good.onnx):
            self.pack(plan, self.good.onnx, [plan])
            self.execute(plan, self.good.weights, words=[plan])

    def edited(self, pattern, replacement):
        text, count = re.subn(pattern, replacement, self.good.plan.read_text(), count=1,
                              flags=re.MULTILINE)
        self.assertEqual(count, 1, pattern)
        return self.file("edited.yaml", text)

    def test_another_version(self):
        for version in (0, 2):
            plan = self.edited(r"^plan: 1$", f"plan: {version}")
            self.execute(plan, self.good.weights, words=["edited.yaml:1:", f"{version}"])

    def test_unknown_key_and_wrong_word_are_placed(self):
        lines = self.good.plan.read_text().splitlines()
        plan = self.edited(r"^(generator: .*)$", "\\1\nlanches: []")
        line = 2 + next(i for i, text in enumerate(lines) if text.startswith("generator:"))
        self.execute(plan, self.good.weights, words=[f"edited.yaml:{line}:", "lanches", "launches"])
        plan = self.edited(r"placement: buffer", "placement: bufer")
        line = 1 + next(i for i, text in enumerate(lines) if "placement: buffer" in text)
        self.execute(plan, self.good.weights, words=[f"edited.yaml:{line}:", "bufer", "buffer"])

    def test_a_kernel_that_does_not_exist(self):
        plan = self.edited(r"kernel: \w+", "kernel: warp_drive")
        self.execute(plan, self.good.weights, words=["warp_drive"])


class Weights(BadInput):
    def setUp(self):
        super().setUp()
        self.good = Products.get()

    def test_missing_truncated_and_foreign_weights(self):
        whole = self.good.weights.read_bytes().rstrip(b"\0")  # without the last slice's padding
        for path in (self.folder / "none.fmw", self.file("empty.fmw", b""), self.good.onnx,
                     self.file("head.fmw", whole[:100]), self.file("cut.fmw", whole[:-1])):
            self.execute(self.good.plan, path, words=[path])

    def test_weights_of_another_plan(self):
        model = self.save(classifier(seed=3), "other.onnx")
        plan, weights = self.folder / "other.plan.yaml", self.folder / "other.fmw"
        pipeline.tool("fmplan", "--model", model, "--config", "mali-g715", "-o", plan)
        pipeline.tool("fmplan", "pack", "--plan", plan, "--model", model, "-o", weights)
        self.execute(self.good.plan, weights, words=["other.fmw"])

    def test_flipped_bit_in_header_index_and_every_slice(self):
        whole = self.good.weights.read_bytes()
        offsets = [1024 * int(text) for text in re.findall(r"file_offset: (\d+) KiB",
                                                           self.good.plan.read_text())]
        self.assertGreaterEqual(len(offsets), 4)
        index = next(i for i in range(4096, len(whole)) if whole[i])
        for place in (0, 9, 20, index, *offsets):
            damaged = bytearray(whole)
            damaged[place] ^= 1 << 2
            path = self.file("flipped.fmw", bytes(damaged))
            with self.subTest(byte=place):
                self.execute(self.good.plan, path, words=["flipped.fmw"])


class Devices(BadInput):
    def setUp(self):
        super().setUp()
        self.good = Products.get()

    def test_no_opencl_platform_names_the_package(self):
        empty = self.folder / "vendors"
        empty.mkdir()
        env = {"OCL_ICD_VENDORS": str(empty), "OPENCL_VENDOR_PATH": str(empty)}
        self.execute(self.good.plan, self.good.weights, env=env, status=DEVICE,
                     words=["pocl-opencl-icd"])

    def test_a_device_that_is_not_there(self):
        self.execute(self.good.plan, self.good.weights, "--device", "Voodoo 2", words=["Voodoo 2"])

    def test_image_too_large_for_the_device(self):
        """PoCL with 2 GiB has images of at most 8192 texels a side; the planned phone allows 16384."""
        model = self.save(model_of([node("MatMul", "x w", "y")], [2, 9000], [weight("w", 9000, 4)]))
        plan, weights = self.folder / "large.plan.yaml", self.folder / "large.fmw"
        pipeline.tool("fmplan", "--model", model, "--config", "mali-g715", "--placement", "image2d",
                      "-o", plan)
        pipeline.tool("fmplan", "pack", "--plan", plan, "--model", model, "-o", weights)
        self.execute(plan, weights, env={"POCL_MEMORY_LIMIT": "2"}, words=["9000", "8192", "image"])

    def test_inputs_and_references_that_do_not_fit(self):
        cases = {
            "none.npz": (None, []),
            "text.npz": ("not an archive", []),
            "shape.npz": ({"input:x": np.zeros((1, 3, 8, 9), np.float32)}, ["x", "9"]),
            "names.npz": ({"input:z": np.zeros((1, 3, 8, 8), np.float32)}, ["x"]),
        }
        for name, (content, words) in cases.items():
            path = self.folder / name
            if isinstance(content, str):
                path.write_text(content)
            elif content is not None:
                np.savez(path, **content)
            with self.subTest(name):
                self.execute(self.good.plan, self.good.weights, "--inputs", path, words=[name, *words])
        reference = self.folder / "reference.npz"
        np.savez(reference, **{"input:x": np.zeros((1, 3, 8, 8), np.float32),
                               "output:y": np.zeros((1, 11), np.float32), "half_error:y": 1e-3})
        self.execute(self.good.plan, self.good.weights, "--verify", reference,
                     words=["reference.npz", "y", "11"])

    def test_wrong_usage(self):
        for option, value in (("--repeat", "no"), ("--throttle-disk", "50"), ("--tolerance", "-1")):
            self.execute(self.good.plan, self.good.weights, option, value, words=[option])


class Configs(BadInput):
    def setUp(self):
        super().setUp()
        self.text = (CONFIGS / "mali-g715.yaml").read_text()

    def refused_by_both(self, name, text, *words):
        config = self.file(name, text)
        good = Products.get()
        self.plan(good.onnx, config=config, words=[name, *words])
        self.simulate(good.trace, config=config, words=[name, *words])

    def line_of(self, pattern):
        return 1 + next(i for i, line in enumerate(self.text.splitlines()) if re.search(pattern, line))

    def test_unknown_key(self):
        line = self.line_of(r"^  waves_per_core:")
        self.refused_by_both("key.yaml", self.text.replace("  waves_per_core:", "  waves_per_croe:"),
                             f"key.yaml:{line}:", "waves_per_croe", "waves_per_core")

    def test_unknown_and_missing_unit(self):
        line = self.line_of(r"^  clock: ")
        for unit, word in (("MHzz", "MHzz"), ("MiB", "MiB"), ("", "no unit")):
            text = re.sub(r"(  clock: {value: \d+) MHz", rf"\1 {unit}", self.text, count=1)
            self.refused_by_both("unit.yaml", text, f"unit.yaml:{line}:", word, "MHz")

    def test_impossible_value_and_missing_source(self):
        text = re.sub(r"(  waves_per_core: {value: )\d+", r"\g<1>0", self.text)
        self.refused_by_both("value.yaml", text, "value.yaml:", "waves_per_core")
        text = self.text.replace("source: spec", "source: hearsay", 1)
        self.refused_by_both("source.yaml", text, "source.yaml:", "hearsay", "assumed")
        text = re.sub(r"^  cores: {value: 7, source: measured,", "  cores: {value: 7,", self.text,
                      flags=re.MULTILINE)
        self.refused_by_both("cited.yaml", text, "cited.yaml:", "source")

    def test_file_that_is_none(self):
        self.refused_by_both("broken.yaml", "gpu: {cores: [", "broken.yaml:")
        good = Products.get()
        for name in ("none.yaml", "mali-g999"):
            self.plan(good.onnx, config=name, words=[name])
            self.simulate(good.trace, config=name, words=[name])

    def test_settings(self):
        trace = Products.get().trace
        self.simulate(trace, "--set", "l2.sizze=2MiB", words=["l2.sizze", "l2.size"])
        self.simulate(trace, "--set", "l2.size=2MB", words=["l2.size", "MB", "MiB"])
        self.simulate(trace, "--set", "l2.size=0 MiB", words=["l2.size"])
        self.simulate(trace, "--set", "l2.size", words=["--set", "="])


class Traces(BadInput):
    def setUp(self):
        super().setUp()
        self.whole = Products.get().trace.read_bytes()

    def refused_by_all(self, trace, *words):
        self.simulate(trace, words=[trace.name, *words])
        self.refused("fmtrace", "check", trace, words=[trace.name, *words])

    def frames(self):
        """(offset, bytes) of every frame."""
        found, at = [], 12
        while at < len(self.whole):
            size = struct.unpack_from("<I", self.whole, at)[0]
            found.append((at, 16 + size))
            at += 16 + size
        self.assertEqual(at, len(self.whole))
        return found

    def test_missing_empty_and_foreign_files(self):
        good = Products.get()
        self.refused("fmsim", "--config", "mali-g715", "--trace", self.folder / "none.trace",
                     words=["none.trace"])
        self.refused_by_all(self.file("empty.trace", b""))
        self.refused_by_all(self.file("model.trace", good.onnx.read_bytes()), "not a trace")

    def test_older_and_newer_versions(self):
        (ours,) = struct.unpack("<I", self.whole[8:12])
        for version, word in ((0, "older"), (ours + 1, "newer"), (2**32 - 1, "newer")):
            changed = self.whole[:8] + struct.pack("<I", version) + self.whole[12:]
            self.refused_by_all(self.file("version.trace", changed), str(version), word)

    def test_truncated_at_and_inside_every_frame(self):
        for offset, size in self.frames():
            for cut in (offset, offset + 7, offset + size // 2):
                with self.subTest(cut=cut):
                    self.simulate(self.file("cut.trace", self.whole[:cut]),
                                  words=["cut.trace", "truncated"])
        self.refused_by_all(self.file("cut.trace", self.whole[:-1]), "truncated")

    def test_flipped_bits(self):
        chance = random.Random(5)
        places = [place for offset, size in self.frames()
                  for place in (offset, offset + 5, offset + 11, offset + 16 + chance.randrange(size - 16))]
        for place in [0, *places]:
            damaged = bytearray(self.whole)
            damaged[place] ^= 1 << chance.randrange(8)
            with self.subTest(byte=place):
                self.simulate(self.file("flip.trace", bytes(damaged)), words=["flip.trace"])
        self.refused_by_all(self.file("flip.trace", bytes(damaged)))

    def test_more_after_the_end(self):
        self.refused_by_all(self.file("long.trace", self.whole + b"more"))


if __name__ == "__main__":
    unittest.main()
