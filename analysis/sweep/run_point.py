"""Runs one point and leaves its row file."""

import json
import time

from simulator_tools import Broken, Refused
from effective_config import config_words
from folder import FAILED, OK, REFUSED
from measure import measures
from planned_trace import planned_trace


def _simulated(tools, point, trace):
    """result.json of the run; it passes through a pipe, so that no disk fills up."""
    return json.loads(tools.output("fmsim", *config_words(point.config, point.settings), "--trace", trace, "--sample",
                                   point.sample, *point.options, "--json", "-o", "-"))


def run_point(tools, keys, folder, key, point):
    """Makes the row of a point: its measures, or why there are none. Raises StudyError, Interrupted."""
    begin = time.perf_counter()
    row = {"status": OK, "error": "", "simulation_s": 0.0, "measures": {}}
    try:
        config = keys.config(point.config, point.settings)
        if isinstance(config, Refused):
            raise config
        trace = planned_trace(tools, keys, folder, point) if point.workload.planned else point.workload.file
        begin_simulation = time.perf_counter()
        result = _simulated(tools, point, trace)
        row.update(simulation_s=time.perf_counter() - begin_simulation, measures=measures(result, config))
    except Refused as refused:
        row.update(status=REFUSED, error=str(refused))
    except Broken as broken:
        row.update(status=FAILED, error=str(broken))
    except (ValueError, KeyError) as unreadable:
        row.update(status=FAILED, error=f"fmsim's result cannot be read: {unreadable!r}")
    folder.save_row(key, {**row, "seconds": time.perf_counter() - begin})
    return row
