"""Plans, simulates and runs the paper's eleven networks: ./fm networks [--networks A,B] [--part plans|simulated|measured]

Finished points are kept under out/paper, as by ./fm paper; --only-kept measures nothing. Which
networks, devices and policies: networks.yaml. Writes docs/networks.md.
"""

import argparse
import pathlib
import sys

from command_line import ROOT, NotKept, Refused, Tools
from networks_measured import Measured
from networks_page import page
from points import PRELOAD, Study, load_yaml
from simulated_network import simulated_facts

HERE = pathlib.Path(__file__).parent
PARTS = ("plans", "simulated", "measured")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", help="only these, separated by commas")
    parser.add_argument("--part", choices=PARTS, help="make only this part; the others as far as they are kept")
    parser.add_argument("--only-kept", action="store_true", help="measure nothing, print finished points")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "out/paper")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=ROOT / "docs/networks.md")
    return parser.parse_args()


def plans(work, network, content):
    """{(config, policy): facts of the plan, or why there is none}"""
    found = {}
    for config in content["configs"]:
        for policy in content["policies"]:
            try:
                found[config, policy] = work.plan(network, {"name": policy, "options": ["--policy", policy]}, config)[1]
            except Refused as refusal:
                found[config, policy] = str(refusal)
    return found


def simulated(work, network, content):
    """{config: facts of the simulated run under `preload`}"""
    return {config: simulated_facts(work.preload_result(network, config)) for config in content["configs"]}


def measured(work, network, content):
    """{"preloaded" or "streamed": facts of the run on this computer}"""
    name = "streamed" if network.get("streams") else "preloaded"
    return {name: Measured(work, name, content[name]).point(network)}


def collect(content, options):
    """{part: {network: facts}}; what is not wanted or not kept is left out."""
    points = {part: {} for part in PARTS}
    for network in content["networks"]:
        for part in PARTS:
            wanted = (not options.networks or network["name"] in options.networks.split(",")) and options.part in (None, part)
            work = Study(Tools(options.bin, options.only_kept or not wanted), options.out, content)
            try:
                points[part][network["name"]] = globals()[part](work, network, content)
            except NotKept:
                continue
            if wanted:
                print(f"{network['name']}: {part}", file=sys.stderr, flush=True)
    return points


def main():
    options = parse()
    content = load_yaml(HERE / "networks.yaml")
    points = collect(content, options)
    options.output.write_text(page(content, points, load_yaml(HERE / "published.yaml")))
    print(options.output)


if __name__ == "__main__":
    main()
