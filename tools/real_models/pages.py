"""Pages of a document of Debian as images: Speex's manual (speex-doc), drawn by pdftoppm."""

import dataclasses
import gzip
import pathlib
import re
import subprocess

import numpy as np

MANUAL = pathlib.Path("/usr/share/doc/speex/manual.pdf.gz")
PAGE = 32  # two headings, paragraphs, a table with its caption, a formula
POINTS_PER_INCH = 72
IMAGE_NET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
CENTRED = ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))


@dataclasses.dataclass(frozen=True)
class Line:
    """A line of text of the page, in points from its upper left corner."""

    text: str
    left: float
    top: float
    right: float
    bottom: float


def read_ppm(data):
    """The image [height, width, 3] of a binary PPM file."""
    header = re.match(rb"P6\s+(\d+)\s+(\d+)\s+255\s", data)
    if header is None:
        raise ValueError("no binary PPM of 8 bits")
    width, height = int(header[1]), int(header[2])
    return np.frombuffer(data, np.uint8, width * height * 3, header.end()).reshape(height, width, 3)


def _poppler(tool, *options):
    words = [tool, "-f", str(PAGE), "-l", str(PAGE), *map(str, options)]
    return subprocess.run(words, input=gzip.decompress(MANUAL.read_bytes()), capture_output=True, check=True).stdout


def page_image(height, width):
    return read_ppm(_poppler("pdftoppm", "-scale-to-x", width, "-scale-to-y", height, "-"))


def page_lines():
    """The lines of the page as the document itself says them."""
    html = _poppler("pdftotext", "-bbox-layout", "-", "-").decode()
    found = []
    for line in re.finditer(r'<line xMin="(.*?)" yMin="(.*?)" xMax="(.*?)" yMax="(.*?)">(.*?)</line>', html, re.S):
        words = re.findall(r"<word .*?>(.*?)</word>", line[5])
        found.append(Line(" ".join(words), *(float(line[group]) for group in (1, 2, 3, 4))))
    return found


def line_image(line, height, width):
    """A line of text, `height` pixels high, on a white ground of `width` pixels."""
    margin = 1.5
    resolution = POINTS_PER_INCH * height / (line.bottom - line.top + 2 * margin)
    scale = resolution / POINTS_PER_INCH
    drawn = min(width, round((line.right - line.left + 2 * margin) * scale))
    data = _poppler("pdftoppm", "-r", resolution, "-x", round((line.left - margin) * scale), "-y",
                    round((line.top - margin) * scale), "-W", drawn, "-H", height, "-")
    image = np.full((height, width, 3), 255, np.uint8)
    image[:, :drawn] = read_ppm(data)
    return image


def normalized(images, statistics):
    """Images [n, height, width, 3] as a network wants them: [n, 3, height, width], centred and scaled."""
    mean, deviation = (np.float32(values) for values in statistics)
    scaled = (np.stack(images).astype(np.float32) / 255 - mean) / deviation
    return np.ascontiguousarray(scaled.transpose(0, 3, 1, 2))
