"""plotly's script as pages carry it."""

import re
import unittest

from report_case import ROOT  # noqa: F401 first: it finds the report's modules
from plotly.offline import get_plotlyjs
from plotly_script import in_ascii, plotly_script


class PlotlyScript(unittest.TestCase):
    def test_letters_beyond_ascii_are_escaped_as_javascript_does(self):
        self.assertEqual(in_ascii("/[µ月]/; '😀'"), r"/[\u00b5\u6708]/; '\ud83d\ude00'")
        self.assertEqual(in_ascii(r"'\n' + \u00b5"), r"'\n' + \u00b5")

    def test_it_is_plotlys_own_but_for_parentheses_around_its_function(self):
        script = plotly_script()
        self.assertTrue(script.isascii())
        self.assertRegex(script[-40:], r"\n\}\)\)\);\s*$")
        plain = re.sub(r"\}\)\)\);(\s*)$", r"}));\1", script.replace(": this, (() => {", ": this, () => {", 1))
        self.assertEqual(plain, in_ascii(get_plotlyjs()))
        self.assertNotEqual(plain, script)


if __name__ == "__main__":
    unittest.main()
