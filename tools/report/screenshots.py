#!/usr/bin/env python3
"""Takes the pictures of a report that docs/ shows: docs/report-light.png and docs/report-dark.png."""

import argparse
import io
import pathlib

from chromium import CHROMIUM, Chromium
from PIL import Image

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
COLOURS = 128  # a palette: a third of the size
WINDOWS = {"light": "card-integrated", "dark": "roofline"}  # and what stands at the top of each
WHOLE = """new Promise(done => { const look = () => document.documentElement.dataset.complete
    ? setTimeout(() => done(true), 500) : setTimeout(look, 20); look(); })"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", help="a report, as fmreport.py writes it")
    page = parser.parse_args().page
    if not CHROMIUM:
        parser.error("no chromium: apt-get install chromium")
    with Chromium() as browser:
        browser.size(1240, 1500)
        for scheme, top in WINDOWS.items():
            browser.show_as(scheme)
            browser.open(page)
            browser.evaluate(WHOLE)
            browser.evaluate(f"""(document.getElementById("{top}").closest("section") ?? document.documentElement)
                .scrollIntoView()""")
            browser.evaluate(WHOLE)
            picture = Image.open(io.BytesIO(browser.screenshot())).convert("RGB").quantize(COLOURS)
            path = DOCS / f"report-{scheme}.png"
            picture.save(path, optimize=True)
            print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
