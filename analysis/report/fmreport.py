#!/usr/bin/env python3
"""Makes one self-contained HTML page of a result.json of fmexec or fmsim, or of several beside each other."""

import argparse
import sys

from comparison import labels_of
from destination import Interrupted, WriteError, end_by_exception, write_report
from device_rates import measured
from result_file import ResultError, read_result

VERSION = "0.1.0"
EXAMPLE = """example:
  fmsim --config mali-g715 --trace vit.trace --json -o vit.json
  fmreport.py vit.json -o vit.html
  fmreport.py vit.json vit-large-l2.json -o l2.html
  fmreport.py vit.json --format csv -o vit.csv
"""


def size(text):
    """Bytes of "64MiB", as the other tools write sizes."""
    value, unit = measured(text) or (0, None)
    if value <= 0 or unit != "bytes":
        raise argparse.ArgumentTypeError(f"'{text}' is not a size such as 64MiB")
    return int(value)


def html_of(labels, results, budget):
    generator = f"fmreport {VERSION}"
    if len(results) == 1:
        from page import page_of
        return page_of(results[0], generator, budget)
    from comparison_page import comparison_page_of
    return comparison_page_of(labels, results, generator, budget)


def report_of(form, labels, results, budget):
    # plotly, which these import, takes long: wrong input is told first.
    if form == "html":
        return html_of(labels, results, budget)
    from text_formats import csv_of, markdown_of
    return (markdown_of if form == "md" else csv_of)(labels, results)


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="fmreport.py", description=__doc__, epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", metavar="RESULT.json", nargs="+",
                        help="written by fmsim or fmexec --json; several are compared with the first")
    parser.add_argument("-o", "--output", required=True, metavar="FILE",
                        help="the report to write; - is standard output")
    parser.add_argument("--format", choices=("html", "md", "csv"), default="html",
                        help="a page (default), Markdown, or CSV with one row a fact")
    parser.add_argument("--budget", type=size, metavar="SIZE",
                        help="draw a line at this memory, as given to fmplan --budget (e.g. 64MiB)")
    parser.add_argument("--version", action="version", version=f"fmreport {VERSION}")
    return parser.parse_args()


def main():
    end_by_exception()
    try:
        arguments = parse_arguments()
        results = [read_result(path) for path in arguments.results]
        write_report(arguments.output, report_of(arguments.format, labels_of(arguments.results), results,
                                                  arguments.budget))
    except (ResultError, WriteError, Interrupted) as error:
        print(f"fmreport: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
