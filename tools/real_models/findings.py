"""What a user of a model would read from its outputs, and when two readings are the same."""

import dataclasses

import numpy as np

STRIDES = (8, 16, 32, 64)  # of PicoDet's four maps
BOX_SLACK = 2  # pixels


@dataclasses.dataclass(frozen=True)
class Finding:
    """A text, and for what was found in an image its box: left, top, right, bottom."""

    text: str
    box: tuple = ()


def _alike(a, b):
    return a.text == b.text and len(a.box) == len(b.box) and all(
        abs(x - y) <= BOX_SLACK for x, y in zip(a.box, b.box))


def same(found, expected):
    """Whether each finding has its counterpart: the same text, the box equal to within two pixels. Texts without boxes
    stand in an order."""
    if not any(finding.box for finding in expected):
        return found == expected
    left = list(found)
    for wanted in expected:
        match = next((finding for finding in left if _alike(finding, wanted)), None)
        if match is None:
            return False
        left.remove(match)
    return not left


def summary(findings):
    """The texts in short; equal ones counted."""
    counted = {}
    for finding in findings:
        counted[finding.text] = counted.get(finding.text, 0) + 1
    return ", ".join(f"{count} {text}" if count > 1 else text for text, count in counted.items())


def best_labels(scores, labels):
    """The label of each row's largest score."""
    return [Finding(labels[index]) for index in scores.argmax(axis=-1)]


def transcripts(scores, characters):
    """Texts of [lines, steps, symbols]: repeated symbols are one, symbol 0 is none (CTC)."""
    found = []
    for steps in scores.argmax(axis=-1):
        kept = [step for position, step in enumerate(steps) if step and (position == 0 or step != steps[position - 1])]
        found.append(Finding("".join(characters[step - 1] for step in kept)))
    return found


def regions(mask):
    """Boxes of the connected regions (by sides) of a mask, top down."""
    rows, columns = np.nonzero(mask)
    pending, found = set(zip(rows.tolist(), columns.tolist())), []
    while pending:
        stack, cells = [pending.pop()], []
        while stack:
            row, column = stack.pop()
            cells.append((row, column))
            for near in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
                if near in pending:
                    pending.remove(near)
                    stack.append(near)
        (top, left), (bottom, right) = np.min(cells, axis=0), np.max(cells, axis=0)
        found.append((int(left), int(top), int(right) + 1, int(bottom) + 1))
    return sorted(found, key=lambda box: (box[1], box[0]))


def text_boxes(probability, threshold=0.3, smallest=3):
    """The areas of text in a probability map [1, 1, height, width] (DB)."""
    return [Finding("text area", box) for box in regions(probability[0, 0] > threshold)
            if min(box[2] - box[0], box[3] - box[1]) >= smallest]


def overlap(box, others):
    """Intersection over union of a box with others [n, 4]."""
    sides = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    common = np.prod(np.clip(sides, 0, None), axis=1)
    return common / (np.prod(box[2:] - box[:2]) + np.prod(others[:, 2:] - others[:, :2], axis=1) - common)


def strongest(boxes, scores, most_overlap=0.5):
    """Indices of the boxes that no stronger box covers, strongest first."""
    order, kept = np.argsort(-scores, kind="stable"), []
    while order.size:
        kept.append(int(order[0]))
        order = order[1:][overlap(boxes[order[0]], boxes[order[1:]]) <= most_overlap]
    return kept


def pico_det_boxes(maps, sides, width):
    """Boxes of PicoDet: each side's distance is the mean of a distribution over `bins` steps of the map's stride."""
    found = []
    for stride, side in zip(STRIDES, sides):
        cells = np.arange(side.shape[1])
        across = -(-width // stride)
        centre = np.stack([cells % across, cells // across], axis=1) * stride + stride / 2
        bins = side.shape[-1] // 4
        power = np.exp(side[0].reshape(-1, 4, bins).astype(np.float64))
        distance = (power / power.sum(axis=-1, keepdims=True)) @ np.arange(bins) * stride
        found.append(np.concatenate([centre - distance[:, :2], centre + distance[:, 2:]], axis=1))
    return np.concatenate(found), np.concatenate([scores[0] for scores in maps])


def layout(maps, sides, labels, width, threshold=0.4):
    """Labelled parts of a page, top down."""
    boxes, scores = pico_det_boxes(maps, sides, width)
    found = []
    for label, column in zip(labels, scores.T):
        chosen = column > threshold
        for index in strongest(boxes[chosen], column[chosen]):
            found.append(Finding(label, tuple(float(side) for side in boxes[chosen][index])))
    return sorted(found, key=lambda finding: (round(finding.box[1] / 16), finding.box[0]))


def likeness(vectors):
    """The cosine of the angle between each two rows."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit @ unit.T


def pairs_by_likeness(vectors):
    """Pairs of rows, counted from 1, from the most alike to the least."""
    alike = likeness(vectors)
    pairs = [(float(alike[i, j]), f"{j + 1}~{i + 1}") for i in range(len(alike)) for j in range(i)]
    return [pair for _, pair in sorted(pairs, reverse=True)]


def nearest(vectors, names):
    """For each row the name of the other one that is most alike."""
    alike = likeness(vectors) - 3 * np.eye(len(vectors))
    return [Finding(f"{name}: {names[index]}") for name, index in zip(names, alike.argmax(axis=1))]


def loud_frames(levels, above):
    """Runs of frames louder than the mean, as boxes from the first to the one after the last."""
    loud = np.concatenate([[False], levels > levels.mean() + above, [False]])
    edges = np.flatnonzero(loud[1:] != loud[:-1])
    return [Finding("sound", (int(first), 0, int(end), 1)) for first, end in zip(edges[::2], edges[1::2])]
