"""A network as the planner's solvers see it: operators in order, with their work and their weights'
sizes. No values, no graph."""

import dataclasses

HALF = 2  # bytes of an element: the paper's networks run in fp16
SMALLEST_STREAMED = 64 * 1024  # smaller weights are preloaded by every policy (planner/streaming.hpp)


@dataclasses.dataclass
class Operator:
    name: str
    kind: str  # reusable, elemental, hierarchical: the paper's classes (section 4.2, table 5)
    macs: int = 0
    moved_bytes: int = 0  # activations read and written
    weights: list = dataclasses.field(default_factory=list)  # (name, bytes), as large as streams


@dataclasses.dataclass
class Network:
    key: str  # as in the paper's tables
    name: str
    source: str  # where the shapes come from
    operators: list = dataclasses.field(default_factory=list)
    parameters: int = 0  # all of them, the small and the gathered ones too

    @property
    def macs(self):
        return sum(operator.macs for operator in self.operators)

    def _add(self, operator):
        self.operators.append(operator)

    def _weight(self, name, elements):
        self.parameters += elements
        return [(name, elements * HALF)] if elements * HALF >= SMALLEST_STREAMED else []

    def matmul(self, name, rows, inner, columns, bias=True):
        """rows x inner times a weight of inner x columns."""
        self.parameters += columns if bias else 0
        self._add(Operator(name, "reusable", rows * inner * columns,
                           rows * (inner + columns) * HALF,
                           self._weight(name + ".weight", inner * columns)))

    def product(self, name, batch, rows, inner, columns):
        """A matrix product of two activations."""
        self._add(Operator(name, "reusable", batch * rows * inner * columns,
                           batch * (rows * inner + inner * columns + rows * columns) * HALF))

    def conv(self, name, size, inputs, outputs, kernel, stride=1, groups=1, bias=True):
        """`size`: height = width of the output."""
        elements = inputs // groups * outputs * kernel * kernel
        self.parameters += outputs if bias else 0
        self._add(Operator(name, "reusable", size * size * elements,
                           ((size * stride) ** 2 * inputs + size * size * outputs) * HALF,
                           self._weight(name + ".weight", elements)))

    def elementwise(self, name, elements, operands=1):
        self._add(Operator(name, "elemental", 0, elements * (operands + 1) * HALF))

    def normalise(self, name, elements, scales):
        """Layer or group normalisation of `elements`, with `scales` scales and biases each."""
        self.parameters += 2 * scales
        self._add(Operator(name, "hierarchical", 0, 2 * elements * HALF))

    def softmax(self, name, elements):
        self._add(Operator(name, "hierarchical", 0, 2 * elements * HALF))

    def gathered(self, elements):
        """An embedding table: its rows are read from disk, so it is no weight of the problem."""
        self.parameters += elements

    def pad_to(self, count):
        """Adds elemental operators (the reshapes, transposes, casts and parts of composites that a
        lowered graph has besides) evenly until there are `count`, each with half the activations of
        the operator before it."""
        missing = count - len(self.operators)
        if missing < 0:
            raise ValueError(f"{self.key}: {len(self.operators)} operators, the paper has {count}")
        padded, added = [], 0
        for index, operator in enumerate(self.operators, start=1):
            padded.append(operator)
            while added < missing * index // len(self.operators):
                padded.append(Operator(f"{operator.name}.move{added}", "elemental", 0,
                                       operator.moved_bytes // 2))
                added += 1
        self.operators = padded
