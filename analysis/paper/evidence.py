"""Makes the evidence table (docs/evidence.md): ./fm evidence [--networks A,B] [--configs A,B] [--policies A,B]

Finished points are kept under out/paper by the digest of all they depend on; an interrupted study
goes on where it was. --only-kept measures nothing and prints what is there. Which networks, devices
and policies: evidence.yaml.
"""

import pathlib

from command_line import ROOT
from evidence_page import page
from points import load_yaml
from study_points import collect, parser

HERE = pathlib.Path(__file__).parent


def main():
    options = parser(__doc__.splitlines()[0], HERE / "evidence.yaml", ROOT / "docs/evidence.md").parse_args()
    study = load_yaml(options.study)
    points, missing = collect(study, options)
    options.output.write_text(page(study, points, missing, load_yaml(HERE / "published.yaml")))
    print(options.output)


if __name__ == "__main__":
    main()
