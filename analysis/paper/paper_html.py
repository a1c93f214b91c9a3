"""The paper page as one self-contained HTML file, each section with its pictures."""

import pathlib
import re
import sys

import markdown
from paper_page import closing, opening

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "report"))

from document import document, picture, section  # noqa: E402

LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")  # of the page to its neighbours; this file may lie anywhere


def as_html(text):
    return markdown.markdown(LINK.sub(r"\1", text), extensions=["tables"]).replace("<table>", '<div class="scroll"><table>').replace(
        "</table>", "</table></div>")


def headed(text, pictures=()):
    """A section of the page, from Markdown that begins with its heading."""
    heading, _, body = text.strip().partition("\n")
    return section(heading.lstrip("# "), as_html(body), *(picture(*each) for each in pictures))


def html(study, made, published):
    """`made`: [(Section, Gathered)], in the order of the page."""
    title, _, introduction = opening(study, published).partition("\n")
    parts = [section("What this is", as_html(introduction))]
    parts += [headed("\n".join(part.lines(gathered.found, study, published)), part.pictures(gathered.found, study, published))
              for part, gathered in made]
    parts += [headed("## " + text) for text in closing(study, made, published).strip().removeprefix("## ").split("\n## ")]
    return document(title.lstrip("# "), title.lstrip("# "), published["source"], "\n".join(parts), "./fm paper")
