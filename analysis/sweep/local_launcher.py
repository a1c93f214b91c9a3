"""Runs points as processes of this computer, a number of them at a time."""

import concurrent.futures as futures

from run_point import run_point


def run_locally(tools, keys, folder, points, jobs, done):
    """`points`: {key: Point}. Calls done(key, row) after each. Whatever ends it ends all children."""
    pool = futures.ThreadPoolExecutor(jobs)
    try:
        waiting = {pool.submit(run_point, tools, keys, folder, key, point): key for key, point in points.items()}
        while waiting:
            ended, _ = futures.wait(waiting, timeout=1, return_when=futures.FIRST_COMPLETED)
            for future in ended:
                done(waiting.pop(future), future.result())
            if not ended:
                done(None, None)
    except BaseException:
        tools.stop()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
