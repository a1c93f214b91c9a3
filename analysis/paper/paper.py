"""The paper's evaluation on simulated phones, beside its numbers, and what it could not show (docs/paper.md; --html FILE: the
same with pictures, by default out/paper/paper.html): ./fm paper [--networks A,B] [--sections A,B]

Finished points are kept under out/paper by the digest of all they depend on; an interrupted study goes on where it
was. --only-kept measures nothing and prints what is there, --sections simulates only for these sections and prints the others
so. Which networks, phones and policies: paper.yaml. A section is a module of sections/.
"""

import argparse
import concurrent.futures
import pathlib
import sys
import time

from command_line import ROOT
from paper_html import html
from paper_page import page
from points import load_yaml
from section import Work
from sections import (breakdown, disk_speed, figure2, figure9, figure10, operating_points, pareto, phone_points, queues, table1, table4,
                      table6, table7, table8, table9, taken_constants, warm_runs)
from study_points import parser, selected

HERE = pathlib.Path(__file__).parent
PUBLISHED = (table1, table4, table6, table7, table8, table9, figure2, queues, breakdown, figure9, figure10)
BEYOND = (warm_runs, disk_speed, pareto, operating_points, taken_constants)
SECTIONS = [module.SECTION for module in (*PUBLISHED, *BEYOND)]


def parse():
    options = parser("The paper's evaluation on simulated phones, beside its numbers", HERE / "paper.yaml", ROOT / "docs/paper.md")
    options.add_argument("--sections", help=f"simulate only for these of {', '.join(section.name for section in SECTIONS)}")
    options.add_argument("--jobs", type=int, default=1, help="simulations side by side (default %(default)s)")
    options.add_argument("--html", type=pathlib.Path, default=ROOT / "out/paper/paper.html",
                         help="the page with pictures (default %(default)s)")
    parsed = options.parse_args()
    unknown = set(parsed.sections.split(",") if parsed.sections else ()) - {section.name for section in SECTIONS}
    if unknown:
        options.error(f"--sections: no section is named {', '.join(sorted(unknown))}; see --help")
    return parsed


def wanted(make, options):
    """Whether a section that is made so is asked for."""
    names = options.sections.split(",") if options.sections else [section.name for section in SECTIONS]
    return any(section.name in names for section in SECTIONS if section.make is make)


def gathered(make, study, published, options):
    """What sections that are made so found; simulated now where the command line asks for it."""
    begin = time.perf_counter()
    made = make(Work(study, published, options, options.only_kept or not wanted(make, options)))
    names = ", ".join(section.name for section in SECTIONS if section.make is make)
    print(f"{names}: {time.perf_counter() - begin:.0f} s", file=sys.stderr, flush=True)
    return made


# ---- side by side
def parts(study, options):
    """(make, options) of what can be simulated by itself: the published points network by network, other sections whole."""
    for network in selected(study["networks"], options.networks, lambda network: network["name"]):
        yield phone_points.make, argparse.Namespace(**{**vars(options), "networks": network["name"]})
    for section in SECTIONS:
        if section.make is not phone_points.make:
            yield section.make, options


def simulate_side_by_side(study, published, options):
    """Finishes what the page needs, in several processes; printing then finds it."""
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        running = [pool.submit(gathered, make, study, published, own) for make, own in parts(study, options)]
        for part in concurrent.futures.as_completed(running):
            part.result()


def main():
    options = parse()
    study, published = load_yaml(options.study), load_yaml(HERE / "published.yaml")
    if options.jobs > 1 and not options.only_kept:
        simulate_side_by_side(study, published, options)
    found = {make: gathered(make, study, published, options) for make in dict.fromkeys(section.make for section in SECTIONS)}
    made = [(section, found[section.make]) for section in SECTIONS]
    options.output.write_text(page(study, made, published))
    options.html.parent.mkdir(parents=True, exist_ok=True)
    options.html.write_text(html(study, made, published))
    print(options.output, options.html)


if __name__ == "__main__":
    main()
