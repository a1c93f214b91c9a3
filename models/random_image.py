"""Random pictures as network inputs: colour fields, lines of printed letters, noise."""

import numpy as np

# Letters as rows of 5 bits, top to bottom, the leftmost column in the highest bit.
LETTERS = {
    "A": (14, 17, 17, 31, 17, 17, 17),
    "B": (30, 17, 17, 30, 17, 17, 30),
    "E": (31, 16, 16, 30, 16, 16, 31),
    "H": (17, 17, 17, 31, 17, 17, 17),
    "L": (16, 16, 16, 16, 16, 16, 31),
    "N": (17, 25, 21, 19, 17, 17, 17),
    "O": (14, 17, 17, 17, 17, 17, 14),
    "R": (30, 17, 17, 30, 20, 18, 17),
    "S": (15, 16, 16, 14, 1, 1, 30),
    "T": (31, 4, 4, 4, 4, 4, 4),
    "X": (17, 10, 4, 4, 4, 10, 17),
    "2": (14, 17, 1, 2, 4, 8, 31),
}


def text_line(generator, count, scale):
    """A mask [7 * scale, 6 * count * scale] of `count` random letters, True where there is ink."""
    columns = []
    for letter in generator.choice(sorted(LETTERS), count):
        bits = [[row >> bit & 1 for bit in (4, 3, 2, 1, 0)] for row in LETTERS[letter]]
        columns += [np.array(bits, dtype=bool), np.zeros((7, 1), dtype=bool)]
    return np.kron(np.hstack(columns), np.ones((scale, scale), dtype=bool))


def colour_fields(generator, dims):
    batch, channels, height, width = dims
    rows = np.arange(height) * 8 // height
    columns = np.arange(width) * 8 // width
    fields = generator.uniform(-1, 1, (batch, channels, 8, 8))
    return fields[:, :, rows][:, :, :, columns]


def print_line(generator, image):
    """Prints one line of letters on a paper-coloured strip into `image`, in place."""
    height, width = image.shape[2:]
    scale = int(generator.integers(2, max(3, min(height, width) // 48 + 1)))
    margin = 2 * scale
    count = (width * 3 // 4 - 2 * margin) // (6 * scale)
    if count < 1 or height < 7 * scale + 2 * margin:
        return
    ink = np.pad(text_line(generator, count, scale), margin)
    top = int(generator.integers(0, height - ink.shape[0] + 1))
    left = int(generator.integers(0, width - ink.shape[1] + 1))
    strip = np.where(ink, generator.uniform(-2, -1), generator.uniform(1, 2))
    image[:, :, top : top + ink.shape[0], left : left + ink.shape[1]] = strip


def draw_image(generator, dims):
    """Returns a random float32 picture [N, C, H, W], normalised as photos are (about -2 to 2)."""
    image = colour_fields(generator, dims)
    for _ in range(max(1, dims[2] // 96)):
        print_line(generator, image)
    return (image + 0.1 * generator.standard_normal(dims)).astype(np.float32)
