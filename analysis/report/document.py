"""The frame of a page: one HTML file with everything inside, and the parts that sections are made of."""

import base64
import gzip
import json
import pathlib
import re

from plotly_script import plotly_script
from tables import text

HERE = pathlib.Path(__file__).resolve().parent


def card(name, title, value, shown, notes=()):
    lines = "".join(f"<p>{text(line)}</p>" for line in notes)
    return (f'<div class="card" id="card-{name}" data-value="{text(json.dumps(value))}">'
            f"<h3>{text(title)}</h3><b>{text(shown)}</b>{lines}</div>")


def packed(content):
    """Text that report.js unpacks: a third of plotly's size, a tenth of a figure's."""
    return base64.b64encode(gzip.compress(content.encode(), 6, mtime=0)).decode()


def picture(name, figure, caption):
    """A figure as data; report.js draws it and moves it by keys."""
    if figure is None:
        return ""
    return (f'<figure><div class="plot" id="{name}" style="height:{figure.layout.height}px" tabindex="0" '
            f'role="group" aria-roledescription="chart" aria-label="{text(caption)}. Keys: plus and minus zoom, '
            f'arrows move, 0 shows all."></div>'
            f'<script type="application/gzip" class="figure" data-for="{name}">{packed(figure.to_json())}</script>'
            f"<figcaption>{text(caption)}</figcaption></figure>")


def anchor_of(title):
    """An id for a link to a section: "What bounded each launch" is what-bounded-each-launch."""
    return re.sub("[^a-z]+", "-", title.lower()).strip("-")


def section(title, *contents):
    inside = "\n".join(content for content in contents if content)
    return f'<section id="section-{anchor_of(title)}"><h2>{text(title)}</h2>\n{inside}\n</section>' if inside else ""


def searchable(table_name, what, content):
    """A table with a box above it that hides the rows without the words in it."""
    return (f'<p class="search"><label>Search {text(what)} <input type="search" data-filters="{table_name}">'
            f'</label> <output aria-live="polite"></output></p>{content}')


def pair(*contents):
    """What stands side by side where there is room."""
    inside = "".join(content for content in contents if content)
    return f'<div class="pair">{inside}</div>' if inside else ""


def _contents(body):
    links = re.findall(r'<section id="(section-[a-z-]+)"><h2>([^<]*)</h2>', body)
    return "".join(f'<a href="#{anchor}">{title}</a>' for anchor, title in links)


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
<nav aria-label="Sections">{_contents(body)}</nav>
<main>
{body}
</main>
<footer>{text(generator)}</footer>
<script type="application/gzip" id="plotly">{packed(plotly_script())}</script>
<script>
{(HERE / "report.js").read_text(encoding="utf-8")}</script>
</body>
</html>
"""
