# SPDX-License-Identifier: BSD-3-Clause
"""A page in headless Chromium, spoken to in the DevTools protocol over two pipes."""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]


#: Ratio of relative luminances as in WCAG 2, of what is drawn and nothing folded away.
CONTRAST = """(() => { const luminance = text => { const [r, g, b] = text.match(/[\\d.]+/g).slice(0, 3).map(c => {
  c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const back = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
    if (!c.startsWith('rgba(0, 0, 0, 0')) return c; } return 'rgb(255,255,255)'; };
  let worst = [99, ''];
  for (const e of document.querySelectorAll(%s)) {
    if (!e.textContent.trim() || !e.checkVisibility()) continue;
    const style = getComputedStyle(e);
    const a = luminance(e.tagName === 'text' ? style.fill : style.color), b = luminance(back(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < worst[0]) worst = [ratio, e.textContent.slice(0, 40)];
  }
  return [...worst, luminance(back(document.body))]; })()"""


def find_browser():
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One tab. Everything the page says on the console or throws is kept in `complaints`."""

    def __init__(self, program, width=1280, height=900):
        self.profile = tempfile.TemporaryDirectory(prefix="carom-page-")
        read_commands, self.commands = os.pipe()
        self.answers, write_answers = os.pipe()

        def put_pipes():  # the browser reads from 3 and writes to 4
            os.dup2(read_commands, 100)
            os.dup2(write_answers, 101)
            os.dup2(100, 3)
            os.dup2(101, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--disable-extensions", "--disable-background-networking",
             "--remote-debugging-pipe", f"--user-data-dir={self.profile.name}",
             f"--window-size={width},{height}", "about:blank"],
            preexec_fn=put_pipes, close_fds=False, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(read_commands)
        os.close(write_answers)
        self.rest, self.number, self.session = b"", 0, None
        self.complaints, self.requests = [], []
        pages = self.send("Target.getTargets")["targetInfos"]
        tab = next(page for page in pages if page["type"] == "page")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=tab, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(domain + ".enable")

    def close(self):
        try:
            self.session = None
            self.send("Browser.close")
        except (RuntimeError, OSError):
            self.process.kill()
        self.process.wait(timeout=30)
        os.close(self.commands)
        os.close(self.answers)
        self.profile.cleanup()

    def receive(self):
        while b"\0" not in self.rest:
            piece = os.read(self.answers, 1 << 16)
            if not piece:
                raise RuntimeError("the browser has gone")
            self.rest += piece
        message, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(message)
        method, given = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(given["exceptionDetails"])
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append([given["type"], given["args"]])
        elif method == "Log.entryAdded":
            self.complaints.append(given["entry"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(given["request"]["url"])
        return message

    def send(self, command, **given):
        self.number += 1
        message = {"id": self.number, "method": command, "params": given}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{command}: {answer['error']}")
                return answer["result"]

    def run(self, expression):
        """The value of a JavaScript expression in the page."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait_until(self, expression, seconds=30):
        end = time.monotonic() + seconds
        while not self.run(expression):
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    def open(self, path):
        self.send("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        return self.wait_until("document.readyState === 'complete'")

    def resize(self, width, height, mobile=False):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=mobile)

    def prefer(self, **media):
        """prefer(color_scheme="dark", reduced_motion="reduce")"""
        features = [{"name": "prefers-" + name.replace("_", "-"), "value": value}
                    for name, value in media.items()]
        self.send("Emulation.setEmulatedMedia", features=features)

    def press(self, key, times=1, shift=False):
        code = {"Tab": 9, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40,
                "Enter": 13, "Escape": 27, " ": 32}[key]
        text = {"Enter": "\r", " ": " "}.get(key, "")
        for _ in range(times):
            for kind in ("keyDown" if text else "rawKeyDown", "keyUp"):
                given = {"text": text} if text and kind == "keyDown" else {}
                self.send("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code,
                          code="Space" if key == " " else key, modifiers=8 if shift else 0, **given)

    def drag(self, start, end):
        """With the mouse, in pixels of the window."""
        given = {"button": "left", "clickCount": 1}
        self.send("Input.dispatchMouseEvent", type="mousePressed", x=start[0], y=start[1], **given)
        for part in (0.5, 1):
            x, y = (a + part * (b - a) for a, b in zip(start, end))
            self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y, button="left",
                      buttons=1)
        self.send("Input.dispatchMouseEvent", type="mouseReleased", x=end[0], y=end[1], **given)

    def least_contrast(self, selector):
        """(least contrast of text and what lies behind it among the elements that have text, which text, how bright the page)."""
        return self.run(CONTRAST % json.dumps(selector))

    def picture(self, path, whole=False):
        data = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))
