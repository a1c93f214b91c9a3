"""Compiled memory operations of a kernel's busiest loop against the accesses that a trace recorded of it.

A wave's access in the trace is one source access; a phone's compiler may split it, merge it or hoist it out of the loop.
Where the two counts differ, the simulator's accesses are not a phone's instructions, and this says by how much.
"""

import re
import subprocess
import sys

import yaml

# Loops around a kernel's busiest accesses; loops further in have constant bounds, and compilers unroll them.
DEPTH = {"matmul": 1, "attention": 2, "conv": 3, "depthwise": 2, "transposed_conv": 3, "pool": 2, "softmax": 1, "layer_norm": 1,
         "reduction": 1}


class Loop:
    """A loop of a dumped access program: accesses per pass of its own body, and the loops in it."""

    def __init__(self, trips):
        self.trips = trips
        self.accesses = {"image": 0, "other": 0}
        self.inner = []

    def unrolled(self):
        """Accesses of one pass, inner loops unrolled."""
        total = dict(self.accesses)
        for loop in self.inner:
            for space, count in loop.unrolled().items():
                total[space] += loop.trips * count
        return total

    def at(self, depth):
        if depth == 0:
            return [self]
        return [found for loop in self.inner for found in loop.at(depth - 1)]


def parse(dump):
    """The loop tree of `fmtrace dump --program`, and the space of each argument. Local memory is left out: compilers
    unroll the short loops that combine a work-group's values."""
    root = Loop(1)
    stack, spaces = [(-1, root)], {}
    for line in dump.splitlines()[1:]:
        depth = len(line) - len(line.lstrip())
        while stack[-1][0] >= depth:
            stack.pop()
        loop = re.match(r"\s*for \w+ = (-?\d+); \w+ < (-?\d+); \w+ \+= (\d+)", line)
        site = re.search(r"site \d+: (\w+) (\w+) argument (\d+)", line)
        if loop:
            begin, end, step = map(int, loop.groups())
            stack[-1][1].inner.append(Loop(max(0, -(-(end - begin) // step))))
            stack.append((depth, stack[-1][1].inner[-1]))
        elif re.match(r"\s*for ", line):
            stack[-1][1].inner.append(Loop(1))
            stack.append((depth, stack[-1][1].inner[-1]))
        elif site:
            space, what, argument = site.groups()
            stack[-1][1].accesses["image" if space == "image" and what == "read" else "other"] += 1
            spaces[int(argument)] = space
    return root, spaces


def recorded(dump, kernel, parameters):
    """Image reads and other accesses of a pass of the busiest loop, and where the tensors lie, as variants.py says."""
    root, spaces = parse(dump)
    depth = 1 if kernel == "conv" and parameters.get("POINTWISE") == "1" else DEPTH[kernel]
    loops = [loop.unrolled() for loop in root.at(depth)]
    busiest = max(loops, key=lambda loop: loop["image"] + loop["other"], default=None)
    where = {argument: "image" if space == "image" else "buffer" for argument, space in spaces.items()}
    if kernel in ("matmul", "conv", "depthwise", "transposed_conv"):  # their loop reads these two
        where = {argument: where[argument] for argument in (0, 2) if argument in where}
    return busiest, "+".join(dict.fromkeys(where[argument] for argument in sorted(where)))


def rows_for(table, kernel, parameters, memory, accumulate):
    def fits(row):
        words = dict(word.split("=") for word in row["parameters"].split())
        return all(parameters.get(name) == value for name, value in words.items())

    return [row for row in table if row["kernel"] == kernel and row["memory"] == memory and
            row["accumulate"] == accumulate and row["loop_instructions"] and fits(row)]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"compile.py: error: {' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def report(table, trace, plan_file, fmtrace):
    """Prints one line a kernel variant and instruction set. Returns 4 when any count differs, else 0."""
    with open(plan_file) as text:
        plan = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    launches = {launch["id"]: launch for launch in plan["launches"] if launch["kind"] == "kernel"}
    accumulate = "half" if str(plan.get("accumulate", "f32")) == "f16" else "float"
    seen, unknown, differing = {}, set(), 0
    for launch_id, program in re.findall(r"launch (\S+) .*?program (\d+)", run([fmtrace, "dump", trace])):
        launch = launches.get(launch_id)
        if not launch or launch["kernel"] not in DEPTH:
            continue
        parameters = {name: str(value) for name, value in launch["parameters"].items()}
        loop, memory = recorded(run([fmtrace, "dump", trace, "--program", program]), launch["kernel"], parameters)
        rows = rows_for(table, launch["kernel"], parameters, memory, accumulate)
        if loop is None or not rows:
            unknown.add(f"{launch['kernel']} {parameters} {memory} {accumulate}")
        for row in rows if loop else []:
            seen.setdefault((row["kernel"], row["parameters"], memory, row["isa"]), (loop, row))
    print(f"{'kernel':<16}{'parameters':<36}{'memory':<14}{'isa':<9}{'recorded':>14}{'compiled':>14}")
    for (kernel, words, memory, isa), (loop, row) in sorted(seen.items()):
        pair = (int(row["loop_texture"]), int(row["loop_load_store"]))
        same = pair == (loop["image"], loop["other"])
        differing += not same
        print(f"{kernel:<16}{words:<36}{memory:<14}{isa:<9}{loop['image']:>6} +{loop['other']:>6}{pair[0]:>6} +"
              f"{pair[1]:>6}  {'same' if same else 'differs'}")
    print("(image reads + other accesses, one pass of the busiest loop)")
    for words in sorted(unknown):
        print("not compiled, or without a loop:", words)
    return 4 if differing else 0
