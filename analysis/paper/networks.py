"""Plans, simulates and runs the paper's eleven networks: ./fm networks [--networks A,B] [--configs A,B] [--part plans|simulated|measured]

Finished points are kept under out/paper, as by ./fm evidence; --only-kept measures nothing. Which
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
STREAMED = {"name": "lc-opg", "options": ["--policy", "lc-opg"]}
PARTS = ("plans", "simulated", "measured")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", help="only these, separated by commas")
    parser.add_argument("--configs", help="only these simulated devices")
    parser.add_argument("--part", choices=PARTS, help="make only this part; the others as far as they are kept")
    parser.add_argument("--only-kept", action="store_true", help="measure nothing, print finished points")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "out/paper")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=ROOT / "docs/networks.md")
    return parser.parse_args()


def plans(study, network, content):
    """{(config, policy): facts of the plan, or why there is none}"""
    found = {}
    for config in content["configs"]:
        for policy in content["policies"]:
            try:
                found[config, policy] = study(config).plan(network, {"name": policy, "options": ["--policy", policy]}, config)[1]
            except Refused as refusal:
                found[config, policy] = str(refusal)
    return found


def simulated(study, network, content):
    """{config: facts of the simulated run under `preload`, or streamed where that does not fit}"""
    found = {}
    for config in content["configs"]:
        policy = STREAMED if config in network.get("streams_on", []) else PRELOAD
        try:
            found[config] = {"policy": policy["name"], **simulated_facts(study(config).result(network, policy, config))}
        except NotKept:
            continue
    return found


def measured(study, network, content):
    """{"preloaded" or "streamed": facts of the run on this computer}"""
    name = "streamed" if network.get("streams") else "preloaded"
    try:
        return {name: Measured(study(content["measured_on"]), name, content[name]).point(network)}
    except NotKept:
        return {}


def wanted(options, content, network, part, config):
    """Whether the options ask for it to be made, not only shown."""
    return ((not options.networks or network["name"] in options.networks.split(","))
            and options.part in (None, part) and not options.only_kept
            and (not options.configs or config not in content["configs"] or config in options.configs.split(",")))


def collect(content, options):
    """{part: {network: facts}}; what is not wanted and not kept is left out."""
    points = {part: {} for part in PARTS}
    for network in content["networks"]:
        for part, make in zip(PARTS, (plans, simulated, measured)):
            def study(config):
                return Study(Tools(options.bin, not wanted(options, content, network, part, config)), options.out, content)

            found = make(study, network, content)
            if found:
                points[part][network["name"]] = found
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
