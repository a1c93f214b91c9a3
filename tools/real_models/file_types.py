"""Files of Debian whose types are told from 1024 bytes of each end."""

import pathlib

import numpy as np

FILES = [pathlib.Path(name) for name in (
    "/usr/share/sounds/alsa/Front_Left.wav", "/usr/share/doc/speex/manual.pdf.gz", "/usr/bin/pdftotext",
    "/usr/bin/ldd", "/usr/include/stdio.h", "/usr/lib/python3.11/wave.py")]
END, BLOCK = 1024, 4096
PADDING = 256  # no byte


def features(content):
    """Both ends of a file without white space around it, filled up to 1024 numbers each."""
    first, last = list(content[:BLOCK].lstrip()[:END]), list(content[-BLOCK:].rstrip()[-END:])
    return first + [PADDING] * (END - len(first)) + [PADDING] * (END - len(last)) + last


def encoded():
    return np.array([features(path.read_bytes()) for path in FILES], np.int32)
