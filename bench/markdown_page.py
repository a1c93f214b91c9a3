"""Tables of pages that scripts write."""

import re


def table(head, rows):
    """The lines of a table, from cells."""
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def write_marked(page, mark, text):
    """The page with `text` between <!-- mark --> and the next <!-- end -->."""
    marked = re.compile(rf"(<!-- {mark} -->\n).*?(<!-- end -->)", re.S)
    return marked.sub(lambda match: match[1] + text + "\n" + match[2], page)
