#!/usr/bin/env python3
"""Makes one self-contained HTML page of a result.json of fmexec or fmsim, or of several beside each other."""

import argparse
import os
import sys
import tempfile

from result_file import ResultError, read_result

VERSION = "0.1.0"
EXAMPLE = """example:
  fmsim --config mali-g715 --trace vit.trace --json -o vit.json
  fmreport.py vit.json -o vit.html
  fmreport.py vit.json vit-large-l2.json -o l2.html
"""


def write_atomically(path, content):
    """Writes beside `path` and renames, so that an interrupted run leaves no half file; devices and pipes
    are written in place."""
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
        return
    folder = os.path.dirname(path) or "."
    descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=os.path.basename(path) + ".")
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(content)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def page_of_all(paths, results, generator):
    # plotly takes long to import: wrong input is told first.
    if len(results) == 1:
        from page import page_of
        return page_of(results[0], generator)
    from comparison import labels_of
    from comparison_page import comparison_page_of
    return comparison_page_of(labels_of(paths), results, generator)


def main():
    parser = argparse.ArgumentParser(
        prog="fmreport.py", description=__doc__, epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", metavar="RESULT.json", nargs="+",
                        help="written by fmsim or fmexec --json; several are compared with the first")
    parser.add_argument("-o", "--output", required=True, metavar="PAGE.html",
                        help="the page to write; - is standard output")
    parser.add_argument("--version", action="version", version=f"fmreport {VERSION}")
    arguments = parser.parse_args()
    try:
        results = [read_result(path) for path in arguments.results]
    except ResultError as error:
        print(f"fmreport: error: {error}", file=sys.stderr)
        return 2
    page = page_of_all(arguments.results, results, f"fmreport {VERSION}")
    if arguments.output == "-":
        sys.stdout.buffer.write(page.encode())
        return 0
    try:
        write_atomically(arguments.output, page)
    except OSError as error:
        print(f"fmreport: error: {arguments.output}: {error.strerror}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
