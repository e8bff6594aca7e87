#!/usr/bin/env python3
"""terminal.py: simulates a user at the prompt: types into a program on a pseudo-terminal and prints the program's
output.

usage: terminal.py STEP... -- PROGRAM [ARG]...
A STEP is `type:TEXT` (with \\n, \\t, \\x03 and so on), `wait:TEXT` (until the program has written TEXT after the text
of the last wait step) or `pause:SECONDS`. At the end it types ^D, again if the program does not react: the editor may
not control the terminal yet. Prints the program's output without escape sequences. Exit status: the program's; 99 if a
text did not appear within two minutes.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

LIMIT = 120


class Terminal:
    def __init__(self, command):
        self.written, self.seen = "", 0
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
            os.environ["TERM"] = "xterm"
            os.execvp(command[0], command)

    def read(self, seconds):
        ready, _, _ = select.select([self.fd], [], [], seconds)
        if not ready:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.written += data.decode("utf-8", "replace")
        return bool(data)

    def wait(self, text):
        end = time.time() + LIMIT
        while text not in plain(self.written)[self.seen:]:
            if time.time() > end or not self.read(0.2):
                print(plain(self.written))
                print(f"terminal.py: no {text!r} came", file=sys.stderr)
                sys.exit(99)
        self.seen = plain(self.written).index(text, self.seen) + len(text)

    def type(self, text):
        try:
            os.write(self.fd, text.encode())
        except OSError:
            pass  # it has ended

    def finish(self):
        for _ in range(LIMIT // 2):
            self.type("\x04")
            end = time.time() + 2
            while time.time() < end:
                self.read(0.1)
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                if pid:
                    self.read(0)
                    return os.waitstatus_to_exitcode(status)
        print("terminal.py: the program does not end", file=sys.stderr)
        os.kill(self.pid, signal.SIGKILL)
        return 99


def plain(text):
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r|\x07", "", text)


def main():
    at = sys.argv.index("--")
    terminal = Terminal(sys.argv[at + 1:])
    for step in sys.argv[1:at]:
        kind, text = step.split(":", 1)
        if kind == "pause":
            time.sleep(float(text))
        else:
            getattr(terminal, kind)(text.encode().decode("unicode_escape") if kind == "type" else text)
    status = terminal.finish()
    print(plain(terminal.written))
    return status


if __name__ == "__main__":
    sys.exit(main())
