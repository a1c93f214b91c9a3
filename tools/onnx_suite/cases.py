"""The tests of the ONNX project, as Debian's libonnx-testdata installs them."""

import dataclasses
import pathlib
import re

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

DATA = pathlib.Path("/usr/share/libonnx-testdata/data")
FOLDERS = ("node", "simple", "pytorch-converted", "pytorch-operator")
PLAIN_TYPES = {TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL}

# Inputs that decide shapes or the operator's work: a plan is made for their values (fmplan --value).
PARAMETERS = {
    "BlackmanWindow": (0,), "ConstantOfShape": (0,), "CumSum": (1,), "Dropout": (1, 2), "Expand": (1,),
    "HammingWindow": (0,), "HannWindow": (0,), "If": (0,), "Loop": (0, 1), "OneHot": (1,), "Pad": (1, 2),
    "Range": (0, 1, 2), "ReduceSum": (1,), "Reshape": (1,), "Resize": (1, 2, 3), "Slice": (1, 2, 3, 4),
    "Split": (1,), "Squeeze": (1,), "Tile": (1,), "TopK": (1,), "Trilu": (1,), "Unsqueeze": (1,),
    "Upsample": (1,),
}


@dataclasses.dataclass
class Case:
    """One test: a model and the data sets it is run with."""

    name: str
    folder: pathlib.Path
    model: onnx.ModelProto
    operator: str = ""

    @property
    def model_file(self):
        return self.folder / "model.onnx"

    def operators(self):
        """Operators of the graph and of the graphs in its attributes."""
        found, graphs = set(), [self.model.graph]
        while graphs:
            for node in graphs.pop().node:
                found.add(node.op_type)
                graphs += [attribute.g for attribute in node.attribute if attribute.HasField("g")]
        return found

    def is_plain(self):
        """Only float32, int32, int64 and bool, and only operators of the default domain."""
        if any(entry.domain not in ("", "ai.onnx") for entry in self.model.opset_import):
            return False
        graph = self.model.graph
        types = {tensor.data_type for tensor in graph.initializer}
        for value in [*graph.input, *graph.output]:
            types.add(value.type.tensor_type.elem_type if value.type.HasField("tensor_type") else 0)
        return types <= PLAIN_TYPES

    def data_sets(self):
        return sorted(path for path in self.folder.glob("test_data_set_*") if path.is_dir())

    def parameter_inputs(self):
        """Names of the model's inputs whose values the plan is made for, themselves or by what is computed of them."""
        nodes = self.model.graph.node
        wanted = {node.input[slot] for node in nodes for slot in PARAMETERS.get(node.op_type, ())
                  if slot < len(node.input)}
        for node in reversed(nodes):
            if node.op_type not in ("Shape", "Size") and wanted.intersection(node.output):
                wanted.update(node.input)
        given = {tensor.name for tensor in self.model.graph.initializer}
        return wanted & ({value.name for value in self.model.graph.input} - given)


def arrays(folder, kind, values):
    """The stored arrays of a data set by the names of the graph's inputs or outputs; None where one is no tensor."""
    found = {}
    for index, value in enumerate(values):
        path = folder / f"{kind}_{index}.pb"
        if not path.exists():
            continue
        if not value.type.HasField("tensor_type"):
            found[value.name] = None
            continue
        tensor = TensorProto()
        tensor.ParseFromString(path.read_bytes())
        found[value.name] = numpy_helper.to_array(tensor)
    return found


def value_flag(name, array):
    """The value of an input as fmplan's --value wants it."""
    return f"{name}=" + ",".join(repr(item) for item in np.asarray(array).astype(
        np.int64 if array.dtype == np.bool_ else array.dtype).ravel().tolist())


def _operator_of(name, model, by_name):
    if len(model.graph.node) == 1:
        return model.graph.node[0].op_type
    base = re.sub(r"_expanded(_ver\d+)?$", "", name)
    if base != name and base in by_name and len(by_name[base].graph.node) == 1:
        return by_name[base].graph.node[0].op_type
    return "several"


def all_cases(pattern=""):
    """Every test whose name contains `pattern`, in a fixed order."""
    paths = [path for folder in FOLDERS for path in sorted((DATA / folder).glob("test_*"))
             if (path / "model.onnx").exists()]
    models = {path.name: onnx.load(path / "model.onnx") for path in paths}
    return [Case(path.name, path, models[path.name], _operator_of(path.name, models[path.name], models))
            for path in paths if pattern in path.name]
