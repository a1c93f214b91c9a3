"""Sentences as BERT takes them: WordPiece of the lower-cased text."""

import re
import unicodedata

import numpy as np

SENTENCES = [
    "A man is playing a guitar on the stage.",
    "Someone performs music with a stringed instrument.",
    "The planner decides where every weight of the network lives.",
    "Memory placement of neural network parameters is chosen in advance.",
]
LENGTH = 16  # tokens; shorter sentences are filled up


def words(text):
    """Lower-cased words and single punctuation marks, without accents."""
    plain = "".join(c for c in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(c) != "Mn")
    return re.findall(r"\w+|[^\w\s]", plain)


def pieces(word, vocabulary):
    """The longest pieces of the vocabulary that make up a word."""
    found, start = [], 0
    while start < len(word):
        candidates = (("##" if start else "") + word[start:end] for end in range(len(word), start, -1))
        piece = next((candidate for candidate in candidates if candidate in vocabulary), None)
        if piece is None:
            return ["[UNK]"]
        found.append(piece)
        start += len(piece.removeprefix("##")) if start else len(piece)
    return found


def tokens(text, vocabulary):
    inner = [piece for word in words(text) for piece in pieces(word, vocabulary)]
    return [vocabulary[token] for token in ["[CLS]", *inner, "[SEP]"]]


def encoded(sentences, vocabulary, length=LENGTH):
    """Token numbers and the mask of those that count, both [sentences, length]."""
    numbers, mask = (np.zeros((len(sentences), length), np.int64) for _ in range(2))
    for row, sentence in enumerate(sentences):
        found = tokens(sentence, vocabulary)
        if len(found) > length:
            raise ValueError(f"`{sentence}` has {len(found)} tokens, more than {length}")
        numbers[row, :len(found)], mask[row, :len(found)] = found, 1
    return numbers, mask
