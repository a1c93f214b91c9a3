"""Makes the evidence table (docs/paper.md): ./fm paper [--networks A,B] [--configs A,B] [--policies A,B]

Finished points are kept under out/paper by the digest of all they depend on; an interrupted study
goes on where it was. --only-kept measures nothing and prints what is there. Which networks, devices
and policies: study.yaml.
"""

import argparse
import pathlib
import sys

from command_line import ROOT, NotKept, Refused, Tools, config_path
from evidence_page import page
from points import Study, load_yaml

HERE = pathlib.Path(__file__).parent


def selected(items, names, key=lambda item: item):
    return [item for item in items if not names or key(item) in names.split(",")]


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", help="only these, separated by commas")
    parser.add_argument("--configs", help="only these")
    parser.add_argument("--policies", help="only these")
    parser.add_argument("--only-kept", action="store_true", help="measure nothing, print finished points")
    parser.add_argument("--study", type=pathlib.Path, default=HERE / "study.yaml")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "out/paper")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=ROOT / "docs/paper.md")
    return parser.parse_args()


def wanted(study, options):
    """The points of the study: (network, config, policy)."""
    for network in selected(study["networks"], options.networks, lambda n: n["name"]):
        for config in selected([*study["configs"], study["measured_on"]], options.configs,
                               lambda c: config_path(c).stem):
            for policy in selected(study["policies"], options.policies, lambda p: p["name"]):
                if config_path(config).stem in policy.get("only", [config_path(config).stem]):
                    yield network, config, policy


def collect(study, options):
    """({network: {(config, policy): measures}}, {(policy,) or point: why it is missing})."""
    work = Study(Tools(options.bin, options.only_kept), options.out, study)
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


def main():
    options = parse()
    study = load_yaml(options.study)
    published = load_yaml(HERE / "published.yaml")
    points, missing = collect(study, options)
    options.output.write_text(page(study, points, missing, published))
    print(options.output)


if __name__ == "__main__":
    main()
