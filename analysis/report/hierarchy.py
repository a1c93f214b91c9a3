"""The memory hierarchy as a tree: how many reads each level answered, and the bytes on each edge. A number on
an edge is a counter of the result, times the bytes of a line, burst or entry as the config has them."""

import dataclasses

from device_rates import DeviceRates
from quantities import bytes_text, count_text, percent_text
from tables import number, table, text, word

TABLE_ENTRY_BYTES = 8  # one entry of a page table, what a walk reads at a time


@dataclasses.dataclass
class Flow:
    """What crosses an edge one way: `count` of `counter`, each of `unit_bytes`."""
    source: str
    target: str
    kind: str  # read, write, or read and write where the result does not tell them apart
    counter: str
    count: float
    unit: str
    unit_bytes: float

    @property
    def bytes(self):
        return self.count * self.unit_bytes


@dataclasses.dataclass
class Level:
    """A box: what it holds, and of its reads how many it answered itself."""
    name: str
    title: str
    size: float | None = None
    hits: float | None = None
    lookups: float = 0


class _Reader:
    """Finds what a result has of the hierarchy; counters that it lacks leave their edges out."""

    def __init__(self, result):
        self._counters = result["counters"]
        self.rates = DeviceRates(result["config"])

    def value(self, counter):
        found = self._counters.get(counter)
        return None if found is None else found["value"]

    def flow(self, source, target, kind, counter, unit, unit_bytes):
        value = self.value(counter)
        if value is None or unit_bytes is None:
            return []
        return [Flow(source, target, kind, counter, value, unit, unit_bytes)]

    def lines(self, source, target, kind, counter, level):
        return self.flow(source, target, kind, counter, f"line ({level}.line)", self.rates[f"{level}.line"])

    def level(self, name, title, size=None):
        return Level(name, title, self.rates[size] if size else None, self.value(f"{name}.read_hits"),
                     self.value(f"{name}.read_lookups") or 0)


def has_cluster(result):
    return bool(DeviceRates(result["config"])["cluster.size"])


def levels_of(result):
    """The boxes by name; only those that the result has counters of or that ask others."""
    reader = _Reader(result)
    found = [reader.level("load_store", "load/store L1", "load_store.cache_size"),
             reader.level("texture", "texture cache", "texture.cache_size"),
             reader.level("l2", "L2", "l2.size"), reader.level("slc", "system-level cache", "slc.size")]
    if has_cluster(result):
        found.append(reader.level("cluster", "cluster cache", "cluster.size"))
    rows = [reader.value(f"dram.row_{kind}") for kind in ("hits", "misses", "conflicts")]
    found.append(Level("dram", "DRAM", None, rows[0], sum(filter(None, rows))))
    found += [Level("cores", "shader cores"), Level("copies", "copies"), Level("walks", "page walks"),
              Level("storage", "storage"), Level("host", "host")]
    return {level.name: level for level in found}


def flows_of(result):
    """All flows of the result's hierarchy, from the cores to DRAM."""
    reader = _Reader(result)
    below_cores = "cluster" if has_cluster(result) else "l2"
    walked = "l2" if _walks_l2(result) else "slc"
    burst = reader.rates.dram_burst_bytes()
    flows = [
        *reader.lines("cores", "load_store", "read", "load_store.read_lookups", "load_store"),
        *reader.lines("cores", "load_store", "write", "load_store.write_lookups", "load_store"),
        *reader.lines("cores", "texture", "read", "texture.read_lookups", "texture"),
        *reader.lines("load_store", below_cores, "read", "load_store.fetches", "load_store"),
        *reader.lines("load_store", below_cores, "write", "load_store.writes_below", "load_store"),
        *reader.lines("texture", below_cores, "read", "texture.fetches", "texture")]
    if below_cores == "cluster":
        flows += [*reader.lines("cluster", "l2", "read", "cluster.fetches", "cluster"),
                  *reader.lines("cluster", "l2", "write", "cluster.writes_below", "cluster")]
    for counter in ("mmu.leaf_reads", "mmu.table_reads"):
        flows += reader.flow("walks", walked, "read", counter, "entry", TABLE_ENTRY_BYTES)
    return flows + [
        *reader.flow("copies", "l2", "read", "copy.read_bytes", "byte", 1),
        *reader.flow("copies", "l2", "write", "copy.written_bytes", "byte", 1),
        *reader.lines("l2", "slc", "read", "l2.fetches", "l2"),
        *reader.lines("l2", "slc", "write", "l2.writes_below", "l2"),
        *reader.flow("storage", "slc", "write", "storage.dma_bytes", "byte", 1),
        *reader.lines("host", "slc", "read and write", "slc.host_lookups", "slc"),
        *reader.flow("slc", "dram", "read", "dram.read_bursts", "burst (dram)", burst),
        *reader.flow("slc", "dram", "write", "dram.write_bursts", "burst (dram)", burst)]


def _walks_l2(result):
    path = result["config"].get("mmu", {}).get("walk_path", {})
    return (path.get("value") if isinstance(path, dict) else path) != "memory"


# The picture: columns from the cores to DRAM; below a level stand those that ask it past the cores.
WIDTH, BOX_WIDTH, BOX_HEIGHT, MARGIN = 1200, 136, 62, 6
CLIENT_WIDTH, CLIENT_HEIGHT, CLIENT_STEP, INDENT = 96, 30, 44, 30
UPPER, MIDDLE, LOWER, CLIENTS_TOP = 0, 52, 104, 206
CLIENTS = ("copies", "storage", "host", "walks")  # the first of a level stands nearest to it
ARROWS = {"read": "◀", "write": "▶", "read and write": "◀▶"}


class _Places:
    """The left upper corner of every box; which place a client has below the level that it asks."""

    def __init__(self, result, edges):
        chain = ["cores", "l1"] + (["cluster"] if has_cluster(result) else []) + ["l2", "slc", "dram"]
        step = (WIDTH - BOX_WIDTH - 2 * MARGIN) / (len(chain) - 1)
        self.left = {name: MARGIN + index * step for index, name in enumerate(chain)}
        self.top = {name: MARGIN + MIDDLE for name in chain}
        for name, top in (("load_store", UPPER), ("texture", LOWER)):
            self.left[name], self.top[name] = self.left["l1"], MARGIN + top
        self.place, asked = {}, []
        for client in CLIENTS:
            for target in (target for source, target in edges if source == client):
                self.place[client] = asked.count(target)
                asked.append(target)
                self.left[client] = self.left[target] + INDENT
                self.top[client] = MARGIN + CLIENTS_TOP + CLIENT_STEP * self.place[client]

    def height(self):
        return max(self.top.values()) + BOX_HEIGHT


def _box(level, places):
    x, y = places.left[level.name], places.top[level.name]
    lines = []
    if level.hits is not None:
        what = "row hits" if level.name == "dram" else "hits"
        lines.append(f"{percent_text(level.hits / level.lookups)} {what}" if level.lookups else "no reads")
    if level.size:
        lines.append(bytes_text(level.size))
    spans = "".join(f'<tspan x="{x + 8:.0f}" dy="16">{text(line)}</tspan>' for line in lines)
    client = level.name in CLIENTS
    width, height = (CLIENT_WIDTH, CLIENT_HEIGHT) if client else (BOX_WIDTH, BOX_HEIGHT)
    return (f'<rect x="{x:.0f}" y="{y}" width="{width}" height="{height}" rx="8"/>'
            f'<text x="{x + 8:.0f}" y="{y + 19}"><tspan class="name">{text(level.title)}</tspan>{spans}</text>')


def _label(flows, x, y, anchor):
    """One line of text a kind, the last at `y`."""
    totals = {}
    for flow in flows:
        totals[flow.kind] = totals.get(flow.kind, 0) + flow.bytes
    shown = [f"{ARROWS[kind]} {bytes_text(total)}" for kind, total in totals.items()]
    first = y - 15 * (len(shown) - 1)
    return "".join(f'<text class="flow" text-anchor="{anchor}" x="{x:.0f}" y="{first + 15 * index:.0f}">'
                   f"{text(line)}</text>" for index, line in enumerate(shown))


def _edge(source, target, flows, places):
    """(path, label) of an edge: across from column to column, or up from a client."""
    x, y = places.left[source], places.top[source]
    if source not in CLIENTS:
        x1, y1 = x + BOX_WIDTH, y + BOX_HEIGHT / 2
        x2, y2 = places.left[target], places.top[target] + BOX_HEIGHT / 2
        return (f"M{x1:.0f} {y1:.0f} L{x2:.0f} {y2:.0f}",
                _label(flows, (x1 + x2) / 2, (y1 + y2) / 2 - 7, "middle"))
    bottom = places.top[target] + BOX_HEIGHT
    if places.place[source] == 0:
        x += CLIENT_WIDTH / 2
        return f"M{x:.0f} {y} V{bottom}", _label(flows, x + 8, bottom + 44, "start")
    up = x - INDENT * places.place[source] / 3
    y += CLIENT_HEIGHT / 2
    return f"M{x:.0f} {y:.0f} H{up:.0f} V{bottom}", _label(flows, x - INDENT - 4, y + 4, "end")


def hierarchy_picture(result):
    """The tree as an inline SVG that needs no script, or nothing for a result without such counters."""
    flows = flows_of(result)
    if not any(flow.count for flow in flows):
        return ""
    edges = {}
    for flow in flows:
        edges.setdefault((flow.source, flow.target), []).append(flow)
    places, levels = _Places(result, edges), levels_of(result)
    totals = [sum(flow.bytes for flow in crossing) for crossing in edges.values()]
    paths, labels = [], []
    for (ends, crossing), total in zip(edges.items(), totals):
        path, label = _edge(*ends, crossing, places)
        paths.append(f'<path d="{path}" style="stroke-width:{1.5 + 8 * (total / max(totals)) ** 0.5:.1f}"/>')
        labels.append(label)
    named = {end for ends in edges for end in ends}
    boxes = "".join(_box(level, places) for level in levels.values() if level.name in named)
    return (f'<div class="scroll"><svg class="tree" id="tree" viewBox="0 0 {WIDTH} {places.height():.0f}" role="img" '
            'aria-label="The memory hierarchy from shader cores to DRAM, as in the table below">'
            f'{"".join(paths)}{boxes}{"".join(labels)}</svg></div>')


def edges_table(result):
    """Every flow with the counter it is made of."""
    titles = {name: level.title for name, level in levels_of(result).items()}
    rows = [[word(titles[flow.source]), word(titles[flow.target]), word(flow.kind),
             number(flow.bytes, bytes_text(flow.bytes)), word(flow.counter),
             number(flow.count, count_text(flow.count)), word(flow.unit),
             number(flow.unit_bytes, count_text(flow.unit_bytes))] for flow in flows_of(result)]
    return table("edges", ["asks", "of", "to", "bytes", "counter", "its value", "each a", "bytes each"], rows)
