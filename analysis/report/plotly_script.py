"""plotly's script as a page carries it: the same, in the form that browsers read fastest."""

import re

from plotly.offline import get_plotlyjs

# All of it is one function that runs at once. In parentheses browsers parse it when they come to it; without, they skip
# over it first and then parse it after all (https://v8.dev/blog/preparser#pife).
WHOLE = re.compile(r"(: this, )(\(\) => \{.*\n\})(\)\);\s*)", re.S)


def in_ascii(script):
    """A browser keeps ASCII in half the memory, and reads it faster. What is not stands in texts and patterns."""
    def escaped(letter):
        units = letter[0].encode("utf-16-be")
        return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))

    return re.sub(r"[^\x00-\x7f]", escaped, script)


def plotly_script():
    return WHOLE.sub(lambda found: f"{found[1]}({found[2]}){found[3]}", in_ascii(get_plotlyjs()))
