#!/usr/bin/env python3
"""Compiles twins of the catalogue's kernels with Mesa's compilers for Mali and Adreno, offline, and keeps what they say.

  tools/isa/build_mesa.sh ~/mesa                      # once: Mesa from Debian's source package
  tools/isa/compile.py --mesa ~/mesa                  # all twins into kernels/compiled_registers.csv
  tools/isa/compile.py --mesa ~/mesa --kernel matmul  # only these; other rows stay
  tools/isa/compile.py --check run.trace --plan plan.yaml   # compiled memory operations against the recorded ones
  tools/isa/compile.py --mesa ~/mesa --show conv TILE_W=4 TILE_O4=1 POINTWISE=0 --isa valhall
"""

import argparse
import concurrent.futures
import csv
import dataclasses
import os
import pathlib
import subprocess
import sys
import tempfile

import check
from listing import Adreno, Bifrost, Counts, ListingError, Valhall
from translate import HERE, KERNELS, TranslationError, translate
from variants import variants

TABLE = KERNELS / "compiled_registers.csv"
RELEASE = "22.3.6"
COUNTS = [field.name for field in dataclasses.fields(Counts)]
KEY = ["kernel", "parameters", "memory", "accumulate", "isa"]
COLUMNS = KEY + ["registers", "spills", "fills"] + COUNTS + ["loop_" + name for name in COUNTS]


@dataclasses.dataclass(frozen=True)
class Target:
    """A GPU that drm-shim pretends to be."""

    isa: str
    gpu: str
    shim: str
    environment: dict


TARGETS = {
    "valhall": Target("valhall", "Mali-G57", "src/panfrost/drm-shim/libpanfrost_noop_drm_shim.so",
                      {"PAN_GPU_ID": "9093", "BIFROST_MESA_DEBUG": "shaderdb,shaders"}),
    "bifrost": Target("bifrost", "Mali-G52", "src/panfrost/drm-shim/libpanfrost_noop_drm_shim.so",
                      {"PAN_GPU_ID": "7212", "BIFROST_MESA_DEBUG": "shaderdb"}),
    "adreno": Target("adreno", "Adreno 660", "src/freedreno/drm-shim/libfreedreno_noop_drm_shim.so",
                     {"FD_GPU_ID": "660", "MESA_LOADER_DRIVER_OVERRIDE": "msm", "IR3_SHADER_DEBUG": "cs",
                      "FD_MESA_DEBUG": "serialc"}),
}


class Compiler:
    """mesa: the folder that build_mesa.sh filled."""

    def __init__(self, mesa):
        self.build = mesa / "build"
        self.source = mesa / f"mesa-{RELEASE}"
        if not (self.build / "src/egl/libEGL.so.1").exists():
            sys.exit(f"compile.py: error: {mesa} holds no built Mesa: run tools/isa/build_mesa.sh {mesa}")
        self.readers = {"valhall": Valhall(self.source / "src/panfrost/bifrost/valhall/ISA.xml"), "bifrost": Bifrost(),
                        "adreno": Adreno()}

    def output(self, glsl, target):
        libraries = ["src/egl", "src/mapi/es2api", "src/mapi/shared-glapi"]
        environment = {**os.environ, **target.environment,
                       "LD_LIBRARY_PATH": ":".join(str(self.build / folder) for folder in libraries),
                       "LIBGL_DRIVERS_PATH": str(self.build / "src/gallium/targets/dri"),
                       "LD_PRELOAD": str(self.build / target.shim)}
        with tempfile.NamedTemporaryFile("w", suffix=".comp") as shader:
            shader.write(glsl)
            shader.flush()
            done = subprocess.run([sys.executable, str(HERE / "driver.py"), shader.name], env=environment, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        if done.returncode != 0:
            raise ListingError(done.stdout.strip()[-2000:] or f"the driver ended with {done.returncode}")
        if f"Mesa {RELEASE}" not in done.stdout:
            raise ListingError(f"not Mesa {RELEASE}: {done.stdout[:200]}")
        return done.stdout

    def listing(self, variant, target):
        glsl = translate(variant.family.kernel, variant.defines(target.isa), variant.family.local_size,
                         variant.half)
        return self.readers[target.isa].read(self.output(glsl, target))


def row_of(variant, isa, listing):
    row = {"kernel": variant.family.kernel, "parameters": variant.words(), "memory": variant.memory,
           "accumulate": "half" if variant.half else "float", "isa": isa, "registers": listing.registers,
           "spills": listing.spills, "fills": listing.fills}
    row.update({name: getattr(listing.whole, name) for name in COUNTS})
    row.update({"loop_" + name: getattr(listing.loop, name) if listing.loop else "" for name in COUNTS})
    return row


def key_of(row):
    return tuple(row[name] for name in KEY)


def read_table(path=TABLE):
    if not path.exists():
        return []
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


def write_table(rows):
    with TABLE.open("w", newline="") as out:
        gpus = ", ".join(f"{target.isa} for {target.gpu}" for target in TARGETS.values())
        out.write(f"# source: compiled(mesa {RELEASE})\n")
        out.write(f"# Written by tools/isa/compile.py: {gpus}. See tools/isa/README.md.\n")
        table = csv.DictWriter(out, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(sorted(rows, key=key_of))


def compile_all(compiler, kernels, isas, jobs):
    work = [(variant, isa) for isa in isas for variant in variants(isa, kernels)]
    rows, failed = {}, []

    def one(item):
        variant, isa = item
        return row_of(variant, isa, compiler.listing(variant, TARGETS[isa]))

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(one, item): item for item in work}
        for done, future in enumerate(concurrent.futures.as_completed(futures), 1):
            variant, isa = futures[future]
            try:
                row = future.result()
                rows[key_of(row)] = row
            except (ListingError, TranslationError, subprocess.TimeoutExpired) as error:
                failed.append(f"{isa} {variant.family.kernel} {variant.words()} {variant.memory}: {error}")
            if sys.stderr.isatty() or done % 100 == 0:
                print(f"{done} of {len(work)}", file=sys.stderr)
    return rows, failed


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mesa", type=pathlib.Path, help="the folder that build_mesa.sh filled")
    parser.add_argument("--kernel", action="append", help="compile only this kernel; may be repeated")
    parser.add_argument("--isa", choices=sorted(TARGETS), action="append", help="compile only for it; may be repeated")
    parser.add_argument("--jobs", type=int, default=2, help="compilers side by side (2)")
    parser.add_argument("--check", metavar="TRACE", help="compare the table with a trace's access programs")
    parser.add_argument("--plan", help="with --check: the plan of the trace")
    parser.add_argument("--fmtrace", default="fmtrace", help="the program that dumps a trace (fmtrace)")
    parser.add_argument("--show", nargs="+", metavar="WORD", help="print one twin and its listing: KERNEL NAME=VALUE ..")
    return parser.parse_args()


def show(compiler, words, isas):
    wanted = " ".join(words[1:])
    for variant in variants(kernels=[words[0]]):
        if not wanted or variant.words() == wanted:
            print(translate(variant.family.kernel, variant.defines(), variant.family.local_size, variant.half))
            for isa in isas:
                print(isa, variant.memory, "half" if variant.half else "float",
                      compiler.listing(variant, TARGETS[isa]))
            return
    sys.exit(f"compile.py: error: no twin of {words[0]} with `{wanted}`")


def main():
    options = arguments()
    isas = options.isa or sorted(TARGETS)
    if options.check:
        if not options.plan:
            sys.exit("compile.py: error: --check needs --plan: the plan that was recorded")
        sys.exit(check.report(read_table(), options.check, options.plan, options.fmtrace))
    if not options.mesa:
        sys.exit("compile.py: error: --mesa: where is the built Mesa? (tools/isa/build_mesa.sh FOLDER)")
    compiler = Compiler(options.mesa.resolve())
    if options.show:
        return show(compiler, options.show, isas)
    rows, failed = compile_all(compiler, options.kernel, isas, options.jobs)
    kept = {key_of(row): row for row in read_table()} if options.kernel or options.isa else {}
    write_table({**kept, **rows}.values())
    print(f"{len(rows)} twins compiled, {len(failed)} failed; {TABLE}")
    for line in failed:
        print("failed:", line, file=sys.stderr)
    return sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
