"""Runs points as processes of this computer, a number of them at a time."""

import concurrent.futures as futures

from run_point import run_point


class LocalLauncher:
    def __init__(self, jobs):
        self.jobs = jobs
        self.how = f"{jobs} at a time"

    def run(self, sweep, points, done):
        """`points`: {key: Point}. Calls done(key, row) after each. Whatever ends it ends all children."""
        pool = futures.ThreadPoolExecutor(self.jobs)
        try:
            waiting = {pool.submit(run_point, sweep.tools, sweep.keys, sweep.folder, key, point): key
                       for key, point in points.items()}
            while waiting:
                ended, _ = futures.wait(waiting, timeout=1, return_when=futures.FIRST_COMPLETED)
                for future in ended:
                    done(waiting.pop(future), future.result())
                if not ended:
                    done(None, None)
        except BaseException:
            sweep.tools.stop()
            raise
        finally:
            pool.shutdown(cancel_futures=True)
