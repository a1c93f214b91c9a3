"""Binds the symbolic dimensions of an ONNX model's inputs."""

import onnx


def static_dims(value):
    """Dims of a graph input or output; raises ValueError on one that is not bound."""
    dims = []
    for position, dim in enumerate(value.type.tensor_type.shape.dim):
        if not dim.HasField("dim_value") or dim.dim_value < 0:
            raise ValueError(
                f"{value.name}: dimension {position} ({dim.dim_param or 'unnamed'}) is dynamic: "
                f"bind it with --dim NAME=VALUE or --shape {value.name}=D,D,..."
            )
        dims.append(dim.dim_value)
    return dims


def parse_pairs(texts, option):
    pairs = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator:
            raise ValueError(f"{option} {text}: expected NAME=VALUE")
        try:
            pairs[name] = [int(part) for part in value.split(",")]
        except ValueError:
            raise ValueError(f"{option} {text}: expected integers after =") from None
    return pairs


def bind_shapes(model, shapes=(), dims=()):
    """Returns `model` with input shapes set from `INPUT=D,D,...` and `NAME=VALUE` texts.

    Declared output and inner shapes are dropped, for exporters give them names of their own.
    """
    by_input, by_name = parse_pairs(shapes, "--shape"), parse_pairs(dims, "--dim")
    unknown = set(by_input) - {value.name for value in model.graph.input}
    if unknown:
        raise ValueError(f"--shape: the model has no input {', '.join(sorted(unknown))}")
    symbols = {d.dim_param for v in model.graph.input for d in v.type.tensor_type.shape.dim}
    if set(by_name) - symbols:
        raise ValueError(f"--dim: the inputs have no {', '.join(sorted(set(by_name) - symbols))}")
    for value in model.graph.input:
        declared = value.type.tensor_type.shape.dim
        wanted = by_input.get(value.name)
        if wanted is not None and len(wanted) != len(declared):
            raise ValueError(f"--shape {value.name}: the input has {len(declared)} dimensions")
        for position, dim in enumerate(declared):
            if wanted is not None:
                if dim.HasField("dim_value") and dim.dim_value not in (-1, wanted[position]):
                    raise ValueError(f"--shape {value.name}: dimension {position} is fixed "
                                     f"to {dim.dim_value}")
                dim.dim_value = wanted[position]
            elif dim.dim_param in by_name:
                dim.dim_value = by_name[dim.dim_param][0]
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    del model.graph.value_info[:]
    return model


def load_static(path, shapes=(), dims=()):
    """Loads a model (weights of a skeleton stay unfilled) and binds its shapes."""
    return bind_shapes(onnx.load(path, load_external_data=False), shapes, dims)
