"""Latency over the speed of the disk."""

import unittest

from paper_case import rows_of
from sections import disk_speed


class DiskSpeedTest(unittest.TestCase):
    def test_rows(self):
        def facts(policy, how, ms):
            return {("ViT", "1.5GB/s", f"{policy}, {how}"): {"ready_ms": ms, "peak_bytes": 1}}

        found = {**facts("preload", "planned anew", 90.4), **facts("preload", "plan kept", 90.4), **facts("lc-opg", "planned anew", 70),
                 **facts("lc-opg", "plan kept", 80), **facts("optimal-0.15", "planned anew", 60)}
        row = next(row for row in rows_of(disk_speed.SECTION, found) if row[1] == "1.5GB/s")
        self.assertEqual(row, ["ViT", "1.5GB/s", "90", "70 / 80", "60 /", "`optimal-0.15`"])
        self.assertEqual(rows_of(disk_speed.SECTION, found)[0][2:], ["", "/", "/", ""])


if __name__ == "__main__":
    unittest.main()
