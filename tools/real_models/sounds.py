"""Speech of Debian's alsa-utils at 16 kHz."""

import pathlib
import wave

import numpy as np

FOLDER = pathlib.Path("/usr/share/sounds/alsa")
SPOKEN = ("Front_Left", "Front_Right", "Rear_Left", "Rear_Right", "Side_Left", "Side_Right")
RATE = 16000


def samples(name):
    """The sound at 16 kHz, between -1 and 1: the power of larger numbers is beyond half precision."""
    with wave.open(str(FOLDER / f"{name}.wav")) as file:
        if file.getnchannels() != 1 or file.getsampwidth() != 2 or file.getframerate() % RATE:
            raise ValueError(f"{name}.wav: not one channel of 16 bits at a multiple of {RATE} Hz")
        step = file.getframerate() // RATE
        data = np.frombuffer(file.readframes(file.getnframes()), np.int16)
    whole = data[:len(data) // step * step]
    return (whole.reshape(-1, step).mean(axis=1) / 2**15).astype(np.float32)
