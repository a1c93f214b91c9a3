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
from sections import (breakdown, disk_speed, figure2, operating_points, pareto, published_tables, queues, table1, table6, taken_constants,
                      warm_runs)
from study_points import parser, selected

HERE = pathlib.Path(__file__).parent
SECTIONS = [module.SECTION for module in (table6, table1, published_tables, figure2, queues, breakdown, warm_runs, disk_speed, pareto,
                                          operating_points, taken_constants)]


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


def gathered(section, study, published, options):
    """What the section found; simulated now where the command line asks for it."""
    wanted = not options.sections or section.name in options.sections.split(",")
    begin = time.perf_counter()
    made = section.make(Work(study, published, options, options.only_kept or not wanted))
    print(f"{section.name}: {time.perf_counter() - begin:.0f} s", file=sys.stderr, flush=True)
    return made


# ---- side by side
def parts(study, options):
    """(section's place, options) of what can be simulated by itself: published tables network by network, other sections whole."""
    for place, section in enumerate(SECTIONS):
        if section is not published_tables.SECTION:
            yield place, options
            continue
        for network in selected(study["networks"], options.networks, lambda network: network["name"]):
            yield place, argparse.Namespace(**{**vars(options), "networks": network["name"]})


def simulate(part, study, published):
    place, options = part
    gathered(SECTIONS[place], study, published, options)


def simulate_side_by_side(study, published, options):
    """Finishes what the page needs, in several processes; printing then finds it."""
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        running = [pool.submit(simulate, part, study, published) for part in parts(study, options)]
        for part in concurrent.futures.as_completed(running):
            part.result()


def main():
    options = parse()
    study, published = load_yaml(options.study), load_yaml(HERE / "published.yaml")
    if options.jobs > 1 and not options.only_kept:
        simulate_side_by_side(study, published, options)
    made = [(section, gathered(section, study, published, options)) for section in SECTIONS]
    text = page(study, made, published)
    options.output.write_text(text)
    options.html.parent.mkdir(parents=True, exist_ok=True)
    options.html.write_text(html(study, made, published, text))
    print(options.output, options.html)


if __name__ == "__main__":
    main()
