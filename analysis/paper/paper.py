"""The paper's evaluation on simulated phones, beside its numbers (docs/paper.md; --html FILE: the same with pictures,
by default out/paper/paper.html): ./fm paper [--networks A,B]

Finished points are kept under out/paper by the digest of all they depend on; an interrupted study goes on where it
was. --only-kept measures nothing and prints what is there. Which networks, phones and policies: paper.yaml.
"""

import pathlib

from command_line import ROOT
from paper_html import html
from paper_page import page
from points import load_yaml
from study_points import collect, parser

HERE = pathlib.Path(__file__).parent


def main():
    arguments = parser("The paper's evaluation on simulated phones, beside its numbers", HERE / "paper.yaml",
                       ROOT / "docs/paper.md")
    arguments.add_argument("--html", type=pathlib.Path, default=ROOT / "out/paper/paper.html",
                           help="the page with pictures (default %(default)s)")
    options = arguments.parse_args()
    study = load_yaml(options.study)
    points, missing = collect(study, options)
    published = load_yaml(HERE / "published.yaml")
    text = page(study, points, missing, published)
    options.output.write_text(text)
    options.html.parent.mkdir(parents=True, exist_ok=True)
    options.html.write_text(html(study, points, published, text))
    print(options.output, options.html)


if __name__ == "__main__":
    main()
