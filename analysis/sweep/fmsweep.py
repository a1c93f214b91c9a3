"""What-if sweeps over simulated phones: ./fm sweep STUDY.yaml (docs/sweeps.md)"""

import importlib
import pathlib
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from problems import Interrupted, StudyError  # noqa: E402
from simulator_tools import USER_ERROR, Broken  # noqa: E402
from sweep import INTERRUPTED, say  # noqa: E402

OUR_FAULT = 1
COMMANDS = ("point", "sensitivity", "pareto")


def main(words):
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    name, rest = (words[0], words[1:]) if words and words[0] in COMMANDS else ("sweep", words)
    try:
        # Only the command that is asked for: drawing takes long to load, and points begin often.
        return importlib.import_module(f"{name}_command").main(rest)
    except StudyError as error:
        print(f"fmsweep: error: {error}", file=sys.stderr)
        return USER_ERROR
    except OSError as error:
        print(f"fmsweep: error: {error.filename or 'standard output'}: {error.strerror}; finished points are kept",
              file=sys.stderr)
        return USER_ERROR
    except Broken as broken:
        print(f"fmsweep: error: {broken}", file=sys.stderr)
        return OUR_FAULT
    except (KeyboardInterrupt, Interrupted):
        say("interrupted; finished points are kept")
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
