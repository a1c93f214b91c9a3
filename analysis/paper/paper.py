"""The paper's evaluation on simulated phones, beside its numbers (docs/paper.md): ./fm paper [--networks A,B]

Finished points are kept under out/paper by the digest of all they depend on; an interrupted study goes on where it
was. --only-kept measures nothing and prints what is there. Which networks, phones and policies: paper.yaml.
"""

import pathlib

from command_line import ROOT
from paper_page import page
from points import load_yaml
from study_points import collect, parser

HERE = pathlib.Path(__file__).parent


def main():
    options = parser(__doc__.splitlines()[0], HERE / "paper.yaml", ROOT / "docs/paper.md").parse_args()
    study = load_yaml(options.study)
    points, missing = collect(study, options)
    options.output.write_text(page(study, points, missing, load_yaml(HERE / "published.yaml")))
    print(options.output)


if __name__ == "__main__":
    main()
