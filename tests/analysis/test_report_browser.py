"""Pages as a browser shows them: headless Chromium (Debian: chromium), light, dark, on paper and by keyboard."""

import json
import pathlib
import re
import sys
import tempfile
import unittest

from report_case import ROOT, Page, WithFolder, fmreport  # first: it finds the report's modules
from sample_result import sample_result

sys.path.insert(0, str(ROOT / "tools/report"))
from chromium import CHROMIUM, Chromium  # noqa: E402

# What the page shows, read from its elements and not from its source.
SHOWN_NUMBERS = """Object.fromEntries([...document.querySelectorAll(".card")].map(
    card => [card.id, [JSON.parse(card.dataset.value), card.querySelector("b").innerText]]))"""
DRAWN_BARS = """document.getElementById("launches").querySelectorAll(".barlayer .point").length"""
COMPLETE = """new Promise(done => {
    const look = () => document.documentElement.dataset.complete ? done(true) : setTimeout(look, 20); look(); })"""
# A page is told with a frame that its medium has changed.
NEXT_FRAME = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
TEXT_CONTRAST = """(() => {
    const parts = (colour) => colour.match(/[0-9.]+/g).slice(0, 3).map(Number).map(
        (part) => part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
    const luminance = ([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b;
    const ground = (element) => { for (; element; element = element.parentElement) {
        const colour = getComputedStyle(element).backgroundColor;
        if (!/, 0\\)$|transparent/.test(colour)) return colour; } return "rgb(255, 255, 255)"; };
    const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    return Math.min(...["h1", "h2", "header p", ".card h3", ".card b", ".card p", "td", "th", "figcaption", "summary",
        "nav a", "footer"].map((which) => { const element = document.querySelector(which);
        return ratio(luminance(parts(getComputedStyle(element).color)), luminance(parts(ground(element)))); })); })()"""


@unittest.skipUnless(CHROMIUM, "no chromium: apt-get install chromium")
class Browser(WithFolder):
    @classmethod
    def setUpClass(cls):
        cls.browser = Chromium()
        cls.addClassCleanup(cls.browser.close)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.result, cls.page = sample_result(), pathlib.Path(folder.name) / "sample.html"
        cls.page.with_suffix(".json").write_text(json.dumps(cls.result))
        fmreport(cls.page.with_suffix(".json"), "-o", cls.page)

    def setUp(self):
        super().setUp()
        self.browser.show_as("light")
        self.browser.size(1280, 900)
        self.addCleanup(lambda: self.assertEqual(self.browser.errors, []))

    def report_of(self, *results):
        paths = [self.write(result, f"run{index}.json") for index, result in enumerate(results)]
        self.assertEqual(fmreport(*paths, "-o", self.folder / "r.html").returncode, 0)
        return self.folder / "r.html"

    def open(self, page):
        """Opens a page and waits for all of its pictures."""
        self.browser.open(page)
        self.assertTrue(self.browser.evaluate(COMPLETE))
        self.assertEqual(self.browser.errors, [])
        # The page itself is the only thing asked for: nothing else, from no network.
        self.assertEqual(self.browser.requests, [page.as_uri()])

    def test_shows_the_numbers_of_the_result(self):
        result = self.result
        self.open(self.page)
        shown = self.browser.evaluate(SHOWN_NUMBERS)
        self.assertEqual(shown["card-integrated"][0], result["latency"]["integrated_ns"])
        self.assertEqual(shown["card-memory"], [result["memory"]["peak_bytes"], "84.0 MiB"])
        self.assertEqual(shown["card-energy"], [result["energy"]["total_nj"], "95.4 mJ"])
        self.assertEqual(self.browser.evaluate(DRAWN_BARS), len(result["launches"]))
        self.assertEqual(
            self.browser.evaluate("""[...document.querySelectorAll("#counters tbody tr")].map(
                row => [row.cells[0].textContent, Number(row.cells[1].dataset.value)])"""),
            [[name, counter["value"]] for name, counter in result["counters"].items()])

    def test_comparison_is_drawn(self):
        self.open(self.report_of(sample_result(), sample_result(30)))
        self.assertEqual(self.browser.evaluate(
            """[...document.querySelectorAll("#memory .scatterlayer .trace")].length"""), 2)

    def test_light_and_dark_are_readable(self):
        self.open(self.page)
        grounds = []
        for scheme in ("light", "dark"):
            self.browser.show_as(scheme)
            self.assertGreaterEqual(self.browser.evaluate(TEXT_CONTRAST), 4.5, scheme)
            grounds.append(self.browser.evaluate("""getComputedStyle(document.body).backgroundColor"""))
            # Letters of the pictures change with the page.
            self.browser.evaluate(NEXT_FRAME)
            label = self.browser.evaluate("""getComputedStyle(document.querySelector("#memory .xtitle")).fill""")
            self.assertEqual(label, "rgb(28, 39, 51)" if scheme == "light" else "rgb(230, 235, 240)")
        self.assertNotEqual(*grounds)

    def test_search_leaves_the_rows_with_all_words(self):
        self.open(self.page)
        self.browser.evaluate("""document.querySelector("[data-filters=counters]").focus()""")
        self.browser.type("l2 HITS")
        rows = """[...document.querySelectorAll("#counters tbody tr")].filter(row => row.checkVisibility()).map(
            row => row.cells[0].textContent)"""
        self.assertEqual(self.browser.evaluate(rows), ["l2.read_hits"])
        self.assertRegex(self.browser.evaluate(
            """document.querySelector("[data-filters=counters]").closest("p").innerText"""), r"1 of \d+$")
        self.browser.evaluate("""document.querySelector("[data-filters=counters]").select()""")
        self.browser.press("Backspace", key_code=8)
        self.assertGreater(len(self.browser.evaluate(rows)), 10)

    def test_everything_is_reached_by_the_keyboard(self):
        self.open(self.page)
        reached = []
        for _ in range(200):
            self.browser.press("Tab", key_code=9)
            reached.append(self.browser.evaluate("""(() => { const here = document.activeElement;
                return here === document.body ? null
                    : here.id || here.dataset.filters || here.hash || here.textContent; })()"""))
            if reached[-1] is None:
                break
        self.assertIsNone(reached[-1], "the page holds the keyboard")
        for wanted in ("#section-timeline", "memory", "launches", "timeline", "counters", "config", "launch-table",
                       "All 36 launches"):
            self.assertIn(wanted, reached)

    def test_keys_zoom_and_move_a_picture(self):
        self.open(self.page)
        self.browser.evaluate("""document.getElementById("timeline").focus()""")
        shown = """document.getElementById("timeline").layout.xaxis.range"""
        left, right = self.browser.evaluate(shown)
        self.browser.press("+", text="+")
        zoomed = self.browser.evaluate(shown)
        self.assertAlmostEqual(zoomed[1] - zoomed[0], (right - left) / 2)
        self.browser.press("ArrowRight", key_code=39)
        self.assertGreater(self.browser.evaluate(shown)[0], zoomed[0])
        self.browser.press("0", text="0")
        self.assertEqual(self.browser.evaluate(shown), [left, right])

    def test_prints_every_picture_on_white(self):
        self.open(self.page)
        self.browser.show_as("dark")
        pages = self.browser.pdf()
        self.assertTrue(pages.startswith(b"%PDF"))
        self.assertGreater(len(re.findall(rb"/Type /Page\b", pages)), 1)
        self.browser.show_as("dark", "print")
        self.assertEqual(self.browser.evaluate("""getComputedStyle(document.body).backgroundColor"""),
                         "rgb(255, 255, 255)")
        self.assertEqual(self.browser.evaluate("""getComputedStyle(document.querySelector("nav")).display"""), "none")

    def test_what_is_not_drawn_yet_is_drawn_before_printing(self):
        self.browser.open(self.page)
        self.assertTrue(self.browser.evaluate("""(() => { window.dispatchEvent(new Event("beforeprint"));
            return [...document.querySelectorAll(".plot")].every(plot => plot.querySelector(".main-svg")); })()"""))
        self.browser.evaluate("""window.dispatchEvent(new Event("afterprint"))""")

    def test_narrow_windows_do_not_scroll_sideways(self):
        self.browser.size(400, 800)
        self.open(self.page)
        self.assertLessEqual(self.browser.evaluate("document.documentElement.scrollWidth"), 400)

    def test_two_thousand_launches(self):
        page = self.report_of(sample_result(2000))
        self.assertLessEqual(page.stat().st_size, 5_000_000)
        self.open(page)
        shown = Page(page.read_text())
        self.assertEqual(len(shown.rows("launch-table")), 2000)
        self.assertEqual(self.browser.evaluate(DRAWN_BARS), 2000)


if __name__ == "__main__":
    unittest.main()
