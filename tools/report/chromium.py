"""Drives a headless Chromium (Debian: chromium) over its DevTools protocol, by pipes: no network, no packages."""

import base64
import fcntl
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

CHROMIUM = shutil.which("chromium")
# bash takes the pipes to the descriptors that the protocol wants.
PIPED = 'in=$1 out=$2; shift 2; exec "$@" 3<&"$in" 4>&"$out"'


class ChromiumError(Exception):
    """The browser did not answer, or said that a command is wrong."""


class Chromium:
    """A browser with one page and a profile of its own. `errors` is what its console had of errors since the page was
    opened, `requests` the addresses that it asked for; a page that is not `watched`, as a reader's, has neither."""

    def __init__(self, timeout=60, watched=True):
        self.errors, self.requests = [], []
        self._timeout, self._last, self._session, self._rest = timeout, 0, None, b""
        self._profile = tempfile.TemporaryDirectory(
            prefix="chromium.", ignore_cleanup_errors=True)  # its children may still write while they end
        theirs_in, self._write = os.pipe()
        self._read, theirs_out = os.pipe()
        passed = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (theirs_in, theirs_out)]
        self._process = subprocess.Popen(
            ["bash", "-c", PIPED, "chromium", *map(str, passed), CHROMIUM, "--headless", "--no-sandbox",
             "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-dev-shm-usage",
             "--disable-background-networking", f"--user-data-dir={self._profile.name}",
             "--remote-debugging-pipe", "about:blank"],
            pass_fds=passed, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for end in (theirs_in, theirs_out, *passed):
            os.close(end)
        try:
            target = self.command("Target.createTarget", url="about:blank")["targetId"]
            self._session = self.command("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network") if watched else ("Page",):
                self.command(f"{domain}.enable")
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._process.terminate()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
        os.close(self._write)
        self._profile.cleanup()

    def command(self, method, **parameters):
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        answer = self._wait(lambda received: received.get("id") == self._last, method)
        if "error" in answer:
            raise ChromiumError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def _wait(self, wanted, what):
        end = time.monotonic() + self._timeout
        while True:
            *messages, self._rest = self._rest.split(b"\0")
            found = None
            for message in map(json.loads, messages):
                self._note(message)
                found = message if wanted(message) else found
            if found:
                return found
            if not select.select([self._read], [], [], max(0, end - time.monotonic()))[0]:
                raise ChromiumError(f"{what}: no answer within {self._timeout} s")
            received = os.read(self._read, 1 << 20)
            if not received:
                raise ChromiumError(f"{what}: chromium ended")
            self._rest += received

    def _note(self, message):
        parameters = message.get("params", {})
        method = message.get("method")
        if method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.errors.append(parameters["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and parameters["type"] == "error":
            self.errors.append(str([value.get("value") for value in parameters["args"]]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def open(self, path):
        """Opens a report and waits until all in sight is drawn; returns the seconds it took."""
        self.errors.clear()
        self.requests.clear()
        begin = time.monotonic()
        self.command("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        end = begin + self._timeout
        while self.evaluate("document.documentElement?.dataset.drawn ?? null") is None:
            if time.monotonic() > end:
                raise ChromiumError(f"{path}: nothing drawn within {self._timeout} s; {self.errors}")
            time.sleep(0.02)
        return time.monotonic() - begin

    def evaluate(self, expression):
        """The value of JavaScript in the page; promises are awaited."""
        answer = self.command("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise ChromiumError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def press(self, key, code=None, key_code=0, text=None):
        """A key of the keyboard: its name as in KeyboardEvent.key."""
        names = {"key": key, "code": code or key, "windowsVirtualKeyCode": key_code}
        self.command("Input.dispatchKeyEvent", type="keyDown", **names, **({"text": text} if text else {}))
        self.command("Input.dispatchKeyEvent", type="keyUp", **names)

    def type(self, text):
        self.command("Input.insertText", text=text)

    def show_as(self, scheme="light", medium=""):
        """Light or dark; medium "print" as on paper."""
        self.command("Emulation.setEmulatedMedia", media=medium,
                     features=[{"name": "prefers-color-scheme", "value": scheme}])

    def size(self, width, height, scale=1):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height,
                     deviceScaleFactor=scale, mobile=False)

    def screenshot(self):
        """What the window shows, as PNG bytes."""
        return base64.b64decode(self.command("Page.captureScreenshot", format="png")["data"])

    def pdf(self):
        """The page as it is printed."""
        return base64.b64decode(self.command("Page.printToPDF", printBackground=True)["data"])
