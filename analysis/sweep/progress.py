"""How far a sweep is: a line on a terminal, nothing elsewhere."""

import sys
import time


def duration(seconds):
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {seconds:02} s" if minutes else f"{seconds} s"


class Progress:
    def __init__(self, points, file=sys.stderr, clock=time.monotonic):
        self.points, self.file, self.clock = points, file, clock
        self.done = self.failed = 0
        self.begin = clock()

    def step(self, key, row):
        """After a point, or with None as time passes."""
        if key is not None:
            self.done += 1
            self.failed += row["status"] != "ok"
        if self.file.isatty():
            self.file.write(f"\r{self.line()}\033[K")
            self.file.flush()

    def line(self):
        text = f"fmsweep: {self.done} of {self.points} points"
        if self.failed:
            text += f", {self.failed} without a result"
        return text + (f", {duration(self.left())} left" if self.done else "")

    def left(self):
        """Seconds: each point that is left as long as those before on average."""
        return (self.clock() - self.begin) / self.done * (self.points - self.done)

    def end(self):
        if self.file.isatty():
            self.file.write("\r\033[K")
            self.file.flush()
