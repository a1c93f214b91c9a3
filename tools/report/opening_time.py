"""Seconds that pages take to open in headless Chromium, until the pictures in sight are drawn:
.venv/bin/python tools/report/opening_time.py [--times N] PAGE.html [...]"""

import argparse
import pathlib
import statistics

from chromium import Chromium


def main():
    parser = argparse.ArgumentParser(description="How long pages take to open in headless Chromium")
    parser.add_argument("--times", type=int, default=5, help="openings of each, in one browser (default %(default)s)")
    parser.add_argument("pages", nargs="+", type=pathlib.Path, metavar="PAGE.html")
    options = parser.parse_args()
    for page in options.pages:
        with Chromium() as browser:
            seconds = [browser.open(page.resolve()) for _ in range(options.times)]
        print(f"{page}: {page.stat().st_size / 1e6:.2f} MB; first {seconds[0]:.2f} s, median of all {statistics.median(seconds):.2f} s")


if __name__ == "__main__":
    main()
