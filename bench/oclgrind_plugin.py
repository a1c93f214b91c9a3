"""What the Oclgrind plugin records of programs of others, and what that takes; writes the tables of docs/recorders.md:
./fm oclgrind

Times are CPU seconds of one run each under Oclgrind, without the plugin and with it: its cost is a good part of the
whole, so that one run shows it. CLBlast's product of 512 by 512 takes some minutes and is run with the plugin only.
"""

import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/recorders.md"
sys.path[:0] = [str(ROOT), str(ROOT / "bench")]

from markdown_page import write_marked  # noqa: E402
from recorder_layer import table  # noqa: E402
from tests.end_to_end import pipeline  # noqa: E402

PLUGIN = pipeline.BIN / "libfmtrace_oclgrind.so"

# Name, command, whether to run it without the plugin too.
PROGRAMS = [
    ("SpMV, 4096 rows of up to 32 elements", ["spmv"], True),
    ("Bloom filter, 4096 keys", ["bloom_filter"], True),
    ("cuckoo filter, 4096 keys", ["cuckoo_filter"], True),
    ("k-means, 4096 points, 3 rounds", ["kmeans"], True),
    ("CLBlast 1.5.3, product of 128 by 128", ["gemm", "--size", "128"], True),
    ("CLBlast 1.5.3, product of 512 by 512", ["gemm", "--size", "512"], False),
]


def cpu_seconds(command, folder, trace=None):
    plugins = ["--plugins", str(PLUGIN)] if trace else []
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["oclgrind", *plugins, str(pipeline.BIN / command[0]), *command[1:]], check=True,
                   stdout=subprocess.DEVNULL,
                   env={**os.environ, "XDG_CACHE_HOME": str(folder), "FM_TRACE_FILE": str(trace)})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def rows(folder):
    yield "program", "launches", "programs", "sites", "tables of values", "work-groups compared", "trace", "Oclgrind", \
        "with the plugin", "replay on mali-g715, laws that hold"
    for name, command, alone in PROGRAMS:
        print(f"recording {name}", file=sys.stderr)
        trace = folder / "app.trace"
        seconds = f"{cpu_seconds(command, folder):.1f} s" if alone else "not run"
        with_it = f"{cpu_seconds(command, folder, trace):.1f} s"
        info = json.loads(pipeline.tool("fmtrace", "info", trace, "--json").stdout)
        result = json.loads(pipeline.tool("fmsim", "--config", "mali-g715", "--trace", trace, "--json").stdout)
        total = {key: sum(program[key] for program in info["programs"])
                 for key in ("sites", "tables", "groups_checked", "groups_total")}
        holding = sum(check["holds"] for check in result["checks"])
        gpu = sum(launch["end_ns"] - launch["start_ns"] for launch in result["launches"])
        yield (name, str(info["host"]["by_kind"]["launch"]), str(len(info["programs"])), str(total["sites"]),
               str(total["tables"]), f"{total['groups_checked']} of {total['groups_total']}",
               f"{info['bytes'] / 1000:.1f} kB", seconds, with_it,
               f"{gpu / 1e6:.3g} ms, {holding} of {len(result['checks'])}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--print", action="store_true", help="print the table, leave the page as it is")
    options = parser.parse_args()
    print(f"recording {len(PROGRAMS)} programs under Oclgrind: some ten minutes", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        text = table(rows(pathlib.Path(folder)))
    print(text)
    if not options.print:
        PAGE.write_text(write_marked(PAGE.read_text(), "oclgrind", text))


if __name__ == "__main__":
    main()
