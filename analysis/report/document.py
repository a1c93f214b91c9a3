"""The frame of a page: one HTML file with everything inside, and the parts that sections are made of."""

import base64
import gzip
import json
import pathlib

from plotly.offline import get_plotlyjs
from tables import text

HERE = pathlib.Path(__file__).resolve().parent


def card(name, title, value, shown, notes=()):
    lines = "".join(f"<p>{text(line)}</p>" for line in notes)
    return (f'<div class="card" id="card-{name}" data-value="{text(json.dumps(value))}">'
            f"<h3>{text(title)}</h3><b>{text(shown)}</b>{lines}</div>")


def picture(name, figure, caption):
    """A figure as data; report.js draws it."""
    if figure is None:
        return ""
    data = figure.to_json().replace("<", "\\u003c")
    return (f'<figure><div class="plot" id="{name}" role="img" aria-label="{text(caption)}"></div>'
            f'<script type="application/json" class="figure" data-for="{name}">{data}</script>'
            f"<figcaption>{text(caption)}</figcaption></figure>")


def section(title, *contents):
    inside = "\n".join(content for content in contents if content)
    return f"<section><h2>{text(title)}</h2>\n{inside}\n</section>" if inside else ""


def pair(*contents):
    """What stands side by side where there is room."""
    inside = "".join(content for content in contents if content)
    return f'<div class="pair">{inside}</div>' if inside else ""


def _packed_plotly():
    """plotly.js as text that report.js unpacks: a third of its size."""
    return base64.b64encode(gzip.compress(get_plotlyjs().encode(), 6, mtime=0)).decode()


def document(title, heading, origin, body, generator):
    """The whole page; nothing in it asks the network for anything, and its policy forbids it."""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="{text(generator)}">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:">
<title>{text(title)}</title>
<style>
{(HERE / "report.css").read_text(encoding="utf-8")}</style>
</head>
<body>
<header><h1>{text(heading)}</h1><p>{text(origin)}</p></header>
<main>
{body}
</main>
<footer>{text(generator)}</footer>
<script type="application/gzip" id="plotly">{_packed_plotly()}</script>
<script>
{(HERE / "report.js").read_text(encoding="utf-8")}</script>
</body>
</html>
"""
