"""Reads what Mesa's drivers print about a compute shader: registers, spills, instructions by kind, in all and in its
busiest loop."""

import dataclasses
import re
import xml.etree.ElementTree

KINDS = ("fma", "convert", "special", "texture", "load_store")


@dataclasses.dataclass
class Counts:
    """Instructions of a stretch of code, each issued once by every wave that comes by."""

    instructions: int = 0
    fma: int = 0
    convert: int = 0
    special: int = 0
    texture: int = 0
    load_store: int = 0

    def add(self, kind):
        self.instructions += 1
        if kind in KINDS:
            setattr(self, kind, getattr(self, kind) + 1)


@dataclasses.dataclass
class Listing:
    """registers: 32-bit ones a work-item, as the hardware allocates them. loop: the innermost loop that accesses memory
    most; None where there is none, or (Bifrost) where the listing is not taken apart."""

    registers: int
    spills: int
    fills: int
    whole: Counts
    loop: Counts | None


class ListingError(Exception):
    """The output is not what this Mesa release prints."""


def require(found, what):
    if not found:
        raise ListingError(f"no {what} in the driver's output")
    return found


def busiest_loop(kinds, loops):
    """kinds: of each instruction; loops: (first, last) of each backward branch."""
    inner = [a for a in loops if not any(b != a and a[0] <= b[0] and b[1] <= a[1] for b in loops)]
    best = None
    for first, last in inner:
        counts = Counts()
        for kind in kinds[first:last + 1]:
            counts.add(kind)
        if best is None or counts.texture + counts.load_store > best.texture + best.load_store:
            best = counts
    return best


def mali_summary(output):
    line = require(re.search(r"SHADER-DB: MESA_SHADER_COMPUTE shader: (.*)", output), "SHADER-DB line").group(1)
    spills, fills = require(re.search(r"(\d+):(\d+) spills:fills", line), "spills").groups()
    threads = int(require(re.search(r"(\d+) threads", line), "threads").group(1))
    numbers = {name: float(value) for value, name in re.findall(r"([\d.]+) (\w+)", line)}
    # Mali allocates 32 registers a work-item, at the full number of threads, or 64 at half of it.
    return (32 if threads == 2 else 64), int(spills), int(fills), numbers


class Valhall:
    """Mali-G57, by the disassembly that follows the shader's blocks; units from Mesa's ISA.xml."""

    def __init__(self, isa_xml):
        self.units = {}
        for group in xml.etree.ElementTree.parse(isa_xml).getroot().iter():
            if group.tag not in ("ins", "group"):
                continue
            for ins in [group] + list(group.findall("ins")):
                unit = ins.get("unit") or group.get("unit")
                if ins.get("name") and unit:
                    self.units[ins.get("name").split(".")[0]] = unit

    def kind(self, mnemonic):
        unit = self.units.get(mnemonic.split(".")[0], "NONE")
        return {"FMA": "fma", "CVT": "convert", "SFU": "special", "T": "texture", "LS": "load_store",
                "VARY": "load_store", "V": "load_store"}.get(unit, "other")

    def read(self, output):
        registers, spills, fills, _ = mali_summary(output)
        text = output[:require(re.search("SHADER-DB: MESA_SHADER_COMPUTE", output), "compute shader").start()]
        lines = text.rstrip().split("\n")
        # Back over the disassembly to the closing brace of the shader's last block.
        start = max(i for i, line in enumerate(lines) if line.startswith("}")) + 1
        code = [line.strip() for line in lines[start:] if line.strip()]
        kinds = [self.kind(line.split()[0]) for line in code]
        loops = []
        for place, line in enumerate(code):
            offset = re.search(r"^BRANCHZ\S* .*offset:(-\d+)", line)
            if offset:
                loops.append((place + 1 + int(offset.group(1)), place))
        whole = Counts()
        for kind in kinds:
            whole.add(kind)
        return Listing(registers, spills, fills, whole, busiest_loop(kinds, loops))


class Bifrost:
    """Mali-G52, by its summary: instructions and messages, without the loop."""

    def read(self, output):
        registers, spills, fills, numbers = mali_summary(output)
        # Mesa prints texture and load/store cycles at two and one message a cycle, arithmetic at 24 tuples.
        whole = Counts(instructions=int(numbers["inst"]), fma=int(numbers["tuples"]),
                       texture=round(2 * numbers["texture"]), load_store=round(numbers["ldst"]))
        return Listing(registers, spills, fills, whole, None)


class Adreno:
    """Adreno 6xx, by ir3's disassembly."""

    SPECIAL = {"rcp", "rsq", "log2", "exp2", "sin", "cos", "sqrt", "hrsq", "hlog2", "hexp2"}

    def kind(self, mnemonic):
        name = mnemonic.split(".")[0]
        if name == "mad" or mnemonic in ("mul.f", "add.f"):
            return "fma"
        if name in ("mov", "cov"):
            return "convert"
        if name in self.SPECIAL:
            return "special"
        if name.startswith(("isam", "sam", "gather")):
            return "texture"
        if name in ("ldc", "stc"):  # constants: uniforms and what the preamble keeps of them
            return "other"
        if name.startswith(("ld", "st", "atomic")):
            return "load_store"
        return "other"

    def read(self, output):
        output = re.sub(r"^MESA: info: ", "", output, flags=re.M)
        ends = [found.start() for found in re.finditer(r"^; CL: outputs:", output, flags=re.M)]
        end = require(ends, "compute shader")[-1]
        footer = output[end:]
        half, full = map(int, require(re.search(r"(\d+) half, (\d+) full", footer), "registers").groups())
        total = int(require(re.search(r": (\d+) instr, ", footer), "instructions").group(1))
        code, labels, kinds, loops = [], {}, [], []
        for line in reversed(output[:end].rstrip().split("\n")):
            found = re.match(r"^(l\d+:)?\s*((?:\((?:rpt|nop|ss|sy|jp|eq|ul|nopen)\d*\))*)\s*([a-z][\w.]*)\b(.*)", line)
            if not found and not re.match(r"^l\d+:", line):
                break
            code.append(line)
        for line in reversed(code):
            label = re.match(r"^(l\d+):", line)
            if label:
                labels[label.group(1)] = len(kinds)
                continue
            words = re.sub(r"\([a-z0-9]+\)", "", line).split()
            jump = re.search(r"#(l\d+)", line)
            if jump and jump.group(1) in labels:
                loops.append((labels[jump.group(1)], len(kinds)))
            kinds.append(self.kind(words[0]) if words else "other")
        whole = Counts()
        for kind in kinds:
            whole.add(kind)
        whole.instructions = total
        text = "\n".join(code)
        # Halves share the register file of a6xx: two to a 32-bit register; counts are in texels of four.
        return Listing(4 * max(full, (half + 1) // 2), len(re.findall(r"\bstp\b", text)),
                       len(re.findall(r"\bldp\b", text)), whole, busiest_loop(kinds, loops))
