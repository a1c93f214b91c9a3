"""Simulated against measured time of every launch: ./fm correlate

fmprobe measures this computer's OpenCL device; fmsim simulates the recorded launches of networks and random
layers on the config it writes; fmexec runs them, in rounds that take turns. Writes docs/correlation.md.
"""

import argparse
import datetime
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "analysis/paper"), str(ROOT / "bench")]

import correlation_page  # noqa: E402
from agreement import agreement, long_ones  # noqa: E402
from cases import Case, models  # noqa: E402
from command_line import USER_ERROR, Refused, Tools  # noqa: E402
from markdown_page import write_marked  # noqa: E402

DOCUMENT = ROOT / "docs/correlation.md"
EMPTY_PAGE = "<!-- measured -->\n<!-- end -->\n"


def parse(words=None):
    parser = argparse.ArgumentParser(
        prog="fm correlate", description="Holds simulated times of launches against measured ones on this device.",
        epilog="Example: fm correlate --only vit --rounds 3 -o vit.md")
    parser.add_argument("--device", help="index or part of the name of an OpenCL device (default: fmexec's)")
    parser.add_argument("--base", default="pocl-host", help="config that the probe builds on (default %(default)s)")
    parser.add_argument("--config", type=pathlib.Path, help="a device config instead of a probe")
    parser.add_argument("--only", action="append", choices=["resnet50", "vit", "ocr-det", "ocr-cls", "layers"],
                        help="only this network, or the random layers; may be repeated")
    parser.add_argument("--layers", type=int, default=50, metavar="N", help="random layers (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the random layers (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="runs of each (default %(default)s)")
    parser.add_argument("--placement", action="append", choices=["buffer", "image2d"],
                        help="of tensors; may be repeated (default: both)")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "out/correlation",
                        help="of what is made on the way (default out/correlation)")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=DOCUMENT,
                        help="the page, written between its marks (default docs/correlation.md); beside it goes "
                        "NAME.svg")
    options = parser.parse_args(words)
    if options.rounds < 1 or options.layers < 0:
        parser.error("--rounds must be at least 1, --layers at least 0")
    return options


def say(text):
    print(text, file=sys.stderr, flush=True)


def probed_config(tools, options):
    config = options.folder / "probed.yaml"
    device = ["--device", options.device] if options.device else []
    say("correlate: probing the device, under three minutes; other programs should rest")
    tools.run("fmprobe", *device, "--base", options.base, "--raw", options.folder / "probed.json", "-o", config)
    return config


def prepared(tools, config, options):
    cases = []
    for name, model, shapes in models(tools, options.folder, options):
        for placement in options.placement or ["buffer", "image2d"]:
            case = Case(tools, options.folder, config, name, placement, options.device)
            say(f"correlate: {name}, {placement}")
            try:
                case.prepare(model, shapes)
            except Refused as refused:
                say(f"correlate: note: left out: {refused}")
                continue
            case.simulate()
            cases.append(case)
    return cases


def noise(before):
    """What a reader must know of the machine."""
    after = os.getloadavg()[0]
    return (f"Load average {before:.1f} before the runs and {after:.1f} after them, of {os.cpu_count()} cores; the "
            "runs themselves are part of the latter.")


def facts(config, options, cases, load_before):
    base = f"probed on `{options.base}`" if options.config is None else f"of `{options.config.name}`"
    device = next(line.split(":", 1)[1].strip().strip('"') for line in config.read_text().splitlines()
                  if line.startswith("description:"))
    return (f"{datetime.date.today()}, {device}, config {base}; {len(cases)} plans, medians of {options.rounds} rounds "
            f"that take turns. {noise(load_before)}")


def write_page(path, lines):
    """Between the marks of the page; a new page where there is none."""
    text = path.read_text(encoding="utf-8") if path.exists() else EMPTY_PAGE
    path.write_text(write_marked(text, "measured", "\n".join(lines)), encoding="utf-8")


def page(launches, picture, about):
    return [about, "", f"![Simulated over measured time of every launch]({picture.name})", "",
            *correlation_page.agreement_table(launches), "", *correlation_page.kernel_table(launches)]


def main(words=None):
    options = parse(words)
    tools = Tools(os.environ.get("FM_BIN", ROOT / "build/release/bin"))
    options.folder.mkdir(parents=True, exist_ok=True)
    try:
        if options.config is None:
            config = probed_config(tools, options)
        else:
            config = options.config if options.config.exists() else ROOT / f"configs/{options.config}.yaml"
            tools.config_text(str(config))
        cases = prepared(tools, config, options)
    except Refused as refused:
        print(refused, file=sys.stderr)
        return USER_ERROR
    load_before = os.getloadavg()[0]
    for number in range(options.rounds):
        say(f"correlate: round {number + 1} of {options.rounds}")
        for case in cases:
            case.play_round()
    launches = [launch for case in cases for launch in case.launches()]
    picture = options.output.with_suffix(".svg")
    correlation_page.scatter(launches, picture)
    write_page(options.output, page(launches, picture, facts(config, options, cases, load_before)))
    for line in correlation_page.agreement_table(launches):
        print(line)
    found, held = agreement(launches), agreement(long_ones(launches))
    if found is not None and held is not None:
        print(f"rank correlation {found.rank_correlation:.3f}; above 1 ms median error {held.median_error:.1%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
