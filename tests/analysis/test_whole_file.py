"""Files that appear whole or not at all."""

import concurrent.futures
import errno
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "analysis"))

from whole_file import WriteError, write_whole  # noqa: E402

# In a process of its own, which may write 1000 bytes to a file.
WRITES_TOO_MUCH = """import resource, sys
sys.path.insert(0, sys.argv[1])
from whole_file import WriteError, write_whole
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_whole(sys.argv[2], b"x" * 5000)
except WriteError as error:
    print(error)
"""


class WholeFile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = self.folder / "a.json"

    def found(self):
        return {path.name: path.read_text() for path in self.folder.iterdir()}

    def test_text_and_bytes_replace_what_was_there(self):
        write_whole(self.path, "one: é\n")
        self.assertEqual(self.found(), {"a.json": "one: é\n"})
        write_whole(str(self.path), b"two")
        self.assertEqual(self.found(), {"a.json": "two"})

    def test_a_file_is_as_readable_as_any_other(self):
        mask = os.umask(0o027)
        self.addCleanup(os.umask, mask)
        write_whole(self.path, "")
        self.assertEqual(self.path.stat().st_mode & 0o777, 0o640)

    def test_a_disk_that_fills_up_keeps_the_old_file(self):
        self.path.write_text("old")
        done = subprocess.run([sys.executable, "-c", WRITES_TOO_MUCH, ROOT / "analysis", self.path], text=True,
                              capture_output=True, check=True)
        self.assertEqual(done.stdout, f"{self.path}: File too large; to be written are 5,000 bytes: make room, or name "
                                      "another place\n")
        self.assertEqual(self.found(), {"a.json": "old"})

    def test_a_failed_rename_keeps_the_old_file(self):
        self.path.write_text("old")
        with mock.patch("os.replace", side_effect=OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))), \
                self.assertRaisesRegex(WriteError, "a.json: No space left on device; .* 3 bytes"):
            write_whole(self.path, "new")
        self.assertEqual(self.found(), {"a.json": "old"})

    def test_an_interrupted_write_leaves_nothing(self):
        with mock.patch("os.replace", side_effect=KeyboardInterrupt), self.assertRaises(KeyboardInterrupt):
            write_whole(self.path, "new")
        self.assertEqual(self.found(), {})

    def test_a_folder_that_is_not_there_or_is_a_file(self):
        with self.assertRaisesRegex(WriteError, "none/a.json: No such file or directory; "):
            write_whole(self.folder / "none/a.json", "new")
        self.path.write_text("old")
        with self.assertRaisesRegex(WriteError, "a.json/b: Not a directory; "):
            write_whole(self.path / "b", "new")

    def test_threads_that_write_one_file_do_not_meet(self):
        contents = [str(number) * 100_000 for number in range(8)]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda content: write_whole(self.path, content), contents * 5))
        self.assertEqual(list(self.found()), ["a.json"])
        self.assertIn(self.path.read_text(), contents)

    def test_devices_are_written_in_place(self):
        write_whole("/dev/null", "new")
        self.assertTrue(pathlib.Path("/dev/null").is_char_device())
        with self.assertRaisesRegex(WriteError, "/dev/full: No space left on device"):
            write_whole("/dev/full", "new")


if __name__ == "__main__":
    unittest.main()
