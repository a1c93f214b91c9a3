"""The paper page as one self-contained HTML file, with the sections' pictures."""

import pathlib
import re
import sys

import markdown

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "report"))

from document import document, picture, section  # noqa: E402

LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")  # of the page to its neighbours; this file may lie anywhere


def html(study, made, published, page):
    """`made`: [(Section, Gathered)]; `page`: the Markdown of the same."""
    title, _, text = page.partition("\n")
    pictures = section("Pictures", *(picture(*each) for part, gathered in made
                                     for each in part.pictures(gathered.found, study, published)))
    tables = markdown.markdown(LINK.sub(r"\1", text), extensions=["tables"]).replace("<table>", '<div class="scroll"><table>').replace(
        "</table>", "</table></div>")
    return document(title.lstrip("# "), title.lstrip("# "), published["source"], pictures + section("Tables", tables), "./fm paper")
