#!/usr/bin/env python3
"""Seconds that pages take to open in headless Chromium, until their pictures in sight are drawn: as the first page of a
new profile, and again in the same browser; an empty page beside them."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from chromium import CHROMIUM, Chromium

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "bench"), str(ROOT / "tests/analysis")]
from markdown_page import table, write_marked  # noqa: E402
from report_case import fmreport  # noqa: E402
from sample_result import sample_result  # noqa: E402

DOCUMENT = ROOT / "docs/report.md"
LAUNCHES = (36, 2000)  # of the made-up results whose reports docs/report.md tells of
# It says that all is drawn, as report.js does.
EMPTY = '<!DOCTYPE html><html lang="en" data-drawn="0"><title>empty</title></html>'
HEAD = ("page", "size", "first, new profile", "slowest of them", "again")


def made_up_reports(folder):
    """{name: page} of results as the tests have them."""
    pages = {}
    for count in LAUNCHES:
        result = folder / f"{count}.json"
        result.write_text(json.dumps(sample_result(count)))
        pages[f"report of {count:,} launches"] = result.with_suffix(".html")
        fmreport(result, "-o", result.with_suffix(".html"))
    return pages


def opened(page):
    """Seconds of the first opening in a new profile, and of the next in the same browser. Nothing watches the page:
    with developer tools attached V8 looks up where each error that plotly catches came from."""
    with Chromium(watched=False) as browser:
        return browser.open(page), browser.open(page)


def rows(pages, times):
    for name, page in pages.items():
        first, again = zip(*(opened(page) for _ in range(times)))
        yield (name, f"{page.stat().st_size / 1e6:.2f} MB", f"{statistics.median(first):.2f} s", f"{max(first):.2f} s",
               f"{statistics.median(again):.2f} s")


def described(times):
    version = subprocess.run([CHROMIUM, "--version"], capture_output=True, text=True, check=True).stdout.split()
    return (f"Medians of {times} on {len(os.sched_getaffinity(0))} cores, {' '.join(version[:2])}, load "
            f"{os.getloadavg()[0]:.1f} when it began:")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=5, metavar="N", help="new profiles, each page (default %(default)s)")
    parser.add_argument("--write", action="store_true", help="of made-up results, into docs/report.md")
    parser.add_argument("pages", nargs="*", type=pathlib.Path, metavar="PAGE.html")
    options = parser.parse_args()
    if not CHROMIUM:
        parser.error("no chromium: apt-get install chromium")
    if options.write == bool(options.pages):
        parser.error("give either pages, or --write")
    with tempfile.TemporaryDirectory() as folder:
        empty = pathlib.Path(folder) / "empty.html"
        empty.write_text(EMPTY)
        pages = made_up_reports(pathlib.Path(folder)) if options.write else {str(page): page for page in options.pages}
        text = "\n".join([described(options.times), "",
                          *table(HEAD, rows({**pages, "an empty page": empty}, options.times))])
    print(text)
    if options.write:
        DOCUMENT.write_text(write_marked(DOCUMENT.read_text(), "opening", text))


if __name__ == "__main__":
    main()
