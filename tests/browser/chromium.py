"""A page in headless Chromium, driven through the DevTools protocol over a pipe: no port, no driver program, no library.

    with Page(path) as page:
        page.run("document.title")          the value of a JavaScript expression
        page.click("g[data-name='x']")      a real click in the middle of an element
        page.type("hello")                  text, into the focused element
        page.key("Escape")                  a real key
        page.screenshot("page.png")
"""
import atexit
import base64
import fcntl
import json
import os
import shutil
import subprocess
import tempfile

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--remote-debugging-pipe", "--window-size=1200,800",
         "--host-resolver-rules=MAP * ~NOTFOUND"]


def program():
    return shutil.which("chromium") or shutil.which("chromium-browser")


def high(fd):
    """The same pipe on a descriptor of two digits at least."""
    moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(fd)
    return moved


class Browser:
    """One Chromium for all pages of this process; it ends with it."""

    started = None

    @classmethod
    def get(cls):
        if not cls.started:
            cls.started = cls()
            atexit.register(cls.started.close)
        return cls.started

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="xcore-chromium-")
        # The browser expects the protocol on descriptors 3 and 4: a shell puts it there.
        read_end, self.to = map(high, os.pipe())
        self.back, write_end = map(high, os.pipe())
        self.process = subprocess.Popen(["bash", "-c", f'exec "$@" 3<&{read_end} 4>&{write_end}', "bash", program(), *FLAGS,
                                         f"--user-data-dir={self.profile}", "about:blank"],
                                        pass_fds=(read_end, write_end), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(read_end)
        os.close(write_end)
        self.number, self.pending, self.events = 0, b"", []

    def close(self):
        try:
            self.call("Browser.close")
            self.process.wait(20)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.back)
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self):
        while b"\0" not in self.pending:
            part = os.read(self.back, 1 << 16)
            if not part:
                raise RuntimeError("the browser went away")
            self.pending += part
        message, self.pending = self.pending.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") != self.number:
                self.events.append(answer)
                continue
            if "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            return answer["result"]


class Page:
    def __init__(self, path, script=True):
        """Open the page in a context of its own, without cookies, storage and cache of others; its scripts do not run
        unless script."""
        self.browser = Browser.get()
        self.context = self.browser.call("Target.createBrowserContext")["browserContextId"]
        target = self.browser.call("Target.createTarget", url="about:blank", browserContextId=self.context)["targetId"]
        self.session = self.browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        self.wait_for("Page.loadEventFired")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.browser.call("Target.disposeBrowserContext", browserContextId=self.context)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def events(self):
        return [event for event in self.browser.events if event.get("sessionId") == self.session]

    def wait_for(self, event):
        while not any(e.get("method") == event for e in self.events()):
            self.browser.events.append(self.browser.receive())

    def run(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def complaints(self):
        """Console messages and exceptions of the page."""
        self.run("0")
        return [e["params"] for e in self.events()
                if e.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled")]

    def middle(self, selector):
        return self.run(f"(function () {{ var r = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
                        " return [r.x + r.width / 2, r.y + r.height / 2]; })()")

    def mouse(self, kind, at, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=at[0], y=at[1], **more)

    def hover(self, selector):
        self.mouse("mouseMoved", self.middle(selector))

    def click(self, selector):
        at = self.middle(selector)
        self.mouse("mouseMoved", at)
        self.mouse("mousePressed", at, button="left", clickCount=1)
        self.mouse("mouseReleased", at, button="left", clickCount=1)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def key(self, key):
        """Press and release: a name of KeyboardEvent.key, or a letter."""
        codes = {"Enter": 13, "Escape": 27, "ArrowUp": 38, "ArrowDown": 40}
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text, windowsVirtualKeyCode=codes.get(key, 0))
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=codes.get(key, 0))

    def screenshot(self, path):
        data = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        with open(path, "wb") as file:
            file.write(data)
        return data
