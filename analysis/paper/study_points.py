"""The points of a study (a YAML file of networks, devices and policies), made or taken from those that are kept."""

import argparse
import pathlib
import sys

from command_line import ROOT, NotKept, Refused, Tools, config_path
from points import Study


def parser(description, study, page):
    """Options of every study; a study's own may be added."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument("--networks", help="only these, separated by commas")
    options.add_argument("--configs", help="only these")
    options.add_argument("--policies", help="only these")
    options.add_argument("--only-kept", action="store_true", help="measure nothing, print finished points")
    options.add_argument("--study", type=pathlib.Path, default=study)
    options.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin")
    options.add_argument("--out", type=pathlib.Path, default=ROOT / "out/paper")
    options.add_argument("-o", "--output", type=pathlib.Path, default=page)
    return options


def selected(items, names, key=lambda item: item):
    return [item for item in items if not names or key(item) in names.split(",")]


def configs_of(study):
    return [*study["configs"], *([study["measured_on"]] if "measured_on" in study else [])]


def wanted(study, options):
    """The points of the study: (network, config, policy)."""
    for network in selected(study["networks"], options.networks, lambda n: n["name"]):
        for config in selected(configs_of(study), options.configs, lambda c: config_path(c).stem):
            for policy in selected(study["policies"], options.policies, lambda p: p["name"]):
                device = config_path(config).stem
                if device in policy.get("only", [device]) and device in network.get("only", [device]):
                    yield network, config, policy


def collect(study, options):
    """({network: {(config, policy): measures}}, {(policy,) or point: why it is missing})."""
    return collect_with(Study(Tools(options.bin, options.only_kept), options.out, study), study, options)


def collect_with(work, study, options):
    """collect() by a Study that is there already."""
    points, missing = {}, {}
    for network, config, policy in wanted(study, options):
        if (policy["name"],) in missing:
            continue
        device = config_path(config).stem
        try:
            point = work.point(network, policy, config)
        except NotKept as absent:
            missing[network["name"], device, policy["name"]] = str(absent)
            continue
        except Refused as refusal:
            unknown = f"--policy `{policy['name']}`" in str(refusal)
            what = (policy["name"],) if unknown else (network["name"], device, policy["name"])
            missing[what] = str(refusal).removeprefix("fmplan: error: ")
            continue
        points.setdefault(network["name"], {})[device, policy["name"]] = point
        print(f"{network['name']} {device} {policy['name']}: {point['integrated_ms']:.0f} ms integrated",
              file=sys.stderr, flush=True)
    return points, missing
