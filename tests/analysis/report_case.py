"""Runs fmreport and reads its pages back."""

import base64
import concurrent.futures
import gzip
import html.parser
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "analysis/report"))


def read_pipe(path, write):
    """What write() put into a pipe of this path, which must still be one afterwards."""
    os.mkfifo(path)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        content = pool.submit(path.read_bytes)
        write()
        assert path.is_fifo(), f"{path} was replaced"
        return content.result(timeout=60)


def fmreport(*arguments):
    command = [sys.executable, str(ROOT / "analysis/report/fmreport.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


class Page(html.parser.HTMLParser):
    """Tables by id (rows of (text, exact number or None)), cards, figures and all attributes."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.cards, self.figures, self.links = {}, {}, {}, []
        self.styles, self.policy, self.words = "", "", ""
        self._table = self._figure = self._within = None
        self._in_cell = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self._within = tag
        self.links += [(tag, n, v) for n, v in attributes.items()
                       if n in ("src", "href", "srcset", "action", "data", "poster")]
        if tag == "table":
            self._table = self.tables.setdefault(attributes["id"], [])
        elif tag == "tr" and self._table is not None:
            self._table.append([])
        elif tag in ("td", "th"):
            self._in_cell = True
            exact = attributes.get("data-value")
            self._table[-1].append(["", None if exact is None else json.loads(exact)])
        elif tag == "div" and attributes.get("id", "").startswith("card-"):
            self.cards[attributes["id"]] = json.loads(attributes["data-value"])
        elif tag == "script":
            self._figure = attributes.get("data-for")
        elif tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]

    def handle_endtag(self, tag):
        if tag == "table":
            self._table = None
        elif tag in ("td", "th"):
            self._in_cell = False
        self._within = None

    def handle_data(self, data):
        if self._within == "script":
            if self._figure:
                self.figures[self._figure] = json.loads(gzip.decompress(base64.b64decode(data)))
        elif self._within == "style":
            self.styles += data
        else:
            self.words += data
            if self._in_cell:
                self._table[-1][-1][0] += data

    def rows(self, table):
        return self.tables[table][1:]


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, result, name="r.json"):
        path = self.folder / name
        path.write_text(result if isinstance(result, str) else json.dumps(result))
        return path

    def page(self, result):
        done = fmreport(self.write(result), "-o", self.folder / "r.html")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        return (self.folder / "r.html").read_text()
